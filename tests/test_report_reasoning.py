"""Tables of reasoning and of sound G-Pass@k, and what OpenCompass's table lists."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import pytest
from made_reasoning import Sample, make_reasoned, make_unjudged
from made_results import board_of, make_result, typed
from made_runs import MadeRun
from mmengine.config import Config
from opencompass.registry import build_from_cfg

from opencompass_gpassk.report.files import to_csv, write_charts
from opencompass_gpassk.report.tables.contents import report_tables
from opencompass_gpassk.report.tables.reasoning import reasoning_tables
from opencompass_gpassk.report.tables.sound_gpassk import sound_tables
from opencompass_gpassk.report.tables.table import Table, to_markdown, to_text
from opencompass_gpassk.runs.config import run_config

# Two problems of four samples: one right answer is false reasoning, one nobody scored.
SAMPLES: dict[str, list[list[Sample]]] = {
    'AMC_en': [[(True, 0.9, 0.1), (True, 0.2, 0.3), (False, 0.1, 0.0), (True, None, None)]],
    'CCEE_cn': [[(True, 0.8, 0.2), (True, 0.6, 0.1), (True, 0.25, 0.4), (False, 0.7, 0.5)]],
}
ONE: dict[str, list[list[Sample]]] = {'AMC_en': [[(True, 0.1, 0.2)], [(True, 0.5, 0.4)]]}
REFUSED = {'it has more tokens than the model takes': 3, 'it has no steps': 1}
SAMPLED = make_reasoned(SAMPLES, (2,), refusals=REFUSED)
# The same, but all have scores: of four samples one is sound in the first problem, then three.
WHOLE = make_reasoned(
    {'AMC_en': [[*SAMPLES['AMC_en'][0][:3], (True, 0.2, 0.3)]], 'CCEE_cn': SAMPLES['CCEE_cn']},
    (2,),
    refusals=REFUSED,
)
GREEDY = make_reasoned(ONE, greedy=True)
PLAIN = make_result({'AMC_en': [4, 2]}, 4, (2,))
RESULTS = {'m': {'n4': SAMPLED, 'n1': GREEDY}, 'plain': {'n4': PLAIN}}


def rows(table: Table, *names: str) -> list[dict[str, Any]]:
    """Return the rows that begin with these names, each by its headings of one line."""
    headings = [column.replace('\n', ' ') for column in table.columns]
    found = [row for row in table.rows if tuple(row[: len(names)]) == names]
    return [dict(zip(headings, row, strict=True)) for row in found]


def titled(tables: list[Table], title: str) -> Table:
    """Return the table of this title."""
    return next(table for table in tables if table.title == title)


def test_the_reasoning_of_each_benchmark_and_decoding_has_a_row() -> None:
    """Means over the scored responses, all, right and wrong ones, and the false-positive rate."""
    table = reasoning_tables(board_of(RESULTS))[0]
    assert [row[:3] for row in table.rows] == [
        ['LiveMathBench-202412', 'm', 'n = 4'],
        ['LiveMathBench-202412', 'm', 'greedy'],
    ]
    (row,) = rows(table, 'LiveMathBench-202412', 'm', 'n = 4')
    expected = {
        'scored': 87.5,
        'validity': 355 / 7,
        'validity right': 55.0,
        'validity wrong': 40.0,
        'redundancy': 160 / 7,
        'redundancy right': 22.0,
        'redundancy wrong': 25.0,
        'FPR': 20.0,
        'steps': 32 / 7,
        'tokens': 960 / 7,
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    heads = [line.split() for line in to_text(table).splitlines() if line.startswith('benchmark ')]
    named = [word for head in heads for word in head]
    assert (named.count('validity'), named.count('redundancy')) == (3, 3)
    assert '| validity right |' in to_markdown(table)


def test_notes_tell_who_scored_how_and_what_was_refused() -> None:
    """The scorer, the threshold, and refusals with their counts, the most frequent by name."""
    table = reasoning_tables(board_of(RESULTS))[0]
    notes = table.notes
    assert notes[0] == 'scored by GAIR/ReasonEval-7B'
    assert table.legend[0].startswith('validity: the least chance of a step to be right')
    assert any(note.endswith('whose validity is below 0.25') for note in notes)
    assert table.warnings[-1] == (
        'm, n = 4, LiveMathBench-202412: 4 without scores: it has more tokens than the model takes '
        '(3); it has no steps (1)'
    )
    many = make_reasoned(ONE, refusals={f'reason {i}': i for i in range(1, 7)})
    assert (
        reasoning_tables(board_of({'m': {'x': many}}))[0]
        .warnings[-1]
        .endswith('21 without scores: reason 6 (6); reason 5 (5); reason 4 (4); other reasons (6)')
    )


def test_sound_metrics_stand_beside_the_plain_ones() -> None:
    """Accuracy, the strictest G-Pass@k and mG-Pass@k: plain, sound and the drop."""
    made = {'m': {'n4': WHOLE, 'n1': GREEDY}, 'plain': {'n4': PLAIN}}
    table = sound_tables(board_of(made))[0]
    assert table.title.startswith('LiveMathBench-202412: sound G-Pass@2, ')
    assert list(table.columns) == [
        *('model', 'Greedy', 'sound', 'drop', 'average@4', 'sound', 'drop'),
        *('G-Pass@2_1.0', 'sound', 'drop', 'mG-Pass@2', 'sound', 'drop'),
    ]
    assert [row[0] for row in table.rows] == ['m']
    assert list(table.rows[0][1:]) == pytest.approx(
        [100, 50, 50, 75, 50, 25, 50, 25, 25, 50, 25, 25]
    )
    assert 'a validity of at least 0.25' in table.notes[0] and not table.warnings
    warnings = sound_tables(board_of(RESULTS))[0].warnings
    assert '1 of 6 right responses have no scores' in warnings[0]


def test_one_response_a_problem_has_sound_accuracy_alone() -> None:
    """There is no G-Pass@k of a greedy run."""
    tables = sound_tables(board_of({'m': {'x': GREEDY}}))
    assert tables[0].title == 'LiveMathBench-202412: sound accuracy, 2 problems'
    assert list(tables[0].columns) == ['model', 'Greedy', 'sound', 'drop']
    assert list(tables[0].rows[0]) == ['m', 100.0, 50.0, 50.0]
    assert not [table for table in tables if 'G-Pass' in table.title]


def test_reasoning_alone_has_no_verdicts(tmp_path: Path) -> None:
    """It has its row, its warnings and its boxes, but nothing is said of right and wrong."""
    alone = make_unjudged([(0.3, 0.1), (0.5, 0.2), (None, None)])
    alone |= {'warnings': ['1 of 3 responses are lost'], 'benchmark': 'sample'}
    results = {'m': {'x': alone}}
    tables = report_tables(board_of(results))
    assert {table.title for table in tables} == {
        'Reasoning',
        'Reasoning of single solutions',
    }
    (row,) = rows(tables[0], 'sample')
    assert row['validity'] == pytest.approx(40.0)
    assert row['scored'] == pytest.approx(200 / 3)
    assert row['FPR'] is row['validity right'] is None
    assert not [note for note in tables[0].notes if 'FPR' in note]
    assert any('not LiveMathBench' in note for note in tables[0].warnings)
    assert 'sample: 1 of 3 responses are lost' in tables[0].warnings
    solutions = rows(titled(tables, 'Reasoning of single solutions'), 'sample')
    assert [(row['answers'], row['solutions']) for row in solutions] == [('all', 2)]
    metrics = {row['metric'] for row in csv.DictReader(io.StringIO(to_csv(typed(results))))}
    assert metrics == {'validity', 'redundancy', 'scored'}
    pytest.importorskip('matplotlib')
    written = [path.name for path in write_charts(tmp_path / 'x', board_of(results))]
    assert {name.rpartition('.')[0] for name in written} == {
        'sample_greedy_validity',
        'sample_greedy_redundancy',
    }


def test_reasoning_alone_is_kept_out_of_what_others_measured() -> None:
    """Beside judged results it changes no table of theirs."""
    mixed = {**RESULTS, 'alone': {'x': make_unjudged([(0.3, 0.1)])}}
    plain, with_it = report_tables(board_of(RESULTS)), report_tables(board_of(mixed))
    assert [t.title for t in with_it] == [t.title for t in plain]
    changed = [a.title for a, b in zip(plain, with_it, strict=True) if len(a.rows) != len(b.rows)]
    assert changed == ['Reasoning', 'Reasoning of single solutions']


def test_a_reward_model_says_nothing_of_redundancy() -> None:
    """Its redundancy is undefined, which a note explains; its boxes are none."""
    ours: dict[str, list[list[Sample]]] = {'AMC_en': [[(True, 0.4, None)], [(False, 0.2, None)]]}
    made = make_reasoned(ours, scorer='math-shepherd')
    table = reasoning_tables(board_of({'m': {'x': made}}))[0]
    assert math.isnan(rows(table)[0]['redundancy'])
    assert '–' in to_text(table)
    told = 'gives no redundancy, as process reward models do'
    assert f'math-shepherd: {told}' in table.notes
    assert not [note for note in reasoning_tables(board_of(RESULTS))[0].notes if told in note]


def test_results_of_several_scorers_are_not_compared_in_silence() -> None:
    """Neither those of other settings; thresholds are told with whom they are of."""
    made = {
        'a': {'x': SAMPLED},
        'b': {'x': make_reasoned(SAMPLES, (2,), settings='ffffffff', threshold=0.5)},
    }
    for table in (reasoning_tables(board_of(made))[0], sound_tables(board_of(made))[0]):
        warning = next(note for note in table.warnings if 'different scorers or settings' in note)
        assert 'GAIR/ReasonEval-7B:1a2b3c4d and GAIR/ReasonEval-7B:ffffffff' in warning
        assert any('0.5 (b, n = 4, LiveMathBench-202412)' in note for note in table.notes)
    for table in (reasoning_tables(board_of(RESULTS))[0], sound_tables(board_of(RESULTS))[0]):
        assert not [note for note in table.warnings if 'different scorers' in note]


def test_opencompass_lists_a_few_metrics(tmp_path: Path) -> None:
    """The strictest sound metric, validity and redundancy, as far as there are any."""
    run = MadeRun(tmp_path / '20260101_000000', ['m'], ['sample-n8', 'sample-greedy-n1', 'alone'])
    run.predictions('m', 'sample-n8', 'sample-greedy-n1', 'alone')
    run.result('m', 'sample-n8', WHOLE)
    run.result('m', 'sample-greedy-n1', GREEDY)
    run.result('m', 'alone', make_unjudged([(0.5, 0.1)]))
    config = Config.fromfile(run_config(run.folder))
    build_from_cfg(dict(config['summarizer'], config=config)).summarize(time_str='T')
    with (run.folder / 'summary' / 'summary_T.csv').open(encoding='utf-8') as file:
        table = [(row[0], row[2], row[4]) for row in csv.reader(file)][1:]
    listed = {name: [row[1:] for row in table if row[0] == name] for name, *_ in table}
    assert [metric for metric, _ in listed['sample-n8']] == [
        *('accuracy', 'pass@2', 'G-Pass@2_1.0', 'mG-Pass@2', 'sound G-Pass@2_1.0'),
        *('validity', 'redundancy'),
    ]
    assert ('sound G-Pass@2_1.0', '25.00') in listed['sample-n8']
    assert [metric for metric, _ in listed['sample-greedy-n1']] == [
        *('accuracy', 'sound accuracy', 'validity', 'redundancy')
    ]
    assert listed['alone'] == [('validity', '50.00'), ('redundancy', '10.00')]
