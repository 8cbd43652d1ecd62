"""Scorers of solutions' steps: made from settings, loaded once per process, and what they owe."""

from __future__ import annotations

import gc
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from types import NoneType
from typing import Any, Protocol

import numpy as np

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.parse_settings import check_names
from opencompass_gpassk.judging.settings import sees_gpus
from opencompass_gpassk.metrics.reasoning import validity
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores
from opencompass_gpassk.runs.config import named

LARGE = 10**9  # parameters; a larger model takes hours on a CPU

_last: tuple[str, SolutionScorer] | None = None  # the scorer loaded last, with its source


class SolutionScorer(Protocol):
    """The interface of a scorer of solutions' steps."""

    @property
    def settings(self) -> dict[str, Any]:
        """What scores depend on besides the solution, as JSON values."""

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield index and scores of each solution, in any order, as soon as it is scored.

        Args:
            solutions: The solutions to score.
            progress: Show a bar on standard error.
        """


def make_scorer(
    settings: ReasoningSettings, *, report: Callable[[str], None] = print
) -> SolutionScorer:
    """Return the scorer that settings name, ready to score.

    The scorer loaded last is kept and returned again for equal settings, so that the data sets of a
    task share it. Without a ``device_map`` a model goes to the GPU, if there is one. A judge is not
    kept: a judge over HTTP loads nothing, and a model in process is kept by the judge itself.

    Args:
        settings: The scorer, and its loading options.
        report: Takes a message on a large model on the CPU.

    Raises:
        ValueError: If a setting is unknown or out of its range, the checkpoint can't be loaded, or
            a GPU is named and there is none.
        OSError: If there is no such checkpoint.
    """
    global _last
    if settings.judge:
        from opencompass_gpassk.judging.judge import make_judge
        from opencompass_gpassk.reasoneval.step_judge import PromptedStepJudge

        return PromptedStepJudge(make_judge(settings.judge_settings))
    key = stable_hash(
        [
            *(settings.model, settings.reward_model, str(named(settings.type))),
            *(named(settings.options), named(settings.model_kwargs)),
            *_files(settings.source),
        ]
    )
    if _last is None or _last[0] != key:
        _last = None  # free its memory before the next one is loaded
        _last = key, _own(settings) if settings.type else _loaded(settings, report)
    return _last[1]


def step_delimiter(settings: ReasoningSettings, scorer: SolutionScorer) -> str | None:
    """Return the delimiter of steps in responses, from the settings or the scorer's checkpoint."""
    return settings.delimiter or getattr(scorer, 'delimiter', None)


def forget_scorer() -> None:
    """Drop the kept scorer, so that another model can use its memory."""
    global _last
    if _last is None:
        return
    _last = None
    gc.collect()
    if (torch := sys.modules.get('torch')) is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _files(source: str) -> list[Any]:
    """Return a value that changes with a folder's files: its model may have been trained anew."""
    folder = Path(source)
    if not source or not folder.is_dir():
        return []
    stats = ((path.name, path.stat()) for path in sorted(folder.iterdir()))
    return [str(folder.absolute()), *((name, it.st_size, it.st_mtime_ns) for name, it in stats)]


def _loaded(settings: ReasoningSettings, report: Callable[[str], None]) -> SolutionScorer:
    """Return a scorer with a model from a folder or the hub."""
    from opencompass_gpassk.reasoneval.batching import BatchedScorer
    from opencompass_gpassk.reasoneval.classifier import StepScorer
    from opencompass_gpassk.reasoneval.reward_model import ProcessRewardScorer

    source = settings.source
    kind = StepScorer if settings.model else ProcessRewardScorer
    known = {**inspect.signature(kind).parameters, **inspect.signature(BatchedScorer).parameters}
    own = [name for name in known if name not in ('model', 'tokenizer', 'batching')]
    check_names(settings.options, own, f'options of reasoning for {kind.__name__}')
    where = _model_settings(settings.model_kwargs)
    if (source.startswith(('/', '.', '~')) or source.count('/') > 1) and not Path(source).is_dir():
        raise ValueError(f'{source}: there is no such folder; name one, or an id of the hub')
    try:
        scorer: BatchedScorer = kind.load(source, model=where, **settings.options)
    except (ValueError, OSError):
        raise  # these errors explain themselves
    except Exception as error:  # damaged weights and missing tokenizers fail in many ways
        raise ValueError(
            f'{source}: not a checkpoint that can be loaded ({type(error).__name__}: {error}); '
            'are its weights whole, and its tokenizer there?'
        ) from error
    parameters = sum(weight.numel() for weight in scorer.model.parameters())
    if parameters > LARGE and scorer.model.device.type == 'cpu':
        report(
            f'{source} has {parameters / 1e9:.1f} billion parameters and runs on the CPU, which '
            'takes hours; in a sweep ask for a GPU: eval_cfg=dict(num_gpus=1, …)'
        )
    return scorer


