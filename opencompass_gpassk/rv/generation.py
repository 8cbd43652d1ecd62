"""The rows of RV-Bench: of each question the original problem and its versions, with answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from opencompass_gpassk.rv.question import (
    DEFAULT_SEED,
    LANGUAGES,
    PER_GROUP,
    Question,
    Version,
    questions,
    questions_named,
    told_of,
)
from opencompass_gpassk.rv.wording import latex
from opencompass_gpassk.trials import ORIGINAL

DRAWS = 1000  # until a question counts as one that has too few versions


@dataclass(frozen=True)
class PosedQuestion:
    """A question with its numbers: one row of RV-Bench.

    Attributes:
        question: The text.
        answer: The gold answer, LaTeX or plain.
        group: The question's name, which its versions share.
        version: ``original``, or the number of a version, from 1.
        source: ``math``, ``leetcode``, what a file says, or ''.
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
    languages: Sequence[str] = ('en',),
    path: str | None = None,
) -> Iterator[PosedQuestion]:
    """Yield the original and the versions of each question, the same on every machine and Python.

    Args:
        source: ``math``, ``leetcode`` or ``all``.
        per_group: Versions of each question.
        seed: Of the draws.
        names: Questions to take, in this order; by default all of the source.
        languages: ``en``, ``cn`` or both; a version has the same numbers in both.
        path: The user's own file of questions, to which no source applies; it is executed.

    Raises:
        ValueError: If a source, name or language is unknown, a name occurs twice or is of another
            source, or a question has fewer versions, or an error in it.
    """
    if unknown := set(languages) - set(LANGUAGES):
        raise ValueError(f'languages holds {min(unknown)!r}; there are {", ".join(LANGUAGES)}')
    if twice := [name for name in names if list(names).count(name) > 1]:
        raise ValueError(f'names holds {twice[0]} twice; name each question once')
    chosen = questions_named(names, path) if names else questions(source, path)
    for question in chosen:
        if not path and source not in ('all', question.source):
            raise ValueError(
                f'names holds {question.name}, which is of source {question.source!r}, not '
                f'{source!r}; leave it out or take source={question.source!r}'
            )
        posed = versions(question, per_group, seed)
        for language in languages:
            if language not in question.statements:
                raise ValueError(
                    f'{question.place} has no Chinese statement; write it under the English one, '
                    'after an empty line, or ask in English alone'
                )
            for number, version in enumerate(posed):
                yield pose(version, str(number) if number else ORIGINAL, language)


def versions(question: Question, count: int, seed: int = DEFAULT_SEED) -> list[Version]:
    """Return the original and `count` versions of a question, all with different texts.

    The answers of the original and the first five versions differ too, so that no group of five
    can be passed by one answer. The original is drawn as the versions are, by a seed that is always
    the same, so it is neither easier nor harder. Version i depends on the question's name, the seed
    and i, and the versions before it: more versions leave the first ones as they are.

    Raises:
        ValueError: If count is negative, or the question has too few versions.
    """
    if count < 0:
        raise ValueError(f'count is {count}; give the number of versions, from 0')
    found: list[Version] = []
    texts: set[str] = set()
    answers: set[str] = set()
    for index in range(count + 1):
        stream = f'{question.name}/{seed}/{index - 1}' if index else f'{question.name}/{ORIGINAL}'
        rng = Random(stream)
        for _ in range(DRAWS):
            with told_of(question):
                version = question.draw(rng)
                text = version.text() if version else ''
                answer = latex(version.answer) if version else ''
            if version is None or text in texts:
                continue
            if index > PER_GROUP or answer not in answers:
                break
        else:
            raise ValueError(
                f'{question.place} has hardly more than {index} different problems, the '
                f'original included: {DRAWS} draws gave no other; ask for fewer versions'
            )
        found.append(version)
        texts.add(text)
        answers.add(answer)
    return found


def pose(version: Version, name: str, language: str) -> PosedQuestion:
    """Return the row of a question with its numbers."""
    question = version.question
    with told_of(question):
        text = version.text(language)
    return PosedQuestion(
        text,
        latex(version.answer),
        question.name,
        name,
        question.source,
        question.subject,
        str(question.level),
        language,
        dict(version.variables),
    )
