"""The running OpenCompass task: it knows configs that it doesn't pass on to its parts."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from opencompass.registry import TEXT_POSTPROCESSORS
from opencompass.utils import get_logger

EVALUATORS = ('GPassKEvaluator', 'ReasonEvalEvaluator')  # those of ours
UNREAD = 'The evaluator of opencompass-gpassk reads the responses, as a stream'


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


def leave_responses_unread() -> None:
    """Keep the running evaluation from loading the responses; data sets call it while they load.

    OpenCompass's task loads all of them, in 4.8 times the size of the files. Our evaluators read
    them again, as a stream. A task class of ours would not help: tasks are started by the name of
    OpenCompass's own file, which ``--slurm`` and ``--dlc`` write into the config in any case.
    """
    task = running_task()
    if not hasattr(task, '_load_predictions'):
        return
    dataset, load = task.dataset_cfg, task._load_predictions
    kind = dataset['eval_cfg']['evaluator'].get('type')
    if getattr(kind, '__name__', str(kind)).rpartition('.')[2] not in EVALUATORS:
        return

    def load_nothing() -> tuple[list[dict[str, Any]], list[str] | None]:
        if task.dataset_cfg is not dataset:  # the task went on to a data set of another class
            found: tuple[list[dict[str, Any]], list[str]] = load()
            return found
        get_logger().info(UNREAD)
        return [{}], None

    task._load_predictions = load_nothing


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
