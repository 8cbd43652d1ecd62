"""How reasoning is scored in a sweep: by whom, in which steps, and what counts as sound."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from opencompass_gpassk.formats.parse_settings import Settings
from opencompass_gpassk.judging.settings import JudgeSettings, recorded_judge, secret_in
from opencompass_gpassk.metrics.reasoning import SOUND_THRESHOLD
from opencompass_gpassk.runs.config import named

DEMO = 'demo'
DEMO_NAME = 'gpassk-demo-steps'
DEMONSTRATION = Path(__file__).parents[1] / 'demo/step_classifier'
Aggregate = Literal['min', 'max', 'mean', 'geometric mean']
WHO = ('model', 'reward_model', 'judge', 'type')
# Scorer → least validity of sound reasoning. The source of each is its macro F1 in finding wrong
# solutions: of the authors' recorded scores, among the 159 solutions of MR-MATH with right answers
# (arXiv 2404.05692; `gpassk reasoneval meta`); of the demonstration's, among 3,000 solutions made
# as its training data were.
THRESHOLDS = {
    'ReasonEval-34B': SOUND_THRESHOLD,  # the paper's Table 4; F1 0.799, at 0.5 0.796
    'ReasonEval-7B': 0.5,  # F1 0.786; at 0.25 it is 0.603, as a third of the wrong ones is found
    'math-shepherd-mistral-7b-prm': 0.5,  # F1 0.701, at 0.25 0.623
    DEMO_NAME: 0.5,  # F1 0.907, at 0.25 0.895
}
JUDGED_THRESHOLD = 0.5  # a judge's scores are 0 or 1
# Settings that scores depend on; others may name code on a hub.
OF_SCORES = ('threshold', 'validity_by', 'redundancy_by', 'delimiter', 'thinking')
OF_LOADING = ('dtype', 'device_map')
# Settings of a judge that are about answers, or have prompts of their own.
OF_ANSWERS = {
    *('match', 'undecided', 'prompt', 'menu', 'candidate', 'no_answer', 'tail_length'),
    *('recheck_different', 'price_per_mtok'),
}


@dataclass(frozen=True)
class ReasoningSettings(Settings):
    """The scorer of responses' steps, and its settings. Set one of the first four.

    Args:
        model: A step classifier, such as ``GAIR/ReasonEval-7B``, from a folder or the hub; ``demo``
            is the demonstration's classifier.
        reward_model: A process reward model with one number per step, such as
            ``peiyi9979/math-shepherd-mistral-7b-prm``, from a folder or the hub.
        judge: A judge that is asked with prompts: ``'llm'`` for the one that the environment
            variables OC_JUDGE_* name, or settings of
            :class:`~opencompass_gpassk.judging.settings.JudgeSettings`.
        type: A scorer of your own: a class or its import path (``package.module.Class``), with
            ``settings`` and ``stream`` as in :class:`~.scorers.SolutionScorer`.
        options: Further arguments of the scorer: ``batch_size``, ``position``, ``long`` … of
            :class:`~.classifier.StepScorer`; ``step_tag``, ``good``, ``bad`` of a reward model.
        model_kwargs: Loading options of the model: ``dtype``, ``device_map``,
            ``attn_implementation``, ``quantization_config``.
        threshold: A correct response is sound if its validity is at least this; by default that of
            the scorer: 0.25 for ReasonEval-34B, as in the paper; 0.5 for ReasonEval-7B and
            math-shepherd, by their metrics on MR-MATH, for the demonstration's classifier and for
            a judge. For another scorer it is 0.25, and the result says what that is.
        validity_by: How a solution's validity is made from its steps': ``min``, ``mean`` …
        redundancy_by: How its redundancy is made from its steps': ``max``, ``mean`` …
        delimiter: The text between steps; by default the one in the model's config
            (``step_delimiter``), else steps are found by
            :func:`~opencompass_gpassk.reasoneval.steps.split_steps`.
        thinking: ``drop`` or ``keep`` the thoughts of a response.

    Raises:
        ValueError: If a setting is out of its range, or no scorer or several are set.
    """

    name: ClassVar[str] = 'reasoning'
    text_sets: ClassVar[str] = 'model'
    example: ClassVar[str] = "dict(model='GAIR/ReasonEval-7B')"

    model: str = ''
    reward_model: str = ''
    judge: str | Mapping[str, Any] | None = None
    type: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    model_kwargs: Mapping[str, Any] = field(default_factory=dict)
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    validity_by: Aggregate = 'min'
    redundancy_by: Aggregate = 'max'
    delimiter: Annotated[str, Field(min_length=1)] | None = None
    thinking: Literal['drop', 'keep'] = 'drop'

    def __post_init__(self) -> None:
        super().__post_init__()
        who = [name for name in WHO if getattr(self, name)]
        if len(who) != 1:
            raise ValueError(
                f'reasoning names {" and ".join(who) or "nobody"}; give one of {", ".join(WHO)}, '
                "such as reasoning=dict(model='GAIR/ReasonEval-7B')"
            )
        if self.judge:
            self._check_judge(self.judge)
        if (self.model_kwargs and not self.source) or (self.options and self.judge):
            raise ValueError(
                'reasoning has options or model_kwargs of a model, but loads none; give settings '
                'of a judge in judge=dict(…), and those of your own scorer in options'
            )
        for name in ('options', 'model_kwargs'):
            if secret := secret_in(getattr(self, name)):
                raise ValueError(
                    f'{name} of reasoning holds {secret!r}: a key must not stand in a config, '
                    'which is written to the work dir; leave it to the environment, such as '
                    'HF_TOKEN'
                )

    def _check_judge(self, judge: str | Mapping[str, Any]) -> None:
        """Refuse settings that have no effect where steps are judged."""
        given = JudgeSettings.of(judge)  # raises an error if another setting is wrong
        if judge == 'cascade' or given.mode == 'rule':
            raise ValueError(
                f"judge of reasoning is {judge!r}; steps are judged by a model: use 'llm' "
                "or settings such as dict(model='…', api_base='http://…/v1')"
            )
        if idle := sorted(given.changed().keys() & OF_ANSWERS):
            raise ValueError(
                f'{", ".join(idle)} of judge: no effect on the steps of solutions, which have '
                'prompts of their own; leave it out'
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults, as JSON can hold them."""
        given = self.changed()
        if self.judge:  # fill in model and endpoints, which the environment may name
            given['judge'] = {**self.judge_settings.resolved(), 'mode': 'llm'}
        found: dict[str, Any] = json.loads(json.dumps(named(given), default=str))
        return found

    @property
    def judge_settings(self) -> JudgeSettings:
        """The settings of the judge, in a mode that asks it about everything."""
        return JudgeSettings.of(
            {**self.judge, 'mode': 'llm'} if isinstance(self.judge, Mapping) else 'llm'
        )

    @property
    def sound_threshold(self) -> float:
        """Least validity of sound reasoning, as set, or of the scorer, or the paper's."""
        if self.threshold is not None:
            return float(self.threshold)
        if self.judge:
            return JUDGED_THRESHOLD
        return THRESHOLDS.get(Path(self.scorer).name, SOUND_THRESHOLD)

    @property
    def borrows_threshold(self) -> bool:
        """Whether the threshold is one that was chosen for another scorer."""
        known = self.judge or Path(self.scorer).name in THRESHOLDS
        return self.threshold is None and not known

    @property
    def source(self) -> str:
        """Where the model is loaded from, '' if no model is loaded."""
        return str(DEMONSTRATION) if self.model == DEMO else self.model or self.reward_model

    @property
    def scorer(self) -> str:
        """The scorer's name; for a model in a folder, without the folder's path."""
        if self.judge:
            name = self.judge_settings.model or os.environ.get('OC_JUDGE_MODEL', '')
            return name if isinstance(name, str) and name else 'judge'
        if self.model == DEMO:
            return DEMO_NAME
        name = self.model or self.reward_model
        if not name:
            return str(named(self.type)).rpartition('.')[2]
        return Path(name).resolve().name if Path(name).is_dir() else name


