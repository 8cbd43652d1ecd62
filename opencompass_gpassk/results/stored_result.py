"""What a stored result says: its figures with their intervals, its n, decoding and protocol."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.inference.sampling import meant_greedy
from opencompass_gpassk.metrics.clusters import LEAST_CLUSTERS
from opencompass_gpassk.results.figures import ACCURACY, SHARES, Figure, result_figures
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, NOBODY, Protocol
from opencompass_gpassk.trials import ORIGINAL


class Estimate(float):
    """A figure in percent with its interval; arithmetic with it returns a plain number.

    Attributes:
        interval: Lower and upper end, in percent.
        method: The interval's method: ``bca``, ``percentile`` or ``wilson``.
        uncertainty: The settings of the result's intervals, and what they estimate (``of``).
    """

    interval: tuple[float, float]
    method: str
    uncertainty: Mapping[str, Any]

    def __new__(
        cls,
        value: float,
        interval: tuple[float, float],
        method: str,
        uncertainty: Mapping[str, Any],
    ) -> Estimate:
        made = super().__new__(cls, value)
        made.interval, made.method, made.uncertainty = interval, method, uncertainty
        return made


class Few(float):
    """A figure in percent that rests on too few questions for an interval.

    Attributes:
        questions: Their number; versions and translations of one question count once.
    """

    questions: int

    def __new__(cls, value: float, questions: int) -> Few:
        made = super().__new__(cls, value)
        made.questions = questions
        return made


def estimate(result: Mapping[str, Any], key: str) -> float:
    """Return a figure that the result contains; NaN if it is undefined.

    It is an :class:`Estimate` if the result has an interval for it, and :class:`Few` if it rests on
    too few questions for one. Results may be made without intervals.
    """
    value = math.nan if result['figures'][key] is None else float(result['figures'][key])
    intervals, uncertainty = result.get('intervals'), result.get('uncertainty')
    ends = intervals.get(key) if isinstance(intervals, Mapping) else None
    if isinstance(few := resting_on(value, questions_behind(result, key)), Few):
        return few
    if math.isnan(value) or not isinstance(ends, (list, tuple)) or len(ends) != 2:
        return value
    if not all(isinstance(end, (int, float)) and math.isfinite(end) for end in ends):
        return value
    known = uncertainty if isinstance(uncertainty, Mapping) else {}
    return Estimate(value, (float(ends[0]), float(ends[1])), _method(known, key), known)


def resting_on(value: float, questions: int | None) -> float:
    """Return a figure in percent, :class:`Few` if it is known to rest on too few questions."""
    if math.isnan(value) or questions is None or questions >= LEAST_CLUSTERS:
        return value
    return Few(value, questions)


def questions_behind(result: Mapping[str, Any], key: str) -> int | None:
    """Return on how many independent questions a figure rests; None in results that don't say."""
    number = (result.get('questions') or {}).get(key)
    return None if number is None else int(number)


def _method(uncertainty: Mapping[str, Any], key: str) -> str:
    others = uncertainty.get('other_methods')
    for method, keys in others.items() if isinstance(others, Mapping) else ():
        if isinstance(keys, (list, tuple)) and key in keys:
            return str(method)
    return str(uncertainty.get('method', ''))


Result = Mapping[str, Any]
Results = Mapping[str, Mapping[str, Result]]


@dataclass(frozen=True)
class Entry:
    """A row of a table: one result, or a model's sampled result with its greedy one beside it.

    Attributes:
        model: The model's name.
        dataset: The abbr of the sampled data set, or of the greedy one if there is no other.
        result: The result of ``dataset``; empty if that is only the greedy one beside.
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
        return str((self.result or self.greedy or {})['benchmark'])

    @property
    def panel(self) -> tuple[str, str]:
        """Benchmark and way of decoding of ``result``; those with the same are shown together."""
        return self.benchmark, way_of_decoding(self.result)

    @property
    def n(self) -> int:
        """Samples of each problem, 0 if nothing was sampled."""
        return sample_count(self.result) if self.result else 0

    @property
    def ks(self) -> list[int]:
        """The k that were measured, ascending."""
        return sorted(int(k) for k in self.result.get('k') or []) if self.n > 1 else []

    @property
    def taus(self) -> list[float]:
        """The thresholds that were measured, ascending."""
        return sorted(float(tau) for tau in self.result.get('taus') or [])

    @property
    def groups(self) -> Mapping[str, Mapping[str, Any]]:
        """Label → field values and number of problems of each breakdown."""
        return (self.result or self.greedy or {}).get('groups') or {}

    @property
    def results(self) -> list[Result]:
        """The sampled and the greedy result, as far as they exist."""
        return [result for result in (self.result, self.greedy) if result]

    @property
    def reasoning(self) -> Mapping[str, Any]:
        """The field ``reasoning`` of ``result``; {} if it has no scores of reasoning."""
        return self.result.get('reasoning') or {}

    def figure(self, figure: Figure, group: str = '') -> float | None:
        """Return a figure in percent; NaN if it is undefined, None if it wasn't measured."""
        return read_figure(self.result, figure, group)

    def questions(self, figure: Figure, group: str = '') -> int | None:
        """Return on how many independent questions a figure rests; None if it isn't known."""
        return questions_behind(self.result or self.greedy or {}, in_group(group, figure.key))

    def left_out(self, k: int) -> int:
        """Return how many problems the figures at k leave out."""
        return int(((self.result.get('counts') or {}).get('excluded') or {}).get(str(k), 0))

    @property
    def true_figures(self) -> Mapping[str, Mapping[str, Any]]:
        """Key, with its group → a figure under true verdicts; {} without an audit."""
        return (self.result.get('judge_error') or {}).get('figures') or {}

    def greedy_accuracy(self, group: str = '') -> float | None:
        """Return the accuracy under greedy decoding, in percent."""
        return None if self.greedy is None else read_figure(self.greedy, ACCURACY(), group)


