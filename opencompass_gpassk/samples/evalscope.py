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
Tried with 1.14.1.
"""

from __future__ import annotations

from pathlib import Path

from opencompass_gpassk.formats.jsonlines import at_place
from opencompass_gpassk.formats.tables import unread_rows
from opencompass_gpassk.samples.inspect_logs import message_text, output_flags
from opencompass_gpassk.samples.log_files import Fields, Log, Tool, gold_answer, part, verdict

USAGE = 'predictions'  # kept among what the log says of itself


def _named(log: Log) -> tuple[str, str]:
    path = Path(log.path).absolute()
    model = path.parent.name if path.parent.parent.name == 'reviews' else ''
    log.head[USAGE] = _usage(path)
    return model, '' if log.path == '-' else path.stem


def _row(log: Log, number: int, fields: Fields) -> Fields | None:
    scored = part(fields, 'sample_score', of=dict)
    score = part(scored, 'score', of=dict)
    messages = part(fields, 'messages', of=list) if fields.get('messages') else []
    said = {str(one.get('role')): one for one in messages if isinstance(one, dict)}
    asked = part(fields, 'input') if 'user' not in said else message_text(said['user'])
    answered = said.get('assistant')
    values, main = score.get('value'), score.get('main_score_name')
    if not isinstance(values, dict):
        values = {}
    if main not in list(values):
        main = next(iter(values), '')
    index = fields.get('index')
    group = scored.get('group_id')
    sample = {
        'text': part(score, 'prediction') if answered is None else message_text(answered),
        'key': answered.get('id') if answered else None,
        'verdict': verdict(values.get(main)),
    }
    return {
        'id': None if group is None else str(part(scored, 'group_id', of=(int, str))),
        'question': asked,
        'answer': gold_answer(fields, 'target'),
        'sample': sample | (log.head[USAGE].get(index, {}) if isinstance(index, int) else {}),
        'theirs': main,
    }


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
    'evalscope', 'reviews/*/*.jsonl', frozenset({'target', 'sample_score'}), _named, _row
)
