"""The metrics of groups of versions against metrics by hand, enumeration and their identities."""

from __future__ import annotations

import dataclasses
import doctest
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, comb, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.metrics import understanding as understanding_module
from opencompass_gpassk.metrics import version_metrics as variables
from opencompass_gpassk.metrics.understanding import (
    complete_by_chance,
    complete_ratio,
    original_only_by_chance,
    original_only_ratio,
    understanding,
)
from opencompass_gpassk.metrics.version_metrics import (
    accuracy,
    g_pass_over_versions,
    group_accuracy,
    pooled_g_pass,
    variance_split,
)

MODULES = (variables, understanding_module)
CASES = json.loads((Path(__file__).parent / 'cases/metrics_variables.json').read_text('utf-8'))
HAND = CASES['by_hand']
TAUS = (0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0)


Group = tuple[list[int], list[int], int, int]


@st.composite
def group(draw: st.DrawFn, samples: int = 6, least: int = 1) -> Group:
    """Draw n and c of 2 to 6 versions and of their original."""
    sizes = st.integers(least, samples)
    n = draw(st.lists(sizes, min_size=2, max_size=6))
    original_n = draw(sizes)
    c = [draw(st.integers(0, size)) for size in n]
    return n, c, original_n, draw(st.integers(0, original_n))


def outcomes(rates: list[Fraction]) -> Iterator[tuple[int, Fraction]]:
    """Yield how many are right in each of the 2^m outcomes, and the outcome's chance."""
    for right in product((0, 1), repeat=len(rates)):
        yield sum(right), prod((p if x else 1 - p for x, p in zip(right, rates, strict=True)))


def chance(rates: list[Fraction], least: int, most: int) -> Fraction:
    """Return P[least ≤ number of right ones ≤ most]."""
    return sum((p for right, p in outcomes(rates) if least <= right <= most), Fraction(0))


def function_named(name: str) -> Any:
    """The metric of this name."""
    return next(getattr(module, name) for module in MODULES if hasattr(module, name))


def shares_of(n: list[int], c: list[int]) -> list[Fraction]:
    """Return c/n of each version."""
    return [Fraction(right, size) for right, size in zip(c, n, strict=True)]


def exactly(value: Any) -> Fraction:
    """Return the fraction of a small denominator that a metric stands for."""
    number = float(value)
    fraction = Fraction(number).limit_denominator(10**5)
    assert abs(float(fraction) - number) < 1e-12
    return fraction


def sampled(n: list[int], rates: list[Fraction]) -> Iterator[tuple[list[int], Fraction]]:
    """Yield all counts that n samples of each version can give, and the counts' chance."""
    for c in product(*(range(size + 1) for size in n)):
        yield (
            list(c),
            prod(
                comb(size, x) * p**x * (1 - p) ** (size - x)
                for x, size, p in zip(c, n, rates, strict=True)
            ),
        )


@pytest.mark.parametrize('name', HAND['per_group'])
def test_three_groups_by_hand(name: str) -> None:
    """Two samples of five versions each: all metrics, worked out on paper."""
    counts = HAND['n'], HAND['c']
    originals = HAND['original_n'], HAND['original_c']
    function, *settings_ = name.split()
    if function in ('complete_ratio', 'original_only_ratio'):
        values = function_named(function)(*counts, *originals)
    elif function in ('between', 'within'):
        values = getattr(variance_split(*counts), function)
    elif any(hasattr(module, function) for module in MODULES):
        values = function_named(function)(*counts, *map(json.loads, settings_))
    else:
        values = getattr(understanding(*counts, *originals), function)
    expected = [Fraction(x) for x in HAND['per_group'][name]]
    if function == 'pooled_g_pass' and settings_[0] == '5':
        # Of 10 samples 9, 4 and 1 are right: 126/252, none and none of the draws of 5.
        assert exactly(values[0]) == Fraction(comb(9, 5), comb(10, 5))
    assert [exactly(x) for x in values] == expected


