"""Metrics as objects: estimators of a chance from n samples of a problem, c of them correct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.gpassk import Counts, correct_counts, g_pass_at_k, mg_pass_at_k
from opencompass_gpassk.metrics.version_metrics import ratio


@dataclass(frozen=True)
class Estimator:
    """A metric of k samples of a problem, with an unbiased estimate from any n ≥ k samples.

    Args:
        kind: ``accuracy``, ``G-Pass`` (with τ = 0 it is pass@k), ``mG-Pass``, or ``stability gap``:
            pass@k minus G-Pass@k at τ = 1.
        k: Number of samples that the metric is defined on; 1 for accuracy.
        tau: Threshold of G-Pass.
    """

    kind: str
    k: int = 1
    tau: float = 0.0

    def __call__(self, n: ArrayLike, c: ArrayLike) -> NDArray[np.float64]:
        """Return the estimates of problems with c correct ones among n samples.

        Returns:
            Estimates in [0, 1], in the shape that n and c broadcast to; NaN where n < k.

        Raises:
            ValueError: If a count is negative or no integer, or c > n.
        """
        n, c = correct_counts(n, c)
        n, c = np.broadcast_arrays(n, c)
        if self.kind == 'accuracy':
            return ratio(c, n)
        if self.kind == 'mG-Pass':
            return np.asarray(mg_pass_at_k(n, c, self.k))
        found = np.asarray(g_pass_at_k(n, c, self.k, self.tau))
        return found - g_pass_at_k(n, c, self.k, 1.0) if self.kind == 'stability gap' else found


def problem_counts(n: ArrayLike, c: ArrayLike) -> tuple[Counts, Counts]:
    """Return the checked numbers of samples and of correct ones, both of shape (P,).

    Raises:
        ValueError: If a count is negative or no integer, or c > n.
    """
    samples, right = correct_counts(n, c)
    samples, right = np.broadcast_arrays(np.atleast_1d(samples), np.atleast_1d(right))
    return samples, right
