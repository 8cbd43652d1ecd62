"""Results in a notebook: rows of trials and of metrics, which ``pandas.DataFrame`` takes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from opencompass_gpassk.report.files import tidy_rows
from opencompass_gpassk.report.page.problems import read_responses
from opencompass_gpassk.results.read import ModelResult, results_at
from opencompass_gpassk.trials import Trial, Verdict

CORRECT = {Verdict.CORRECT: 1.0, Verdict.INCORRECT: 0.0, Verdict.UNJUDGED: math.nan}
OF_TRIAL = [one.name for one in fields(Trial) if one.name != 'values']


def trial_rows(path: str | PathLike[str], *, responses: bool = False) -> list[dict[str, Any]]:
    """Return one row per response of the results at a path.

    Args:
        path: A result of ``gpassk score``, a folder of them, a run of OpenCompass, or a work dir
            (its newest run).
        responses: Whether rows also hold ``question``, and the whole response as ``text``: None if
            its file is not where ``response`` says.

    Returns:
        Rows with ``path``, ``model``, ``data_set``, the fields of
        :class:`~opencompass_gpassk.trials.Trial` (``verdict`` in words), ``correct`` (1, 0, or NaN
        without a verdict), ``gold``, ``cluster``, ``version``, scores of the reasoning, and a
        column for each field of the groups. A field with the name of another column gets the
        prefix ``group``.

    Raises:
        ValueError: If there is no readable result, or its trials can't be read. A file that is
            left out is a warning.
    """
    rows = []
    for one in _results([path]):
        table, faults = one.table(), list[str]()
        found = (
            read_responses(
                table.trials,
                one.run,
                one.path.parent,
                faults,
                columns=one.result.columns,
                whole=True,
            )
            if responses
            else {}
        )
        for fault in faults:
            warnings.warn(fault, stacklevel=2)
        for problem, trials in zip(table.problems, table.by_problem(), strict=True):
            of_problem = {name: getattr(problem, name) for name in ('gold', 'cluster', 'version')}
            for trial in trials:
                row = {
                    'path': str(one.path),
                    'model': one.model,
                    'data_set': one.dataset,
                    **{name: getattr(trial, name) for name in OF_TRIAL},
                    'verdict': trial.verdict.value,
                    'correct': CORRECT[trial.verdict],
                    **of_problem,
                    **trial.values,
                }
                if responses:
                    text = found.get(trial.response)
                    row |= {'question': problem.question, 'text': text and text.text}
                groups = problem.groups.items()
                rows.append(row | {f'group {k}' if k in row else k: v for k, v in groups})
    return rows


def metric_rows(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
) -> list[dict[str, Any]]:
    """Return one row per metric of the results at some paths, in percent, with intervals.

    Args:
        paths: A path as of :func:`trial_rows`, or several.

    Returns:
        Rows with ``path`` and the columns of the ``.csv`` of a summary: ``benchmark, model,
        data_set, sampling, n, group``, a column for each field of the groups, ``problems, metric,
        k, tau, percent, low, high, questions``.

    Raises:
        ValueError: If a path has no readable result. A file that is left out is a warning.
    """
    each = [paths] if isinstance(paths, (str, PathLike)) else paths
    return [
        {'path': str(one.path), **row}
        for one in _results(each)
        for row in tidy_rows({one.model: {one.dataset: one.result}})
    ]


def _results(paths: Iterable[str | PathLike[str]]) -> list[ModelResult]:
    return [
        one
        for path in paths
        for one in results_at(Path(path), lambda told: warnings.warn(told, stacklevel=4))
    ]