def test_single_samples_give_the_published_definitions() -> None:
    """At n = 1 every metric counts groups: here 8 of them, with each outcome that matters."""
    right = [5, 4, 3, 1, 0, 5, 2, 0]
    original = np.array([1, 1, 1, 1, 1, 0, 0, 0])
    c = np.array([[1] * x + [0] * (5 - x) for x in right])
    n, original_n = np.ones_like(c), np.ones_like(original)
    assert accuracy(n, c).mean() == 20 / 40
    assert group_accuracy(n, c).tolist() == [1, 0, 0, 0, 0, 1, 0, 0]
    assert complete_ratio(n, c, original_n, original).mean() == 2 / 8
    assert original_only_ratio(n, c, original_n, original).mean() == 2 / 8
    found = understanding(n, c, original_n, original)
    assert found.score.tolist() == [1, 1, 0.5, 0, 0, 0, 0, 0]  # Eq. 5
    assert found.right_versions.sum() == pytest.approx(13 / 5)


@given(st.lists(group(), min_size=1, max_size=4))
@settings(max_examples=60)
def test_it_is_what_enumerating_all_outcomes_gives(groups: list[Group]) -> None:
    """Each metric is the sum of the exact chances of the outcomes that it counts."""
    for n, c, original_n, original_c in groups:
        rates, m, original = shares_of(n, c), len(n), Fraction(original_c, original_n)
        for tau in TAUS:
            wanted = max(ceil(Fraction(str(tau)) * m), 1)
            got = g_pass_over_versions([n], [c], tau)[0]
            assert got == pytest.approx(float(chance(rates, wanted, m)), abs=1e-14)
        least, most = ceil(Fraction(4, 5) * m), ceil(Fraction(1, 5) * m)
        expected = {
            'original': original,
            'right_versions': original * sum(right * p for right, p in outcomes(rates)) / m,
            'complete': original * chance(rates, least, m),
            'partial': original * chance(rates, most + 1, least - 1),
            'collapsed': original * chance(rates, 0, most),
        }
        counts = [n], [c], [original_n], [original_c]
        for name, value in dataclasses.asdict(understanding(*counts)).items():
            assert value[0] == pytest.approx(float(expected[name]), abs=1e-14)
        assert complete_ratio(*counts) == understanding(*counts).complete
        assert original_only_ratio(*counts) == understanding(*counts).collapsed


@given(group(), st.integers(1, 9), st.integers(0, 9))
def test_complete_and_original_only_are_at_most_accuracy_on_originals(
    case: Group, complete: int, collapsed: int
) -> None:
    """OOR + CR ≤ accuracy on originals, the rest is partial, and no part is negative."""
    n, c, original_n, original_c = case
    if ceil(Fraction(collapsed, 10) * len(n)) >= ceil(Fraction(complete, 10) * len(n)):
        return
    counts = [n], [c], [original_n], [original_c]
    ratios = complete_ratio(*counts, complete / 10) + original_only_ratio(*counts, collapsed / 10)
    found = understanding(*counts, complete / 10, collapsed / 10)
    assert ratios[0] <= original_c / original_n + 1e-15
    assert found.original[0] == original_c / original_n
    parts = found.complete, found.partial, found.collapsed
    assert all(part[0] >= 0 for part in parts)
    assert sum(part[0] for part in parts) == pytest.approx(found.original[0], abs=1e-15)
    right = found.original[0] * accuracy([n], [c])[0]
    assert found.right_versions[0] == pytest.approx(right)
    assert found.score[0] == found.complete[0] + found.partial[0] / 2


RATES = [
    [Fraction(1, 3), Fraction(3, 4), Fraction(1)],
    [Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)],
    [Fraction(0), Fraction(1, 5), Fraction(5, 6)],
]


@pytest.mark.parametrize('rates', RATES, ids=str)
@pytest.mark.parametrize('n', [[1, 1, 1], [2, 2, 2], [3, 1, 2]], ids=str)
def test_estimates_are_unbiased(n: list[int], rates: list[Fraction]) -> None:
    """Over all samples that could be drawn, the mean estimate is the true metric, exactly."""
    samples = list(sampled(n, rates))
    c, weights = np.array([x for x, _ in samples]), [w for _, w in samples]
    sizes = np.broadcast_to(n, c.shape)
    assert sum(weights) == 1

    def mean(values: Any, weights: list[Fraction] = weights) -> Fraction:
        return sum(
            (w * exactly(x) for w, x in zip(weights, values, strict=True)), start=Fraction(0)
        )

    for tau, wanted in ((0.0, 1), (0.5, 2), (1.0, 3)):
        assert mean(g_pass_over_versions(sizes, c, tau)) == chance(rates, wanted, 3)
    assert mean(accuracy(sizes, c)) == sum(rates) / 3

    # The same with an original of two samples that succeeds with a chance of 2/5.
    original = [(x[0], w) for x, w in sampled([2], [Fraction(2, 5)])]
    joint = [w * v for _, w in original for v in weights]
    originals = np.repeat([x for x, _ in original], len(c))
    counts = (
        np.tile(sizes, (len(original), 1)),
        np.tile(c, (len(original), 1)),
        np.full(len(originals), 2),
        originals,
    )
    assert mean(complete_ratio(*counts), joint) == Fraction(2, 5) * chance(rates, 3, 3)
    assert mean(original_only_ratio(*counts), joint) == Fraction(2, 5) * chance(rates, 0, 1)
    found = understanding(*counts)
    assert mean(found.partial, joint) == Fraction(2, 5) * chance(rates, 2, 2)
    assert mean(found.right_versions, joint) == Fraction(2, 5) * sum(rates) / 3


