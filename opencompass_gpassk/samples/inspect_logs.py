"""Logs of inspect_ai: ``<time>_<task>_<id>.eval``, or ``.json``.

A ``.eval`` file is a zip file with ``header.json`` and a member ``samples/<id>_epoch_<n>.json`` for
each sample; from about version 0.3.160 on they are packed with zstd. A ``.json`` file holds the
header's fields, and the samples in ``samples``::

    {"version": 2, "status": "success", "eval": {"task": …, "model": …, "task_args": {…},
       "dataset": {"samples": 5, "sample_ids": […]}, "config": {"epochs": 4, "limit": …}},
     "plan": {"steps": […], "config": {"temperature": …}}, "results": {"total_samples": 20},
     "samples": [
      {"id": 1, "epoch": 1, "uuid": …, "input": "…", "target": "72",
       "output": {"choices": [{"message": {"content": "…"}, "stop_reason": "stop"}],
                  "usage": {"input_tokens": 9, "output_tokens": 40}},
       "error": …, "limit": {"type": "token"}, "scores": {"match": {"value": "C"}}}]}

Old samples have one ``score`` instead, no ``uuid``, and say ``length`` where others say
``max_tokens``; without ``output`` the last message of the assistant is the response. The verdict is
the first score's: C or 1 is correct, I, N or 0 incorrect, anything else no verdict. Any of several
targets is right. A sample with an ``error`` has no response. Samples that the header plans and that
are not there are missing. The header of an evaluation that broke off is ``_journal/start.json``.
"""

from __future__ import annotations

from typing import Any

from opencompass_gpassk.samples.log_files import (
    Fields,
    Log,
    Stated,
    Tool,
    gold_answers,
    number_in,
    object_in,
    part,
    stated_verdict,
)

# Settings of a generation that don't change what is drawn from.
NO_PROTOCOL = ('seed', 'max_retries', 'timeout', 'attempt_timeout', 'max_connections')
LIMITS = ('message_limit', 'token_limit', 'time_limit', 'working_limit', 'cost_limit')


def _stated(log: Log) -> Stated:
    model, task = part(log.head, 'eval', 'model'), part(log.head, 'eval', 'task')
    told, plan = log.head['eval'], object_in(log.head, 'plan')
    config, dataset = object_in(told, 'config'), object_in(told, 'dataset')
    drawn = object_in(plan, 'config') | object_in(told, 'model_generate_config')
    steps = plan.get('steps')
    protocol = {
        **{name: drawn[name] for name in drawn if name not in NO_PROTOCOL},
        **{name: config[name] for name in LIMITS if name in config},
        'task_args': object_in(told, 'task_args'),
        'plan': [
            (one.get('solver'), one.get('params'))
            for one in (steps if isinstance(steps, list) else [])
            if isinstance(one, dict)
        ],
    }
    status = log.head.get('status', 'success')
    said = {f'status {status}': status != 'success', 'invalidated': log.head.get('invalidated')}
    named = dataset.get('sample_ids')
    ids = list(map(str, named)) if isinstance(named, list) else []
    total, epochs = (
        number_in(object_in(log.head, 'results'), 'total_samples'),
        number_in(config, 'epochs') or 1,
    )
    return Stated(
        model,
        task,
        protocol,
        [f'the log says {one}' for one, is_so in said.items() if is_so],
        ids,
        len(ids) or max(_selected(config, number_in(dataset, 'samples')), total // epochs),
        epochs,
    )


def _selected(config: Fields, available: int) -> int:
    """Return how many of the available problems were asked; 0 if unknown."""
    limit, ids = config.get('limit'), config.get('sample_id')
    if ids is not None:
        return len(ids) if isinstance(ids, list) else 1
    return 0 if isinstance(limit, list) else min(number_in(config, 'limit') or available, available)


def _row(log: Log, fields: Fields) -> Fields | str:
    if 'eval' in fields:
        raise ValueError(
            'a log of inspect without samples; run it without --no-log-samples, or, of the '
            'logs.json of an eval set, name its folder'
        )
    asked = part(fields, 'input', of=(str, list))
    if isinstance(asked, list):
        asked = last_text(asked, 'user')
        if asked is None:
            raise ValueError('field input: no message in it has the role user; leave the row out')
    scores = fields.get('scores') or {'score': fields.get('score')}
    name, score = next(iter(scores.items())) if isinstance(scores, dict) else ('', None)
    output = part(fields, 'output', of=(dict, type(None))) if 'output' in fields else None
    messages = fields.get('messages')
    text = None
    if output and output.get('choices'):
        text = message_text(part(output, 'choices', 0, 'message', of=dict))
    elif output is None and isinstance(messages, list):
        text = last_text(messages, 'assistant')
    error, limit = fields.get('error'), fields.get('limit')
    sample = output_flags(output or {}) | {'key': fields.get('uuid'), 'text': text}
    if error:
        sample |= {'text': None, 'lost': 'the log says that it ended in an error'}
    elif text is not None:
        sample['verdict'] = stated_verdict(score, ['value'])['verdict']
    ended = limit.get('type') if isinstance(limit, dict) else limit
    return {
        'id': str(part(fields, 'id', of=(int, str))),
        'epoch': fields.get('epoch'),
        'question': asked,
        'answer': gold_answers(fields, 'target'),
        'sample': sample | ({'truncated': True} if limit else {}),
        'theirs': name,
        'note': f'ended by a limit ({ended})' if limit else '',
    }


def last_text(messages: list[Any], role: str) -> str | None:
    """Return the text of a role's last message; None if it has none."""
    of_role = [one for one in messages if isinstance(one, dict) and one.get('role') == role]
    return message_text(of_role[-1]) if of_role else None


def message_text(message: Fields) -> str:
    """Return the text of a message without its reasoning; the content may have several parts."""
    content = part(message, 'content', of=(str, list))
    if isinstance(content, str):
        return content
    texts = [part(one, 'text') for one in content if part(one, 'type') == 'text']
    return '\n'.join(texts)


def output_flags(output: Fields) -> Fields:
    """Return the tokens of a model's output, and why it ended; None if unknown."""
    choices, usage = output.get('choices'), object_in(output, 'usage')
    first = choices[0] if isinstance(choices, list) and choices else None
    return {
        'finish_reason': first.get('stop_reason') if isinstance(first, dict) else None,
        'tokens': usage.get('output_tokens'),
        'prompt_tokens': usage.get('input_tokens'),
    }


INSPECT = Tool('inspect', ['*.eval', '[0-9]*T*_*.json'], [{'eval'}], _stated, _row)
