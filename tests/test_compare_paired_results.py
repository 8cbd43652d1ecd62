"""Which results are compared, and what was measured in both."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_results import make_version_result, metrics, result_of
from made_sweep import SAMPLED, Sweep, make_sweep

from opencompass_gpassk.compare.comparison import compare_results
from opencompass_gpassk.compare.leaderboard import common_protocols
from opencompass_gpassk.compare.paired_results import pair_data_sets
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.tables.benchmark import benchmark_tables
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.read import ModelResult, results_at
from opencompass_gpassk.results.result import Result


def found(dataset: str, benchmark: str = 'b', n: int = 4, **signature: Any) -> ModelResult:
    """A result, as far as it is looked at."""
    result = result_of({}, n, benchmark=benchmark, signature={'n': n, **signature})
    return ModelResult('m', dataset, result, Path(f'{dataset}.json'), '')


def test_the_metrics_of_a_result_are_had_again_from_its_file(tmp_path: Path) -> None:
    """The protocol is told by the result: the same names and values, in every group."""
    run = make_sweep(tmp_path / '20260101_000000', {'m': 0.5}, Sweep(problems=12))
    for one in results_at(run.folder, print):
        again = metrics(one.table(), one.result.protocol)
        assert again['groups'] == {k: g.model_dump() for k, g in one.result.groups.items()}
        for key, value in again['metrics'].items():
            assert one.result.metrics[key] == pytest.approx(value, nan_ok=True), key


def test_the_newest_run_of_a_work_dir_is_meant(tmp_path: Path) -> None:
    """As in every command about one run."""
    for name, model in (('20260102_000000', 'new'), ('20260101_000000', 'old')):
        make_sweep(tmp_path / name, {model: 0.5}, Sweep(problems=4))
    assert {one.model for one in results_at(tmp_path, print)} == {'new'}
    assert {one.model for one in results_at(tmp_path / '20260101_000000', print)} == {'old'}


def test_thresholds_of_versions_and_of_soundness_are_read() -> None:
    """From the signature, and from who scored the reasoning."""
    result = make_version_result({'a': [2, 2, 1], 'g': [0, 1, 2]}, 2, [2])
    result['signature'] |= {'complete': 0.9, 'collapsed': 0.1}
    result['reasoning'] = {'threshold': 0.7}
    result['groups'] |= {
        'v1': {'version': '1', 'problems': 1},
        'original': {'version': 'original', 'problems': 1},
    }
    protocol = Result.of(result).protocol
    assert (protocol.n, protocol.k, protocol.complete, protocol.collapsed) == (2, (2,), 0.9, 0.1)
    assert protocol.groups == (('subject',), ('version',))
    assert protocol.sound == 0.7
    result['signature']['judge'] = 'none'
    assert Result.of(result).protocol.sound is None


def test_both_protocols_tell_what_both_results_hold() -> None:
    """k and τ of both; those of either, up to the fewest samples, where none is in both."""
    first = Protocol(16, (4, 8, 16), (0.5, 1.0), (('level',),), sound=0.5)
    second = Protocol(8, (8, 4, 2), (1.0,), (('split',),))
    a, b = common_protocols([first, second])
    assert (a.n, b.n) == (16, 8)
    assert a == replace(b, n=16)
    assert (a.k, a.taus, a.groups, a.sound) == ((4, 8), (1.0,), (('level',),), None)
    a, b = common_protocols([Protocol(16, (16,), (0.5,)), Protocol(8, (2,), (1.0,))])
    assert (a.k, a.taus) == ((2,), (0.5, 1.0))
    a, b = common_protocols([Protocol(16, (16,)), Protocol(1)])
    assert (a.k, b.k, b.n) == ((16,), (), 1)


@pytest.mark.parametrize(
    ('left', 'right', 'expected'),
    [
        ([found('x'), found('y')], [found('y'), found('x')], [('x', 'x'), ('y', 'y')]),
        ([found('x', n=4), found('y', n=8)], [found('z', n=8)], [('y', 'z')]),
        ([found('x', n=4)], [found('z', n=8), found('w', 'other')], [('x', 'z')]),
        ([found('x', 'one')], [found('z', 'two')], [('x', 'z')]),
        (
            [found('x', n=4), found('g', n=1, sampling={'greedy': True})],
            [found('h', n=1, sampling={'greedy': True}), found('z', n=8)],
            [('g', 'h'), ('x', 'z')],
        ),
        ([found('x', 'one'), found('y')], [found('x', 'two'), found('y')], [('y', 'y')]),
        ([found('x'), found('y')], [found('z'), found('y')], [('y', 'y'), ('x', 'z')]),
    ],
)
def test_data_sets_are_paired(
    left: list[ModelResult], right: list[ModelResult], expected: list[tuple[str, str]]
) -> None:
    """By name, by benchmark and n, by benchmark, or because there is no other."""
    pairs, unpaired = pair_data_sets(left, right)
    assert [(a.dataset, b.dataset) for a, b in pairs] == expected
    assert len(unpaired) == len(left) + len(right) - 2 * len(pairs)


def test_what_leaves_a_choice_is_not_paired() -> None:
    """Two data sets of one benchmark and n might be either."""
    with pytest.raises(ValueError, match='no results of the same benchmark'):
        pair_data_sets([found('x'), found('y')], [found('z')])


def test_the_page_and_the_command_say_the_same(tmp_path: Path) -> None:
    """Differences, intervals and p-values of two models, from two kinds of files."""
    run = make_sweep(tmp_path / '20260101_000000', {'a': 0.5, 'b': -0.5}, Sweep(problems=30))
    results = [one for one in results_at(run.folder, print) if one.dataset == SAMPLED]
    ours = compare_results(*results)
    (shown,) = page_data([run.folder]).data_sets
    assert ours.primary and shown.ranked.tested[0, 1] == ours.primary
    of_paths = compare_results(*(one.path for one in results))
    assert of_paths.primary == ours.primary


@pytest.mark.slow
def test_nothing_contradicts_itself_on_made_boards(tmp_path: Path) -> None:
    """On 20 boards: p against its own interval, page against tables, page against the command."""
    rng = random.Random(0)
    for number in range(20):
        models = {f'm{i}': rng.gauss(0, 1.5) for i in range(2 + number % 4)}
        folder = tmp_path / f'{number}/20260101_000000'
        run = make_sweep(folder, models, Sweep(problems=rng.choice([12, 30])), seed=number).folder
        data = page_data([run])
        shown = next(one for one in data.data_sets if one.entries[0].sampled)
        for one in shown.ranked.tested.values():
            for line in (one.these, one.like_these):
                assert bool(line.sign) is (line.p_value <= 0.05)
            assert bool(one.claim) is (one.these.p_value <= 0.05 and not one.fragile)
        (claims, *_) = [table.claims for table in benchmark_tables(data.board) if table.claims]
        assert claims == shown.claims
        if len(models) == 2:
            results = [one for one in results_at(run, print) if one.dataset == SAMPLED]
            assert compare_results(*results).primary == shown.ranked.tested[0, 1]
