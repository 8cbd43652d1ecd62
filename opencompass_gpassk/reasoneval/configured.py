"""What ``reasoning=`` in a config is to be, where the environment has a say."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from opencompass_gpassk.reasoneval.settings import DEMO, WHO, ReasoningSettings

__all__ = ['configured', 'configured_gpus']

MOST_GPUS = 64


def configured(**settings: Any) -> dict[str, Any]:
    """Return the settings of reasoning scores: for configs, which the environment sets up.

    The step classifier is the one that GPASSK_STEP_MODEL names, a folder or an id of the hub; else
    that of the demonstration. With GPASSK_STEP_GPUS it is loaded
    there, in bfloat16. What is wrong is an error here, before the inference, not after it.

    Args:
        **settings: Of :class:`~.settings.ReasoningSettings`; they replace these. If they say who
            scores, the environment doesn't.

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
                f'GPASSK_STEP_MODEL is {named!r}, where there is no folder; give that of a step '
                'classifier, or an id of the hub such as GAIR/ReasonEval-7B'
            )
    if configured_gpus() and not settings.get('judge'):
        chosen['model_kwargs'] = {'dtype': 'bfloat16', 'device_map': 'auto'}
    chosen |= settings
    ReasoningSettings.of(chosen)
    return chosen


def configured_gpus() -> int:
    """Return how many GPUs the scoring of a data set asks for: GPASSK_STEP_GPUS, by default none.

    Raises:
        ValueError: If it is no such number.
    """
    said = os.environ.get('GPASSK_STEP_GPUS', '').strip() or '0'
    if not (said.isascii() and said.isdigit()) or int(said) > MOST_GPUS:
        raise ValueError(f'GPASSK_STEP_GPUS is {said!r}; give a number from 0 to {MOST_GPUS}')
    return int(said)
