"""The figures of a result: each family is declared once, with all that anything asks about it.

A figure is a mean in percent, such as ``G-Pass@16_0.5``. A family holds the figures that differ in
k, τ, n or m alone. Tables, the report page, intervals, bounds, comparisons, the command line and
the documentation read :data:`FAMILIES`; nothing else spells or parses a key. To add a figure, add
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

from opencompass_gpassk.metrics import understanding, variables
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.majority_vote import majority_vote
from opencompass_gpassk.metrics.variables import ratio
from opencompass_gpassk.results.judged_trials import REDUNDANCY, VALIDITY, JudgedTrials
from opencompass_gpassk.results.protocol import Protocol

__all__ = [
    'ACCURACY',
    'CR',
    'DROP',
    'FALSE_POSITIVES',
    'FAMILIES',
    'GROUP_ACCURACY',
    'G_PASS',
    'MAJORITY_VOTE',
    'MG_PASS',
    'OOR',
    'PASS',
    'REASONING',
    'SCORED',
    'SHARES',
    'SP_ACCURACY',
    'Counted',
    'Family',
    'Figure',
    'Over',
    'Side',
    'parse_figure',
    'result_figures',
]

Row = NDArray[np.float64]


class Over(Enum):
    """What a figure averages."""

    PROBLEMS = 'problems'
    QUESTIONS = 'questions, each with all its versions'
    RIGHT_ORIGINALS = 'questions whose original is right'
    RESPONSES = 'responses'


class Counted(Enum):
    """Which responses a figure is computed from."""

    JUDGED = 'judged'
    PRESENT = 'present'
    SCORED = 'scored'
    JUDGED_AND_SCORED = 'judged and scored'


class Side(Enum):
    """What a figure of right answers is about; the value begins its key."""

    PLAIN = ''
    SOUND = 'sound '
    DROP = 'drop to sound '


@dataclass(frozen=True, eq=False)
class Family:
    """Figures that differ in k, τ, n or m alone.

    Attributes:
        key: Its key in the result JSON, in which ``{k}``, ``{tau}``, ``{n}`` and ``{m}`` stand for
            numbers: samples drawn, threshold, samples of a problem, versions of a question.
        about: What it means, in a sentence; may have the same places.
        values: Trials and figure to the values that it averages, from ``least`` to 1, NaN where
            undefined: shape (P,), (G,) or (T,), as ``over`` says. Over right originals, the value
            and its weight.
        over: What it averages.
        name: What CSV files call it in the column ``metric``; the key by default.
        heading: What tables call it; the key by default.
        key_of_one: Its key where each problem has one sample, if that is another.
        estimator: The same as an estimator of n and c of a problem; None where it is none.
        counted: Which responses it is computed from.
        least: Its least possible value.
        most: Figure to its greatest possible value.
        lower_is_better: Less is better.
        bounded: It never falls when a wrong response turns right, so that settling all unjudged
            responses in one way and in the other bounds it.
        falls_with_tau: It never rises with τ.
        repeated: It needs several samples of a problem.
        verdicts: It needs verdicts.
        sides: There are a sound figure of it and a drop.
        compared: Models are compared by it.
        tabulated: The tables of a benchmark have a column of it for each k.
        on_page: The leaderboard of the report page has a column of it.
        in_summary: OpenCompass's summary lists it.
    """

    key: str
    about: str
    values: Callable[[JudgedTrials, Figure, Protocol], Row | tuple[Row, Row]]
    over: Over = Over.PROBLEMS
    name: str = ''
    heading: str = ''
    key_of_one: str = ''
    estimator: Callable[[Figure], Estimator] | None = None
    counted: Counted = Counted.JUDGED
    least: float = 0.0
    most: Callable[[Figure], float] = lambda at: 1.0
    lower_is_better: bool = False
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
    ) -> Figure:
        """Return the family's figure at these numbers."""
        return Figure(self, k, None if tau is None else float(tau), n, m)

    def has(self, number: str) -> bool:
        """Tell whether the key holds such a number: ``k``, ``tau``, ``n`` or ``m``."""
        return f'{{{number}}}' in self.key


