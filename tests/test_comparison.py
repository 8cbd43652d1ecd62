"""Two models on the same problems: by hand, by enumeration, and against the metrics of results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_results import metrics

from opencompass_gpassk.compare.claims import difference_claim
from opencompass_gpassk.compare.differences import (
    FEWEST,
    GROUPS,
    OTHERS,
    PRIMARY,
    Difference,
    adjusted,
    check_metrics,
    compare,
    primary_metric,
    standing,
    tipping_point,
)
from opencompass_gpassk.compare.problem_changes import fisher_exact, problem_changes
from opencompass_gpassk.compare.shared_problems import aligned
from opencompass_gpassk.report.tables.comparison import Compared, comparison_tables
from opencompass_gpassk.results.metric import DROP, G_PASS, MG_PASS, parse_metric
from opencompass_gpassk.results.metric_intervals import IntervalSettings
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import UNRECOGNISED, Problem, Trial, TrialTable, Verdict

C, W, U = Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED
QUICK = IntervalSettings(resamples=300)


def counted(counts: Sequence[int], n: int = 4, unjudged: Sequence[int] = ()) -> TrialTable:
    """Problems of which so many of n responses are right; every two are translations."""
    problems = [
        Problem(f'p{i}', f'What is {i}?', str(i), {'language': ('en', 'cn')[i % 2]}, f'{i // 2}')
        for i in range(len(counts))
    ]
    trials = [
        Trial(
            f'p{i}',
            r,
            U if i in unjudged else C if r >= n - c else W,
            answer='1',
            answer_class=int(r >= n - c),
        )
        for i, c in enumerate(counts)
        for r in range(n)
    ]
    return TrialTable(problems, trials)


def differences(
    a: TrialTable, b: TrialTable, protocol: Protocol, **options: bool
) -> dict[str, Difference]:
    """The differences by key."""
    shared = aligned({'a': a, 'b': b}, protocol)
    found = compare(shared, primary_metric(shared), QUICK, **options)
    return {one.key: one for one in found}


PROTOCOL = Protocol(n=4, k=(2, 4), taus=(0.0, 0.5, 1.0))


def test_three_problems_by_hand() -> None:
    """Of 2 samples each, B loses one on the first problem."""
    protocol = Protocol(n=2, k=(2,), taus=(0.0, 1.0))
    found = differences(counted([2, 1, 0], 2), counted([1, 1, 0], 2), protocol)
    accuracy = found['accuracy']
    assert (accuracy.first, accuracy.second) == (50.0, pytest.approx(100 / 3))
    assert accuracy.difference == pytest.approx(-50 / 3)
    assert accuracy.p_value == 1.0  # one cluster moves: both signs are as far
    assert accuracy.units == 3
    assert found['G-Pass@2_1.0'].difference == pytest.approx(-100 / 3)
    assert found['pass@2'].difference == 0.0
    assert found['en/G-Pass@2_1.0'].difference == -50.0
    assert found['cn/G-Pass@2_1.0'].difference == 0.0
    assert math.isnan(found['cn/G-Pass@2_1.0'].low)  # of one problem nobody knows


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=10))
def test_differences_are_those_of_the_results_and_p_values_are_enumerated(
    counts: list[tuple[int, int]],
) -> None:
    """For every metric of the whole and of groups; clusters are flipped as one."""
    a, b = (counted([pair[i] for pair in counts]) for i in range(2))
    found = differences(a, b, PROTOCOL)
    of_a, of_b = metrics(a, PROTOCOL), metrics(b, PROTOCOL)
    assert {'majority vote', 'G-Pass@4_1.0', 'mG-Pass@4', 'en/pass@2'} <= found.keys()
    for key, one in found.items():
        assert one.first == pytest.approx(of_a[key]), key
        assert one.second == pytest.approx(of_b[key]), key
        assert one.difference == pytest.approx(of_b[key] - of_a[key]), key  # type: ignore
        assert math.isnan(one.low) or one.low <= one.difference + 1e-9 <= one.high + 2e-9
    totals: dict[int, int] = {}
    for i, (c, d) in enumerate(counts):
        totals[i // 2] = totals.get(i // 2, 0) + d - c
    sums = [
        abs(sum(sign * step for sign, step in zip(signs, totals.values(), strict=True)))
        for signs in product((1, -1), repeat=len(totals))
    ]
    share = sum(one >= abs(sum(totals.values())) for one in sums) / len(sums)
    assert adjusted([found['accuracy']], QUICK) == [pytest.approx(share)]
    assert found['accuracy'].p_value >= share - 1e-9  # in its family


def test_equal_runs_differ_by_nothing() -> None:
    """Every difference is 0 and every p-value 1, and the interval has a width, if there is one."""
    table = counted([0, 1, 2, 3, 4, 4, 2, 0])
    for one in differences(table, counted([0, 1, 2, 3, 4, 4, 2, 0]), PROTOCOL).values():
        assert one.difference == 0.0
        assert one.low < 0 < one.high if one.measured >= 5 else math.isnan(one.low + one.high)
        if one.metric.family.ranked:
            assert (one.p_value == 1.0) is bool(one.family)
        else:
            assert math.isnan(one.p_value)
    changes = problem_changes(aligned({'a': table, 'b': table}, PROTOCOL), 4)
    assert {(change.points, change.p_value) for change in changes} == {(0.0, 1.0)}


def test_only_problems_that_both_were_asked_are_compared() -> None:
    """Missing ones, other gold answers and other questions are left out, and named with why."""
    a, b = counted([4, 3, 2, 1, 0]), counted([0, 4, 4, 4, 1, 2])
    b.problems[1] = replace(b.problems[1], gold='another')
    b.problems[2] = replace(b.problems[2], question='Which\n is 2?')
    b.problems[3] = replace(b.problems[3], question='What  is\n3? ')  # the same, but for blanks
    b.problems[4] = replace(b.problems[4], question='')  # nobody knows
    shared = aligned({'a': a, 'b': b}, PROTOCOL)
    assert shared.left_out == (
        ('p1', 'another gold answer'),
        ('p2', 'another question'),
        ('p5', 'not in a'),
    )
    names = [shared.problems[i].problem_id for i in shared.shared(0, 1)]
    assert names == ['p0', 'p3', 'p4']
    found = {one.key: one for one in compare(shared)}['accuracy']
    assert (found.first, found.second) == (pytest.approx(500 / 12), pytest.approx(500 / 12))


def test_problems_are_found_in_any_order() -> None:
    """B's table has them the other way round."""
    a, b = counted([4, 0, 1, 3]), counted([3, 0, 0, 3])
    turned = TrialTable(b.problems[::-1], b.trials[::-1])
    one, other = (differences(a, of_b, PROTOCOL) for of_b in (turned, b))
    assert repr(one) == repr(other)  # NaN is not equal to itself


