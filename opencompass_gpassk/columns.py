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
    """

    values: Mapping[str, Row]
    clusters: NDArray[np.int64]

    def among(self, units: Sequence[int] | NDArray[np.int64]) -> Columns:
        """Return the columns of some of the problems, groups or responses."""
        chosen = np.asarray(units, dtype=np.int64)
        return Columns(
            {name: values[chosen] for name, values in self.values.items()}, self.clusters[chosen]
        )

    def percentages(self) -> dict[str, float]:
        """Return the figures, in percent."""
        return {name: percent(values) for name, values in self.values.items()}


def percent(values: NDArray[np.float64]) -> float:
    """Return the mean over problems in percent, of those where it is defined; NaN if of none."""
    defined = values[~np.isnan(values)]
    mean = float(100.0 * defined.mean()) if len(defined) else math.nan
    return 0.0 if abs(mean) < ROUNDING else mean  # differences that are 0, but for rounding
