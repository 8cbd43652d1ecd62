"""Page, tables and command say the same of two models: one comparison serves them all."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from made_sweep import SAMPLED, Sweep, add_result, make_sweep

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.tables.benchmark import benchmark_tables
from opencompass_gpassk.results.read import results_at
from opencompass_gpassk.results.result import Result

KINDS = {  # problems, samples of both, ability of B, verdicts that B lacks
    'equal': (40, 8, 8, 0.5, 0),
    'better': (40, 8, 8, 2.5, 0),
    'worse': (40, 8, 8, -1.5, 0),
    'a little better': (60, 8, 8, 1.0, 0),
    'few problems': (8, 8, 8, 6.0, 0),
    'more samples': (40, 8, 16, 1.5, 0),
    'fewer samples': (40, 8, 4, -1.5, 0),
    'verdicts missing': (40, 8, 8, 2.0, 40),
    'most verdicts missing': (40, 8, 8, 2.0, 250),
    'many problems': (120, 4, 4, 0.9, 0),
}
PAIRS = [(f'{kind}, {seed}', kind, seed) for kind in KINDS for seed in (1, 2)]


def made(folder: Path, kind: str, seed: int) -> Path:
    """A run of the two models."""
    problems, n, other_n, ability, unjudged = KINDS[kind]
    sweep = Sweep(problems=problems, n=n, k=(2, 4))
    run = make_sweep(folder / '20260101_000000', {'a': 0.5}, sweep, seed=seed)
    other = Sweep(problems=problems, n=other_n, k=(2, 4))
    rng = random.Random(f'{kind} {seed}')
    add_result(run.folder, 'b', SAMPLED, ability, other, other_n, rng, unjudged)
    return run.folder


def say_the_same(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Assert that the command, the page and the tables agree on the primary metric."""
    file = run.parent / 'compared.json'
    sides = ['--model-a', 'a', '--model-b', 'b', '--dataset', SAMPLED]
    assert main(['compare', str(run), *sides, '--json', str(file)]) == 0
    (data_set,) = json.loads(file.read_text())['data_sets']
    (of_command,) = (one for one in data_set['differences'] if one['tests'])
    low, high, p_value = (of_command['these'][of] for of in ('low', 'high', 'p_value'))
    assert (low > 0 or high < 0) is (p_value <= 0.05)
    assert bool(of_command['claim']) is (p_value <= 0.05 and not of_command['these']['fragile'])

    data = page_data([run])
    (shown,) = data.data_sets
    of_page = shown.ranked.tested[0, 1]
    assert of_page.key == of_command['key'] == data_set['primary']
    for name in ('difference', 'first', 'second'):
        assert getattr(of_page, name) == pytest.approx(of_command[name])
    for name in ('these', 'like_these'):
        assert [*getattr(of_page, name)] == pytest.approx([*of_command[name].values()])
    claim = of_page.claim
    assert claim == of_command['claim']
    first = {'better': ['b'], 'worse': ['a']}.get(claim, ['a', 'b'])
    ranks = {name: shown.ranked.rank(place) for place, name in enumerate('ab')}
    assert [name for name, rank in ranks.items() if rank and rank[0] == 1] == first
    assert ('is the most stable' in shown.claims[0]) is (len(first) == 1)

    results: dict[str, dict[str, Result]] = {}
    trials = {}
    for one in results_at(run, print):
        if one.dataset == SAMPLED:
            results.setdefault(one.model, {})[one.dataset] = one.result
            trials[one.model, one.dataset] = one.table()
    tables = benchmark_tables(Board(results, trials))
    marks = {t.rows[row][0]: m for t in tables for (row, _), m in t.marks.items()}
    assert sorted(marks) == first
    assert Mark.BEST in marks.values()
    assert [claim for t in tables for claim in t.claims] == shown.claims
    capsys.readouterr()


@pytest.mark.slow
def test_twenty_pairs_have_one_answer_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same difference, interval and p; sentence, marks and ranks agree with the claim."""
    for number, (_, kind, seed) in enumerate(PAIRS):
        say_the_same(made(tmp_path / str(number), kind, seed), capsys)
