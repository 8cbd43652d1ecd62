"""What a result would be if its verdicts were true: estimates from labels on some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.judge_error import JudgedAnswers, LabelledOutcomes, true_verdicts
from opencompass_gpassk.results.figure_values import FigureValues
from opencompass_gpassk.results.figures import ACCURACY, G_PASS, Figure
from opencompass_gpassk.results.groups import headline_problems, in_group
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Trial, TrialTable, Verdict

__all__ = ['ERRORS', 'TrueVerdicts', 'estimates', 'most_sensitive', 'outcome_of', 'sensitivity']

DRAWS = 300
FEW_DRAWS = 40  # for a mean
ERRORS = ('right called wrong', 'wrong called right')
RATES = (0.005, 0.01)
PEOPLE = 'human'  # the source of verdicts that are taken as true

Chances = Callable[[np.random.Generator], NDArray[np.float64]]


def outcome_of(trial: Trial) -> str:
    """Return source and verdict of a judged trial in words, such as ``rule: correct``."""
    return f'{trial.source}: {trial.verdict.value}'


class TrueVerdicts:
    """The judged trials of a table, of which true verdicts are drawn.

    People's verdicts are true. A response without a final answer is wrong. Responses with equal
    answers to a problem are all right, or all wrong; their verdict counts once, unless they got
    different ones.

    Attributes:
        outcomes: The O outcomes of judging that may be false, see :func:`outcome_of`.
        counts: Shape (O,): number of trials with each.
    """

    def __init__(self, table: TrialTable) -> None:
        self._judged = np.flatnonzero(table.judged)
        trials = [table.trials[i] for i in self._judged]
        names = [None if _is_certain(one) else outcome_of(one) for one in trials]
        self.outcomes = sorted({one for one in names if one})
        number = {one: i for i, one in enumerate(self.outcomes)}
        certain = len(number)  # certainly wrong; the next number is certainly right
        right = table.correct[self._judged]
        outcome = np.array(
            [number.get(name or '', certain + is_right) for name, is_right in zip(names, right)],
            dtype=np.int64,
        )
        self.counts = np.bincount(outcome, minlength=certain + 2)[:certain].astype(float)
        # Without a class each response is an answer of its own.
        answer = np.where(
            table.answer_class[self._judged] < 0,
            -1 - np.arange(len(trials)) * (outcome != certain),
            table.answer_class[self._judged],
        )
        problem = table.problem_index[self._judged]
        pairs, unit = np.unique(np.stack([problem, answer]), axis=1, return_inverse=True)
        place = np.arange(len(pairs[0])) - np.searchsorted(pairs[0], pairs[0])
        self._at = problem, place[unit.reshape(-1)]
        shape = len(table.problems), int(place.max(initial=-1)) + 1
        counts = np.zeros((*shape, certain + 2))
        np.add.at(counts, (*self._at, outcome), 1)
        hits = np.zeros(shape)
        np.add.at(hits, self._at, right)
        sizes = counts.sum(axis=-1)
        mixed = (hits > 0) & (hits < sizes)
        judged = np.where(mixed[..., None], counts, np.minimum(counts, 1))
        self._answers = JudgedAnswers(sizes.astype(np.int64), judged, 2 * hits > sizes)

    def draw(self, chances: Chances, draws: int) -> Iterator[NDArray[np.bool_]]:
        """Yield draws of whether the judged trials are right, in the order of the table.

        Args:
            chances: Draws the chances of the outcomes, shape (2, O), of a wrong answer and of a
                right one.
            draws: Number of draws.
        """

        def with_certain(rng: np.random.Generator) -> NDArray[np.float64]:
            return np.concatenate([chances(rng), np.eye(2)], axis=1)

        for right in true_verdicts(self._answers, with_certain, draws):
            yield right[self._at]

    def figures(
        self, values: FigureValues, figures: Sequence[Figure], chances: Chances, draws: int
    ) -> Iterator[FigureValues]:
        """Yield the values of figures under draws of the true verdicts."""
        for right in self.draw(chances, draws):
            correct = np.zeros_like(values.trials.correct)
            correct[self._judged] = right
            trials = replace(values.trials, correct=correct)
            yield FigureValues(values.table, values.protocol, trials, figures)


def _is_certain(trial: Trial) -> bool:
    without_answer = trial.answer is None and trial.verdict is Verdict.INCORRECT
    return trial.source == PEOPLE or without_answer


def estimates(
    values: FigureValues,
    labelled: Mapping[str, Sequence[float]],
    intervals: Mapping[str, Sequence[float]],
    level: float = 0.95,
) -> dict[str, dict[str, Any]]:
    """Return each figure under true verdicts, with its uncertainty.

    Args:
        values: The recorded values.
        labelled: Outcome → number of trials, of independent labels, and the share of right answers
            among these, of the audited run.
        intervals: The figures' confidence intervals.
        level: Level of these and of the ranges.

    Returns:
        Key of a figure, groups included → ``estimate``; ``range``: due to unknown verdicts, for the
        figure of these samples; ``with_sampling``: for a population of problems, where the figure
        has an interval. All in percent. The last combines both parts as independent ones (Zou and
        Donner, Statistics in Medicine 27 (2008), 1693-1702).
    """
    truth = TrueVerdicts(values.table)
    known = np.array([labelled.get(one, (0.0, 0.0, 0.0)) for one in truth.outcomes]).reshape(-1, 3)
    figures = {
        one.key: one
        for columns in values.columns.values()
        for one in columns.figures
        if one.family.verdicts
    }
    drawn: dict[str, list[float]] = {}
    chances = LabelledOutcomes(*known.T).chances
    for one in truth.figures(values, list(figures.values()), chances, DRAWS):
        for label, part in values.parts.items():
            for key, value in one.means(part).items():
                drawn.setdefault(in_group(label, key), []).append(value)
    recorded = {
        in_group(label, key): (value, figures[key])
        for label, part in values.parts.items()
        for key, value in values.means(part).items()
        if key in figures
    }
    found = {}
    for key, given in drawn.items():
        if np.isnan(given).any():
            continue
        estimate = float(np.mean(given))
        low, high = np.quantile(given, [(1 - level) / 2, (1 + level) / 2]).tolist()
        found[key] = {'estimate': estimate, 'range': [low, high]}
        if key in intervals:
            value, figure = recorded[key]
            least, most = intervals[key]
            found[key]['with_sampling'] = [
                max(100 * figure.least, estimate - np.hypot(estimate - low, value - least)),
                min(100 * figure.most, estimate + np.hypot(high - estimate, most - value)),
            ]
    return found


def most_sensitive(protocol: Protocol) -> Figure:
    """Return the figure that wrong verdicts change most: all of the most samples are right."""
    return G_PASS(k=protocol.ks[-1], tau=1.0) if protocol.ks else ACCURACY(n=protocol.n)


def sensitivity(values: FigureValues) -> dict[str, Any]:
    """Return what the most sensitive figure would be if verdicts had certain rates of errors.

    Returns:
        ``figure``: its key; for each of :data:`ERRORS` rate in percent → the figure in percent.
    """
    figure = most_sensitive(values.protocol)
    truth = TrueVerdicts(values.table)
    says_right = np.array([one.endswith(f': {Verdict.CORRECT.value}') for one in truth.outcomes])
    found: dict[str, Any] = {'figure': figure.key}
    for error in ERRORS:
        found[error] = {}
        for rate in RATES:
            of_right, of_wrong = (rate if error == one else 0.0 for one in ERRORS)
            fixed = np.stack(
                [
                    np.where(says_right, of_wrong, 1 - of_wrong),
                    np.where(says_right, 1 - of_right, of_right),
                ]
            )
            drawn = truth.figures(values, [figure], lambda rng, fixed=fixed: fixed, FEW_DRAWS)
            means = [one.means(values.parts[''])[figure.key] for one in drawn]
            found[error][f'{100 * rate:g}'] = float(np.mean(means))
    return found
