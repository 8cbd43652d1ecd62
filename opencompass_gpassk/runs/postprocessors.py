"""What OpenCompass's postprocessors make of a response, and those that a result may name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial, reduce
from typing import Any

from opencompass.registry import TEXT_POSTPROCESSORS
from opencompass.utils.text_postprocessors import extract_non_reasoning_content

from opencompass_gpassk.runs.predictions import Process

# The config in whose `pred_postprocessor` one stands, in the order in which they are applied.
MODEL, DATA_SET, EVALUATOR = PLACES = ('model', 'data set', 'evaluator')
Postprocessors = Mapping[str, Mapping[str, Any]]  # place → config

# Those that are applied where a result names them, which may be someone else's: they only cut a
# text at two marks. OpenCompass reads the marks as regular expressions.
KNOWN = {f'{one.__module__}.{one.__qualname__}': one for one in (extract_non_reasoning_content,)}
MARKS = {'think_start_token', 'think_end_token'}
SPECIAL = frozenset(r'\^$.|?*+()[]{}')


def configured(
    model_cfg: Mapping[str, Any], eval_cfg: Mapping[str, Any], own: Mapping[str, Any] | None
) -> Postprocessors:
    """Return the postprocessors that configs name, ``own`` being the evaluator's."""
    found = {
        MODEL: model_cfg.get('pred_postprocessor'),
        DATA_SET: eval_cfg.get('pred_postprocessor'),
        EVALUATOR: own,
        # The part of the model in a conversation is cut out by the model's template.
        'role': {'type': 'pred_role'} if 'pred_role' in eval_cfg else None,
    }
    return {place: config for place, config in found.items() if config}


def recorded(postprocessors: Postprocessors) -> dict[str, dict[str, Any]]:
    """Return postprocessors as a result stores them: by name, known ones with their arguments."""
    found = {}
    for place, config in postprocessors.items():
        kind, name = _function(config), str(config['type'])
        if kind is not None:  # the module that registers it is imported
            name = f'{kind.__module__}.{getattr(kind, "__qualname__", type(kind).__qualname__)}'
        found[place] = {**(config if name in KNOWN else {}), 'type': name}
    return found


def known(stored: Any) -> bool:
    """Tell whether all postprocessors that a result stores are known and harmless."""
    return all(
        place in PLACES
        and config.get('type') in [*KNOWN]
        and config.keys() <= {'type', *MARKS}
        and all(
            isinstance(config[mark], str) and SPECIAL.isdisjoint(config[mark])
            for mark in MARKS & config.keys()
        )
        for place, config in stored.items()
    )


def process(postprocessors: Postprocessors) -> Process:
    """Return a function that applies postprocessors to responses."""
    steps = [_applied(postprocessors.get(place)) for place in PLACES]
    is_answer = answer_test(postprocessors)

    def processed(texts: list[str]) -> Iterator[tuple[str, bool]]:
        for raw in texts:
            text = reduce(lambda text, step: step(text), steps, raw)
            yield text, is_answer(raw, text)

    return processed


def answer_test(postprocessors: Postprocessors) -> Callable[[str, str], bool]:
    """Return a function that tells from a raw response and its text whether the text is an answer.

    A data set's postprocessor reduces a response to its answer; a model's only removes parts, such
    as thoughts. So a text is an answer if the data set's postprocessor changed it. An unchanged
    text is an answer if it is a single word: in a sentence the postprocessor found no answer.
    """
    if postprocessors.keys().isdisjoint((DATA_SET, EVALUATOR)):
        return lambda raw, text: False
    of_model = _applied(postprocessors.get(MODEL))
    return lambda raw, text: text != of_model(raw) or len(text.split()) == 1


def _applied(config: Mapping[str, Any] | None) -> Callable[[str], Any]:
    if not config:
        return lambda text: text
    arguments = {name: value for name, value in config.items() if name != 'type'}
    return partial(_function(config), **arguments)


def _function(config: Mapping[str, Any]) -> Any:
    kind = config['type']
    return TEXT_POSTPROCESSORS.get(kind) if isinstance(kind, str) else kind
