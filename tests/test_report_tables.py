"""Tables, CSV and JSON hold the metrics, joined by benchmark, and nothing hostile."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import Any

import pytest
from made_results import board_of, make_result, typed

from opencompass_gpassk.formats.display import (
    called,
    decimal_text,
    share_text,
    spreadsheet_text,
)
from opencompass_gpassk.report.files import tidy_rows, to_csv, to_json
from opencompass_gpassk.report.tables.benchmark import benchmark_tables
from opencompass_gpassk.report.tables.table import Table, to_markdown, to_text

COUNTS = {'AMC_en': [4, 2], 'AMC_cn': [3, 0]}
HOSTILE = 'a|b\n<script>\x1b[2J\u2028*x* \ud800'


def row(table: Table, model: str) -> dict[str, Any]:
    """Return the row of a model, heading → cell."""
    return next(
        dict(zip(table.columns, cells, strict=True)) for cells in table.rows if model in cells
    )


def shown(table: Table, model: str) -> list[str]:
    """Return the cells of a model's row as the terminal shows them, without its name."""
    lines = (x for x in to_text(table).splitlines() if x.startswith(f'{model} '))
    (line,) = (x for x in lines if ' solves ' not in x)
    return line.split()[1:]


def results(**models: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return model → data set → result, data sets named after n."""
    return {
        model: {f'set-n{result["signature"]["n"]}': result for result in given}
        for model, given in models.items()
    }


def test_a_model_has_a_row_as_in_the_paper() -> None:
    """Greedy, average@n, pass@k, each τ above 0 and mG-Pass@k stand side by side."""
    made = results(
        good=[
            make_result(COUNTS, 4, (2, 4)),
            make_result({'AMC_en': [1, 0], 'AMC_cn': [0, 0]}, 1, greedy=True),
        ]
    )
    table, other, by_group = benchmark_tables(board_of(made))
    assert table.title == 'LiveMathBench-202412: 4 problems, n = 4, k = 2'
    assert other.title.endswith('k = 4')
    assert by_group.title.endswith('by split and language')
    assert row(table, 'good') == {
        'model': 'good',
        'Greedy': 25.0,
        'average@4': pytest.approx(100 * 9 / 16),
        'pass@2': pytest.approx(100 * (1 + 5 / 6 + 1 + 0) / 4),
        'G-Pass@2_0.25': pytest.approx(100 * (1 + 5 / 6 + 1 + 0) / 4),
        'G-Pass@2_0.5': pytest.approx(100 * (1 + 5 / 6 + 1 + 0) / 4),
        'G-Pass@2_0.75': pytest.approx(100 * (1 + 1 / 6 + 1 / 2 + 0) / 4),
        'G-Pass@2_1.0': pytest.approx(100 * (1 + 1 / 6 + 1 / 2 + 0) / 4),
        'mG-Pass@2': pytest.approx(100 * (1 + 1 / 6 + 1 / 2 + 0) / 4),
        'stability gap@2': pytest.approx(100 * (4 / 6 + 1 / 2) / 4),
    }
    groups = {(cells[0], cells[3]): cells for cells in by_group.rows}
    assert set(groups) == {(g, k) for g in ('AMC-en', 'AMC-cn') for k in (2, 4)}
    english = dict(zip(by_group.columns, groups['AMC-en', 4], strict=True))
    assert (english['problems'], english['Greedy'], english['average@4']) == (2, 50.0, 75.0)
    assert english['G-Pass@k_1.0'] == 50.0


def test_without_a_greedy_run_there_is_no_greedy_column() -> None:
    """Nothing is invented for what was not measured; with one model's, the others show a dash."""
    sampled, greedy = make_result(COUNTS, 4, (2,)), make_result(COUNTS, 1, greedy=True)
    (table, _) = benchmark_tables(board_of(results(one=[sampled])))
    assert 'Greedy' not in table.columns
    (table, _) = benchmark_tables(
        board_of(results(one=[sampled], two=[sampled, greedy], three=[greedy]))
    )
    assert [row(table, model)['Greedy'] for model in ('one', 'two', 'three')] == [None, 75.0, 75.0]
    assert row(table, 'three')['pass@2'] is None
    assert shown(table, 'one')[0] == '-'


def test_greedy_is_taken_from_the_same_data() -> None:
    """Of two greedy runs the one on the sampled run's data is joined, the other stands alone."""
    made = {
        'm': {
            'old-greedy': make_result({'A_en': [0]}, 1, greedy=True, data='old'),
            'new-greedy': make_result({'A_en': [1]}, 1, greedy=True, data='new'),
            'new': make_result({'A_en': [1]}, 4, (2,), data='new'),
        }
    }
    table = benchmark_tables(board_of(made))[0]
    assert row(table, 'm (new)')['Greedy'] == 100.0
    assert row(table, 'm (old-greedy)')['Greedy'] == 0.0


@pytest.mark.parametrize('value', [math.nan, None])
def test_undefined_is_shown_as_undefined(value: float | None) -> None:
    """Metrics that are NaN or null are a dash, in no export a number, never 0."""
    made = results(m=[make_result(COUNTS, 4, (2,))])
    made['m']['set-n4']['metrics']['mG-Pass@2'] = value
    table = benchmark_tables(board_of(made))[0]
    assert shown(table, 'm')[-2] == '–'
    texts = [to_csv(typed(made)), to_json(typed(made)), to_markdown(table)]
    assert not any(re.search(r'\binf\b|Infinity|NaN', text) for text in texts)


def test_too_few_samples_are_told() -> None:
    """Metrics of four samples are undefined where there are three; a note says why."""
    two, four, _ = benchmark_tables(
        board_of(results(m=[make_result(COUNTS, 4, (2, 4), sampled=3)]))
    )
    assert '–' not in to_text(two)
    assert shown(four, 'm')[1:] == ['–'] * 7
    assert not four.claims
    assert four.notes == ['–: undefined, no problem has 4 samples and a verdict']


def test_levels_stand_in_order() -> None:
    """Splits keep the order of the data; levels are sorted, in a table of their own."""
    result = make_result({'CNMO_en': [1], 'AMC_en': [1]}, 4, (4,))
    for level in (5, 1, 3):
        result['groups'][f'level {level}'] = {'level': str(level), 'problems': 1}
    _, splits, levels = benchmark_tables(board_of(results(m=[result])))
    assert [cells[0] for cells in splits.rows] == ['CNMO-en', 'AMC-en']
    assert levels.title.endswith('by level')
    assert [cells[0] for cells in levels.rows] == ['level 1', 'level 3', 'level 5']


@pytest.mark.parametrize(
    ('k', 'notes'), [(1, ['a perfect model scores 0']), (3, ['66.7 is the max']), (2, [])]
)
def test_odd_k_has_its_caveat(k: int, notes: list[str]) -> None:
    """A reader learns why a perfect model does not reach 100."""
    table = benchmark_tables(board_of(results(m=[make_result(COUNTS, 4, (k,))])))[0]
    assert [note in line for note, line in zip(notes, table.notes, strict=True)] == [True] * len(
        notes
    )


@pytest.mark.parametrize(
    ('benchmark', 'words'),
    [
        ('sample', 'not LiveMathBench'),
        ('sample-en', 'not LiveMathBench'),
        ('AIME2024-30', 'since the list of 45 is not published'),
        ('AIME2024-45', 'your own list'),
    ],
)
def test_what_is_no_published_benchmark_is_called_so(benchmark: str, words: str) -> None:
    """The caveat stands under the table."""
    results = {'m': {'x': make_result(COUNTS, 8, (4,), benchmark=benchmark)}}
    (table, *_) = benchmark_tables(board_of(results))
    assert table.title.startswith(f'{benchmark}: ')
    assert any(words in note for note in table.warnings)


def test_warnings_name_whom_they_concern() -> None:
    """A warning of all models stands alone, that of some names them; so does other data."""
    made = {
        'a': {'x': make_result(COUNTS, 4, (4,), warnings=['noisy', 'copies'])},
        'b': {'x': make_result(COUNTS, 4, (4,), warnings=['noisy'])},
    }
    assert benchmark_tables(board_of(made))[0].warnings == ['noisy', 'a: copies']
    made['b']['x']['signature']['data'] = 'other'
    different = 'different versions of the data: LiveMathBench-202412:1 and other'
    assert different in benchmark_tables(board_of(made))[0].warnings[0]


def test_without_results_there_are_no_tables() -> None:
    """And a CSV of headings."""
    assert board_of({}).benchmarks == []
    assert to_csv(typed({})).startswith('benchmark,model,')


def test_hostile_names_stay_in_their_cell() -> None:
    """A model's name or a warning breaks neither the terminal, nor Markdown, nor HTML."""
    made = {HOSTILE: {'x': make_result(COUNTS, 4, (4,), warnings=[HOSTILE])}}
    table = benchmark_tables(board_of(made))[0]
    text, markdown = to_text(table), to_markdown(table)
    assert '\x1b' not in text + markdown
    assert '<script>' not in markdown
    assert len(text.splitlines()) == 9
    lines = markdown.splitlines()
    assert lines[2].count(' | ') == lines[4].count(' | ')
    told = [line for line in lines if line.startswith('- ')]
    assert [line for line in told if 'docs/' not in line] == [
        '- a\\|b &lt;script&gt;�\\[2J \\*x\\* � solves 25 % of these 4 problems in all 4 attempts '
        'and 75 % in at least one',
        '- a\\|b &lt;script&gt;�\\[2J \\*x\\* �',
    ]
    markdown.encode()
    to_csv(typed(made)).encode()


@pytest.mark.parametrize(
    ('text', 'expected'),
    [('=1+1', "'=1+1"), ('@x', "'@x"), ('-x', "'-x"), ('Qwen2.5', 'Qwen2.5'), ('\t=x', "'=x")],
)
def test_no_text_is_a_formula(text: str, expected: str) -> None:
    """A spreadsheet shows a name that starts as a formula does as text."""
    assert spreadsheet_text(text) == expected


def test_every_metric_is_in_the_csv() -> None:
    """Each metric of the whole and of each group is one row with its value."""
    result = make_result(COUNTS, 4, (2, 4), sampled=3)
    rows = list(csv.DictReader(io.StringIO(to_csv(typed({'m': {'x': result}})))))
    metrics = {
        (r['group'], r['metric'], r['k'], r['tau']): r['percent'] for r in rows if r['k'] != '4'
    }
    assert len(rows) == len({tuple(r[c] for c in ('group', 'metric', 'k', 'tau')) for r in rows})
    assert float(metrics['', 'G-Pass@k', '2', '1.0']) == pytest.approx(result['G-Pass@2_1.0'])
    assert float(metrics['AMC-cn', 'accuracy', '', '']) == pytest.approx(50.0)
    assert float(metrics['', 'coverage', '', '']) == 100.0
    assert {r['percent'] for r in rows if r['k'] == '4'} == {''}
    assert {(r['split'], r['language']) for r in rows if r['group'] == 'AMC-en'} == {('AMC', 'en')}
    assert len(rows) == len(result['metrics']) + len(result['shares'])
    assert len(tidy_rows(typed({'m': {'x': result}}))) == len(rows)


def test_the_json_has_null_for_undefined() -> None:
    """It is strict JSON, and holds the metrics under the result's own names."""
    result = make_result(COUNTS, 4, (2, 4), sampled=3)

    def forbidden(token: str) -> None:
        raise AssertionError(token)

    document = json.loads(to_json(typed({'m': {'x': result}})), parse_constant=forbidden)
    (entry,) = document['results']
    assert entry['metrics']['pass@4'] is None
    assert entry['metrics']['pass@2'] == result['pass@2']
    assert entry['groups']['AMC-en']['metrics']['pass@2'] == result['metrics']['AMC-en/pass@2']
    assert entry['groups']['AMC-en']['problems'] == 2
    assert entry['counts']['trials'] == 12


def test_a_groups_field_takes_no_other_column() -> None:
    """A field may be called as a column is, or as a formula begins; none is lost, none acts."""
    result = make_result(COUNTS, 4, (2,))
    for group in result['groups'].values():
        group |= {'=cmd|calc': '1', 'model': 'overridden', 'n': '77'}
    text = to_csv(typed({'m': {'x': result}}))
    headings = next(csv.reader([text.splitlines()[0]]))
    assert len(set(headings)) == len(headings)
    assert "'=cmd|calc" in headings
    assert {(r['model'], r['n']) for r in csv.DictReader(io.StringIO(text))} == {('m', '4')}
    rows = [r for r in csv.DictReader(io.StringIO(text)) if r['group'] == 'AMC-en']
    assert {(r['group model'], r['group n']) for r in rows} == {('overridden', '77')}


def test_the_terminal_is_wide_enough_for_long_names() -> None:
    """Names are cut in the middle and notes take several lines, within 120 columns."""
    names = [f'a-model-of-a-name-that-is-{"very " * 9}long-{end}' for end in ('vllm', 'hf')]
    made = {n: {'x': make_result(COUNTS, 16, (16,), warnings=['word ' * 60])} for n in names}
    for table in benchmark_tables(board_of(made)):
        lines = to_text(table).splitlines()
        assert max(map(len, lines)) <= 120
    text = to_text(benchmark_tables(board_of(made))[0])
    assert 'long-vllm ' in text
    assert 'long-hf ' in text
    assert text.count('word') == 60
    assert names[0] in to_markdown(benchmark_tables(board_of(made))[0])


@pytest.mark.parametrize('width', [60, 80, 100, 120])
def test_a_table_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every metric of every model is there, in blocks below one another if need be."""
    names = [f'organisation/a-model-with-a-long-name-{i}b-instruct' for i in (7, 72)]
    (table,) = [
        one
        for one in benchmark_tables(
            board_of(results(**{n: [make_result(COUNTS, 8, (4, 8))] for n in names}))
        )
        if 'k = 8' in one.title
    ]
    monkeypatch.setenv('COLUMNS', '120')
    wide = to_text(table)
    monkeypatch.setenv('COLUMNS', str(width))
    text = to_text(table)
    assert max(map(len, text.splitlines())) <= width
    metrics = [re.findall(r'\d+\.\d', shown) for shown in (wide, text)]
    assert sorted(metrics[0]) == sorted(metrics[1])
    for name in names:
        assert any(line.startswith(name[:5]) and name[-9:] in line for line in text.splitlines())


def test_data_sets_are_called_as_the_user_called_them() -> None:
    """Wherever no other has that name; then the number of samples or the hash tells them apart."""
    assert called(['exam-20e3d2-n32', 'sample-n16']) == {
        'exam-20e3d2-n32': 'exam',
        'sample-n16': 'sample-n16',
    }
    two = ['exam-20e3d2-n32', 'exam-20e3d2-n8', 'exam-a0e3d2-n8', 'other-000000-greedy-n1']
    assert list(called(two).values()) == ['exam-n32', two[1], two[2], 'other']
    assert called(['exam', 'exam-20e3d2-n32'])['exam-20e3d2-n32'] == 'exam-n32'


def test_rounding_does_not_hide_what_is_missing() -> None:
    """Nearly all is not all, and the last digits of a float do not decide."""
    assert share_text(98.95) == '99.0' and share_text(99.97) == '99.97'
    assert share_text(100.0) == '100.0' and share_text(0.04) == '0.0'
    for value in (15.25, 15.249999999999996, 15.250000000000004):
        assert decimal_text(value, 1) == decimal_text(15.25, 1)
    assert decimal_text(-0.01, 1) == '0.0'