def _model_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's checked loading options, with the GPU as the default device if visible.

    Raises:
        ValueError: If the dtype doesn't exist, or a GPU is named and not visible.
    """
    import torch

    found: dict[str, Any] = named(given)
    dtype = found.get('dtype')
    if isinstance(dtype, str):
        found['dtype'] = dtype = dtype.removeprefix('torch.')
        if dtype != 'auto' and not isinstance(getattr(torch, dtype, None), torch.dtype):
            raise ValueError(
                f'dtype of the model is {dtype!r}; use auto, bfloat16, float16 or float32'
            )
    place = found.get('device_map')
    places = place.values() if isinstance(place, Mapping) else [place]
    named_gpu = any('cuda' in str(one) or isinstance(one, int) for one in places)
    if named_gpu and not sees_gpus():
        raise ValueError(
            f'device_map of the model is {place!r}, but no GPU can be seen (CUDA_VISIBLE_DEVICES '
            f'is {os.environ.get("CUDA_VISIBLE_DEVICES")!r}). OpenCompass gives an evaluation the '
            'GPUs that its config asks for: eval_cfg=dict(num_gpus=1, evaluator=…)'
        )
    if place is None and sees_gpus() and importlib.util.find_spec('accelerate'):
        found['device_map'] = 'auto'
    return found


def _own(settings: ReasoningSettings) -> SolutionScorer:
    """Return a scorer of the user's own class.

    Raises:
        ValueError: If there is no such class, it doesn't take these options, or is no scorer.
    """
    kind = settings.type
    if isinstance(kind, str):
        from mmengine.utils import get_object_from_string

        kind = get_object_from_string(kind)
    if not callable(kind):
        raise ValueError(
            f'type of reasoning is {settings.type!r}, where no class is found; give a class, or '
            "its import path: 'package.module.Class'"
        )
    try:
        inspect.signature(kind).bind(**settings.options)
    except (TypeError, ValueError) as error:  # built-in scorers raise ValueError
        raise ValueError(f'options of reasoning do not fit {named(kind)}: {error}') from error
    scorer: SolutionScorer = kind(**settings.options)
    if not hasattr(scorer, 'settings') or not hasattr(scorer, 'stream'):
        raise ValueError(
            f'type of reasoning: {named(kind)} is no scorer: it needs settings, stream'
        )
    return scorer


def identity_of(scorer: SolutionScorer) -> dict[str, Any]:
    """Return the identity under which a scorer's scores are stored.

    For this package's scorers it is their settings, which differ between kinds. For another scorer
    the class is added: two classes with equal settings may give different scores.

    Raises:
        ValueError: If its settings aren't a mapping that JSON can hold.
    """
    kind = type(scorer)
    try:
        settings = dict(scorer.settings)
        json.dumps(settings, sort_keys=True, default=str)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f'settings of {kind.__name__}: {short_line(repr(scorer.settings), 80)} can not be kept '
            f'as JSON ({error}); give a mapping of what its scores depend on, with texts as names, '
            'and texts, numbers, lists and mappings as values'
        ) from error
    if kind.__module__.partition('.')[0] == __name__.partition('.')[0]:
        return settings
    return {'class': f'{kind.__module__}.{kind.__qualname__}', 'settings': settings}


def checked_item(
    scorer: SolutionScorer, item: Any, solutions: Sequence[Solution]
) -> tuple[int, StepScores]:
    """Return the solution's index and scores in an item of a scorer's stream.

    Numbers that are not finite, and scores of no steps, become refusals.

    Raises:
        ValueError: If the item isn't a solution's index with scores of its steps.
    """
    name = type(scorer).__name__
    index, scores = item if isinstance(item, tuple) and len(item) == 2 else (None, None)
    if (
        not isinstance(scores, StepScores)
        or not isinstance(index, Integral)
        or not 0 <= int(index) < len(solutions)
    ):
        raise ValueError(
            f'{name}.stream() gave {short_line(repr(item), 80)}; give pairs of the index of a '
            f'solution, from 0 to {len(solutions) - 1}, and its StepScores'
        )
    refusal, tokens = scores.refusal, scores.tokens
    if not isinstance(refusal, (Refusal, NoneType)) or not isinstance(tokens, Integral):
        raise ValueError(
            f'{name}: the refusal {refusal!r} with {tokens!r} tokens; give a Refusal or None, and '
            'a whole number of tokens, 0 if unknown'
        )
    steps = len(solutions[int(index)].steps)
    try:
        numbers = np.asarray(scores.probabilities, np.float64)
        if refusal is None and not steps:
            refusal = Refusal.EMPTY
        elif refusal is None and not np.isfinite(numbers).all():
            refusal = Refusal.NOT_FINITE
        elif refusal is None:
            validity(numbers)  # raises an error unless the rows are distributions or shares
    except (TypeError, ValueError) as error:
        raise ValueError(f'{name}: {error}') from error
    if np.shape(numbers)[:1] != (steps,):
        raise ValueError(
            f'{name} gave scores of shape {np.shape(numbers)} to a solution of {steps} steps; give '
            'one row of scores per step'
        )
    if refusal is not None:
        return int(index), StepScores.refused(steps, refusal, int(tokens))
    return int(index), StepScores(numbers, tokens=int(tokens))
