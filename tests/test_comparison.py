"""Two models on the same problems: by hand, by enumeration, and against the metrics of results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_results import metrics

from opencompass_gpassk.compare.claims import others_claim, these_claim
from opencompass_gpassk.compare.comparison import (
    Asked,
    Check,
    Comparison,
    Difference,
    check_metrics,
    common_protocols,
    differences,
    mean_difference,
    primary_metric,
)
from opencompass_gpassk.compare.leaderboard import ranks_of
from opencompass_gpassk.compare.problem_changes import problem_changes
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.report.tables.comparison import comparison_tables
from opencompass_gpassk.results.metric import DROP, G_PASS, Metric, parse_metric
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.read import ModelResult
from opencompass_gpassk.trials import UNRECOGNISED, Problem, Trial, TrialTable, Verdict

C, W, U = Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED


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


def every(a: TrialTable, b: TrialTable, protocol: Protocol) -> dict[str, Difference]:
    """The plain differences of all metrics and groups, by key."""
    shared = aligned({'a': a, 'b': b}, protocol)
    asked = [
        Asked(shared, group, metric)
        for group, blocks in shared.parts.items()
        for block in blocks
        for metric in block.metrics
    ]
    return {one.key: one for one in differences(asked, tested=False)}


def all_pairs(
    tables: Mapping[str, TrialTable], protocol: Protocol, metric: Metric | None = None
) -> dict[tuple[int, int], Difference]:
    """Every two models in the primary metric, as one family."""
    shared = aligned(tables, protocol)
    metric = metric or primary_metric(shared)
    assert metric
    pairs = list(combinations(range(len(tables)), 2))
    found = differences([Asked(shared, '', metric, pair) for pair in pairs])
    return dict(zip(pairs, found, strict=True))


def compared(
    a: TrialTable, b: TrialTable, protocol: Protocol, name: str = 'd', withheld: str = ''
) -> Comparison:
    """A comparison of two tables; of their results only the name is there."""
    shared = aligned({'A': a, 'B': b}, protocol)
    one = cast(ModelResult, SimpleNamespace(dataset=name))
    metric = primary_metric(shared)
    found = differences([Asked(shared, '', metric)])[0] if metric else None
    plain = [*every(a, b, protocol).values()]
    return Comparison(one, one, shared, found, plain, [], [], [], withheld, [], [], 0.95, 4)


PROTOCOL = Protocol(n=4, k=(2, 4), taus=(0.0, 0.5, 1.0))


def test_three_problems_by_hand() -> None:
    """Of 2 samples each, B loses one on the first problem."""
    protocol = Protocol(n=2, k=(2,), taus=(0.0, 1.0))
    found = every(counted([2, 1, 0], 2), counted([1, 1, 0], 2), protocol)
    accuracy = found['accuracy']
    assert (accuracy.first, accuracy.second) == (50.0, pytest.approx(100 / 3))
    assert accuracy.difference == pytest.approx(-50 / 3)
    assert math.isnan(accuracy.these.p_value) and not accuracy.claim  # it was not asked for
    assert accuracy.units == 3
    assert found['G-Pass@2_1.0'].difference == pytest.approx(-100 / 3)
    assert found['pass@2'].difference == 0.0
    assert found['en/G-Pass@2_1.0'].difference == -50.0
    assert found['cn/G-Pass@2_1.0'].difference == 0.0
    assert found['cn/G-Pass@2_1.0'].like_these[:2] == (-100.0, 100.0)  # of one nobody knows


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=10))
def test_differences_are_those_of_the_results(counts: list[tuple[int, int]]) -> None:
    """For every metric of the whole and of groups; the second line holds the first."""
    a, b = (counted([pair[i] for pair in counts]) for i in range(2))
    found = every(a, b, PROTOCOL)
    of_a, of_b = metrics(a, PROTOCOL), metrics(b, PROTOCOL)
    assert {'majority vote', 'G-Pass@4_1.0', 'mG-Pass@4', 'en/pass@2'} <= found.keys()
    for key, one in found.items():
        assert one.first == pytest.approx(of_a[key]), key
        assert one.second == pytest.approx(of_b[key]), key
        assert one.difference == pytest.approx(of_b[key] - of_a[key]), key  # type: ignore
        for line in (one.these, one.like_these):
            assert math.isnan(line.low) or line.low <= one.difference + 1e-9 <= line.high + 2e-9
        if not math.isnan(one.these.low):
            assert one.like_these.low <= one.these.low <= one.these.high <= one.like_these.high


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 5))
def test_an_interval_leaves_out_0_exactly_if_p_says_so(seed: int, models: int) -> None:
    """For every two models of a board, in both lines."""
    rng = np.random.default_rng(seed)
    tables = {str(i): counted(rng.binomial(4, rng.beta(1, 1, 20)).tolist()) for i in range(models)}
    for one in all_pairs(tables, PROTOCOL).values():
        assert one.tests == models * (models - 1) // 2
        for line in (one.these, one.like_these):
            assert bool(line.sign) is (line.p_value <= 0.05)
        assert bool(one.claim) is (one.these.p_value <= 0.05)


def test_equal_runs_differ_by_nothing() -> None:
    """Every difference is 0, p is 1, and the intervals have a width."""
    table = counted([0, 1, 2, 3, 4, 4, 2, 0])
    for one in every(table, counted([0, 1, 2, 3, 4, 4, 2, 0]), PROTOCOL).values():
        assert one.difference == 0.0
        assert math.isnan(one.these.low) or one.these.low < 0 < one.these.high
    (one,) = all_pairs({'a': table, 'b': table}, PROTOCOL).values()
    assert one.these.p_value == one.like_these.p_value == 1.0 and not one.claim
    changes = problem_changes(aligned({'a': table, 'b': table}, PROTOCOL), 4)
    assert {change.points for change in changes} == {0.0}


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
    found = every(a, b, PROTOCOL)['accuracy']
    assert (found.first, found.second) == (pytest.approx(500 / 12), pytest.approx(500 / 12))


def test_problems_are_found_in_any_order() -> None:
    """B's table has them the other way round."""
    a, b = counted([4, 0, 1, 3]), counted([3, 0, 0, 3])
    turned = TrialTable(b.problems[::-1], b.trials[::-1])
    one, other = (every(a, of_b, PROTOCOL) for of_b in (turned, b))
    assert repr(one) == repr(other)  # NaN is not equal to itself


