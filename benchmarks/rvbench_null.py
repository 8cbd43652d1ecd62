"""Are the originals of RV-Bench like their versions, and is memory found where it is?

    python -m benchmarks.rvbench_null

It prints the place of each original among its versions, and what two simulated models get whose
chance to solve a problem falls as its numbers grow: one without memory, for which SP - RV and
OOR less chance should be 0, and one that knows a third of the originals by heart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.understanding import original_only_by_chance, original_only_ratio
from opencompass_gpassk.rv.generation import versions
from opencompass_gpassk.rv.question import Question, Version, questions

SEEDS = range(30)
PER_GROUP = 5
MODELS = 200  # simulated models of each kind

Values = NDArray[np.float64]


def largest(value: Any) -> float:
    """Return the largest number of a variable's value, by size."""
    if isinstance(value, (list, tuple)):
        return max(map(largest, value), default=0.0)
    return abs(float(value)) if not isinstance(value, str) else float(len(value))


def size(version: Version) -> float:
    """Return the largest variable of a version."""
    return max(map(largest, version.variables.values()))


def percentile(question: Question, seeds: Iterable[int]) -> float:
    """Return the place of the original's largest variable among the versions', from 0 to 1."""
    drawn = [versions(question, PER_GROUP, seed) for seed in seeds]
    own = size(drawn[0][0])
    others = [size(version) for group in drawn for version in group[1:]]
    return float(np.mean([(other < own) + 0.5 * (other == own) for other in others]))


def simulated(groups: Sequence[Sequence[Version]], learnt: float, seed: int) -> tuple[Values, ...]:
    """Return SP - RV and OOR less chance of a model, each with its standard error, in points.

    Args:
        groups: The original and the versions of each question.
        learnt: Share of the originals that the model knows by heart.
        seed: Of the model's ability, and of what it solves and knows.
    """
    rng = np.random.default_rng(seed)
    sizes = np.array([[size(version) for version in group] for group in groups])
    ranks = sizes.argsort(axis=1).argsort(axis=1) / (sizes.shape[1] - 1)
    ability = rng.normal(0, 1) + rng.normal(0, 1.5, (len(groups), 1))
    right = rng.random(ranks.shape) < 1 / (1 + np.exp(2 * (ranks - 0.5) - ability))
    right[:, 0] |= rng.random(len(groups)) < learnt
    c, original = right[:, 1:].astype(int), right[:, 0].astype(int)
    ones = np.ones_like(c), np.ones_like(original)
    counts = ones[0], c, ones[1], original
    drop = original - c.mean(axis=1)
    excess = original_only_ratio(*counts) - original_only_by_chance(*counts)
    return tuple(
        100 * np.array([one.mean(), one.std(ddof=1) / np.sqrt(len(one))]) for one in (drop, excess)
    )


def main() -> None:
    """Print the tables."""
    found = questions()
    places = [percentile(question, SEEDS) for question in found]
    print(
        f'{len(found)} questions, {len(SEEDS)} seeds: largest variable of an original at the '
        f'{100 * np.mean(places):.1f}th percentile of its versions; '
        f'{sum(one < 0.1 for one in places)} below the 10th, {sum(one > 0.9 for one in places)} '
        'above the 90th'
    )
    groups = [versions(question, PER_GROUP) for question in found]
    for name, learnt in (('without memory', 0.0), ('knows a third by heart', 1 / 3)):
        models = [simulated(groups, learnt, seed) for seed in range(MODELS)]
        for metric, label in ((0, 'SP - RV'), (1, 'OOR less chance')):
            means, errors = np.array([model[metric] for model in models]).T
            beyond = np.mean(np.abs(means) > 2 * errors)
            print(
                f'{name:24}{label:18} mean {means.mean():6.2f} points, beyond two standard errors '
                f'of 0: {100 * beyond:.1f} % of {MODELS} models'
            )


if __name__ == '__main__':
    main()