def test_undefined_problems_are_left_out_of_both_metrics() -> None:
    """Of problem 0, B has no verdict. A problem with half of its verdicts is defined."""
    a, b = counted([4, 2, 0]), counted([4, 1, 0], unjudged=[0])
    for trial in b.trials[4:6]:
        trial.verdict = U
    found = differences(a, b, PROTOCOL)
    assert found['G-Pass@4_1.0'].units == found['pass@2'].units == 2
    a, b = (counted([4, 1, 0], unjudged=which) for which in ([0, 1], [2]))
    nothing = differences(a, b, PROTOCOL)['pass@4']
    assert nothing.units == 0
    assert math.isnan(nothing.difference) and math.isnan(nothing.p_value)


def test_one_problem_has_a_difference_and_no_certainty() -> None:
    """Its p-value is 1, and there is no interval."""
    one = differences(counted([4]), counted([0]), PROTOCOL)['mG-Pass@4']
    assert (one.difference, one.p_value) == (-100.0, 1.0)
    assert math.isnan(one.low)


def test_other_numbers_of_samples_leave_what_does_not_depend_on_them() -> None:
    """The accuracy is called so; votes of 4 and of 8 are not compared."""
    a, b = counted([4, 2, 0, 4], 4), counted([8, 2, 0, 6], 8)
    protocols = {'a': Protocol(4, (2,), (1.0,)), 'b': Protocol(8, (2,), (1.0,))}
    found = {one.key: one for one in compare(aligned({'a': a, 'b': b}, protocols))}
    headline = {key for key in found if '/' not in key}
    assert headline == {'accuracy', 'pass@2', 'G-Pass@2_1.0', 'mG-Pass@2', 'stability gap@2'}
    assert found['accuracy'].second == 50.0


