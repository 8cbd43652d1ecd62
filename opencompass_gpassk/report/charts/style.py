"""The style of figures (colours, markers, legends, bands, labels), and saving them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.report.tables.table import told_apart
from opencompass_gpassk.results.stored_result import Estimate

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INSTALL = 'pip install "matplotlib>=3.8"'

# Okabe and Ito's colours, for colour-blind readers; without yellow, which is too faint for lines.
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00', '#000000')
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X', '*')
ROW = 0.23  # height of a row of a legend, in inches
LONGEST_LABEL = 56  # characters of a label in a legend
MOST_BANDS = 6  # models: more bands than that hide one another
LINES = ('-', '--', '-.', ':')


def add_legend(figure: Figure, handles: Mapping[str, Artist], told: str = '') -> None:
    """Put the legend of all panels below them, in as many columns as fit.

    The figure grows with the rows of the legend, so that the panels keep their height.

    Args:
        figure: The figure.
        handles: Label → the line, bar or box that it explains.
        told: A text above the labels.
    """
    # Twelve characters need about an inch; each entry also needs room for its line.
    room = int(12 * figure.get_figwidth())
    labels = told_apart(list(handles), min(room - 8, LONGEST_LABEL))
    columns = max(1, min(room // (8 + max(map(len, labels), default=1)), 3))
    rows = math.ceil(len(labels) / columns)
    figure.set_figheight(figure.get_figheight() + ROW * max(rows - 1, 0))
    figure.legend(
        handles.values(),
        labels,
        loc='outside lower center',
        ncols=columns,
        title=textwrap.fill(told, room) or None,
        title_fontsize='small',
    )


def labelled(axis: Axes) -> dict[str, Artist]:
    """Return label → handle of everything labelled on an axis, for a legend."""
    handles, labels = axis.get_legend_handles_labels()
    return dict(zip(labels, handles, strict=True))


def save_chart(figure: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the path's suffix; the same figure gives the same bytes.

    Texts in an SVG stay texts, shown in a font of its reader.
    """
    import matplotlib

    kind = path.suffix.removeprefix('.')
    known = {'png': {'Software': None}, 'svg': {'Date': None, 'Creator': None}}
    with matplotlib.rc_context({'svg.fonttype': 'none', 'svg.hashsalt': 'gpassk'}):
        figure.savefig(path, dpi=150, format=kind, metadata=known[kind])


def plot_band(
    axis: Axes, x: Sequence[float], low: Sequence[float], high: Sequence[float], index: int
) -> None:
    """Shade the area between two lines, in the colour of the line with this index."""
    axis.fill_between(
        x, low, high, color=COLOURS[index % len(COLOURS)], alpha=0.15, linewidth=0, zorder=1
    )


def ends_of(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the lower and upper ends of figures' intervals, NaN where they have none."""
    ends = [v.interval if isinstance(v, Estimate) else (math.nan, math.nan) for v in values]
    return [low for low, _ in ends], [high for _, high in ends]


def intervals_name(figures: Iterable[Iterable[float]]) -> str:
    """Return level and meaning of the figures' intervals, each if it is the same for all."""
    settings = [v.uncertainty for one in figures for v in one if isinstance(v, Estimate)]
    levels = {known.get('level') for known in settings}
    of = {str(known['of']) for known in settings if known.get('of')}
    level = levels.pop() if len(levels) == 1 else None
    share = f'{100 * level:g} % ' if isinstance(level, float) else ''
    return f'{share}intervals' + (f', for {shown_label(of.pop())}' if len(of) == 1 else '')


def has_intervals(figures: Iterable[Iterable[float]]) -> bool:
    """Tell whether any of these figures has an interval."""
    return any(isinstance(value, Estimate) for one in figures for value in one)


def shown_label(name: str) -> str:
    """Return a name that matplotlib shows literally: not as a formula, and not hidden."""
    line = one_line(name).replace('$', r'\$')
    return f' {line}' if line.startswith('_') else line
