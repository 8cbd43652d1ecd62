"""The rows of RV-Bench: of each question the original problem and its versions, with answers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from opencompass_gpassk.rv.question import Question, question_named, questions
from opencompass_gpassk.rv.seeded_versions import DEFAULT_SEED, PER_GROUP, versions
from opencompass_gpassk.rv.wording import latex
from opencompass_gpassk.trials import ORIGINAL

__all__ = ['PosedQuestion', 'generate', 'pose']


@dataclass(frozen=True)
class PosedQuestion:
    """A question with its numbers: one row of RV-Bench.

    Attributes:
        question: The text.
        answer: The gold answer, LaTeX or plain.
        group: The question's name, which its versions share.
        version: ``original``, or the number of a version, from 1.
        source: ``math``, ``leetcode``, or what a file says.
        subject: Of the source.
        level: ``1`` to ``5``, or ``easy``, ``medium``, ``hard``.
        language: ``en`` or ``cn``.
        variables: Name → value, as JSON can hold it.
    """

    question: str
    answer: str
    group: str
    version: str
    source: str = ''
    subject: str = ''
    level: str = ''
    language: str = 'en'
    variables: dict[str, Any] = field(default_factory=dict)

    @property
    def original(self) -> bool:
        """Whether this is the original problem."""
        return self.version == ORIGINAL


def generate(
    source: str = 'all',
    per_group: int = PER_GROUP,
    seed: int = DEFAULT_SEED,
    names: Sequence[str] = (),
) -> Iterator[PosedQuestion]:
    """Yield the original and the versions of each question, the same on every machine and Python.

    Args:
        source: ``math``, ``leetcode`` or ``all``.
        per_group: Versions of each question.
        seed: Of the draws.
        names: Questions to take, in this order; by default all of the source.

    Raises:
        ValueError: If a source or name is unknown, a name occurs twice or is of another source, or
            a question has fewer versions.
    """
    chosen = [question_named(name) for name in names] if names else questions(source)
    if len(set(chosen)) < len(chosen):
        raise ValueError(f'names holds {_twice(names)} twice; name each question once')
    for question in chosen:
        if source not in ('all', question.source):
            raise ValueError(
                f'names holds {question.__name__}, which is of source {question.source!r}, not '
                f'{source!r}; leave it out or take source={question.source!r}'
            )
        yield pose(question(), ORIGINAL)
        for number, version in enumerate(versions(question, per_group, seed), start=1):
            yield pose(version, str(number))


def pose(question: Question, version: str) -> PosedQuestion:
    """Return the row of a question with its numbers."""
    variables = {
        one.name: _json(getattr(question, one.name))
        for one in dataclasses.fields(question)  # type: ignore[arg-type]  # all are dataclasses
    }
    return PosedQuestion(
        question.render(),
        latex(question.solve()),
        type(question).__name__,
        version,
        question.source,
        question.subject,
        str(question.level),
        variables=variables,
    )


def _json(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_json(item) for item in value]
    return str(value) if isinstance(value, Fraction) else value


def _twice(names: Sequence[str]) -> str:
    return next(name for index, name in enumerate(names) if name in names[:index])
