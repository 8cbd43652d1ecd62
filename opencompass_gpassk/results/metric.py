"""The metrics of a result. Each family of metrics is declared once, with all its properties.

A metric is a mean in percent, such as ``G-Pass@16_0.5``. The metrics of a family differ only in k,
τ, n or m. Tables, the report page, intervals, bounds, comparisons, the command line and the
documentation read :data:`FAMILIES`; no other module spells or parses a key. To add a metric, add
its function to ``metrics/`` and its record here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics import understanding, version_metrics
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.majority_vote import consensus_at_k, consistency, majority_vote
from opencompass_gpassk.metrics.version_metrics import ratio
from opencompass_gpassk.results.judged_trials import REDUNDANCY, VALIDITY, JudgedTrials
from opencompass_gpassk.results.protocol import Protocol

Row = NDArray[np.float64]


class Over(Enum):
    """The units that a metric averages over."""

    PROBLEMS = 'problems'
    QUESTIONS = 'questions, each with all its versions'
    RIGHT_ORIGINALS = 'questions whose original is right'
    RESPONSES = 'responses'


class Side(Enum):
    """Plain or sound metric of right answers, or their difference; the value begins its key."""

    PLAIN = ''
    SOUND = 'sound '
    DROP = 'drop to sound '


def _of_counts(trials: JudgedTrials, at: Metric, protocol: Protocol) -> Row:
    return trials.expected(at.estimator())


@dataclass(frozen=True, eq=False)
class Family:
    """Metrics that differ only in k, τ, n or m.

    Attributes:
        key: The key in the result JSON. ``{k}``, ``{tau}``, ``{n}`` and ``{m}`` stand for numbers:
            samples drawn, threshold, samples of a problem, versions of a question.
        about: The meaning in one sentence; may contain the same placeholders.
        values: Computes, from trials, metric and protocol, the values to average, from ``least``
            to ``most``, NaN where undefined; shape (P,), (G,) or (T,) for problems, questions or
            responses. Over right originals it returns values and weights. By default those of
            ``estimator``.
        over: The units that it averages over.
        name: The name in the column ``metric`` of CSV files; by default the key.
        heading: The name in tables; by default the key.
        estimator: The same metric as an estimator from n and c of a problem; None if impossible.
        least: The least possible value.
        most: Computes the greatest possible value from the metric.
        lower_is_better: Whether a lower value is better.
        ranked: Whether a value can be better than another. If not, differences have intervals, but
            no tests, ranks or marks.
        bounded: Whether it never falls when a wrong response turns right. Then counting all
            open responses as wrong, and as right, bounds it.
        falls_with_tau: Whether it never rises with τ.
        repeated: Whether it needs several samples of a problem.
        verdicts: Whether it needs verdicts.
        sides: Whether it also has a sound metric and a drop.
        compared: Whether models are compared by it.
        tabulated: Whether the tables of a benchmark have a column of it for each k.
        on_page: Whether the leaderboard of the report page has a column of it.
        in_summary: Whether OpenCompass's summary lists it, see :attr:`Metric.in_summary`.
    """

    key: str
    about: str
    values: Callable[[JudgedTrials, Metric, Protocol], Row | tuple[Row, Row]] = _of_counts
    over: Over = Over.PROBLEMS
    name: str = ''
    heading: str = ''
    estimator: Callable[[Metric], Estimator] | None = None
    least: float = 0.0
    most: Callable[[Metric], float] = lambda at: 1.0
    lower_is_better: bool = False
    ranked: bool = True
    bounded: bool = False
    falls_with_tau: bool = False
    repeated: bool = False
    verdicts: bool = True
    sides: bool = False
    compared: bool = True
    tabulated: bool = False
    on_page: bool = False
    in_summary: bool = False

    def __call__(
        self,
        *,
        k: int | None = None,
        tau: float | None = None,
        n: int | None = None,
        m: int | None = None,
    ) -> Metric:
        """Return the family's metric at these numbers."""
        return Metric(self, k, None if tau is None else float(tau), n, m)

    def has(self, number: str) -> bool:
        """Tell whether key or heading contains a number: ``k``, ``tau``, ``n`` or ``m``."""
        return f'{{{number}}}' in self.key + self.heading


