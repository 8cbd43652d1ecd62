"""Results with scores of reasoning, whose new figures are counted here, sample by sample."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from made_results import make_result

# Is the answer right, and the validity and redundancy of its reasoning; None without scores.
Sample = tuple[bool, float | None, float | None]
Samples = Mapping[str, Sequence[Sequence[Sample]]]

THRESHOLD = 0.25
SCORER = 'GAIR/ReasonEval-7B'


def make_reasoned(
    samples: Samples,
    k: Sequence[int] = (),
    *,
    threshold: float = THRESHOLD,
    refusals: Mapping[str, int] | None = None,
    scorer: str = SCORER,
    settings: str = '1a2b3c4d',
    **more: Any,
) -> dict[str, Any]:
    """Return the result of problems whose samples are given one by one.

    Args:
        samples: ``split_language`` → problems → their samples.
        k: The k of G-Pass@k.
        threshold: Of sound reasoning.
        refusals: Why there are no scores, and how often.
        scorer: Who scored.
        settings: What stands for the settings in the signature.
        **more: As for ``make_result``.
    """
    n = len(next(iter(samples.values()))[0])
    counts = {group: [sum(s[0] for s in one) for one in of] for group, of in samples.items()}
    result = make_result(counts, n, k, **more)
    problems = {'': [one for of in samples.values() for one in of]}
    for label in result['groups']:
        problems[label] = [
            one
            for group, of in samples.items()
            for one in of
            if set(label.split('-')) <= set(group.split('_'))
        ]
    for label, of_label in problems.items():
        found = scored_figures(of_label, n, result['k'], result['taus'], threshold)
        result['figures'] |= {f'{label}/{name}' if label else name: x for name, x in found.items()}
    result |= {name: x for name, x in result['figures'].items() if name in result}
    result['reasoning'] = {
        'scorer': scorer,
        'settings': {},
        'threshold': threshold,
        'validity_by': 'min',
        'redundancy_by': 'max',
        'refusals': dict(refusals or {}),
        **solutions(problems[''], threshold),
    }
    result['signature']['reasoning'] = f'{scorer}:{settings}'
    return result


def make_unjudged(values: Sequence[tuple[float | None, float | None]]) -> dict[str, Any]:
    """Return what an evaluator of reasoning alone makes of one response a problem."""
    made = make_reasoned({'AMC_en': [[(False, *value)] for value in values]}, greedy=True)
    kept = ('validity', 'redundancy', 'scored')
    result = {
        name: value
        for name, value in made.items()
        if name in ('schema', 'benchmark', 'signature', 'reasoning', 'groups', 'warnings')
    }
    figures = made['figures'].items()
    result['figures'] = {name: one for name, one in figures if name.split('/')[-1] in kept}
    result['signature']['judge'] = 'none'
    result['counts'] = {'problems': len(values)}
    del result['reasoning']['sound']
    for of_part in ('boxes', 'lengths'):
        for found in result['reasoning'][of_part].values():
            found.pop('right')
            found.pop('wrong')
    return result


def scored_figures(
    problems: Sequence[Sequence[Sample]],
    n: int,
    ks: Sequence[int],
    taus: Sequence[float],
    threshold: float,
) -> dict[str, float]:
    """Return the figures of reasoning of some problems, in percent."""
    flat = [sample for one in problems for sample in one]
    found: dict[str, float] = {}
    for index, name in ((1, 'validity'), (2, 'redundancy')):
        for part, of_part in parts(flat).items():
            values = [s[index] for s in of_part if s[index] is not None]
            found[name if part == 'all' else f'{name} ({part})'] = mean(values)
    rated = [s[1] < threshold for s in flat if s[0] and s[1] is not None]
    found['false-positive rate'] = mean(rated)
    found['scored'] = mean([s[1] is not None for s in flat])
    of_figures: dict[str, Callable[[list[bool]], float]] = {'accuracy': lambda x: mean(x) / 100}
    for k in ks:
        of_figures[f'pass@{k}'] = lambda x, k=k: drawn(x, k, 1)
        for tau in taus:
            least = max(math.ceil(Fraction(str(tau)) * k), 1)
            of_figures[f'G-Pass@{k}_{tau}'] = lambda x, k=k, least=least: drawn(x, k, least)
        of_figures[f'mG-Pass@{k}'] = lambda x, k=k: (
            2 / k * sum(drawn(x, k, least) for least in range(math.ceil(k / 2) + 1, k + 1))
        )
    for name, figure in of_figures.items():
        scored = [[s for s in one if s[1] is not None] for one in problems]
        plain = [figure([s[0] for s in one]) for one in scored]
        sound = [figure([s[0] and s[1] >= threshold for s in one]) for one in scored]
        found[f'sound {name}'] = mean(sound)
        found[f'drop to sound {name}'] = mean([a - b for a, b in zip(plain, sound, strict=True)])
    return found


def drawn(right: Sequence[bool], k: int, least: int) -> float:
    """Return the share of the draws of k samples of which at least so many are right."""
    draws = list(itertools.combinations(right, k))
    return sum(sum(draw) >= least for draw in draws) / len(draws) if draws else math.nan


def mean(values: Sequence[float]) -> float:
    """Return a mean in percent, of the numbers that are defined; NaN of none."""
    known = [value for value in values if not math.isnan(value)]
    return 100 * sum(known) / len(known) if known else math.nan


def parts(flat: Sequence[Sample]) -> dict[str, list[Sample]]:
    """Return all, right and wrong samples."""
    return {
        'all': list(flat),
        'right': [s for s in flat if s[0]],
        'wrong': [s for s in flat if not s[0]],
    }


def solutions(problems: Sequence[Sequence[Sample]], threshold: float) -> dict[str, Any]:
    """Return what a result tells of single solutions; a right one has 4 steps, a wrong one 6."""
    flat = [sample for one in problems for sample in one]
    right = [s for s in flat if s[0]]
    steps = {
        part: mean([0.04 if s[0] else 0.06 for s in of_part if s[1] is not None])
        for part, of_part in parts(flat).items()
    }
    return {
        'sound': {
            'right': len(right),
            'sound': sum(s[1] is not None and s[1] >= threshold for s in right),
            'unsound': sum(s[1] is not None and s[1] < threshold for s in right),
            'unknown': sum(s[1] is None for s in right),
        },
        'lengths': {
            'steps': steps,
            'tokens': {part: 30 * value for part, value in steps.items()},
        },
        'boxes': {
            name: {
                part: box([s[index] for s in of_part if s[index] is not None])
                for part, of_part in parts(flat).items()
            }
            for index, name in ((1, 'validity'), (2, 'redundancy'))
        },
    }


def box(values: Sequence[float]) -> dict[str, float] | None:
    """Return the statistics of a box plot as matplotlib's own function would, None of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    q1, med, q3 = (quantile(ordered, share) for share in (0.25, 0.5, 0.75))
    reach = 1.5 * (q3 - q1)
    return {
        'med': med,
        'q1': q1,
        'q3': q3,
        'whislo': min([q1, *(x for x in ordered if x >= q1 - reach)]),
        'whishi': max([q3, *(x for x in ordered if x <= q3 + reach)]),
        'mean': sum(ordered) / len(ordered),
        'n': len(ordered),
    }


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of ordered values, on the line between the two that are next to it."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
