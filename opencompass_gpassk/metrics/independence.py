"""Are the n responses to a problem independent draws? G-Pass@k assumes that they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from opencompass_gpassk.metrics.version_metrics import ratio

LONG_RESPONSE = 200  # characters; an exact copy this long is no coincidence under sampling
GREEDY_SHARE = 0.9
COPY_SHARE = 0.05
COPIED = 0.9  # share of the responses of two models, that can be told from chance, which are equal
NEAR_SHARE = 0.1  # of the long responses, from which near copies are worth a warning
KEPT = 0.9  # of a response, at most, that near copies have in common
COINCIDENCE = 1e-3  # a chance below which replicas are no equals by chance
FEWEST = 10  # problems or long responses below which nothing is concluded


@dataclass(frozen=True)
class Independence:
    """The copies that :func:`audit_independence` found.

    Attributes:
        identical: Share of problems whose whole responses (not cut off) are all the same text, in
            [0, 1]; NaN where no problem has two.
        duplicates: Share of long, whole responses that copy an earlier one to the same problem, in
            [0, 1]; NaN where there is none.
        near: Share of long, whole texts that nearly repeat a different one to the same problem
            (equal :func:`stem`), in [0, 1]; NaN where there is none.
        elsewhere: Long, whole texts that are responses to two problems or more.
        repeated_replicas: Replicas that give an earlier replica's response to every problem.
        chance: About how likely any two replicas would be equal if all were independent, from how
            often the different ones agree: many short answers, and many that are cut off soon, are
            alike.
        problems: Problems with at least two responses.
        whole: Problems with at least two whole responses.
        long_responses: Whole responses of at least ``LONG_RESPONSE`` characters.
        replicas: Replicas seen.
    """

    identical: float
    duplicates: float
    near: float
    elsewhere: int
    repeated_replicas: int
    chance: float
    problems: int
    whole: int
    long_responses: int
    replicas: int

    @property
    def copies(self) -> str:
        """Why the samples are no independent draws, so that nothing is said on these problems.

        '' if nothing shows it. An equal text is no copy by itself: models repeat short answers, and
        long ones at a low temperature.
        """
        if self.repeated_replicas and self.problems >= FEWEST and self.chance < COINCIDENCE:
            return (
                f'{self.repeated_replicas} of {self.replicas} replicas repeat an earlier replica '
                'word for word on every problem: this looks like a repeated seed'
            )
        if self.identical == 1 and min(self.whole, self.long_responses) >= FEWEST:
            return (
                f'the {self.replicas} responses to a problem are identical, on every problem: this '
                'looks like greedy decoding'
            )
        if self.elsewhere:
            return (
                f'long responses that are equal under several problems: {self.elsewhere}; check '
                'that none belongs to another problem'
            )
        return ''

    def warning(self) -> str | None:
        """Return a warning about the likely cause of copies; None if there are few."""
        if self.whole >= FEWEST and self.identical >= GREEDY_SHARE:
            short = '' if self.long_responses else ', unless short answers are so certain'
            return (
                f'{self.identical:.0%} of the problems got {self.replicas} identical responses: '
                f'this looks like greedy decoding, and copies say nothing about stability{short}'
            )
        if self.copies:
            return self.copies
        if self.long_responses >= FEWEST and self.duplicates >= COPY_SHARE:
            return (
                f'{self.duplicates:.0%} of the long responses copy an earlier one to the same '
                'problem: this looks like a repeated seed or nearly greedy decoding'
            )
        if self.long_responses >= FEWEST and self.near >= NEAR_SHARE:
            return (
                f'{self.near:.0%} of the long responses nearly repeat another one to the same '
                'problem: check that none was copied and changed a little'
            )
        return None


def stem(text: str) -> str:
    """Return what near copies of a long response have in common: its beginning in plain form.

    Digits and white space are left out, so that a counter or a blank makes no difference. Of the
    rest it is the longest beginning of at most nine tenths whose length is one of 100, 125, 156, …,
    so that texts of about one length are cut at one place.
    """
    plain = text
    for one in filter(lambda one: one.isdigit() or one.isspace(), set(text)):
        plain = plain.replace(one, '')
    step = math.floor(math.log(max(KEPT * len(plain), 1) / 100, 1.25))
    return plain[: int(100 * 1.25**step)]


def long_texts_shared(first: Iterable[str], second: Iterable[str]) -> int:
    """Return how many long, whole texts two models have in common; none is a coincidence.

    Args:
        first: The texts, or their hashes, of the first model's whole responses of at least
            ``LONG_RESPONSE`` characters.
        second: The same of the second model.
    """
    return len(set(first) & set(second))


def unlinked_translations(
    language: Sequence[str], gold: Sequence[str], question: Sequence[str], rate: ArrayLike
) -> int:
    """Return how many pairs of problems look like translations without a common question.

    A pair has two languages, two questions, and one gold answer that no other problem of these
    languages has. Pairs count if their rates of right samples correlate beyond chance: r·√(N - 1)
    of N unrelated pairs is about normal, and must be improbable.

    Args:
        language: Shape (P,), each problem's language.
        gold: Shape (P,), the gold answers.
        question: Shape (P,), equal labels are versions of one question.
        rate: Shape (P,), shares of right samples; NaN without any.

    Returns:
        The number N; 0 if it is below ``FEWEST`` or the rates don't correlate.
    """
    rates = np.asarray(rate, float)
    by_gold: dict[str, dict[str, list[int]]] = {}
    for place in np.flatnonzero(~np.isnan(rates)).tolist():
        by_gold.setdefault(gold[place], {}).setdefault(language[place], []).append(place)
    pairs = [
        (one[0], other[0])
        for places in by_gold.values()
        for one, other in combinations(places.values(), 2)
        if len(one) == len(other) == 1 and question[one[0]] != question[other[0]]
    ]
    x, y = rates[np.array(pairs, dtype=np.int64).reshape(-1, 2)].T
    if len(pairs) < FEWEST or not (x.std() and y.std()):
        return 0
    strength = float(np.corrcoef(x, y)[0, 1]) * math.sqrt(len(pairs) - 1)
    return len(pairs) if norm.sf(strength) <= COINCIDENCE else 0


def copied(first: Mapping[tuple[str, int], str], second: Mapping[tuple[str, int], str]) -> float:
    """Return the share of responses that two models have in common, if one copies the other.

    Equal seeds make responses equal at the same sample. Chance makes the samples of a problem equal
    whatever their numbers, which says how many of the same number would be equal by chance.

    Args:
        first: Problem and number of the sample → text of the first model's response, or its hash.
        second: The same of the second model.

    Returns:
        The share in [0, 1] of the samples that both have; 0 if chance may have made them equal.
    """
    both = first.keys() & second.keys()
    equal = len(first.items() & second.items())
    if equal < COPIED * len(both):
        return 0.0
    texts: dict[str, tuple[Counter[str], Counter[str]]] = {}
    for place in both:
        counts = texts.setdefault(place[0], (Counter(), Counter()))
        for of_model, count in zip((first, second), counts, strict=True):
            count[of_model[place]] += 1
    chance = sum(sum(a[text] * b[text] for text in a) / a.total() for a, b in texts.values())
    beyond = len(both) - chance
    return equal / len(both) if FEWEST <= beyond <= (equal - chance) / COPIED else 0.0


def audit_independence(
    problem: NDArray[np.int64],
    replica: NDArray[np.int64],
    text: NDArray[np.int64],
    length: NDArray[np.int64],
    cut_off: NDArray[np.bool_],
    stems: NDArray[np.int64] | None = None,
) -> Independence:
    """Look for copies among the responses of T trials.

    Args:
        problem: Shape (T,), the problem's index.
        replica: Shape (T,), the sample's number.
        text: Shape (T,), an id of the response's text: equal texts share it.
        length: Shape (T,), the response's length in characters.
        cut_off: Shape (T,), whether the response was cut off.
        stems: Shape (T,), an id of each text's :func:`stem`; None if near copies aren't looked for.
    """
    pairs = np.unique(np.stack([problem, text])[:, ~cut_off], axis=1)
    repeated = np.flatnonzero(np.bincount(problem[~cut_off]) > 1)
    distinct = np.bincount(pairs[0], minlength=int(problem.max(initial=-1)) + 1)
    identical = float(np.mean(distinct[repeated] == 1)) if len(repeated) else float('nan')

    long = (length >= LONG_RESPONSE) & ~cut_off
    _, long_counts = np.unique(np.stack([problem[long], text[long]]), axis=1, return_counts=True)
    copies = float(np.sum(long_counts - 1) / np.sum(long)) if long.any() else float('nan')

    alike = np.stack([problem, text, text if stems is None else stems])[:, long]
    different = np.unique(alike, axis=1)
    near = ratio(different.shape[1] - np.unique(different[[0, 2]], axis=1).shape[1], long.sum())
    places = np.unique(np.unique(different[:2], axis=1)[1], return_counts=True)[1]

    # One column per replica. A missing trial gets a number that no text has, so that it differs.
    problems, row = np.unique(problem, return_inverse=True)
    replicas, column = np.unique(replica, return_inverse=True)
    grid = np.broadcast_to(-1 - np.arange(len(replicas)), (len(problems), len(replicas))).copy()
    grid[row.reshape(-1), column.reshape(-1)] = text
    # How many pairs of different replicas agree on each problem; copies would count twice.
    columns = np.unique(grid, axis=1)
    drawn = columns.shape[1]
    times = [np.unique(texts, return_counts=True)[1] for texts in columns]
    agree = np.array([(one * (one - 1)).sum() for one in times])
    logs = np.log(np.maximum(agree, 0.5) / max(drawn * (drawn - 1), 1)) * (drawn > 1)
    return Independence(
        identical=identical,
        duplicates=copies,
        near=float(near),
        elsewhere=int((places > 1).sum()),
        repeated_replicas=len(replicas) - drawn if len(grid) else 0,
        chance=len(replicas) ** 2 / 2 * float(np.exp(logs.sum())),
        problems=int((np.bincount(problem) > 1).sum()),
        whole=len(repeated),
        long_responses=int(long.sum()),
        replicas=len(replicas),
    )
