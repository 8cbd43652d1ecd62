"""Details of lighteval: ``details/<model>/<time>/details_<task>_<time>.parquet``.

A row is a problem with its n responses, written with ``--save-details``::

    {"doc": {"id": "0", "query": "…", "choices": ["72"], "gold_index": 0},
     "model_response": {"text": ["…", "…"], "output_tokens": [[…], […]], "input_tokens": […]},
     "metric": {"avg@n:n=2": 0.5}}

Some files name the three columns ``__doc__``, ``__model_response__`` and ``__metric__``. Up to
version 0.10 a row has other columns::

    {"example": "…", "full_prompt": "…", "predictions": ["…", "…"], "gold": ["72"],
     "cont_tokens": [[…], […]], "metrics": {"math_pass@1:2_samples": 0.5}}

Any of several gold answers is right. A metric is a number for the problem, so that it is a verdict
on a response only if there is one response, or if ``avg@n`` says that all of them are correct or
none is. Tokens are counted; whether a response was cut off is unknown. Tried with 0.13.0; the older
layouts after the source of their versions.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from opencompass_gpassk.samples.log_files import (
    Fields,
    Log,
    Stated,
    Tool,
    UnscorableError,
    counted_tokens,
    gold_answers,
    object_in,
    part,
    verdict,
)

TIME = r'\d{4}-\d\d-\d\dT[\d.-]+'
NAME = re.compile(rf'details_(.+)_{TIME}\.parquet')


def _stated(log: Log) -> Stated:
    path = Path(log.path).absolute()
    found = NAME.fullmatch(path.name)
    above = path.parts[:-1]
    model = ''
    if found and 'details' in above and re.fullmatch(TIME, above[-1]):
        last = len(above) - above[::-1].index('details')
        model = '/'.join(above[last:-1])  # such as organisation/model
    return Stated(model, found[1] if found else '')


def _row(log: Log, fields: Fields) -> Fields | str:
    row = _in_newest_layout(fields)
    replied, texts = object_in(row, 'model_response'), part(row, 'model_response', 'text', of=list)
    if texts and all(isinstance(text, float | list) for text in texts):
        raise UnscorableError('its responses are likelihoods, not texts; score a generating task')
    tokens = replied.get('output_tokens')
    if isinstance(tokens, list) and len(tokens) == 1 < len(texts):
        tokens = tokens[0]  # of all samples of one request
    counts = list(map(counted_tokens, tokens)) if isinstance(tokens, list) else []
    theirs, said = _verdict(row.get('metric'), len(texts))
    return {
        'id': part(row, 'doc', of=dict).get('id') or None,
        'question': part(row, 'doc', 'query'),
        'prompt': fields.get('full_prompt'),
        'answer': _golds(row),
        'samples': [
            {
                'text': part(row, 'model_response', 'text', i, of=(str, type(None))),
                'tokens': counts[i] if len(counts) == len(texts) else None,
                'prompt_tokens': counted_tokens(replied.get('input_tokens')),
                'verdict': said,
            }
            for i in range(len(texts))
        ],
        'theirs': theirs,
    }


def _in_newest_layout(fields: Fields) -> Fields:
    if 'full_prompt' not in fields:
        return {name.strip('_'): value for name, value in fields.items()}
    golds = gold_answers(fields, 'gold')
    asked = fields.get('example') or str(fields['full_prompt'])
    return {
        'doc': {'query': asked, 'choices': golds, 'gold_index': list(range(len(golds)))},
        'model_response': {
            'text': fields.get('predictions'),
            'output_tokens': fields.get('cont_tokens'),
        },
        'metric': fields.get('metrics'),
    }


def _golds(row: Fields) -> list[str]:
    index = part(row, 'doc', 'gold_index', of=(int, list))
    places = index if isinstance(index, list) else [index]
    if not all(type(one) is int and one >= 0 for one in places):
        raise ValueError(f'field doc.gold_index is {str(index)[:60]}; it counts from 0')
    return [part(row, 'doc', 'choices', one) for one in places]


def _verdict(metrics: Any, count: int) -> tuple[str, bool | None]:
    """Return the name of the first metric that says what each response is, and its verdict."""
    shares = (f'avg@n:n={count}', f'pass@1:{count}_samples')
    for name, value in metrics.items() if isinstance(metrics, dict) else ():
        if (count == 1 or str(name).endswith(shares)) and verdict(value) is not None:
            return name, verdict(value)
    return '', None


LIGHTEVAL = Tool(
    'lighteval',
    ['details_*.parquet'],
    [
        {'doc', 'model_response'},
        {'__doc__', '__model_response__'},
        {'full_prompt', 'predictions', 'gold'},
    ],
    _stated,
    _row,
)
