"""Are the n responses to a problem independent draws? G-Pass@k assumes that they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONG_RESPONSE = 200  # characters; an exact copy this long is no coincidence under sampling
GREEDY_SHARE = 0.9
COPY_SHARE = 0.05
COPIED = 0.9  # share of the responses of two models, that can be told from chance, which are equal
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
    repeated_replicas: int
    chance: float
    problems: int
    whole: int
    long_responses: int
    replicas: int

    def warning(self) -> str | None:
        """Return a warning about the likely cause of copies; None if there are few."""
        if self.whole >= FEWEST and self.identical >= GREEDY_SHARE:
            short = '' if self.long_responses else ', unless short answers are so certain'
            return (
                f'{self.identical:.0%} of the problems got {self.replicas} identical responses: '
                f'this looks like greedy decoding, and copies say nothing about stability{short}'
            )
        seen = self.problems >= FEWEST and self.chance < COINCIDENCE
        if self.repeated_replicas and seen:
            return (
                f'{self.repeated_replicas} of {self.replicas} replicas repeat an earlier replica '
                'word for word on every problem: this looks like a repeated seed'
            )
        if self.long_responses >= FEWEST and self.duplicates >= COPY_SHARE:
            return (
                f'{self.duplicates:.0%} of the long responses copy an earlier one to the same '
                'problem: this looks like a repeated seed or nearly greedy decoding'
            )
        return None


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
) -> Independence:
    """Look for copies among the responses of T trials.

    Args:
        problem: Shape (T,), the problem's index.
        replica: Shape (T,), the sample's number.
        text: Shape (T,), an id of the response's text: equal texts share it.
        length: Shape (T,), the response's length in characters.
        cut_off: Shape (T,), whether the response was cut off.
    """
    pairs = np.unique(np.stack([problem, text])[:, ~cut_off], axis=1)
    repeated = np.flatnonzero(np.bincount(problem[~cut_off]) > 1)
    distinct = np.bincount(pairs[0], minlength=int(problem.max(initial=-1)) + 1)
    identical = float(np.mean(distinct[repeated] == 1)) if len(repeated) else float('nan')

    long = (length >= LONG_RESPONSE) & ~cut_off
    _, long_counts = np.unique(np.stack([problem[long], text[long]]), axis=1, return_counts=True)
    copies = float(np.sum(long_counts - 1) / np.sum(long)) if long.any() else float('nan')

    # One column per replica. A missing trial gets a number that no text has, so that it differs.
    problems, row = np.unique(problem, return_inverse=True)
    replicas, column = np.unique(replica, return_inverse=True)
    grid = np.broadcast_to(-1 - np.arange(len(replicas)), (len(problems), len(replicas))).copy()
    grid[row.reshape(-1), column.reshape(-1)] = text
    # How many pairs of different replicas agree on each problem; copies would count twice.
    different = np.unique(grid, axis=1)
    drawn = different.shape[1]
    times = [np.unique(texts, return_counts=True)[1] for texts in different]
    agree = np.array([(one * (one - 1)).sum() for one in times])
    logs = np.log(np.maximum(agree, 0.5) / max(drawn * (drawn - 1), 1)) * (drawn > 1)
    return Independence(
        identical=identical,
        duplicates=copies,
        repeated_replicas=len(replicas) - drawn if len(grid) else 0,
        chance=len(replicas) ** 2 / 2 * float(np.exp(logs.sum())),
        problems=int((np.bincount(problem) > 1).sum()),
        whole=len(repeated),
        long_responses=int(long.sum()),
        replicas=len(replicas),
    )