def configured(**settings: Any) -> dict[str, Any]:
    """Return the settings of reasoning scores for a config that environment variables can change.

    The step classifier is the one that GPASSK_STEP_MODEL names (a folder or an id of the hub), else
    the demonstration's. With GPASSK_STEP_GPUS it is loaded on GPUs in bfloat16. Errors in the
    settings are raised here, before the inference, not after it.

    Args:
        **settings: Fields of :class:`~.settings.ReasoningSettings`, which replace these. If they
            name a scorer, the environment doesn't.

    Raises:
        ValueError: If a setting is wrong.
    """
    chosen: dict[str, Any] = {}
    if not any(settings.get(who) for who in WHO):
        named = os.environ.get('GPASSK_STEP_MODEL', '').strip()
        chosen = {'model': named or DEMO}
        if Path(named).is_dir() and named:
            chosen['model'] = str(Path(named).resolve())
        elif named.startswith(('.', '/', '~')):
            raise ValueError(
                f'GPASSK_STEP_MODEL is {named!r}, which is no folder; give the folder of a step '
                'classifier, or an id of the hub such as GAIR/ReasonEval-7B'
            )
    if configured_gpus() and not (settings.get('judge') or settings.get('type')):
        chosen['model_kwargs'] = {'dtype': 'bfloat16', 'device_map': 'auto'}
    chosen |= settings
    ReasoningSettings.of(chosen)
    return chosen


def configured_gpus() -> int:
    """Return how many GPUs the scoring of a data set asks for: GPASSK_STEP_GPUS, by default none.

    Raises:
        ValueError: If GPASSK_STEP_GPUS isn't a valid number.
    """
    said = os.environ.get('GPASSK_STEP_GPUS', '').strip() or '0'
    if not (said.isascii() and said.isdigit()):
        raise ValueError(f'GPASSK_STEP_GPUS is {said!r}; give a whole number of GPUs')
    return int(said)


def recorded_reasoning(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a scorer of steps that a result records, which may be someone else's.

    They are used if it is the demonstration's classifier, the model in GPASSK_STEP_MODEL, or a
    judge, which is asked as :func:`~opencompass_gpassk.judging.settings.recorded_judge` says.

    Raises:
        ValueError: If it is another scorer, or a setting is out of its range.
    """
    kept = {name: settings[name] for name in OF_SCORES if name in settings}
    if judge := settings.get('judge'):
        asked = recorded_judge({**judge, 'mode': 'llm'}) if isinstance(judge, Mapping) else 'llm'
        return {**kept, 'judge': asked}
    model = settings.get('model')
    if model != DEMO and (not model or model != configured().get('model')):
        who = str(model or settings.get('reward_model') or settings.get('type'))[:80]
        named = f'--model MODEL, or GPASSK_STEP_MODEL={who}' if model else '--reward-model MODEL'
        raise ValueError(
            f'steps were scored by {who}, and a run folder can not choose which model is loaded; '
            f'name it: gpassk reasoneval run RUN '
            f'{"--settings FILE" if settings.get("type") else named}'
        )
    options, where = (settings.get(name) or {} for name in ('options', 'model_kwargs'))
    kept['model'] = model
    kept['options'] = {n: one for n, one in options.items() if isinstance(one, (str, int, float))}
    kept['model_kwargs'] = {n: where[n] for n in OF_LOADING if isinstance(where.get(n), str)}
    return ReasoningSettings.of(kept).as_dict()