def test_undefined_problems_are_left_out_of_both_metrics() -> None:
    """Of problem 0, B has no verdict. A problem with half of its verdicts is defined."""
    a, b = counted([4, 2, 0]), counted([4, 1, 0], unjudged=[0])
    for trial in b.trials[4:6]:
        trial.verdict = U
    found = every(a, b, PROTOCOL)
    assert found['G-Pass@4_1.0'].units == found['pass@2'].units == 2
    a, b = (counted([4, 1, 0], unjudged=which) for which in ([0, 1], [2]))
    nothing = every(a, b, PROTOCOL)['pass@4']
    assert nothing.units == 0
    assert math.isnan(nothing.difference) and not nothing.claim


def test_one_problem_has_a_difference_and_says_nothing_of_others() -> None:
    """On this problem it may be sure; for problems like it nothing is left out."""
    one = every(counted([4]), counted([0]), PROTOCOL)['mG-Pass@4']
    assert one.difference == -100.0
    assert one.like_these[:2] == (-100.0, 100.0) and one.few


def test_other_numbers_of_samples_leave_what_does_not_depend_on_them() -> None:
    """The accuracy is called so; votes of 4 and of 8 are not compared."""
    a, b = counted([4, 2, 0, 4], 4), counted([8, 2, 0, 6], 8)
    protocols = {'a': Protocol(4, (2,), (1.0,)), 'b': Protocol(8, (2,), (1.0,))}
    shared = aligned({'a': a, 'b': b}, protocols)
    asked = [Asked(shared, '', metric) for block in shared.parts[''] for metric in block.metrics]
    found = {one.key: one for one in differences(asked, tested=False)}
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
    found = every(a, b, protocol)
    of_a, of_b = metrics(a, protocol), metrics(b, protocol)
    for key in ('GA@2', 'SP-RV drop', 'CR', 'OOR', 'original/pass@2', 'pass@2'):
        assert found[key].difference == pytest.approx(of_b[key] - of_a[key]), key  # type: ignore
    assert found['GA@2'].units == 4
    assert found['pass@2'].units == 8
    assert found['SP-RV drop'].difference < 0 and found['SP-RV drop'].better == -1
    assert found['GA@2'].difference > 0 and found['GA@2'].better == 1
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
    found = every(a, b, protocol)
    of_a, of_b = metrics(a, protocol), metrics(b, protocol)
    assert found['validity'].second == pytest.approx(100 * (0.1 + 0.3 + 0.5 + 0.7) / 4)
    assert found['false-positive rate'].second == pytest.approx(50)
    assert found['scored'].second == 50
    for key in ('validity', 'false-positive rate', 'scored', 'en/validity (right)'):
        one = found[key]
        assert (one.first, one.second) == pytest.approx((of_a[key], of_b[key])), key
        assert one.difference == pytest.approx(one.second - one.first), key
    assert found['false-positive rate'].better == -1
    assert found['sound accuracy'].second == pytest.approx(of_b['sound accuracy'])
    unjudged = [
        TrialTable(t.problems, [replace(trial, verdict=U) for trial in t.trials]) for t in (a, b)
    ]
    alone = every(unjudged[0], unjudged[1], PROTOCOL)
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


