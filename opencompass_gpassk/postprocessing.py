"""Which responses OpenCompass's postprocessors have turned into their answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from opencompass.registry import TEXT_POSTPROCESSORS

__all__ = ['answer_test']


def answer_test(
    eval_cfg: Mapping[str, Any], model_cfg: Mapping[str, Any], own: Mapping[str, Any] | None
) -> Callable[[str, str], bool]:
    """Return a function of a raw response and of its text, which tells if the text is its answer.

    A postprocessor of a data set cuts a response down to its answer; one of a model only takes
    something from it, such as its thoughts. So a text is an answer if one of the data set changed
    it. One that it left alone is an answer if it is a single word: a sentence is what the
    postprocessor found no answer in.

    Args:
        eval_cfg: The data set's, which may name a postprocessor.
        model_cfg: The model's, which may name another.
        own: The evaluator's own postprocessor.
    """
    if not own and not eval_cfg.get('pred_postprocessor'):
        return lambda raw, text: False
    of_model = _postprocessor(model_cfg.get('pred_postprocessor'))
    return lambda raw, text: text != of_model(raw) or len(text.split()) == 1


def _postprocessor(config: Mapping[str, Any] | None) -> Callable[[str], Any]:
    if not config:
        return lambda text: text
    settings = copy.deepcopy(dict(config))
    kind = settings.pop('type')
    process = TEXT_POSTPROCESSORS.get(kind) if isinstance(kind, str) else kind
    return lambda text: process(text, **settings)