@dataclass(frozen=True)
class Metric:
    """One metric of a result.

    Attributes:
        family: The family that declares it.
        k: Samples drawn.
        tau: Threshold τ.
        n: Samples of a problem; None stands for any number.
        m: Versions of a question.
        side: Plain, sound, or the drop from plain to sound.
    """

    family: Family
    k: int | None = None
    tau: float | None = None
    n: int | None = None
    m: int | None = None
    side: Side = Side.PLAIN

    @property
    def key(self) -> str:
        """The key in the result JSON."""
        return self.side.value + self._filled(self.family.key)

    @property
    def heading(self) -> str:
        """The name that people read."""
        if self.n == 1 and self.family.has('n'):  # one sample has no average
            return self.key
        return self.side.value + self._filled(self.family.heading or self.family.key)

    @property
    def name(self) -> str:
        """The name in the column ``metric`` of CSV files; k and τ have columns of their own."""
        return self.side.value + (self.family.name or self.family.key)

    @property
    def least(self) -> float:
        """The least possible value."""
        return -self.most if self.side is Side.DROP else self.family.least

    @property
    def most(self) -> float:
        """The greatest possible value."""
        return self.family.most(self)

    @property
    def lower_is_better(self) -> bool:
        """Whether a lower value is better."""
        return self.side is Side.DROP or self.family.lower_is_better

    @property
    def in_summary(self) -> bool:
        """Whether OpenCompass's summary lists it: a result has it at its top level.

        G-Pass@k at τ = 0 is pass@k. Of the sound metrics the strictest is listed.
        """
        if self.side is Side.SOUND:
            return self.tau == 1 or (self.family is ACCURACY and self.n == 1)
        return self.side is Side.PLAIN and self.family.in_summary and self.tau != 0

    def on(self, side: Side) -> Metric:
        """Return the plain metric, the sound one, or the drop."""
        return replace(self, side=side)

    def of_n(self, n: int | None) -> Metric:
        """Return the metric for n samples of a problem; None stands for any number."""
        return replace(self, n=n)

    def estimator(self) -> Estimator:
        """Return the metric as an estimator from n and c of a problem.

        Raises:
            ValueError: If it needs more than n and c.
        """
        if self.family.estimator is None:
            raise ValueError(f'{self.key} is not computed from n and c of each problem alone')
        return self.family.estimator(self)

    def _filled(self, text: str) -> str:
        return text.format(k=self.k, tau=self.tau, n='n' if self.n is None else self.n, m=self.m)


def _votes(
    trials: JudgedTrials,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_], Row]:
    """Return the arrays that votes are counted from, in the order of :func:`majority_vote`."""
    table = trials.table
    chance = ratio(trials.right_of_missing, trials.n - trials.known)
    return table.problem_index, table.answer_class, trials.correct, trials.judged, chance


def _consistency(trials: JudgedTrials, at: Metric, protocol: Protocol) -> Row:
    problem, answer, correct, _, chance = _votes(trials)
    return consistency(problem, answer, correct, ~trials.table.lost, len(chance))


