"""Responses that were made elsewhere: JSON lines of problems with their samples, and old runs.

A row is ``{"question": …, "answer": …, "samples": [response, …]}``, with an optional ``id`` and
optional groups (``split``, ``language``, ``level``, ``subject``, or a ``groups`` object). An old
run is an OpenCompass work dir whose data sets were repeated by ``n``.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.predictions import Response, read_predictions
from opencompass_gpassk.trials import Problem

__all__ = ['SampledProblems', 'read_lines', 'read_run', 'read_samples']

GROUP_FIELDS = ('split', 'language', 'level', 'subject')


@dataclass(frozen=True)
class SampledProblems:
    """Problems and the responses to them; each response holds its identity.

    Attributes:
        name: What they are: the file's or the data set's name.
        problems: P problems.
        responses: T responses.
        model: Who answered, '' where nobody says.
    """

    name: str
    problems: list[Problem]
    responses: list[Response]
    model: str = ''

    @property
    def n(self) -> int:
        """Samples of each problem: the largest number there is."""
        counts = Counter(r.identity[0] for r in self.responses if r.identity)
        return max(counts.values(), default=0)

    @property
    def uneven(self) -> int:
        """How many problems have fewer samples than n."""
        counts = Counter(r.identity[0] for r in self.responses if r.identity)
        return sum(counts[problem.problem_id] < self.n for problem in self.problems)


def read_lines(path: str) -> Iterator[str]:
    """Yield the UTF-8 lines of a file, gzipped or not; ``-`` is standard input.

    Lines end at ``\\n`` alone: a response may hold U+2028 or U+0085.
    """
    with ExitStack() as stack:
        raw: Any = sys.stdin.buffer if path == '-' else stack.enter_context(Path(path).open('rb'))
        packed = raw.peek(2)[:2] == b'\x1f\x8b'
        for line in gzip.GzipFile(fileobj=raw) if packed else raw:
            yield line.decode('utf-8', 'surrogateescape')


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
        if not line.strip():
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


def read_run(folder: Path) -> Iterator[SampledProblems]:
    """Read every (model, data set) with predictions in a run of OpenCompass.

    Problems are told apart by prompt and gold answer, which neither shards nor a ``test_range``
    can shift; their samples are numbered in the order of the files.

    Args:
        folder: A timestamp folder, or a work dir: its newest run with predictions is taken.

    Raises:
        ValueError: If there are no predictions.
    """
    runs = [folder] if (folder / 'predictions').is_dir() else sorted(folder.glob('*/predictions'))
    if not runs:
        raise ValueError(
            f'{folder}: there is no folder predictions in it; '
            'name a timestamp folder of OpenCompass'
        )
    predictions = runs[-1] if runs[-1].name == 'predictions' else runs[-1] / 'predictions'
    for model in sorted(path for path in predictions.iterdir() if path.is_dir()):
        for name in _data_sets(model):
            yield _group(read_predictions(model, name).responses, name, model.name)


def _row(line: str, number: int) -> tuple[Problem, list[str | None]]:
    try:
        row = json.loads(line)
    except ValueError as error:
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
    problem = Problem(
        problem_id=str(row.get('id', number)),
        question=str(row.get('question') or ''),
        gold=str(gold),
        groups=groups | {str(key): str(value) for key, value in given.items()},
        cluster=str(row.get('cluster') or ''),
    )
    return problem, samples


def _data_sets(model: Path) -> list[str]:
    names = set()
    for path in model.glob('*.json'):
        stem, _, shard = path.stem.rpartition('_')
        is_shard = shard.isdigit() and stem and not (model / f'{stem}.json').exists()
        names.add(stem if is_shard else path.stem)
    return sorted(names)


def _group(responses: Iterable[Response], name: str, model: str) -> SampledProblems:
    problems: dict[object, Problem] = {}
    counts: Counter[str] = Counter()
    identified = []
    key: object
    for response in responses:
        question = _prompt_text(response.record.get('origin_prompt'))
        gold = str(response.record.get('gold', ''))
        if response.identity:
            problem_id = key = response.identity[0]
        else:
            problem_id, key = str(len(problems)), (question, gold)
        problem = problems.setdefault(key, Problem(problem_id, question, gold))
        replica = counts[problem.problem_id]
        counts[problem.problem_id] += 1
        identified.append(replace(response, identity=(problem.problem_id, replica)))
    return SampledProblems(name, list(problems.values()), identified, model)


def _prompt_text(prompt: Any) -> str:
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, list):
        parts = [p.get('prompt') or p.get('content') if isinstance(p, dict) else p for p in prompt]
        return '\n'.join(str(part) for part in parts if part)
    return str(prompt)
