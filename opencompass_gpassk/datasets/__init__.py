"""Data sets whose rows carry their problem's id and their replica number.

The classes load on first use: they import OpenCompass, which takes seconds.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opencompass_gpassk.datasets.aime import AIME
    from opencompass_gpassk.datasets.base import GPassKDataset
    from opencompass_gpassk.datasets.custom import CustomProblems
    from opencompass_gpassk.datasets.livemathbench import LiveMathBench
    from opencompass_gpassk.datasets.math500 import MATH500L5
    from opencompass_gpassk.datasets.rvbench import RVBench

__all__ = ['AIME', 'MATH500L5', 'CustomProblems', 'GPassKDataset', 'LiveMathBench', 'RVBench']

MODULES = {
    'AIME': 'aime',
    'CustomProblems': 'custom',
    'GPassKDataset': 'base',
    'LiveMathBench': 'livemathbench',
    'MATH500L5': 'math500',
    'RVBench': 'rvbench',
}


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(importlib.import_module(f'{__name__}.{MODULES[name]}'), name)
