"""docs/results.md describes what results and trials files hold, and nothing else."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from eval_task import OurSums
from made_results import as_result
from made_sweep import SAMPLED, make_sweep
from test_evaluator_reasoning import evaluated
from test_evaluator_versions import answered, recited

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.evaluator import ReasonEvalEvaluator
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import render_page
from opencompass_gpassk.results.metric import SHARES
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.trials import SCHEMA, Problem, Trial, TrialTable, Verdict
from tools.describe_results import PAGE, described


@pytest.fixture(scope='module')
def results(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Results of every kind: with versions, with reasoning, of reasoning alone, of a file."""
    folder = tmp_path_factory.mktemp('results')
    rows = [
        {'problem': str(i), 'answer': str(i), 'samples': [f'\\boxed{{{j % 3}}}' for j in range(4)]}
        for i in range(6)
    ]
    (folder / 'rows.jsonl').write_text('\n'.join(map(json.dumps, rows)), 'utf-8')
    scored = folder / 'scored.json'
    command = ['score', str(folder / 'rows.jsonl'), '--model', 'm', '-o', str(scored)]
    assert main(command) == 0
    assert main(['audit', str(scored), '--draw', str(folder / 'labels.jsonl')]) == 0
    labels = (
        (folder / 'labels.jsonl').read_text('utf-8').replace('"human": ""', '"human": "correct"')
    )
    (folder / 'labels.jsonl').write_text(labels, 'utf-8')
    assert main(['audit', str(scored), 'recorded', str(folder / 'labels.jsonl')]) == 0
    return [
        answered(folder / 'versions', recited, n=2),
        evaluated(folder / 'sound'),
        evaluated(folder / 'reasoning', OurSums, ReasonEvalEvaluator),
        json.loads(scored.read_text('utf-8')),
    ]


def test_the_page_is_made_from_the_declarations() -> None:
    """``python -m tools.describe_results`` changes nothing."""
    page = PAGE.read_text('utf-8')
    assert described(page) == page


def test_results_hold_what_is_described(results: list[dict[str, Any]]) -> None:
    """Every field of a result is one of its type, in its order; shares and metrics are known."""
    for result in results:
        read = Result.of(result)
        stored = read.as_json()
        described = {name: value for name, value in result.items() if name in stored}
        assert json.dumps(stored) == json.dumps(described)
        labels = ['', *(f'{label}/' for label in result['groups'])]
        assert result['metrics'].keys() <= {f'{g}{f.key}' for f in read.measured() for g in labels}
        assert result['shares'].keys() <= SHARES.keys()


def test_trials_hold_what_is_described(tmp_path: Path) -> None:
    """The fields of problems and trials are those of the page's tables."""
    run = make_sweep(tmp_path / '1', {'m': 0.5}).folder
    with gzip.open(run / f'results/m/{SAMPLED}.trials.jsonl.gz', 'rt') as file:
        rows = [json.loads(line) for line in file]
    assert (rows[0]['kind'], rows[0]['schema']) == ('meta', SCHEMA)
    page = PAGE.read_text('utf-8')
    for kind, record in (('problem', Problem), ('trial', Trial)):
        table = page.split(f'<!-- {kind}s -->')[1].split('<!-- end -->')[0]
        described_ = {line.split('`')[1] for line in table.splitlines() if line.startswith('| `')}
        assert described_ == {one.name for one in fields(record)}
        assert {key for row in rows if row['kind'] == kind for key in row} - {'kind'} <= described_


def test_another_schema_is_refused(tmp_path: Path) -> None:
    """Its metrics may mean something else."""
    for schema in ({'schema': '5'}, {'schema': 2}, {}):
        with pytest.raises(ValueError, match=r'schema is .*update'):
            Result.of({**schema, 'benchmark': 'b', 'signature': {'n': 1}})


def change(path: Path, **fields_: Any) -> None:
    """Change fields of a result."""
    result = json.loads(path.read_text('utf-8'))
    path.write_text(json.dumps({**result, **fields_}))


@pytest.mark.parametrize('kind', ['details', 'counts', 'signature'])
def test_a_result_that_contradicts_its_trials_is_marked(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the page, in compare and in status; other results are not."""
    run = make_sweep(tmp_path / '1', {'good': 0.5, 'bad': 0.6}).folder
    path = run / f'results/bad/{SAMPLED}.json'
    result = json.loads(path.read_text('utf-8'))
    if kind == 'details':
        result['details'][0]['c'] -= 1
        change(path, details=result['details'])
    elif kind == 'counts':
        change(path, details=[], counts={**result['counts'], 'correct': 1})
    else:
        change(path, signature={**result['signature'], 'data': 'another'})
    assert main(['status', str(run)]) == 1
    marked = [line.split()[0] for line in capsys.readouterr().out.splitlines() if 'BUT' in line]
    on_page = [
        entry.model
        for one in page_data([run]).data_sets
        for entry, marks in zip(one.entries, one.marks, strict=True)
        if any(word == 'contradictory' for word, _ in marks)
    ]
    main(['compare', str(run), '--model-a', 'good', '--model-b', 'bad', '--dataset', SAMPLED])
    compared = capsys.readouterr().out
    assert (marked, on_page) == ([f'bad/{SAMPLED}'], ['bad'])
    assert 'the result of B is contradictory' in ' '.join(compared.split())


@pytest.mark.parametrize(
    'fields_',
    [
        {'counts': {'correct': None, 'incorrect': None}},
        {'signature': {'n': 8, 'complete': None}},
        {'signature': {'n': 8, 'judge': 'none'}},
        {'CR': []},
        {'AMC/pass@4': 'abc'},
        {'G-Pass@4_0.125': 10**400},
        {'versions': {'per_group': 5}},
        {'reasoning': {'refusals': {'x': None}}},
        {'taus': []},
    ],
    ids=lambda one: next(iter(one)),
)
def test_an_odd_result_costs_itself_alone(
    fields_: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is made, and the other model's result has no mark."""
    run = make_sweep(tmp_path / '1', {'good': 0.5, 'bad': 0.6}).folder
    change(run / f'results/bad/{SAMPLED}.json', **fields_)
    found = page_data([run])
    render_page(found)
    assert 'good' in [entry.model for one in found.data_sets for entry in one.entries]
    main(['status', str(run)])
    assert re.search(rf'^good/{SAMPLED} +finished$', capsys.readouterr().out, re.MULTILINE)
    assert main(['compare', str(run), '--model-a', 'good', '--model-b', 'bad']) in (0, 2)


@pytest.mark.parametrize(
    ('key', 'value'),
    [('accuracy', -5), ('accuracy', True), ('G-Pass@2_1.0', 101.0), ('accuracy', '50')],
)
def test_a_metric_that_cannot_be_is_refused(key: str, value: Any) -> None:
    """Below 0, above 100, or no number."""
    table = TrialTable([Problem('1')], [Trial('1', i, Verdict.CORRECT) for i in range(2)])
    made = as_result(table, Protocol(2, k=(2,)), benchmark='b', greedy=False)
    Result.of(made)
    made['metrics'][key] = value
    with pytest.raises(ValueError, match=key):
        Result.of(made)