def versions(counts: Sequence[Sequence[int]], n: int = 2) -> TrialTable:
    """Questions, each with c of its original and of its versions."""
    problems, trials = [], []
    for q, row in enumerate(counts):
        for v, c in enumerate(row):
            name = f'{q}/{v}'
            problems.append(Problem(name, cluster=str(q), version=str(v) if v else 'original'))
            trials += [Trial(name, r, C if r < c else W) for r in range(n)]
    return TrialTable(problems, trials)


def test_versions_are_compared_question_by_question() -> None:
    """GA@2 and the drop are those of the results; a smaller drop is better."""
    protocol = Protocol(n=2, k=(2,), taus=(1.0,))
    a = versions([[2, 2, 2], [2, 1, 0], [2, 0, 0], [0, 0, 0]])
    b = versions([[2, 2, 2], [2, 2, 2], [2, 1, 0], [0, 0, 0]])
    found = differences(a, b, protocol)
    of_a, of_b = metrics(a, protocol), metrics(b, protocol)
    for key in ('GA@2', 'SP-RV drop', 'CR', 'OOR', 'original/pass@2', 'pass@2'):
        assert found[key].difference == pytest.approx(of_b[key] - of_a[key]), key  # type: ignore
    assert found['GA@2'].units == 4
    assert found['pass@2'].units == 8
    assert found['SP-RV drop'].difference < 0 < found['SP-RV drop'].gain
    assert found['GA@2'].gain == found['GA@2'].difference > 0
    assert not any(key.startswith('variance') for key in found)


def test_reasoning_is_compared_as_results_have_it() -> None:
    """Each scored response weighs the same, of a problem with one as of one with three."""
    a, b = counted([4, 4]), counted([4, 4])
    for trial in a.trials:
        trial.values['validity'] = 0.9
    for trial, score in zip(b.trials, (0.1, None, None, None, 0.3, 0.5, 0.7, None), strict=True):
        if score is not None:
            trial.values['validity'] = score
    protocol = replace(PROTOCOL, sound=0.4)
    found = differences(a, b, protocol)
    of_a, of_b = metrics(a, protocol), metrics(b, protocol)
    assert found['validity'].second == pytest.approx(100 * (0.1 + 0.3 + 0.5 + 0.7) / 4)
    assert found['false-positive rate'].second == pytest.approx(50)
    assert found['scored'].second == 50
    for key in ('validity', 'false-positive rate', 'scored', 'en/validity (right)'):
        one = found[key]
        assert (one.first, one.second) == pytest.approx((of_a[key], of_b[key])), key
        assert one.difference == pytest.approx(one.second - one.first), key
    assert found['false-positive rate'].gain < 0
    assert found['sound accuracy'].second == pytest.approx(of_b['sound accuracy'])
    unjudged = [
        TrialTable(t.problems, [replace(trial, verdict=U) for trial in t.trials]) for t in (a, b)
    ]
    alone = differences(unjudged[0], unjudged[1], PROTOCOL)
    assert alone['validity'].difference == pytest.approx(100 * (0.4 - 0.9))
    assert {key for key in alone if '/' not in key} == {'validity', 'redundancy', 'scored'}


def test_problems_are_sorted_by_what_changed() -> None:
    """The greatest first, those without verdicts last; G-Pass is that of each problem."""
    a, b = counted([4, 4, 0, 2]), counted([4, 0, 2, 2])
    for trial in b.trials[:4]:
        trial.verdict = U
    changes = problem_changes(aligned({'a': a, 'b': b}, PROTOCOL), 2)
    assert [change.problem.problem_id for change in changes] == ['p1', 'p2', 'p3', 'p0']
    assert [change.points for change in changes[:3]] == [-100.0, 50.0, 0.0]
    assert changes[1].strictest == (0.0, pytest.approx(100 / 6))
    assert math.isnan(changes[3].points)
    assert math.isnan(changes[3].p_value)
    assert changes[0].p_value == pytest.approx(2 / 70)
    assert changes[0].adjusted == pytest.approx(6 / 70)


@pytest.mark.parametrize(('c', 'n', 'd', 'm'), [(3, 8, 7, 8), (0, 4, 4, 6), (5, 5, 5, 5)])
def test_fishers_test_by_counting_tables(c: int, n: int, d: int, m: int) -> None:
    """All tables of the same sums that are no more likely."""
    chance = {
        x: math.comb(n, x) * math.comb(m, c + d - x)
        for x in range(max(0, c + d - m), min(n, c + d) + 1)
    }
    extreme = sum(one for one in chance.values() if one <= chance[c])
    assert fisher_exact(c, n, d, m) == pytest.approx(extreme / sum(chance.values()))