def sampled(chances: Sequence[float], seed: int) -> TrialTable:
    """Four responses to each problem, right with these chances."""
    rng = np.random.default_rng(seed)
    return counted(rng.binomial(4, chances).tolist())


def checked(
    a: TrialTable, b: TrialTable, names: Sequence[str], protocol: Protocol = PROTOCOL
) -> list[Check]:
    """Whether b is worse than a."""
    return check_metrics([compared(a, b, protocol)], names)


def test_a_planted_drop_is_found_and_a_lucky_one_is_not() -> None:
    """One in 4 responses turns wrong; or the same model is sampled again, and does worse."""
    chances = np.random.default_rng(0).beta(0.7, 0.7, 120)
    before, fallen = sampled(chances, 1), sampled(0.75 * chances, 2)
    checks = checked(before, fallen, ['mG-Pass@4', 'accuracy', 'en/pass@2'])
    assert [one.difference.key for one in checks] == ['mG-Pass@4', 'accuracy', 'en/pass@2']
    assert [one.worse for one in checks[:2]] == [True, True]
    assert {one.difference.tests for one in checks} == {3}
    lucky = next(
        of
        for seed in range(3, 30)
        if every(before, of := sampled(chances, seed), PROTOCOL)['mG-Pass@4'].difference < -1
    )
    assert not checked(before, lucky, ['mG-Pass@4'])[0].worse
    assert not checked(fallen, before, ['mG-Pass@4'])[0].worse


@pytest.mark.slow
def test_false_alarms_are_rare() -> None:
    """Of 80 samplings of one model after another at most 2.5 % are worse at 95 %, but for luck."""
    chances = np.random.default_rng(1).beta(0.7, 0.7, 60)
    alarms = sum(
        any(
            one.worse
            for one in checked(
                sampled(chances, 2 * seed),
                sampled(chances, 2 * seed + 1),
                ['mG-Pass@4', 'accuracy'],
                Protocol(4, (4,), (1.0,)),
            )
        )
        for seed in range(80)
    )
    assert alarms <= 80 * 0.025 + 3 * math.sqrt(80 * 0.025 * 0.975)


