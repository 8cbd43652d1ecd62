"""Responses that were made elsewhere: JSON lines of problems with their samples, and old runs.

A row is ``{"question": …, "answer": …, "samples": [response, …]}``, with an optional ``id`` and
optional groups (``split``, ``language``, ``level``, ``subject``, or a ``groups`` object). An old
run is an OpenCompass work dir whose data sets were repeated by ``n``.
"""

from __future__ import annotations

import gzip
import itertools
import json
import statistics
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.predictions import Response, read_predictions
from opencompass_gpassk.trials import Problem

__all__ = ['SampledProblems', 'read_data_set', 'read_lines', 'read_samples', 'recorded_data_sets']

GROUP_FIELDS = ('split', 'language', 'level', 'subject')


@dataclass(frozen=True)
class SampledProblems:
    """Problems and the responses to them; each response holds its identity.

    Attributes:
        name: What they are: the file's or the data set's name.
        problems: P problems.
        responses: T responses.
        model: Who answered, '' where nobody says.
        prompts: Whether the problems' questions are the prompts, word for word.
    """

    name: str
    problems: list[Problem]
    responses: list[Response]
    model: str = ''
    prompts: bool = False

    @property
    def n(self) -> int:
        """Samples of each problem: the largest number there is."""
        return max(self._counts().values(), default=0)

    @property
    def uneven(self) -> int:
        """How many problems have fewer samples than n."""
        counts, n = self._counts(), self.n
        return sum(counts[problem.problem_id] < n for problem in self.problems)

    def _counts(self) -> Counter[str]:
        return Counter(r.identity[0] for r in self.responses if r.identity)


def read_lines(path: str) -> Iterator[str]:
    """Yield the UTF-8 lines of a file, gzipped or not; ``-`` is standard input.

    Lines end at ``\\n`` alone: a response may hold U+2028 or U+0085. A byte order mark is left out.

    Raises:
        ValueError: If the file is gzipped and damaged.
    """
    with ExitStack() as stack:
        raw: Any = sys.stdin.buffer if path == '-' else stack.enter_context(Path(path).open('rb'))
        packed = raw.peek(2)[:2] == b'\x1f\x8b'
        try:
            for number, line in enumerate(gzip.GzipFile(fileobj=raw) if packed else raw):
                text = line.decode('utf-8', 'surrogateescape')
                yield text if number else text.removeprefix('\ufeff')
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f'{path}: damaged gzip file: {error}') from error


def read_samples(
    path: str, *, skip_bad: bool = False, report: Callable[[str], None] | None = None
) -> SampledProblems:
    """Read problems with their samples from JSON lines.

    Args:
        path: A file, gzipped or not, or ``-`` for standard input.
        skip_bad: Leave malformed rows out and go on.
        report: Is told of each row left out.

    Raises:
        ValueError: If a row is malformed, naming file, line, field and remedy; or if there is none.
    """
    name = 'standard input' if path == '-' else path
    problems: list[Problem] = []
    responses: list[Response] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():  # blank, or the end of a file written on Windows
            continue
        try:
            problem, samples = _row(line, number)
            if problem.problem_id in seen:
                raise ValueError(
                    f'field id: {problem.problem_id!r} stands in line '
                    f'{seen[problem.problem_id]} already; give every problem its own'
                )
        except ValueError as error:
            message = f'{name}, line {number}: {error}'
            if not skip_bad:
                raise ValueError(f'{message} (--skip-bad leaves such rows out)') from error
            if report:
                report(message)
            continue
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
    if not problems:
        raise ValueError(f'{name}: there is no usable row; see gpassk score --help for the format')
    stem = 'samples' if path == '-' else Path(path).name.split('.')[0]
    return SampledProblems(stem, problems, responses)


def recorded_data_sets(folder: Path) -> list[tuple[Path, str]]:
    """Return (``predictions/<model>``, data set) of everything inferred in a run of OpenCompass.

    Args:
        folder: A timestamp folder, or a work dir: its newest run with predictions is taken.

    Raises:
        ValueError: If there are no predictions.
    """
    runs = [folder, *sorted(folder.glob('*/'), reverse=True)]
    for run in runs:
        models = sorted(path for path in run.glob('predictions/*/') if path.is_dir())
        found = [(model, name) for model in models for name in _data_sets(model)]
        if found:
            return found
    raise ValueError(
        f'{folder}: there are no predictions in it; name a timestamp folder of OpenCompass'
    )


