"""Time the check of 800 recorded responses, side by side with OpenCompass's MATHVerifyEvaluator.

    GPASSK_TEST_DATA=FOLDER python benchmarks/answers.py

FOLDER holds ``samples/qwen25math_math_100x8.jsonl``: 100 problems of MATH, 8 responses of a model
to each, and whether each was recorded as correct. Both start from the responses' texts, in one
process and one run; the imports of either are left out. Our time holds the start of the worker
processes, which load their libraries anew in every call; how long that takes is printed too.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from opencompass.evaluator.math_evaluator import MATHVerifyEvaluator

from opencompass_gpassk.answers.reader import read_answer
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.worker_pool import check_pairs

FILE = 'samples/qwen25math_math_100x8.jsonl'
ROUNDS = 3

Verdicts = list[bool | None]


def ours(responses: list[str], golds: list[str]) -> Verdicts:
    """Return whether each response is correct, None if the rules can't decide."""
    answers = [read_answer(response) for response in responses]
    pairs = list(zip(golds, answers, strict=True))
    results = check_pairs([(gold, answer) for gold, answer in pairs if answer is not None])
    known = {Relation.SAME: True, Relation.DIFFERENT: False, Relation.UNKNOWN: None}
    return [
        False if answer is None else known[results[gold, answer].relation] for gold, answer in pairs
    ]


def theirs(responses: list[str], golds: list[str]) -> Verdicts:
    """Return the verdicts of OpenCompass, which leaves out the rows whose gold it cannot read."""
    logging.disable(logging.WARNING)  # one for each response
    details = MATHVerifyEvaluator().score(responses, golds)['details']
    if len(details) < len(golds):
        print(f'  OpenCompass left out {len(golds) - len(details)} rows', file=sys.stderr)
    return [bool(detail['correct']) for detail in details]


def timed(
    judge: Callable[[list[str], list[str]], Verdicts], responses: list[str], golds: list[str]
) -> tuple[float, Verdicts]:
    """Return the seconds of one run and its verdicts."""
    start = time.perf_counter()
    verdicts = judge(responses, golds)
    return time.perf_counter() - start, verdicts


def agreement(verdicts: Verdicts, recorded: list[bool]) -> str:
    """Return a text on how many verdicts equal the recorded ones."""
    if len(verdicts) != len(recorded):
        return 'not comparable: rows are missing'
    counts = Counter(
        'unknown' if verdict is None else 'agree' if verdict == label else 'disagree'
        for verdict, label in zip(verdicts, recorded, strict=True)
    )
    return ', '.join(f'{counts[name]} {name}' for name in ('agree', 'disagree', 'unknown'))


def main() -> None:
    """Run both and print times, their ratio and the agreement with the recorded labels."""
    folder = os.environ.get('GPASSK_TEST_DATA')
    if not folder:
        sys.exit(f'set GPASSK_TEST_DATA to the folder with {FILE}')
    lines = (Path(folder) / FILE).read_text(encoding='utf-8').split('\n')
    rows = [json.loads(line) for line in lines if line.strip()]
    responses = [sample for row in rows for sample in row['samples']]
    golds = [row['answer'] for row in rows for _ in row['samples']]
    recorded = [bool(label) for row in rows for label in row['recorded_correct']]
    trials = len(responses)

    start = time.perf_counter()
    check_pairs([('\\sqrt{8}', '2\\sqrt{2}')])
    start_up = time.perf_counter() - start
    runs = [timed(ours, responses, golds) for _ in range(ROUNDS)]
    our_time, our_verdicts = max(seconds for seconds, _ in runs), runs[0][1]
    their_time, their_verdicts = timed(theirs, responses, golds)

    cpus = len(os.sched_getaffinity(0))
    print(f'{trials} responses, {cpus} CPUs; ours is the slowest of {ROUNDS} runs')
    each = [seconds / trials * 1e3 for seconds in (their_time, our_time)]
    print(f'  OpenCompass        {each[0]:8.2f} ms a response   {their_time:6.2f} s')
    print(
        f'  opencompass_gpassk {each[1]:8.2f} ms a response   {our_time:6.2f} s'
        f'   {their_time / our_time:.0f} times faster'
    )
    print(f'    of which about {start_up:.2f} s for a worker to start, check one pair and end')
    print('agreement with the recorded labels')
    print(f'  OpenCompass        {agreement(their_verdicts, recorded)}')
    print(f'  opencompass_gpassk {agreement(our_verdicts, recorded)}')
    for index, (verdict, label) in enumerate(zip(our_verdicts, recorded, strict=True)):
        if verdict is not label:
            answer = read_answer(responses[index])
            print(f'    response {index}: {verdict} for {label}: {golds[index]!r} and {answer!r}')


if __name__ == '__main__':
    main()
