"""Problems to look at: their gold answer may be wrong, or a model gives two answers as often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from opencompass_gpassk.answers.check import canonical_quickly
from opencompass_gpassk.answers.normalise import normalise

STRONG = 0.6  # least share of right samples of a model whose answers count against a gold answer
NEARLY_ALL = 0.9  # of the samples of a single such model that contradicts the gold answer
RARE = 0.1  # greatest share of the samples that give a suspect gold answer
SPLIT = 0.3  # least share of the samples that each of two answers has
FEWEST = 4  # samples of a model, for fewer tell nothing
# Mistakes that models share also occur where some samples are right. If right samples are spread
# evenly between none and half, a quarter as many problems have nearly none.
AS_MANY = RARE / (0.5 - RARE)

T = TypeVar('T', bound=Hashable)  # what names a model
Answer = tuple[str | None, int, bool]  # the answer, how often it was given, whether it is right
Answers = Mapping[T, Sequence[Answer]]


@dataclass(frozen=True)
class Suspect(Generic[T]):
    """A problem whose gold answer may be wrong.

    Attributes:
        answer: The answer that models agree on instead.
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

    @property
    def share(self) -> float:
        """The share of all samples that agree on the other answer."""
        return self.times / self.of


def suspect_golds(problems: Sequence[Answers[T]]) -> dict[int, Suspect[T]]:
    """Return place of a problem → why its gold answer may be wrong, the most agreed on first.

    Most of the models that solve at least 60 % of all samples must agree on one
    other answer. The number of mistakes that they share by chance is estimated from problems where
    they agree on another answer, too, but the gold answer is not rare. Of the suspects as many are
    returned as leave half of them right if so many are mistakes.

    Args:
        problems: Of each problem, model → its distinct answers.
    """
    samples: Counter[T] = Counter()
    right: Counter[T] = Counter()
    for one in problems:
        for model, answers in one.items():
            samples[model] += _samples(answers)
            right[model] += _right(answers)
    strong = {model for model, n in samples.items() if n and right[model] >= STRONG * n}
    found: dict[int, Suspect[T]] = {}
    shared = 0  # mistakes where the gold answer is not rare
    for place, one in enumerate(problems):
        of_strong = {m: of for m, of in one.items() if m in strong and _samples(of) >= FEWEST}
        suspect = _agreed(one, of_strong)
        given = sum(map(_right, of_strong.values())) / max(
            sum(map(_samples, of_strong.values())), 1
        )
        if suspect and given <= RARE:
            found[place] = suspect
        elif suspect:
            shared += 1
    most = max(0, round(2 * (len(found) - AS_MANY * shared)))
    ranked = sorted(found.items(), key=lambda item: -item[1].share)
    return dict(ranked[:most])


def _agreed(answers: Answers[T], of_strong: Answers[T]) -> Suspect[T] | None:
    """Return the other answer that most strong models give most often; None without one."""
    spelled: dict[str, str] = {}
    modes = {
        model: found
        for model, of in of_strong.items()
        if 2 * _right(of) < _samples(of)  # else no other answer has more; reading them takes time
        for found in _wrong(of, spelled).most_common(1)
        if 2 * found[1] > _samples(of)
    }
    keys = Counter(key for key, _ in modes.values())
    for key, models in keys.most_common(1):
        alone = len(of_strong) == 1
        sure = all(n >= NEARLY_ALL * _samples(of_strong[m]) for m, (_, n) in modes.items())
        if 2 * models > len(of_strong) and (sure or not alone):
            wrong = {model: _wrong(of, spelled) for model, of in answers.items()}
            return Suspect(
                spelled[key],
                tuple(m for m, of in wrong.items() if of and of.most_common(1)[0][0] == key),
                sum(of[key] for of in wrong.values()),
                sum(map(_right, answers.values())),
                sum(map(_samples, answers.values())),
            )
    return None


def _wrong(answers: Sequence[Answer], spelled: dict[str, str]) -> Counter[str]:
    """Return how often each wrong answer was given; how it was written is added to ``spelled``."""
    found: Counter[str] = Counter()
    for text, count, is_right in answers:
        if text is not None and not is_right:
            key = canonical_quickly(text) or normalise(text)
            spelled.setdefault(key, text)
            found[key] += count
    return found


def _samples(answers: Sequence[Answer]) -> int:
    return sum(count for _, count, _ in answers)


def _right(answers: Sequence[Answer]) -> int:
    return sum(count for _, count, is_right in answers if is_right)


def competing(answers: Sequence[Answer]) -> bool:
    """Tell whether a model gives two answers, each in a good share of its samples."""
    n = _samples(answers)
    of_text: Counter[str] = Counter()
    for text, count, _ in answers:
        if text is not None:
            of_text[text] += count
    most = of_text.most_common(2)
    return n >= FEWEST and len(most) > 1 and most[1][1] >= SPLIT * n
