"""Logs of lm-evaluation-harness: ``samples_<task>_<time>.jsonl``, written with ``--log_samples``.

A line is a document with its n responses (``repeats`` of the task)::

    {"doc_id": 0, "doc": {"question": …}, "target": "72", "arguments": {"gen_args_0": {"arg_0": …}},
     "resps": [["…", "…"]], "filtered_resps": ["72"], "filter": "strict-match",
     "metrics": ["exact_match"], "exact_match": 1.0}

There is one such line for each filter: those of the first filter are taken. The question is the
document's, without examples before it. The verdict is on what the filter leaves, which is the first
response under ``take_first``; a filter that is named like a vote gives no verdict on a response.
Tried with 0.4.13.
"""

from __future__ import annotations

import re
from pathlib import Path

from opencompass_gpassk.formats.jsonlines import OTHER_NAMES
from opencompass_gpassk.samples.log_files import Fields, Log, Tool, gold_answer, part, verdict

NAME = re.compile(r'samples_(.+?)(_\d{4}-\d\d-\d\dT.*)?\.jsonl')
VOTE = re.compile('maj|vote|consisten|consensus', re.IGNORECASE)


def _named(log: Log) -> tuple[str, str]:
    found = NAME.fullmatch(Path(log.path).name)
    # Beside a summary, the folder has the model's name.
    beside = any(Path(log.path).parent.glob('results_*.json'))
    return Path(log.path).absolute().parent.name if beside else '', found[1] if found else ''


def _row(log: Log, number: int, fields: Fields) -> Fields | None:
    if fields.get('filter') != log.head.get('filter'):
        return None
    doc = part(fields, 'doc', of=dict)
    known = ('question', *OTHER_NAMES['question'])
    question = next((doc[name] for name in known if isinstance(doc.get(name), str)), None)
    if question is None:
        question = part(fields, 'arguments', 'gen_args_0', 'arg_0')
    texts = part(fields, 'resps', 0, of=list)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError('field resps: it holds likelihoods, not texts; score a generating task')
    samples: list[Fields] = [{'text': text} for text in texts]
    metrics = fields.get('metrics')
    names = metrics if isinstance(metrics, list) else ['exact_match', 'acc']
    metric = next((name for name in names if isinstance(name, str) and name in fields), '')
    if samples and not VOTE.search(str(fields.get('filter'))):
        samples[0]['verdict'] = verdict(fields.get(metric))
    return {
        'id': str(part(fields, 'doc_id', of=(int, str))),
        'question': question,
        'answer': gold_answer(fields, 'target'),
        'samples': samples,
        'theirs': metric,
    }


LM_EVAL = Tool(
    'lm-eval',
    'samples_*.jsonl',
    frozenset({'doc_id', 'doc', 'target', 'resps'}),
    _named,
    _row,
)
