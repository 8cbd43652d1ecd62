"""The metrics against exact fractions, enumeration, published values and their own identities."""

from __future__ import annotations

import doctest
import json
import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import ceil, comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.metrics import gpassk
from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k, threshold

CASES = json.loads((Path(__file__).parent / 'cases/metrics_gpassk.json').read_text('utf-8'))
TAUS = (0.0, 0.25, 0.5, 0.75, 1.0)

settings.register_profile('busy machine', deadline=None)
settings.load_profile('busy machine')


def exact_tail(n: int, c: int, k: int, wanted: int) -> Fraction:
    """Return P[at least ``wanted`` of k are correct] as a fraction."""
    ways = sum(comb(c, j) * comb(n - c, k - j) for j in range(wanted, k + 1))
    return Fraction(ways, comb(n, k))


def draws(n: int, c: int, k: int) -> Iterator[int]:
    """Yield the number of correct samples in each subset of k."""
    for subset in combinations([1] * c + [0] * (n - c), k):
        yield sum(subset)


@st.composite
def counts(draw: st.DrawFn, largest: int = 64) -> tuple[int, int, int]:
    """Draw k ≤ n and c ≤ n."""
    n = draw(st.integers(1, largest))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


def test_every_n_to_64_agrees_with_exact_fractions() -> None:
    """All c ≤ n ≤ 64 are right to 1e-12, for small and large k and every threshold."""
    for n in range(1, 65):
        for k in {k for k in (1, 2, 3, 4, 8, 16, n // 2, n - 1, n) if 1 <= k <= n}:
            c, wanted = np.arange(n + 1)[:, None], np.arange(1, k + 1)
            got = g_pass_at_k(n, c, k, wanted / k)
            ways = [[comb(c, j) * comb(n - c, k - j) for j in range(k + 1)] for c in range(n + 1)]
            exact = [[sum(row[m:]) / comb(n, k) for m in wanted] for row in ways]
            np.testing.assert_allclose(got, exact, rtol=0, atol=1e-12)
            mean = np.sum(np.array(exact)[:, (k + 1) // 2 :], axis=1) * 2 / k
            np.testing.assert_allclose(mg_pass_at_k(n, np.arange(n + 1), k), mean, atol=1e-12)


@pytest.mark.parametrize('n', [1, 2, 5, 8])
def test_it_is_what_enumerating_all_subsets_gives(n: int) -> None:
    """For every c and k, the share of subsets with enough correct samples is returned."""
    for c in range(n + 1):
        for k in range(1, n + 1):
            right = np.array(list(draws(n, c, k)))
            for tau in (*TAUS, 1 / 3, 2 / 3, 0.28):
                wanted = max(ceil(Fraction(tau).limit_denominator(1000) * k), 1)
                assert g_pass_at_k(n, c, k, tau) == pytest.approx(
                    np.mean(right >= wanted), abs=1e-12
                )
            assert pass_at_k(n, c, k) == pytest.approx(np.mean(right >= 1), abs=1e-12)
            half = ceil(k / 2)
            # Each sample above half adds 2/k: the sum of tails, counted along the other axis.
            expected = np.mean(np.maximum(right - half, 0)) * 2 / k
            assert mg_pass_at_k(n, c, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize('case', CASES['threshold'], ids=lambda case: case['id'])
def test_threshold_is_not_moved_by_floating_point(case: dict[str, Any]) -> None:
    """⌈τk⌉ is that of the number that was meant."""
    assert threshold(case['k'], case['tau']) == case['expected']


@pytest.mark.parametrize('k', range(1, 65))
def test_every_share_and_every_decimal_has_its_exact_threshold(k: int) -> None:
    """τ = i/k asks for i samples; τ with two decimals for ⌈τk⌉ in exact arithmetic."""
    assert threshold(k, np.arange(1, k + 1) / k).tolist() == list(range(1, k + 1))
    exact = [max(ceil(Fraction(i * k, 100)), 1) for i in range(101)]
    assert threshold(k, np.arange(101) / 100).tolist() == exact
    assert threshold(k, np.linspace(0, 1, 101)).tolist() == exact


@pytest.mark.parametrize('n', [1000, 4096, 9999])
def test_thousands_of_samples_are_stable(n: int) -> None:
    """Large n and k neither overflow nor cancel."""
    for c in (0, 1, n // 3, n // 2, n - 1, n):
        for k in (4, 16, 500):
            for wanted in (1, k // 2, k):
                exact = float(exact_tail(n, c, k, wanted))
                assert g_pass_at_k(n, c, k, wanted / k) == pytest.approx(
                    exact, rel=1e-10, abs=1e-300
                )


@given(counts())
def test_more_correct_samples_never_lower_a_metric(case: tuple[int, int, int]) -> None:
    """All metrics rise with c, from 0 to their maximum."""
    n, _, k = case
    c = np.arange(n + 1)
    for values in (
        pass_at_k(n, c, k),
        g_pass_at_k(n, c, k, 0.5),
        g_pass_at_k(n, c, k, 1.0),
        mg_pass_at_k(n, c, k),
    ):
        assert np.all(np.diff(values) >= -1e-14)
        assert np.asarray(values)[0] == 0
    assert pass_at_k(n, n, k) == g_pass_at_k(n, n, k, 1.0) == 1
    assert mg_pass_at_k(n, n, k) == pytest.approx(2 / k * (k - ceil(k / 2)))


@given(counts(), st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_a_higher_threshold_never_raises_it(case: tuple[int, int, int], taus: list[float]) -> None:
    """G-Pass@k falls with τ."""
    values = g_pass_at_k(*case, np.sort(taus))
    assert np.all(np.diff(values) <= 0)


@given(counts(), st.floats(0, 1))
def test_towards_zero_it_is_pass_at_k(case: tuple[int, int, int], share: float) -> None:
    """Every τ up to 1/k asks for one correct sample."""
    assert g_pass_at_k(*case, share / case[2]) == pass_at_k(*case)


@given(st.integers(1, 24), st.data(), st.floats(0, 1))
def test_the_expectation_is_the_binomial_tail(n: int, data: st.DataObject, p: float) -> None:
    """Over n independent draws that succeed with probability p, the estimates are unbiased."""
    k = data.draw(st.integers(1, n))
    wanted = data.draw(st.integers(1, k))
    c = np.arange(n + 1)
    weights = [comb(n, i) * p**i * (1 - p) ** (n - i) for i in c.tolist()]
    binomial = [comb(k, i) * p**i * (1 - p) ** (k - i) for i in range(k + 1)]
    expected = np.dot(weights, g_pass_at_k(n, c, k, wanted / k))
    assert expected == pytest.approx(sum(binomial[wanted:]), abs=1e-12)
    tails = [sum(binomial[i:]) for i in range(ceil(k / 2) + 1, k + 1)]
    mean = np.dot(weights, mg_pass_at_k(n, c, k))
    assert mean == pytest.approx(2 / k * sum(tails), abs=1e-12)


def test_fewer_samples_than_k_are_undefined() -> None:
    """n < k is NaN for that problem alone, never 0."""
    n, c = np.array([3, 0, 4]), np.array([3, 0, 4])
    for values in (pass_at_k(n, c, 4), g_pass_at_k(n, c, 4, 0.5), mg_pass_at_k(n, c, 4)):
        assert np.isnan(values).tolist() == [True, True, False]
        assert np.asarray(values)[2] == 1


def test_a_k_far_above_n_takes_no_memory() -> None:
    """What is undefined anyway is not worked out."""
    huge = np.array([2, 10**12])
    for values in (pass_at_k(4, 1, huge), g_pass_at_k(4, 1, huge, 0.5), mg_pass_at_k(4, 1, huge)):
        assert np.isnan(values).tolist() == [False, True]


def test_the_published_definition_of_odd_k_is_kept() -> None:
    """A perfect model's mG-Pass@k is (k - 1)/k for odd k, and 0 for k = 1."""
    k = np.array([1, 2, 3, 4, 5, 15, 16])
    expected = np.where(k % 2 == 1, (k - 1) / k, 1.0)
    np.testing.assert_allclose(mg_pass_at_k(48, 48, k), expected)


def test_arguments_broadcast() -> None:
    """Problems, k and τ may each have their axis; the values are those of scalar calls."""
    n, c = np.array([[6], [9], [48]]), np.array([[2], [9], [30]])
    values = np.asarray(g_pass_at_k(n[..., None], c[..., None], [[4], [6]], [0.0, 0.5, 1.0]))
    assert values.shape == (3, 2, 3)
    for index in np.ndindex(values.shape):
        row, k, tau = index[0], (4, 6)[index[1]], (0.0, 0.5, 1.0)[index[2]]
        assert values[index] == g_pass_at_k(int(n[row, 0]), int(c[row, 0]), k, tau)
    assert np.shape(g_pass_at_k([], [], 4, 0.5)) == (0,)
    assert np.shape(mg_pass_at_k(8, np.zeros((0, 3), dtype=int), 4)) == (0, 3)


def test_the_examples_in_the_docstrings_are_right() -> None:
    """Each docstring's example prints what it says."""
    outcome = doctest.testmod(gpassk)
    assert outcome.attempted >= 4
    assert outcome.failed == 0


def test_scalars_give_python_numbers() -> None:
    """A scalar call returns a float that JSON can hold."""
    for value in (pass_at_k(4, 2, 2), g_pass_at_k(4, 2, 2, 0.5), mg_pass_at_k(4, 2, 2)):
        assert type(value) is float
    assert type(threshold(4, 0.5)) is int


def test_widely_spread_counts_are_told_apart() -> None:
    """Counts too far apart for a lookup table give the values of scalar calls."""
    n = np.array([10, 10**6, 10**9, 10**9])
    c = np.array([5, 5 * 10**5, 5 * 10**8, 0])
    expected = [g_pass_at_k(int(a), int(b), 4, 0.5) for a, b in zip(n, c, strict=True)]
    assert np.asarray(g_pass_at_k(n, c, 4, 0.5)).tolist() == expected
    # With so many samples, drawing without replacement is a coin toss.
    assert expected[2] == pytest.approx(11 / 16, abs=1e-7)


@pytest.mark.parametrize('case', CASES['invalid'], ids=lambda case: case['id'])
def test_an_impossible_argument_is_named(case: dict[str, Any]) -> None:
    """Counts and thresholds that can't be are errors that name field and value."""
    with pytest.raises(ValueError, match=case['message']):
        g_pass_at_k(**case['arguments'])
    if 'tau' not in case['id']:
        arguments = {name: case['arguments'][name] for name in ('n', 'c', 'k')}
        for metric in (pass_at_k, mg_pass_at_k):
            with pytest.raises(ValueError, match=case['message']):
                metric(**arguments)


@pytest.fixture
def published() -> dict[str, Any]:
    """Return the values that other projects' tests assert."""
    folder = os.environ.get('GPASSK_TEST_DATA')
    if not folder:
        pytest.skip('GPASSK_TEST_DATA is not set')
    path = Path(folder) / 'gpassk_reference/metric_values.json'
    return dict(json.loads(path.read_text('utf-8')))


def test_other_projects_agree(published: dict[str, Any]) -> None:
    """The values asserted in lighteval's tests come out."""
    for case in published['lighteval']:
        n, c, k = case['n'], case['c'], case['k']
        np.testing.assert_allclose(g_pass_at_k(n, c, k, TAUS), case['g'], atol=1e-5)
        assert mg_pass_at_k(n, c, k) == pytest.approx(case['mg'], abs=1e-6)


def test_means_over_problems_agree(published: dict[str, Any]) -> None:
    """The means over two problems asserted in scorio's tests come out."""
    results = np.array(published['scorio']['results'])
    n, c = results.shape[1], results.sum(axis=1)
    for name, expected in published['scorio']['values'].items():
        metric, rest = name.split('@')
        if metric == 'mG':
            values = mg_pass_at_k(n, c, int(rest))
        else:
            k, tau = rest.split('_')
            values = g_pass_at_k(n, c, int(k), float(tau))
        assert np.mean(values) == pytest.approx(expected, abs=1e-6)
