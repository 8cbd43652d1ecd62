"""Replies of servers that speak OpenAI's protocol: files of a batch, or of chat completions.

A line of a batch's results holds the reply to one request::

    {"custom_id": "p7-2", "error": null, "response": {"status_code": 200, "body": {
       "model": …, "choices": [{"message": {"content": "…"}, "finish_reason": "stop"}],
       "usage": {"prompt_tokens": 9, "completion_tokens": 40}}}}

A line may also be such a body alone, perhaps with fields of your own beside it: the question, the
gold answer, the prompt or the ``messages`` that were asked. Replies seldom hold a question and
never a gold answer; ``--gold FILE --on custom_id=id`` takes both from a second file.
"""

from __future__ import annotations

from opencompass_gpassk.samples.inspect_logs import last_text, message_text
from opencompass_gpassk.samples.log_files import Fields, Log, Stated, Tool, object_in, part


def _stated(log: Log) -> Stated:
    model = _body(log.head).get('model')
    return Stated(model if isinstance(model, str) else '')


def _row(log: Log, fields: Fields) -> Fields | str:
    body, messages = _body(fields), fields.get('messages')
    asked = [fields.get('question'), fields.get('prompt')]
    asked += [last_text(messages, 'user')] if isinstance(messages, list) else []
    error = object_in(fields, 'error') or object_in(body, 'error')
    why = error.get('message') or error.get('code') or 'there is no choice'
    lost = {'text': None, 'lost': f'the request failed: {why}'}
    own = fields.get('custom_id', fields.get('id'))
    return {
        'question': next((one for one in asked if isinstance(one, str)), None),
        'answer': fields.get('answer'),
        'samples': [
            {'id': own} | one for one in (reply_samples(body) if body.get('choices') else [lost])
        ],
    }


def _body(fields: Fields) -> Fields:
    if 'response' not in fields:
        return fields
    response = object_in(fields, 'response')
    return object_in(response, 'body') or response


def reply_samples(body: Fields) -> list[Fields]:
    """Return the choices of a chat completion, or of a completion, as samples.

    The tokens of several choices are known together alone.
    """
    known, choices = object_in(body, 'usage'), part(body, 'choices', of=list)
    return [
        {
            'text': one.get('text', None if said.get('content') is None else message_text(said)),
            'finish_reason': one.get('finish_reason'),
            'tokens': known.get('completion_tokens') if len(choices) == 1 else None,
            'prompt_tokens': known.get('prompt_tokens'),
        }
        for one in (part(choices, i, of=dict) for i in range(len(choices)))
        for said in [object_in(one, 'message')]
    ]


OPENAI = Tool(
    'openai',
    ['batch_*_output.jsonl'],
    [{'custom_id', 'response'}, {'choices', 'object'}, {'choices', 'usage'}],
    _stated,
    _row,
    several=True,
)
