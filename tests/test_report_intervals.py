"""Tables show how sure their metrics are, and which of them the data cannot tell from the best."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_results import as_result, board_of, make_result

from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.report.files import write_report
from opencompass_gpassk.report.tables.benchmark import benchmark_tables
from opencompass_gpassk.report.tables.latex import to_latex
from opencompass_gpassk.report.tables.table import Table, to_markdown, to_text
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

COUNTS = {'AMC_en': [4, 2], 'AMC_cn': [3, 0]}
SETTINGS = {'method': 'bca', 'resamples': 10_000, 'level': 0.95, 'of': 'problems like these'}


def with_intervals(
    result: dict[str, Any], intervals: Mapping[str, object], wilson: Sequence[str] = ()
) -> dict[str, Any]:
    """Return a result with these intervals."""
    uncertainty = {**SETTINGS, 'other_methods': {'wilson': list(wilson)}}
    return result | {'intervals': intervals, 'uncertainty': uncertainty}


def of_two() -> dict[str, dict[str, Any]]:
    """Return a result with two intervals, of which the second is Wilson's."""
    ends = {'accuracy': [31.26, 81.04], 'mG-Pass@2': [5.0, 90.0]}
    result = with_intervals(make_result(COUNTS, 4, (2,)), ends, ['mG-Pass@2'])
    return {'m': {'x': result}}


def tabled(result: dict[str, Any]) -> Table:
    """Return the first table of one result."""
    return benchmark_tables(board_of({'m': {'x': result}}))[0]


def test_brackets_stand_below_the_headline_metrics() -> None:
    """In the terminal they cost no width, and a note says what they are and how they came about."""
    lines = to_text(benchmark_tables(board_of(of_two()))[0]).splitlines()
    assert lines[0] == 'm solves 42 % of these 4 problems in both attempts and 71 % in at least one'
    (row,) = (i for i, line in enumerate(lines[1:], 1) if line.startswith('m '))
    assert lines[row].split() == ['m', '56.2', *['70.8'] * 3, *['41.7'] * 3, '29.2']
    assert lines[row + 1].split('  ', 1)[1].split() == ['[31.3,', '81.0]', '[5.0,', '90.0]']
    assert lines[row].index('56.2') + 4 == lines[row + 1].index('81.0]') + 5
    assert lines[row + 2].startswith('  * [low, high]: 95 % intervals for problems like these')


def test_intervals_are_shown_as_asked() -> None:
    """Half the width is never written as if the interval were symmetrical; or no interval."""
    table = benchmark_tables(board_of(of_two()))[0]
    markdown = to_markdown(table, '±')
    assert '56.2 ±24.9' in to_text(table, '±') and '| 56.2 ±24.9 |' in markdown
    assert '- ±: half the width of the 95 % interval, which may be longer' in markdown
    for show in (to_text, to_markdown):
        assert '[31' not in show(table, None) and 'interval' not in show(table, None)
        with pytest.raises(ValueError, match=r"intervals is '\+-'; use 'brackets'"):
            show(table, '+-')


def table_of(
    counts: Sequence[int], n: int, first: int = 0, groups: Sequence[str] = ()
) -> TrialTable:
    """Return the trials of problems of which so many of n are right; groups take turns."""
    return TrialTable(
        [
            Problem(f'p{i}', groups={'split': groups[i % len(groups)]} if groups else {})
            for i in range(first, first + len(counts))
        ],
        [
            Trial(f'p{i}', r, Verdict.CORRECT if r < c else Verdict.INCORRECT)
            for i, c in enumerate(counts, start=first)
            for r in range(n)
        ],
    )


def measured(**models: TrialTable) -> tuple[dict[str, Any], dict[tuple[str, str], TrialTable]]:
    """Return results of n = 4, k = 2, and their trials."""
    protocol = Protocol(n=4, k=(2,))
    results = {
        model: {'x': as_result(table, protocol, benchmark='b', greedy=False)}
        for model, table in models.items()
    }
    return results, {(model, 'x'): table for model, table in models.items()}


STRONG, EQUAL, WEAK = [4, 3] * 12, [3, 4] * 12, [0, 1] * 12


def marked(table: Table) -> dict[str, set[str]]:
    """Return heading → the models whose metric is marked."""
    found: dict[str, set[str]] = {}
    for row, column in table.marks:
        found.setdefault(table.columns[column], set()).add(str(table.rows[row][0]))
    return found


def test_the_best_and_who_is_not_worse_are_marked() -> None:
    """As the paired ranks say: two that swap problems are equal, one that fails all is not."""
    results, trials = measured(
        strong=table_of(STRONG, 4), equal=table_of(EQUAL, 4), weak=table_of(WEAK, 4)
    )
    (table,) = benchmark_tables(board_of(results, trials))
    assert marked(table) == {'G-Pass@2_1.0': {'strong', 'equal'}}
    assert table.columns[-1] == 'stability gap@2'
    on = 'On these 24 problems'
    assert table.claims[0].startswith(
        f'{on} strong is more stable than all but equal: it solves 75'
    )
    lines = to_text(table).splitlines()
    assert [line.count('*') for line in lines if re.match('(strong|weak)  ', line)] == [1, 0]
    assert sum(line.startswith('  * *: best of its column') for line in lines) == 1
    markdown = to_markdown(table)
    assert '| **75.0** |' in markdown
    assert not any('**' in line for line in markdown.splitlines() if line.startswith('| weak'))
    assert '- bold: best of its column (docs/opencompass.md)' in markdown


