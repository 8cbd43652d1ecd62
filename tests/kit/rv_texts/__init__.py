"""Independent readers of the questions with random variables, a module for each of theirs.

A reader is handed the English text of a version and an answer, and tells whether the answer is
right: by enumeration, exact simulation, another route of mathematics, or by putting the answer into
the problem. It sees neither the variables nor how the question finds its answer.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from typing import Any

Reader = Callable[[str, Any], bool]
READERS: dict[str, Reader] = {}
NUMBER = re.compile(r'(- ?)?(\d+)')


def reader(function: Reader) -> Reader:
    """Register the decorated function as the reader of the question of the same name."""
    if function.__name__ in READERS:
        raise ValueError(f'{function.__name__} has two readers')
    READERS[function.__name__] = function
    return function


def numbers(text: str) -> list[int]:
    """Return the integers that a text prints, in their order: ``$3x - 4y = 5$`` has 3, -4 and 5."""
    return [-int(digits) if minus else int(digits) for minus, digits in NUMBER.findall(text)]


def load() -> dict[str, Reader]:
    """Import all modules of readers."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f'{__name__}.{module.name}')
    return READERS