def test_ratios_are_tested_by_their_swaps() -> None:
    """The p-value by enumeration: each problem's responses change sides, and R stays."""
    rng = np.random.default_rng(7)
    a, b = (counted([4] * 8) for _ in range(2))
    for table in (a, b):
        for trial in table.trials:
            trial.values['validity'] = float(rng.random() < (0.2 if table is b else 0.7))
    for table in (a, b):  # each problem is a question
        table.problems = [replace(one, cluster='') for one in table.problems]
    metric = parse_metric('false-positive rate')
    (one,) = all_pairs({'a': a, 'b': b}, replace(PROTOCOL, sound=0.5), metric).values()
    invalid = [
        [sum(t.values['validity'] < 0.5 for t in trials) for trials in table.by_problem()]
        for table in (a, b)
    ]
    sums = [
        abs(sum(sign * (y - x) for sign, x, y in zip(signs, *invalid, strict=True)))
        for signs in product((1, -1), repeat=8)
    ]
    expected = sum(total >= sums[0] - 1e-9 for total in sums) / len(sums)
    assert one.headline.p_value == pytest.approx(expected, abs=0.02)  # by random flips
    assert one.like_these.low < one.difference < one.like_these.high
    assert math.isnan(one.these.low)  # no line on these problems, since it has no counts


def test_a_threshold_of_one_is_the_pass_that_is_shown() -> None:
    """G-Pass@4_0.25 asks for 1 of 4; G-Pass@4_0.5 for 2, though it may have the same values."""
    protocol = Protocol(4, (4,), (0.25, 0.5))
    found = compared(counted([4, 0, 4, 0]), counted([4, 4, 4, 0]), protocol)
    names = [row[0] for row in comparison_tables(found, 'd')[0].rows]
    assert 'G-Pass@4_0.5' in names
    assert 'G-Pass@4_0.25' not in names


def test_missing_verdicts_make_no_model_look_better() -> None:
    """A is worse whatever its missing verdicts are; left out, they would make it look better."""
    a, b = counted([0] * 30 + [4] * 6 + [0] * 4), counted([4] * 30 + [0] * 10)
    for trial in a.trials[: 4 * 30]:
        if trial.replica:
            trial.verdict = U
    (found,) = all_pairs({'a': a, 'b': b}, PROTOCOL).values()
    assert (found.first, found.second, found.units) == (15.0, 75.0, 40)
    assert found.claim == 'better' and found.missing == (90, 0)


def test_metrics_that_cannot_be_checked_are_errors() -> None:
    """An unknown one names those there are; an undefined one says where."""
    with pytest.raises(ValueError, match='G-Pass@16: not both have it; choose from average@4'):
        checked(counted([4, 1]), counted([4, 1]), ['G-Pass@16'])
    nothing = counted([4, 1], unjudged=[0, 1])
    with pytest.raises(ValueError, match='pass@4: it is undefined on d'):
        checked(counted([4, 1]), nothing, ['pass@4'])
    with pytest.raises(ValueError, match='stability gap@4: it is never ranked'):
        checked(counted([4, 1]), counted([4, 1]), ['stability gap@4'])


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
    shared = aligned(tables, protocols)
    asked = [Asked(shared, '', metric) for block in shared.parts[''] for metric in block.metrics]
    assert asked and all(math.isnan(one.difference) for one in differences(asked))


def test_problems_of_other_data_are_not_shared() -> None:
    """Nothing is compared on them, and nothing is an error."""
    a, b = counted([4] * 8), counted([4] * 8)
    b.problems[:] = [replace(one, gold='another') for one in b.problems]
    shared = aligned({'a': a, 'b': b}, PROTOCOL)
    assert not len(shared.shared(0, 1))
    assert all(math.isnan(one.difference) for one in every(a, b, PROTOCOL).values())


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


