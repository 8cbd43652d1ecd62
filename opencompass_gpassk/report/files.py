"""The files of a report: Markdown, LaTeX, CSV, JSON, and charts."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.display import escape_markdown, one_line, spreadsheet_text
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.formats.stored_files import full_disk_named, written_whole
from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.cells import BRACKETS
from opencompass_gpassk.report.charts.contents import report_charts
from opencompass_gpassk.report.charts.style import INSTALL, draw_chart, save_chart
from opencompass_gpassk.report.tables.contents import paper_tables, report_tables
from opencompass_gpassk.report.tables.latex import latex_report
from opencompass_gpassk.report.tables.table import Table, to_markdown
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.result import Estimate, Group, Result, Results, group_fields
from opencompass_gpassk.runs.task_states import State, TaskState

FORMAT = 1
COLUMNS = ('benchmark', 'model', 'data_set', 'sampling', 'n', 'group')
METRICS = ('problems', 'metric', 'k', 'tau', 'percent', 'low', 'high', 'questions')


def tidy_rows(results: Results) -> list[dict[str, Any]]:
    """Return one row per metric: benchmark, model, metric and value in percent.

    Args:
        results: Model → data set → result, as stored in the result JSON.

    Returns:
        Rows with the same keys: ``benchmark, model, data_set, sampling, n, group``, a column for
        each field of the groups (``split``, ``language``, …), then ``problems, metric, k, tau,
        percent, low, high, questions``. A field with the name of another column gets a prefix, such
        as ``group model``. ``group`` is '' for the whole benchmark. ``k`` and ``tau`` are None if a
        metric has none. ``percent`` is None if it is undefined. ``low`` and ``high``, the ends of
        the interval, are None if there is no interval. ``questions`` counts the independent
        questions that the metric rests on. Lengths and box plots of solutions are not
        percentages; :func:`to_json` has them.
    """
    ours = [
        (model, dataset, result)
        for model, by_dataset in results.items()
        for dataset, result in by_dataset.items()
    ]
    fields = _field_columns(group_fields(result for *_, result in ours))
    rows = []
    for model, dataset, result in ours:
        whole = Group(problems=result.counts.problems)
        sampling = result.signature.sampling.items()
        about = {
            'benchmark': result.benchmark,
            'model': model,
            'data_set': dataset,
            'sampling': ', '.join(f'{name}={value}' for name, value in sampling),
            'n': result.n,
        }
        for label, group in {'': whole, **result.groups}.items():
            of_group = {'group': label, **{c: group.fields.get(f, '') for f, c in fields.items()}}
            for (metric, k, tau), key, value in _values(result, label, group):
                ends = value.interval if isinstance(value, Estimate) else (None, None)
                rows.append(
                    {
                        **about,
                        **of_group,
                        'problems': group.problems,
                        'metric': metric,
                        'k': k,
                        'tau': tau,
                        'percent': _finite(value),
                        'low': ends[0],
                        'high': ends[1],
                        'questions': result.questions.get(in_group(label, key)),
                    }
                )
    return rows


Metric = tuple[str, int | None, float | None]


def _values(result: Result, label: str, group: Group) -> Iterator[tuple[Metric, str, float | None]]:
    """Yield (name, k, τ), key and value of a result's metrics for a group; '' is the whole."""
    for one in result.measured(originals='version' in group.fields):
        metric = one.name, one.m if one.k is None else one.k, one.tau
        yield metric, one.key, result.metric(one, label)
    for name, share in () if label else result.shares.items():
        yield (name, None, None), name, share


def to_csv(results: Results) -> str:
    """Return :func:`tidy_rows` as CSV: None is empty, and no text is read as a formula."""
    rows = tidy_rows(results)
    file = io.StringIO()
    columns = list(rows[0]) if rows else [*COLUMNS, *METRICS]
    writer = csv.DictWriter(file, columns, lineterminator='\n')
    # Headings are cells too, and may be names of fields from a data set.
    writer.writerow({name: spreadsheet_text(name) for name in columns})
    for row in rows:
        writer.writerow(
            {k: spreadsheet_text(v) if isinstance(v, str) else v for k, v in row.items()}
        )
    return file.getvalue()