@pytest.mark.parametrize('rates', RATES, ids=str)
@pytest.mark.parametrize('n', [[2, 2, 2], [3, 2, 4]], ids=str)
def test_the_variance_split_is_unbiased(n: list[int], rates: list[Fraction]) -> None:
    """Over all samples, the means of both parts are the true variances, exactly."""
    samples = list(sampled(n, rates))
    c = np.array([x for x, _ in samples])
    split = variance_split(np.broadcast_to(n, c.shape), c)
    mean = sum(rates) / 3
    between = sum((p - mean) ** 2 for p in rates) / 2
    within = sum(p * (1 - p) for p in rates) / 3
    weights = [w for _, w in samples]
    for values, expected in ((split.between, between), (split.within, within)):
        got = sum(w * exactly(x) for w, x in zip(weights, values, strict=True))
        assert got == expected


def test_a_version_not_judged_leaves_its_group_undefined() -> None:
    """NaN stays in its group; the accuracy alone is that of the versions judged."""
    n, c = (
        np.array([[2, 0, 2, 2, 2], [2] * 5, [0] * 5]),
        np.array([[2, 0, 1, 2, 2], [2] * 5, [0] * 5]),
    )
    originals = np.full(3, 2), np.full(3, 2)
    assert accuracy(n, c).tolist()[:2] == [7 / 8, 1]
    assert np.isnan(accuracy(n, c)[2])
    found, split = understanding(n, c, *originals), variance_split(n, c)
    for values in (
        g_pass_over_versions(n, c, 0.2),
        group_accuracy(n, c),
        pooled_g_pass(n, c, 2, 1.0),
        complete_ratio(n, c, *originals),
        original_only_ratio(n, c, *originals),
        found.score,
        found.complete,
        found.partial,
        found.collapsed,
        split.between,
        split.within,
    ):
        assert np.isnan(values).tolist() == [True, False, True]
    assert found.original.tolist() == [1, 1, 1]


def test_an_original_not_judged_leaves_what_needs_it_undefined() -> None:
    """Without an original there is neither CR nor OOR nor a share, rather than 0."""
    n, c, original = np.ones((2, 5), dtype=int), np.ones((2, 5), dtype=int), np.array([0, 1])
    for values in (
        complete_ratio(n, c, original, original),
        original_only_ratio(n, c, original, original),
        *dataclasses.asdict(understanding(n, c, original, original)).values(),
    ):
        assert np.isnan(values).tolist() == [True, False]


def test_too_few_samples_or_versions_have_no_variance_split() -> None:
    """A single sample says nothing of what is within, a single version nothing of between."""
    split = variance_split([[2, 1], [2, 2]], [[1, 1], [1, 1]])
    assert np.isnan(split.between).tolist() == np.isnan(split.within).tolist() == [True, False]
    split = variance_split([[2], [4]], [[1], [4]])
    assert np.isnan(split.between).all()
    assert np.isnan(split.within).all()
    assert split.between.shape == split.within.shape == (2,)


@pytest.mark.parametrize('case', CASES['ceilings'], ids=lambda case: case['id'])
def test_thresholds_are_whole_versions(case: dict[str, Any]) -> None:
    """⌈share · m⌉ is that of the number that was meant."""
    m = case['m']
    c = np.tri(m + 1, m, -1, dtype=int)  # row j has j right versions
    n, original = np.ones_like(c), np.ones(m + 1, dtype=int)
    found = understanding(n, c, original, original, case['complete'], case['collapsed'])
    right = np.arange(m + 1)
    assert found.complete.tolist() == (right >= case['least']).tolist()
    assert found.collapsed.tolist() == (right <= case['most']).tolist()
    ratios = (
        complete_ratio(n, c, original, original, case['complete']),
        original_only_ratio(n, c, original, original, case['collapsed']),
    )
    assert ratios[0].tolist() == found.complete.tolist()
    assert ratios[1].tolist() == found.collapsed.tolist()


