"""Claims in words say what the tests found, and no more; the loss is shown, but never ranked."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import as_result, bounds, make_version_result, result_of
from made_sweep import SAMPLED, Sweep, add_result, make_sweep, write_json

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.compare.claims import leaderboard_claim
from opencompass_gpassk.compare.leaderboard import Leaderboard, leaderboard
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.metrics.gpassk import g_pass_at_k
from opencompass_gpassk.results.metric import G_PASS, PASS, parse_metric
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.result import Entry, Result
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

HOSTILE = '<script>alert(1)</script>\x1b[2J\u202e\u2028' + 'x' * 500


def claim_of(
    models: dict[str, tuple[float, float]], k: int = 8, counts: Mapping[str, Any] | None = None
) -> str:
    """The first sentence on models with these pass@k and G-Pass@k at τ = 1; '' if there is none."""
    strictest = G_PASS(k=k, tau=1.0)
    of_200 = {'problems': 200, 'trials': 1600, 'lost': 0, 'truncated': 0} | dict(counts or {})
    entries = [
        Entry(
            name,
            'd',
            result_of(
                {PASS(k=k).key: some, strictest.key: every},
                8,
                k=[k],
                counts=of_200,
            ),
        )
        for name, (some, every) in models.items()
    ]
    return next(iter(leaderboard_claim(entries, Leaderboard())), '')


def board(
    rights: Mapping[str, Sequence[int]], missing: Mapping[str, Sequence[int]] | None = None
) -> list[str]:
    """The sentences on models with so many of 4 right samples of each problem, the last missing."""
    protocol, tables = Protocol(n=4, k=(4,)), {}
    for name, row in rights.items():
        problems = [Problem(f'p{i}', gold='1') for i in range(len(row))]
        gone = dict(enumerate((missing or {}).get(name, ())))
        trials = [
            Trial(
                f'p{i}',
                r,
                Verdict.UNJUDGED
                if r >= 4 - gone.get(i, 0)
                else Verdict.CORRECT
                if r < c
                else Verdict.INCORRECT,
            )
            for i, c in enumerate(row)
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
    return leaderboard_claim(entries, leaderboard(entries, tables, {}))


GOOD, POOR = [4] * 30 + [0] * 10, [4] * 16 + [0] * 24


def test_only_who_beats_all_others_is_the_most_stable() -> None:
    """Else the ones that may be the first are named, or the only one that it does not beat."""
    head, test, others = board({'poor': POOR, 'good': GOOD})
    assert head == (
        'On these 40 problems good is the most stable: it solves 75 % in all 4 attempts, poor 40 %'
    )
    assert re.fullmatch(
        r'Difference \+35\.0 points \(95 % interval \+\S+ to \+\S+, p <0\.001\)', test
    )
    assert others == 'A test for problems like these needs 50 questions; you have 40'
    head, test, _ = board({'good': GOOD, 'poor': POOR, 'as good': GOOD})
    assert head.startswith('On these 40 problems good is more stable than all but as good: it ')
    assert 'corrected for 3 tests' in test
    head, *_ = board(dict.fromkeys('abc', GOOD))
    assert head == (
        'On these 40 problems a (75 %) and b (75 %) and c (75 %) lead; which is more stable is '
        'undecided'
    )


def test_an_undecided_lead_says_what_more_samples_would_do() -> None:
    """They narrow the interval on these problems; twice as many, and three times k at least."""
    _, test, _ = board({'a': [4, 3, 4, 3] * 10, 'b': [3, 4, 3, 4] * 10})
    low, high, n, margin = map(
        float, re.findall(r'([+-][\d.]+) to ([+-][\d.]+),.*; n = (\d+) .* to ± ([\d.]+):', test)[0]
    )
    assert low < 0 < high and n == 12
    assert margin < 0.7 * (high - low) / 2
    assert test.endswith('gpassk run … -n 12 --resume')


def test_missing_verdicts_of_the_winner_are_taken_as_wrong() -> None:
    """Two don't matter, many could explain its lead."""
    few = board({'good': GOOD, 'poor': POOR}, {'good': [3, 3]})
    assert few[0].startswith('On these 40 problems good is the most stable')
    many = board({'good': GOOD, 'poor': POOR}, {'good': [3] * 14})
    assert many[0].startswith('good is ahead on these 40 problems (')
    assert many[0].endswith('but 42 missing verdicts could explain it')
    of_loser = board({'good': GOOD, 'poor': POOR}, {'poor': [3] * 14})
    assert of_loser[0].startswith('On these 40 problems good is the most stable')


@pytest.mark.parametrize(
    ('some', 'every', 'told'),
    [
        (49.2, 28.9, '29 % of these 200 problems in all 8 attempts and 49 % in at least one'),
        (99.97, 0.03, 'less than 1 % of these 200 problems in all 8 attempts and more than 99 %'),
        (100.0, 0.0, '0 % of these 200 problems in all 8 attempts and 100 % in at least one'),
    ],
)
def test_of_one_model_shares_are_told(some: float, every: float, told: str) -> None:
    """Nearly all is not all; nothing is told of what is undefined, or of one attempt."""
    assert claim_of({'m': (some, every)}).startswith(f'm solves {told}')
    assert claim_of({'m': (math.nan, math.nan)}) == ''
    assert 'of 199 of the 200 problems' in claim_of(
        {'m': (some, every)}, counts={'excluded': {'8': 1}}
    )
    assert claim_of({'m': (some, some)}, k=1) == ''


