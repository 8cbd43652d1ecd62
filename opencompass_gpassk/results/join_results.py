"""The results of a run, joined by benchmark: sampled figures beside greedy ones, model by model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.inference.sampling import NOT_APPLIED
from opencompass_gpassk.results.figures import ACCURACY, SHARES, Figure, result_figures
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, NOBODY, Protocol


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
        method: str = '',
        uncertainty: Mapping[str, Any] | None = None,
    ) -> Estimate:
        made = super().__new__(cls, value)
        made.interval, made.method, made.uncertainty = interval, method, uncertainty or {}
        return made


def estimate(result: Mapping[str, Any], key: str) -> float:
    """Return a figure that the result contains; NaN if it is undefined.

    It is an :class:`Estimate` if the result has an interval for it. Results may be made without
    intervals.
    """
    value = math.nan if result['figures'][key] is None else float(result['figures'][key])
    intervals, uncertainty = result.get('intervals'), result.get('uncertainty')
    ends = intervals.get(key) if isinstance(intervals, Mapping) else None
    if math.isnan(value) or not isinstance(ends, (list, tuple)) or len(ends) != 2:
        return value
    if not all(isinstance(end, (int, float)) and math.isfinite(end) for end in ends):
        return value
    known = uncertainty if isinstance(uncertainty, Mapping) else {}
    return Estimate(value, (float(ends[0]), float(ends[1])), _method(known, key), known)


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
    """The results of one model on one data set, sampled and greedy.

    Attributes:
        model: The model's name.
        dataset: The abbr of the sampled data set, or of the greedy one if there is no other.
        result: The result of the sampled data set; empty if there is none.
        greedy: The result of the greedy data set of the same benchmark, None if there is none.
        greedy_dataset: The abbr of the greedy data set, '' if there is none.
    """

    model: str
    dataset: str
    result: Result
    greedy: Result | None = None
    greedy_dataset: str = ''

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

    def figure(self, figure: Figure, group: str = '') -> float | None:
        """Return a figure in percent; NaN if it is undefined, None if it wasn't measured."""
        return read_figure(self.result, figure, group)

    def left_out(self, k: int) -> int:
        """Return how many problems the figures at k leave out."""
        return int(((self.result.get('counts') or {}).get('excluded') or {}).get(str(k), 0))

    @property
    def true_figures(self) -> Mapping[str, Mapping[str, Any]]:
        """Key, with its group → a figure under true verdicts; {} without an audit."""
        return (self.result.get('judge_error') or {}).get('figures') or {}

    def average(self, group: str = '') -> float | None:
        """Return the average accuracy over the n samples, in percent."""
        return self.figure(ACCURACY(), group)

    def greedy_accuracy(self, group: str = '') -> float | None:
        """Return the accuracy under greedy decoding, in percent."""
        return None if self.greedy is None else read_figure(self.greedy, ACCURACY(), group)


@dataclass(frozen=True)
class Benchmark:
    """The results of all models on one benchmark, in the order of the models."""

    name: str
    entries: list[Entry]

    @property
    def ks(self) -> list[int]:
        """The k of all entries, ascending."""
        return sorted({k for entry in self.entries for k in entry.ks})

    @property
    def taus(self) -> list[float]:
        """The thresholds of all entries, ascending."""
        return sorted({tau for entry in self.entries for tau in entry.taus})

    @property
    def problems(self) -> list[int]:
        """The distinct numbers of problems; more than one if results are of different data."""
        counts = [result.get('counts') or {} for entry in self.entries for result in entry.results]
        known = (count.get('problems') for count in counts)
        return sorted({int(number) for number in known if number is not None})

    def label(self, entry: Entry) -> str:
        """Return the model's name, with the data set if the name alone is ambiguous."""
        twice = sum(other.model == entry.model for other in self.entries) > 1
        return f'{entry.model} ({entry.dataset})' if twice else entry.model


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


def join_benchmarks(results: Results) -> list[Benchmark]:
    """Join results by their benchmark; those that aren't ours or have no verdicts are left out.

    Args:
        results: Model → data set → result, as stored in the result JSON.
    """
    names = dict.fromkeys(
        result['benchmark']
        for by_dataset in results.values()
        for result in by_dataset.values()
        if has_verdicts(result)
    )
    return [
        Benchmark(name, [e for model in results for e in _entries(model, name, results[model])])
        for name in names
    ]


def _entries(model: str, benchmark: str, by_dataset: Mapping[str, Result]) -> Iterable[Entry]:
    ours = {
        dataset: result
        for dataset, result in by_dataset.items()
        if has_verdicts(result) and result['benchmark'] == benchmark
    }
    greedy = {dataset: result for dataset, result in ours.items() if is_greedy(result)}
    sampled = {dataset: result for dataset, result in ours.items() if not is_greedy(result)}
    alone = len(greedy) == len(sampled) == 1
    beside: set[str] = set()
    for dataset, result in sampled.items():
        # Put the greedy run on the same data, or the only greedy run, beside the samples; of
        # several, the one with the same prompts.
        same = [name for name, other in greedy.items() if alone or same_data(other, result)]
        prompt = result['signature'].get('prompt')
        same.sort(key=lambda name: greedy[name]['signature'].get('prompt') != prompt)
        beside.update(same[:1])
        yield (
            Entry(model, dataset, result, greedy[same[0]], same[0])
            if same
            else Entry(model, dataset, result)
        )
    for dataset, result in greedy.items():
        if dataset not in beside:
            yield Entry(model, dataset, {}, result, dataset)


def read_figure(result: Result, figure: Figure, group: str = '') -> float | None:
    """Return a figure of a result; NaN if it is undefined, None if the result doesn't contain it.

    It is an :class:`~opencompass_gpassk.results.join_results.Estimate` if it has an interval.
    """
    key = in_group(group, figure.key)
    return estimate(result, key) if result and key in result['figures'] else None


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


def is_greedy(result: Result) -> bool:
    """Tell whether a result has one response to each problem, for the greedy column.

    It stays there if the model's wrapper could not be told to decode greedily; a warning says so.
    """
    sampling = result['signature'].get('sampling')
    return (
        sample_count(result) == 1
        and isinstance(sampling, Mapping)
        and (sampling.get('greedy') is True or sampling.get(NOT_APPLIED) == 'greedy')
    )


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
        tuple(f for f in g if f not in ('problems', 'version')) for g in groups.values()
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
