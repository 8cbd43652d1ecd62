"""Files of other tools that are rows as ours, but for the names of their fields.

Outputs of NeMo-Skills, ``output-rs<seed>.jsonl``, one file for each seed. A problem is known by its
text, since seeds may have lost rows, or others' order. In a folder, the greedy ``output.jsonl`` is
no further sample::

    {"problem": "…", "expected_answer": "72", "generation": "…", "num_generated_tokens": 40,
     "finish_reason": "stop", "predicted_answer": "72", "symbolic_correct": true}

A file of predictions of OpenCompass, of any version, without the run that it is from. It holds
records by number; gold answers that it lacks, as those of 2023 do, stand in a second file::

    {"0": {"origin_prompt": [{"role": "HUMAN", "prompt": "…"}], "prediction": "…", "gold": "72"}}
"""

from __future__ import annotations

from pathlib import Path

from opencompass_gpassk.responses import Response
from opencompass_gpassk.samples.log_files import Fields, Log, Stated, Tool, renamed

COLUMNS = {
    'question': 'problem',
    'answer': 'expected_answer',
    'sample': 'generation',
    'tokens': 'num_generated_tokens',
    'finish_reason': 'finish_reason',
}
VERDICTS = ('judge_correct', 'is_correct', 'symbolic_correct')  # the last that is there counts


def _seeds(log: Log, fields: Fields) -> Fields | str:
    row = renamed(fields, COLUMNS)
    # A file of a seed holds one sample of each problem; of two problems with one text, two.
    asked = str(row.get('question'))
    turn = log.kept[asked] = log.kept.get(asked, 0) + 1
    row['key'] = f'{Path(log.path).stem}, {turn}'
    for name in VERDICTS:
        row |= {'verdict': fields[name], 'theirs': name} if name in fields else {}
    return row


def _record(log: Log, fields: Fields) -> Fields | str:
    row = renamed(fields, {'answer': 'gold', 'sample': 'prediction'})
    return row | {'question': Response(record=fields).prompt}


NEMO_SKILLS = Tool(
    'nemo-skills',
    ['output-rs*.jsonl'],
    [{'problem', 'expected_answer', 'generation'}],
    lambda log: Stated(name=Path(log.path).absolute().parent.name),
    _seeds,
)
PREDICTIONS = Tool(
    'predictions',
    [],
    [{'origin_prompt', 'prediction'}],
    lambda log: Stated(name=Path(log.path).stem.strip('-')),
    _record,
)
