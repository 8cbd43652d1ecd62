"""Stability of language models on reasoning benchmarks: G-Pass@k, RV-Bench, ReasonEval.

>>> from opencompass_gpassk import g_pass_at_k, summarize
>>> g_pass_at_k(n=8, c=6, k=4, tau=0.75)  # at least 3 of 4 samples are right
0.7857142857142857
>>> summary = summarize(n=8, c=[8, 6, 0])  # three problems: metrics with intervals
>>> round(summary['G-Pass@4_0.75'].value, 3)
0.595
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opencompass_gpassk.compare.comparison import compare_results
    from opencompass_gpassk.datasets.upgrade import upgraded
    from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k
    from opencompass_gpassk.report.notebook import metric_rows, trial_rows
    from opencompass_gpassk.results.summary import summarize

__version__ = '0.1.0'

__all__ = [
    '__version__',
    'compare_results',
    'g_pass_at_k',
    'metric_rows',
    'mg_pass_at_k',
    'pass_at_k',
    'summarize',
    'trial_rows',
    'upgraded',
]

PLACES = {
    'compare_results': 'compare.comparison',
    'metric_rows': 'report.notebook',
    'g_pass_at_k': 'metrics.gpassk',
    'mg_pass_at_k': 'metrics.gpassk',
    'pass_at_k': 'metrics.gpassk',
    'summarize': 'results.summary',
    'trial_rows': 'report.notebook',
    'upgraded': 'datasets.upgrade',
}


def __getattr__(name: str) -> Any:
    """Import a public function at its first use, since what it needs loads slowly."""
    if name not in PLACES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    found = globals()[name] = getattr(import_module(f'{__name__}.{PLACES[name]}'), name)
    return found


def __dir__() -> list[str]:
    return [*__all__, '__doc__', '__file__', '__name__', '__path__']
