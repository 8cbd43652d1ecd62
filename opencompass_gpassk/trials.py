"""The trial table: one row per response, with everything that the metrics need about it.

Metrics are functions of the table's arrays, mostly of numbers of trials and of correct ones of each
problem; they don't read text.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.formats.stored_files import (
    MOST_PROBLEMS,
    TRIALS,
    stored_lines,
    written_whole,
)

__all__ = [
    'OPEN',
    'ORIGINAL',
    'PEOPLE',
    'SCHEMA',
    'UNDECIDED',
    'UNRECOGNISED',
    'Problem',
    'Trial',
    'TrialTable',
    'Verdict',
    'check_schema',
    'read_meta',
    'read_trials',
    'write_trials',
]

# Version of result JSON and trials files; see docs/results.md. Files without it have version 1.
# Since version 3 it is a text: OpenCompass's summarizer lists every number of a result as a metric.
SCHEMA = '4'

ORIGINAL = 'original'
PEOPLE = 'human'  # source of verdicts that are taken as true
# Sources of verdicts that nobody gave. The response counts as wrong, and is open: it may be right.
UNDECIDED = 'undecided'  # no rule could decide, and the user asked that it count as wrong
UNRECOGNISED = 'unrecognised'  # a finished response in which no final answer was recognised
OPEN = frozenset({UNDECIDED, UNRECOGNISED})


class Verdict(str, Enum):
    """The verdict on one response. ``UNJUDGED`` is not a wrong answer."""

    CORRECT = 'correct'
    INCORRECT = 'incorrect'
    UNJUDGED = 'unjudged'


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem.

    Args:
        problem_id: The problem's id, unique within a table.
        question: The question's text.
        gold: The reference answer.
        groups: Fields for breakdowns, such as ``{'split': 'AMC', 'language': 'en'}``.
        cluster: A label shared by versions of one question, such as translations.
        version: The version of the cluster's question, for problems with random variables:
            ``original`` or a number; '' if the problem has no versions.
        language: The question's language, ``en`` or ``cn``; '' if unknown.
    """

    problem_id: str
    question: str = ''
    gold: str = ''
    groups: dict[str, str] = field(default_factory=dict)
    cluster: str = ''
    version: str = ''
    language: str = ''


@dataclass(slots=True)
class Trial:
    """One response to one problem.

    Args:
        problem_id: The problem's id.
        replica: The number of the sample among the problem's n, from 0.
        verdict: Correct, incorrect or unjudged.
        source: Who judged it: ``rule``, ``judge``, ``human`` or an evaluator's name. If nobody did
            and it counts as wrong: ``unrecognised`` if no final answer was recognised in a finished
            response, ``undecided`` if the rules could not decide and the user asked for that.
        answer: The final answer found in the response, None if there is none.
        end: Without a recognised answer, the end of a response that may hold one; '' otherwise.
        answer_class: A number shared by equivalent answers to one problem; -1 without an answer.
        reason: Why the trial is unjudged, or why the rules decided so; '' otherwise.
        lost: Whether the response is missing since the inference failed.
        truncated: Whether the response reached the length limit; None if unknown.
        num_tokens: Length of the response in tokens; None if unknown.
        prompt_tokens: Length of the prompt in tokens; None if unknown.
        other_verdict: The verdict of another tool, which counts nowhere; None if there is none.
        other_source: Who gave it, such as ``lm-eval: exact_match``; '' if nobody did.
        values: Further numbers: ``validity`` and ``redundancy`` of the reasoning in [0, 1], its
            ``steps`` and ``tokens``.
        unscored: Why the reasoning has no scores; '' if it has, or if scoring was not requested.
        response: File and key of the response, ``file#key``; the file of a result of ``gpassk
            score`` is relative to the result.
        sample_id: The id that another tool gave the response; '' if none did.
        text_hash: A hash of the whole response; '' if it is lost.
        long: Whether it is whole and long: then the same text to another problem, or of another
            model, is a copy.
    """

    problem_id: str
    replica: int
    verdict: Verdict
    source: str = 'rule'
    answer: str | None = None
    end: str = ''
    answer_class: int = -1
    reason: str = ''
    lost: bool = False
    truncated: bool | None = None
    num_tokens: int | None = None
    prompt_tokens: int | None = None
    other_verdict: Verdict | None = None
    other_source: str = ''
    values: dict[str, float] = field(default_factory=dict)
    unscored: str = ''
    response: str = ''
    sample_id: str = ''
    text_hash: str = ''
    long: bool = False

    @property
    def outcome(self) -> str:
        """Source and verdict in words, such as ``rule: correct``."""
        return f'{self.source}: {self.verdict.value}'


