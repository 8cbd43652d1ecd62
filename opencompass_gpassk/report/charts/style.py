"""The look of charts: what is common to lines, bars and points; drawing and saving at a width."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.formats.stored_files import written_whole
from opencompass_gpassk.report.cells import told_apart
from opencompass_gpassk.results.result import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INSTALL = 'pip install "matplotlib>=3.8"'

# Okabe and Ito's colours, for colour-blind readers; without yellow, which is too faint for lines.
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00', '#000000')
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X', '*')
LINES = ('-', '--', '-.', ':')
DODGE, MOST_DODGE = 0.012, 0.06  # between two intervals, between all: shares of the axis
SIZE = 8.0  # points of all texts, at the width at which a chart is drawn
LETTERS = 15  # of that size, in an inch
ROW = 0.17  # height of a row of the legend, in inches
APART = 9.5  # points between the labels of two lines
RC: Any = {
    'font.size': SIZE,
    **dict.fromkeys(
        ('axes.labelsize', 'legend.fontsize', 'xtick.labelsize', 'ytick.labelsize'), SIZE
    ),
    'lines.linewidth': 1.2,
    'lines.markersize': 4.0,
    'axes.linewidth': 0.6,
    'axes.axisbelow': True,
    'axes.grid': True,
    'grid.alpha': 0.3,
    'grid.linewidth': 0.6,
    'hatch.linewidth': 0.5,
    'patch.linewidth': 0.6,
    'pdf.fonttype': 42,
    'svg.fonttype': 'none',
    'svg.hashsalt': 'gpassk',
    'text.parse_math': False,  # names are no formulas
}
Row = TypeVar('Row')
Looks = Mapping[str, int]  # name of a model → its number, the same in all charts
UNDEFINED = '–'
PLACEHOLDER = f'{UNDEFINED}: undefined'


@dataclass(frozen=True)
class Chart:
    """A chart of one panel, without a title: a paper has its caption below it.

    Attributes:
        name: Its name, from which that of its file is made.
        caption: What it shows, in a sentence or two.
        plot: Draws it on an axis.
        height: Height of the panel, in inches.
        lines: Whether it consists of lines, which are then named at their ends, without a legend.
    """

    name: str
    caption: str
    plot: Callable[[Axes], object]
    height: float = 1.9
    lines: bool = False


def draw_chart(chart: Chart, width: float) -> Figure:
    """Return the figure of a chart, its legend, if it has one, below it.

    Args:
        chart: The chart.
        width: Width of the figure in inches.

    Raises:
        ImportError: If matplotlib is missing.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(RC):
        figure = Figure(figsize=(width, chart.height), layout='constrained')
        figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02)  # type: ignore[call-arg,union-attr]
        axis = figure.subplots()
        chart.plot(axis)
        handles, names = axis.get_legend_handles_labels()
        if chart.lines:
            _label_ends(axis, handles)
        elif handles:
            room = letters_of(axis)
            labels = told_apart(names, room - 6)
            # A label's line takes the room of six letters.
            columns = max(1, min(room // (6 + max(map(len, labels))), 4))
            rows = math.ceil(len(labels) / columns)
            figure.set_figheight(chart.height + ROW * rows)
            figure.legend(
                handles, labels, loc='outside lower center', ncols=columns, columnspacing=1.2
            )
    return figure


def letters_of(axis: Axes) -> int:
    """Return how many letters fit into the width of the figure."""
    return int(LETTERS * axis.get_figure().get_figwidth())  # type: ignore[union-attr]


def _label_ends(axis: Axes, lines: Sequence[Any]) -> None:
    """Write each line's name to the right of its end, with a stroke between them."""
    low, high = axis.get_ylim()
    height = 72 * (axis.get_figure().get_figheight() - 0.5)  # type: ignore[union-attr]
    step = APART / height
    ends = {
        line: ([y for y in line.get_ydata() if not math.isnan(y)] or [low])[-1]
        for line in reversed(lines)
    }
    lines = sorted(ends, key=ends.__getitem__)  # of equal ones the first is on top
    names = told_apart([line.get_label() for line in lines], int(0.45 * letters_of(axis)))
    place = -step
    for number, (line, name) in enumerate(zip(lines, names, strict=True), start=1):
        end = (ends[line] - low) / (high - low)
        place = max(place + step, min(end, 1 - step * (len(lines) - number)))
        axis.annotate(
            name,
            (1.0, end),
            (1.06, place),
            xycoords='axes fraction',
            textcoords='axes fraction',
            color=line.get_color(),
            va='center',
            arrowprops={
                'arrowstyle': '-',
                'color': line.get_color(),
                'linewidth': 0.6,
                'shrinkA': 0,
                'shrinkB': 0,
                'relpos': (0, 0.5),
            },
        )


def save_chart(figure: Figure, path: Path, caption: str = '') -> None:
    """Write a figure as PDF, PNG or SVG, by the path's suffix, with its caption in the file.

    The same figure gives the same bytes. Texts in an SVG stay texts, in a font of its reader.
    """
    from matplotlib import rc_context

    kind = path.suffix.removeprefix('.')
    made = {'png': ['Software'], 'svg': ['Date', 'Creator'], 'pdf': ['CreationDate', 'Producer']}
    with rc_context(RC), written_whole(path) as part:
        known = {'Title': caption, **dict.fromkeys(made[kind])}
        figure.savefig(part, dpi=200, format=kind, metadata=known)


def plot_lines(
    axis: Axes, x: Sequence[float], series: Mapping[str, Sequence[float | None]], looks: Looks
) -> None:
    """Draw lines with the intervals of their figures, undefined ones as a dash at the axis.

    Args:
        axis: Where to draw.
        x: X places of the figures, ascending.
        series: Name → X figures; None was not measured, and NaN is undefined.
        looks: Name → number of the line, which decides how it looks.
    """
    step = min(DODGE, MOST_DODGE / len(series)) * (max(x) - min(x))
    for order, (name, values) in enumerate(series.items()):
        plot_line(axis, x, [math.nan if v is None else v for v in values], looks[name], name)
        aside = step * (order - (len(series) - 1) / 2)  # intervals at one place stand side by side
        for place, value in zip(x, values, strict=True):
            if isinstance(value, Estimate):
                ends = [place + aside] * 2, value.interval
                axis.plot(*ends, color=colour_of(looks[name]), linewidth=0.8, clip_on=False)
            elif value is not None and math.isnan(value):
                at = place + 2 * aside, 0.0
                put_undefined(axis, at, ('data', 'axes fraction'), colour_of(looks[name]))


def plot_line(
    axis: Axes, x: Sequence[float], values: Sequence[float], index: int, label: str
) -> None:
    """Draw the line with this number, which decides how it looks."""
    axis.plot(
        x,
        values,
        color=colour_of(index),
        marker=MARKERS[index % len(MARKERS)],
        linestyle=LINES[index % len(LINES)],
        label=shown_label(label),
        clip_on=False,
    )


def colour_of(index: int) -> str:
    """Return the colour of the line or point with this number."""
    return COLOURS[index % len(COLOURS)]


def put_undefined(
    axis: Axes, at: tuple[float, float], of: tuple[str, str], colour: str = 'black'
) -> None:
    """Write a dash where a figure is undefined.

    Args:
        axis: Where to draw.
        at: The place.
        of: Its coordinates, as ``Axes.annotate`` takes them.
        colour: Colour of the dash.
    """
    axis.annotate(
        UNDEFINED,
        at,
        (2, 2),
        xycoords=of,
        textcoords='offset points',
        color=colour,
        weight='bold',
    )


def name_rows(axis: Axes, names: Sequence[str], top: float, most: int = 0) -> None:
    """Name the rows of a chart from the top, each above what is drawn of it.

    Args:
        axis: Where to write.
        names: The names.
        top: How far below the middle of its row a name stands, where rows are 1 apart.
        most: Letters that fit; 0 for those of the whole width.
    """
    shown = [shown_label(name) for name in told_apart(names, most or letters_of(axis))]
    places = [place + top for place in range(len(names))]
    ground = {'facecolor': 'white', 'edgecolor': 'none', 'alpha': 0.8, 'pad': 0}
    axis.set_yticks(places, shown, ha='left', va='bottom', bbox=ground)
    axis.yaxis.set_zorder(3)  # names stand above lines through all rows
    axis.tick_params(axis='y', length=0, pad=0)
    axis.spines[['left', 'top', 'right']].set_visible(False)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(visible=False, axis='y')


def best_first(rows: Iterable[Row], value: Callable[[Row], float]) -> list[Row]:
    """Return the rows by their values, the greatest first, and those with NaN last."""
    return sorted(rows, key=lambda row: math.inf if math.isnan(value(row)) else -value(row))


def intervals_told(figures: Iterable[float | None], shown: str = 'upright lines') -> str:
    """Return a sentence on the intervals and undefined figures of a chart, '' without any.

    It tells level and meaning of the intervals, each if it is the same for all.

    Args:
        figures: The figures; None was not measured.
        shown: How the chart shows intervals.
    """
    values = [value for value in figures if value is not None]
    settings = [value.uncertainty for value in values if isinstance(value, Estimate)]
    levels = {known.level for known in settings}
    of = {known.of for known in settings if known.of}
    level = levels.pop() if len(levels) == 1 else None
    share = f'{100 * level:g} % ' if isinstance(level, float) else ''
    told = f' {shown.capitalize()}: {share}intervals' if settings else ''
    told += f', for {one_line(of.pop())}' if len(of) == 1 else ''
    told += '.' if settings else ''
    return told + (f' {PLACEHOLDER}.' if any(map(math.isnan, values)) else '')


def shown_label(name: str) -> str:
    """Return a name on one line that a legend doesn't hide."""
    line = one_line(name)
    return f' {line}' if line.startswith('_') else line
