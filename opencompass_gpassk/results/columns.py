"""Figures as means: over problems, over groups of their versions, or over responses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ['Columns', 'percent']

ROUNDING = 1e-9  # percent

Row = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """What some figures are means of.

    Attributes:
        values: Name of a figure to shape (U,), of U problems, groups or responses: shares in
            [0, 1], or differences of shares; NaN where one is undefined, and left out.
        clusters: Shape (U,): what shares a number belongs to one question, and is not independent.
        weights: Shape (U,), from 0 on, what each counts; None if all count alike.
    """

    values: Mapping[str, Row]
    clusters: NDArray[np.int64]
    weights: Row | None = None

    def among(self, units: Sequence[int] | NDArray[np.int64]) -> Columns:
        """Return the columns of some of the problems, groups or responses."""
        chosen = np.asarray(units, dtype=np.int64)
        return Columns(
            {name: values[chosen] for name, values in self.values.items()},
            self.clusters[chosen],
            None if self.weights is None else self.weights[chosen],
        )

    def percentages(self) -> dict[str, float]:
        """Return the figures, in percent."""
        return {name: percent(values, self.weights) for name, values in self.values.items()}


def percent(values: Row, weights: Row | None = None) -> float:
    """Return the mean over problems in percent, of those where it is defined; NaN if of none.

    Args:
        values: Shape (U,), NaN where undefined.
        weights: Shape (U,), from 0 on; None if all are equal.
    """
    known = ~np.isnan(values)
    weight = np.ones(len(values)) if weights is None else weights
    total = weight[known].sum()
    mean = float(100.0 * (weight[known] @ values[known]) / total) if total > 0 else math.nan
    return 0.0 if abs(mean) < ROUNDING else mean  # differences that are 0, but for rounding
