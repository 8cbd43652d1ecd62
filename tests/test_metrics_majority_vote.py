"""cons@k and consistency against all draws, one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.metrics.majority_vote import consensus_at_k, consistency, majority_vote
from opencompass_gpassk.results.metric import parse_metric

Sample = tuple[int, bool]  # answer, -1 for none; whether it was judged right
samples = st.lists(st.tuples(st.integers(-1, 3), st.booleans()), min_size=1, max_size=8)


def consensus(problems: list[list[Sample]], k: int, **lacking: np.ndarray) -> np.ndarray:
    """cons@k of problems whose samples are all judged."""
    flat = [sample for of in problems for sample in of]
    index = np.repeat(np.arange(len(problems)), [len(of) for of in problems])
    every = np.ones(len(flat), bool)
    return consensus_at_k(
        index,
        np.array([answer for answer, _ in flat]),
        np.array([right for _, right in flat]),
        every,
        np.full(len(problems), 0.5),
        every & lacking.get('present', every),
        k,
    )


def by_definition(of: list[Sample], k: int) -> float:
    """The mean over all draws of the mean correctness of the leading answers."""
    shares = {a: np.mean([r for answer, r in of if answer == a]) for a, _ in of if a >= 0}
    votes = []
    for draw in combinations([answer for answer, _ in of], k):
        counts = {a: draw.count(a) for a in draw if a >= 0}
        lead = [a for a in counts if counts[a] == max(counts.values())]
        votes.append(np.mean([shares[a] for a in lead]) if lead else 0.0)
    return float(np.mean(votes))


@settings(max_examples=60, deadline=None)
@given(st.lists(samples, min_size=1, max_size=3), st.integers(1, 8))
def test_consensus_is_the_mean_over_all_draws(problems: list[list[Sample]], k: int) -> None:
    """Ties are split, no answer doesn't vote, an answer counts as its share of right verdicts."""
    problems = [*problems, [(0, True)] * 8]  # somebody voted
    found = consensus(problems, k)
    for value, of in zip(found, problems, strict=True):
        if len(of) < k:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(by_definition(of, k), abs=1e-12)


def test_consensus_of_one_is_the_accuracy_and_of_all_the_majority_vote() -> None:
    """Also of 256 samples, where no list of all draws is possible."""
    rng = np.random.default_rng(3)
    n, problems = 256, 12
    answers = np.concatenate(
        [rng.choice(9, n, p=rng.dirichlet(np.ones(9))) for _ in range(problems)]
    )
    right = answers == 0
    flat = list(zip(answers.tolist(), right.tolist(), strict=True))
    of = [flat[i : i + n] for i in range(0, n * problems, n)]
    index, every = np.repeat(np.arange(problems), n), np.ones(n * problems, bool)
    assert consensus(of, 1) == pytest.approx(right.reshape(problems, n).mean(axis=1), abs=1e-12)
    whole = majority_vote(index, answers, right, every, np.full(problems, 0.5))
    assert consensus(of, n) == pytest.approx(whole, abs=1e-12)
    drawn = [
        majority_vote(
            *(np.zeros(16, int), answers[chosen], right[chosen]), np.ones(16, bool), np.array([0.5])
        )[0]
        for chosen in rng.permuted(np.tile(np.arange(n), (4000, 1)), axis=1)[:, :16]
    ]
    assert consensus(of[:1], 16)[0] == pytest.approx(np.mean(drawn), abs=0.03)


def test_a_lost_response_is_not_drawn() -> None:
    """The metric is that of the others; fewer than k of them leave it undefined."""
    of = [(0, True), (0, True), (1, False), (-1, False)]
    present = np.array([True, True, True, False])
    assert consensus([of], 2, present=present) == pytest.approx(consensus([of[:3]], 2))
    assert np.isnan(consensus([of], 4, present=present)).all()


def test_an_answer_without_a_verdict_counts_as_its_chance() -> None:
    """NaN where nobody knows the chance, or no response to the problem has a verdict."""
    answers, nothing = np.array([0, 1]), np.zeros(2, bool)
    judged = np.array([True, False])
    arguments = (np.zeros(2, int), answers, judged, judged)
    for chance in (0.25, np.nan):
        found = consensus_at_k(*arguments, np.array([chance]), ~nothing, 1)
        assert found == pytest.approx([(1 + chance) / 2], nan_ok=True)
    found = consensus_at_k(*arguments[:2], nothing, nothing, np.array([np.nan]), ~nothing, 1)
    assert np.isnan(found).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-1, 3), min_size=2, max_size=8))
def test_consistency_is_the_share_of_pairs_that_agree(answers: list[int]) -> None:
    """Two responses without an answer don't agree, and gold answers play no part."""
    size = len(answers)
    found = consistency(
        *(np.zeros(size, int), np.array(answers), np.zeros(size, bool), np.ones(size, bool)), 1
    )
    pairs = list(combinations(answers, 2))
    assert found == pytest.approx([np.mean([a == b and a >= 0 for a, b in pairs])])


def test_programs_have_neither() -> None:
    """Right responses of which none has an answer: nobody knows which agree."""
    none, right = np.array([-1, -1]), np.array([True, False])
    arguments = (np.zeros(2, int), none, right)
    assert np.isnan(consistency(*arguments, right | True, 1)).all()
    every = np.ones(2, bool)
    assert np.isnan(consensus_at_k(*arguments, every, np.array([0.5]), every, 1)).all()


def test_pass_power_k_is_another_name() -> None:
    """pass^k is G-Pass@k at τ = 1, wherever a metric is named."""
    assert parse_metric('pass^8') == parse_metric('G-Pass@8_1.0')
    assert parse_metric('sound pass^8') == parse_metric('sound G-Pass@8_1.0')