ACCURACY = Family(
    key='accuracy',
    heading='average@{n}',
    about='mean share of right responses among the n samples of a problem',
    estimator=lambda at: Estimator('accuracy'),
    bounded=True,
    sides=True,
    on_page=True,
    in_summary=True,
)
MAJORITY_VOTE = Family(
    key='majority vote',
    about='share of the problems that the most frequent answer solves',
    values=lambda trials, at, protocol: majority_vote(*_votes(trials)),
    repeated=True,
    on_page=True,
)
PASS = Family(
    name='pass@k',
    key='pass@{k}',
    about='chance that at least one of {k} samples is right',
    estimator=lambda at: Estimator('G-Pass', at.k or 1),
    bounded=True,
    sides=True,
    tabulated=True,
    on_page=True,
    in_summary=True,
)
G_PASS = Family(
    name='G-Pass@k',
    key='G-Pass@{k}_{tau}',
    about='chance that at least a share τ = {tau} of {k} samples is right, one at the least',
    estimator=lambda at: Estimator('G-Pass', at.k or 1, at.tau or 0.0),
    bounded=True,
    falls_with_tau=True,
    sides=True,
    tabulated=True,
    on_page=True,
    in_summary=True,
)
MG_PASS = Family(
    name='mG-Pass@k',
    key='mG-Pass@{k}',
    about='mean of G-Pass@{k} over the thresholds τ from 0.5 to 1',
    most=lambda at: 1 - 1 / at.k if at.k and at.k > 1 and at.k % 2 else 1.0,  # for odd k, Eq. 7
    estimator=lambda at: Estimator('mG-Pass', at.k or 1),
    bounded=True,
    sides=True,
    tabulated=True,
    on_page=True,
    in_summary=True,
)
STABILITY_GAP = Family(
    name='stability gap@k',
    key='stability gap@{k}',
    about='chance that of {k} samples some are right, but not all: pass@{k} minus G-Pass@{k}_1.0; '
    'a model that solves nothing loses nothing',
    estimator=lambda at: Estimator('stability gap', at.k or 1),
    ranked=False,
    tabulated=True,
    on_page=True,
)
CONSENSUS = Family(
    name='cons@k',
    key='cons@{k}',
    about='chance that the most frequent answer of {k} samples is right',
    values=lambda trials, at, protocol: consensus_at_k(
        *_votes(trials), present=~trials.table.lost, k=at.k or 1
    ),
    repeated=True,
    compared=False,
    on_page=True,
)
CONSISTENCY = Family(
    key='consistency',
    about='chance that two samples of a problem have the same answer, right or wrong; needs no '
    'gold answer',
    values=_consistency,
    ranked=False,
    repeated=True,
    compared=False,
    on_page=True,
)


def _original_accuracy(trials: JudgedTrials, at: Metric, protocol: Protocol) -> Row:
    of = trials.versions
    return version_metrics.accuracy(of.original_n[:, None], of.original_c[:, None])


def _drop(trials: JudgedTrials, at: Metric, protocol: Protocol) -> Row:
    of = trials.versions
    return _original_accuracy(trials, at, protocol) - version_metrics.accuracy(of.n, of.c)


