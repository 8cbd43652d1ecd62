"""Scorers of solutions' steps: made from settings, loaded once per process, and what they owe."""

from __future__ import annotations

import gc
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

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
        ValueError: If there is no such class.
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
    scorer: SolutionScorer = kind(**settings.options)
    return scorer


def identity_of(scorer: SolutionScorer) -> dict[str, Any]:
    """Return the identity under which a scorer's scores are stored.

    For this package's scorers it is their settings, which differ between kinds. For another scorer
    the class is added: two classes with equal settings may give different scores.
    """
    kind = type(scorer)
    if kind.__module__.partition('.')[0] == __name__.partition('.')[0]:
        return scorer.settings
    return {'class': f'{kind.__module__}.{kind.__qualname__}', 'settings': scorer.settings}


def checked(scorer: SolutionScorer, scores: StepScores, steps: int) -> StepScores:
    """Return a scorer's scores of a solution; without finite scores of steps they are a refusal.

    Raises:
        ValueError: If they aren't scores of so many steps.
    """
    numbers = np.asarray(scores.probabilities, np.float64)
    refusal = scores.refusal
    if refusal is None and not steps:
        refusal = Refusal.EMPTY
    if refusal is None and not np.isfinite(numbers).all():
        refusal = Refusal.NOT_FINITE
    if refusal is not None:
        return StepScores.refused(steps, refusal, int(scores.tokens))
    try:
        found = len(validity(numbers))  # it refuses rows that are no distributions or shares
    except ValueError as error:
        raise ValueError(f'{type(scorer).__name__}: {error}') from error
    if found != steps:
        raise ValueError(
            f'{type(scorer).__name__} gave {found} rows of scores to a solution of {steps} steps; '
            'give one row per step'
        )
    return StepScores(numbers, tokens=int(scores.tokens))
