"""Every two entries of a benchmark, compared on the problems that both were asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opencompass_gpassk.report.benchmarks import Benchmark
from opencompass_gpassk.report.page.problems import PageProblem

__all__ = ['compare_entries']


def compare_entries(benchmark: Benchmark, problems: Sequence[PageProblem]) -> dict[str, Any]:
    """Return the difference of every two entries at the headline metrics."""
    return {'metrics': [], 'rows': []}
