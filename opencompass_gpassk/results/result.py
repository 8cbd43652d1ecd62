"""The result of one model on one data set: its fields, and what they say.

``results/read.py`` makes a :class:`Result` of a file, which may come from anyone; its JSON is
:meth:`Result.as_json`. ``docs/results.md`` is made from the types.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainValidator,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from opencompass_gpassk.formats.decode import Count, Typed, decode
from opencompass_gpassk.formats.stored_files import MOST_PROBLEMS
from opencompass_gpassk.inference.sampling import meant_greedy
from opencompass_gpassk.metrics.clusters import LEAST_CLUSTERS
from opencompass_gpassk.metrics.judge_error import is_labelled
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.metric import ACCURACY, PASS, Metric, parse_metric, result_metrics
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, NOBODY, Protocol
from opencompass_gpassk.results.true_verdicts import ERRORS
from opencompass_gpassk.trials import ORIGINAL, check_schema

MOST = 1_000_000  # samples of a result; a file with more was made to do harm
MOST_VERSIONS = 1000
MOST_K = 1024  # tables for a larger k fill the memory
# A result has a metric for each k, τ and group; the page tests the ungrouped ones pair by pair.
MOST_METRICS, MOST_VALUES, MOST_BREAKDOWNS = 1500, 100_000, 50
MOST_WARNINGS = 1000
MOST_TOKENS = 1e300  # per problem solved every time they may be more than MOST
MOST_RATES = 10  # of errors
OTHER_METRICS = 20  # metrics without k: accuracy, those of versions and of reasoning
LONGEST_NAME, LONGEST_TEXT, LONGEST_SETTINGS = 1000, 20_000, 200_000
ROUNDING = 1e-6  # percent


def _number(least: float, most: float, null: float | None = math.nan) -> PlainValidator:
    """Return the check of a number in a range, or NaN; ``null`` is what null stands for."""

    def number(value: Any) -> float | None:
        if value is None:
            return null
        known = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not known or value < least or value > most:
            raise ValueError(f'should be a number from {least:g} to {most:g}')
        return float(value)

    return PlainValidator(number)


def _text(longest: int, kind: type | tuple[type, ...] = str) -> PlainValidator:
    """Return the check of a text, which may hold lone surrogates, or of a value of other types."""

    def text(value: Any) -> Any:
        if not isinstance(value, kind) or len(str(value)) > longest:
            raise ValueError(f'should be a text of {longest} characters at most')
        return value

    return PlainValidator(text)


def _brief(value: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(value)) > LONGEST_SETTINGS:
        raise ValueError(f'should have {LONGEST_SETTINGS} characters at most')
    return value


def _labelled(value: dict[str, list[float]]) -> dict[str, list[float]]:
    if not is_labelled(value):
        raise ValueError('should hold lists of trials, labels and a share')
    return value


Number = Annotated[float, _number(-MOST, MOST)]
Percent = Annotated[float, _number(0, 100 + ROUNDING)]
Tokens = Annotated[float, _number(0, MOST_TOKENS)]
Positive = Annotated[int, Field(ge=1, le=MOST)]
Share = Annotated[float, Field(ge=0, le=1)]
K = Annotated[int, Field(ge=1, le=MOST_K)]
Name = Annotated[str, _text(LONGEST_NAME)]
Text = Annotated[str, _text(LONGEST_TEXT)]
String = Annotated[str, _text(sys.maxsize)]
Scalar = Annotated[Any, _text(LONGEST_NAME, (str, int, float, type(None)))]
Value = Annotated[Any, _text(sys.maxsize, (str, int, float, type(None)))]
Settings = Annotated[dict[str, Any], AfterValidator(_brief)]
Ends = Annotated[list[Number], Field(min_length=2, max_length=2)]
TokenEnd = Annotated[float | None, _number(0, MOST_TOKENS, None)]
TokenEnds = Annotated[list[TokenEnd], Field(min_length=2, max_length=2)]


class Signature(Typed):
    """What must be equal for two results to be comparable.

    Attributes:
        package: Version of this package.
        data: Benchmark and version of the problems.
        n: Samples of each problem.
        k: As ``k`` of the result.
        sampling: Sampling parameters; ``mixed`` counts differing sets.
        judge: The judge; ``none`` if only the reasoning was scored.
        prompt: Hash of the prompts.
        complete: As ``versions.complete``.
        collapsed: As ``versions.collapsed``.
        reasoning: The scorer of the reasoning and its settings.
    """

    package: Name = ''
    data: Name = ''
    n: Positive
    k: list[K] = []
    sampling: dict[Name, Scalar] = {}
    judge: Name = ''
    prompt: Name = ''
    complete: Share | None = None
    collapsed: Share | None = None
    reasoning: Name = ''

    def __str__(self) -> str:
        """Return it as one line, such as ``package:0.1.0|data:sample:1|n:16|k:4,8``."""
        parts = []
        for key, value in self.model_dump(exclude_unset=True).items():
            if isinstance(value, dict):
                value = ','.join(f'{name}={item}' for name, item in value.items())
            elif isinstance(value, list):
                value = ','.join(map(str, value))
            parts.append(f'{key}:{value}')
        return '|'.join(parts)


class Counts(Typed):
    """Counts over all problems, originals of versions included.

    Those of verdicts are left out if only the reasoning was scored, the last four without texts.

    Attributes:
        problems: Problems of the headline metrics.
        trials: Responses, lost ones included.
        correct: Right responses.
        incorrect: Wrong responses.
        unjudged: Responses without a verdict, lost ones included.
        undecided: Wrong responses that no rule decided, counted so by request.
        lost: Missing responses, since the inference failed.
        no_answer: Responses in which no final answer was found.
        unrecognised: Those of them that count as wrong, but are finished and may be right.
        truncated: Responses that were cut off.
        excluded: k → problems that the metrics at this k leave out: those with fewer than k
            responses, or no verdict.
        empty: Wrong responses without a text that were not cut off.
        thoughts_only: Those that say nothing beside their thoughts.
        refused: Wrong responses that refuse to answer.
        filtered: Lost responses that the server or its filter refused.
    """

    problems: Count
    trials: Count
    correct: Count = 0
    incorrect: Count = 0
    unjudged: Count = 0
    undecided: Count = 0
    lost: Count
    no_answer: Count = 0
    unrecognised: Count = 0
    truncated: Count
    excluded: dict[Name, Count] = {}
    empty: Count = 0
    thoughts_only: Count = 0
    refused: Count = 0
    filtered: Count = 0

    @property
    def without_verdict(self) -> dict[str, int]:
        """What responses without a verdict are → how many; {} if each has one."""
        found = {
            'unjudged': self.unjudged - self.lost,
            'with no answer found (counted as wrong)': self.unrecognised,
            'that no rule could decide (counted as wrong)': self.undecided,
            'lost': self.lost,
        }
        return {what: number for what, number in found.items() if number > 0}

    @property
    def told_without_verdict(self) -> str:
        """The same in words."""
        return ', '.join(f'{number} {what}' for what, number in self.without_verdict.items())


class Group(Typed):
    """A group of problems that has metrics of its own.

    Attributes:
        problems: Problems of the group.
    """

    model_config = ConfigDict(extra='allow')
    __pydantic_extra__: dict[str, Scalar] = Field(init=False)

    problems: Count

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that its problems share, such as split or language."""
        return self.__pydantic_extra__

    @model_serializer(mode='wrap')
    def _in_order(self, dumped: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return self.fields | dumped(self)


class Judging(Typed):
    """How the verdicts were reached.

    Attributes:
        mode: The mode; ``evaluator`` if an evaluator of OpenCompass gave them.
        match: What a rule compares.
        model: The judge's model.
        settings: The settings of the judge, for a later rescoring.
        decoding: The judge's decoding.
        ledger: Requests, tokens and cost.
        reasons: The rules' reason → verdicts.
        unjudged: Reason → responses without a verdict.
        notes: Warnings that go with the verdicts.
    """

    mode: Name = ''
    match: Name = ''
    model: Name = ''
    settings: Settings = {}
    decoding: Settings = {}
    ledger: Settings = {}
    reasons: dict[Text, Count] = {}
    unjudged: dict[Text, Count] = {}
    notes: list[Text] = []


class Uncertainty(Typed):
    """How the intervals were made.

    Attributes:
        method: ``bca`` or ``percentile``.
        resamples: Resamples of the bootstrap.
        seed: Random seed of the bootstrap.
        level: Confidence level.
        of: What ``intervals`` estimate.
        other_methods: Method → keys of the metrics whose intervals use it, groups included.
        of_fixed: What ``intervals_fixed`` estimate.
    """

    method: Name = ''
    resamples: Count = 0
    seed: int = 0
    level: Share
    of: Text = ''
    other_methods: dict[Name, list[Name]] = {}
    of_fixed: Text = ''


class Sensitivity(Typed):
    """What errors, independent between samples, would make of the recorded verdicts.

    Attributes:
        metric: The metric that wrong verdicts change most.
        rates: Kind of error → its rate in percent → that metric, in percent.
    """

    metric: Name
    rates: dict[Name, Annotated[dict[Name, Number], Field(min_length=1, max_length=MOST_RATES)]]

    @model_validator(mode='after')
    def _is_known(self) -> Sensitivity:
        parse_metric(self.metric)
        if {*self.rates} != {*ERRORS}:
            raise ValueError(f'rates should be of {" and ".join(ERRORS)}')
        return self


class TrueMetric(Typed):
    """A metric under true verdicts, in percent.

    Attributes:
        estimate: The estimate.
        range: 95 % range due to unknown true verdicts.
        with_sampling: The same for a population of problems.
    """

    estimate: Number
    range: Ends
    with_sampling: Ends | None = None


class JudgeError(Typed):
    """What wrong verdicts do to metrics.

    Attributes:
        sensitivity: What errors, independent between samples, would change.
        labelled: Source and verdict → trials, independent labels, share of these that are right.
        metrics: Metrics under true verdicts, if an audit has labels.
    """

    sensitivity: Sensitivity | None = None
    labelled: Annotated[dict[Name, list[float]], AfterValidator(_labelled)] = {}
    metrics: dict[Name, TrueMetric] = {}


class TokenCounts(Typed):
    """Tokens of the responses, over the problems of the headline.

    Attributes:
        known: Responses whose tokens are known, in percent of all.
        metrics: The metrics above, in tokens; NaN is undefined.
        intervals: Metric → confidence interval, as in ``intervals``; null is an open end, as where
            no problem is solved every time.
        cut_off: Fewest and most tokens of a response that was cut off.
    """

    known: Percent = math.nan
    metrics: dict[Name, Tokens] = {}
    intervals: dict[Name, TokenEnds] = {}
    cut_off: Annotated[list[Count], Field(min_length=2, max_length=2)] = [0, 0]


class Versions(Typed):
    """The versions of questions, as in RV-Bench.

    Attributes:
        per_group: Versions of a question, m.
        groups: Questions with all m versions.
        incomplete: Questions that lack versions.
        originals: Questions with all m versions and their original.
        excluded: Metric → questions for which it is undefined.
        unsolved: Group (all: empty) → questions without a right response to any version.
        complete: Least share of right versions for complete understanding.
        collapsed: Greatest share of right versions if it has collapsed.
    """

    per_group: Annotated[int, Field(ge=1, le=MOST_VERSIONS)] = 0  # none has versions
    groups: Count = 0
    incomplete: Count = 0
    originals: Count = 0
    excluded: dict[Name, Count] = {}
    unsolved: dict[Name, Count] = {}
    complete: Share | None = None
    collapsed: Share | None = None


class Box(Typed):
    """Statistics of a box plot, for matplotlib's ``Axes.bxp``.

    Attributes:
        q1: Lower quartile.
        med: Median.
        q3: Upper quartile.
        whislo: Lower end of the whiskers.
        whishi: Upper end of the whiskers.
        mean: Mean.
        n: Solutions.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    q1: float
    med: float
    q3: float
    whislo: float
    whishi: float
    mean: float
    n: Positive


class Reasoning(Typed):
    """The scores of the responses' reasoning.

    Attributes:
        scorer: The scorer.
        settings: Settings of the scorer.
        threshold: Least validity of sound reasoning.
        validity_by: How the steps' validity is combined.
        redundancy_by: How the steps' redundancy is combined.
        delimiter: The text between two steps in the scorer's input.
        refusals: Reason → responses without scores.
        lengths: Mean length of a scored solution in steps, and in tokens, for all, right and wrong
            responses.
        boxes: Box plots of validity and of redundancy, for all, right and wrong responses.
        sound: Right responses; sound, unsound and unknown among them.
        excluded: k → problems that the sound metrics at this k leave out: those with fewer than k
            responses, or none known to be sound or not.
    """

    scorer: Name = ''  # none was scored
    settings: Settings = {}
    threshold: Share | None = None
    validity_by: Name = ''
    redundancy_by: Name = ''
    delimiter: Annotated[str | None, _text(LONGEST_NAME, (str, type(None)))] = None
    refusals: dict[Text, Count] = {}
    lengths: dict[Name, dict[Name, Number]] = {}
    boxes: dict[Name, dict[Name, Box | None]] = {}
    sound: dict[Name, Count] = {}
    excluded: dict[Name, Count] = {}


class Evaluation(Typed):
    """How the responses were read; ``gpassk rescore`` reads them so again.

    Attributes:
        min_coverage: Least share of the responses that had to be there.
        postprocessors: Whose it is (model, data set, evaluator) → the type of OpenCompass's
            postprocessor that was applied, and a known one's arguments.
    """

    min_coverage: Share = 1.0
    postprocessors: dict[Name, Settings] = {}


class DistinctAnswer(Typed):
    """An answer to a problem.

    Attributes:
        answer: The final answer; null if there is none.
        count: Responses with this answer.
        verdict: ``correct``, ``incorrect`` or ``unjudged``.
        source: Who judged it: as ``source`` of a trial.
    """

    answer: Annotated[str | None, _text(sys.maxsize, (str, type(None)))] = None
    count: Count = 0
    verdict: Name = ''
    source: Name = ''


class ProblemRow(Typed):
    """A problem. Further fields are those of its groups, such as split or language.

    Attributes:
        problem_id: Id of the problem.
        version: The version of its question.
        cluster: Shared by versions and translations of one question.
        gold: The reference answer.
        n: Judged responses.
        c: Right responses.
        sound: Right responses with sound reasoning, if it was scored.
        answers: The distinct answers, the most frequent first.
    """

    model_config = ConfigDict(extra='allow')
    __pydantic_extra__: dict[str, Value] = Field(init=False)

    problem_id: String
    version: String = ''
    cluster: String = ''
    gold: String = ''
    n: Count
    c: Count
    sound: Count = 0
    answers: list[DistinctAnswer] = []

    @property
    def groups(self) -> dict[str, str]:
        """The group fields of the problem."""
        return {name: str(value) for name, value in self.__pydantic_extra__.items()}

    @model_validator(mode='after')
    def _has_few_right(self) -> ProblemRow:
        if self.c > self.n:
            raise ValueError(f'c should be n = {self.n} at most')
        return self

    @model_serializer(mode='wrap')
    def _in_order(self, dumped: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found = dumped(self)
        first = {
            name: found[name] for name in ('problem_id', 'version', 'cluster') if name in found
        }
        return first | self.__pydantic_extra__ | found


class Estimate(float):
    """A metric in percent with its interval; arithmetic with it returns a plain number.

    Attributes:
        interval: Lower and upper end, in percent.
        method: The interval's method: ``bca``, ``percentile`` or ``wilson``.
        uncertainty: The settings of the result's intervals, and what they estimate (``of``).
    """

    interval: tuple[float, float]
    method: str
    uncertainty: Uncertainty

    def __new__(
        cls, value: float, interval: tuple[float, float], method: str, uncertainty: Uncertainty
    ) -> Estimate:
        made = super().__new__(cls, value)
        made.interval, made.method, made.uncertainty = interval, method, uncertainty
        return made


class Few(float):
    """A metric in percent that rests on too few questions for an interval.

    Attributes:
        questions: Their number; versions and translations of one question count once.
    """

    questions: int

    def __new__(cls, value: float, questions: int) -> Few:
        made = super().__new__(cls, value)
        made.questions = questions
        return made


def resting_on(value: float, questions: int | None) -> float:
    """Return a metric in percent, :class:`Few` if it is known to rest on too few questions."""
    if math.isnan(value) or questions is None or questions >= LEAST_CLUSTERS:
        return value
    return Few(value, questions)


class Result(Typed):
    """The result of one model on one data set. Its metrics are in percent; NaN is undefined.

    Attributes:
        metrics: Every metric, in percent, those of groups under ``<label>/<key>``.
        shares: Shares of the data set as a whole, in percent.
        counts: Counts over all problems, originals of versions included.
        versions: The versions of questions, as in RV-Bench.
        groups: Label → a group of problems that has metrics of its own: the fields that its
            problems share, such as split or language.
        schema: Version of this description.
        benchmark: Name of the benchmark; results are joined by it.
        questions: Metric → independent questions that it rests on, where versions of one count
            once; with fewer than 5 it has no interval.
        k: The k of pass@k and G-Pass@k; empty if each problem has one sample.
        taus: The thresholds τ of G-Pass@k.
        judging: How the verdicts were reached.
        bounds: Metric → its value if all open responses are wrong, or right, in percent.
        reliable: Rate → problems that are surely solved so often, each by itself: counts of those
            ``at_least`` at the rate, ``below`` it and ``unclear``, by exact one-sided 95 % bounds.
        signature: What must be equal for two results to be comparable.
        tokens: Tokens of the responses, over the problems of the headline.
        intervals: Metric → confidence interval in percent, for a population of such problems.
        intervals_fixed: Metric → confidence interval in percent, for these very problems.
        uncertainty: How the intervals were made.
        judge_error: What wrong verdicts do to metrics.
        reasoning: The scores of the responses' reasoning.
        warnings: Warnings that a reader of the metrics must know.
        details: A row for each problem; OpenCompass may leave them out. Further fields are those
            of its groups.
        copies: Why its samples are no independent draws, so that nothing is said on these problems;
            '' if nothing shows it.
        model: The model, if given to ``gpassk score``.
        columns: Field → name of its column in the file of responses, if ``--columns`` told it.
        evaluation: How the responses were read; ``gpassk rescore`` reads them so again.
        trials_file: The file of trials beside the result.
        steps_file: The file of scored steps beside the result.
        rescored: The settings that ``gpassk rescore`` chose.
    """

    metrics: dict[Name, Number]
    shares: dict[Name, Percent] = {}
    counts: Counts = Counts(problems=0, trials=0, lost=0, truncated=0)  # without metrics
    versions: Versions = Versions()
    groups: dict[Name, Group] = {}
    schema_: Literal['4'] = Field('4', alias='schema')
    benchmark: Name
    questions: dict[Name, Count] = {}
    k: list[K] = []
    taus: list[Share] = [*DEFAULT_TAUS]
    judging: Judging = Judging()
    bounds: dict[Name, Ends] = {}
    reliable: dict[Name, dict[Name, Count]] = {}
    signature: Signature
    tokens: TokenCounts = TokenCounts()
    intervals: dict[Name, Ends] = {}
    intervals_fixed: dict[Name, Ends] = {}
    uncertainty: Uncertainty | None = None
    judge_error: JudgeError = JudgeError()
    reasoning: Reasoning = Reasoning()
    warnings: Annotated[list[Text], Field(max_length=MOST_WARNINGS)] = []
    details: Annotated[list[ProblemRow], Field(max_length=MOST_PROBLEMS)] = []
    copies: Text = ''
    model: Name = ''
    columns: dict[Name, Name] = {}
    evaluation: Evaluation = Evaluation()
    trials_file: Name = ''
    steps_file: Name = ''
    rescored: list[Name] = []

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Result:
        """Return a result of its JSON, whose top level repeats some of the metrics.

        Raises:
            ValueError: If a field is missing or has another type or range; it names the field.
        """
        check_schema(stored)
        try:
            return decode(cls, stored)
        except ValueError as error:
            raise ValueError(f'{error}; score its responses again') from error

    @model_validator(mode='after')
    def _is_shown(self) -> Result:
        """Check that tables and page can show it in reasonable time."""
        if self.metrics and 'counts' not in self.model_fields_set:
            raise ValueError('counts is missing')
        for key, value in self.metrics.items():
            try:
                metric = parse_metric(key.rpartition('/')[2])
            except ValueError:
                continue  # of a later version
            least, most = 100 * metric.least, 100 * metric.most
            if value < least - ROUNDING or value > most + ROUNDING:
                raise ValueError(f'metrics.{key} is {value:g}, not from {least:g} to {most:g}')
        metrics = len(self.k) * (len(self.taus) + 4) + 2 * len(self.taus) + OTHER_METRICS
        metrics *= 3 if self.reasoning.scorer else 1  # plain, sound, drop
        breakdowns = {tuple(group.fields) for group in self.groups.values()}
        for what, number, most in (
            ('metrics, by k and taus', metrics, MOST_METRICS),
            ('values, by metric and group', metrics * (len(self.groups) + 1), MOST_VALUES),
            ('breakdowns', len(breakdowns), MOST_BREAKDOWNS),
            ('samples', sum(row.n for row in self.details), MOST),
        ):
            if number > most:
                raise ValueError(f'it has {number} {what}, above {most}')
        _ = self.protocol
        return self

    def as_json(self) -> dict[str, Any]:
        """Return it as its file holds it.

        First come the metrics that OpenCompass's summarizer should list, the strict ones first.
        """
        listed = [one for one in self.measured() if one.in_summary]
        listed.sort(key=lambda one: (one.k or 0, one.family is PASS))
        first = {one.key: self.metrics[one.key] for one in listed}
        return first | self.model_dump(exclude_unset=True, by_alias=True)

    def but(self, **fields: Any) -> Result:
        """Return the result with some fields replaced, which are not checked again."""
        return self.model_copy(update=fields)

    @property
    def n(self) -> int:
        """Samples of each problem."""
        return self.signature.n

    @property
    def judged(self) -> bool:
        """Whether it has verdicts; if not, only the reasoning is scored."""
        return self.signature.judge != NOBODY

    @property
    def greedy(self) -> bool:
        """Whether it is of greedy decoding, for the greedy column, whatever its n.

        It stays there if the model's wrapper could not be told to decode greedily; a warning says
        so.
        """
        return meant_greedy(self.signature.sampling)

    @property
    def decoding(self) -> str:
        """``greedy``, or the number of samples that its metrics average."""
        return 'greedy' if self.greedy else f'n = {self.n}'

    @property
    def protocol(self) -> Protocol:
        """What was measured.

        Raises:
            ValueError: If that is impossible.
        """
        grouped = (group for label, group in self.groups.items() if label != ORIGINAL)
        limits = {
            name: value
            for name in ('complete', 'collapsed')
            if (value := getattr(self.signature, name)) is not None
        }
        return Protocol(
            n=self.n,
            k=tuple(self.k),
            taus=tuple(self.taus),
            groups=tuple(filter(None, dict.fromkeys(tuple(one.fields) for one in grouped))),
            sound=self.reasoning.threshold if self.judged else None,
            judged=self.judged,
            **limits,
        )

    @property
    def group_fields(self) -> dict[str, None]:
        """The fields by which the metrics are broken down, in their order."""
        return {name: None for group in self.groups.values() for name in group.fields}

    def measured(self, *, originals: bool = False) -> list[Metric]:
        """Return its metrics in their order; if questions have versions, those of the originals
        are others.
        """
        versions = None if originals else self.versions.per_group or None
        return [one for one in result_metrics(self.protocol, versions) if one.key in self.metrics]

    def headline(self) -> list[Metric]:
        """Return the metrics that OpenCompass's summary lists, but of τ only the strictest."""
        strictest = max(self.taus, default=None)
        return [one for one in self.measured() if one.in_summary and one.tau in (None, strictest)]

    def metric(self, metric: Metric, group: str = '') -> float | None:
        """Return a metric in percent; NaN if it is undefined, None if it wasn't measured.

        It is an :class:`Estimate` if the result has an interval for it, and :class:`Few` if it
        rests on too few questions for one. Results may be made without intervals.
        """
        key = in_group(group, metric.key)
        if key not in self.metrics:
            return None
        found = resting_on(self.metrics[key], self.questions.get(key))
        ends = self.intervals.get(key, [math.nan])
        if isinstance(found, Few) or not self.uncertainty or math.isnan(found + sum(ends)):
            return found
        others = self.uncertainty.other_methods.items()
        method = next((name for name, keys in others if key in keys), self.uncertainty.method)
        return Estimate(found, (ends[0], ends[1]), method, self.uncertainty)

    def bounds_of(self, metric: Metric) -> tuple[float, float] | None:
        """Return what missing verdicts can make of a headline metric; None if that is unknown."""
        low, high = self.bounds.get(metric.key, (math.nan, math.nan))
        return None if math.isnan(low + high) else (low, high)

    def same_data(self, other: Result) -> bool:
        """Tell whether two results are about the same problems."""
        return self.signature.data == other.signature.data


Results = Mapping[str, Mapping[str, Result]]


@dataclass(frozen=True)
class Entry:
    """A row of a table: one result, or a model's sampled result with its greedy one beside it.

    Attributes:
        model: The model's name.
        dataset: The data set of ``result``.
        result: The result; the greedy one if there is only that.
        greedy: The greedy result that is shown beside the samples, None if there is none.
        greedy_dataset: The abbr of the greedy data set, '' if there is none.
        apart: The data set, if the model's name alone is ambiguous where the row stands.
    """

    model: str
    dataset: str
    result: Result
    greedy: Result | None = None
    greedy_dataset: str = ''
    apart: str = ''

    @property
    def sampled(self) -> bool:
        """Whether there is more than a greedy result beside samples that are missing."""
        return self.result is not self.greedy

    @property
    def label(self) -> str:
        """The model's name, with the data set if the name alone is ambiguous."""
        return f'{self.model} ({self.apart})' if self.apart else self.model

    @property
    def place(self) -> tuple[str, str]:
        """Model and data set: where the trials of the result stand."""
        return self.model, self.dataset

    @property
    def benchmark(self) -> str:
        """The benchmark's name."""
        return self.result.benchmark

    @property
    def panel(self) -> tuple[str, str]:
        """Benchmark and way of decoding of ``result``; those with the same are shown together."""
        return self.benchmark, self.result.decoding

    @property
    def n(self) -> int:
        """Samples of each problem, 0 if nothing was sampled."""
        return self.result.n if self.sampled else 0

    @property
    def ks(self) -> list[int]:
        """The k that were measured, ascending."""
        return sorted(self.result.k) if self.n > 1 else []

    @property
    def taus(self) -> list[float]:
        """The thresholds that were measured, ascending."""
        return sorted(self.result.taus) if self.sampled else []

    @property
    def groups(self) -> dict[str, Group]:
        """Label → field values and number of problems of each breakdown."""
        return self.result.groups

    @property
    def results(self) -> list[Result]:
        """The sampled and the greedy result, as far as they exist."""
        return [self.result, self.greedy] if self.greedy and self.sampled else [self.result]

    @property
    def reasoning(self) -> Reasoning:
        """The scores of the reasoning of ``result``."""
        return self.result.reasoning

    def metric(self, metric: Metric, group: str = '') -> float | None:
        """Return a metric of the samples, as :meth:`Result.metric` does."""
        return self.result.metric(metric, group) if self.sampled else None

    def questions(self, metric: Metric, group: str = '') -> int | None:
        """Return on how many independent questions a metric rests; None if it isn't known."""
        return self.result.questions.get(in_group(group, metric.key))

    def left_out(self, k: int) -> int:
        """Return how many problems the metrics at k leave out."""
        return self.result.counts.excluded.get(str(k), 0)

    @property
    def true_metrics(self) -> dict[str, TrueMetric]:
        """Key, with its group → a metric under true verdicts; {} without an audit."""
        return self.result.judge_error.metrics if self.sampled else {}

    def greedy_accuracy(self, group: str = '') -> float | None:
        """Return the accuracy under greedy decoding, in percent."""
        return None if self.greedy is None else self.greedy.metric(ACCURACY(), group)


def group_fields(results: Iterable[Result]) -> dict[str, None]:
    """Return the fields by which the metrics of some results are broken down."""
    return {name: None for result in results for name in result.group_fields}
