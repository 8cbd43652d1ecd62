"""Problems that are versions of one another, such as translations, are one cluster.

A model that solves a problem in English is likely to solve it in Chinese. Such problems are not
independent of one another; clusters are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.variables import ratio

__all__ = ['ClusterSums', 'cluster_numbers']

Numbers = NDArray[np.float64]


def cluster_numbers(clusters: ArrayLike | None, size: int) -> NDArray[np.int64]:
    """Return the number of each problem's cluster, from 0, in the order of the sorted labels.

    Args:
        clusters: Shape (size,), what is equal is one cluster; None if each is one of its own.
        size: Problems.

    Raises:
        ValueError: If there are more or fewer clusters than problems.
    """
    if clusters is None:
        return np.arange(size)
    labels = np.asarray(clusters)
    if labels.shape != (size,):
        raise ValueError(
            f'clusters are {labels.size}, but there are {size} values; give each a label'
        )
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


@dataclass(frozen=True)
class ClusterSums:
    """Sums over the problems of each of C clusters, of M columns.

    Attributes:
        totals: Shape (C, M), the sum of the values that are defined.
        counts: Shape (C, M), how many these are.
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
            clusters: Shape (P,), what is equal is one cluster; None if each problem is one.
            weights: Shape (P,), from 0 on: ``totals`` are then of values times their weights, and
                ``counts`` of the weights.

        Raises:
            ValueError: If values aren't of two dimensions or infinite, or clusters or weights not
                as many.
        """
        numbers = np.asarray(values, float)
        if numbers.ndim != 2:
            raise ValueError(
                f'values have shape {numbers.shape}; give a row to each problem and a column to '
                'each figure'
            )
        if np.isinf(numbers).any():
            raise ValueError('values hold an infinite one; NaN is what is undefined')
        counts = (~np.isnan(numbers)).astype(float)
        if weights is not None:
            counts *= _weights(weights, len(numbers))[:, None]
        numbers = np.where(counts > 0, numbers, 0.0) * counts
        if clusters is None:
            return cls(numbers, counts)
        member = cluster_numbers(clusters, len(numbers))
        if not len(numbers):
            return cls(numbers, counts)
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
        """Shape (M,), clusters in which a value is defined."""
        return (self.counts > 0).sum(axis=0)

    def columns(self, chosen: slice | NDArray[np.bool_]) -> ClusterSums:
        """Return the sums of some of the columns."""
        return ClusterSums(self.totals[:, chosen], self.counts[:, chosen])

    def deviations(self, centre: Numbers) -> Numbers:
        """Return how far each cluster's total is from what it were if all its values were centre.

        Args:
            centre: Shape (M,).

        Returns:
            Shape (C, M); 0 where nothing is defined.
        """
        return self.totals - self.counts * np.where(np.isnan(centre), 0.0, centre)


def _weights(weights: ArrayLike, size: int) -> Numbers:
    found = np.asarray(weights, float)
    if found.shape != (size,) or not (found >= 0).all():
        raise ValueError(
            f'weights have shape {found.shape}; give {size} numbers from 0 on, one a problem'
        )
    return found