def sampled(chances: Sequence[float], seed: int) -> TrialTable:
    """Four responses to each problem, right with these chances."""
    rng = np.random.default_rng(seed)
    return counted(rng.binomial(4, chances).tolist())


def test_a_planted_drop_is_found_and_a_lucky_one_is_not() -> None:
    """One in 4 responses turns wrong; or the same model is sampled again, and does worse."""
    chances = np.random.default_rng(0).beta(0.7, 0.7, 120)
    before = sampled(chances, 1)
    fell = differences(before, sampled(0.75 * chances, 2), PROTOCOL)
    checks = check_metrics(
        {'d': list(fell.values())}, ['mG-Pass@4', 'accuracy', 'en/pass@2'], QUICK
    )
    assert [check.difference.key for check in checks] == [
        'mG-Pass@4',
        'accuracy',
        'en/pass@2',
    ]
    assert [check.worse for check in checks[:2]] == [True, True]
    assert checks[1].difference.p_value >= adjusted([fell['accuracy']], QUICK)[0]
    lucky = next(
        found
        for seed in range(3, 30)
        if (found := differences(before, sampled(chances, seed), PROTOCOL))['mG-Pass@4'].gain < -1
    )
    assert not check_metrics({'d': list(lucky.values())}, ['mG-Pass@4'], QUICK)[0].worse
    rose = differences(sampled(0.75 * chances, 2), before, PROTOCOL)
    assert not check_metrics({'d': list(rose.values())}, ['mG-Pass@4'], QUICK)[0].worse


def test_false_alarms_are_rare() -> None:
    """Of 150 samplings of one model after another at most 2.5 % are worse at 95 %, but for luck."""
    chances = np.random.default_rng(1).beta(0.7, 0.7, 60)
    alarms = 0
    for seed in range(150):
        a, b = sampled(chances, 2 * seed), sampled(chances, 2 * seed + 1)
        shared = aligned({'a': a, 'b': b}, Protocol(4, (4,), (1.0,)))
        found = compare(shared, None, QUICK)
        checks = check_metrics({'d': found}, ['mG-Pass@4', 'accuracy'], QUICK)
        alarms += any(check.worse for check in checks)
    assert alarms <= 150 * 0.025 + 3 * math.sqrt(150 * 0.025 * 0.975)


def test_ratios_are_tested_by_their_swaps() -> None:
    """The p-value by enumeration: each problem's responses change sides, and R stays."""
    rng = np.random.default_rng(7)
    a, b = (counted([4] * 8) for _ in range(2))
    for table in (a, b):
        for trial in table.trials:
            trial.values['validity'] = float(rng.random() < (0.2 if table is b else 0.7))
    for table in (a, b):  # each problem is a cluster
        table.problems = [replace(one, cluster='') for one in table.problems]
    one = differences(a, b, replace(PROTOCOL, sound=0.5))['false-positive rate']
    invalid = [
        [sum(t.values['validity'] < 0.5 for t in trials) for trials in table.by_problem()]
        for table in (a, b)
    ]
    sums = [
        abs(sum(sign * (y - x) for sign, x, y in zip(signs, *invalid, strict=True)))
        for signs in product((1, -1), repeat=8)
    ]
    expected = sum(total >= sums[0] - 1e-9 for total in sums) / len(sums)
    assert adjusted([one], QUICK) == [pytest.approx(expected)]
    assert one.low < one.difference < one.high


def test_a_threshold_of_one_is_the_pass_that_is_shown() -> None:
    """G-Pass@4_0.25 asks for 1 of 4; G-Pass@4_0.5 for 2, though it may have the same values."""
    protocol = Protocol(4, (4,), (0.25, 0.5))
    found = differences(counted([4, 0, 4, 0]), counted([4, 4, 4, 0]), protocol)
    settings = Compared('d', list(found.values()), [], [], [], [], [], 0.95, 4)
    names = [row[0] for row in comparison_tables(settings, groups=False)[0].rows]
    assert 'G-Pass@4_0.5' in names
    assert 'G-Pass@4_0.25' not in names


