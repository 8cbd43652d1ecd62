"""The data of a report page: one document of figures, and the texts of problems, from results."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, count
from pathlib import Path
from typing import Any

import numpy as np

from opencompass_gpassk import __version__
from opencompass_gpassk.compare.claims import difference_claim, leaderboard_claim
from opencompass_gpassk.compare.comparability import set_apart
from opencompass_gpassk.compare.differences import SETTINGS, differences
from opencompass_gpassk.compare.leaderboard import Leaderboard, leaderboard
from opencompass_gpassk.formats.display import one_line, share_text, short_line, shortened
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.metrics.weakest_group import weakest_group
from opencompass_gpassk.report.board import Benchmark, Board, breakdowns
from opencompass_gpassk.report.notes import (
    benchmark_notes,
    incomparable,
    serious_notes,
    trust_notes,
)
from opencompass_gpassk.report.page.columns import (
    AVERAGE,
    GREEDY,
    column_notes,
    entry_figures,
    entry_intervals,
    figure_name,
    shown_columns,
    true_figures,
)
from opencompass_gpassk.report.page.problems import PageProblem, collect_problems, fit_responses
from opencompass_gpassk.results.figure_values import cluster_names
from opencompass_gpassk.results.figures import ACCURACY, G_PASS, SHARES, Figure
from opencompass_gpassk.results.judged_trials import JudgedTrials
from opencompass_gpassk.results.read import ModelResult, Sources, find_results
from opencompass_gpassk.results.stored_result import (
    Entry,
    is_greedy,
    shares_of,
    signature_line,
)
from opencompass_gpassk.runs.task_states import State
from opencompass_gpassk.trials import ORIGINAL, TrialTable


def run_facts(found: ModelResult) -> list[tuple[str, str]]:
    """Return name and text of each fact about a result: source, sampling, judging, counts."""
    result = found.result
    signature = result['signature']
    facts = [
        ('data set', found.dataset),
        ('made', found.time),
        ('result', str(found.path)),
        ('signature', signature_line(signature)),
        ('sampling', ', '.join(f'{k} = {v}' for k, v in _items(signature.get('sampling')))),
        ('judge', str(signature.get('judge', ''))),
    ]
    facts += [(f'judging: {name}', text) for name, text in _flat(result.get('judging'))]
    facts += [(f'count: {name}', text) for name, text in _flat(result.get('counts'))]
    facts += [(SHARES[key], _percent(share)) for key, share in shares_of(result).items()]
    facts += [
        (f'if all open responses are wrong or right: {name}', _range(ends))
        for name, ends in _items(result.get('bounds'))
    ]
    if isinstance(reasoning := result.get('reasoning'), Mapping):
        told = {k: v for k, v in reasoning.items() if k not in ('boxes', 'lengths')}
        facts += [(f'reasoning: {name}', text) for name, text in _flat(told)]
    return [(name, text) for name, text in facts if text]


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    return value.items() if isinstance(value, Mapping) else ()


def _flat(value: Any, prefix: str = '') -> Iterable[tuple[str, str]]:
    """Yield the leaves of a nested mapping under names such as ``ledger, saved, rule``."""
    for name, item in _items(value):
        path = f'{prefix}, {name}' if prefix else str(name)
        if isinstance(item, Mapping):
            yield from _flat(item, path)
        elif item is not None and item != '':
            yield path, str(item)


def _percent(value: Any) -> str:
    if not isinstance(value, (int, float)) or math.isnan(value):
        return '–'
    return f'{value:.2f} %'


def _range(ends: Any) -> str:
    if not isinstance(ends, (list, tuple)) or len(ends) != 2:
        return ''
    return ' to '.join(_percent(end) for end in ends)


Mark = tuple[str, str]


def marks_of(
    found: ModelResult, others: Sequence[ModelResult], contradiction: str = ''
) -> list[Mark]:
    """Return (word, explanation) for each reason why a result is less comparable.

    Args:
        found: The result.
        others: The results of the same benchmark and way of decoding, this one included.
        contradiction: How the result and its trials contradict each other, '' if they agree.
    """
    result = found.result
    counts = result.get('counts') or {}
    marks = [('not the published data', note) for note in incomparable(result)]
    if contradiction:
        marks.append(('contradictory', contradiction))
    if found.state:
        marks.append(('partial run', f'the task did not finish: {found.state}'))
    coverage = shares_of(result).get('coverage', math.nan)
    if coverage < 100:
        marks.append(
            (
                f'coverage {share_text(coverage)} %',
                'some responses have no verdict; figures are expected values over these',
            )
        )
    if lost := counts.get('lost'):
        marks.append(('lost responses', f'{lost} of {counts.get("trials")} responses are lost'))
    most = max((_problems(other) for other in others), default=0)
    if _problems(found) < most:
        marks.append(
            ('fewer problems', f'{_problems(found)} problems; another result here has {most}')
        )
    apart = set_apart([other.result for other in others])
    place = next(i for i, other in enumerate(others) if other is found)
    return marks + [(f'other {name}', told) for name, told in apart[place].items()]


def _problems(found: ModelResult) -> int:
    return int((found.result.get('counts') or {}).get('problems') or 0)


DIGITS = 4
DOUBTFUL, COMPETING = 'doubtful gold', 'two competing answers'
MOST_TEXT = 4_000_000  # characters of all responses on a page, before compression
MOST_TEXT_ASKED = 40_000_000  # if the reader asks for responses
FIRST_WORDS = 90  # characters of a question in the map
WEAKEST = 0.05  # greatest p-value of a group that is called the weakest
LONGEST_NAME = 80
NAMED = 3  # names in the title
DAY = re.compile(r'\d{8}(?=_\d{6})')
PATH = re.compile(r'(?<![\w.…/-])/(?:[^\s/\'"“”,;:]+/)+([^\s/\'"“”,;:]+)')
HOST = re.compile(r'(\w+://)[^\s/\'",;]+')


@dataclass(frozen=True)
class PageData:
    """The data that a page shows.

    Attributes:
        document: Everything but the texts of problems; :func:`page_data` describes its schema.
        problems: For each benchmark its problems, with answers and responses.
        faults: Messages on files that could not be read; the page shows them too.
    """

    document: dict[str, Any]
    problems: list[list[PageProblem]]
    faults: list[str]


def page_data(
    paths: Sequence[Path], *, responses: Path | None = None, most_text: int | None = None
) -> PageData:
    """Return the data of a page about these runs and results.

    The document's schema::

        {"package": str, "title": str,
         "benchmarks": [{"name": str, "ks": [int], "taus": [str],
             "m": versions of a question or null, "size": problems or null,
             "claim": sentences on who is the most stable,
             "trust": [str], "warnings": [[text, whether it affects the ranking]],
             "groups": [{"label": str, "name": str, "problems": int, "fields": {field: value}}],
             "breakdowns": [{"name": str, "groups": [label],
                             "weakest": [[index of an entry, label]]}],
             "columns": [{"key": str, "heading": str, "about": str, "lower": bool}],
             "intervals": notes on them, [str],
             "entries": [{"label": str, "model": str, "dataset": str, "time": str, "n": int,
                          "greedy": time of the greedy result if it is from another run,
                          "marks": [[word, text]],
                          "figures": {group: {name: percent or null}},
                          "intervals": {group: {name: [low, high, method]}},
                          "true": {group: {name: [estimate, low, high, low and high with
                                                  sampling]}}}],
             "problems": [{"id": str, "version": str, "cluster": str, "groups": {field: value},
                           "words": the question's first words, "tags": [str],
                           "n": [int or null, ...], "c": [int or null, ...],
                           "missing": [int or null, ...]}],
             "longest": length up to which responses are whole, in characters,
             "left_out": number of answers whose responses are left out,
             "pairs": see :func:`_pairs`}],
         "facts": [{"label": str, "facts": [[name, text]], "warnings": [str],
                    "marks": [[word, text]]}],
         "finished": [number of finished tasks, number of tasks],
         "tasks": [[run, task, state]], "faults": [str], "others": [str]}

    Args:
        paths: Work dirs, runs, folders and files of ``gpassk score -o``.
        responses: A folder that is searched for responses that are not where the trials say; the
            page then shows more of them.
        most_text: Greatest total length of the responses, in characters; by default
            :data:`MOST_TEXT`, with a folder :data:`MOST_TEXT_ASKED`.

    Raises:
        ValueError: If a path, or all of them together, contain nothing to show.
    """
    sources = find_results(paths)
    if not sources.results and not sources.tasks:
        named = ', '.join(map(str, paths))
        told = ''.join(f'\n{fault}' for fault in [*sources.faults, *sources.lacking()])
        raise ValueError(f'{named}: no readable result of this package was found{told}')
    labels = result_labels(sources.results)
    faults = [*sources.faults, *sources.lacking()]
    contradictions: dict[Path, str] = {}
    made = [
        _benchmark(benchmark, sources.results, faults, contradictions, responses)
        for benchmark in _benchmarks(sources.results, labels)
    ]
    # A page opens on the data set with most models.
    made.sort(key=lambda one: -len(one[0]['entries']))
    benchmarks, problems = [one for one, _ in made], [one for _, one in made]
    most = most_text or (MOST_TEXT_ASKED if responses else MOST_TEXT)
    for document, of_benchmark in made:
        document['left_out'], document['longest'] = fit_responses(of_benchmark, most // len(made))
    reasons = {state.reason for _, state in sources.tasks}
    faults = [short_line(fault) for fault in dict.fromkeys(faults) if fault not in reasons]
    document = {
        'package': __version__,
        'title': _title(benchmarks, sources.results),
        'benchmarks': benchmarks,
        'facts': [
            {
                'label': labels[index],
                'facts': [[_name(a), one_line(b)] for a, b in run_facts(found)],
                'warnings': [one_line(str(text)) for text in found.result.get('warnings') or []],
                'marks': marks_of(
                    found, _peers(found, sources.results), contradictions.get(found.path, '')
                ),
            }
            for index, found in enumerate(sources.results)
        ],
        'finished': [
            sum(state.state is State.FINISHED for _, state in sources.tasks),
            len(sources.tasks),
        ],
        'tasks': _tasks(sources),
        'faults': faults,
        'others': [short_line(other) for other in sources.others],
    }
    roots = [f'{path}/' for given in paths for path in {given.absolute(), given.resolve()}]
    return PageData(_without_places(without_nan(document), roots), problems, faults)


def _title(benchmarks: Sequence[Mapping[str, Any]], results: Sequence[ModelResult]) -> str:
    """Return the page's title: data sets, models and date."""
    day = max((found[0] for one in results if (found := DAY.match(one.time))), default='')
    names = list(dict.fromkeys(one['name'] for one in benchmarks))
    models = list(dict.fromkeys(e['label'] for one in benchmarks for e in one['entries']))
    told = [_listed(names), _listed(models), f'{day[:4]}-{day[4:6]}-{day[6:]}' if day else '']
    return ' · '.join(['G-Pass@k', *filter(None, told)])