SP_ACCURACY = Family(
    key='SP accuracy',
    heading='original accuracy',
    about='accuracy on the original questions',
    values=_original_accuracy,
    over=Over.QUESTIONS,
    bounded=True,
    on_page=True,
    in_summary=True,
)
DROP = Family(
    key='SP-RV drop',
    about='accuracy on the originals minus accuracy on the versions with other numbers',
    values=_drop,
    over=Over.QUESTIONS,
    least=-1.0,
    lower_is_better=True,
    on_page=True,
)
GROUP_ACCURACY = Family(
    name='GA@k',
    key='GA@{m}',
    about='share of the questions with all {m} versions right',
    values=lambda trials, at, protocol: version_metrics.group_accuracy(*trials.versions[:2]),
    over=Over.QUESTIONS,
    bounded=True,
    on_page=True,
    in_summary=True,
)
CR = Family(
    key='CR',
    about='share of the questions with a right original and most versions right',
    values=lambda trials, at, protocol: understanding.complete_ratio(
        *trials.versions, protocol.complete
    ),
    over=Over.QUESTIONS,
    bounded=True,
    on_page=True,
    in_summary=True,
)
OOR = Family(
    key='OOR',
    about='share of the questions with a right original and few or no versions right',
    values=lambda trials, at, protocol: understanding.original_only_ratio(
        *trials.versions, protocol.collapsed
    ),
    over=Over.QUESTIONS,
    lower_is_better=True,
    on_page=True,
    in_summary=True,
)
CR_BY_CHANCE = Family(
    key='CR by chance',
    about='what CR is on average if the original is like one of its versions',
    values=lambda trials, at, protocol: understanding.complete_by_chance(
        *trials.versions, protocol.complete
    ),
    over=Over.QUESTIONS,
    bounded=True,
    ranked=False,
    compared=False,
)
OOR_BY_CHANCE = Family(
    key='OOR by chance',
    about='what OOR is on average if the original is like one of its versions',
    values=lambda trials, at, protocol: understanding.original_only_by_chance(
        *trials.versions, protocol.collapsed
    ),
    over=Over.QUESTIONS,
    ranked=False,
    compared=False,
)
OOR_LESS_CHANCE = Family(
    key='OOR less chance',
    about='OOR minus OOR by chance; 0 is expected without memory of the originals',
    values=lambda trials, at, protocol: (
        understanding.original_only_ratio(*trials.versions, protocol.collapsed)
        - understanding.original_only_by_chance(*trials.versions, protocol.collapsed)
    ),
    over=Over.QUESTIONS,
    least=-1.0,
    lower_is_better=True,
)
G_PASS_OVER_VERSIONS = Family(
    name='G-Pass over versions',
    key='G-Pass over {m} versions_{tau}',
    about='chance that at least a share τ is right, with one sample of each of the {m} versions',
    values=lambda trials, at, protocol: version_metrics.g_pass_over_versions(
        *trials.versions[:2], at.tau or 0.0
    ),
    over=Over.QUESTIONS,
    bounded=True,
    falls_with_tau=True,
)
POOLED_G_PASS = Family(
    name='pooled G-Pass@k',
    key='pooled G-Pass@{m}_{tau}',
    about='G-Pass@{m} of the samples of all versions of a question in one pool',
    values=lambda trials, at, protocol: trials.expected_of_pools(
        Estimator('G-Pass', at.m or 1, at.tau or 0.0)
    ),
    over=Over.QUESTIONS,
    bounded=True,
    falls_with_tau=True,
    repeated=True,
)
BETWEEN_VERSIONS = Family(
    key='variance between versions',
    about='variance of accuracy between versions, due to their numbers; may be negative',
    values=lambda trials, at, protocol: (
        version_metrics.variance_split(*trials.judged_versions[:2]).between
    ),
    over=Over.QUESTIONS,
    least=-1.0,
    lower_is_better=True,
    repeated=True,
    compared=False,
)
BETWEEN_SAMPLES = Family(
    key='variance between samples',
    about='mean variance of the samples of one version, due to chance',
    values=lambda trials, at, protocol: (
        version_metrics.variance_split(*trials.judged_versions[:2]).within
    ),
    over=Over.QUESTIONS,
    lower_is_better=True,
    repeated=True,
    compared=False,
)


def _understanding(
    share: Callable[[understanding.Understanding], Row],
) -> Callable[[JudgedTrials, Metric, Protocol], tuple[Row, Row]]:
    """Return a share given that the original is right, weighted by the chance that it is."""

    def values(trials: JudgedTrials, at: Metric, protocol: Protocol) -> tuple[Row, Row]:
        joint = understanding.understanding(*trials.versions, protocol.complete, protocol.collapsed)
        known = ~np.isnan(joint.complete)
        weights = np.where(known, joint.original, 0.0)
        return ratio(np.where(known, share(joint), 0.0), weights), weights

    return values


