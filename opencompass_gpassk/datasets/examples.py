"""Old import path of :mod:`opencompass_gpassk.datasets.prompts`."""

from opencompass_gpassk.datasets.prompts import EXAMPLES, STOP, few_shot_prompt

__all__ = ['EXAMPLES', 'STOP', 'few_shot_prompt']
