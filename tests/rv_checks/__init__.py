"""Independent checks of the questions with random variables, a module for each of theirs.

A check is handed a version of a question and an answer, and tells whether the answer is right: by
enumeration, exact simulation, another route of mathematics, or by putting the answer into the
problem. It must not use the question's own solve().
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

CHECKS: dict[str, Callable[[Any, Any], bool]] = {}


def check(question: type[Any]) -> Callable[[Callable[[Any, Any], bool]], Callable]:
    """Register the decorated function as the check of a question."""

    def add(function: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
        if question.__name__ in CHECKS:
            raise ValueError(f'{question.__name__} has two checks')
        CHECKS[question.__name__] = function
        return function

    return add


def load() -> dict[str, Callable[[Any, Any], bool]]:
    """Import all modules of checks."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f'{__name__}.{module.name}')
    return CHECKS