def test_ranks_are_what_the_claims_leave_possible() -> None:
    """Who is certainly better stands before; less of a drop is better."""
    rng = np.random.default_rng(5)
    good = rng.integers(2, 5, 60)
    tables = {'good': counted(good.tolist()), 'poor': counted((good // 4).tolist())}
    found = all_pairs(tables, PROTOCOL)
    assert (ranks_of(found), found[0, 1].claim) == ({0: (1, 1), 1: (2, 2)}, 'worse')
    same = all_pairs({**tables, 'good again': counted(good.tolist())}, PROTOCOL)
    assert ranks_of(same) == {0: (1, 2), 1: (3, 3), 2: (1, 2)}
    drops = {'falling': versions([[2, 1, 0]] * 60), 'steady': versions([[2, 1, 2]] * 60)}
    assert ranks_of(all_pairs(drops, Protocol(2, (2,)), DROP())) == {0: (2, 2), 1: (1, 1)}


@pytest.mark.parametrize('gaps', [0, 1, 5])
def test_missing_verdicts_could_explain_a_claim(gaps: int) -> None:
    """Those that are unjudged and those that nobody recognised: the winner's are taken as wrong."""
    b, a = counted([4] * 20), counted([4] * 13 + [0] * 7)
    for place in range(gaps):
        at = 4 * (11 + place)
        change = {'verdict': U} if place % 2 else {'verdict': W, 'source': UNRECOGNISED}
        b.trials[at : at + 3] = [replace(one, **change) for one in b.trials[at : at + 3]]  # type: ignore[arg-type]
    for table in (a, b):
        table.problems[:] = [replace(one, cluster='') for one in table.problems]
    of = compared(a, b, PROTOCOL)
    one = of.primary
    assert one and one.these.sign == 1 and one.missing == (0, 3 * gaps)
    fragile = gaps == 5
    assert (one.fragile, one.claim) == (fragile, '' if fragile else 'better')
    told = these_claim(('A', 'B'), one)
    assert (f'{3 * gaps} missing verdicts could explain it' in told) is fragile
    assert (of.needed is None) is (gaps < 5)
    if of.needed is not None:
        assert 0 < of.needed <= 3 * gaps
    assert of.as_stable(3.0) is (None if fragile else True)


def test_few_questions_say_nothing_of_others() -> None:
    """The second line is withheld below 50 questions, and below 500 near 0 and 100 %."""
    for right, problems, few in ((2, 60, True), (2, 120, False), (4, 400, True)):
        rows = [right, 0] * (problems // 2) if right == 2 else [4] * problems
        a = counted(rows)
        for table in (a,):
            table.problems[:] = table.problems
        (one,) = all_pairs({'a': a, 'b': counted(rows)}, PROTOCOL, parse_metric('pass@2')).values()
        assert one.questions == problems // 2 and one.few is few
        assert ('A test for problems like these needs' in others_claim(one)) is few


def test_copies_withhold_the_line_on_these_problems() -> None:
    """Nothing is claimed on them, by comparison or gate."""
    a, b = counted([4] * 20), counted([0] * 20)
    of = compared(a, b, PROTOCOL, withheld='A: copies')
    assert of.as_stable(3.0) is None
    (check,) = check_metrics([of], ['accuracy'])
    assert not check.worse and check.unknown == 'A: copies'


def test_a_margin_is_shown_refuted_or_undecided() -> None:
    """By the interval on these problems; for others rare hard kinds are allowed for."""
    strong = counted([4, 3, 4, 4] * 150)
    of = compared(strong, strong, PROTOCOL)
    assert of.as_stable(8.0) is True and of.as_stable_like_these(8.0) is True
    assert of.as_stable_like_these(0.4) is None
    worse = compared(strong, counted([0, 3, 4, 4] * 150), PROTOCOL)
    assert worse.as_stable(3.0) is False and worse.as_stable_like_these(3.0) is None


def test_several_data_sets_have_one_mean() -> None:
    """Each weighs the same, whatever its number of problems; one data set has none."""
    few = compared(counted([4] * 20), counted([4] * 10 + [0] * 10), PROTOCOL, 'few')
    many = compared(counted([4] * 200), counted([4] * 200), PROTOCOL, 'many')
    found = mean_difference([few, many])
    assert found and found.difference == pytest.approx(-25.0) and found.tests == 1
    assert found.units == 220 and found.claim == 'worse'
    assert mean_difference([few]) is None
    other = compared(counted([1, 0], 1), counted([1, 0], 1), Protocol(1))
    assert mean_difference([few, other]) is None  # the primary metrics differ


def test_checks_on_several_data_sets_are_one_family() -> None:
    """Each costs the others a little: p-values rise, and intervals widen."""
    rng = np.random.default_rng(3)
    one, other = (
        compared(
            counted(rng.integers(0, 5, 40).tolist()),
            counted(rng.integers(0, 4, 40).tolist()),
            PROTOCOL,
            name,
        )
        for name in 'de'
    )
    alone = [check_metrics([of], ['accuracy'])[0].difference for of in (one, other)]
    both = [check.difference for check in check_metrics([one, other], ['accuracy'])]
    for before, after in zip(alone, both, strict=True):
        assert before.difference == pytest.approx(after.difference)
        assert before.these.p_value <= after.these.p_value <= 2 * before.these.p_value + 1e-9
        assert after.these.low <= before.these.low <= before.these.high <= after.these.high


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
        shared: Aligned = aligned(tables, protocols)
        (one,) = differences([Asked(shared, '', G_PASS(k=4, tau=1.0))])
        alarms += bool(one.these.sign)
    assert alarms <= 200 * 0.06 + 3 * math.sqrt(200 * 0.06 * 0.94)


def test_a_fall_that_may_be_hidden_is_undecided() -> None:
    """By B's missing verdicts; or in a metric without counts, on few questions."""
    a, b = counted([4] * 60), counted([4] * 60)
    for trial in b.trials[:120]:
        trial.verdict = U if trial.replica else trial.verdict
    (check,) = checked(a, b, ['G-Pass@4_1.0'])
    assert not check.worse and check.unknown == 'by 90 missing verdicts it may be worse'
    (check,) = checked(b, a, ['G-Pass@4_1.0'])
    assert not check.unknown
    before, after = versions([[2, 2, 2]] * 30), versions([[2, 2, 0]] * 30)
    (check,) = checked(before, after, ['GA@2'], Protocol(2, (2,)))
    assert check.unknown.endswith('you have 30')


def test_a_mean_does_not_hide_what_could_explain_its_parts() -> None:
    """Its claim must survive the missing verdicts of all."""
    b, a = counted([4] * 20), counted([4] * 13 + [0] * 7)
    for at in range(44, 64):
        b.trials[at].verdict = U if b.trials[at].replica else C
    parts = [compared(a, b, PROTOCOL, name) for name in 'de']
    assert all(one.primary and one.primary.fragile for one in parts)
    found = mean_difference(parts)
    assert found and found.these.sign == 1 and found.fragile and not found.claim
    told = others_claim(replace(found, questions=600, tests=1))
    assert found.like_these.fragile and '30 missing verdicts could explain it' in told


def test_missing_verdicts_may_explain_the_second_line_alone() -> None:
    """What holds on these problems whatever they are need not hold for problems like these."""
    b, a = counted([4] * 60 + [2] * 10), counted([4] * 46 + [1] * 14 + [2] * 10)
    for table in (a, b):
        table.problems[:] = [replace(one, cluster='') for one in table.problems]
    for place in range(5, 10):
        b.trials[4 * place].verdict = U
    one = compared(a, b, PROTOCOL).primary
    assert one and one.claim == 'better' and one.like_these.sign == 1
    assert not one.claim_like_these
    assert '5 missing verdicts could explain it' in others_claim(one)


def test_one_response_to_each_problem_may_come_first() -> None:
    """The order of the models changes no protocol."""
    single, four = counted([1, 0, 1], 1), counted([4, 0, 2])
    for tables in ({'a': single, 'b': four}, {'b': four, 'a': single}):
        protocols = [Protocol(1) if of is single else PROTOCOL for of in tables.values()]
        common = common_protocols(protocols)
        assert sorted(one.n for one in common) == [1, 4]
        assert aligned(tables, dict(zip(tables, common, strict=True))).parts


def test_a_mean_weighs_responses_as_its_data_sets_do() -> None:
    """Of reasoning, a problem with three scored responses weighs three times one with one."""
    parts = []
    for name, low in (('d', 0.1), ('e', 0.5)):
        tables = [counted([4] * 12, unjudged=range(12)) for _ in 'ab']
        for table, score in zip(tables, (0.9, low), strict=True):
            for trial in table.trials:
                place = int(trial.problem_id[1:])
                if trial.replica < (1 if place % 3 else 3):
                    trial.values['validity'] = score if place % 3 else 0.6
        parts.append(compared(*tables, PROTOCOL, name))
    found = mean_difference(parts)
    points = [one.primary.difference for one in parts if one.primary]
    assert found and found.difference == pytest.approx(sum(points) / 2)
    assert found.difference == pytest.approx(found.second - found.first)