def to_json(results: Results, tasks: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return results as a JSON document without NaN.

    Its schema::

        {"format": 1,
         "results": [{"benchmark": str, "model": str, "data_set": str, "n": int, "k": [int],
                      "taus": [float], "signature": {…}, "counts": {…}, "versions": {…} or null,
                      "reasoning": {…} or null, "warnings": [str], "trials_file": str or null,
                      "uncertainty": {…} or null,
                      "metrics": {name: percent or null},
                      "intervals": {name: [low, high]}, "questions": {name: int},
                      "groups": {label: {"problems": int, field: value, …,
                                         "metrics": {name: percent or null},
                                         "intervals": {name: [low, high]},
                                         "questions": {name: int}}}}],
         "tasks": [{"model": str, "data_set": str, "state": "finished" | "failed" | "unfinished" |
                    "not started", "stage": str, "reason": str, "log": str,
                    "parts": {shard: str}}]}

    The metrics have the keys of the result JSON. Metrics without an interval are missing in
    ``intervals``; ``uncertainty`` describes how these were made. ``questions`` counts the
    independent questions that a metric rests on.

    Args:
        results: Model → data set → result, as stored in the result JSON.
        tasks: State of each model's run on each data set.
    """
    document = {
        'format': FORMAT,
        'results': [
            _document(model, dataset, result)
            for model, by_dataset in results.items()
            for dataset, result in by_dataset.items()
        ],
        'tasks': list(tasks),
    }
    return json.dumps(without_nan(document), indent=1, ensure_ascii=True, allow_nan=False) + '\n'


def _document(model: str, dataset: str, result: Result) -> dict[str, Any]:
    stored = result.as_json()

    def metrics(label: str, group: Group) -> dict[str, dict[str, Any]]:
        found = {key: value for _, key, value in _values(result, label, group)}
        read = {key: value for key, value in found.items() if value is not None}
        ends = {k: list(v.interval) for k, v in read.items() if isinstance(v, Estimate)}
        asked = {key: result.questions.get(in_group(label, key)) for key in read}
        known = {key: number for key, number in asked.items() if number is not None}
        return {'metrics': read, 'intervals': ends, 'questions': known}

    return {
        'benchmark': result.benchmark,
        'model': model,
        'data_set': dataset,
        'n': result.n,
        **{
            key: stored.get(key)
            for key in (
                *('k', 'taus', 'signature', 'counts', 'versions', 'reasoning', 'warnings'),
                *('trials_file', 'uncertainty', 'tokens', 'reliable'),
            )
        },
        **metrics('', Group(problems=0)),
        'groups': {
            label: {**group.model_dump(), **metrics(label, group)}
            for label, group in result.groups.items()
        },
    }


def _field_columns(fields: Iterable[str]) -> dict[str, str]:
    """Return field → name of its column; all columns have different names."""
    taken = {*COLUMNS, *METRICS}
    columns: dict[str, str] = {}
    for name in fields:
        if name not in columns:
            column = one_line(name)
            while column in taken:
                column = f'group {column}'
            taken.add(column)
            columns[name] = column
    return columns


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


TITLE = 'G-Pass@k'
KINDS, VECTORS = ('.png', '.svg'), ('.pdf', '.svg')
COLUMN = 3.5  # inches: the widest column of a two-column page
WIDTH = 5.0  # inches of a chart beside a report, which is read on a screen
LONGEST = 60  # characters of a metric's name; a file's name may have 255 bytes, in UTF-8


class MissingMatplotlibError(ValueError):
    """Matplotlib, which the charts need, is not installed."""


@contextmanager
def latest_folder(summary: Path) -> Iterator[Path]:
    """Yield a new folder, which becomes ``summary/latest`` when the block ends.

    The former one is kept; its name is then the time at which it was written.
    """
    latest, part = summary / 'latest', summary / f'.latest.{os.getpid()}'
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        with full_disk_named(latest):
            yield part
        if latest.is_dir():
            written = datetime.fromtimestamp(latest.stat().st_mtime)
            older = summary / f'{written:%Y%m%d_%H%M%S}'
            while older.exists():
                older = older.with_name(f'{older.name}_')
            latest.rename(older)
        part.rename(latest)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_report(
    folder: Path,
    board: Board,
    states: Sequence[TaskState] = (),
    intervals: str | None = BRACKETS,
) -> list[Table]:
    """Write ``gpassk.md``, ``.tex``, ``.csv`` and ``.json`` to a folder, and return the tables.

    Args:
        folder: The folder; it is made if it is missing.
        board: What the report is made from.
        states: State of each model's work on each data set.
        intervals: Style of the intervals, see
            :func:`~opencompass_gpassk.report.tables.table.to_markdown`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = report_tables(board)
    texts = {
        '.md': _markdown(tables, board.results, states, intervals),
        '.tex': latex_report(paper_tables(board, tables), intervals),
        '.csv': to_csv(board.results),
        '.json': to_json(board.results, [state.as_dict() for state in states]),
    }
    for suffix, text in texts.items():
        (folder / f'gpassk{suffix}').write_text(text, encoding='utf-8')
    return tables


def write_charts(
    folder: Path, board: Board, width: float = WIDTH, kinds: Sequence[str] = KINDS
) -> dict[Path, str]:
    """Draw each chart to a file of each kind in a folder; return path → caption.

    Without trials there are no charts against n.

    Args:
        folder: The folder; it is made if there is a chart.
        board: What the report is made from.
        width: Width of the charts, in inches.
        kinds: Suffixes of the files, of ``.pdf``, ``.png`` and ``.svg``.

    Raises:
        MissingMatplotlibError: If matplotlib is missing; it names the command to install it.
    """
    paths: dict[Path, str] = {}
    for number, chart in enumerate(report_charts(board)):
        try:
            drawn = draw_chart(chart, width)
        except ImportError as error:
            raise MissingMatplotlibError(f'no charts without matplotlib: {INSTALL}') from error
        name = re.sub(r'[^\w.-]+', '_', chart.name)
        name = name if len(name) <= LONGEST else f'{name[: LONGEST - 20]}{name[-20:]}'
        if folder / f'{name}{kinds[0]}' in paths:
            name = f'{name}_{number}'
        for kind in kinds:
            path = folder / f'{name}{kind}'
            save_chart(drawn, path, one_line(chart.caption))
            paths[path] = chart.caption
    return paths


def write_for_paper(folder: Path, board: Board, width: float) -> list[Path]:
    """Write the charts as PDF and SVG, and ``gpassk.tex`` with these and the tables.

    Args:
        folder: The folder; it is made if it is missing.
        board: What they are made from.
        width: Width of the charts, in inches.

    Raises:
        MissingMatplotlibError: If matplotlib is missing.
    """
    charts = write_charts(folder, board, width, VECTORS)
    tables = paper_tables(board, report_tables(board))
    included = {path.name: told for path, told in charts.items() if path.suffix == VECTORS[0]}
    path = folder / 'gpassk.tex'
    text = latex_report(tables, charts=included, wide=width > COLUMN)
    with written_whole(path) as part:
        part.write_text(text, encoding='utf-8')
    return [*charts, path]


def _markdown(
    tables: Iterable[Table], results: Results, states: Sequence[TaskState], intervals: str | None
) -> str:
    parts = [f'# {TITLE}\n', *(to_markdown(table, intervals) for table in tables)]
    undone = [f'{state.name}: {state}' for state in states if state.state is not State.FINISHED]
    if undone:
        parts.append('## Not finished\n\n' + _listed(undone))
    signatures = [
        f'{model}, {dataset}: {result.signature}'
        for model, by_dataset in results.items()
        for dataset, result in by_dataset.items()
    ]
    if signatures:
        parts.append('## Signatures\n\n' + _listed(signatures))
    return '\n'.join(parts)


def _listed(lines: Iterable[str]) -> str:
    return ''.join(f'- {escape_markdown(line)}\n' for line in lines)
