"""The data of a report page: its results, joined by data set, with marks, ranks and problems."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any

from opencompass_gpassk.compare.claims import leaderboard_claim
from opencompass_gpassk.compare.comparability import set_apart
from opencompass_gpassk.compare.leaderboard import Leaderboard, leaderboard
from opencompass_gpassk.formats.display import counted, one_line, short_line
from opencompass_gpassk.report.board import AVERAGE, GREEDY, Benchmark, Board, Place
from opencompass_gpassk.report.cells import told_apart
from opencompass_gpassk.report.notes import incomparable
from opencompass_gpassk.report.page.columns import columns_at, known
from opencompass_gpassk.report.page.drawings import Tried
from opencompass_gpassk.report.page.problems import (
    LONGEST_NAME,
    PageProblem,
    Solved,
    Trials,
    collect_problems,
    fit_responses,
    mark_suspects,
    named,
)
from opencompass_gpassk.results.metric import ACCURACY, G_PASS, SHARES, Metric
from opencompass_gpassk.results.read import ModelResult, Sources, find_results
from opencompass_gpassk.results.result import Entry, Result
from opencompass_gpassk.runs.task_states import State, TaskState, states_of_results
from opencompass_gpassk.trials import ORIGINAL, TrialTable, Verdict

MOST_TEXT = 4_000_000  # characters of all responses on a page, before compression
MOST_TEXT_ASKED = 40_000_000  # if the reader asks for responses
NAMED = 3  # names in the title
MOST_KS = 3  # k for which the board has numbers: the greatest
DAY = re.compile(r'\d{8}(?=_\d{6})')
PATH = re.compile(r'(?<![\w.…/-])/(?:[^\s/\'"“”,;:]+/)+([^\s/\'"“”,;:]+)')
HOST = re.compile(r'(\w+://)[^\s/\'",;]+')

Mark = tuple[str, str]  # a word, and why a result is less comparable
Source = tuple[ModelResult, ModelResult | None]


@dataclass
class DataSet:
    """A benchmark on the page.

    Attributes:
        benchmark: Its entries.
        sources: The result of each entry, and the greedy one that is shown beside it.
        problems: Its problems, with answers and responses.
        trials: The trials of the entries, as far as they can be read, without their texts.
        ranked: The ranks of the entries.
        left_out: Number of answers whose responses are left out.
        marks: The marks of each entry.
    """

    benchmark: Benchmark
    sources: Sequence[Source]
    problems: list[PageProblem]
    trials: Mapping[Place, TrialTable]
    ranked: Leaderboard
    left_out: int = 0
    marks: Sequence[Sequence[Mark]] = ()

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries of the benchmark."""
        return self.benchmark.entries

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return named(self.benchmark.name)

    @cached_property
    def m(self) -> int | None:
        """Versions of a question; None if questions have none."""
        every = (one.versions.per_group for entry in self.entries for one in entry.results)
        return next(filter(None, every), None)

    @property
    def claims(self) -> list[str]:
        """Sentences on who is the most stable."""
        return leaderboard_claim(self.entries, self.ranked)

    @cached_property
    def ks(self) -> list[int]:
        """The greatest k, for which the board has numbers; [] if it has others."""
        return [] if self.m else self.benchmark.ks[-MOST_KS:]

    @cached_property
    def large(self) -> Metric:
        """The metric of the large numbers, by which the models are in order."""
        found = [G_PASS(k=k, tau=1.0) for k in reversed(self.ks)] + [AVERAGE, GREEDY]
        every = [one.metric for one in columns_at(self.benchmark, None, self.m)]
        wanted = [*filter(None, [self.ranked.metric]), *found, *every]
        wanted = [AVERAGE if one.family is ACCURACY and one != GREEDY else one for one in wanted]
        has = (one for one in wanted if any(known(of, one) is not None for of in self.entries))
        return next(has, AVERAGE)

    @cached_property
    def order(self) -> list[int]:
        """The places of the entries, the best first."""
        sign = -1 if self.large.lower_is_better else 1
        values = [known(entry, self.large) for entry in self.entries]
        places = range(len(values))
        return sorted(
            places, key=lambda at: math.inf if (one := values[at]) is None else -sign * one
        )

    def tried(self, place: int) -> list[Tried]:
        """Return how often an entry solves each problem, or each question with all its versions.

        They are those that the headline metrics average over, and have a verdict.
        """
        units: dict[str, list[Solved]] = {}
        for number, one in enumerate(self.problems):
            if place in one.solved and one.problem.version != ORIGINAL:
                name = one.problem.cluster if self.m else f'{number}'
                units.setdefault(name, []).append(one.solved[place])
        sums = [
            Tried(
                sum(one.c for one in of),
                sum(one.missing for one in of),
                sum(one.n + one.missing for one in of),
            )
            for of in units.values()
        ]
        return [one for one in sums if one.n > one.missing]

    def cut_short(self, place: int) -> int:
        """Return how many problems an entry would always solve if no response were cut off."""
        table = self.trials.get(self.entries[place].place)
        others = [
            [one for one in of if one.verdict is Verdict.INCORRECT]
            for of in (table.by_problem() if table else ())
        ]
        return sum(bool(wrong) and all(one.truncated for one in wrong) for wrong in others)


