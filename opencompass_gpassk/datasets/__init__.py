"""Data sets whose rows carry their problem's id and their replica number.

The classes load on first use: they import OpenCompass, which takes seconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

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
    return getattr(import_module(f'{__name__}.{MODULES[name]}'), name)
