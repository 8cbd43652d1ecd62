"""What the page shows of each data set: panels, groups, map and pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from opencompass_gpassk.compare.claims import length_caution, others_claim, these_claim
from opencompass_gpassk.compare.weaker_groups import weaker_groups
from opencompass_gpassk.formats.display import counted
from opencompass_gpassk.report.board import AVERAGE, GREEDY, breakdowns
from opencompass_gpassk.report.notes import (
    benchmark_notes,
    serious_notes,
    told_once,
    trust_notes,
)
from opencompass_gpassk.report.page.columns import (
    Column,
    column_notes,
    columns_at,
    heading_of,
    known,
)
from opencompass_gpassk.report.page.data import DataSet, PageData
from opencompass_gpassk.report.page.drawings import (
    IN_FULL,
    Curve,
    curves_over_tau,
    dumbbell,
    look,
    percent,
    solved_bar,
    span,
    told_interval,
)
from opencompass_gpassk.report.page.problems import PageProblem, named
from opencompass_gpassk.results.metric import (
    ACCURACY,
    DROP,
    G_PASS,
    GROUP_ACCURACY,
    OOR,
    PASS,
    SP_ACCURACY,
    STABILITY_GAP,
    Metric,
    Side,
)
from opencompass_gpassk.results.result import Entry
from opencompass_gpassk.results.token_metrics import MEAN, cost_text
from opencompass_gpassk.results.warnings import warning_place
from opencompass_gpassk.trials import ORIGINAL

MOST_PANELS = 3  # k for which a data set has a panel: the greatest
MOST_COLUMNS = 6  # columns of the board beside rank and model
APART_SHOWN = 10  # problems of a pair in which two models differ most


def sections(data: PageData) -> list[dict[str, Any]]:
    """Return what the page shows of each data set."""
    labels = dict.fromkeys(entry.label for one in data.data_sets for entry in one.entries)
    looks = {label: index for index, label in enumerate(labels)}
    return [_section(data, one, looks, index) for index, one in enumerate(data.data_sets)]


def _section(data: PageData, one: DataSet, looks: Mapping[str, int], index: int) -> dict[str, Any]:
    ks: list[int | None] = [*one.benchmark.ks[-MOST_PANELS:]] or [None]
    return {
        'index': index,
        'name': data.shown(one.name),
        'of': one,
        'size': one.benchmark.size if one.benchmark.problems else '',
        'trust': [*trust_notes(one.benchmark), *_doubtful(one)],
        'warnings': _warnings(one),
        'intervals': column_notes(one.benchmark),
        'panels': [_panel(data, one, looks, k, main=k == ks[-1]) for k in ks],
        'ks': ks,
        'groups': _groups(one, ks[-1]),
        'map': _map(one),
        'pairs': _pairs(one, ks[-1]),
    }


def _doubtful(one: DataSet) -> list[str]:
    """Return how many gold answers are doubtful, [] if none is."""
    number = sum(problem.suspect is not None for problem in one.problems)
    verb = 'is' if number == 1 else 'are'
    return [f'{counted(number, "gold answer")} {verb} doubtful (see the tag below)'] * bool(number)


def _warnings(one: DataSet) -> list[tuple[str, bool]]:
    """Return each warning once, and whether it affects the ranking: those that do come first.

    Marks that some models have, and others not, do.
    """
    marks = {
        entry.label: [f'{word}: {text}' for word, text in of_entry]
        for entry, of_entry in zip(one.entries, one.marks, strict=True)
    }
    found = dict.fromkeys([*one.ranked.notes, *serious_notes(one.benchmark)], True)
    found |= {text: not of_all for text, of_all in told_once(marks)}
    told = {text for of_entry in one.marks for _, text in of_entry}
    for note in benchmark_notes(one.benchmark):
        if note not in told:
            found.setdefault(note, False)
    return sorted(found.items(), key=lambda warning: (warning_place(warning[0]), not warning[1]))


def _panel(
    data: PageData, one: DataSet, looks: Mapping[str, int], k: int | None, *, main: bool
) -> dict[str, Any]:
    """Return what a panel shows. Only that of the greatest k has ranks, since only it is tested."""
    entries, taus = one.entries, one.benchmark.taus
    every, some = G_PASS(k=k, tau=1.0), PASS(k=k)
    columns = columns_at(one.benchmark, k, one.m)
    sampled = k is not None and not one.m
    shown = _of_board(columns, k, one.m)
    by = every if any(known(entry, every) is not None for entry in entries) else shown[0].metric
    order = sorted(range(len(entries)), key=lambda at: -(known(entries[at], by) or -1e-9))
    ranked = main and any(one.ranked.rank(at) for at in order)
    rows = []
    curves = []
    for place in order:
        entry = entries[place]
        index = looks[entry.label]
        rows.append(
            {
                'label': entry.label,
                'marks': one.marks[place],
                'colour': look(index)[0],
                'rank': _rank(one.ranked.rank(place)),
                'cells': [_cell(entry, column.metric, greedy=sampled) for column in shown],
                'dumbbell': dumbbell(known(entry, some), known(entry, every)),
                'bar': solved_bar(*_solved(one, place)),
                'tokens': _tokens(entry, k),
            }
        )
        points = {tau: known(entry, G_PASS(k=k, tau=tau)) for tau in taus}
        of_curve = {tau: value for tau, value in points.items() if value is not None}
        if len(of_curve) > 1:
            curves.append(Curve(data.shown(entry.label), index, of_curve))
    return {
        'k': k,
        'sampled': sampled,
        'ranked': ranked,
        'columns': shown,
        'tokens': any(row['tokens'] for row in rows),
        'rows': rows,
        'curves': curves_over_tau(curves, taus, k) if curves and k else '',
        'more': curves[IN_FULL:],
        'metrics': [
            (column.heading, column.about, [_cell(entry, column.metric) for entry in entries])
            for column in columns
        ],
    }


def _of_board(columns: Sequence[Column], k: int | None, m: int | None) -> list[Column]:
    """Return the columns of the board: of samples, of questions in versions, or the first ones."""
    strictest = G_PASS(k=k, tau=1.0)
    wanted = [AVERAGE, strictest, STABILITY_GAP(k=k)]
    if m:
        wanted = [SP_ACCURACY(), AVERAGE, GREEDY, DROP(), GROUP_ACCURACY(m=m), OOR(), strictest]
    elif k is None:
        wanted = [column.metric for column in columns]
    found = {column.metric: column for column in columns}
    return [found[one] for one in wanted if one in found][:MOST_COLUMNS]


def _cell(entry: Entry, metric: Metric, *, greedy: bool = False) -> list[str]:
    """Return the lines of a cell: the metric, its interval, and what else is known of it."""
    value = known(entry, metric)
    more = [told_interval(value)]
    if greedy and metric == AVERAGE and (once := known(entry, GREEDY)) is not None:
        more.append(f'greedy {percent(once)}')
    if metric != GREEDY and (true := entry.true_metrics.get(metric.key)):
        more.append(f'true {percent(true.estimate)} {span(true.range)}')
    return [percent(value), *filter(None, more)]


def _tokens(entry: Entry, k: int | None) -> list[str]:
    """Return the mean tokens of a response, and per problem solved every time; [] if unknown."""
    mean = entry.result.tokens.metrics.get(MEAN, math.nan)
    if math.isnan(mean):
        return []
    cost = cost_text(entry, k) if k else ''
    return [f'{mean:,.0f}', *([f'per solved {cost}'] if cost else [])]


def _rank(rank: Sequence[int] | None) -> str:
    return '–' if rank is None else '–'.join(map(str, dict.fromkeys(rank)))


def _solved(one: DataSet, place: int) -> tuple[int, int, int]:
    """Return how many problems an entry never, sometimes and always solved, of those judged.

    They are those that the headline metrics average over.
    """
    versions = [problem for problem in one.problems if problem.problem.version != ORIGINAL]
    solved = [problem.solved.get(place) for problem in versions or one.problems]
    judged = [of for of in solved if of and of.n]
    never, always = sum(not of.c for of in judged), sum(of.c == of.n for of in judged)
    return never, len(judged) - never - always, always


def _groups(one: DataSet, k: int | None) -> dict[str, Any] | None:
    """Return the table of groups × models in the primary metric."""
    entries = one.entries
    metric = next(
        (
            metric
            for metric in (G_PASS(k=k, tau=1.0), AVERAGE)
            if any(known(entry, metric) is not None for entry in entries)
        ),
        GREEDY,
    )
    alike = _alike_fields(one.problems)
    weaker = weaker_groups(
        [
            (
                None if e.result.copies else one.trials.get(e.place),
                {label: of.fields for label, of in e.groups.items()},
            )
            for e in entries
        ],
        AVERAGE if k is None else G_PASS(k=k, tau=1.0),
    )
    kinds = []
    for kind, rows in breakdowns(entries).items():
        labels = list(dict.fromkeys(label for label, _ in rows))
        of_kind = [
            (
                named(label),
                _group_size(entries, label),
                [
                    (percent(value), told_interval(value), label in weak)
                    for entry, weak in zip(entries, weaker, strict=True)
                    for value in [known(entry, metric, label)]
                ],
            )
            for label in labels
        ]
        kinds.append((named(alike.get(kind, kind)), of_kind))
    return {'heading': heading_of(metric), 'kinds': kinds} if kinds else None


def _group_size(entries: Sequence[Entry], label: str) -> str:
    """Return the problems of a group and, if these are fewer, its questions in brackets."""
    problems = max((e.groups[label].problems for e in entries if label in e.groups), default=0)
    questions = max(entry.questions(AVERAGE, label) or 0 for entry in entries)
    return f'{problems} ({questions})' if 0 < questions < problems else str(problems)


def _alike_fields(problems: Sequence[PageProblem]) -> dict[str, str]:
    """Return the names of fields, those that split the problems alike together."""
    alike: dict[frozenset[tuple[int, ...]], list[str]] = {}
    for field in dict.fromkeys(name for one in problems for name in one.problem.groups):
        members: dict[str, list[int]] = {}
        for place, one in enumerate(problems):
            members.setdefault(one.problem.groups.get(field, ''), []).append(place)
        alike.setdefault(frozenset(map(tuple, members.values())), []).append(field)
    return {names[0]: ' = '.join(names) for names in alike.values()}


def _map(one: DataSet) -> dict[str, Any]:
    """Return the rows of the map, the most unstable first: a problem, or a question in versions."""
    clusters: dict[str, list[int]] = {}
    for place, problem in enumerate(one.problems):
        cluster = problem.problem.cluster if problem.version else ''
        clusters.setdefault(f'cluster {cluster}' if cluster else f'{place}', []).append(place)
    rows = [[(place, one.problems[place]) for place in places] for places in clusters.values()]
    rows.sort(key=lambda row: -sum(_spread(problem) for _, problem in row) / len(row))
    n = {solved.n for problem in one.problems for solved in problem.solved.values() if solved.n}
    return {
        'rows': [_map_row(row, len(one.entries)) for row in rows],
        'n': n.pop() if len(n) == 1 else None,
        'versions': any(len(row) > 1 for row in rows),
        'tags': list(dict.fromkeys(tag for row in rows for _, one in row for tag in one.tags)),
    }


def _map_row(row: Sequence[tuple[int, PageProblem]], entries: int) -> dict[str, Any]:
    place, first = row[0]
    return {
        'name': first.problem.cluster if len(row) > 1 else _named(first),
        'first': place,
        'words': first.words,
        'perhaps': first.suspect.answer if first.suspect else '',
        'tags': list(dict.fromkeys(tag for _, problem in row for tag in problem.tags)),
        'groups': ' · '.join(f'{name} {value}' for name, value in first.groups),
        'cells': [[_map_cell(*cell, entry) for cell in row] for entry in range(entries)],
    }


def _named(problem: PageProblem) -> str:
    return f'{problem.name} (version {problem.version})' if problem.version else problem.name


def _spread(problem: PageProblem) -> float:
    shares = [solved.c / solved.n for solved in problem.solved.values() if solved.n]
    return sum(share * (1 - share) for share in shares) / max(1, len(shares))


def _map_cell(place: int, problem: PageProblem, entry: int) -> tuple[int, str, int, str]:
    """Return index of the problem, text, colour and meaning of a cell; the colour is -1 without."""
    solved = problem.solved.get(entry)
    if solved is None:
        return place, '–', -1, 'not asked'
    n, c, missing = solved.n, solved.c, solved.missing
    text = f'{c}/{n}' + (f' ?{missing}' if missing else '')
    version = f'version {problem.version}: ' if problem.version else ''
    told = f'{version}{c} of {n} right' + (f', {missing} without a verdict' if missing else '')
    return place, text, tone(c, n), told


def tone(c: int, n: int) -> int:
    """Return the colour of c right responses of n: 0 for none, 10 for all, -1 if n is 0."""
    if not n:
        return -1
    return 0 if not c else 10 if c >= n else min(9, max(1, round(10 * c / n)))


def _pairs(one: DataSet, k: int | None) -> list[dict[str, Any]]:
    """Return every two models: what the test says, their metrics, and where they differ most."""
    average = AVERAGE if any(entry.sampled for entry in one.entries) else GREEDY
    shown = []
    for pair, of_pair in one.differences.items():
        names = one.entries[pair[0]].label, one.entries[pair[1]].label
        tested = one.ranked.tested.get(pair)
        results = one.entries[pair[0]].result, one.entries[pair[1]].result
        shown.append(
            {
                'names': names,
                'claim': these_claim(names, tested) if tested else '',
                'others': others_claim(tested) if tested else '',
                'length': length_caution(*results, tested, names)
                if tested and tested.claim
                else '',
                'incomparable': one.ranked.apart.get(pair, ''),
                'rows': [
                    (
                        heading_of(average if of.metric.family is ACCURACY else of.metric),
                        tested if tested and of.metric == tested.metric else of,
                    )
                    for of in of_pair
                    if _of_panel(of.metric, k)
                ],
                'problems': _most_apart(one.problems, *pair),
            }
        )
    return shown


def _of_panel(metric: Metric, k: int | None) -> bool:
    """Tell whether a metric is one at k, or has no k; G-Pass@k at τ = 0 is pass@k."""
    return metric.side is Side.PLAIN and metric.k in (None, k) and (metric.tau != 0 or not metric.k)


def _most_apart(
    problems: Sequence[PageProblem], a: int, b: int
) -> list[tuple[int, str, list[tuple[int, str, int, str]]]]:
    gaps = []
    for place, problem in enumerate(problems):
        first, second = problem.solved.get(a), problem.solved.get(b)
        if first and second and first.n and second.n:
            gap = abs(second.c / second.n - first.c / first.n)
            gaps.append((gap, place, problem))
    gaps.sort(key=lambda one: -one[0])
    return [
        (place, _named(problem), [_map_cell(place, problem, entry) for entry in (a, b)])
        for gap, place, problem in gaps[:APART_SHOWN]
        if gap
    ]


def markup(text: str) -> Markup:
    """Mark up a metric's name: what stands below the line."""
    name, _, tau = text.partition('_')
    return Markup('{}<sub>{}</sub>').format(name, tau) if tau else Markup('{}').format(name)
