"""Logs of lm-evaluation-harness: ``samples_<task>_<time>.jsonl``, written with ``--log_samples``.

A line is a document with its n responses (``repeats`` of the task)::

    {"doc_id": 0, "doc": {"question": …}, "target": "72", "arguments": {"gen_args_0": {"arg_0": …}},
     "resps": [["…", "…"]], "filtered_resps": ["72"], "filter": "strict-match",
     "metrics": ["exact_match"], "exact_match": 1.0}

There is one such line for each filter, with the same responses: the first of a document is taken.
Any of several targets is right. The question is the document's, without examples before it. The
verdict is on what the filter leaves, which is the first response under ``take_first``; a filter
that is named like a vote gives no verdict on a response. Before version 0.4.7 lines have no
``filter``, and ``arguments`` are a list; up to 0.4.3 the file is a list in JSON, named ``.json``,
or ``<model arguments>_<task>.jsonl``. What was planned, and how it was drawn, stands in the file
``results_<time>.json`` beside it. Tried with 0.4.0, 0.4.6 and 0.4.13.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.formats.jsonlines import OTHER_NAMES, fields_of
from opencompass_gpassk.formats.stored_files import read_object
from opencompass_gpassk.samples.log_files import (
    Fields,
    Log,
    Stated,
    Tool,
    UnscorableError,
    gold_answers,
    number_in,
    object_in,
    part,
    stated_verdict,
)

NAME = re.compile(r'(?:samples_|.*__[^_]*_)(.+?)(?:_(\d{4}-\d\d-\d\dT.*))?\.jsonl?')
VOTE = re.compile('maj|vote|consisten|consensus', re.IGNORECASE)
DRAWN = ('model_args', 'gen_kwargs', 'chat_template_sha', 'system_instruction_sha')


def _stated(log: Log) -> Stated:
    path = Path(log.path).absolute()
    found = NAME.fullmatch(path.name)
    task, time = found.groups() if found else ('', None)
    summaries = sorted(path.parent.glob('results_*.json'))
    own = [read_object(one) for one in summaries if time and time in one.name]
    told = own[0] if own else {}
    protocol = {name: object_in(told, 'config').get(name) for name in DRAWN}
    protocol |= {'generation': _request(log.head, 1)}
    protocol |= {'few-shot': object_in(told, 'n-shot').get(task)}
    return Stated(
        path.parent.name if summaries else '',  # beside a summary, the folder has its name
        task,
        {name: value for name, value in protocol.items() if value is not None},
        problems=number_in(object_in(object_in(told, 'n-samples'), task), 'effective'),
        samples=number_in(object_in(object_in(told, 'configs'), task), 'repeats'),
    )


def _row(log: Log, fields: Fields) -> Fields | str:
    doc, own = part(fields, 'doc', of=dict), str(part(fields, 'doc_id', of=(int, str)))
    resps = part(fields, 'resps', of=list)
    texts = [text for one in resps for text in (one if isinstance(one, list) else [one])]
    if not all(isinstance(text, str) for text in texts):
        raise UnscorableError(
            'field resps: it holds likelihoods, not texts; score a generating task'
        )
    digest = text_hash(texts)
    if own in log.kept:
        if log.kept[own] != digest:
            raise ValueError(f'field doc_id: {own!r} is used before, with other responses')
        return 'passed over: the same responses, under another filter'
    log.kept[own] = digest
    asked = [doc.get(name) for name in OTHER_NAMES['question']]
    question = next((one for one in asked if isinstance(one, str)), None)
    prompt = _request(fields, 0)
    if question is None and prompt is None:
        raise ValueError(f'field arguments: it holds no prompt; {fields_of(fields)}')
    samples: list[Fields] = [{'text': text} for text in texts]
    metrics = fields.get('metrics')
    names = metrics if isinstance(metrics, list) else ['exact_match', 'acc']
    theirs = stated_verdict(fields, names)
    if samples and not VOTE.search(str(fields.get('filter'))):
        samples[0]['verdict'] = theirs['verdict']
    return {
        'id': own,
        'question': prompt if question is None else question,
        'prompt': prompt,
        'answer': gold_answers(fields, 'target'),
        'samples': samples,
        'theirs': theirs['theirs'],
    }


def _request(fields: Fields, place: int) -> Any:
    """Return the prompt of a document's request, or the settings of its generation."""
    given: Any = fields.get('arguments')
    try:
        if isinstance(given, dict):
            return given['gen_args_0'][f'arg_{place}']
        return given[0][place]
    except (KeyError, IndexError, TypeError):
        return None


LM_EVAL = Tool(
    'lm-eval',
    ['samples_*.jsonl', 'samples_*.json', 'pretrained__*.jsonl'],
    [{'doc_id', 'doc', 'target', 'resps'}],
    _stated,
    _row,
)