UNDERSTANDING = tuple(
    Family(
        key=f'{share} understanding',
        about=f'among questions with a right original, the share with {most} versions right',
        values=_understanding(attrgetter(share)),
        over=Over.RIGHT_ORIGINALS,
        lower_is_better=share == 'collapsed',
        compared=False,
    )
    for share, most in (('complete', 'most'), ('partial', 'some'), ('collapsed', 'few or no'))
)
UNDERSTANDING_SCORE = Family(
    key='understanding',
    about='complete understanding plus half of partial (Eq. 5); below 60 it is inconsistent',
    values=_understanding(attrgetter('score')),
    over=Over.RIGHT_ORIGINALS,
    compared=False,
    on_page=True,
    in_summary=True,
)
VERSIONS_RIGHT = Family(
    key='RV accuracy (original right)',
    about='share of right versions among the questions whose original is right',
    values=_understanding(attrgetter('right_versions')),
    over=Over.RIGHT_ORIGINALS,
    compared=False,
)


def _of_reasoning(name: str, of: str) -> Callable[[JudgedTrials, Metric, Protocol], Row]:
    """Return validity or redundancy of all responses not lost, of the right or the wrong ones."""

    def values(trials: JudgedTrials, at: Metric, protocol: Protocol) -> Row:
        scores = trials.validity if name == VALIDITY else trials.redundancy
        chosen = {
            '': ~trials.table.lost,
            'right': trials.correct,
            'wrong': trials.judged & ~trials.correct,
        }[of]
        return np.where(chosen, scores, np.nan)

    return values


def _invalid_among_right(trials: JudgedTrials, at: Metric, protocol: Protocol) -> Row:
    known = trials.correct & ~np.isnan(trials.validity)
    return np.where(known, trials.validity < (protocol.sound or 0.0), np.nan)


REASONING = {
    (name, of): Family(
        key=f'{name} ({of})' if of else name,
        about=f'mean {name} of the reasoning of {f"{of} responses" if of else "the responses"}',
        values=_of_reasoning(name, of),
        over=Over.RESPONSES,
        lower_is_better=name == REDUNDANCY,
        verdicts=bool(of),
        on_page=not of,
        in_summary=not of,
    )
    for name in (VALIDITY, REDUNDANCY)
    for of in ('', 'right', 'wrong')
}
FALSE_POSITIVES = Family(
    key='false-positive rate',
    about='share of right responses whose reasoning is not valid',
    values=_invalid_among_right,
    over=Over.RESPONSES,
    lower_is_better=True,
    on_page=True,
)
SCORED = Family(
    key='scored',
    about='share of responses whose reasoning has scores',
    values=lambda trials, at, protocol: np.where(
        trials.table.lost, np.nan, ~np.isnan(trials.validity)
    ),
    over=Over.RESPONSES,
    verdicts=False,
)

FAMILIES = (
    *(ACCURACY, MAJORITY_VOTE, PASS, G_PASS, MG_PASS, STABILITY_GAP, CONSENSUS, CONSISTENCY),
    *(UNDERSTANDING_SCORE, SP_ACCURACY, DROP, GROUP_ACCURACY, CR, OOR),
    *(CR_BY_CHANCE, OOR_BY_CHANCE, OOR_LESS_CHANCE, G_PASS_OVER_VERSIONS, POOLED_G_PASS),
    *(BETWEEN_VERSIONS, BETWEEN_SAMPLES),
    *(*UNDERSTANDING, VERSIONS_RIGHT),
    *(*REASONING.values(), FALSE_POSITIVES, SCORED),
)
# Shares of a whole data set, in percent. They show how far its metrics can be trusted.
SHARES = {
    'coverage': 'responses with a verdict',
    'no answer': 'responses without a final answer, among those not lost',
    'unrecognised': 'finished responses without a recognised answer, which may be right, among all',
    'truncated': 'responses cut off, among those where this is known',
    'identical': 'problems whose responses, but for those cut off, are all the same text',
    'duplicates': 'long responses, not cut off, that copy an earlier one to the same problem',
}