def test_the_range_is_told_where_missing_verdicts_move_a_number_by_a_point() -> None:
    """Not the number that was filled in."""
    some, every = PASS(k=8).key, G_PASS(k=8, tau=1.0).key
    for ends, told in (([60.0, 100.0], '60 to 100 %'), ([75.5, 76.9], '76 %')):
        bounds_ = {some: ends, every: [39.5, 40.5]}
        counts = {'problems': 9, 'trials': 72, 'lost': 0, 'truncated': 0}
        result = result_of({some: 76.0, every: 40.0}, 8, k=[8], bounds=bounds_, counts=counts)
        (claim, *_) = leaderboard_claim([Entry('m', 'd', result)], Leaderboard())
        assert claim == (
            f'm solves 40 % of these 9 problems in all 8 attempts and {told} in at least one'
        )


def test_names_are_texts() -> None:
    """They move no cursor, and a long one is cut."""
    for told in (claim_of({HOSTILE: (9.0, 5.0)}), board({HOSTILE: GOOD, 'b': POOR})[0]):
        assert '<script>' in told and told.isprintable() and len(told) < 250


def compared(folder: Path) -> tuple[int, list[str]]:
    """Exit code of a comparison of a and b, and the claims in its JSON."""
    file = folder / 'compared.json'
    sides = ['--model-a', 'a', '--model-b', 'b', '--dataset', SAMPLED, '--all']
    code = main(['compare', str(folder), *sides, '--json', str(file)])
    claims: list[str] = json.loads(file.read_text())['data_sets'][0]['claims']
    return code, claims


def test_the_command_says_who_is_better(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As its table does: by the word, the difference, its interval and its p-value."""
    on = 'On these 40 problems'
    for b, told in (
        (4.0, f'{on} B is more stable than A: G-Pass@4_1.0 +'),
        (-4.0, f'{on} B is less stable than A: G-Pass@4_1.0 -'),
        (0.1, f'{on} no significant difference of B and A in G-Pass@4_1.0: '),
    ):
        run = make_sweep(tmp_path / f'{b}/20260101_000000', {'a': 0, 'b': b}, Sweep(problems=40))
        file = run.folder.parent / 'compared.json'
        claims = compared(run.folder.parent)[1]
        out = ' '.join(capsys.readouterr().out.split())
        assert claims[0].startswith(told) and all(claim in out for claim in claims)
        rows = {
            one['key']: one for one in json.loads(file.read_text())['data_sets'][0]['differences']
        }
        one = rows['G-Pass@4_1.0']
        low, high, p = (one['these'][of] for of in ('low', 'high', 'p_value'))
        p = '<0.001' if p < 0.001 else f'{p:.3f}'
        assert claims[0].endswith(
            f'{one["difference"]:+.1f} points (95 % interval {low:+.1f} to {high:+.1f}, p {p})'
        )
        assert (low > 0 or high < 0) is bool(one['claim'])


def test_a_claim_tells_what_takes_it_away_and_none_is_of_another_judge(tmp_path: Path) -> None:
    """Missing verdicts of the winner may; results of two judges are not compared."""
    folder = tmp_path / '20260101_000000'
    sweep = Sweep(problems=40)
    run = make_sweep(folder, {'a': 2.5, 'b': 0}, sweep).folder
    assert compared(tmp_path)[1][0].startswith('On these 40 problems B is less stable than A')
    result = add_result(run, 'a', SAMPLED, 2.5, sweep, 8, random.Random('0/a/lmb-n8'), unjudged=80)
    claims = compared(tmp_path)[1]
    assert claims[0].startswith('On these 30 problems B is less stable than A')
    assert '80 missing verdicts' in claims[1]
    result = without_nan(result) | {'signature': result['signature'] | {'judge': 'another'}}
    write_json(run / f'results/a/{SAMPLED}.json', result)
    assert compared(tmp_path)[1] == []


def test_without_k_the_claim_is_of_accuracy(tmp_path: Path) -> None:
    """As of greedy responses."""
    run = make_sweep(tmp_path / '20260101_000000', {'a': -3, 'b': 3}, Sweep(problems=40))
    file = tmp_path / 'c.json'
    assert main(['compare', str(run.folder), '--dataset', 'lmb-greedy', '--json', str(file)]) == 0
    claim, *_ = json.loads(file.read_text())['data_sets'][0]['claims']
    assert claim.startswith('On these 40 problems B is better than A: accuracy +')


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
    assert loss['these']['low'] < loss['difference'] < loss['these']['high'] < 0
    assert loss['these']['p_value'] is None and (loss['tests'], loss['claim']) == (0, '')
    assert main(['compare', str(tmp_path), '--fail-if-worse', 'stability gap@4']) == 2
    assert 'stability gap@4: it is never ranked' in capsys.readouterr().err


@pytest.mark.parametrize('models', [1, 2])
def test_the_loss_from_originals_to_versions_is_told(models: int) -> None:
    """Of several models that of the one that loses most; OOR less what chance explains."""
    groups = {f'q{i}': [1, *[int(i % 4 == 0)] * 5] for i in range(40)}
    same = {f'q{i}': [int(i % 2 == 0)] * 6 for i in range(40)}
    entries = [Entry('reciting', 'd', Result.of(make_version_result(groups)))]
    if models == 2:
        entries.insert(0, Entry('even', 'd', Result.of(make_version_result(same))))
    (told,) = leaderboard_claim(entries, Leaderboard())
    verb = 'loses most' if models == 2 else 'goes'
    assert f'reciting {verb} from 100 % on the original questions to 25 % on their versions' in told
    assert 'versions, a drop of 75.0 points;' in told
    assert re.search(r'original alone \+\d+\.\d points more often than chance', told)
    assert 'even' not in told
