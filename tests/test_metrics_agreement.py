"""Agreement and kappa: by hand, by exact fractions, and by identities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from opencompass_gpassk.metrics.agreement import Agreement, compare_verdicts
from opencompass_gpassk.trials import Verdict

C, I, U = Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED  # noqa: E741  as in the tables

verdicts = st.lists(st.tuples(st.sampled_from([C, I, U]), st.sampled_from([C, I, U])), max_size=60)
tables = st.lists(st.lists(st.integers(0, 20), min_size=2, max_size=2), min_size=2, max_size=2)


def kappa_of_shares(share: Sequence[Sequence[Fraction]]) -> Fraction:
    """Kappa as a function of the shares, whatever their sum: only so can one be varied alone."""
    same = sum(share[i][i] for i in range(len(share)))
    chance = sum(sum(share[i]) * sum(row[i] for row in share) for i in range(len(share)))
    return Fraction(same - chance) / (1 - chance)


def exact_kappa(table: Sequence[Sequence[int]]) -> Fraction | None:
    """Kappa in fractions, None where everything is in one class."""
    total = sum(map(sum, table))
    if total in (table[i][i] for i in range(len(table))):
        return None
    return kappa_of_shares([[Fraction(count, total) for count in row] for row in table])


def exact_variance(table: Sequence[Sequence[int]]) -> float:
    """The delta method on the multinomial counts, with derivatives by differences of fractions."""
    step = Fraction(1, 10**9)
    total = sum(map(sum, table))
    cells = [(i, j) for i in range(len(table)) for j in range(len(table))]
    slopes = []
    for i, j in cells:
        ends = []
        for sign in (1, -1):
            moved = [[Fraction(x, total) for x in row] for row in table]
            moved[i][j] += sign * step
            ends.append(kappa_of_shares(moved))
        slopes.append((ends[0] - ends[1]) / (2 * step))
    shares = [Fraction(table[i][j], total) for i, j in cells]
    mean = sum(p * d for p, d in zip(shares, slopes, strict=True))
    return float(sum(p * (d - mean) ** 2 for p, d in zip(shares, slopes, strict=True)) / total)


def of(pairs: Sequence[tuple[Verdict, Verdict]], **more: object) -> Agreement:
    """Compare pairs of verdicts."""
    return compare_verdicts([a for a, _ in pairs], [b for _, b in pairs], **more)  # type: ignore[arg-type]


def counted(table: Sequence[Sequence[int]]) -> list[tuple[Verdict, Verdict]]:
    """Pairs of verdicts: so many of each as a table of two rows and two columns says."""
    sides = list(enumerate((C, I)))
    return [pair for i, a in sides for j, b in sides for pair in [(a, b)] * table[i][j]]


def test_by_hand() -> None:
    """20, 5, 10 and 15 of 50: 0.7 agree, 0.5 would by chance; the error worked out on paper."""
    # Gradients .17, -.33, -.27, .23 (times 4) with shares .4, .1, .2, .3.
    error = math.sqrt((0.0529 - 0.05**2) / 0.5**4 / 50)
    found = of(counted([[20, 5], [10, 15]]))
    assert (found.rate, found.kappa, found.kappa_error) == pytest.approx((0.7, 0.4, error))
    assert found.kappa_interval == pytest.approx((0.4 - 1.959964 * error, 0.4 + 1.959964 * error))


@given(tables)
@settings(max_examples=60, deadline=None)
def test_kappa_and_its_error_are_those_of_exact_arithmetic(table: list[list[int]]) -> None:
    """Against fractions, and derivatives by differences."""
    assume(sum(map(sum, table)))
    expected = exact_kappa(table)
    found = of(counted(table))
    kappa, error = found.kappa, found.kappa_error
    if expected is None:
        assert math.isnan(kappa)
        assert math.isnan(error)
    else:
        assert kappa == pytest.approx(float(expected))
        assert error**2 == pytest.approx(exact_variance(table), abs=1e-9)


@given(verdicts)
@settings(max_examples=80, deadline=None)
def test_counts_and_rate_are_those_of_counting(pairs: list[tuple[Verdict, Verdict]]) -> None:
    """Rate and kappa leave out what either did not judge; the counts have it."""
    found = of(pairs)
    judged = [(a, b) for a, b in pairs if U not in (a, b)]
    assert found.trials == len(pairs)
    assert found.judged == len(judged)
    assert found.unjudged == (sum(a is U for a, _ in pairs), sum(b is U for _, b in pairs))
    for i, a in enumerate((C, I, U)):
        for j, b in enumerate((C, I, U)):
            assert found.confusion[i, j] == pairs.count((a, b))
    if judged:
        assert found.rate == pytest.approx(sum(a is b for a, b in judged) / len(judged))
        assert found.interval[0] <= found.rate <= found.interval[1]
    else:
        assert math.isnan(found.rate)
        assert all(map(math.isnan, (*found.interval, found.kappa, found.kappa_error)))
    if len(set(judged)) == 1 and judged[0][0] is judged[0][1]:
        assert math.isnan(found.kappa)


@given(verdicts, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_neither_order_nor_side_matters(pairs: list[tuple[Verdict, Verdict]], rng: object) -> None:
    """Symmetric in the sources, and in the trials with their weights and clusters."""
    weights = [1.0 + i % 3 for i in range(len(pairs))]
    clusters = [i // 4 for i in range(len(pairs))]
    found = of(pairs, weights=weights, clusters=clusters)
    turned = of([(b, a) for a, b in pairs], weights=weights, clusters=clusters)
    order = list(range(len(pairs)))
    rng.shuffle(order)  # type: ignore[attr-defined]
    mixed = of(
        [pairs[i] for i in order],
        weights=[weights[i] for i in order],
        clusters=[f'problem {clusters[i]}' for i in order],
    )
    metrics = [
        (one.rate, *one.interval, one.effective, one.kappa, one.kappa_error)
        for one in (found, turned, mixed)
    ]
    assert metrics[1] == pytest.approx(metrics[0], nan_ok=True, abs=1e-9)
    assert metrics[2] == pytest.approx(metrics[0], nan_ok=True, abs=1e-9)


def test_perfect_agreement_is_no_certainty() -> None:
    """Kappa is 1, without an interval; the rate's interval is open below."""
    found = of([(C, C)] * 9 + [(I, I)] * 3)
    assert (found.rate, found.kappa, found.kappa_error) == (1, pytest.approx(1), 0)
    assert all(map(math.isnan, found.kappa_interval))
    assert found.interval[0] == pytest.approx(12 / (12 + 1.959964**2))


def test_bad_arguments_are_named() -> None:
    """The level."""
    with pytest.raises(ValueError, match='level is 95'):
        compare_verdicts([C], [C], level=95)
