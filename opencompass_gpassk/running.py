"""The task of OpenCompass that the present call is part of: it knows what it doesn't hand over."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ['running_task']


def running_task(kind: str) -> Any:
    """Return the task of the class named ``kind`` that runs now, None outside of one."""
    frame = inspect.currentframe()
    while frame is not None:
        task = frame.f_locals.get('self')
        if any(ancestor.__name__ == kind for ancestor in type(task).__mro__):
            return task
        frame = frame.f_back
    return None