@dataclass(frozen=True)
class PageData:
    """The data that a page shows.

    Attributes:
        data_sets: What it shows of each benchmark, those with most entries first.
        board: The same results, for tables and charts.
        sources: The results, and those of other evaluators.
        states: Run and state of each task in a run's config.
        labels: What each result's model is called.
        marks: The marks of each result.
        faults: Messages on files that could not be read.
        roots: Beginnings of paths that the page leaves out.
        texts: Whether it shows questions, gold answers and responses.
    """

    data_sets: Sequence[DataSet]
    board: Board
    sources: Sources
    states: Sequence[tuple[Path, TaskState]]
    labels: Sequence[str]
    marks: Sequence[Sequence[Mark]]
    faults: Sequence[str]
    roots: Sequence[str]
    texts: bool = True

    @property
    def title(self) -> str:
        """Data sets, models and date."""
        names = dict.fromkeys(one.name for one in self.data_sets)
        models = dict.fromkeys(entry.label for one in self.data_sets for entry in one.entries)
        told = [_listed(names), _listed(models), self.day]
        return ' · '.join(['G-Pass@k', *filter(None, told)])

    @property
    def day(self) -> str:
        """The day of the latest run, '' if no time is known."""
        times = (DAY.match(one.time) for one in self.sources.results)
        day = max((found[0] for found in times if found), default='')
        return f'{day[:4]}-{day[4:6]}-{day[6:]}' if day else ''

    @property
    def holds(self) -> str:
        """What texts the page holds."""
        number = sum(len(one.problems) for one in self.data_sets)
        if not (self.texts and number):
            return 'no questions, gold answers or responses'
        return f'questions, gold answers and responses of {counted(number, "problem")}'

    @property
    def tasks(self) -> list[tuple[str, str, str]]:
        """Run, name and state of each task that is not finished."""
        return [
            (named(run.name), short_line(state.name), short_line(str(state)))
            for run, state in self.states
            if state.state is not State.FINISHED
        ]

    @property
    def untold(self) -> list[str]:
        """The faults that are not the reason of a task's state, each once."""
        reasons = {state.reason for _, state in self.states}
        return [short_line(one) for one in dict.fromkeys(self.faults) if one not in reasons]

    def shown(self, text: str) -> str:
        """Return a text as the page shows it: on one line, without absolute paths and hosts.

        A page is passed on. Paths below the roots are named from there, of others only the last
        part.
        """
        line = text if text.isprintable() else one_line(text)
        if '/' not in line:
            return line
        for root in self.roots:
            line = line.replace(root, '')
        return HOST.sub(r'\1…', PATH.sub(r'…/\1', line))


def _listed(names: Collection[str]) -> str:
    more = f' and {len(names) - NAMED} more' if len(names) > NAMED else ''
    return ', '.join(list(names)[:NAMED]) + more


