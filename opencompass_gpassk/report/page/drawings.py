"""The drawings of a page as SVG: strips of problems, axes with intervals, and curves over τ.

Colours are variables of the page's style, ``--m`` that of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup

from opencompass_gpassk.report.cells import BRACKETS, shown_cell, shown_interval
from opencompass_gpassk.results.result import Estimate, Few

# Told apart under normal vision and deuteranopia; texts in them are readable on the page.
LIGHT = ('#0861f0', '#d63f10', '#491c56', '#b94e8c', '#64082d', '#ac37bc', '#231d85', '#d00f4d')
DARK = ('#157ffd', '#facf05', '#329249', '#f5d285', '#15ecf9', '#bd7302', '#348dc9', '#7ce2b3')
LONGEST_LABEL = 30
TOO_FEW = 'too few'
KINDS = ('always', 'maybe', 'sometimes', 'never')


def percent(value: float | None, decimals: int = 1) -> str:
    """Return a metric in percent as text, ``–`` if it is undefined."""
    return '–' if value is None else shown_cell(float(value), decimals)


def whole(value: float | None) -> str:
    """Return a metric in whole percent; what is neither 0 nor 100 doesn't read so."""
    if value is not None and 0 < value < 1:
        return '<1'
    return '>99' if value is not None and 99 < value < 100 else percent(value, 0)


def interval_of(value: float | None) -> Sequence[float] | None:
    """Return the interval of a metric, None without one."""
    return value.interval if isinstance(value, Estimate) else None


def told_interval(value: float | None) -> str:
    """Return the interval of a metric as text; or that it rests on too few questions; or ''."""
    if isinstance(value, Few):
        return f'{TOO_FEW} ({value.questions})'
    return shown_interval(value, 1, BRACKETS)


class Tried(NamedTuple):
    """How often a model solved a problem: right and missing ones of n samples."""

    c: int
    missing: int
    n: int

    @property
    def kind(self) -> str:
        """Whether it is solved always, always but for missing verdicts, sometimes or never."""
        if self.c == self.n:
            return 'always'
        return (
            'never' if not self.c else 'maybe' if self.c + self.missing >= self.n else 'sometimes'
        )


def strip(tried: Sequence[Tried]) -> Markup:
    """Draw the share of right samples of each problem, the highest first, with their counts."""
    whole = len(tried)
    if not whole:
        return Markup('–')
    heights: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for one in tried:
        heights[one.kind].append(round(100 * one.c / one.n) if one.kind == 'sometimes' else 100)
    drawn, at, labels = '', 0, ''
    for kind, of_kind in heights.items():
        share, right = len(of_kind) / whole, at + len(of_kind)
        if of_kind:
            steps = ''.join(
                f'V{100 - height}h{len([*run])}'
                for height, run in groupby(sorted(of_kind, reverse=True))
            )
            top = f'<path class=some d="M{at} 0H{right}V100H{at}z"/>'
            drawn += top if kind == 'sometimes' else ''
            steps = f'V94h{len(of_kind)}' if kind == 'never' else steps
            drawn += f'<path class={kind} d="M{at} 100{steps}V100z"/>'
        word = f'{len(of_kind)} {kind}' if share > WORDED[kind] else f'{len(of_kind)}'
        if share > 0.03 or (kind == 'never' and of_kind):
            side = 'right:0' if kind == 'never' else f'left:{100 * at / whole:.0f}%'
            labels += f'<span class="{kind}" style="{side}">{word}</span>'
        at = right
    counts = {kind: len(of_kind) for kind, of_kind in heights.items()}
    told = '{always} always, {maybe} always but for missing verdicts, '.format(**counts)
    told += '{sometimes} sometimes, {never} never'.format(**counts)
    return Markup(
        f'<div class=strip title="{told}"><svg viewBox="0 0 {whole} 100" preserveAspectRatio=none '
        f'role=img aria-label="{told}">{drawn}</svg>{labels}</div>'
    )


WORDED = {'always': 0.17, 'maybe': 1.0, 'sometimes': 0.24, 'never': 0.0}  # least share with a word


def axis(
    value: float | None,
    these: Sequence[float] | None,
    others: Sequence[float] | None,
    beside: float | None,
) -> Markup:
    """Draw a metric with both intervals, and another one as a hollow point, from 0 to 100 %.

    Args:
        value: The metric.
        these: Its interval on these problems, thick.
        others: Its interval for problems like these, thin.
        beside: The other metric.
    """
    if value is None:
        return Markup('–')
    parts = ['<path class=ax d="M0 12h170"/>']
    told = [f'{percent(value)} %']
    for ends, kind, where in (
        (others, 'thin', 'for problems like these'),
        (these, 'thick', 'here'),
    ):
        if ends:
            parts.append(f'<path class={kind} d="M{_x(ends[0])} 12H{_x(ends[1])}"/>')
            told.append(f'{percent(ends[0])} to {percent(ends[1])} {where}')
    if beside is not None:
        parts.append(f'<circle class=beside cx={_x(beside)} cy=12 r=4 />')
    parts.append(f'<circle class=point cx={_x(value)} cy=12 r=4.5 />')
    return Markup(
        '<svg class=axis viewBox="-5 0 180 24" role=img aria-label="{0}"><title>{0}</title>{1}'
        '</svg>'
    ).format('; '.join(told), Markup(''.join(parts)))