def test_missing_verdicts_make_no_model_look_better() -> None:
    """A is worse whatever its missing verdicts are; left out, they would make it look better."""
    a, b = counted([0] * 30 + [4] * 6 + [0] * 4), counted([4] * 30 + [0] * 10)
    for trial in a.trials[: 4 * 30]:
        if trial.replica:
            trial.verdict = U
    found = differences(a, b, PROTOCOL)['G-Pass@4_1.0']
    assert (found.first, found.second, found.units) == (15.0, 75.0, 40)
    assert found.p_value < 0.05


def test_metrics_that_cannot_be_checked_are_errors() -> None:
    """An unknown one names those there are; an undefined one says where."""
    found = list(differences(counted([4, 1]), counted([4, 1]), PROTOCOL).values())
    with pytest.raises(ValueError, match='G-Pass@16: not both have it; choose from average@4'):
        check_metrics({'d': found}, ['G-Pass@16'])
    table = counted([4, 1], unjudged=[0, 1])
    undefined = list(differences(counted([4, 1]), table, PROTOCOL).values())
    with pytest.raises(ValueError, match='pass@4: it is undefined on d'):
        check_metrics({'d': undefined}, ['pass@4'])


@pytest.mark.parametrize(
    ('name', 'lower'),
    [
        ('redundancy (right)', True),
        ('drop to sound mG-Pass@4', True),
        ('OOR', True),
        ('false-positive rate', True),
        ('SP-RV drop', True),
        ('sound mG-Pass@4', False),
        ('validity', False),
        ('accuracy', False),
    ],
)
def test_which_metrics_should_be_low(name: str, lower: bool) -> None:
    """Drops, errors and redundancy."""
    assert parse_metric(name).lower_is_better is lower


def test_verdicts_that_one_model_lacks_leave_its_metrics_undefined() -> None:
    """As where its judge failed: reasoning was scored of both, so both have tables."""
    protocol = Protocol(n=4, k=(2,), sound=0.5)
    tables = {'judged': counted([2, 3, 4]), 'scored alone': counted([2, 3, 4])}
    for table in tables.values():
        for trial in table.trials:
            trial.values = {'validity': 0.7}
    for trial in tables['scored alone'].trials:
        trial.verdict = U
    protocols = {'judged': protocol, 'scored alone': replace(protocol, judged=False, sound=None)}
    found = compare(aligned(tables, protocols))
    assert found and all(math.isnan(one.difference) for one in found)


def test_problems_of_other_data_are_not_shared() -> None:
    """Nothing is compared on them, and nothing is an error."""
    a, b = counted([4] * 8), counted([4] * 8)
    b.problems[:] = [replace(one, gold='another') for one in b.problems]
    shared = aligned({'a': a, 'b': b}, PROTOCOL)
    assert not len(shared.shared(0, 1))
    assert all(math.isnan(one.difference) for one in compare(shared))


def test_every_p_value_has_a_family() -> None:
    """The primary metric alone, the others together; groups in the primary metric alone."""
    rng = np.random.default_rng(4)
    found = differences(
        counted(rng.integers(1, 5, 40).tolist()), counted(rng.integers(0, 4, 40).tolist()), PROTOCOL
    )
    assert found['G-Pass@4_1.0'].family == PRIMARY
    assert adjusted([found['G-Pass@4_1.0']], QUICK) == [found['G-Pass@4_1.0'].p_value]
    for key, one in found.items():
        if key in ('en/G-Pass@4_1.0', 'cn/G-Pass@4_1.0'):
            assert one.family == GROUPS
        elif one.group or not one.metric.family.ranked:
            assert (one.family, math.isnan(one.p_value)) == ('', True), key
        elif one.family != PRIMARY:
            assert one.family == OTHERS
            assert one.p_value >= adjusted([one], QUICK)[0] - 1e-9


