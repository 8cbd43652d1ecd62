"""Figures that rest on fewer than five questions have no interval, and are marked everywhere."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from made_reasoning import make_reasoned
from made_results import board_of, typed
from stored_table import table_of, write_result

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.compare.differences import compare
from opencompass_gpassk.compare.problem_changes import problem_changes
from opencompass_gpassk.compare.shared_problems import aligned
from opencompass_gpassk.report.files import to_csv, to_json
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import render_page
from opencompass_gpassk.report.tables.audit import audit_tables, plan_table, theirs_table
from opencompass_gpassk.report.tables.comparison import Compared, comparison_tables
from opencompass_gpassk.report.tables.contents import paper_tables, report_tables
from opencompass_gpassk.report.tables.latex import to_latex
from opencompass_gpassk.report.tables.table import Table, shown_notes, to_markdown, to_text
from opencompass_gpassk.results.figures import CR
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.result import Estimate, Few, Result
from opencompass_gpassk.results.summary import summarize
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

ROOT = Path(__file__).parent.parent
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
        assert ('intervals for a population' in shown) is not few
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
    assert 'exam: 8 problems (4 questions)</h2>' in render_page(page_data([tmp_path]))


def test_groups_say_their_questions_where_these_are_fewer(tmp_path: Path) -> None:
    """A small group is marked, beside a great one with intervals."""
    marks = ['++--'] * 12
    table = table_of(marks)
    for place, problem in enumerate(table.problems):
        table.problems[place] = Problem(
            problem.problem_id,
            groups={'level': 'easy' if place < 3 else 'hard'},
            cluster='' if place < 10 else 'twins',
        )
    result = write_result(tmp_path / 'm.json', TrialTable(table.problems, table.trials), [2])
    by_level = next(one for one in tables_of(result) if one.breakdown == 'level')
    assert list(by_level.columns[:4]) == ['group', 'problems', 'questions', 'model']
    sizes = {row[0]: (row[1], row[2], type(row[5])) for row in by_level.rows}
    assert sizes == {'easy': (3, 3, Few), 'hard': (9, 8, Estimate)}


def test_a_figure_among_right_originals_rests_on_these(tmp_path: Path) -> None:
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


def test_all_figures_of_one_question_are_marked(tmp_path: Path) -> None:
    """As after --limit 1 of RV-Bench."""
    result = write_result(tmp_path / 'm.json', in_versions('+', versions=5), [])
    assert isinstance(Result.of(result).figure(CR()), Few)
    leaderboard = next(one for one in tables_of(result) if 'random variables' in one.title)
    assert to_text(leaderboard).count('†') == 7 + 1  # figures, and the legend
    assert '[' not in to_markdown(leaderboard)


def test_an_earlier_result_without_numbers_of_questions_is_not_marked(tmp_path: Path) -> None:
    """Nobody knows on how many its figures rest."""
    result = write_result(tmp_path / 'm.json', table_of(MARKS[:4]), [2])
    del result['questions']
    assert '†' not in to_text(tables_of(result)[0])


def test_tokens_and_summaries_follow_the_rule(tmp_path: Path) -> None:
    """The cost of a problem has no interval, and a notebook says why."""
    tokens: list[list[int | None]] = [[100] * 4] * 4
    result = write_result(tmp_path / 'm.json', table_of(MARKS[:4], tokens), [2])
    assert not result['tokens']['intervals']
    cost = next(one for one in tables_of(result) if one.title == 'Tokens')
    assert str(cost.rows[0][-1]).endswith(' (too few)')
    found = summarize(4, [4, 2, 1, 4], k=2)
    assert math.isnan(found['pass@2'].low) and 'fewer than 5 clusters' in repr(found)
    assert not math.isnan(summarize(4, [4, 2, 1, 4, 2], k=2)['pass@2'].low)


def test_a_comparison_on_few_questions_has_no_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in the table, nor in its sentence, nor on the page."""
    write_result(tmp_path / 'a.json', table_of(MARKS[:4]), [2])
    write_result(tmp_path / 'b.json', table_of(['----'] * 4), [2])
    assert main(['compare', str(tmp_path / 'a.json'), str(tmp_path / 'b.json')]) == 0
    out = capsys.readouterr().out
    assert '(4 questions, too few for an interval)' in ' '.join(out.split())
    assert ' … ' not in out and 'too few' in out
    assert '<td>too few<td>' in render_page(page_data([tmp_path]))


def of_every_kind(folder: Path) -> list[Table]:
    """The tables of reports, comparisons and audits."""
    samples = [(True, 0.9, 0.1), (True, 0.2, 0.3), (False, 0.1, 0.0), (True, None, None)]
    reasoned = make_reasoned({'AMC_en': [samples] * 6, 'CCEE_cn': [samples] * 3}, (2,))
    reasoned |= {
        'intervals': {key: [10.0, 90.0] for key in reasoned['figures']},
        'questions': dict.fromkeys(reasoned['figures'], 9) | {'false-positive rate': 2},
        'uncertainty': {'method': 'bca', 'level': 0.95},
    }
    tokens: list[list[int | None]] = [[100] * 4] * 8
    for name, marks in {'a': ['++++', '+++-'] * 4, 'b': ['+++-', '++++'] * 4}.items():
        table = table_of(marks, tokens)
        for place, problem in enumerate(table.problems):
            problem.groups['level'] = 'easy' if place < 2 else 'hard'
        write_result(folder / f'{name}.json', table, [2])
    versions = {
        source: write_result(folder / f'{source}.json', in_versions('+-++++', 3), [])
        | {'benchmark': source}
        for source in ('RV-MATH', 'RV-LEETCODE')
    }
    board = page_data([folder / 'a.json', folder / 'b.json']).board
    boards = [board, board_of({'m': versions}), board_of({'m': {'x': reasoned}})]
    tables = [table for one in boards for table in paper_tables(one, report_tables(one))]
    trials = {name: board.trials[name, 'exam'] for name in 'ab'}
    shared = aligned(trials, Protocol(n=4, k=(2,)))
    compared = Compared('d', compare(shared), problem_changes(shared, 2), *[[]] * 4, 0.95, 2)
    return [
        *tables,
        *comparison_tables(compared, groups=True),
        *audit_tables([], ('recorded', 'human'), {'all': (3, [[1.0, 0.0, 2.0]] * 2)}),
        plan_table([('m', 'd', 'accuracy', 1.0, {50: 2.0})]),
        theirs_table([('m', 'd', 3, 'theirs', 2, {})]),
    ]


def test_legends_have_at_most_three_lines(tmp_path: Path) -> None:
    """Of 110 characters each; what they name of the docs is there. Warnings are no legends."""
    tables = of_every_kind(tmp_path)
    titles = ' | '.join(table.title for table in tables)
    assert all(kind in titles for kind in ('B minus A', 'Reasoning', 'sound', 'Tokens', 'versions'))
    signs = set()
    for table in tables:
        facts = {*table.claims, *table.warnings, *table.notes, *table.remarks}
        for style, best in (('brackets', '*'), ('±', 'bold')):
            shown = shown_notes(table, style, best, table.columns)
            lines = [line for line in shown if line not in facts]
            assert len(lines) <= 3, table.title
            assert max(map(len, lines), default=0) <= 110, lines
            signs |= {sign for line in lines for sign in '†≈±' if line.startswith(sign)}
            for page in re.findall(r'docs/[\w-]+\.md', ' '.join(lines)):
                assert (ROOT / page).exists()
    assert '±' in signs
