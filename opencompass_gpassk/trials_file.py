"""The file of a trial table: gzipped JSON lines, from which every figure can be computed again."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

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
        ValueError: If a line can't be read, naming the file and the line.
    """
    meta: dict[str, object] = {}
    problems: list[Problem] = []
    trials: list[Trial] = []
    for number, line in enumerate(_lines(path), start=1):
        try:
            row = json.loads(line)
            kind = row.pop('kind')
            if kind == 'meta':
                meta = row
            elif kind == 'problem':
                problems.append(Problem(**_checked(row, OF_PROBLEM)))
            elif kind == 'trial':
                trials.append(
                    Trial(**{**_checked(row, OF_TRIAL), 'verdict': Verdict(row['verdict'])})
                )
            else:
                raise ValueError(f'unknown kind {kind!r}')
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(
                f'{path}, line {number}: not a trials file of format {FORMAT}: {error}'
            ) from error
    return TrialTable(problems, trials), meta


def _checked(row: dict[str, Any], kinds: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    for name, value in row.items():
        if type(value) not in kinds[name]:
            raise ValueError(f'field {name} is {repr(value)[:60]}')
    if not -(2**63) <= row.get('answer_class', 0) < 2**63:
        raise ValueError(f'field answer_class is {row["answer_class"]}')
    return row


def _line(kind: str, record: Problem | Trial, default: Problem | Trial) -> str:
    fields = vars(record).items()
    row = {key: value for key, value in fields if value != getattr(default, key)}
    if isinstance(record, Trial):
        row['verdict'] = record.verdict.value
    return json.dumps({'kind': kind, **row}) + '\n'


def _lines(path: Path) -> Iterable[str]:
    with gzip.open(path, 'rt', encoding='utf-8', newline='\n') as file:
        yield from file
