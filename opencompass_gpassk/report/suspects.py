"""Problems to look at: their gold answer may be wrong, or a model is torn between two answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from opencompass_gpassk.answers.check import canonical_quickly
from opencompass_gpassk.answers.normalise import normalise

NEARLY_ALL = 0.9  # of the samples of a single model that contradicts the gold answer
RARE = 0.1  # greatest share of the samples that give a doubtful gold answer
TORN = 0.3  # least share of the samples that each of two competing answers has
FEWEST = 4  # samples of a model, for fewer tell nothing

T = TypeVar('T')  # what names a model
Answer = tuple[str | None, int, bool]  # the answer, how often it was given, whether it is right


@dataclass(frozen=True)
class Suspect(Generic[T]):
    """A problem whose gold answer is doubtful.

    Attributes:
        answer: The answer that the models agree on instead.
        models: The models that give it most often.
        times: How often it was given by any model.
        right: How often the gold answer was given.
        of: All samples.
    """

    answer: str
    models: tuple[T, ...]
    times: int
    right: int
    of: int


def doubtful_gold(answers: Mapping[T, Sequence[Answer]]) -> Suspect[T] | None:
    """Return what models agree on against the gold answer; None if they don't.

    Several models, or nearly all samples of one, agree on another answer; the gold
    answer is rare, while a common mistake leaves some samples right.

    Args:
        answers: Model → its distinct answers to the problem.
    """
    sampled = {model: found for model, found in answers.items() if _samples(found) >= FEWEST}
    total = sum(map(_samples, sampled.values()))
    right = sum(count for found in sampled.values() for _, count, is_right in found if is_right)
    if not total or right > RARE * total:
        return None
    spelled: dict[str, str] = {}
    modes: dict[str, list[T]] = {}
    times: Counter[str] = Counter()
    nearly_all = set()
    for model, found in sampled.items():
        n = _samples(found)
        wrong: Counter[str] = Counter()
        for text, count, is_right in found:
            if text is not None and not is_right:
                key = canonical_quickly(text) or normalise(text)
                spelled.setdefault(key, text)
                wrong[key] += count
        times += wrong
        for key, count in wrong.most_common(1):
            if 2 * count > n:
                modes.setdefault(key, []).append(model)
                nearly_all |= {key} if count >= NEARLY_ALL * n else set()
    if not modes:
        return None
    key = max(modes, key=lambda one: (len(modes[one]), times[one]))
    if len(modes[key]) == 1 and key not in nearly_all:
        return None
    return Suspect(spelled[key], tuple(modes[key]), times[key], right, total)


def _samples(answers: Sequence[Answer]) -> int:
    return sum(count for _, count, _ in answers)


def competing(answers: Sequence[Answer]) -> bool:
    """Tell whether a model is torn between two answers, each in a good share of its samples."""
    n = _samples(answers)
    of_text: Counter[str] = Counter()
    for text, count, _ in answers:
        if text is not None:
            of_text[text] += count
    most = of_text.most_common(2)
    return n >= FEWEST and len(most) > 1 and most[1][1] >= TORN * n
