"""Clusters of problems: versions of one problem, such as translations, form one cluster.

A model that solves a problem in English is likely to solve it in Chinese. Problems of one cluster
are therefore correlated; clusters are independent of one another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.version_metrics import ratio

LEAST_CLUSTERS = 5  # of an interval: fewer don't tell how much clusters differ

Numbers = NDArray[np.float64]


def cluster_numbers(clusters: ArrayLike | None, size: int) -> NDArray[np.int64]:
    """Return the number of each problem's cluster, from 0, in the order of the sorted labels.

    Args:
        clusters: Shape (size,), equal labels are one cluster; None if each problem is one.
        size: Number of problems.
    """
    if clusters is None:
        return np.arange(size)
    return np.unique(np.asarray(clusters), return_inverse=True)[1].reshape(-1).astype(np.int64)


@dataclass(frozen=True)
class ClusterSums:
    """Sums of M columns over the problems of each of C clusters.

    Attributes:
        totals: Shape (C, M), sum of the defined values.
        counts: Shape (C, M), number of the defined values.
    """

    totals: Numbers
    counts: Numbers

    @classmethod
    def of(
        cls, values: ArrayLike, clusters: ArrayLike | None = None, weights: ArrayLike | None = None
    ) -> ClusterSums:
        """Return the sums of values of shape (P, M), NaN where a value is undefined.

        Args:
            values: The values.
            clusters: Shape (P,), equal labels are one cluster; None if each problem is one.
            weights: Shape (P,), at least 0: ``totals`` then sums values times weights, and
                ``counts`` sums weights.
        """
        numbers = np.asarray(values, float)
        counts = (~np.isnan(numbers)).astype(float)
        if weights is not None:
            counts *= np.asarray(weights, float)[:, None]
        numbers = np.where(counts > 0, numbers, 0.0) * counts
        if clusters is None or not len(numbers):
            return cls(numbers, counts)
        member = cluster_numbers(clusters, len(numbers))
        order = np.argsort(member, kind='stable')
        starts = np.flatnonzero(np.diff(member[order], prepend=-1))
        return cls(
            np.add.reduceat(numbers[order], starts, axis=0),
            np.add.reduceat(counts[order], starts, axis=0),
        )

    @property
    def means(self) -> Numbers:
        """Shape (M,), the mean of the values that are defined; NaN where none is."""
        return ratio(self.totals.sum(axis=0), self.counts.sum(axis=0))

    @property
    def defined(self) -> NDArray[np.int64]:
        """Shape (M,), number of clusters in which a value is defined."""
        return (self.counts > 0).sum(axis=0)

    def columns(self, chosen: slice | NDArray[np.bool_]) -> ClusterSums:
        """Return the sums of some of the columns."""
        return ClusterSums(self.totals[:, chosen], self.counts[:, chosen])

    def deviations(self, centre: Numbers) -> Numbers:
        """Return each cluster's total less the total if all its values were ``centre``.

        Args:
            centre: Shape (M,).

        Returns:
            Shape (C, M); 0 where nothing is defined.
        """
        return self.totals - self.counts * np.where(np.isnan(centre), 0.0, centre)