def test_the_primary_metric_is_declared_before() -> None:
    """Strict stability; accuracy with one sample or of versions; validity without verdicts."""
    four = {name: counted([4, 3, 2, 1]) for name in 'ab'}
    assert primary_metric(aligned(four, PROTOCOL)) == G_PASS(k=4, tau=1.0)
    single = {name: counted([1, 0, 1], 1) for name in 'ab'}
    assert primary_metric(aligned(single, Protocol(1))).key == 'accuracy'  # type: ignore[union-attr]
    asked = {name: versions([[2, 2, 2], [2, 1, 0]]) for name in 'ab'}
    assert primary_metric(aligned(asked, Protocol(2, (2,)))).key == 'accuracy'  # type: ignore[union-attr]
    scored = {name: counted([4, 3, 2, 1], unjudged=range(4)) for name in 'ab'}
    for table in scored.values():
        for trial in table.trials:
            trial.values = {'validity': 0.5}
    assert primary_metric(aligned(scored, PROTOCOL)).key == 'validity'  # type: ignore[union-attr]
    whole = aligned({name: counted([4, 3, 2, 1]) for name in 'ab'}, PROTOCOL)
    assert primary_metric(whole, parse_metric('average@n')).key == 'accuracy'  # type: ignore[union-attr]
    with pytest.raises(ValueError, match='--primary stability gap@4: choose from'):
        primary_metric(whole, parse_metric('stability gap@4'))


