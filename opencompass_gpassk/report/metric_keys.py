"""Which figures a result holds, under which keys, and what they are called in tidy tables."""

from __future__ import annotations

from collections.abc import Iterable

from opencompass_gpassk.protocol import MAJORITY_VOTE, accuracy_key
from opencompass_gpassk.report.benchmarks import Result, has_verdicts, sample_count
from opencompass_gpassk.soundness import (
    DROP_TO_SOUND,
    FALSE_POSITIVES,
    REDUNDANCY,
    SCORED,
    SOUND,
    VALIDITY,
)
from opencompass_gpassk.version_groups import (
    DROP,
    SP_ACCURACY,
    UNDERSTANDING,
    UNDERSTANDING_SCORE,
)

__all__ = ['metric_keys']

OF_VERSIONS = (
    *('CR', 'OOR', SP_ACCURACY, DROP, UNDERSTANDING_SCORE),
    *UNDERSTANDING,
    *('variance between versions', 'variance between samples'),
)
OF_REASONING = (
    *(f'{name}{of}' for name in (VALIDITY, REDUNDANCY) for of in ('', ' (right)', ' (wrong)')),
    *(FALSE_POSITIVES, SCORED),
)
SHARES = ('coverage', 'no answer', 'truncated', 'identical', 'duplicates')

Metric = tuple[str, int | None, float | None, str]


def metric_keys(result: Result, *, whole: bool, originals: bool = False) -> Iterable[Metric]:
    """Yield (metric, k, τ, key) of what a result holds of its whole benchmark or of a group.

    Args:
        result: The result of a model on a data set.
        whole: Is it about the whole benchmark?
        originals: Is it about the original problems, where questions have versions?
    """
    plain = list(_of_verdicts(result)) if has_verdicts(result) else []
    yield from plain
    if has_verdicts(result) and not originals:
        yield from _of_versions(result)
    for before in (SOUND, DROP_TO_SOUND):
        for metric, k, tau, key in plain:
            if f'{before}{key}' in result:
                yield f'{before}{metric}', k, tau, f'{before}{key}'
    for name in (*OF_REASONING, *(SHARES if whole else ())):
        if name in result:
            yield name, None, None, name


def _of_verdicts(result: Result) -> Iterable[Metric]:
    n = sample_count(result)
    yield 'accuracy', None, None, accuracy_key(n)
    if n > 1:
        yield MAJORITY_VOTE, None, None, MAJORITY_VOTE
        for k in result.get('k') or []:
            yield 'pass@k', k, None, f'pass@{k}'
            for tau in result.get('taus') or []:
                yield 'G-Pass@k', k, float(tau), f'G-Pass@{k}_{float(tau)}'
            yield 'mG-Pass@k', k, None, f'mG-Pass@{k}'


def _of_versions(result: Result) -> Iterable[Metric]:
    m = (result.get('versions') or {}).get('per_group')
    if not m:
        return
    yield 'GA@k', m, None, f'GA@{m}'
    for tau in result.get('taus') or []:
        for name in ('G-Pass over versions', 'pooled G-Pass@k'):
            key = name.replace('over', f'over {m}').replace('@k', f'@{m}')
            if f'{key}_{float(tau)}' in result:
                yield name, m, float(tau), f'{key}_{float(tau)}'
    for name in OF_VERSIONS:
        if name in result:
            yield name, None, None, name
