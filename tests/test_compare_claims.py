"""Claims in words say what the tests found, and no more; the loss is shown, but never ranked."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import as_result, bounds, make_version_result, result_of
from made_runs import MadeRun
from made_sweep import SAMPLED, Sweep, add_result, make_sweep, write_json

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.compare.claims import leaderboard_claim
from opencompass_gpassk.compare.leaderboard import Leaderboard, leaderboard
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.metrics.gpassk import g_pass_at_k
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.results.make_result import store
from opencompass_gpassk.results.metric import G_PASS, PASS, parse_metric
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.result import Entry, Result
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

HOSTILE = '<script>alert(1)</script>\x1b[2J\u202e\u2028' + 'x' * 500


def claim_of(
    models: dict[str, tuple[float, float, tuple[int, int] | None]],
    k: int = 8,
    counts: Mapping[str, Any] | None = None,
) -> str:
    """The sentence on models with these pass@k, G-Pass@k at τ = 1, and ranks."""
    strictest = G_PASS(k=k, tau=1.0)
    entries = [
        Entry(
            name,
            'd',
            result_of({PASS(k=k).key: some, strictest.key: every}, 8, k=[k], counts=counts or {}),
        )
        for name, (some, every, _) in models.items()
    ]
    ranks = {place: one[2] for place, one in enumerate(models.values()) if one[2]}
    return leaderboard_claim(entries, Leaderboard(metric=strictest, ranks=ranks))


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.integers(1, 9), st.integers(0, 8), st.booleans()),
        min_size=2,
        max_size=9,
    )
)
def test_only_who_has_no_other_rank_is_the_most_stable(
    given_: list[tuple[float, int, int, bool]],
) -> None:
    """Otherwise all that may be the first are named or counted, and nobody else."""
    models = {
        f'm{i}': (100.0, every, (best, best + more) if ranked else None)
        for i, (every, best, more, ranked) in enumerate(given_)
    }
    ranked = {name: one[2] for name, one in models.items() if one[2]}
    first = {name for name, (best, _) in ranked.items() if best == 1}
    told = claim_of(models)
    if len(ranked) < 2 or not first:
        assert told == ''
        return
    listed, _, words = told.partition(' may be')
    sure = [ranked[name] for name in first] == [(1, 1)]
    if sure:
        assert told.startswith(f'{min(first)} is the most stable')
    else:
        assert words.startswith(' the most stable')
        more = re.search(r' and (\d+) more', listed)
        named = re.findall(r'(m\d+) \(', listed)
        assert {*named} <= first
        assert len({*named}) + int(more[1] if more else 0) == len(first)
        assert named == sorted(named, key=lambda name: -models[name][1])
        assert ('no test tells them apart' in told) is (len(first) > 1)
    assert (f'of the {len(ranked)} models' in told) == (len(ranked) < len(models))


@pytest.mark.parametrize(
    ('some', 'every', 'told'),
    [
        (49.2, 28.9, '49 % of the problems in some of 8 attempts, 29 % in all of them'),
        (99.97, 0.03, 'more than 99 % of the problems in some of 8 attempts, less than 1 % in all'),
        (100.0, 0.0, '100 % of the problems in some of 8 attempts, 0 % in all of them'),
    ],
)
def test_of_one_model_shares_are_told(some: float, every: float, told: str) -> None:
    """Nearly all is not all; nothing is told of what is undefined, or of one attempt."""
    assert claim_of({'m': (some, every, None)}).startswith(f'm solves {told}')
    assert claim_of({'m': (math.nan, math.nan, None)}) == ''
    left_out = {'problems': 100, 'excluded': {'8': 1}}
    assert 'of 99 of the 100 problems in some of 8' in claim_of(
        {'m': (some, every, None)}, counts=left_out
    )
    assert claim_of({'m': (some, some, None)}, k=1) == ''


@pytest.mark.parametrize(
    ('ends', 'told'),
    [
        ([60.0, 100.0], '60 to 100 % of the problems in some of 8 attempts, 40 % in all of them'),
        ([75.5, 76.9], '76 % of the problems in some of 8 attempts, 40 % in all of them'),
        ([None, None], '76 % of the problems in some of 8 attempts, 40 % in all of them'),
    ],
)
def test_the_range_is_told_where_missing_verdicts_move_a_number_by_a_point(
    ends: list[float | None], told: str
) -> None:
    """Not the number that was filled in."""
    some, every = PASS(k=8).key, G_PASS(k=8, tau=1.0).key
    bounds_ = {some: ends, every: [39.5, 40.5]}
    result = result_of({some: 76.0, every: 40.0}, 8, k=[8], bounds=bounds_)
    assert leaderboard_claim([Entry('m', 'd', result)], Leaderboard()) == f'm solves {told}'


@pytest.mark.parametrize(('missing', 'fragile'), [(0, False), (2, False), (12, True)])
def test_it_is_told_whether_missing_verdicts_can_change_who_is_best(
    missing: int, fragile: bool
) -> None:
    """The best one is named, with the range of its metric and of the difference."""
    protocol, tables = Protocol(n=4, k=(4,)), {}
    for name, right in (('good', 30), ('poor', 16)):
        problems = [Problem(f'p{i}', gold='1') for i in range(40)]
        verdicts = [Verdict.CORRECT if i < right else Verdict.INCORRECT for i in range(40)]
        verdicts[:missing] = [Verdict.UNJUDGED] * missing
        trials = [
            Trial(f'p{i}', r, verdict if r else Verdict.CORRECT)
            for i, verdict in enumerate(verdicts)
            for r in range(4)
        ]
        tables[name, 'd'] = TrialTable(problems, trials)
    entries = [
        Entry(
            *place,
            Result.of(
                as_result(table, protocol, benchmark='b', greedy=False)
                | {'bounds': bounds(table, protocol)}
            ),
        )
        for place, table in tables.items()
    ]
    told = leaderboard_claim(entries, leaderboard(entries, tables, {}))
    assert told.startswith('good is the most stable by G-Pass@4_1.0: it solves ')
    assert ('missing verdicts can overturn this' in told) is fragile
    assert ('it solves 75 % of the problems' in told) is (missing == 0)
    assert ('points by missing verdicts' in told) is (missing > 0)


def test_names_are_texts() -> None:
    """They move no cursor, and a long one is cut."""
    for models in (
        {HOSTILE: (9.0, 5.0, None)},
        {HOSTILE: (9.0, 5.0, (1, 1)), 'b': (9.0, 1.0, (2, 2))},
    ):
        told = claim_of(models)
        assert '<script>' in told and told.isprintable() and len(told) < 200


def compared(folder: Path) -> tuple[int, list[str]]:
    """Exit code of a comparison of a and b, and the claims in its JSON."""
    file = folder / 'compared.json'
    sides = ['--model-a', 'a', '--model-b', 'b', '--dataset', SAMPLED]
    code = main(['compare', str(folder), *sides, '--json', str(file)])
    claims: list[str] = json.loads(file.read_text())['data_sets'][0]['claims']
    return code, claims


def test_the_command_says_who_is_better(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As its table does: by the word, the difference, its interval and its p-value."""
    for b, told in (
        (4.0, 'B is better than A in G-Pass@4_1.0 on these 40 problems: +'),
        (-4.0, 'B is worse than A in G-Pass@4_1.0 on these 40 problems: -'),
        (0.1, 'not shown: B unlike A in G-Pass@4_1.0 on these 40 problems: '),
    ):
        run = make_sweep(tmp_path / f'{b}/20260101_000000', {'a': 0, 'b': b}, Sweep(problems=40))
        file = run.folder.parent / 'compared.json'
        claims = compared(run.folder.parent)[1]
        out = ' '.join(capsys.readouterr().out.split())
        assert claims[0].startswith(told) and all(claim in out for claim in claims)
        rows = {
            one['key']: one for one in json.loads(file.read_text())['data_sets'][0]['differences']
        }
        one, some = rows['G-Pass@4_1.0'], rows['pass@4']
        p = '<0.001' if one['p_value'] < 0.001 else f'{one["p_value"]:.3f}'
        assert claims[0].endswith(
            f': {one["difference"]:+.1f} points (95 % interval {one["low"]:+.1f} to '
            f'{one["high"]:+.1f}), p {p} (primary metric)'
        )
        assert ((one['low'] > 0) or (one['high'] < 0)) is bool(one['claim'])
        assert claims[1] == (
            f'A solves {some["first"]:.0f} % of the problems in some of 4 attempts, '
            f'{one["first"]:.0f} % in all of them'
        )


