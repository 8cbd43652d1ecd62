"""Judge labelled responses of real models by our rules, Math-Verify and OpenCompass, side by side.

    GPASSK_TEST_DATA=FOLDER python benchmarks/responses.py > benchmarks/responses.md

FOLDER holds ``responses/real.jsonl`` and ``more.jsonl``: rows with ``gold``, ``answer`` (the raw
response), ``question``, ``label`` (whether it is right) and ``kind`` (where it is from). Each judge
starts from the text of the response. For each kind it prints how many right responses are called
right and wrong, and how many wrong ones right. The rest is undecided: ours are unjudged, or open
since no final answer was recognised; Math-Verify reads no answer; OpenCompass leaves the row out.

Then the right responses are cut at random places, and judged with and without being told so.
"""

from __future__ import annotations

import json
import logging
import os
import random
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import Any

from math_verify import parse, verify
from opencompass.evaluator.math_evaluator import MATHVerifyEvaluator

from opencompass_gpassk.judging.judge import Candidate
from opencompass_gpassk.judging.pipeline import Pipeline
from opencompass_gpassk.judging.rules import final_answer
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.trials import OPEN, Verdict

FILES = ('responses/real.jsonl', 'responses/more.jsonl')
Row = dict[str, Any]
Verdicts = list[bool | None]


def read(row: Row) -> str | None:
    """Return the final answer of a row's response."""
    cut_off = row.get('cut_off')
    return final_answer(row['answer'], processed=False, question=row['question'], truncated=cut_off)


def ours(rows: list[Row]) -> Verdicts:
    """Return whether each response is right; None if it is unjudged or open."""
    candidates = [Candidate(row['question'], row['gold'], read(row), row['answer']) for row in rows]
    known = {Verdict.CORRECT: True, Verdict.INCORRECT: False, Verdict.UNJUDGED: None}
    judged = Pipeline(JudgeSettings(mode='rule')).run(candidates).judgements
    return [None if one.source in OPEN else known[one.verdict] for one in judged]


def math_verify(rows: list[Row]) -> Verdicts:
    """Return Math-Verify's verdicts, None where it reads nothing in one of both."""
    found: Verdicts = []
    for row in rows:
        gold, answer = parse(f'${row["gold"]}$'), parse(row['answer'])
        found.append(verify(gold, answer) if gold and answer else None)
    return found


def opencompass(rows: list[Row]) -> Verdicts:
    """Return the verdicts of OpenCompass's evaluator, asked about each row alone."""
    found: Verdicts = []
    for row in rows:
        details = MATHVerifyEvaluator().score([row['answer']], [row['gold']])['details']
        found.append(bool(details[0]['correct']) if details else None)
    return found


def cut_at_random(rows: list[Row], flag: bool) -> list[Row]:
    """Return the right responses, each cut between a tenth and nine tenths of its length."""
    draw = random.Random(0)
    right = [row for row in rows if row['label']]
    shares = [draw.uniform(0.1, 0.9) for _ in right]
    return [
        {**row, 'answer': row['answer'][: int(len(row['answer']) * share)], 'cut_off': flag}
        for row, share in zip(right, shares, strict=True)
    ]


def main() -> None:
    logging.disable(logging.ERROR)  # of Math-Verify and OpenCompass, one for each row
    folder = Path(os.environ['GPASSK_TEST_DATA'])
    lines = [line for file in FILES for line in (folder / file).read_text('utf-8').splitlines()]
    rows = [{**row, 'gold': str(row['gold'])} for row in map(json.loads, lines)]
    print(f'# Labelled responses\n\n{(__doc__ or "").strip()}\n')
    columns = []
    for judge in (ours, math_verify, opencompass):
        start = time.perf_counter()
        columns.append(judge(rows))
        print(f'- {judge.__name__}: {time.perf_counter() - start:.1f} s for {len(rows)} rows')
    times = []
    for row in rows:
        start = time.perf_counter()
        read(row)
        times.append(1000 * (time.perf_counter() - start))
    told = f'median {statistics.median(times):.1f} ms, most {max(times):.0f} ms'
    print(f'- reading a response: {told}\n')
    names = ' | '.join(judge.__name__ for judge in (ours, math_verify, opencompass))
    print(f'| from | right | {names} |\n{"|---" * 5}|')
    for kind in (*dict.fromkeys(row['kind'] for row in rows), 'all'):
        chosen = [i for i, row in enumerate(rows) if kind in (row['kind'], 'all')]
        right = sum(rows[i]['label'] for i in chosen)
        cells = []
        for verdicts in columns:
            said = Counter((bool(rows[i]['label']), verdicts[i]) for i in chosen)
            cells.append(f'{said[True, True]} / {said[True, False]} / {said[False, True]}')
        print(f'| {kind} | {right} of {len(chosen)} | {" | ".join(cells)} |')
    for flag in (True, False):
        answered = [row for row in cut_at_random(rows, flag) if read(row) is not None]
        found = Counter(ours(answered))
        print(f'\ncut at random, {flag=}: {found[True]} read as right, {found[False]} as wrong')


if __name__ == '__main__':
    main()
