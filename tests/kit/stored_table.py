"""Results of small tables with known counts and tokens, on disk as ``gpassk score`` leaves them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opencompass_gpassk.responses import Response
from opencompass_gpassk.results.make_result import make_result, store
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

VERDICTS = {'+': Verdict.CORRECT, '-': Verdict.INCORRECT, '?': Verdict.UNJUDGED}


def table_of(marks: Sequence[str], tokens: Sequence[Sequence[int | None]] = ()) -> TrialTable:
    """Problems with a mark for each sample: right (+), wrong (-), no verdict (?), lost (x)."""
    trials = [
        Trial(
            f'p{i}',
            replica,
            VERDICTS.get(mark, Verdict.UNJUDGED),
            answer=None if mark == 'x' else mark,
            answer_class=-1 if mark == 'x' else '+-?'.index(mark),
            lost=mark == 'x',
            num_tokens=tokens[i][replica] if tokens else None,
        )
        for i, of in enumerate(marks)
        for replica, mark in enumerate(of)
    ]
    return TrialTable(
        [Problem(f'p{i}', f'question {i}', 'gold') for i in range(len(marks))], trials
    )


def write_result(path: Path, table: TrialTable, k: Sequence[int]) -> dict[str, Any]:
    """Leave a table's result and trials; return the result."""
    responses = [
        Response(
            f'{one.problem_id} {one.replica}', '', (one.problem_id, one.replica), 'lost' * one.lost
        )
        for one in table.trials
    ]
    result = make_result(
        table,
        Protocol(n=len(table.trials) // len(table.problems), k=tuple(k)),
        responses,
        benchmark='exam',
        data_version='1:abcdef',
        judge='rule',
        prompt='9c01aa52',
        judging={'mode': 'rule', 'match': 'value', 'unjudged': {}},
    )
    made = store(path.with_name(f'{path.stem}.trials.jsonl.gz'), table, result).as_json()
    path.write_text(json.dumps(made), 'utf-8')
    return made