def result_metrics(protocol: Protocol, m: int | None = None) -> Iterator[Metric]:
    """Yield the metrics of a result: plain, sound and drops, then of versions and of reasoning.

    Args:
        protocol: The protocol of the measurement.
        m: Versions of a question; None if questions have none.
    """
    plain = [one for one in _metrics(protocol, m) if one.family.over is Over.PROBLEMS]
    yield from plain
    if protocol.sound is not None:
        for side in (Side.SOUND, Side.DROP):
            yield from (one.on(side) for one in plain if one.family.sides)
    yield from (one for one in _metrics(protocol, m) if one.family.over is not Over.PROBLEMS)


def _metrics(protocol: Protocol, m: int | None) -> Iterator[Metric]:
    families = [one for one in FAMILIES if _measured(one, protocol, m)]
    for family in (one for one in families if not one.has('k')):
        for tau in protocol.taus if family.has('tau') else (None,):
            n = protocol.n if family.has('n') else None
            yield family(tau=tau, n=n, m=m if family.has('m') else None)
    for k in protocol.ks:
        for family in (one for one in families if one.has('k')):
            for tau in protocol.taus if family.has('tau') else (None,):
                yield family(k=k, tau=tau)


def _measured(family: Family, protocol: Protocol, m: int | None) -> bool:
    if family.over is Over.RESPONSES and protocol.judged and protocol.sound is None:
        return False
    if family.over in (Over.QUESTIONS, Over.RIGHT_ORIGINALS) and m is None:
        return False
    return (protocol.judged or not family.verdicts) and (protocol.n > 1 or not family.repeated)


NUMBERS = {
    'k': r'(?P<k>[1-9]\d{0,8})',
    'tau': r'(?P<tau>\d+(?:\.\d+)?(?:e-\d+)?)',
    'n': r'(?P<n>[1-9]\d{0,8}|n)',
    'm': r'(?P<m>[1-9]\d{0,8})',
}
PASS_POWER = re.compile(r'pass\^([1-9]\d{0,8})$')  # what others call G-Pass@k at τ = 1
SIDE = re.compile('(?P<side>sound |drop to sound )?(?P<rest>.*)')


@lru_cache(maxsize=4096)
def parse_metric(text: str) -> Metric:
    """Return the metric with this key or heading.

    Args:
        text: For example ``G-Pass@16_0.5``, ``sound mG-Pass@16``, ``accuracy``, ``average@16``, or
            ``pass^16``, which is ``G-Pass@16_1.0``.

    Raises:
        ValueError: If no metric has this key or heading.
    """
    match = SIDE.fullmatch(PASS_POWER.sub(r'G-Pass@\1_1.0', text))
    side, rest = (Side(match['side'] or ''), match['rest']) if match else (Side.PLAIN, text)
    for family in FAMILIES:
        if side is not Side.PLAIN and not family.sides:
            continue
        for pattern in (family.key, family.heading):
            if pattern and (found := _pattern(pattern).fullmatch(rest)):
                return replace(_at(family, found.groupdict()), side=side)
    raise ValueError(
        f'metric is {text!r}; write accuracy, pass@16, G-Pass@16_0.5, mG-Pass@16 or another key '
        'of a result'
    )


@cache
def _pattern(spelled: str) -> re.Pattern[str]:
    pattern = re.escape(spelled)
    for name, number in NUMBERS.items():
        pattern = pattern.replace(re.escape(f'{{{name}}}'), number)
    return re.compile(pattern)


def _at(family: Family, found: dict[str, str]) -> Metric:
    n = found.get('n')
    tau = float(found['tau']) if 'tau' in found else None
    if tau is not None and tau > 1:
        raise ValueError(f'tau is {tau:g}; a threshold τ is a share from 0 to 1')
    return family(
        k=int(found['k']) if 'k' in found else None,
        tau=tau,
        n=None if n in (None, 'n') else int(n),
        m=int(found['m']) if 'm' in found else None,
    )