def _x(share: float) -> str:
    return f'{1.7 * share:.1f}'


@dataclass(frozen=True)
class Curve:
    """The curve of a model over τ.

    Attributes:
        label: The model.
        index: The number of its colour.
        points: τ → metric in percent.
    """

    label: str
    index: int
    points: Mapping[float, float]

    @property
    def last(self) -> float:
        """The metric at the greatest τ."""
        return list(self.points.values())[-1]


Scale = Callable[[float], float]  # value → place in the drawing
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 800, 40, 280, 12, 40
LEAST_HEIGHT, APART = 350, 16  # of the drawing, and of two labels


def curves_over_tau(curves: Sequence[Curve], taus: Sequence[float], k: int) -> Markup:
    """Draw the curves of G-Pass@k over τ, named at their ends; vertical lines are intervals."""
    values = [value for one in curves for value in one.points.values()]
    highest = max(end for value in values for end in (value, *(interval_of(value) or ())))
    top = min(100, 10 * (int(highest) // 10 + 1))
    height = max(LEAST_HEIGHT, TOP + BOTTOM + APART * len(curves))

    def x(tau: float) -> float:
        return LEFT + tau * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return TOP + (height - TOP - BOTTOM) * (1 - share / top)

    parts = [
        Markup('<path class=ax d="M{} {:.0f}H{}"/><text class=e x={} y={:.0f}>{}</text>').format(
            LEFT, y(share), WIDTH - RIGHT, LEFT - 7, y(share) + 4, share
        )
        for share in range(0, top + 1, 20 if top > 50 else 10)
    ]
    for tau in taus:
        parts.append(
            Markup(
                '<path class=tk d="M{:.0f} {}v5"/><text class=m x={:.0f} y={}>{:g}</text>'
            ).format(x(tau), height - BOTTOM, x(tau), height - BOTTOM + 19, tau)
        )
    parts.append(
        Markup(
            '<text class=m x={} y={}>τ: share of the {} attempts that must be right</text>'
        ).format((LEFT + WIDTH - RIGHT) // 2, height - 4, k)
    )
    for order, one in reversed(list(enumerate(curves))):
        parts.append(_curve(one, x, y, (order - (len(curves) - 1) / 2) * 2.0))
    parts += _labels(curves, y, height - BOTTOM)
    return Markup(
        '<svg class=cv viewBox="0 0 {} {}" role=img aria-label="G-Pass@{} over τ; the table of all '
        'metrics holds the values">{}</svg>'
    ).format(WIDTH, height, k, Markup('').join(parts))


def _curve(one: Curve, x: Scale, y: Scale, aside: float) -> Markup:
    line = ' '.join(f'{x(tau):.0f},{y(value):.1f}' for tau, value in one.points.items())
    points = Markup('').join(
        Markup(
            '<g><title>{}, τ = {}: {} {}</title>{}<circle cx={:.0f} cy={:.1f} r=3.5 /></g>'
        ).format(
            one.label,
            tau,
            percent(value),
            told_interval(value),
            Markup('<path class=iv d="M{:.1f} {:.1f}V{:.1f}"/>').format(
                x(tau) + aside, y(ends[0]), y(ends[1])
            )
            if (ends := interval_of(value))
            else '',
            x(tau),
            y(value),
        )
        for tau, value in one.points.items()
    )
    return Markup('<g class="m{}"><polyline points="{}"/>{}</g>').format(one.index, line, points)


def _labels(curves: Sequence[Curve], y: Scale, lowest: float) -> Iterable[Markup]:
    """Yield the names at the right ends, moved apart so that none hides another."""
    ends = sorted((y(one.last), place) for place, one in enumerate(curves))
    places = [at for at, _ in ends]
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + APART)
    for i in reversed(range(len(places))):
        places[i] = min(places[i], lowest - APART * (len(places) - 1 - i))
    for at, (end, place) in zip(places, ends, strict=True):
        one = curves[place]
        right = WIDTH - RIGHT
        yield Markup(
            '<g class="m{}"><path class=to d="M{} {:.0f}L{} {:.0f}"/><text class=nm x={} y={:.0f}>'
            '{} {}</text></g>'
        ).format(
            one.index,
            right + 7,
            end,
            right + 22,
            at,
            right + 26,
            at + 4,
            one.label,
            percent(one.last),
        )