def page_data(
    paths: Sequence[Path],
    *,
    responses: Path | None = None,
    most_text: int | None = None,
    texts: bool = True,
) -> PageData:
    """Return the data of a page about these runs and results.

    Args:
        paths: Work dirs, runs, folders and files of ``gpassk score -o``.
        responses: A folder that is searched for responses that are not where the trials say; the
            page then shows more of them.
        most_text: Greatest total length of the responses, in characters; by default
            :data:`MOST_TEXT`, with a folder :data:`MOST_TEXT_ASKED`.
        texts: Whether the page shows questions, gold answers and responses.

    Raises:
        ValueError: If a path, or all of them together, contain nothing to show.
    """
    sources = find_results(paths)
    faults = [*sources.faults, *sources.lacking()]
    states = {run: states_of_results(run, faults.append) for run in sources.runs}
    asked = [path.resolve() for path in paths]
    tasks = [
        (run, state)
        for run, of_run in states.items()
        for path, state in of_run.items()
        if any(path.resolve().is_relative_to(one) for one in asked)
    ]
    if not sources.results and not tasks:
        given = ', '.join(map(str, paths))
        told = ''.join(f'\n{fault}' for fault in faults)
        raise ValueError(f'{given}: no readable result of this package was found{told}')
    labels = _labels(sources.results)
    placed: dict[Place, ModelResult] = {}
    joined: dict[str, dict[str, Result]] = {}
    for label, found in zip(labels, sources.results, strict=True):
        of_label = joined.setdefault(label, {})
        dataset = _unused(found.dataset, of_label)
        placed[label, dataset], of_label[dataset] = found, found.result
    board = Board(joined)
    read: dict[Path, Trials] = {}
    results = {id(one.result): one for one in sources.results}
    alone = [replace(one, name=f'{one.name}, reasoning') for one in board.unjudged]
    data_sets = [
        _data_set(benchmark, results, faults, read, responses, texts=texts)
        for benchmark in (*board.benchmarks, *alone)
    ]
    most = most_text or (MOST_TEXT_ASKED if responses else MOST_TEXT)
    marks = {
        id(one): _marks(
            one, sources.results, read, states[one.run].get(one.path) if one.run else None
        )
        for one in sources.results
    }
    for one in data_sets:
        one.left_out = fit_responses(one.problems, most // len(data_sets))
        one.marks = [_of_both(source, marks) for source in one.sources]
    data_sets.sort(key=lambda one: -len(one.entries))  # a page opens on that with most models
    roots = [f'{path}/' for given in paths for path in {given.absolute(), given.resolve()}]
    known = {place: read[one.path] for place, one in placed.items() if one.path in read}
    board = replace(
        board,
        trials={place: one.table for place, one in known.items()},
        contradictory={place: one.contradiction for place, one in known.items()},
    )
    every = list(marks.values())
    return PageData(data_sets, board, sources, tasks, labels, every, faults, roots, texts)


def _data_set(
    benchmark: Benchmark,
    results: Mapping[int, ModelResult],
    faults: list[str],
    read: dict[Path, Trials],
    responses: Path | None,
    *,
    texts: bool,
) -> DataSet:
    entries = benchmark.entries
    sources = [
        (
            results[id(entry.result)],
            results[id(entry.greedy)] if entry.greedy and entry.sampled else None,
        )
        for entry in entries
    ]
    problems = collect_problems(sources, faults, read, responses, texts=texts)
    mark_suspects(problems)
    known = {
        entry.place: read[found.path]
        for entry, (found, _) in zip(entries, sources, strict=True)
        if found.path in read
    }
    trials = {place: one.table for place, one in known.items()}
    against = {place: one.contradiction for place, one in known.items()}
    return DataSet(benchmark, sources, problems, trials, leaderboard(entries, trials, against))


def _labels(results: Sequence[ModelResult]) -> list[str]:
    """Return a label for each result's model; results with the same label may share a row.

    They share one if they are below the same folder and have the same full model name. Models in
    different folders may be different ones, and so may long names with the same beginning. If a
    model has several results on a data set, each of its runs is a row. Where the sampling differs,
    the label says how.
    """
    counts = Counter((_origin(found), found.model, found.dataset) for found in results)
    several = {key[:2] for key, times in counts.items() if times > 1}
    models = [(_origin(found), found.model) for found in results]
    keys = [
        (*model, found.time if model in several else '')
        for model, found in zip(models, results, strict=True)
    ]
    sampling: dict[Row, Set[tuple[str, object]]] = {}
    for key, found in zip(keys, results, strict=True):
        if not found.result.greedy:
            own = found.result.signature.sampling.items()
            sampling[key] = sampling.get(key, own) & own
    whole = list(dict.fromkeys(one_line(model) for _, model in models))
    short = dict(zip(whole, told_apart(whole, LONGEST_NAME), strict=True))
    names: dict[Row, str] = {}
    for key in dict.fromkeys(keys):
        name = short[one_line(key[1])]
        names[key] = _unused(_label(key, name, sampling), names.values())
    return [names[key] for key in keys]


Row = tuple[str, str, str]  # folder, model, and the time if several runs of it are rows


def _label(row: Row, name: str, sampling: Mapping[Row, Set[tuple[str, object]]]) -> str:
    peers = [one for other, one in sampling.items() if other[1] == row[1]]
    special = [item for item in sampling.get(row, ()) if any(item not in one for one in peers)]
    if special:
        return f'{name} ({", ".join(named(f"{key} {value}") for key, value in sorted(special))})'
    return f'{name} [{row[2]}]' if row[2] else name


def _origin(found: ModelResult) -> str:
    return str((found.run or found.path).resolve().parent)


def _unused(name: str, taken: Collection[str]) -> str:
    numbered = (f'{name} #{number}' for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def _marks(
    found: ModelResult,
    results: Sequence[ModelResult],
    read: Mapping[Path, Trials],
    state: TaskState | None,
) -> list[Mark]:
    """Return (word, explanation) for each reason why a result is less comparable.

    It is held against the results of the same benchmark and way of decoding.
    """
    result, counts = found.result, found.result.counts
    way = result.benchmark, result.greedy
    peers = [one for one in results if (one.result.benchmark, one.result.greedy) == way]
    marks = [('not the published data', note) for note in incomparable(result)]
    if found.path in read and (told := read[found.path].contradiction):
        marks.append(('contradictory', told))
    if state and state.state is not State.FINISHED:
        marks.append(('partial run', f'the task did not finish: {state}'))
    if lost := counts.lost:
        marks.append(('lost responses', f'{lost} of {counts.trials} responses are lost'))
    size, most = counts.problems, max(one.result.counts.problems for one in peers)
    if size < most:
        told = f'{size} problems; another result here has {most}'
        marks.append(('fewer problems', told))
    place = next(place for place, one in enumerate(peers) if one is found)
    apart = set_apart([one.result for one in peers])[place]
    return marks + [(f'other {name}', told) for name, told in apart.items()]


def _of_both(source: Source, marks: Mapping[int, Sequence[Mark]]) -> list[Mark]:
    """Return the marks of an entry: those of its result, and others of the greedy one beside it."""
    found, beside = source
    own = marks[id(found)]
    others = [(a, b) for a, b in marks[id(beside)] if (a, b) not in own] if beside else []
    return [*own, *((f'greedy: {word}', told) for word, told in others)]


def run_facts(found: ModelResult) -> list[tuple[str, str]]:
    """Return name and text of each fact about a result: source, sampling, judging, counts."""
    result = found.result
    sampling = result.signature.sampling.items()
    stored = result.as_json()
    facts = [
        ('data set', found.dataset),
        ('made', found.time),
        ('result', str(found.path)),
        ('signature', str(result.signature)),
        ('sampling', ', '.join(f'{k} = {v}' for k, v in sampling)),
        ('judge', result.signature.judge),
    ]
    facts += [(f'judging: {name}', text) for name, text in _flat(stored.get('judging', {}))]
    facts += [(f'count: {name}', text) for name, text in _flat(stored.get('counts', {}))]
    facts += [
        (told, _percent(result.shares[key])) for key, told in SHARES.items() if key in result.shares
    ]
    facts += [
        (f'if all open responses are wrong or right: {name}', ' to '.join(map(_percent, ends)))
        for name, ends in result.bounds.items()
    ]
    told = {k: v for k, v in stored.get('reasoning', {}).items() if k not in ('boxes', 'lengths')}
    facts += [(f'reasoning: {name}', text) for name, text in _flat(told)]
    return [(named(name), one_line(text)) for name, text in facts if text]


def _flat(value: Mapping[str, Any], prefix: str = '') -> Iterable[tuple[str, str]]:
    """Yield the leaves of a nested mapping under names such as ``ledger, saved, rule``."""
    for name, item in value.items():
        path = f'{prefix}, {name}' if prefix else str(name)
        if isinstance(item, Mapping):
            yield from _flat(item, path)
        elif item is not None and item != '':
            yield path, str(item)


def _percent(value: float) -> str:
    return '–' if math.isnan(value) else f'{value:.2f} %'