def read_data_set(model: Path, name: str) -> SampledProblems:
    """Read the responses of a model to a data set in a run of OpenCompass.

    Problems are told apart by prompt and gold answer, which neither shards nor a ``test_range``
    can shift; their samples are numbered in the order of the files.

    Args:
        model: ``predictions/<model>``.
        name: The data set's abbreviation.

    Raises:
        ValueError: If a record isn't one of generated text, or doesn't hold its prompt.
    """
    responses = read_predictions(model, name).responses
    if all(response.identity for response in responses):
        identities = [response.identity or ('', 0) for response in responses]
    else:
        identities = _identities(responses)
    problems: dict[str, Problem] = {}
    for (problem_id, _), response in zip(identities, responses, strict=True):
        if problem_id not in problems:
            gold = response.record.get('gold')
            text = '' if gold is None else str(gold)
            problems[problem_id] = Problem(problem_id, response.prompt, _final(text))
    identified = [
        replace(response, identity=identity)
        for response, identity in zip(responses, identities, strict=True)
    ]
    return SampledProblems(name, list(problems.values()), identified, model.name, prompts=True)


def _row(line: str, number: int) -> tuple[Problem, list[str | None]]:
    try:
        row = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'not JSON: {error}') from error
    if not isinstance(row, dict):
        raise ValueError(f'a row is an object, not {type(row).__name__}')
    gold = row.get('answer')
    if not isinstance(gold, (str, int, float)) or isinstance(gold, bool):
        raise ValueError('field answer: the gold answer is missing or not a text')
    samples = row.get('samples')
    if not isinstance(samples, list) or not samples:
        raise ValueError('field samples: a list of at least one response is needed')
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
    problem = Problem(
        problem_id=str(number if given_id is None else given_id),
        question=str(row.get('question') or ''),
        gold=str(gold),
        groups=groups | {str(key): str(value) for key, value in given.items()},
        cluster=str(row.get('cluster') or ''),
    )
    return problem, samples


def _refuse(constant: str) -> None:
    raise ValueError(f'{constant} is no number of JSON')


def _data_sets(model: Path) -> list[str]:
    names = set()
    for path in model.glob('*.json'):
        if path.name.startswith('tmp_'):  # the progress of an unfinished inference
            continue
        stem, _, shard = path.stem.rpartition('_')
        is_shard = shard.isdecimal() and (model / f'{stem}_0.json').exists()
        names.add(stem if is_shard and not (model / f'{stem}.json').exists() else path.stem)
    return sorted(names)


def _identities(responses: Sequence[Response]) -> list[tuple[str, int]]:
    """Return (problem_id, replica) of responses that hold their prompt and gold answer.

    Two problems of a data set may read the same: what occurs m times as often as most does is
    taken for m problems, whose responses take turns, as OpenCompass repeats whole data sets.
    """
    asked = []
    for response in responses:
        if not response.prompt:
            raise ValueError(
                f'{response.location}: the record holds no origin_prompt, so nobody can say which '
                'problem it answers; generated responses alone can be scored again'
            )
        asked.append((response.prompt, str(response.record.get('gold'))))
    counts = Counter(asked)
    usual = min(statistics.multimode(counts.values()), default=1)
    twins = {key: count // usual if count % usual == 0 else 1 for key, count in counts.items()}
    first = dict(zip(counts, itertools.accumulate(twins.values(), initial=0), strict=False))
    seen: Counter[tuple[str, str]] = Counter()
    identities = []
    for key in asked:
        replica, twin = divmod(seen[key], twins[key])
        seen[key] += 1
        identities.append((str(first[key] + twin), replica))
    return identities


def _final(gold: str) -> str:
    # GSM8K's gold answer is a worked solution, which OpenCompass cuts off at the evaluation.
    return gold.rsplit('####', 1)[-1].strip()