def _listed(names: Sequence[str]) -> str:
    more = f' and {len(names) - NAMED} more' if len(names) > NAMED else ''
    return ', '.join(names[:NAMED]) + more


def _without_places(value: Any, roots: Sequence[str]) -> Any:
    """Return a document whose texts name no absolute path and no host; a page is passed on.

    Paths below the roots are named from there, of others only the last part.
    """
    if isinstance(value, str):
        for root in roots if '/' in value else ():
            value = value.replace(root, '')
        return HOST.sub(r'\1…', PATH.sub(r'…/\1', value)) if '/' in value else value
    if isinstance(value, dict):
        return {
            _without_places(key, roots): _without_places(item, roots) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without_places(item, roots) for item in value]
    return value


def result_labels(results: Sequence[ModelResult]) -> list[str]:
    """Return a label for each result's model; results with the same label may share a row.

    They share one if they are below the same folder and have the same full model name. Models in
    different folders may be different ones, and so may long names with the same beginning. If a
    model has several results on a data set, each of its runs is a row.
    """
    counts = Counter((_origin(found), found.model, found.dataset) for found in results)
    several = {key[:2] for key, times in counts.items() if times > 1}
    names: dict[tuple[str, ...], str] = {}
    taken: set[str] = set()
    labels = []
    for found in results:
        model = (_origin(found), found.model)
        key = (*model, found.time if model in several else '')
        if key not in names:
            name = f'{_name(found.model)} [{found.time}]' if key[2] else _name(found.model)
            names[key] = _unused(name, taken)
            taken.add(names[key])
        labels.append(names[key])
    return labels


