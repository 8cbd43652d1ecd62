"""Responses from other programs, as JSON lines of problems with their samples.

A row is ``{"question": …, "answer": …, "samples": [response, …]}``, with an optional ``id`` and
optional groups (``split``, ``language``, ``level``, ``subject``, or a ``groups`` object). Rows of
``gpassk rv generate`` to which ``samples`` were added are versions of their ``group``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from opencompass_gpassk.datasets.data_files import Row
from opencompass_gpassk.datasets.language import language_of
from opencompass_gpassk.datasets.rv_files import Asked, all_or_none, version_id, version_of
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.formats.jsonlines import (
    at_line,
    fields_of,
    input_name,
    numbered_lines,
    parse_row,
)
from opencompass_gpassk.runs.predictions import Response
from opencompass_gpassk.trials import Problem

GROUP_FIELDS = ('split', 'language', 'level', 'subject')


@dataclass(frozen=True)
class SampledProblems:
    """Problems and the responses to them; each response holds its identity.

    Attributes:
        name: The file's or the data set's name.
        problems: P problems.
        responses: T responses.
        model: The model's name, '' if unknown.
        prompts: Whether the questions are the data set's prompts, the same for all models.
        planned: Samples of each problem that the run's config asked for; 0 if unknown.
        gaps: What is missing of them or there twice, in words; '' if nothing.
    """

    name: str
    problems: list[Problem]
    responses: list[Response]
    model: str = ''
    prompts: bool = False
    planned: int = 0
    gaps: str = ''

    @property
    def n(self) -> int:
        """The planned number of samples of a problem, or else the greatest one."""
        return self.planned or max(self._counts().values(), default=0)

    @property
    def uneven(self) -> int:
        """Number of problems with fewer than n samples."""
        counts, n = self._counts(), self.n
        return sum(counts[problem.problem_id] < n for problem in self.problems)

    @property
    def versions(self) -> tuple[str, str]:
        """Hashes of data and prompts, equal for models with the same ones; or 'unknown'.

        They are unknown in a run whose prompts contain a model's template.
        """
        questions = [problem.question for problem in self.problems]
        golds = [problem.gold for problem in self.problems]
        data = (
            golds
            if self.model
            else [text for row in zip(questions, golds, strict=True) for text in row]
        )
        return text_hash(data), text_hash(questions) if self.prompts else 'unknown'

    def _counts(self) -> Counter[str]:
        return Counter(r.identity[0] for r in self.responses if r.identity)


def read_samples(
    path: str, *, skip_bad: bool = False, report: Callable[[str], None] | None = None
) -> SampledProblems:
    """Read problems with their samples from JSON lines.

    Args:
        path: A file, gzipped or not, or ``-`` for standard input.
        skip_bad: Leave malformed rows out and go on.
        report: Takes a message on each row left out.

    Raises:
        ValueError: If a row is malformed, with file, line, field and remedy; or if there is no row.
    """
    name = input_name(path)
    problems: list[Problem] = []
    responses: list[Response] = []
    seen: dict[str, int] = {}
    asked: Asked = {}
    for number, line in numbered_lines(path):
        with at_line(path, number, skip_bad=skip_bad, report=report):
            problem, samples = _row(line, number, asked)
            if problem.problem_id in seen:
                raise ValueError(
                    f'field id: {problem.problem_id!r} is already used in line '
                    f'{seen[problem.problem_id]}; give every problem its own'
                )
            seen[problem.problem_id] = number
            problems.append(problem)
            responses += [
                Response(
                    text=sample or '',
                    location=f'{name}#{number}/{index}',
                    identity=(problem.problem_id, index),
                    lost='' if isinstance(sample, str) else 'the sample is null',
                )
                for index, sample in enumerate(samples)
            ]
    all_or_none(problems, name)
    if not problems:
        raise ValueError(f'{name}: there is no usable row; see gpassk score --help for the format')
    stem = 'samples' if path == '-' else Path(path).name.split('.')[0]
    return SampledProblems(stem, problems, responses)


def _row(line: str, number: int, asked: Asked) -> tuple[Problem, list[str | None]]:
    row = parse_row(line)
    gold = row.get('answer')
    if not isinstance(gold, (str, int, float)) or isinstance(gold, bool):
        raise ValueError(
            f'field answer: the gold answer is missing or not a text; {fields_of(row, "answer")}'
        )
    if not str(gold).strip():
        raise ValueError('field answer: the gold answer is empty; give one')
    samples = row.get('samples')
    if not isinstance(samples, list) or not samples:
        raise ValueError(
            f'field samples: a list of at least one response is needed; {fields_of(row, "samples")}'
        )
    for index, sample in enumerate(samples):
        if not isinstance(sample, str | None):
            raise ValueError(
                f'field samples[{index}]: {type(sample).__name__} is not a text (null is lost)'
            )
    groups = {name: str(row[name]) for name in GROUP_FIELDS if row.get(name) not in (None, '')}
    given = row.get('groups') or {}
    if not isinstance(given, dict):
        raise ValueError('field groups: an object such as {"split": "AMC"} is needed')
    given_id = row.get('id')
    if not isinstance(given_id, str | int | None):
        raise ValueError(f'field id: {given_id!r} is neither a text nor an integer')
    question, language = str(row.get('question') or ''), str(row.get('language') or '')
    known = language or language_of(question)
    cluster, version = version_of(Row('this row', row), known, asked)
    if version and row.get('source'):
        groups.setdefault('split', str(row['source']))
    own_id = version_id(cluster, version, known) if version else str(number)
    problem = Problem(
        problem_id=own_id if given_id is None else str(given_id),
        question=question,
        gold=str(gold),
        groups=groups | {str(key): str(value) for key, value in given.items()},
        cluster=cluster or str(row.get('cluster') or ''),
        version=version,
        language=known if version else language,
    )
    return problem, samples
