"""Logs of inspect_ai: ``<time>_<task>_<id>.eval``, or ``.json``.

A ``.eval`` file is a zip file with ``header.json`` and a member ``samples/<id>_epoch_<n>.json`` for
each sample; from about version 0.3.160 on they are packed with zstd. A ``.json`` file holds the
header's fields, and the samples in ``samples``::

    {"version": 2, "eval": {"task": …, "model": …}, "samples": [
      {"id": 1, "epoch": 1, "uuid": …, "input": "…", "target": "72",
       "output": {"choices": [{"message": {"content": "…"}, "stop_reason": "stop"}],
                  "usage": {"input_tokens": 9, "output_tokens": 40}},
       "scores": {"match": {"value": "C", "answer": "72"}}}]}

Old samples have one ``score`` instead, no ``uuid``, and say ``length`` where others say
``max_tokens``. The verdict is the first score's: C or 1 is correct, I, N or 0 incorrect, anything
else no verdict. Tried with 0.3.285; the old layouts after its own source, which reads them.
"""

from __future__ import annotations

from typing import Any

from opencompass_gpassk.samples.log_files import Fields, Log, Tool, gold_answer, part, verdict


def _named(log: Log) -> tuple[str, str]:
    return part(log.head, 'eval', 'model'), part(log.head, 'eval', 'task')


def _row(log: Log, number: int, fields: Fields) -> Fields | None:
    if 'eval' in fields:
        raise ValueError('a log of inspect without samples; run it without --no-log-samples')
    asked = part(fields, 'input', of=(str, list))
    if isinstance(asked, list):
        users = [one for one in asked if isinstance(one, dict) and one.get('role') == 'user']
        if not users:
            raise ValueError('field input: no message in it has the role user; leave the row out')
        asked = message_text(users[-1])
    scores = fields.get('scores') or {'score': fields.get('score')}
    name, score = next(iter(scores.items())) if isinstance(scores, dict) else ('', None)
    output = part(fields, 'output', of=(dict, type(None))) or {}
    sample: Fields = {'key': fields.get('uuid'), 'text': None}  # without text the sample failed
    if output.get('choices'):
        sample['text'] = message_text(part(output, 'choices', 0, 'message', of=dict))
        sample['verdict'] = verdict(score.get('value')) if isinstance(score, dict) else None
    return {
        'id': str(part(fields, 'id', of=(int, str))),
        'question': asked,
        'answer': gold_answer(fields, 'target'),
        'sample': sample | output_flags(output),
        'theirs': name,
    }


def message_text(message: Fields) -> str:
    """Return the text of a message without its reasoning; the content may have several parts."""
    content = part(message, 'content', of=(str, list))
    if isinstance(content, str):
        return content
    texts = [part(one, 'text') for one in content if part(one, 'type') == 'text']
    return '\n'.join(texts)


def output_flags(output: Fields) -> Fields:
    """Return the tokens of a model's output, and why it ended; None if unknown."""
    choices, usage = output.get('choices'), output.get('usage')
    first = choices[0] if isinstance(choices, list) and choices else None
    stop = first.get('stop_reason') if isinstance(first, dict) else None
    known: dict[str, Any] = usage if isinstance(usage, dict) else {}
    return {
        'finish_reason': stop,
        'tokens': known.get('output_tokens'),
        'prompt_tokens': known.get('input_tokens'),
    }


INSPECT = Tool('inspect', '*.eval, [0-9]*T*_*.json', frozenset({'eval'}), _named, _row)