@dataclass(frozen=True)
class Figure:
    """One figure of a result.

    Attributes:
        family: What is declared of it.
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
        """Under which a result keeps it."""
        family = self.family
        once = family.key_of_one and self.n in (None, 1)
        return self.side.value + self._filled(family.key_of_one if once else family.key)

    @property
    def heading(self) -> str:
        """What people read."""
        family = self.family
        if family.key_of_one and self.n == 1:
            return self.key
        return self.side.value + self._filled(family.heading or family.key)

    @property
    def name(self) -> str:
        """What CSV files call it in the column ``metric``; k and τ have columns of their own."""
        return self.side.value + (self.family.name or self.family.key)

    @property
    def least(self) -> float:
        """Its least possible value."""
        return -self.most if self.side is Side.DROP else self.family.least

    @property
    def most(self) -> float:
        """Its greatest possible value."""
        return self.family.most(self)

    @property
    def lower_is_better(self) -> bool:
        """Less is better."""
        return self.side is Side.DROP or self.family.lower_is_better

    @property
    def counted(self) -> Counted:
        """Which responses it is computed from."""
        plain = self.side is Side.PLAIN
        return self.family.counted if plain else Counted.JUDGED_AND_SCORED

    def on(self, side: Side) -> Figure:
        """Return the plain figure, the sound one, or the drop."""
        return replace(self, side=side)

    def of_n(self, n: int | None) -> Figure:
        """Return the figure of so many samples of a problem; of any number with None."""
        return replace(self, n=n)

    def estimator(self) -> Estimator:
        """Return it as an estimator of n and c of a problem.

        Raises:
            ValueError: If it is none.
        """
        if self.family.estimator is None:
            raise ValueError(f'{self.key} is not computed from n and c of each problem alone')
        return self.family.estimator(self)

    def _filled(self, text: str) -> str:
        return text.format(k=self.k, tau=self.tau, n='n' if self.n is None else self.n, m=self.m)


def _of_counts(trials: JudgedTrials, at: Figure, protocol: Protocol) -> Row:
    return at.estimator()(trials.n, trials.c)


def _majority_vote(trials: JudgedTrials, at: Figure, protocol: Protocol) -> Row:
    table = trials.table
    classes = table.answer_class
    return majority_vote(
        table.problem_index, classes, trials.correct, trials.judged, len(table.problems)
    )


ACCURACY = Family(
    name='accuracy',
    key='accuracy ({n} runs average)',
    key_of_one='accuracy',
    heading='average@{n}',
    about='mean share of right responses among the n samples of a problem',
    values=_of_counts,
    estimator=lambda at: Estimator('accuracy'),
    bounded=True,
    sides=True,
    on_page=True,
    in_summary=True,
)
MAJORITY_VOTE = Family(
    key='majority vote',
    about='share of the problems that the most frequent answer solves',
    values=_majority_vote,
    counted=Counted.PRESENT,
    repeated=True,
    on_page=True,
    in_summary=True,
)
PASS = Family(
    name='pass@k',
    key='pass@{k}',
    about='chance that at least one of {k} samples is right',
    values=_of_counts,
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
    values=_of_counts,
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
    values=_of_counts,
    estimator=lambda at: Estimator('mG-Pass', at.k or 1),
    bounded=True,
    sides=True,
    tabulated=True,
    on_page=True,
    in_summary=True,
)


def _original_accuracy(trials: JudgedTrials, at: Figure, protocol: Protocol) -> Row:
    of = trials.versions
    return variables.accuracy(of.original_n[:, None], of.original_c[:, None])


def _drop(trials: JudgedTrials, at: Figure, protocol: Protocol) -> Row:
    of = trials.versions
    return _original_accuracy(trials, at, protocol) - variables.accuracy(of.n, of.c)


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
    about='accuracy on the originals less that on versions with other numbers',
    values=_drop,
    over=Over.QUESTIONS,
    least=-1.0,
    lower_is_better=True,
    on_page=True,
)
GROUP_ACCURACY = Family(
    name='GA@k',
    key='GA@{m}',
    about='share of the questions of which all {m} versions are right',
    values=lambda trials, at, protocol: variables.group_accuracy(*trials.versions[:2]),
    over=Over.QUESTIONS,
    bounded=True,
    on_page=True,
    in_summary=True,
)
CR = Family(
    key='CR',
    about='share of the questions of which the original and most versions are right',
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
    about='share of the questions of which the original is right, but hardly a version',
    values=lambda trials, at, protocol: understanding.original_only_ratio(
        *trials.versions, protocol.collapsed
    ),
    over=Over.QUESTIONS,
    lower_is_better=True,
    on_page=True,
    in_summary=True,
)
G_PASS_OVER_VERSIONS = Family(
    name='G-Pass over versions',
    key='G-Pass over {m} versions_{tau}',
    about='chance that of one sample from each of the {m} versions at least a share τ is right',
    values=lambda trials, at, protocol: variables.g_pass_over_versions(
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
    values=lambda trials, at, protocol: variables.pooled_g_pass(
        *trials.versions[:2], at.m or 1, at.tau or 0.0
    ),
    over=Over.QUESTIONS,
    bounded=True,
    falls_with_tau=True,
    repeated=True,
)
BETWEEN_VERSIONS = Family(
    key='variance between versions',
    about='variance of the versions’ rates: how much the numbers decide; may be negative',
    values=lambda trials, at, protocol: variables.variance_split(*trials.versions[:2]).between,
    over=Over.QUESTIONS,
    least=-1.0,
    lower_is_better=True,
    repeated=True,
    compared=False,
)
BETWEEN_SAMPLES = Family(
    key='variance between samples',
    about='variance of the samples of one version, on average: how much chance decides',
    values=lambda trials, at, protocol: variables.variance_split(*trials.versions[:2]).within,
    over=Over.QUESTIONS,
    lower_is_better=True,
    repeated=True,
    compared=False,
)


def _understanding(
    share: Callable[[understanding.Understanding], Row],
) -> Callable[[JudgedTrials, Figure, Protocol], tuple[Row, Row]]:
    """Return a share given that the original is right, weighted by the chance of that."""

    def values(trials: JudgedTrials, at: Figure, protocol: Protocol) -> tuple[Row, Row]:
        joint = understanding.understanding(*trials.versions, protocol.complete, protocol.collapsed)
        known = ~np.isnan(joint.complete)
        weights = np.where(known, joint.original, 0.0)
        return ratio(np.where(known, share(joint), 0.0), weights), weights

    return values


UNDERSTANDING = tuple(
    Family(
        key=f'{share} understanding',
        about=f'share with a right original of which {most} versions are right',
        values=_understanding(attrgetter(share)),
        over=Over.RIGHT_ORIGINALS,
        lower_is_better=share == 'collapsed',
        compared=False,
    )
    for share, most in (('complete', 'most'), ('partial', 'some'), ('collapsed', 'hardly any'))
)
UNDERSTANDING_SCORE = Family(
    key='understanding',
    about='complete understanding plus half of the partial (Eq. 5); below 60 it is inconsistent',
    values=_understanding(attrgetter('score')),
    over=Over.RIGHT_ORIGINALS,
    compared=False,
    on_page=True,
)
VERSIONS_RIGHT = Family(
    key='RV accuracy (original right)',
    about='share of right versions among the questions whose original is right',
    values=_understanding(attrgetter('right_versions')),
    over=Over.RIGHT_ORIGINALS,
    compared=False,
)


def _of_reasoning(name: str, of: str) -> Callable[[JudgedTrials, Figure, Protocol], Row]:
    """Return validity or redundancy of all responses that are there, of right or of wrong ones."""

    def values(trials: JudgedTrials, at: Figure, protocol: Protocol) -> Row:
        scores = trials.validity if name == VALIDITY else trials.redundancy
        chosen = {
            '': ~trials.table.flag('lost'),
            'right': trials.correct,
            'wrong': trials.judged & ~trials.correct,
        }[of]
        return np.where(chosen, scores, np.nan)

    return values


def _invalid_among_right(trials: JudgedTrials, at: Figure, protocol: Protocol) -> Row:
    known = trials.correct & ~np.isnan(trials.validity)
    return np.where(known, trials.validity < (protocol.sound or 0.0), np.nan)


REASONING = {
    (name, of): Family(
        key=f'{name} ({of})' if of else name,
        about=f'mean {name} of the reasoning of {f"{of} responses" if of else "the responses"}',
        values=_of_reasoning(name, of),
        over=Over.RESPONSES,
        counted=Counted.JUDGED_AND_SCORED if of else Counted.SCORED,
        lower_is_better=name == REDUNDANCY,
        verdicts=bool(of),
        on_page=not of,
        in_summary=name == VALIDITY and not of,
    )
    for name in (VALIDITY, REDUNDANCY)
    for of in ('', 'right', 'wrong')
}
FALSE_POSITIVES = Family(
    key='false-positive rate',
    about='share of right responses whose reasoning is not valid',
    values=_invalid_among_right,
    over=Over.RESPONSES,
    counted=Counted.JUDGED_AND_SCORED,
    lower_is_better=True,
    on_page=True,
    in_summary=True,
)
SCORED = Family(
    key='scored',
    about='share of the responses whose reasoning has scores',
    values=lambda trials, at, protocol: np.where(
        trials.table.flag('lost'), np.nan, ~np.isnan(trials.validity)
    ),
    over=Over.RESPONSES,
    counted=Counted.PRESENT,
    verdicts=False,
)

FAMILIES = (
    *(ACCURACY, MAJORITY_VOTE, PASS, G_PASS, MG_PASS),
    *(SP_ACCURACY, DROP, GROUP_ACCURACY, CR, OOR, G_PASS_OVER_VERSIONS, POOLED_G_PASS),
    *(BETWEEN_VERSIONS, BETWEEN_SAMPLES),
    *(*UNDERSTANDING, UNDERSTANDING_SCORE, VERSIONS_RIGHT),
    *(*REASONING.values(), FALSE_POSITIVES, SCORED),
)
# Of a data set as a whole, in percent. They say how far its figures can be trusted.
SHARES = {
    'coverage': 'responses with a verdict',
    'no answer': 'responses without an answer, of those not lost',
    'truncated': 'responses cut off, of those whose end is known',
    'identical': 'problems of which all responses are one text',
    'duplicates': 'excess of equal responses',
}


def result_figures(protocol: Protocol, m: int | None = None) -> Iterator[Figure]:
    """Yield the figures that a result has: plain, sound, drops; of versions; of reasoning.

    Args:
        protocol: What is measured.
        m: Versions of a question; None where questions have none.
    """
    plain = [one for one in _figures(protocol, m) if one.family.over is Over.PROBLEMS]
    yield from plain
    if protocol.sound is not None:
        for side in (Side.SOUND, Side.DROP):
            yield from (one.on(side) for one in plain if one.family.sides)
    yield from (one for one in _figures(protocol, m) if one.family.over is not Over.PROBLEMS)


def _figures(protocol: Protocol, m: int | None) -> Iterator[Figure]:
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
SIDE = re.compile('(?P<side>sound |drop to sound )?(?P<rest>.*)')


@lru_cache(maxsize=4096)
def parse_figure(text: str) -> Figure:
    """Return the figure that a key of a result, or its heading, names.

    Args:
        text: Such as ``G-Pass@16_0.5``, ``sound mG-Pass@16``, ``accuracy`` or ``average@16``.

    Raises:
        ValueError: If no figure is called so.
    """
    match = SIDE.fullmatch(text)
    side, rest = (Side(match['side'] or ''), match['rest']) if match else (Side.PLAIN, text)
    for family in FAMILIES:
        if side is not Side.PLAIN and not family.sides:
            continue
        for pattern in (family.key, family.key_of_one, family.heading):
            if pattern and (found := _pattern(pattern).fullmatch(rest)):
                return replace(_at(family, found.groupdict(), pattern), side=side)
    raise ValueError(
        f'figure is {text!r}; write accuracy, pass@16, G-Pass@16_0.5, mG-Pass@16 or another key '
        'of a result'
    )


@cache
def _pattern(spelled: str) -> re.Pattern[str]:
    pattern = re.escape(spelled)
    for name, number in NUMBERS.items():
        pattern = pattern.replace(re.escape(f'{{{name}}}'), number)
    return re.compile(pattern)


def _at(family: Family, found: dict[str, str], pattern: str) -> Figure:
    n = found.get('n')
    tau = float(found['tau']) if 'tau' in found else None
    if tau is not None and tau > 1:
        raise ValueError(f'tau is {tau:g}; a threshold τ is a share from 0 to 1')
    once = 1 if pattern == family.key_of_one else None
    return family(
        k=int(found['k']) if 'k' in found else None,
        tau=tau,
        n=once if n is None else None if n == 'n' else int(n),
        m=int(found['m']) if 'm' in found else None,
    )
