"""The groups of problems in which a model is weaker than in the rest of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.compare.comparison import LEVEL
from opencompass_gpassk.metrics.difference import Steps, judged_estimates, on_these_problems
from opencompass_gpassk.results.judged_trials import JudgedTrials
from opencompass_gpassk.results.metric import Metric
from opencompass_gpassk.trials import ORIGINAL, TrialTable

Groups = Mapping[str, Mapping[str, Any]]  # label → the fields that its problems share


def weaker_groups(
    of_models: Sequence[tuple[TrialTable | None, Groups]], metric: Metric
) -> list[set[str]]:
    """Return each model's groups whose metric is lower than that of the model's other problems.

    The mean of a group less that of the rest is tested on these problems, see
    :func:`~opencompass_gpassk.metrics.difference.on_these_problems`. All groups of all models are
    one family.

    Args:
        of_models: Trials of each model, None if they can't be read; and its groups.
        metric: A metric that is computed from n and c of each problem.
    """
    counted = [JudgedTrials.recorded(table) if table else None for table, _ in of_models]
    columns = [
        _contrasts(trials, groups) if trials else {}
        for trials, (_, groups) in zip(counted, of_models, strict=True)
    ]
    tests = max(sum(map(len, columns)), 1)
    found: list[set[str]] = []
    for trials, of_model in zip(counted, columns, strict=True):
        weak: set[str] = set()
        if trials and of_model:
            values, variances = judged_estimates(metric.estimator(), trials.known, trials.c)
            steps = Steps(*(np.tile(of[:, None], len(of_model)) for of in (values, variances)))
            contrasts = np.column_stack([*of_model.values()])
            line = on_these_problems(steps, contrasts, level=LEVEL, tests=tests)
            weak = {label for label, sign in zip(of_model, line.signs, strict=True) if sign < 0}
        found.append(weak)
    return found


def _contrasts(trials: JudgedTrials, groups: Groups) -> dict[str, NDArray[np.float64]]:
    """Return what each problem counts in the mean of a group less that of the rest."""
    problems = trials.table.problems
    usable = (trials.known > 0) & np.array([one.version != ORIGINAL for one in problems])
    found = {}
    for label, fields in groups.items():
        inside = usable & [fields.items() <= one.groups.items() for one in problems]
        rest = usable & ~inside
        if inside.any() and rest.any() and 'version' not in fields:
            found[label] = inside / inside.sum() - rest / rest.sum()
    return found