def _origin(found: ModelResult) -> str:
    return str((found.run or found.path).resolve().parent)


def _unused(name: str, taken: Collection[str]) -> str:
    numbered = (f'{name} #{number}' for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def places(
    results: Sequence[ModelResult], labels: Sequence[str]
) -> dict[tuple[str, str], ModelResult]:
    """Return label and data set → result; what would have the same names gets a number."""
    found: dict[tuple[str, str], ModelResult] = {}
    for label, one in zip(labels, results, strict=True):
        found[label, _unused(one.dataset, [name for of, name in found if of == label])] = one
    return found


def _benchmarks(results: Sequence[ModelResult], labels: Sequence[str]) -> list[Benchmark]:
    """Join the results; those with scores of reasoning only get separate benchmarks."""
    joined: dict[str, dict[str, Mapping[str, Any]]] = {}
    for (label, dataset), found in places(results, labels).items():
        joined.setdefault(label, {})[dataset] = found.result
    board = Board(joined)
    return [
        *board.benchmarks,
        *(replace(one, name=f'{one.name}, reasoning') for one in board.unjudged),
    ]


def _benchmark(
    benchmark: Benchmark,
    results: Sequence[ModelResult],
    faults: list[str],
    contradictions: dict[Path, str],
    responses: Path | None,
) -> tuple[dict[str, Any], list[PageProblem]]:
    found = {id(one.result): one for one in results}
    entries = benchmark.entries
    sources = [(found[id(e.result or e.greedy)], _beside(e, found)) for e in entries]
    tables: dict[Path, TrialTable] = {}
    problems = collect_problems(sources, faults, contradictions, tables, responses)
    shown = [
        _entry(entry, source, results, contradictions)
        for entry, source in zip(entries, sources, strict=True)
    ]
    paths = {entry.place: source.path for entry, (source, _) in zip(entries, sources, strict=True)}
    trials = {place: tables[path] for place, path in paths.items() if path in tables}
    ranked = leaderboard(
        entries, trials, {place: contradictions.get(path, '') for place, path in paths.items()}
    )
    sizes = [r['versions']['per_group'] for e in entries for r in e.results if r.get('versions')]
    return {
        'name': _name(benchmark.name),
        'ks': benchmark.ks,
        'taus': [str(tau) for tau in benchmark.taus],
        'm': sizes[0] if sizes else None,
        'size': max(benchmark.problems, default=None),
        'claim': leaderboard_claim(entries, ranked),
        'trust': [one_line(note) for note in trust_notes(benchmark)],
        'warnings': _warnings(benchmark, shown, ranked),
        'groups': _groups(entries),
        'breakdowns': _breakdowns(benchmark, problems, trials),
        'columns': shown_columns(benchmark),
        'intervals': [one_line(note) for note in column_notes(benchmark)],
        'entries': shown,
        'problems': [_problem(problem, len(entries)) for problem in problems],
        'pairs': _pairs(entries, ranked),
    }, problems


def _warnings(
    benchmark: Benchmark, entries: Sequence[Mapping[str, Any]], ranked: Leaderboard
) -> list[tuple[str, bool]]:
    """Return each warning once, and whether it affects the ranking: those that do come first.

    Marks that some models have, and others not, do.
    """
    marks: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        for word, text in entry['marks']:
            marks.setdefault((word, text), []).append(entry['label'])
    found = {one_line(note): True for note in (*ranked.notes, *serious_notes(benchmark))}
    for (word, text), labels in marks.items():
        some = len(labels) < len(entries)
        found[f'{", ".join(labels)}: {word}: {text}' if some else f'{word}: {text}'] = some
    told = {text for _, text in marks}
    for note in map(one_line, benchmark_notes(benchmark)):
        if note not in told:
            found.setdefault(note, False)
    return sorted(found.items(), key=lambda one: not one[1])


def _breakdowns(
    benchmark: Benchmark,
    problems: Sequence[PageProblem],
    trials: Mapping[tuple[str, str], TrialTable],
) -> list[dict[str, Any]]:
    """Return the kinds of groups in their order, with the weakest group of each entry.

    A group is called the weakest only if a test says so, see
    :func:`~opencompass_gpassk.metrics.weakest_group.weakest_group`. Fields that split the problems
    alike are named together.
    """
    alike: dict[frozenset[tuple[int, ...]], list[str]] = {}
    for field in dict.fromkeys(name for one in problems for name in one.problem.groups):
        members: dict[str, list[int]] = {}
        for place, one in enumerate(problems):
            members.setdefault(one.problem.groups.get(field, ''), []).append(place)
        alike.setdefault(frozenset(map(tuple, members.values())), []).append(field)
    together = {names[0]: ' = '.join(names) for names in alike.values()}
    k = max(benchmark.ks, default=None)
    figure = ACCURACY() if k is None else G_PASS(k=k, tau=1.0)
    found = []
    for kind, rows in breakdowns(benchmark.entries).items():
        labels = list(dict.fromkeys(label for label, _ in rows))
        partitions: dict[tuple[str, ...], dict[str, None]] = {}  # splits and languages cross
        for label, entry in rows:
            partitions.setdefault(tuple(entry.groups[label]), {})[label] = None
        weakest = [
            (place, label)
            for place, entry in enumerate(benchmark.entries)
            if entry.place in trials
            for members in partitions.values()
            if (label := _weakest(entry, list(members), trials[entry.place], figure))
        ]
        name = _name(together.get(kind, kind))
        found.append({'name': name, 'groups': labels, 'weakest': weakest})
    return found


def _weakest(entry: Entry, labels: Sequence[str], table: TrialTable, figure: Figure) -> str:
    fields = [entry.groups.get(label) for label in labels]
    members = [
        np.array(
            [
                one.version != ORIGINAL
                and all(one.groups.get(k) == v for k, v in group.items() if k != 'problems')
                for one in table.problems
            ]
        )
        for group in fields
        if group and 'version' not in group
    ]
    if len(members) < len(labels) or len(labels) < 2:
        return ''
    values = JudgedTrials.recorded(table).expected(figure.estimator())
    _, clusters = np.unique(cluster_names(table.problems), return_inverse=True)
    place, p_value = weakest_group(values, clusters, members)
    return labels[place] if p_value <= WEAKEST else ''


def _pairs(entries: Sequence[Entry], ranked: Leaderboard) -> dict[str, Any]:
    """Return the differences of every two entries in the headline figures.

    Returns:
        ``figure``: the name of the primary figure, None without ranks. ``metrics``: the names of
        the figures. ``rows``: lists ``[first, second, [[difference, low, high, first figure, second
        figure, problems], …], p, claim, sentence]``; differences are the second minus the first, in
        points, p and claim are of the primary figure. ``ranks``: for each entry the [best, worst]
        rank that the data allow, None without one. ``incomparable``: lists ``[first, second,
        why]``.
    """
    names: list[str] = []
    rows: list[list[Any]] = []
    accuracy = AVERAGE if any(entry.result for entry in entries) else GREEDY
    pairs = list(combinations(range(len(ranked.rows)), 2))
    found = differences(ranked.shared, pairs, groups=False) if ranked.shared else {}
    for pair, of_pair in found.items():
        names = [figure_name(one.figure, accuracy) for one in of_pair]
        first, second = (ranked.rows[at] for at in pair)
        primary = ranked.tested.get((first, second))
        labels = entries[first].label, entries[second].label
        claim = primary.claim(SETTINGS.level) if primary else ''
        sentence = difference_claim(labels, primary, SETTINGS.level) if primary else ''
        values = [
            [one.difference, one.low, one.high, one.first, one.second, one.units] for one in of_pair
        ]
        p_value = primary.p_value if primary else None
        rows.append([first, second, _rounded(values), p_value, claim, one_line(sentence)])
    figure = ranked.figure
    return {
        'figure': figure and figure_name(figure, accuracy),
        'metrics': names,
        'rows': rows,
        'ranks': [ranked.rank(place) for place in range(len(entries))],
        'incomparable': [[*pair, one_line(why)] for pair, why in ranked.apart.items()],
    }


def _rounded(values: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[round(value, DIGITS) for value in row] for row in values]


def _groups(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the groups of all entries, each with its greatest number of problems."""
    groups: dict[str, dict[str, Any]] = {}
    for entry in entries:
        for label, group in entry.groups.items():
            fields = {_name(str(k)): _name(str(v)) for k, v in group.items() if k != 'problems'}
            known = groups.setdefault(label, {'problems': 0, 'fields': fields})
            known['problems'] = max(known['problems'], group.get('problems') or 0)
    return [{'label': label, 'name': _name(label), **group} for label, group in groups.items()]


def _beside(entry: Entry, found: Mapping[int, ModelResult]) -> ModelResult | None:
    """Return the greedy result that is shown beside samples, None if there is none."""
    return found[id(entry.greedy)] if entry.result and entry.greedy else None


def _entry(
    entry: Entry,
    source: tuple[ModelResult, ModelResult | None],
    results: Sequence[ModelResult],
    contradictions: Mapping[Path, str],
) -> dict[str, Any]:
    main, beside = source
    marks = marks_of(main, _peers(main, results), contradictions.get(main.path, ''))
    if beside:
        peers = _peers(beside, results)
        of_greedy = marks_of(beside, peers, contradictions.get(beside.path, ''))
        marks += [(f'greedy: {a}', b) for a, b in of_greedy if (a, b) not in marks]
    return {
        'label': one_line(entry.label),
        'model': _name(main.model),
        'dataset': _name(main.dataset),
        'time': _name(main.time),
        'greedy': _name(beside.time) if beside and beside.run != main.run else '',
        'n': entry.n or 1,
        'marks': [[word, one_line(text)] for word, text in marks],
        'figures': {group: entry_figures(entry, group) for group in ('', *entry.groups)},
        'intervals': {group: entry_intervals(entry, group) for group in ('', *entry.groups)},
        'true': {
            group: found for group in ('', *entry.groups) if (found := true_figures(entry, group))
        },
    }


def _peers(found: ModelResult, results: Sequence[ModelResult]) -> list[ModelResult]:
    way = found.result['benchmark'], is_greedy(found.result)
    return [one for one in results if (one.result['benchmark'], is_greedy(one.result)) == way]


def _problem(problem: PageProblem, entries: int) -> dict[str, Any]:
    solved = [problem.solved.get(index) for index in range(entries)]
    words = ' '.join(problem.question.split())
    return {
        'id': _name(problem.problem.problem_id),
        'version': _name(problem.problem.version),
        'cluster': problem.problem.cluster if problem.problem.version else '',
        'groups': {_name(k): _name(v) for k, v in problem.problem.groups.items()},
        'words': shortened(words, FIRST_WORDS),
        'tags': [DOUBTFUL] * bool(problem.suspect) + [COMPETING] * problem.torn,
        'n': [one and one.n for one in solved],
        'c': [one and one.c for one in solved],
        'missing': [one and one.missing for one in solved],
    }


def _tasks(sources: Sources) -> list[list[str]]:
    return [
        [_name(run), short_line(state.name), short_line(str(state))]
        for run, state in sources.tasks
        if state.state is not State.FINISHED
    ]


def _name(text: str) -> str:
    return short_line(text, LONGEST_NAME)
