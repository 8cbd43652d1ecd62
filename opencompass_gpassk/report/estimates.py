"""A figure with how sure it is, as a result file tells it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ['Estimate', 'estimate']


class Estimate(float):
    """A figure in percent with its interval; what is computed from it is a plain number.

    Attributes:
        interval: Lower and upper end, in percent.
        method: How the interval came about: ``bca``, ``percentile`` or ``wilson``.
        uncertainty: The settings of the result's intervals, and what they are for (``of``).
    """

    interval: tuple[float, float]
    method: str
    uncertainty: Mapping[str, Any]

    def __new__(
        cls,
        value: float,
        interval: tuple[float, float],
        method: str = '',
        uncertainty: Mapping[str, Any] | None = None,
    ) -> Estimate:
        made = super().__new__(cls, value)
        made.interval, made.method, made.uncertainty = interval, method, uncertainty or {}
        return made


def estimate(result: Mapping[str, Any], key: str) -> float:
    """Return a figure of a result, which must be there; NaN where it is undefined.

    It is an :class:`Estimate` where the result has an interval for it: results that were made
    before there were intervals, or without them, have none.
    """
    value = math.nan if result[key] is None else float(result[key])
    intervals, uncertainty = result.get('intervals'), result.get('uncertainty')
    ends = intervals.get(key) if isinstance(intervals, Mapping) else None
    if math.isnan(value) or not isinstance(ends, (list, tuple)) or len(ends) != 2:
        return value
    if not all(isinstance(end, (int, float)) and math.isfinite(end) for end in ends):
        return value
    known = uncertainty if isinstance(uncertainty, Mapping) else {}
    return Estimate(value, (float(ends[0]), float(ends[1])), _method(known, key), known)


def _method(uncertainty: Mapping[str, Any], key: str) -> str:
    others = uncertainty.get('other_methods')
    for method, keys in others.items() if isinstance(others, Mapping) else ():
        if isinstance(keys, (list, tuple)) and key in keys:
            return str(method)
    return str(uncertainty.get('method', ''))
