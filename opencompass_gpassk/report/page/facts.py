"""What is known of how a result came about, as names and texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from opencompass_gpassk.report.page.sources import Found
from opencompass_gpassk.results import signature_line

__all__ = ['run_facts']

SHARES = {
    'coverage': 'coverage',
    'no answer': 'responses without an answer',
    'truncated': 'responses cut off',
    'identical': 'problems of which all responses are one text',
    'duplicates': 'excess of equal responses',
}


def run_facts(found: Found) -> list[tuple[str, str]]:
    """Return name and text of each fact: where from, how sampled, how judged, what was counted."""
    result = found.result
    signature = result['signature']
    facts = [
        ('data set', found.dataset),
        ('made', found.time),
        ('result', str(found.path)),
        ('signature', signature_line(signature)),
        ('sampling', ', '.join(f'{k} = {v}' for k, v in _items(signature.get('sampling')))),
        ('judge', str(signature.get('judge', ''))),
    ]
    facts += [(f'judging: {name}', text) for name, text in _flat(result.get('judging'))]
    facts += [(f'count: {name}', text) for name, text in _flat(result.get('counts'))]
    facts += [(name, _percent(result[key])) for key, name in SHARES.items() if key in result]
    facts += [
        (f'with the unjudged wrong or right: {name}', _range(ends))
        for name, ends in _items(result.get('bounds'))
    ]
    if isinstance(reasoning := result.get('reasoning'), Mapping):
        told = {k: v for k, v in reasoning.items() if k not in ('boxes', 'lengths')}
        facts += [(f'reasoning: {name}', text) for name, text in _flat(told)]
    return [(name, text) for name, text in facts if text]


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, Mapping) else ()


def _flat(value: Any, prefix: str = '') -> Iterable[tuple[str, str]]:
    """Yield the leaves of a nested mapping under names such as ``ledger, saved, rule``."""
    for name, item in _items(value):
        path = f'{prefix}, {name}' if prefix else str(name)
        if isinstance(item, Mapping):
            yield from _flat(item, path)
        elif item is not None and item != '':
            yield path, str(item)


def _percent(value: Any) -> str:
    if not isinstance(value, (int, float)) or math.isnan(value):
        return '–'
    return f'{value:.2f} %'


def _range(ends: Any) -> str:
    if not isinstance(ends, (list, tuple)) or len(ends) != 2:
        return ''
    return ' to '.join(_percent(end) for end in ends)
