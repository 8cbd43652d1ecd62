"""Problems to look at: their gold answer may be wrong, or a model is torn between two answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opencompass_gpassk.answers.check import canonical_quickly
from opencompass_gpassk.answers.normalise import normalise

NEARLY_ALL = 0.9  # of the samples of a single model that contradicts the gold answer
TORN = 0.3  # least share of the samples that each of two competing answers has
FEWEST = 4  # samples of a model, for fewer tell nothing

Answer = tuple[str | None, int, bool]  # the answer, how often it was given, whether it is right


@dataclass(frozen=True)
class Suspect:
    """A problem whose gold answer is doubtful.

    Attributes:
        answer: The answer that the models agree on instead.
        models: The models that give it most often.
        times: How often it was given by any model.
        right: How often the gold answer was given.
        of: All samples.
    """

    answer: str
    models: tuple[str, ...]
    times: int
    right: int
    of: int


def doubtful_gold(answers: Mapping[str, Sequence[Answer]]) -> Suspect | None:
    """Return what models agree on against the gold answer; None if they don't.

    Several models, or nearly all samples of one, agree on another answer, which is given more than
    twice as often as the gold answer, by more models than those that mostly give the gold answer.

    Args:
        answers: Model → its distinct answers to the problem.
    """
    spelled: dict[str, str] = {}
    modes: dict[str, list[str]] = {}
    times: Counter[str] = Counter()
    nearly_all = False
    right = total = mostly_right = 0
    for model, found in answers.items():
        n = sum(count for _, count, _ in found)
        if n < FEWEST:
            continue
        total += n
        c = sum(count for _, count, is_right in found if is_right)
        right += c
        mostly_right += 2 * c >= n
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
                nearly_all |= count >= NEARLY_ALL * n
    if not modes:
        return None
    key = max(modes, key=lambda one: (len(modes[one]), times[one]))
    models = modes[key]
    agreed = len(models) > 1 or nearly_all
    if not agreed or times[key] <= 2 * right or len(models) <= mostly_right:
        return None
    return Suspect(spelled[key], tuple(models), times[key], right, total)


def competing(answers: Sequence[Answer]) -> bool:
    """Tell whether a model is torn between two answers, each in a good share of its samples."""
    n = sum(count for _, count, _ in answers)
    of_text: Counter[str] = Counter()
    for text, count, _ in answers:
        if text is not None:
            of_text[text] += count
    most = of_text.most_common(2)
    return n >= FEWEST and len(most) > 1 and most[1][1] >= TORN * n