class TrialTable:
    """Problems and their trials, with the arrays that metrics are computed from.

    Args:
        problems: P problems; their ids must differ.
        trials: T trials of these problems; each pair (problem, replica) occurs once.

    Raises:
        ValueError: If an id or a pair occurs twice, or a trial names an unknown problem.
    """

    def __init__(self, problems: Sequence[Problem], trials: Sequence[Trial]) -> None:
        self.problems = list(problems)
        self.trials = list(trials)
        index = {problem.problem_id: i for i, problem in enumerate(self.problems)}
        if len(index) < len(self.problems):
            twice = next(p for i, p in enumerate(self.problems) if index[p.problem_id] != i)
            raise ValueError(
                f'problem_id {twice.problem_id!r} occurs twice; give every problem its own id'
            )
        for trial in self.trials:
            if trial.problem_id not in index:
                raise ValueError(f'a trial names problem_id {trial.problem_id!r}, which is unknown')
        self.problem_index: NDArray[np.int64] = np.array(
            [index[trial.problem_id] for trial in self.trials], dtype=np.int64
        )
        replicas = np.array([trial.replica for trial in self.trials], dtype=np.int64)
        order = np.lexsort((replicas, self.problem_index))
        known = (np.diff(self.problem_index[order]) == 0) & (np.diff(replicas[order]) == 0)
        if known.any():
            trial = self.trials[order[1:][known][0]]
            raise ValueError(
                f'problem_id {trial.problem_id!r} has replica {trial.replica} twice; '
                'number the samples of a problem from 0'
            )

    def __len__(self) -> int:
        return len(self.trials)

    @cached_property
    def correct(self) -> NDArray[np.bool_]:
        """Shape (T,): whether the trial is correct."""
        return self._verdict_is(Verdict.CORRECT)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Shape (T,): whether the trial is correct or incorrect, not unjudged."""
        return ~self._verdict_is(Verdict.UNJUDGED)

    @cached_property
    def decided(self) -> NDArray[np.bool_]:
        """Shape (T,): whether someone or a rule has judged the trial; if not, it is open."""
        sources = np.array([trial.source not in OPEN for trial in self.trials], dtype=bool)
        return self.judged & sources

    @cached_property
    def lost(self) -> NDArray[np.bool_]:
        """Shape (T,): whether the response is lost."""
        return np.array([trial.lost for trial in self.trials], dtype=bool)

    @cached_property
    def answer_class(self) -> NDArray[np.int64]:
        """Shape (T,): equivalent answers to one problem share a number; -1 means no answer."""
        return np.array([trial.answer_class for trial in self.trials], dtype=np.int64)

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return ``n`` and ``c``, each of shape (P,): judged and correct trials of each problem."""
        return self.count(self.judged), self.count(self.correct)

    def count(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many trials of each problem are chosen, shape (P,), given a mask of trials."""
        index = self.problem_index[chosen]
        return np.bincount(index, minlength=len(self.problems)).astype(np.int64)

    def values(self, name: str) -> NDArray[np.float64]:
        """Return a number of every trial, such as ``validity``, shape (T,); NaN if missing."""
        return np.array([trial.values.get(name, np.nan) for trial in self.trials], dtype=np.float64)

    def by_problem(self) -> list[list[Trial]]:
        """Return the trials of each problem, in the order of the problems."""
        rows: list[list[Trial]] = [[] for _ in self.problems]
        for index, trial in zip(self.problem_index, self.trials, strict=True):
            rows[index].append(trial)
        return rows

    def _verdict_is(self, verdict: Verdict) -> NDArray[np.bool_]:
        return np.array([trial.verdict is verdict for trial in self.trials], dtype=bool)


NoneType = type(None)
# The types allowed for each field; other types would break the code that uses the file.
OF_PROBLEM: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(('problem_id', 'question', 'gold', 'cluster', 'version', 'language'), (str,)),
    'groups': (dict,),
}
OF_TRIAL: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(('problem_id', 'verdict', 'source', 'end', 'reason'), (str,)),
    **dict.fromkeys(('unscored', 'response', 'sample_id', 'text_hash', 'other_source'), (str,)),
    'answer': (str, NoneType),
    'replica': (int,),
    'answer_class': (int,),
    **dict.fromkeys(('lost', 'long'), (bool,)),
    'truncated': (bool, int, NoneType),
    'num_tokens': (int, float, NoneType),
    'prompt_tokens': (int, NoneType),
    'other_verdict': (str, NoneType),
    'values': (dict,),
}
MOST_ENTRIES = {'groups': 32, 'values': 5}  # entries in one problem and in one trial
MOST_NAMES = 5000  # distinct names of groups and values in a file
LONGEST = 200  # characters of a message
REMEDY = 'delete the result and make it again: opencompass CONFIG -r, or gpassk score -o'


def check_schema(record: Mapping[str, object]) -> None:
    """Raise a ValueError if a result or a trials file has a schema that this version can't read."""
    if (schema := record.get('schema')) != SCHEMA:
        raise ValueError(
            f'schema is {repr(schema)[:40]}, but this version of opencompass-gpassk reads '
            f'{SCHEMA!r}; update opencompass-gpassk, or make the result again'
        )


def write_trials(path: Path, table: TrialTable, meta: dict[str, object]) -> None:
    """Write a table as gzipped JSON lines: one ``meta`` line, the problems, the trials.

    The file is written whole or not at all. Fields with their default value are left out.
    """
    with (
        written_whole(path) as part,
        gzip.open(part, 'wt', encoding='ascii', newline='\n') as file,
    ):
        file.write(json.dumps({'kind': 'meta', 'schema': SCHEMA, **meta}) + '\n')
        for problem in table.problems:
            file.write(_line('problem', problem, Problem('')))
        for trial in table.trials:
            file.write(_line('trial', trial, Trial('', -1, Verdict.UNJUDGED, source='')))


def read_trials(path: Path) -> tuple[TrialTable, dict[str, object]]:
    """Read a file of :func:`write_trials`, and return its table and ``meta`` line.

    Raises:
        ValueError: If the file can't be read; with file, line and reason.
    """
    meta: dict[str, object] = {}
    problems: list[Problem] = []
    trials: list[Trial] = []
    names: dict[str, str] = {}
    for number, line in enumerate(stored_lines(path, TRIALS), start=1):
        try:
            row = json.loads(line)
            kind = row.pop('kind')
            if kind == 'meta':
                meta = row
                check_schema(meta)
            elif kind == 'problem':
                problems.append(Problem(**_checked(row, OF_PROBLEM, names)))
                if len(problems) > MOST_PROBLEMS:
                    raise ValueError(f'it has more than {MOST_PROBLEMS} problems')
            elif kind == 'trial':
                row = _checked(row, OF_TRIAL, names)
                row['verdict'] = Verdict(row['verdict'])
                if row.get('other_verdict') is not None:
                    row['other_verdict'] = Verdict(row['other_verdict'])
                row['problem_id'] = sys.intern(row['problem_id'])
                trials.append(Trial(**{'source': '', **row}))  # as it is left out
            else:
                raise ValueError(f'unknown kind {kind!r}')
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise _fault(f'{path}, line {number}', error) from error
    try:
        return TrialTable(problems, trials), meta
    except ValueError as error:
        raise _fault(str(path), error) from error


def read_meta(path: Path) -> dict[str, Any]:
    """Return the ``meta`` line of a trials file, which comes first.

    Raises:
        ValueError: If it can't be read.
    """
    line = next(stored_lines(path, TRIALS), b'')
    try:
        row = json.loads(line)
        if row.pop('kind') != 'meta':
            raise ValueError('its first line is not meta')
        check_schema(row)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _fault(f'{path}, line 1', error) from error
    return dict(row)


def _fault(place: str, error: Exception) -> ValueError:
    told = str(error)[:LONGEST]
    return ValueError(f'{place}: not a trials file of schema {SCHEMA}: {told}; {REMEDY}')


def _checked(
    row: dict[str, Any], kinds: Mapping[str, tuple[type, ...]], names: dict[str, str]
) -> dict[str, Any]:
    """Return a row after a check of its types; equal names of groups and values share memory."""
    for name, value in row.items():
        kind = type(value)
        if kind not in kinds[name] or (kind is int and not _is_int64(value)):
            raise ValueError(f'field {name} is {repr(value)[:60]}')
        if kind is dict:
            row[name] = {
                names.setdefault(key, key): _entry(name, one, names) for key, one in value.items()
            }
            if len(value) > MOST_ENTRIES[name] or len(names) > MOST_NAMES:
                raise ValueError(f'field {name} holds too many names')
    return row


def _entry(name: str, value: Any, names: dict[str, str]) -> Any:
    """Return a group's value or a number, after a check of its type."""
    if name == 'groups' and isinstance(value, str):
        return names.setdefault(value, value)
    if name == 'values' and (type(value) is float or (type(value) is int and _is_int64(value))):
        return value
    raise ValueError(f'field {name} holds {repr(value)[:60]}')


def _is_int64(value: int) -> bool:
    return -(2**63) <= value < 2**63


def _line(kind: str, record: Problem | Trial, default: Problem | Trial) -> str:
    found = {one.name: getattr(record, one.name) for one in fields(record)}
    row = {key: value for key, value in found.items() if value != getattr(default, key)}
    if isinstance(record, Trial):
        row['verdict'] = record.verdict.value
    return json.dumps({'kind': kind, **row}) + '\n'