def test_a_claim_tells_what_overturns_it_and_none_is_of_another_judge(tmp_path: Path) -> None:
    """Missing verdicts may; of another judge only each model's own shares are told."""
    folder = tmp_path / '20260101_000000'
    sweep = Sweep(problems=40)
    run = make_sweep(folder, {'a': 2.5, 'b': 0}, sweep).folder
    assert compared(tmp_path)[1][0].startswith('B is worse than A')
    result = add_result(run, 'a', SAMPLED, 2.5, sweep, 8, random.Random('0/a/lmb-n8'), unjudged=80)
    told = compared(tmp_path)[1][0]
    assert told.startswith('B is worse than A') and "A's 80 missing" in told
    result = without_nan(result) | {'signature': result['signature'] | {'judge': 'another'}}
    write_json(run / f'results/a/{SAMPLED}.json', result)
    claims = compared(tmp_path)[1]
    assert [claim[:8] for claim in claims] == ['A solves', 'B solves']


def test_without_k_the_claim_is_of_accuracy(tmp_path: Path) -> None:
    """As of greedy responses."""
    run = make_sweep(tmp_path / '20260101_000000', {'a': -3, 'b': 3}, Sweep(problems=40))
    file = tmp_path / 'c.json'
    assert main(['compare', str(run.folder), '--dataset', 'lmb-greedy', '--json', str(file)]) == 0
    (claim,) = json.loads(file.read_text())['data_sets'][0]['claims']
    assert claim.startswith('B is better than A in accuracy on these 40 problems: +')


