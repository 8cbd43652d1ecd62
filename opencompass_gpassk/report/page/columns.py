"""The columns of the leaderboard: key, heading and meaning of each."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.cells import BRACKETS, interval_notes
from opencompass_gpassk.results.figures import (
    ACCURACY,
    FAMILIES,
    Family,
    Figure,
    Over,
    Side,
)
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.stored_result import (
    Entry,
    Estimate,
    Result,
    figures_of,
    is_greedy,
    read_figure,
    shares_of,
)

GREEDY, AVERAGE = 'greedy', 'average@n'


PLACES = {'k': '{k}', 'tau': '{tau}', 'm': '{m}', 'n': 'n'}  # the page fills in k, τ and m
ABOUT_GREEDY = 'share of the problems that the greedy response solves'


def _columns() -> Iterable[dict[str, Any]]:
    """Yield the columns of the leaderboard. In their keys ``{k}`` and ``{tau}`` stand for the
    reader's choices, ``{m}`` for the versions of a question.
    """
    shown = [one for one in FAMILIES if one.on_page]
    for family in (one for one in shown if one.over is Over.RIGHT_ORIGINALS):
        yield _column(family, Side.PLAIN)
    yield {'key': GREEDY, 'heading': GREEDY, 'about': ABOUT_GREEDY, 'lower': False}
    for family in (one for one in shown if one.over is Over.PROBLEMS):
        yield _column(family, Side.PLAIN)
    for family in (one for one in shown if one.sides):
        yield _column(family, Side.SOUND)
    for over in (Over.RESPONSES, Over.QUESTIONS):
        for family in (one for one in shown if one.over is over):
            yield _column(family, Side.PLAIN)


def _column(family: Family, side: Side) -> dict[str, Any]:
    key = AVERAGE if family is ACCURACY else family.key
    heading = (family.heading or family.key).format(**PLACES)
    about = family.about
    if side is Side.SOUND:
        about = f'like {heading}, but the reasoning must be valid too'
    return {
        'key': side.value + key,
        'heading': side.value + heading,
        'about': about,
        'lower': family.lower_is_better,
    }


def entry_figures(entry: Entry, group: str = '') -> dict[str, float | None]:
    """Return the figures of an entry in percent: name → value, NaN if undefined.

    Names are the result's keys, except for accuracy, which is ``average@n`` or ``greedy``.
    """
    figures = dict(_figures(entry.result or entry.greedy or {}, group))
    if entry.greedy is not None:
        figures[GREEDY] = entry.greedy_accuracy(group)
    return {name: value for name, value in figures.items() if value is not None}


def entry_intervals(entry: Entry, group: str = '') -> dict[str, list[Any]]:
    """Return the intervals of an entry's figures: name → [low, high, method], in percent.

    It is empty for results without intervals.
    """
    return {
        name: [*value.interval, one_line(value.method)]
        for name, value in entry_figures(entry, group).items()
        if isinstance(value, Estimate)
    }


def true_figures(entry: Entry, group: str = '') -> dict[str, list[float]]:
    """Return an entry's figures under true verdicts, in percent; {} without an audit.

    Returns:
        Name → estimate, its range, and its range with sampling if the figure has an interval.
    """
    found = {}
    for figure in figures_of(entry.result) if entry.true_figures else ():
        if true := entry.true_figures.get(in_group(group, figure.key)):
            ends = [*true['range'], *(true.get('with_sampling') or [])]
            found[figure_name(figure, AVERAGE)] = [true['estimate'], *ends]
    return found


def column_notes(benchmark: Benchmark) -> list[str]:
    """Return the notes on the intervals of a benchmark's figures."""
    columns: dict[str, list[float | None]] = {}
    for entry in benchmark.entries:
        for name, value in entry_figures(entry).items():
            columns.setdefault(name, []).append(value)
    return interval_notes(columns, BRACKETS)


def shown_columns(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return the columns with a figure in any entry of a benchmark, in their order."""
    names = {name for entry in benchmark.entries for name in entry_figures(entry)}
    sizes = {
        str(versions['per_group'])
        for entry in benchmark.entries
        for result in entry.results
        if (versions := result.get('versions'))
    }
    ks, taus = map(str, benchmark.ks), map(str, benchmark.taus)
    places = list(product(list(ks) or [''], list(taus) or [''], sizes or ['']))
    columns = []
    for column in _columns():
        if any(column['key'].format(k=k, tau=tau, m=m) in names for k, tau, m in places):
            columns.append(column)
    return columns


def _figures(result: Result, group: str) -> Iterable[tuple[str, float | None]]:
    """Yield name and value of a result's figures for a group."""
    if not result:
        return
    of_group = (result.get('groups') or {}).get(group) or {}
    plain = GREEDY if is_greedy(result) else AVERAGE
    for figure in figures_of(result, originals='version' in of_group):
        yield figure_name(figure, plain), read_figure(result, figure, group)
    yield from () if group else shares_of(result).items()


def figure_name(figure: Figure, accuracy: str) -> str:
    """Return the name of a figure on the page; that of accuracy says how responses were drawn."""
    return figure.side.value + accuracy if figure.family is ACCURACY else figure.key
