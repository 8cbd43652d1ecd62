"""Reviews of EvalScope: ``reviews/<model>/<data set>_<subset>.jsonl``.

A line is a response that was scored; the responses to one problem have one ``group_id``::

    {"index": 0, "target": ["72"],
     "messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…", "id": …}],
     "sample_score": {"group_id": 0, "generation_index": 0, "score": {
       "value": {"accuracy": 1.0}, "main_score_name": "accuracy", "prediction": "…"}}}

Older files have a text as ``target``, the prompt in ``input``, and no ``generation_index``. Tokens
and whether a response was cut off stand in the file of the same name in ``predictions/<model>``,
with the same ``index``; without that file they are unknown. The verdict is the main score, or the
first one if none is named: 1 is correct, 0 incorrect, anything else no verdict.

Before version 1.0 a line is a problem, as the server replied, with a review of each choice::

    {"index": 0, "choices": [{"message": {"content": "…"}, "finish_reason": "stop",
       "review": {"gold": "72", "pred": "72", "result": true}}],
     "raw_input": {"question": "…"}, "origin_prompt": {"data": ["…"]}, "usage": {…}}

Tried with 0.10 and 1.14.1.
"""

from __future__ import annotations

from pathlib import Path

from opencompass_gpassk.formats.jsonlines import at_place
from opencompass_gpassk.formats.tables import unread_rows
from opencompass_gpassk.samples.inspect_logs import last_text, output_flags
from opencompass_gpassk.samples.log_files import (
    Fields,
    Log,
    Stated,
    Tool,
    gold_answers,
    object_in,
    part,
    stated_verdict,
)
from opencompass_gpassk.samples.openai_replies import reply_samples


def _stated(log: Log) -> Stated:
    path = Path(log.path).absolute()
    model = path.parent.name if path.parent.parent.name == 'reviews' else ''
    log.kept.update(_usage(path))
    return Stated(model, '' if log.path == '-' else path.stem)


def _row(log: Log, fields: Fields) -> Fields | str:
    if 'sample_score' not in fields:
        return _older_row(fields)
    scored = part(fields, 'sample_score', of=dict)
    score = part(scored, 'score', of=dict)
    messages = part(fields, 'messages', of=list) if fields.get('messages') else []
    said = {str(one.get('role')): one for one in messages if isinstance(one, dict)}
    asked, answered = last_text(messages, 'user'), last_text(messages, 'assistant')
    values = score.get('value')
    names = [score.get('main_score_name'), *(values if isinstance(values, dict) else ())]
    index, theirs = fields.get('index'), stated_verdict(values, names)
    sample = {
        'text': part(score, 'prediction') if answered is None else answered,
        'key': said['assistant'].get('id') if answered is not None else None,
        'verdict': theirs['verdict'],
    }
    return {
        'id': _id(scored, 'group_id'),
        'question': part(fields, 'input') if asked is None else asked,
        'prompt': [one.get('content') for role, one in said.items() if role != 'assistant'],
        'answer': gold_answers(fields, 'target'),
        'sample': sample | (log.kept.get(index, {}) if isinstance(index, int) else {}),
        'theirs': theirs['theirs'],
    }


def _older_row(fields: Fields) -> Fields:
    choices = part(fields, 'choices', of=list)
    prompt = part(fields, 'origin_prompt', 'data', 0)
    asked = part(fields, 'raw_input', of=dict).get('question')
    if isinstance(asked, str) and asked in prompt:
        asked = prompt[prompt.rindex(asked) :]  # with its options, without the examples before it
    reviews = [part(one, 'review', of=dict) for one in choices]
    results = [object_in(review, 'result') or review for review in reviews]
    theirs = [stated_verdict(one, ['result', *one]) for one in results]
    return {
        'id': _id(fields, 'index'),
        'question': asked if isinstance(asked, str) else prompt,
        'prompt': prompt,
        'answer': gold_answers(reviews[0] if reviews else {}, 'gold'),
        'samples': [
            sample | {'verdict': one['verdict']}
            for sample, one in zip(reply_samples(fields), theirs, strict=True)
        ],
        'theirs': theirs[0]['theirs'],
    }


def _id(fields: Fields, name: str) -> str | None:
    return str(part(fields, name, of=(int, str))) if fields.get(name) is not None else None


def _usage(reviews: Path) -> dict[int, Fields]:
    """Return index → tokens and whether the response was cut off; {} without predictions."""
    folder, model = reviews.parent.parent, reviews.parent.name
    predictions = folder.parent / 'predictions' / model / reviews.name
    found: dict[int, Fields] = {}
    if folder.name != 'reviews' or not predictions.is_file():
        return found
    for row in unread_rows(predictions):
        with at_place(row.place):
            fields = row.read()
            if isinstance(output := fields.get('model_output'), dict):
                found[part(fields, 'index', of=int)] = output_flags(output)
    return found


EVALSCOPE = Tool(
    'evalscope',
    ['reviews/*/*.jsonl'],
    [{'target', 'sample_score'}, {'choices', 'raw_input', 'reviewed'}],
    _stated,
    _row,
    several=True,
)
