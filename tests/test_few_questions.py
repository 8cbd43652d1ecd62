"""Metrics that rest on fewer than five questions have no interval, and are marked everywhere."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from made_results import board_of, typed
from stored_table import table_of, write_result

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.report.files import to_csv, to_json
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import render_page
from opencompass_gpassk.report.tables.contents import paper_tables, report_tables
from opencompass_gpassk.report.tables.latex import to_latex
from opencompass_gpassk.report.tables.table import Table, to_markdown, to_text
from opencompass_gpassk.results.result import Estimate, Few
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

MARKS = ['++++', '++--', '+---', '++++', '++--']


def in_versions(originals: str, versions: int = 2) -> TrialTable:
    """Questions in versions, all right; a mark says whether the original is."""
    problems, trials = [], []
    for number, mark in enumerate(originals):
        for version in ('original', *map(str, range(1, versions + 1))):
            name = f'q{number}/{version}'
            right = version != 'original' or mark == '+'
            verdict = Verdict.CORRECT if right else Verdict.INCORRECT
            problems.append(Problem(name, cluster=f'q{number}', version=version))
            trials.append(Trial(name, 0, verdict, answer='1', answer_class=int(right)))
    return TrialTable(problems, trials)


def tables_of(result: dict[str, Any]) -> list[Table]:
    """The tables of one result."""
    return report_tables(board_of({'m': {'x': result}}))


@pytest.mark.parametrize('problems', [4, 5])
def test_a_table_of_four_questions_has_a_mark_and_of_five_intervals(
    tmp_path: Path, problems: int
) -> None:
    """In the terminal, Markdown, LaTeX, CSV, JSON and on the page, and in the result itself."""
    result = write_result(tmp_path / 'm.json', table_of(MARKS[:problems]), [2])
    few = problems < 5
    assert set(result['questions'].values()) == {problems}
    assert bool(result['intervals']) is not few
    table = tables_of(result)[0]
    for shown in (to_text(table), to_markdown(table)):
        assert ('†' in shown) is ('fewer than 5 questions' in shown) is few
        assert ('intervals for problems like these' in shown) is not few
    assert ('$^\\dagger$' in to_latex(table)) is few
    (row,) = (
        row
        for row in csv.DictReader(io.StringIO(to_csv(typed({'m': {'x': result}}))))
        if row['metric'] == 'mG-Pass@k'
    )
    assert (row['questions'], row['low'] == '') == (str(problems), few)
    (entry,) = json.loads(to_json(typed({'m': {'x': result}})))['results']
    assert entry['questions']['accuracy'] == problems
    page = render_page(page_data([tmp_path]))
    assert ('too few (4)' in page) is ('fewer than 5 questions' in page) is few


def test_translations_count_as_one_question(tmp_path: Path) -> None:
    """Eight problems in two languages are four questions, and the title says so; so do groups."""
    table = table_of(MARKS[:4] * 2)
    for place, problem in enumerate(table.problems):
        problem.groups['language'] = 'en' if place < 4 else 'cn'
        table.problems[place] = Problem(
            problem.problem_id, groups=problem.groups, cluster=f'c{place % 4}'
        )
    result = write_result(tmp_path / 'm.json', TrialTable(table.problems, table.trials), [2])
    assert not result['intervals']
    first = tables_of(result)[0]
    assert first.title.startswith('exam: 8 problems (4 questions)')
    assert all(isinstance(cell, Few) for cell in first.rows[0][1:])
    assert 'exam · 8 problems (4 questions) · 4 samples each' in render_page(page_data([tmp_path]))


def test_a_metric_among_right_originals_rests_on_these(tmp_path: Path) -> None:
    """Of six questions one original is right: understanding is marked, CR is not."""
    result = write_result(tmp_path / 'm.json', in_versions('+-----'), [])
    assert (result['questions']['CR'], result['questions']['understanding']) == (6, 1)
    assert 'understanding' not in result['intervals']
    leaderboard = next(one for one in tables_of(result) if 'random variables' in one.title)
    row = dict(zip(leaderboard.columns, leaderboard.rows[0], strict=True))
    assert row['asked'] == '6 (1)'
    assert isinstance(row['understanding'], Few) and isinstance(row['CR'], Estimate)
    (pivot,) = paper_tables(board_of({'m': {'x': result}}), [])
    assert 'asked' not in ' '.join(pivot.columns)


def test_a_comparison_on_few_questions_is_silent_on_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In its sentence and on the page."""
    write_result(tmp_path / 'a.json', table_of(MARKS[:4]), [2])
    write_result(tmp_path / 'b.json', table_of(['----'] * 4), [2])
    assert main(['compare', str(tmp_path / 'a.json'), str(tmp_path / 'b.json')]) == 0
    out = capsys.readouterr().out
    silent = 'is below 5 %; you have 4'
    assert silent in ' '.join(out.split())
    assert silent in render_page(page_data([tmp_path]))
