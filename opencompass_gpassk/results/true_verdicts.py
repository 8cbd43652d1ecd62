"""What a result would be if its verdicts were true: estimates from labels on some of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.progress_bar import with_progress
from opencompass_gpassk.metrics.judge_error import (
    JudgedAnswers,
    Labelled,
    LabelledOutcomes,
    says_right,
    true_verdicts,
)
from opencompass_gpassk.metrics.missing import expected_by_right
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.metric import ACCURACY, G_PASS, Metric
from opencompass_gpassk.results.metric_values import MetricValues, percent
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import PEOPLE, Problem, Trial, TrialTable, Verdict

LEVEL = 0.95
DRAWS = 300
PLAN_DRAWS = 100
FEW_DRAWS = 200  # for a mean
ERRORS = ('right answers called wrong', 'wrong answers called right')
RATES = (0.005, 0.01)
ASSUMED = 0.01  # rate of both errors in a plan

Chances = Callable[[np.random.Generator], NDArray[np.float64]]


class TrueVerdicts:
    """The trials of a table of which true verdicts are drawn.

    They are the judged ones, and the unjudged ones that labels tell of. People's verdicts and
    labels are true. A response without a final answer is wrong, unless its end may hold one.
    Responses with equal answers to a problem are all right, or all wrong; their verdict counts
    once, unless they got different ones.

    Attributes:
        outcomes: The O outcomes of judging that may be false, such as ``rule: correct``.
        counts: Shape (O,): number of trials with each.
        answers: Number of different answers to a problem with such outcomes.

    Args:
        table: The trials.
        known: Hash of question, gold answer and answer → whether a label says that it is right.
        labelled: What labels say of the outcomes.
    """

    def __init__(self, table: TrialTable, known: Mapping[str, bool], labelled: Labelled) -> None:
        of_all = [
            _certain(table.problems[p], one, known)
            for p, one in zip(table.problem_index, table.trials, strict=True)
        ]
        told = [
            truth is not None or (one.outcome in labelled and not one.lost)
            for truth, one in zip(of_all, table.trials, strict=True)
        ]
        self._judged = np.flatnonzero(table.judged | np.array(told, dtype=bool))
        trials = [table.trials[i] for i in self._judged]
        truths = [of_all[i] for i in self._judged]
        problem = table.problem_index[self._judged]
        right = np.array(
            [
                bool(truth) if one.verdict is Verdict.UNJUDGED else one.verdict is Verdict.CORRECT
                for truth, one in zip(truths, trials, strict=True)
            ],
            dtype=bool,
        )
        self.outcomes = sorted(
            {one.outcome for one, truth in zip(trials, truths, strict=True) if truth is None}
        )
        number = {one: i for i, one in enumerate(self.outcomes)}
        certain = len(number)  # certainly wrong; the next number is certainly right
        outcome = np.array(
            [
                number[one.outcome] if truth is None else certain + truth
                for one, truth in zip(trials, truths, strict=True)
            ],
            dtype=np.int64,
        )
        self.counts = np.bincount(outcome, minlength=certain + 2)[:certain].astype(float)
        unread = (table.answer_class[self._judged] < 0) & (outcome != certain)
        # Without a class each response is an answer of its own.
        answer = np.where(
            table.answer_class[self._judged] < 0,
            -1 - np.arange(len(trials)) * unread,
            table.answer_class[self._judged],
        )
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
        self.answers = int(judged[..., :certain].any(axis=-1).sum())
        without_answer = np.zeros(shape, dtype=bool)
        without_answer[self._at] = unread
        self._answers = JudgedAnswers(
            sizes.astype(np.int64),
            judged,
            2 * hits > sizes,
            without_answer,
            np.array([*map(says_right, self.outcomes), False, True]),
        )

    def with_rates(self, called_wrong: float, called_right: float) -> Chances:
        """Return fixed chances of the outcomes: how often an error is made, in [0, 1]."""
        right = np.array([says_right(one) for one in self.outcomes])
        of_wrong = np.where(right, called_right, 1 - called_right)
        chances = np.stack([of_wrong, np.where(right, 1 - called_wrong, called_wrong)])
        return lambda rng: chances

    def metrics(
        self, values: MetricValues, metrics: Sequence[Metric], chances: Chances, draws: int
    ) -> Iterator[MetricValues]:
        """Yield the values of metrics under draws of the true verdicts.

        Args:
            values: The recorded values.
            metrics: The metrics.
            chances: Draws the chances of the outcomes, shape (2, O), of a wrong answer and of a
                right one; further columns are of outcomes that no trial has.
            draws: Number of draws.
        """

        def with_certain(rng: np.random.Generator) -> NDArray[np.float64]:
            return np.concatenate([chances(rng)[:, : len(self.outcomes)], np.eye(2)], axis=1)

        for right in true_verdicts(self._answers, with_certain, draws):
            correct, judged = np.zeros((2, len(values.table)), dtype=bool)
            correct[self._judged], judged[self._judged] = right[self._at], True
            trials = replace(values.trials, judged=judged, correct=correct)
            yield MetricValues(values.table, values.protocol, trials, metrics)


def _certain(problem: Problem, trial: Trial, known: Mapping[str, bool]) -> bool | None:
    """Return whether a trial is certainly right, or certainly wrong; None if nobody knows."""
    if trial.source == PEOPLE:
        return trial.verdict is Verdict.CORRECT
    answer = trial.end if trial.answer is None else trial.answer
    if trial.answer is None and not trial.end and trial.verdict is Verdict.INCORRECT:
        return False
    return known.get(stable_hash([problem.question, problem.gold, answer])) if known else None


def judge_error(
    values: MetricValues, audit: Mapping[str, Any], intervals: Mapping[str, Sequence[float]]
) -> dict[str, Any]:
    """Return the field ``judge_error`` of a result.

    Args:
        values: The recorded values.
        audit: What labels say of the judge, see
            :func:`~opencompass_gpassk.judging.audit_sample.judge_audit`; empty without labels.
        intervals: The metrics' confidence intervals.

    Returns:
        ``sensitivity``: what errors would make of the metric that they change most. With labels
        also ``labelled``, the audit; and ``metrics``: key of a metric, groups included →
        ``estimate`` under true verdicts; ``range``, for the metric of these samples;
        ``with_sampling``, for a population of problems, if the metric has an interval. Both are for
        95 %; all are in percent.
    """
    found: dict[str, Any] = {'sensitivity': _sensitivity(values)}
    if audit:
        truth = TrueVerdicts(values.table, audit['known'], audit['outcomes'])
        chances = LabelledOutcomes.of(audit['outcomes'], truth.outcomes).chances
        found['labelled'] = {name: list(row) for name, row in audit['outcomes'].items()}
        found['metrics'] = _estimates(values, truth, chances, intervals)
    return found


def _estimates(
    values: MetricValues,
    truth: TrueVerdicts,
    chances: Chances,
    intervals: Mapping[str, Sequence[float]],
) -> dict[str, dict[str, Any]]:
    metrics = [
        metric
        for columns in values.columns.values()
        for metric in columns.metrics
        if metric.family.verdicts
    ]
    drawn: dict[str, list[float]] = {}
    every = truth.metrics(values, metrics, chances, DRAWS)
    for one in with_progress(every, DRAWS, 'true verdicts', 'draw', shown=True):
        for label, part in values.parts.items():
            for key, value in one.means(part).items():
                drawn.setdefault(in_group(label, key), []).append(value)
    found = {}
    for label, part in values.parts.items():
        recorded = values.means(part)
        for metric in metrics:
            key = in_group(label, metric.key)
            if key not in drawn or np.isnan(drawn[key]).any():
                continue
            estimate, (low, high) = float(np.mean(drawn[key])), truth_range(drawn[key])
            found[key] = {'estimate': estimate, 'range': [low, high]}
            if key in intervals:
                # The parts are independent; so combined by Zou and Donner, Statistics in Medicine
                # 27 (2008), 1693-1702.
                below, above = (abs(recorded[metric.key] - end) for end in intervals[key])
                found[key]['with_sampling'] = [
                    max(100 * metric.least, estimate - math.hypot(estimate - low, below)),
                    min(100 * metric.most, estimate + math.hypot(high - estimate, above)),
                ]
    return found


def truth_range(drawn: Sequence[float]) -> tuple[float, float]:
    """Return the range of a metric under true verdicts, from its draws in their order.

    Every second draw has errors concentrated in few problems. The range holds those of both, since
    labels hardly tell which is so.
    """
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    ends = np.array([np.quantile(drawn[start::2], tails) for start in (0, 1)])
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def most_sensitive(protocol: Protocol) -> Metric:
    """Return the metric that wrong verdicts change most: all of the most samples are right."""
    return G_PASS(k=protocol.ks[-1], tau=1.0) if protocol.ks else ACCURACY(n=protocol.n)


def _sensitivity(values: MetricValues) -> dict[str, Any]:
    """Return what errors that are independent between samples would make of the recorded verdicts.

    ``metric`` is the key of the most sensitive metric; ``rates`` is error → its rate in percent →
    the expected metric in percent.
    """
    metric = most_sensitive(values.protocol)
    members = list(values.parts[''].members)
    trials = values.trials
    n, c = trials.known[members, None], trials.c[members, None]
    missing = trials.n[members, None] - n
    count = np.arange(n.max(initial=0) + 1)
    of_count = np.zeros((len(members), len(count)))
    rates = Rates.fitted(trials.known, trials.c) if trials.known.any() else Rates.of(1, 1)
    for known, gone in np.unique(np.hstack([n, missing]), axis=0):
        rows = ((n == known) & (missing == gone))[:, 0]
        of_count[rows, : known + 1] = expected_by_right(metric.estimator(), known, gone, rates)
    expected: dict[str, dict[str, float]] = {}
    for error in ERRORS:
        for rate in RATES:
            wrong = error == ERRORS[0]
            chance = binom.pmf(c - count if wrong else count - c, c if wrong else n - c, rate)
            mean = percent((chance * of_count).sum(axis=1))
            expected.setdefault(error, {})[f'{100 * rate:g}'] = mean
    return {'metric': metric.key, 'rates': expected}


def planned_ranges(
    values: MetricValues, labels: Sequence[int], labelled: Labelled
) -> dict[int, tuple[float, float]]:
    """Return the range of the most sensitive metric that an audit of a run will give.

    Args:
        values: The recorded values.
        labels: Numbers of different answers to label, in proportion to the outcomes.
        labelled: Labels of an audit, which tell how frequent errors are; if empty, 1 % of the right
            answers are assumed to be called wrong, and 1 % of the wrong ones right.

    Returns:
        Number of labels → its 95 % range in percent, without sampling.
    """
    truth, metric = TrueVerdicts(values.table, {}, labelled), most_sensitive(values.protocol)
    assumed = truth.with_rates(ASSUMED, ASSUMED)
    if labelled:
        assumed = LabelledOutcomes.of(labelled, truth.outcomes).chances
    rng = np.random.default_rng(0)
    drawn = np.mean([assumed(rng) for _ in range(FEW_DRAWS)], axis=0)
    of_wrong, of_right = drawn[:, : len(truth.outcomes)]
    right = float(values.trials.c.sum() / max(values.trials.known.sum(), 1))
    shares = right * of_right / (right * of_right + (1 - right) * of_wrong)
    recorded = values.means(values.parts[''])[metric.key]
    found = {}
    for number in labels:
        if number >= truth.answers:  # all are labelled
            found[number] = recorded, recorded
            continue
        given = number * truth.counts / max(truth.counts.sum(), 1.0)
        chances = LabelledOutcomes(truth.counts, given, shares).chances
        drawn = [
            one.means(values.parts[''])[metric.key]
            for one in truth.metrics(values, [metric], chances, PLAN_DRAWS)
        ]
        found[number] = truth_range(drawn)
    return found
