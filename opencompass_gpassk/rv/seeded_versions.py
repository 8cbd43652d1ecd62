"""Versions of a question: the original, and others with numbers drawn by name, seed and index."""

from __future__ import annotations

import random

from opencompass_gpassk.rv.question import Question

__all__ = ['DEFAULT_SEED', 'PER_GROUP', 'DrawingError', 'versions']

DEFAULT_SEED = 42
PER_GROUP = 5
DRAWS = 1000  # until a question counts as one that has too few versions


class DrawingError(ValueError):
    """A question cannot draw as many distinct versions as are wanted."""


def versions(question: type[Question], count: int, seed: int = DEFAULT_SEED) -> list[Question]:
    """Return `count` versions of a question, distinct from one another and from the original.

    They are distinct in their texts. Version i depends on the question's name, the seed and i, and
    the versions before it on which it must not fall: more versions leave the first ones as they
    are, on every machine and Python.

    Raises:
        DrawingError: If the question has too few versions, or one that breaks its constraints only.
        ValueError: If count is negative.
    """
    if count < 0:
        raise ValueError(f'count is {count}; give the number of versions, from 0')
    taken = {question().render()}
    drawn = []
    for index in range(count):
        version = _draw(question, random.Random(f'{question.__name__}/{seed}/{index}'), taken)
        taken.add(version.render())
        drawn.append(version)
    return drawn


def _draw(question: type[Question], rng: random.Random, taken: set[str]) -> Question:
    for _ in range(DRAWS):
        version = question.init(rng)
        if version.holds() and version.render() not in taken:
            return version
    raise DrawingError(
        f'question {question.__name__} has hardly more than {len(taken) - 1} versions: {DRAWS} '
        f'draws gave no other; ask for {len(taken) - 1} at most'
    )
