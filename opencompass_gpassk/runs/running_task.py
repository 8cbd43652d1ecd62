"""The running OpenCompass task: it knows configs that it doesn't pass on to its parts."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from opencompass.registry import TEXT_POSTPROCESSORS


def running_task() -> Any:
    """Return the OpenCompass task that made the current call; None outside a task.

    OpenCompass gives an inferencer a task's rows, but not their place in the test set, and gives an
    evaluator neither the data set's config nor the model's. The task knows these. It is only found
    by searching the call stack.
    """
    frame = inspect.currentframe()
    while frame is not None:
        task = frame.f_locals.get('self')
        # Recognise it by attributes, not by class: a task run as a script has a class of its own.
        if getattr(task, 'dataset_cfg', None) is not None:
            return task
        frame = frame.f_back
    return None


def answer_test(
    eval_cfg: Mapping[str, Any], model_cfg: Mapping[str, Any], own: Mapping[str, Any] | None
) -> Callable[[str, str], bool]:
    """Return a function that tells from a raw response and its text whether the text is an answer.

    A data set's postprocessor reduces a response to its answer; a model's only removes parts, such
    as thoughts. So a text is an answer if the data set's postprocessor changed it. An unchanged
    text is an answer if it is a single word: in a sentence the postprocessor found no answer.

    Args:
        eval_cfg: The data set's ``eval_cfg``, which may name a postprocessor.
        model_cfg: The model's config, which may name another.
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