def is_ours(result: object) -> bool:
    """Tell whether a result was made by this package's evaluators."""
    return (
        isinstance(result, Mapping)
        and isinstance(result.get('benchmark'), str)
        and isinstance(result.get('signature'), Mapping)
        and 'n' in result['signature']
    )


def has_verdicts(result: object) -> bool:
    """Tell whether a result is ours and contains verdicts.

    :class:`~opencompass_gpassk.evaluator.ReasonEvalEvaluator` scores only the reasoning.
    """
    return is_ours(result) and result['signature'].get('judge') != NOBODY  # type: ignore[index]


def read_figure(result: Result, figure: Figure, group: str = '') -> float | None:
    """Return a figure of a result; NaN if it is undefined, None if the result doesn't contain it.

    It is an :class:`Estimate` or :class:`Few`, as :func:`estimate` says.
    """
    key = in_group(group, figure.key)
    return estimate(result, key) if result and key in result['figures'] else None


def read_bounds(result: Result, figure: Figure) -> tuple[float, float] | None:
    """Return what missing verdicts can make of a headline figure; None if that is unknown."""
    ends = (result.get('bounds') or {}).get(figure.key) or ()
    known = [math.nan if end is None else float(end) for end in ends]
    return (known[0], known[1]) if known and not math.isnan(sum(known)) else None


def shares_of(result: Result) -> dict[str, float]:
    """Return the shares that say how far a result can be trusted, in percent; NaN if undefined."""
    stored = result.get('shares') or {}
    return {
        name: math.nan if stored[name] is None else float(stored[name])
        for name in SHARES
        if name in stored
    }


def same_data(one: Result, other: Result) -> bool:
    """Tell whether two results are about the same problems."""
    return bool(one['signature'].get('data') == other['signature'].get('data'))


def sample_count(result: Result) -> int:
    """Return n, a result's samples of each problem."""
    return int(result['signature']['n'])


def was_raised_from(result: Result, n: int) -> bool:
    """Tell whether a result has the samples of an earlier one with n samples, and more."""
    looks = result.get('looks')
    return isinstance(looks, (list, tuple)) and n in looks


def group_fields(result: Result) -> Iterable[str]:
    """Return the fields by which a result's figures are broken down; they may recur."""
    groups = (result.get('groups') or {}).values()
    return (name for group in groups for name in group if name != 'problems')


def is_greedy(result: Result) -> bool:
    """Tell whether a result is of greedy decoding, for the greedy column, whatever its n.

    It stays there if the model's wrapper could not be told to decode greedily; a warning says so.
    """
    sampling = result['signature'].get('sampling')
    return isinstance(sampling, Mapping) and meant_greedy(sampling)


def way_of_decoding(result: Result) -> str:
    """Return ``greedy``, or the number of samples that a result's figures average."""
    return 'greedy' if is_greedy(result) else f'n = {sample_count(result)}'


def figures_of(result: Result, *, originals: bool = False) -> list[Figure]:
    """Return the figures of a result, in their order.

    Args:
        result: The result of a model on a data set.
        originals: Return the figures of the original problems, if questions have versions.
    """
    protocol = stored_protocol(result)
    versions = None if originals else (result.get('versions') or {}).get('per_group')
    return [one for one in result_figures(protocol, versions) if one.key in result['figures']]


def headline_figures(result: Result) -> list[Figure]:
    """Return the figures that OpenCompass's summary lists, but of τ only the strictest."""
    strictest = max(result.get('taus') or [None])
    return [one for one in figures_of(result) if one.in_summary and one.tau in (None, strictest)]


def stored_protocol(result: Result) -> Protocol:
    """Return what was measured, as a result says.

    Raises:
        ValueError: If that is impossible.
    """
    judged, signature, taus = has_verdicts(result), result['signature'], result.get('taus')
    groups: Mapping[str, Mapping[str, object]] = result.get('groups') or {}
    fields = dict.fromkeys(
        tuple(name for name in group if name != 'problems')
        for label, group in groups.items()
        if label != ORIGINAL
    )
    shares = {
        name: signature[name]
        for name in ('complete', 'collapsed')
        if signature.get(name) is not None
    }
    return Protocol(
        n=sample_count(result),
        k=tuple(result.get('k') or ()),
        taus=DEFAULT_TAUS if taus is None else tuple(map(float, taus)),
        groups=tuple(filter(None, fields)),
        sound=(result.get('reasoning') or {}).get('threshold') if judged else None,
        judged=judged,
        **shares,
    )


def signature_line(signature: Mapping[str, object]) -> str:
    """Return a signature as one line, such as ``package:0.1.0|data:sample:1|n:16|k:4,8``."""
    parts = []
    for key, value in signature.items():
        if isinstance(value, Mapping):
            value = ','.join(f'{name}={item}' for name, item in value.items())
        elif isinstance(value, (list, tuple)):
            value = ','.join(map(str, value))
        parts.append(f'{key}:{value}')
    return '|'.join(parts)