def test_the_ranks_of_two_are_the_claim_on_them() -> None:
    """Same p-value, same sides; who has no verdicts has no rank; less of a drop is better."""
    rng = np.random.default_rng(5)
    good = rng.integers(2, 5, 60)
    tables = {
        'good': counted(good.tolist()),
        'poor': counted((good // 4).tolist()),
        'none': counted([0] * 60, unjudged=range(60)),
    }
    shared = aligned(tables, PROTOCOL)
    pair = aligned({name: tables[name] for name in ('good', 'poor')}, PROTOCOL)
    ranks, tested = standing(pair, MG_PASS(k=4), [0, 1], QUICK)
    (one,) = (d for d in compare(pair, MG_PASS(k=4), QUICK) if d.family == PRIMARY)
    assert tested == {(0, 1): one}
    assert (ranks, one.claim(0.95)) == ({0: (1, 1), 1: (2, 2)}, 'worse')
    assert standing(shared, MG_PASS(k=4), [0, 1, 2], QUICK)[0].keys() == {0, 1}
    assert standing(shared, MG_PASS(k=4), [0, 2], QUICK) == ({}, {})
    drops = {'falling': versions([[2, 0, 0]] * 20), 'steady': versions([[2, 2, 2]] * 20)}
    less, _ = standing(aligned(drops, Protocol(2, (2,))), DROP(), [0, 1], QUICK)
    assert less == {0: (2, 2), 1: (1, 1)}


def test_missing_verdicts_at_equal_shares_are_no_difference() -> None:
    """What is expected of them depends on the other problems; nobody saw it."""
    a, b = counted([4, 2] * 20), counted([4, 2] * 10 + [0, 0] * 10)
    for table in (a, b):
        for trial in table.trials[:40]:
            trial.verdict = U if trial.replica == 3 else trial.verdict
    found = differences(a, b, PROTOCOL)['G-Pass@4_1.0']
    assert found.differing == 10  # clusters of two problems that b alone fails


def test_a_claim_tells_what_would_overturn_it() -> None:
    """Nothing is missing; what is missing can't; or a share of it does."""
    a, b = counted([4] * 40), counted([4] * 20 + [0] * 20)
    for table in (a, b):
        table.problems[:] = [replace(one, cluster='') for one in table.problems]
    shared = aligned({'a': a, 'b': b}, PROTOCOL)
    claims = {one.key: one for one in compare(shared, primary_metric(shared), QUICK)}
    one = claims['G-Pass@4_1.0']
    assert one.claim(0.95) == 'worse' and tipping_point(shared, one, QUICK) == ''
    b.trials[-1].verdict = U
    shared = aligned({'a': a, 'b': TrialTable(b.problems, b.trials)}, PROTOCOL)
    assert tipping_point(shared, one, QUICK) == "it holds whatever B's 1 missing verdicts are"
    for trial in b.trials[80:]:
        trial.verdict = U if trial.replica else trial.verdict
    for trial in b.trials[80::4]:
        trial.verdict = C
    shared = aligned({'a': a, 'b': TrialTable(b.problems, b.trials)}, PROTOCOL)
    told = tipping_point(shared, one, QUICK)
    assert told.startswith('overturned if ') and "of B's 60 missing ones are right" in told


@pytest.mark.parametrize(('gaps', 'fragile'), [(0, False), (1, False), (4, True)])
def test_missing_verdicts_of_both_models_may_overturn_a_claim(gaps: int, fragile: bool) -> None:
    """They are those that are unjudged and those that nobody recognised; the sentence says so."""
    a, b = counted([4] * 20), counted([4] * 8 + [0] * 12)
    for place, (table, change) in enumerate(
        ((a, {'verdict': U}), (b, {'verdict': W, 'source': UNRECOGNISED}))
    ):
        for i in range(gaps):
            for at in range(4 * (8 + 2 * i + place) + 1 - place, 4 * (9 + 2 * i + place)):
                table.trials[at] = replace(table.trials[at], **change)
    tables = {
        name: TrialTable([replace(one, cluster='') for one in of.problems], of.trials)
        for name, of in (('a', a), ('b', b))
    }
    shared = aligned(tables, PROTOCOL)
    one = next(of for of in compare(shared, primary_metric(shared), QUICK) if of.family == PRIMARY)
    assert one.claim(0.95) == 'worse' and one.fragile is fragile
    low, high = one.difference_ends or (one.difference, one.difference)
    assert low <= one.difference <= high and one.turned().ends == one.ends[::-1]
    told = difference_claim(('A', 'B'), one, 0.95)
    assert ('overturn' in told) is fragile
    tipping = "overturned if all of B's 16 missing ones are right and all of A's 12 wrong"
    assert (tipping_point(shared, one, QUICK) == tipping) is fragile
    assert (f'{low:+.1f} to {high:+.1f} points' in told) is (gaps > 0)


def test_a_claim_needs_six_clusters_that_differ() -> None:
    """Of five no p-value is low enough; of six it is, and of two checks of one metric too."""
    for clusters in (5, 6, 7):
        a, b = counted([4] * 2 * clusters), counted([0] * 2 * clusters)
        found = list(differences(a, b, PROTOCOL).values())
        checks = check_metrics({'d': found}, ['accuracy', 'pass@2'])
        assert [bool(check.unknowable) for check in checks] == [clusters < FEWEST] * 2
        assert [check.worse for check in checks] == [clusters >= FEWEST] * 2
        equal = list(differences(a, a, PROTOCOL).values())
        (check,) = check_metrics({'d': equal}, ['accuracy'])
        assert (check.worse, bool(check.unknowable)) == (False, clusters < FEWEST)
    many, few = counted([4] * 40), counted([4] * 30 + [0] * 10)
    found = differences(many, few, PROTOCOL)
    (check,) = check_metrics({'d': list(found.values())}, ['accuracy'])
    assert not check.worse and not check.unknowable  # five clusters differ, of twenty


def test_checks_on_several_data_sets_are_one_family() -> None:
    """Each costs the others a little, and never more than their number."""
    rng = np.random.default_rng(3)
    one, other = (
        list(
            differences(
                counted(rng.integers(0, 5, 40).tolist()),
                counted(rng.integers(0, 4, 40).tolist()),
                PROTOCOL,
            ).values()
        )
        for _ in range(2)
    )
    alone = [check_metrics({'d': of}, ['accuracy'])[0].difference.p_value for of in (one, other)]
    both = check_metrics({'d': one, 'e': other}, ['accuracy'])
    found = [check.difference.p_value for check in both]
    assert all(p - 0.01 <= q <= 2 * p + 0.01 for p, q in zip(alone, found, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(('samples', 'missing'), [((24, 8), 0.0), ((48, 4), 0.0), ((8, 8), 0.2)])
def test_other_numbers_of_samples_raise_no_false_alarms(
    samples: tuple[int, int], missing: float
) -> None:
    """Nor do verdicts that are missing at random: of 200 samplings few are said to differ."""
    rng = np.random.default_rng(2)
    protocols = {name: Protocol(n, (4,), (1.0,)) for name, n in zip('ab', samples, strict=True)}
    chances, alarms = rng.beta(2, 4, 48), 0
    for _ in range(200):
        tables = {
            name: counted(rng.binomial(n, chances).tolist(), n)
            for name, n in zip('ab', samples, strict=True)
        }
        for trial in tables['b'].trials:
            trial.verdict = U if rng.random() < missing else trial.verdict
        shared = aligned(tables, protocols)
        found = compare(shared, primary_metric(shared), QUICK)
        alarms += any(bool(one.claim(0.95)) for one in found if one.family == PRIMARY)
    assert alarms <= 200 * 0.05 + 3 * math.sqrt(200 * 0.05 * 0.95)
