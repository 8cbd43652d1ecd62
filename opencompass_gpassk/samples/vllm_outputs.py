"""Outputs of vLLM's offline inference, each written as a line: ``LLM.generate(…)``.

A line is a prompt with its samples::

    {"request_id": "0", "prompt": "…", "outputs": [
       {"index": 0, "text": "…", "token_ids": […], "finish_reason": "length"}, …]}

The gold answers, and questions without a model's template, stand in a second file:
``--gold FILE --on prompt=prompt``; or in the fields ``answer`` and ``question`` of each line.
"""

from __future__ import annotations

from opencompass_gpassk.samples.log_files import Fields, Log, Stated, Tool, counted_tokens, part


def _stated(log: Log) -> Stated:
    return Stated()


def _row(log: Log, fields: Fields) -> Fields | str:
    prompt_tokens = counted_tokens(fields.get('prompt_token_ids'))
    return {
        'question': part(fields, 'prompt'),
        'samples': [
            {
                **one,
                'tokens': counted_tokens(one.get('token_ids')),
                'prompt_tokens': prompt_tokens,
            }
            if isinstance(one, dict)
            else one
            for one in part(fields, 'outputs', of=list)
        ],
    } | {name: fields[name] for name in ('id', 'question', 'answer') if name in fields}


VLLM = Tool('vllm', ['vllm_*.jsonl'], [{'prompt', 'outputs'}], _stated, _row, several=True)
