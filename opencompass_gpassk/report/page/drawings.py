"""The drawings of a page as SVG: dumbbells, bars of problems, and the curves over τ.

Colours are variables of the page's style, ``--m`` that of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from opencompass_gpassk.report.cells import shown_cell
from opencompass_gpassk.results.result import Estimate, Few

# Told apart under normal vision and deuteranopia; texts in them are readable on the page.
LIGHT = ('#0861f0', '#d63f10', '#491c56', '#b94e8c', '#64082d', '#ac37bc', '#231d85', '#d00f4d')
DARK = ('#157ffd', '#facf05', '#329249', '#f5d285', '#15ecf9', '#bd7302', '#348dc9', '#7ce2b3')
DASHES = ('', '7 3', '2 3', '9 3 2 3', '13 4', '4 2 1 2', '1 2', '6 2 2 2 2 2')
MARKERS = (
    'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z',
    'M-4-4h8v8h-8z',
    'M0-5.5l5.5 5.5-5.5 5.5-5.5-5.5z',
    'M0-5l5 9h-10z',
    'M0 5l5-9h-10z',
    'M-5-1.7h3.3v-3.3h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3z',
    'M-5-3h10v6h-10z',
    'M-3-5h6v10h-6z',
)
IN_FULL = 8  # models whose curves are drawn in full; the others are grey until they are chosen
LONGEST_LABEL = 22
TOO_FEW = 'too few'


def look(index: int) -> tuple[int, int]:
    """Return the numbers of colour and marker, and of the dash, of the model with this index.

    The first eight models differ in all three, the next in their combination.
    """
    return index % len(LIGHT), (index + index // len(LIGHT)) % len(DASHES)


def percent(value: float | None) -> str:
    """Return a metric in percent as text, ``–`` if it is undefined."""
    return '–' if value is None else shown_cell(float(value), 1)


def interval_of(value: float | None) -> Sequence[float] | None:
    """Return the interval of a metric, None without one."""
    return value.interval if isinstance(value, Estimate) else None


def span(ends: Sequence[float] | None) -> str:
    """Return an interval as text, '' without one."""
    return f'[{percent(ends[0])}, {percent(ends[1])}]' if ends else ''


def told_interval(value: float | None) -> str:
    """Return the interval of a metric as text; or that it rests on too few questions; or ''."""
    return f'{TOO_FEW} ({value.questions})' if isinstance(value, Few) else span(interval_of(value))


def dumbbell(some: float | None, every: float | None) -> Markup:
    """Draw pass@k (hollow) and G-Pass@k at τ = 1 (full) with its interval, from 0 to 100 %."""
    if some is None or every is None:
        return Markup('–')
    low, high = _x(every), _x(some)
    band = ''
    if ends := interval_of(every):
        left, right = _x(ends[0]), _x(ends[1])
        band = f'<path class=iv d="M{left:.0f} 12H{right:.0f}"/>'
    return Markup(
        f'<svg class=db viewBox="0 0 260 24" role=img aria-label="{percent(every)} to '
        f'{percent(some)} %"><path class=ax d="M6 12h248"/>{band}<path class=ln d="M{low:.0f} '
        f'12H{high:.0f}"/><circle class=so cx={high:.0f} cy=12 r=5 /><circle class=ev '
        f'cx={low:.0f} cy=12 r=5.5 /></svg>'
    )


def _x(share: float) -> float:
    return 6 + 2.48 * share


def solved_bar(never: int, some: int, always: int) -> Markup:
    """Draw how many problems are always, sometimes and never solved."""
    whole = never + some + always
    if not whole:
        return Markup('–')
    parts, at = '', 0.0
    for number, name in ((always, 'al'), (some, 'st'), (never, 'ne')):
        width = 140 * number / whole
        parts += f'<rect class={name} x={at:.0f} width={width:.0f} height=16 />' if number else ''
        if width > 18:
            parts += f'<text class={name} x={at + width / 2:.0f} y=12>{number}</text>'
        at += width
    told = f'{always} always, {some} sometimes, {never} never'
    return Markup(
        f'<svg class=bar viewBox="0 0 140 16" role=img aria-label="{told}">'
        f'<title>{told}</title>{parts}</svg>'
    )


@dataclass(frozen=True)
class Curve:
    """The curve of a model over τ.

    Attributes:
        label: The model.
        index: Decides how it looks, see :func:`look`.
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
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 350, 40, 200, 12, 40


