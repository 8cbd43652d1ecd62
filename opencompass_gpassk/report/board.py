"""The board of a report: its results joined by benchmark, their models named apart, their groups.

Tables, charts and the page are made from it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from opencompass_gpassk.compare.leaderboard import Leaderboard, leaderboard
from opencompass_gpassk.results.metric import ACCURACY
from opencompass_gpassk.results.result import Entry, Result, Results
from opencompass_gpassk.trials import TrialTable

GREEDY, AVERAGE = ACCURACY(n=1), ACCURACY()  # of the greedy result, and of the samples
Place = tuple[str, str]  # model, data set
Trials = Mapping[Place, TrialTable]

SOURCE = re.compile('MATH|LEETCODE', re.IGNORECASE)
CROSSED = ('split', 'language')  # one table shows them together and apart
LEVELS = ('level', 'difficulty')  # kinds of groups that are levels of difficulty
DIFFICULTIES = ('easy', 'medium', 'hard')


@dataclass(frozen=True)
class Benchmark:
    """The results of all models on one benchmark, in the order of the models."""

    name: str
    entries: Sequence[Entry]

    @property
    def ks(self) -> list[int]:
        """The k of all entries, ascending."""
        return sorted({k for entry in self.entries for k in entry.ks})

    @property
    def main_k(self) -> int | None:
        """The k of the main table: the greatest; None without any."""
        return max(self.ks, default=None)

    @property
    def taus(self) -> list[float]:
        """The thresholds of all entries, ascending."""
        return sorted({tau for entry in self.entries for tau in entry.taus})

    @property
    def problems(self) -> list[int]:
        """The distinct numbers of problems; more than one if results are of different data."""
        return sorted({one.counts.problems for entry in self.entries for one in entry.results})

    @property
    def size(self) -> str:
        """The number of problems, or of versions, and of questions where these are fewer."""
        counts = ' or '.join(map(str, self.problems)) or '?'
        versions = any(r.versions.per_group for one in self.entries for r in one.results)
        what = ('version' if versions else 'problem') + 's' * (counts != '1')
        asked = {r.questions.get(AVERAGE.key) for one in self.entries for r in one.results}
        questions = ' or '.join(map(str, sorted(asked - {None, 0})))  # type: ignore[type-var]
        if questions in ('', counts):
            return f'{counts} {what}'
        return f'{counts} {what} ({questions} question{"s" * (questions != "1")})'


@dataclass(frozen=True)
class Board:
    """What a report is made from.

    Attributes:
        results: Model → data set → result, as stored in the result JSON.
        trials: Trials of the results, for marks on the best metrics, metrics against n, and
            intervals of slopes; None for none of these, and no note on what is missing.
        contradictory: How a result contradicts its trials, '' if it doesn't.
    """

    results: Results
    trials: Trials | None = None
    contradictory: Mapping[Place, str] = field(default_factory=dict)

    @cached_property
    def benchmarks(self) -> list[Benchmark]:
        """The results with verdicts, joined by their benchmark, greedy ones beside samples."""
        by_name: dict[str, dict[str, dict[str, Result]]] = {}
        for one in self._single(lambda result: result.judged):
            of_models = by_name.setdefault(one.benchmark, {})
            of_models.setdefault(one.model, {})[one.dataset] = one.result
        return [
            Benchmark(name, _named_apart(_joined(of_models), lambda one: one.model))
            for name, of_models in by_name.items()
        ]

    @cached_property
    def leaderboards(self) -> list[Leaderboard]:
        """For each benchmark the ranks of its entries; empty ones without trials."""
        trials = self.trials
        return [
            Leaderboard()
            if trials is None
            else leaderboard(one.entries, trials, self.contradictory)
            for one in self.benchmarks
        ]

    @cached_property
    def unjudged(self) -> list[Benchmark]:
        """The benchmarks of results with scores of reasoning but no verdicts."""
        by_name: dict[str, list[Entry]] = {}
        for one in self._single(lambda result: not result.judged):
            by_name.setdefault(one.benchmark, []).append(one)
        return [
            Benchmark(name, _named_apart(entries, lambda one: one.model))
            for name, entries in by_name.items()
        ]

    @cached_property
    def in_versions(self) -> list[Entry]:
        """The results of questions in versions, each by itself.

        If a model has several on one benchmark, as with two seeds, the data set's name is added to
        the model's, without its source, so that results of both sources share one row.
        """
        found = list(self._single(lambda result: result.judged and result.versions.per_group))
        times = Counter((one.model, one.panel) for one in found)
        twice = {(model, decoding) for (model, (_, decoding)), n in times.items() if n > 1}
        return [
            replace(one, apart=SOURCE.sub('…', one.dataset))
            if (one.model, one.panel[1]) in twice
            else one
            for one in found
        ]

    @cached_property
    def scored(self) -> list[Entry]:
        """The results with scores of reasoning, each by itself, by benchmark and decoding."""
        found = self._single(lambda result: result.reasoning.scorer)
        named = _named_apart(found, lambda one: (one.model, one.panel))
        benchmarks = list(dict.fromkeys(one.benchmark for one in named))
        panels = list(dict.fromkeys(one.panel for one in named))
        return sorted(
            named, key=lambda one: (benchmarks.index(one.benchmark), panels.index(one.panel))
        )

    def _single(self, chosen: Callable[[Result], object]) -> Iterable[Entry]:
        for model, by_dataset in self.results.items():
            for dataset, result in by_dataset.items():
                if chosen(result):
                    yield Entry(model, dataset, result)


def breakdowns(entries: Iterable[Entry]) -> dict[str, list[tuple[str, Entry]]]:
    """Return the rows of the tables by group: kind of groups → label and entry of each row.

    Levels of difficulty stand from easy to hard, other groups by name; splits and languages, which
    cross, as the results list them.
    """
    shown = list(entries)
    named = {label: [*of.fields] for one in shown for label, of in one.groups.items()}
    crossed = [names for names in named.values() if set(names) <= set(CROSSED)]
    together = [name for name in CROSSED if any(name in names for names in crossed)]
    kinds: dict[str, list[str]] = {}
    for label, names in named.items():
        kinds.setdefault(' and '.join(together if names in crossed else names), []).append(label)
    for kind, labels in kinds.items():
        if kind != ' and '.join(CROSSED):
            labels.sort(key=group_order)
    return {
        kind: [(label, one) for label in labels for one in shown if label in one.groups]
        for kind, labels in kinds.items()
    }


def group_order(label: str) -> tuple[int, str]:
    """Return a sort key for groups: levels of difficulty from easy to hard, others by name."""
    return DIFFICULTIES.index(label) if label in DIFFICULTIES else -1, label


def _named_apart(entries: Iterable[Entry], name: Callable[[Entry], object]) -> list[Entry]:
    """Return the entries; the data set is added where the same name stands for several."""
    found = list(entries)
    times = Counter(map(name, found))
    return [replace(one, apart=one.dataset) if times[name(one)] > 1 else one for one in found]


def _joined(of_models: Mapping[str, Mapping[str, Result]]) -> Iterable[Entry]:
    """Yield the entries of one benchmark, each sampled result with a greedy one beside it."""
    for model, ours in of_models.items():
        greedy = {dataset: result for dataset, result in ours.items() if result.greedy}
        sampled = {dataset: result for dataset, result in ours.items() if not result.greedy}
        alone = len(greedy) == len(sampled) == 1
        beside: set[str] = set()
        for dataset, result in sampled.items():
            # Put the greedy run on the same data, or the only greedy run, beside the samples; of
            # several, the one with the same prompts.
            same = [name for name, other in greedy.items() if alone or other.same_data(result)]
            prompt = result.signature.prompt
            same.sort(key=lambda name: greedy[name].signature.prompt != prompt)
            beside.update(same[:1])
            yield (
                Entry(model, dataset, result, greedy[same[0]], same[0])
                if same
                else Entry(model, dataset, result)
            )
        for dataset, result in greedy.items():
            if dataset not in beside:
                yield Entry(model, dataset, result, result, dataset)