@given(st.integers(1, 30), st.data())
def test_the_loss_is_from_some_to_all(n: int, data: st.DataObject) -> None:
    """pass@k minus G-Pass@k at τ = 1, from 0 to 1; 0 of a model that solves all, or nothing."""
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    (loss,) = parse_metric(f'stability gap@{k}').estimator()([n], [c])
    assert loss == pytest.approx(g_pass_at_k(n, c, k, 0.0) - g_pass_at_k(n, c, k, 1.0), abs=1e-12)
    assert 0 <= loss <= 1
    assert loss == 0 or 0 < c < n


def test_the_loss_is_shown_but_never_ranked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has intervals and a difference, but no p-value, no rank, and no check."""
    folder = tmp_path / '20260101_000000'
    run = make_sweep(folder, {'a': 0, 'b': -8.0}, Sweep(problems=40)).folder
    result = json.loads((run / f'results/a/{SAMPLED}.json').read_text())
    for name in ('intervals', 'intervals_fixed'):
        low, high = result[name]['stability gap@4']
        assert 0 <= low < result['metrics']['stability gap@4'] < high <= 100
    assert 'stability gap@4' not in result['bounds']
    compared(tmp_path)
    document = json.loads((tmp_path / 'compared.json').read_text())['data_sets'][0]
    rows = {one['key']: one for one in document['differences']}
    loss, passed, strict = (rows[name] for name in ('stability gap@4', 'pass@4', 'G-Pass@4_1.0'))
    assert loss['difference'] == pytest.approx(passed['difference'] - strict['difference'])
    assert loss['low'] < loss['difference'] < loss['high'] < 0
    assert loss['p_value'] is None and loss['family'] == loss['claim'] == ''
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith('stability gap@4 '))
    assert not {'better', 'worse'} & {*line.split()}
    assert main(['compare', str(tmp_path), '--fail-if-worse', 'stability gap@4']) == 2
    assert 'stability gap@4: it is never ranked' in capsys.readouterr().err


def test_other_metrics_cost_nothing_for_the_loss(tmp_path: Path) -> None:
    """Of a model that solves no problem always, the loss equals pass@k; that one is tested."""
    rows = [
        {'question': f'{i} + 1 = ?', 'answer': str(i + 1)}
        | {'samples': [f'\\boxed{{{i + (j < 3)}}}' for j in range(4)]}
        for i in range(1, 13)
    ]
    for name, shift in (('a', 0), ('b', 9)):
        samples = [
            row | {'samples': [s.replace('{', f'{{{shift or ""}') for s in row['samples']]}
            for row in rows
        ]
        (tmp_path / f'{name}.jsonl').write_text('\n'.join(map(json.dumps, samples)))
        scored = str(tmp_path / f'{name}.json')
        assert main(['score', str(tmp_path / f'{name}.jsonl'), '-k', '4', '-o', scored]) == 0
    file = tmp_path / 'c.json'
    sides = [str(tmp_path / f'{name}.json') for name in 'ab']
    assert main(['compare', *sides, '--json', str(file)]) == 0
    (data_set,) = json.loads(file.read_text())['data_sets']
    found = {one['key']: one for one in data_set['differences']}
    assert found['pass@4']['difference'] == found['stability gap@4']['difference'] == -100
    assert found['pass@4']['p_value'] < 0.01
    assert found['stability gap@4']['p_value'] is None


def test_equal_averages_that_hide_instability_are_told(tmp_path: Path) -> None:
    """Two models within five points on average, of which one solves far fewer every time."""
    problems = [Problem(f'p{i}', gold='1') for i in range(80)]
    counts = {'steady': [8] * 36 + [0] * 44, 'swingy': [4] * 72 + [2] * 8, 'weak': [0, 1] * 40}
    run = MadeRun(tmp_path / '20260101_000000', list(counts), ['d'])
    for model, row in counts.items():
        trials = [
            Trial(problem.problem_id, i, Verdict.CORRECT if i < c else Verdict.INCORRECT)
            for problem, c in zip(problems, row, strict=True)
            for i in range(8)
        ]
        table = TrialTable(problems, trials)
        result = as_result(table, Protocol(n=8, k=(8,)), benchmark='b', greedy=False)
        path = run.folder / f'results/{model}/d.json'
        made = store(path.with_name('d.trials.jsonl.gz'), table, Result.of(result))
        write_json(path, without_nan(made.as_json()))
    claim = page_data([run.folder]).data_sets[0].claim
    assert claim.startswith('steady is the most stable by G-Pass@8_1.0: it solves 45 %')
    assert (
        'steady and swingy average 45 % and 48 %, but solve 45 % and 0 % of the problems' in claim
    )


@pytest.mark.parametrize('models', [1, 2])
def test_the_loss_from_originals_to_versions_is_told(models: int) -> None:
    """Of several models that of the one that loses most; OOR less what chance explains."""
    groups = {f'q{i}': [1, *[int(i % 4 == 0)] * 5] for i in range(40)}
    same = {f'q{i}': [int(i % 2 == 0)] * 6 for i in range(40)}
    entries = [Entry('reciting', 'd', Result.of(make_version_result(groups)))]
    if models == 2:
        entries.insert(0, Entry('even', 'd', Result.of(make_version_result(same))))
    told = leaderboard_claim(entries, Leaderboard())
    verb = 'loses most' if models == 2 else 'goes'
    assert f'reciting {verb} from 100 % on the original questions to 25 % on their versions' in told
    assert re.search(r'original alone \+\d+\.\d points more often than chance', told)
    assert 'even' not in told