def curves_over_tau(curves: Sequence[Curve], taus: Sequence[float], k: int) -> Markup:
    """Draw the curves of G-Pass@k over τ, the first :data:`IN_FULL` in full; intervals are bars."""
    values = [value for one in curves for value in one.points.values()]
    highest = max(end for value in values for end in (value, *(interval_of(value) or ())))
    top = min(100, 10 * (int(highest) // 10 + 1))

    def x(tau: float) -> float:
        return LEFT + tau * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share / top)

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
            ).format(x(tau), HEIGHT - BOTTOM, x(tau), HEIGHT - BOTTOM + 19, tau)
        )
    parts.append(
        Markup(
            '<text class=m x={} y={}>τ: share of the {} attempts that must be right</text>'
        ).format((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 4, k)
    )
    for order, one in reversed(list(enumerate(curves))):
        aside = (order - (min(len(curves), IN_FULL) - 1) / 2) * 3.0 if order < IN_FULL else 0
        parts.append(_curve(one, x, y, aside, shown=order < IN_FULL))
    parts += _labels(curves[:IN_FULL], y, apart=True)
    parts += _labels(curves[IN_FULL:], y, apart=False)
    return Markup(
        '<svg class=cv viewBox="0 0 {} {}" role=img aria-label="G-Pass@{} over τ; the table of all '
        'metrics holds the values">{}</svg>'
    ).format(WIDTH, HEIGHT, k, Markup('').join(parts))


def _curve(one: Curve, x: Scale, y: Scale, aside: float, *, shown: bool) -> Markup:
    colour, dash = look(one.index)
    line = ' '.join(f'{x(tau):.0f},{y(value):.1f}' for tau, value in one.points.items())
    dashes = Markup(' stroke-dasharray="{}"').format(DASHES[dash]) if DASHES[dash] else ''
    points = Markup('').join(
        Markup(
            '<g><title>{}, τ = {}: {} {}</title>{}<use href="#k{}" x={:.0f} y={:.1f} /></g>'
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
            colour,
            x(tau),
            y(value),
        )
        for tau, value in one.points.items()
    )
    return Markup('<g class="m{} s{}{}"><polyline points="{}"{}/>{}</g>').format(
        colour, one.index, '' if shown else ' grey', line, dashes, points
    )


def _labels(curves: Sequence[Curve], y: Scale, *, apart: bool) -> Iterable[Markup]:
    """Yield the names at the right ends, moved apart so that none hides another."""
    ends = sorted((y(one.last), place) for place, one in enumerate(curves))
    places = [at for at, _ in ends]
    for i in range(1, len(places) if apart else 0):
        places[i] = max(places[i], places[i - 1] + 16)
    over = max(0.0, places[-1] - (HEIGHT - BOTTOM)) if places and apart else 0.0
    for at, (_, place) in zip(places, ends, strict=True):
        one = curves[place]
        name = one.label
        if len(name) > LONGEST_LABEL:
            name = f'{name[: LONGEST_LABEL - 8]}…{name[-7:]}'
        yield Markup('<text class="nm m{} s{}{}" x={} y={:.0f}>{} {}</text>').format(
            look(one.index)[0],
            one.index,
            '' if apart else ' grey',
            WIDTH - RIGHT + 10,
            at - over + 4,
            name,
            percent(one.last),
        )
