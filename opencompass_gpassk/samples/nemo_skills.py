"""Outputs of NeMo-Skills: ``output-rs<seed>.jsonl``, one file for each seed.

A line is a response; the lines of all seeds have the same problems, perhaps in another order::

    {"problem": "…", "expected_answer": "72", "generation": "…", "num_generated_tokens": 40,
     "finish_reason": "stop", "predicted_answer": "72", "symbolic_correct": true}

A problem is known by its text. In files without ``generation`` the predicted answer stands for the
response. In a folder, the greedy ``output.jsonl`` is no further sample; the seeds in one folder are
one model's. The layout is that of its documentation; the tool needs a server, so no log that it
made was tried.
"""

from __future__ import annotations

import re
from pathlib import Path

from opencompass_gpassk.samples.log_files import (
    Fields,
    Log,
    Stated,
    Tool,
    gold_answers,
    part,
    stated_verdict,
)

SEED = re.compile(r'-rs(\d+)')
VERDICTS = ('symbolic_correct', 'is_correct', 'judge_correct')


def _stated(log: Log) -> Stated:
    return Stated(name=Path(log.path).absolute().parent.name)


def _row(log: Log, number: int, fields: Fields) -> Fields | str:
    seed = SEED.search(Path(log.path).name)
    if 'generation' in fields:
        text = fields['generation']
    else:
        answer = fields.get('predicted_answer')
        text = '' if answer is None else rf'\boxed{{{part(fields, "predicted_answer")}}}'
    theirs = stated_verdict(fields, VERDICTS)
    return {
        'question': part(fields, 'problem'),
        'answer': gold_answers(fields, 'expected_answer'),
        'sample': {
            'text': text,
            'key': f'seed {seed[1]}' if seed else None,
            'tokens': fields.get('num_generated_tokens'),
            'finish_reason': fields.get('finish_reason'),
            'verdict': theirs['verdict'],
        },
        'theirs': theirs['theirs'],
    }


NEMO_SKILLS = Tool(
    'nemo-skills', ['output-rs*.jsonl'], [{'expected_answer', 'problem'}], _stated, _row
)
