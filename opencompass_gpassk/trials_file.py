"""The file of a trial table: gzipped JSON lines, from which every figure can be computed again."""

from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from opencompass_gpassk.stored_files import MOST_PROBLEMS, TRIALS, stored_lines
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

__all__ = ['read_trials', 'write_trials']

NoneType = type(None)
FORMAT = 1
# What each field may be: whatever reads the file would stumble over anything else.
OF_PROBLEM: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(('problem_id', 'question', 'gold', 'cluster', 'version', 'language'), (str,)),
    'groups': (dict,),
}
OF_TRIAL: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(('problem_id', 'verdict', 'source', 'reason', 'unscored', 'response'), (str,)),
    'answer': (str, NoneType),
    'replica': (int,),
    'answer_class': (int,),
    'lost': (bool,),
    'truncated': (bool, int, NoneType),
    'num_tokens': (int, float, NoneType),
    'values': (dict,),
}
MOST_ENTRIES = {'groups': 32, 'values': 5}  # of a problem and of a trial
MOST_NAMES = 5000  # of groups and values in a file
LONGEST = 200  # characters of a message
REMEDY = 'make it again with gpassk rescore or gpassk score -o'


def write_trials(path: Path, table: TrialTable, meta: dict[str, object]) -> None:
    """Write a table as gzipped JSON lines: one ``meta`` line, the problems, the trials.

    The file appears whole or not at all. Fields at their default are left out.
    """
    part = path.with_name(f'{path.name}.{os.getpid()}.part')
    with gzip.open(part, 'wt', encoding='ascii', newline='\n') as file:
        file.write(json.dumps({'kind': 'meta', 'format': FORMAT, **meta}) + '\n')
        for problem in table.problems:
            file.write(_line('problem', problem, Problem('')))
        for trial in table.trials:
            file.write(_line('trial', trial, Trial('', -1, Verdict.UNJUDGED, source='')))
    part.replace(path)


def read_trials(path: Path) -> tuple[TrialTable, dict[str, object]]:
    """Read what :func:`write_trials` wrote.

    Raises:
        ValueError: If the file can't be read; with its name, what is wrong, and in which line.
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
            elif kind == 'problem':
                problems.append(Problem(**_checked(row, OF_PROBLEM, names)))
                if len(problems) > MOST_PROBLEMS:
                    raise ValueError(f'it has more than {MOST_PROBLEMS} problems')
            elif kind == 'trial':
                row = _checked(row, OF_TRIAL, names)
                row['verdict'] = Verdict(row['verdict'])
                row['problem_id'] = sys.intern(row['problem_id'])
                trials.append(Trial(**row))
            else:
                raise ValueError(f'unknown kind {kind!r}')
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise _fault(f'{path}, line {number}', error) from error
    try:
        return TrialTable(problems, trials), meta
    except ValueError as error:
        raise _fault(str(path), error) from error


def _fault(place: str, error: Exception) -> ValueError:
    told = str(error)[:LONGEST]
    return ValueError(f'{place}: not a trials file of format {FORMAT}: {told}; {REMEDY}')


def _checked(
    row: dict[str, Any], kinds: Mapping[str, tuple[type, ...]], names: dict[str, str]
) -> dict[str, Any]:
    """Return a row whose fields are of these types; what groups and values are called is shared."""
    for name, value in row.items():
        kind = type(value)
        if kind not in kinds[name] or (kind is int and not _is_int64(value)):
            raise ValueError(f'field {name} is {repr(value)[:60]}')
        if kind is dict:
            row[name] = {
                names.setdefault(key, key): _entry(name, one, names) for key, one in value.items()
            }
            if len(value) > MOST_ENTRIES[name] or len(names) > MOST_NAMES:
                raise ValueError(f'field {name} holds more names than any data set has')
    return row


def _entry(name: str, value: Any, names: dict[str, str]) -> Any:
    """Return a group's name, or a number."""
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