@pytest.mark.parametrize('case', CASES['bad_counts'], ids=lambda case: case['id'])
def test_impossible_counts_are_named(case: dict[str, Any]) -> None:
    """Shapes and counts that can't be are errors that name field and value."""
    n, c = case['n'], case['c']
    for call in (
        lambda: accuracy(n, c),
        lambda: g_pass_over_versions(n, c, 1.0),
        lambda: group_accuracy(n, c),
        lambda: pooled_g_pass(n, c, 1, 1.0),
        lambda: complete_ratio(n, c, [1], [1]),
        lambda: original_only_ratio(n, c, [1], [1]),
        lambda: understanding(n, c, [1], [1]),
        lambda: variance_split(n, c),
    ):
        with pytest.raises(ValueError, match=case['message']):
            call()


@pytest.mark.parametrize('case', CASES['bad_originals'], ids=lambda case: case['id'])
def test_impossible_originals_are_named(case: dict[str, Any]) -> None:
    """Originals' counts have names of their own, and one value a group."""
    ones = np.ones((2, 5), dtype=int)
    for metric in (complete_ratio, original_only_ratio, understanding):
        with pytest.raises(ValueError, match=case['message']):
            metric(ones, ones, case['original_n'], case['original_c'])


@pytest.mark.parametrize('case', CASES['bad_thresholds'], ids=lambda case: case['id'])
def test_thresholds_that_tell_nothing_apart_are_named(case: dict[str, Any]) -> None:
    """A group can't be both complete and collapsed."""
    ones = np.ones((1, case['m']), dtype=int)
    with pytest.raises(ValueError, match=case['message']):
        understanding(ones, ones, [1], [1], case['complete'], case['collapsed'])


def test_a_threshold_that_every_group_meets_is_an_error() -> None:
    """CR of no version and OOR of all versions would be the accuracy on originals."""
    with pytest.raises(ValueError, match=r'complete is 0\.0'):
        complete_ratio([[1, 1]], [[1, 1]], [1], [1], 0.0)
    for m, share in ((1, 0.2), (5, 0.9), (5, 1.0)):
        ones = [[1] * m]
        with pytest.raises(ValueError, match=f'collapsed is {share}, .* all {m} versions'):
            original_only_ratio(ones, ones, [1], [1], share)


@pytest.mark.parametrize('tau', [-0.1, 1.1, float('nan')])
def test_a_threshold_outside_0_to_1_is_an_error(tau: float) -> None:
    """τ and the shares are from 0 to 1."""
    ones = [[1, 1]]
    with pytest.raises(ValueError, match='tau holds'):
        g_pass_over_versions(ones, ones, tau)
    with pytest.raises(ValueError, match='tau holds'):
        pooled_g_pass(ones, ones, 2, tau)
    with pytest.raises(ValueError, match='complete is'):
        complete_ratio(ones, ones, [1], [1], tau)
    with pytest.raises(ValueError, match='collapsed is'):
        original_only_ratio(ones, ones, [1], [1], tau)


def test_the_examples_in_the_docstrings_are_right() -> None:
    """Each docstring's example prints what it says."""
    outcomes = [doctest.testmod(module) for module in MODULES]
    assert sum(outcome.attempted for outcome in outcomes) >= 9
    assert not any(outcome.failed for outcome in outcomes)


def test_chance_is_what_a_random_original_gives() -> None:
    """CR and OOR by chance are the means of both, each problem of a group in turn the original."""
    rng = np.random.default_rng(5)
    n = rng.integers(1, 9, size=(40, 6))
    c = rng.integers(0, n + 1)
    for by_chance, ratio in (
        (complete_by_chance, complete_ratio),
        (original_only_by_chance, original_only_ratio),
    ):
        in_turn = [
            ratio(np.delete(n, i, 1), np.delete(c, i, 1), n[:, i], c[:, i]) for i in range(6)
        ]
        found = by_chance(n[:, 1:], c[:, 1:], n[:, 0], c[:, 0])
        np.testing.assert_allclose(found, np.mean(in_turn, axis=0), atol=1e-12)
        assert np.isnan(by_chance([[1, 0]], [[1, 0]], [1], [1], 0.4)).all()
