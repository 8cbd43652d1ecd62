"""Logs of inspect_ai: ``<time>_<task>_<id>.eval``, or ``.json``.

A ``.eval`` file is a zip file with ``header.json`` and a member ``samples/<id>_epoch_<n>.json`` for
each sample; from about version 0.3.160 on they are packed with zstd. A ``.json`` file holds the
header's fields, and the samples in ``samples``::

    {"version": 2, "eval": {"task": …, "model": …}, "samples": [
      {"id": 1, "epoch": 1, "uuid": …, "input": "…", "target": "72",
       "output": {"choices": [{"message": {"content": "…"}, "stop_reason": "stop"}],
                  "usage": {"input_tokens": 9, "output_tokens": 40}},
       "scores": {"match": {"value": "C", "answer": "72"}}}]}

The verdict is the first score's: C or 1 is correct, I, N or 0 incorrect, anything else no verdict.
Tried with 0.3.285.
"""

from __future__ import annotations

from typing import Any

from opencompass_gpassk.samples.log_files import Fields, Log, Tool, part, verdict

CUT_OFF = {'max_tokens': True, 'model_length': True, 'stop': False}  # stop_reason → truncated


def _named(log: Log) -> tuple[str, str]:
    return part(log.head, 'eval', 'model'), part(log.head, 'eval', 'task')


def _row(log: Log, number: int, fields: Fields) -> Fields | None:
    asked = part(fields, 'input', of=(str, list))
    if isinstance(asked, list):
        users = [one for one in asked if isinstance(one, dict) and one.get('role') == 'user']
        asked = _text(part(users, -1, 'content', of=(str, list)))
    target = part(fields, 'target', of=(str, list))
    if isinstance(target, list):
        if len(target) != 1:
            raise ValueError(f'field target: {len(target)} answers, but only one can be compared')
        target = part(target, 0)
    scores = fields.get('scores')
    name, score = next(iter(scores.items()), ('', {})) if isinstance(scores, dict) else ('', {})
    sample: Fields = {'key': fields.get('uuid')}
    choices = fields['output'].get('choices') if isinstance(fields.get('output'), dict) else None
    if choices:
        message = part(choices, 0, 'message', 'content', of=(str, list))
        stop, usage = choices[0].get('stop_reason'), fields['output'].get('usage') or {}
        sample |= {
            'text': _text(message),
            'truncated': CUT_OFF.get(stop) if isinstance(stop, str) else None,
            'tokens': usage.get('output_tokens') if isinstance(usage, dict) else None,
            'prompt_tokens': usage.get('input_tokens') if isinstance(usage, dict) else None,
            'verdict': verdict(score.get('value')) if isinstance(score, dict) else None,
        }
    else:
        sample['text'] = None  # the sample failed
    return {
        'id': str(part(fields, 'id', of=(int, str))),
        'question': asked,
        'answer': target,
        'sample': sample,
        'theirs': name,
    }


def _text(content: Any) -> str:
    """Return the text of a message, whose content may have several parts."""
    if isinstance(content, str):
        return content
    texts = [part(one, 'text') for one in content if part(one, 'type') == 'text']
    return '\n'.join(texts)


INSPECT = Tool('inspect', '*.eval', frozenset({'eval'}), _named, _row)
