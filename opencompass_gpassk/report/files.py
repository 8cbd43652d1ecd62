"""The files of a report: Markdown, LaTeX, CSV, JSON, and figures as PNG and SVG."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from opencompass_gpassk.report.benchmarks import Results
from opencompass_gpassk.report.best import Trials
from opencompass_gpassk.report.cells import BRACKETS
from opencompass_gpassk.report.contents import report_tables
from opencompass_gpassk.report.export import to_csv, to_json
from opencompass_gpassk.report.figures import report_figures
from opencompass_gpassk.report.latex import latex_report
from opencompass_gpassk.report.plots import INSTALL, save_figure
from opencompass_gpassk.report.tables import Table, to_markdown
from opencompass_gpassk.results import signature_line
from opencompass_gpassk.states import State, TaskState
from opencompass_gpassk.text import escape_markdown

__all__ = ['MissingMatplotlibError', 'markdown_report', 'write_figures', 'write_report']

TITLE = 'G-Pass@k'
KINDS = ('.png', '.svg')
LONGEST = 60  # characters of a figure's name: in UTF-8 a file's name has 255 bytes at most


class MissingMatplotlibError(ImportError):
    """The figures need matplotlib, which is not installed."""


def markdown_report(
    results: Results,
    states: Sequence[TaskState] = (),
    trials: Trials | None = None,
    intervals: str | None = BRACKETS,
) -> str:
    """Return all tables, what became of the tasks that did not finish, and the signatures.

    Args:
        results: Model → data set → result, as stored in the result JSON.
        states: What became of each model's work on each data set.
        trials: Of the results, which tell the best figures; None if nothing is to be marked.
        intervals: How they are shown, see :func:`~opencompass_gpassk.report.tables.to_markdown`.
    """
    return _markdown(report_tables(results, trials), results, states, intervals)


def write_report(
    stem: Path,
    results: Results,
    states: Sequence[TaskState] = (),
    trials: Trials | None = None,
    intervals: str | None = BRACKETS,
) -> list[Path]:
    """Write ``<stem>.md``, ``.tex``, ``.csv`` and ``.json`` and return their paths.

    The arguments are those of :func:`markdown_report`.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    tables = report_tables(results, trials)
    texts = {
        '.md': _markdown(tables, results, states, intervals),
        '.tex': latex_report(tables, intervals),
        '.csv': to_csv(results),
        '.json': to_json(results, [state.as_dict() for state in states]),
    }
    paths = []
    for suffix, text in texts.items():
        path = stem.with_name(stem.name + suffix)
        path.write_text(text, encoding='utf-8')
        paths.append(path)
    return paths


def write_figures(stem: Path, results: Results, trials: Trials | None = None) -> list[Path]:
    """Draw each figure to ``<stem>_<name>.png`` and ``.svg`` and return the paths.

    The curves over τ of a benchmark have its name, its other figures a word behind it.

    Args:
        stem: How the paths begin.
        results: Model → data set → result, as stored in the result JSON.
        trials: Of the results: without them there are no figures against n, and no intervals of
            slopes.

    Raises:
        MissingMatplotlibError: If matplotlib is missing, naming the command that installs it.
    """
    paths: list[Path] = []
    for title, draw in report_figures(results, trials):
        try:
            figure = draw()
        except ImportError as error:
            raise MissingMatplotlibError(f'no figures without matplotlib: {INSTALL}') from error
        name = f'{stem.name}_' + re.sub(r'[^\w.-]+', '_', title)[:LONGEST]
        path = stem.with_name(f'{name}.png')
        if path in paths:
            path = stem.with_name(f'{name}_{len(paths) // len(KINDS)}.png')
        for kind in KINDS:
            save_figure(figure, path.with_suffix(kind))
            paths.append(path.with_suffix(kind))
    return paths


def _markdown(
    tables: Iterable[Table], results: Results, states: Sequence[TaskState], intervals: str | None
) -> str:
    parts = [f'# {TITLE}\n', *(to_markdown(table, intervals) for table in tables)]
    undone = [f'{state.name}: {state}' for state in states if state.state is not State.FINISHED]
    if undone:
        parts.append('## Not finished\n\n' + _listed(undone))
    signatures = [
        f'{model}, {dataset}: {signature_line(result["signature"])}'
        for model, by_dataset in results.items()
        for dataset, result in by_dataset.items()
    ]
    if signatures:
        parts.append('## Signatures\n\n' + _listed(signatures))
    return '\n'.join(parts)


def _listed(lines: Iterable[str]) -> str:
    return ''.join(f'- {escape_markdown(line)}\n' for line in lines)
