"""Details of lighteval: ``details/<model>/<time>/details_<task>_<time>.parquet``.

A row is a problem with its n responses, written with ``--save-details``::

    {"doc": {"id": "0", "query": "…", "choices": ["72"], "gold_index": 0},
     "model_response": {"text": ["…", "…"], "output_tokens": [[…], […]], "input_tokens": […]},
     "metric": {"avg@n:n=2": 0.5}}

Older files name the three columns ``__doc__``, ``__model_response__`` and ``__metric__``. A metric
is a number for the problem, so that it is a verdict on a response only if there is one response, or
if ``avg@n`` says that all of them are correct or none is. Tokens are counted; whether a response
was cut off is unknown. Tried with 0.13.0; the older layout with a renamed file of 0.13.0.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from opencompass_gpassk.samples.log_files import Fields, Log, Tool, part, verdict

TIME = r'\d{4}-\d\d-\d\dT[\d.-]+'
NAME = re.compile(rf'details_(.+)_{TIME}\.parquet')


def _named(log: Log) -> tuple[str, str]:
    path = Path(log.path).absolute()
    found = NAME.fullmatch(path.name)
    above = path.parts[:-1]
    model = ''
    if found and 'details' in above and re.fullmatch(TIME, above[-1]):
        last = len(above) - above[::-1].index('details')
        model = '/'.join(above[last:-1])  # such as organisation/model
    return model, found[1] if found else ''


def _row(log: Log, number: int, fields: Fields) -> Fields | None:
    old = '__' if '__doc__' in fields else ''
    doc, response, metric = (f'{old}{name}{old}' for name in ('doc', 'model_response', 'metric'))
    texts = part(fields, response, 'text', of=list)
    theirs, said = _verdict(fields.get(metric), len(texts))
    replied = part(fields, response, of=dict)
    tokens, given = replied.get('output_tokens'), replied.get('input_tokens')
    known = isinstance(tokens, list) and len(tokens) == len(texts)
    return {
        'id': part(fields, doc, of=dict).get('id') or None,
        'question': part(fields, doc, 'query'),
        'answer': _gold(fields, doc),
        'samples': [
            {
                'text': part(fields, response, 'text', i, of=(str, type(None))),
                'tokens': _count(tokens[i]) if known else None,
                'prompt_tokens': _count(given),
                'verdict': said,
            }
            for i in range(len(texts))
        ],
        'theirs': theirs,
    }


def _gold(fields: Fields, doc: str) -> str:
    index = part(fields, doc, 'gold_index', of=(int, list))
    if isinstance(index, list):
        if len(index) != 1:
            raise ValueError(
                f'field {doc}.gold_index: {len(index)} answers, but only one can be compared; '
                'leave the row out'
            )
        index = part(index, 0, of=int)
    if index < 0:
        raise ValueError(f'field {doc}.gold_index is {index}; it counts from 0')
    return part(fields, doc, 'choices', index)


def _verdict(metrics: Any, count: int) -> tuple[str, bool | None]:
    """Return the name of the first metric that says what each response is, and its verdict."""
    for name, value in metrics.items() if isinstance(metrics, dict) else ():
        if (count == 1 or name == f'avg@n:n={count}') and verdict(value) is not None:
            return name, verdict(value)
    return '', None


def _count(tokens: Any) -> int | None:
    return len(tokens) if isinstance(tokens, list) and tokens else None


LIGHTEVAL = Tool(
    'lighteval',
    'details_*.parquet',
    frozenset({'doc', 'model_response'}),
    _named,
    _row,
    older=frozenset({'__doc__', '__model_response__'}),
)