def test_the_best_and_who_may_be_as_good_are_told_apart() -> None:
    """One is bold or starred; who is a little worse, which may be luck, has another mark."""
    near = [4, 3] * 11 + [3, 3]
    results, trials = measured(
        strong=table_of(STRONG, 4), near=table_of(near, 4), weak=table_of(WEAK, 4)
    )
    (table,) = benchmark_tables(board_of(results, trials))
    of = {table.rows[row][0]: mark for (row, _), mark in table.marks.items()}
    assert of == {'strong': Mark.BEST, 'near': Mark.NEAR}
    text, markdown, latex = to_text(table), to_markdown(table), to_latex(table)
    assert text.count('*75.0') == 1
    assert text.count('≈72.9') == 1
    assert '*: best of its column; ≈: may be as good (' in text
    assert ' | ≈72.9 | ' in markdown
    assert '- bold: best of its column; ≈: may be as good' in markdown
    assert '& $^\\approx$72.9 &' in latex
    assert 'bold: best of its column; $\\approx$: may be as good' in latex


def test_only_the_primary_metric_is_marked() -> None:
    """Groups and other metrics are not tested; nor is a single model, whose claim is its own."""
    results, trials = measured(
        even=table_of([3, 3] * 12, 4, groups=('a', 'b')),
        odd=table_of([4, 0] * 12, 4, groups=('a', 'b')),
    )
    table, by_group = benchmark_tables(board_of(results, trials))
    assert list(marked(table)) == ['G-Pass@2_1.0'] and not by_group.marks
    (table,) = benchmark_tables(board_of(*measured(strong=table_of(STRONG, 4))))
    assert (table.marks, table.warnings) == ({}, [])
    told = 'strong solves 75 % of these 24 problems in both attempts and 100 % in at least one'
    assert table.claims[0] == told


@pytest.mark.parametrize(
    ('weak', 'note'),
    [
        (None, 'not ranked, since the trials can not be read: weak'),
        (table_of(WEAK, 4, first=100), ''),
    ],
)
def test_what_cannot_be_compared_is_not_marked(weak: TrialTable | None, note: str) -> None:
    """A note says why."""
    results, trials = measured(strong=table_of(STRONG, 4), weak=weak or table_of(WEAK, 4))
    if weak is None:
        del trials['weak', 'x']
    (table,) = benchmark_tables(board_of(results, trials))
    assert list(table.warnings) == [note] * bool(note)
    assert not table.claims
    assert Mark.BEST not in table.marks.values() or not note


def test_another_judge_leaves_the_others_to_be_compared() -> None:
    """In a table as in the command: it is neither marked nor named; a note says why."""
    results, trials = measured(
        strong=table_of(STRONG, 4), perfect=table_of([4] * 24, 4), weak=table_of(WEAK, 4)
    )
    results['perfect']['x']['signature']['judge'] = 'llm:kind'
    (table,) = benchmark_tables(board_of(results, trials))
    assert marked(table)['G-Pass@2_1.0'] == {'strong'}
    on = 'On these 24 problems'
    assert table.claims[0].startswith(f'{on} strong is the most stable of the 2 models compared: ')
    assert any(note.startswith('perfect is not ranked: judge llm:kind') for note in table.warnings)
    del results['weak']
    (table,) = benchmark_tables(board_of(results, trials))
    assert (table.marks, table.claims) == ({}, [])


def test_trials_of_another_run_mark_nothing() -> None:
    """The metrics that are shown must be those of the trials that are compared."""
    results, trials = measured(strong=table_of(STRONG, 4), weak=table_of(WEAK, 4))
    told = {('weak', 'x'): 'n and c differ from its trials'}
    (table,) = benchmark_tables(board_of(results, trials, told))
    assert not table.marks
    assert any('weak is not ranked: its result contradicts' in note for note in table.warnings)


def test_greedy_answers_are_ranked_where_nothing_was_sampled() -> None:
    """By their accuracy; beside samples they are only shown."""
    results, trials = measured(strong=table_of(STRONG, 4), weak=table_of(WEAK, 4))
    for model, counts in {'strong': [1, 1, 1] * 8, 'weak': [0, 0, 1] * 8}.items():
        trials[model, 'g'] = table_of(counts, 1)
        results[model]['g'] = as_result(
            trials[model, 'g'], Protocol(n=1), benchmark='b', greedy=True
        )
    (table,) = benchmark_tables(board_of(results, trials))
    assert list(marked(table)) == ['G-Pass@2_1.0']
    alone = {model: {'g': of_model['g']} for model, of_model in results.items()}
    (table,) = benchmark_tables(board_of(alone, trials))
    assert marked(table) == {'Greedy': {'strong'}}
    assert table.claims[0] == (
        'On these 24 problems strong is the best: it has 100 % in accuracy, weak 33 %'
    )


def test_what_is_undefined_is_not_marked() -> None:
    """Too few have verdicts."""
    judged = table_of(STRONG, 4)
    few = TrialTable(judged.problems, [t for t in judged.trials if t.replica < 1])
    (table,) = benchmark_tables(board_of(*measured(one=few, two=judged)))
    assert marked(table) == {'average@4': {'one', 'two'}}  # of G-Pass@2 one has none


def test_the_files_follow_the_setting(tmp_path: Path) -> None:
    """Markdown and LaTeX show intervals in the same way."""
    write_report(tmp_path, board_of(of_two()), intervals='±')
    assert '±24.9' in (tmp_path / 'gpassk.md').read_text('utf-8')
    assert '$\\pm$24.9' in (tmp_path / 'gpassk.tex').read_text('utf-8')
