"""What the page shows of each data set: the board, its problems, its groups, and what is folded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from opencompass_gpassk.compare.claims import p_text, signed
from opencompass_gpassk.compare.weaker_groups import weaker_groups
from opencompass_gpassk.report.board import AVERAGE, GREEDY, breakdowns
from opencompass_gpassk.report.cells import told_apart
from opencompass_gpassk.report.notes import (
    benchmark_notes,
    sensitivity_notes,
    serious_notes,
    told_once,
)
from opencompass_gpassk.report.page.columns import (
    column_notes,
    columns_at,
    heading_of,
    known,
)
from opencompass_gpassk.report.page.data import DataSet, PageData
from opencompass_gpassk.report.page.drawings import (
    LIGHT,
    LONGEST_LABEL,
    Curve,
    axis,
    curves_over_tau,
    interval_of,
    percent,
    strip,
    told_interval,
    whole,
)
from opencompass_gpassk.report.page.headline import headline
from opencompass_gpassk.report.page.problems import PageProblem, named
from opencompass_gpassk.results.judged_trials import REDUNDANCY, VALIDITY
from opencompass_gpassk.results.metric import (
    DROP,
    G_PASS,
    GROUP_ACCURACY,
    OOR,
    PASS,
    REASONING,
    SP_ACCURACY,
    Metric,
)
from opencompass_gpassk.results.result import Entry
from opencompass_gpassk.results.token_metrics import MEAN, cost_text
from opencompass_gpassk.results.warnings import warning_place
from opencompass_gpassk.trials import ORIGINAL

MOST_BESIDE = 4  # metrics of the board beside the large number
FAR_APART = 0.5  # difference of the shares of right samples of two models that differ


class View(NamedTuple):
    """The numbers of a board at one k: the large one, what it is called, and one beside it."""

    k: int | None
    metric: Metric
    beside: Metric | None
    heading: str


def sections(data: PageData) -> list[dict[str, Any]]:
    """Return what the page shows of each data set."""
    return [_section(data, one, index) for index, one in enumerate(data.data_sets)]


def _section(data: PageData, one: DataSet, index: int) -> dict[str, Any]:
    views = _views(one)
    names = [one.entries[place].label for place in one.order]
    made = [of.uncertainty for entry in one.entries for of in entry.results]
    levels = {of.level for of in made if of}
    return {
        'index': index,
        'name': data.shown(one.name),
        'of': one,
        'about': _about(one),
        'head': headline(one),
        'views': views,
        'ks': [view.k for view in views],
        'board': _board(one, views),
        'names': names,
        'short': told_apart(names, LONGEST_LABEL),
        'problems': _problems(one),
        'groups': _groups(one),
        'curves': _curves(data, one),
        'metrics': _metrics(one),
        'matrix': _matrix(one),
        'notes': _notes(one),
        'level': ' or '.join(f'{100 * level:g}' for level in sorted(levels)),
        'intervals': column_notes(one.benchmark),
    }


def _about(one: DataSet) -> list[str]:
    """Return the data set's name, and how much was asked of how many models."""
    drawn = sorted({entry.n for entry in one.entries if entry.n > 1})
    samples = f'{" or ".join(map(str, drawn))} samples each' if drawn else ''
    models = f'{len(one.entries)} models' if len(one.entries) > 1 else ''
    size = one.benchmark.size if one.benchmark.problems else ''
    return [*filter(None, [one.name, size, samples, models])]


def _views(one: DataSet) -> list[View]:
    """Return the numbers of the board, those of the greatest k last."""
    if one.ks and one.large.family is G_PASS:
        told = {k: f'right in all {k}' if k > 1 else 'right' for k in one.ks}
        return [View(k, G_PASS(k=k, tau=1.0), PASS(k=k), told[k]) for k in one.ks]
    beside = SP_ACCURACY() if one.m else None
    headings = {AVERAGE: 'mean', GREEDY: 'right'}
    heading = 'versions right' if one.m else headings.get(one.large, heading_of(one.large))
    return [View(None, one.large, beside, heading)]


def _board(one: DataSet, views: Sequence[View]) -> dict[str, Any]:
    """Return the rows of the board in rank order, and the headings of what stands beside."""
    columns = columns_at(one.benchmark, None, one.m)
    scored = [REASONING[name, '']() for name in (VALIDITY, REDUNDANCY)]
    wanted: list[Metric] = [AVERAGE, GREEDY, *scored]
    if one.m:
        wanted = [GROUP_ACCURACY(m=one.m), DROP(), OOR(), GREEDY]
    found = {column.metric: column for column in columns}
    chosen = [found[of] for of in wanted if of in found and of != one.large][:MOST_BESIDE]
    rows = []
    several = len({entry.n for entry in one.entries}) > 1
    for place in one.order:
        entry = one.entries[place]
        rank = one.ranked.rank(place)
        rows.append(
            {
                'label': entry.label,
                'marks': one.marks[place],
                'rank': '–'.join(map(str, dict.fromkeys(rank))) if rank else '–',
                'n': entry.n if several else 0,
                'strip': strip(one.tried(place)),
                'numbers': [_number(entry, view) for view in views],
                'cells': [
                    (whole(known(entry, of.metric)), ' '.join(_lines(entry, of.metric)))
                    for of in chosen
                ],
            }
        )
    return {
        'ranked': any(map(one.ranked.rank, one.order)),
        'strips': any(of.solved for of in one.problems),
        'headings': [('mean' if of.metric == AVERAGE else of.heading, of.about) for of in chosen],
        'rows': rows,
        'differ': several or any(view.k != entry.n for view in views for entry in one.entries),
    }


def _number(entry: Entry, view: View) -> dict[str, Any]:
    value = known(entry, view.metric)
    beside = known(entry, view.beside) if view.beside else None
    result = entry.greedy if view.metric == GREEDY and entry.greedy else entry.result
    ends = result.intervals_fixed.get(view.metric.of_n(None).key)
    these = None if ends is None or math.isnan(sum(ends)) else ends
    return {
        'k': view.k,
        'large': whole(value),
        'more': ' '.join(_lines(entry, view.metric)),
        'axis': axis(value, these, interval_of(value), beside),
        'beside': whole(beside),
    }


def _problems(one: DataSet) -> dict[str, Any]:
    """Return the columns of the problems, the easiest first, and the filters that find them."""
    means: dict[str, list[float]] = {}
    for problem in one.problems:
        shares = [of.c / of.n for of in problem.solved.values() if of.n]
        means.setdefault(_unit(problem), []).append(sum(shares) / max(len(shares), 1))

    def easiest(place: int) -> tuple[float, str, bool]:
        problem = one.problems[place]
        unit = _unit(problem)
        return -sum(means[unit]) / len(means[unit]), unit, problem.problem.version != ORIGINAL

    places = sorted(range(len(one.problems)), key=easiest)
    fields = dict.fromkeys(pair for problem in one.problems for pair in problem.groups)
    groups = {pair: number for number, pair in enumerate(fields)}
    tags = [_tags(one.problems[place]) for place in places]
    kinds: dict[str, list[tuple[int, str]]] = {}
    for (field, value), number in groups.items():
        kinds.setdefault(field, []).append((number, value))
    return {
        'columns': [
            (place, _named(problem), ' '.join(of), ' '.join(str(groups[g]) for g in problem.groups))
            for place, of in zip(places, tags, strict=True)
            for problem in [one.problems[place]]
        ],
        'rows': [[_cell(one.problems[place], entry) for place in places] for entry in one.order],
        'filters': [
            (tag, told, number)
            for tag, told in FILTERS.items()
            if (number := sum(tag in of for of in tags))
        ],
        'kinds': kinds,
    }


FILTERS = {
    'always': 'always solved by all models',
    'every': 'sometimes solved by all models',
    'some': 'sometimes solved by any model',
    'never': 'never solved',
    'differ': 'models differ by half or more',
    'suspect': 'suspect gold answer',
    'split': 'split answers of a model',
    'missing': 'without some verdicts',
}


def _unit(problem: PageProblem) -> str:
    """Return what stands together: a question in versions, or the problem."""
    one = problem.problem
    return f'cluster {one.cluster}' if one.version and one.cluster else f'problem {one.problem_id}'


def _named(problem: PageProblem) -> str:
    return f'{problem.name} (version {problem.version})' if problem.version else problem.name


def _tags(problem: PageProblem) -> list[str]:
    """Return which filters find a problem."""
    judged = [of for of in problem.solved.values() if of.n]
    shares = [of.c / of.n for of in judged]
    sometimes = [0 < share < 1 for share in shares]
    return [
        tag
        for tag, found in {
            'always': shares and min(shares) == 1,
            'every': len(sometimes) > 1 and all(sometimes),
            'some': any(sometimes),
            'never': shares and max(shares) == 0,
            'differ': shares and max(shares) - min(shares) >= FAR_APART,
            'suspect': problem.suspect,
            'split': problem.split,
            'missing': any(of.missing for of in problem.solved.values()),
        }.items()
        if found
    ]


def _cell(problem: PageProblem, entry: int) -> tuple[str, str]:
    """Return colour and text of a cell: right samples, and those without a verdict."""
    solved = problem.solved.get(entry)
    if solved is None or not solved.n + solved.missing:
        return 'x', '–'
    found = f'{solved.c}' + (f'?{solved.missing}' if solved.missing else '')
    if solved.missing and solved.c and solved.c == solved.n:
        return 'm', found
    return f'{tone(solved.c, solved.n)}' if solved.n else 'x', found


def tone(c: int, n: int) -> int:
    """Return the colour of c right responses of n: 0 for none, 10 for all, else one between."""
    if not n:
        return -1
    return 0 if not c else 10 if c >= n else min(9, max(1, round(10 * c / n)))


def _groups(one: DataSet) -> dict[str, Any] | None:
    """Return the table of models × groups in the metric of the large numbers."""
    entries, metric = one.entries, one.large
    weaker = weaker_groups(
        [
            (
                None if e.result.copies else one.trials.get(e.place),
                {label: of.fields for label, of in e.groups.items()},
            )
            for e in entries
        ],
        metric if metric.family is G_PASS else AVERAGE,
    )
    alike = _alike_fields(one.problems)
    kinds = [
        (named(alike.get(kind, kind)), list(dict.fromkeys(label for label, _ in rows)))
        for kind, rows in breakdowns(entries).items()
    ]
    if not kinds:
        return None
    labels = [label for _, of_kind in kinds for label in of_kind]
    return {
        'heading': heading_of(metric),
        'kinds': [(name, len(of_kind)) for name, of_kind in kinds],
        'labels': [(named(label), _group_size(entries, label)) for label in labels],
        'rows': [
            [
                (whole(value), value or 0, told_interval(value), label in weaker[place])
                for label in labels
                for value in [known(entries[place], metric, label)]
            ]
            for place in one.order
        ],
        'weaker': any(weaker),
    }


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


def _curves(data: PageData, one: DataSet) -> Markup | str:
    """Return the curves over τ at the greatest k, '' without any."""
    k, taus = max(one.benchmark.ks, default=0), one.benchmark.taus
    labels = told_apart([one.entries[place].label for place in one.order], LONGEST_LABEL)
    curves = []
    for index, (place, label) in enumerate(zip(one.order, labels, strict=True)):
        points = {tau: known(one.entries[place], G_PASS(k=k, tau=tau)) for tau in taus}
        of_curve = {tau: value for tau, value in points.items() if value is not None}
        if len(of_curve) > 1:
            curves.append(Curve(data.shown(label), index % len(LIGHT), of_curve))
    return curves_over_tau(curves, taus, k) if curves else ''


def _metrics(one: DataSet) -> list[tuple[str, str, list[tuple[str, ...]]]]:
    """Return heading, meaning and cells of every metric, at every k, and of tokens."""
    entries = [one.entries[place] for place in one.order]
    columns = {
        column.metric: column
        for k in [None, *one.benchmark.ks]
        for column in columns_at(one.benchmark, k, one.m)
    }
    rows: list[tuple[str, str, list[tuple[str, ...]]]] = [
        (of.heading, of.about, [tuple(_lines(entry, of.metric)) for entry in entries])
        for of in sorted(columns.values(), key=lambda of: of.metric.k or 0)
    ]
    tokens = [entry.result.tokens.metrics.get(MEAN, math.nan) for entry in entries]
    if all(map(math.isnan, tokens)):
        return rows
    told = [('–' if math.isnan(mean) else f'{mean:,.0f}',) for mean in tokens]
    rows.append(('tokens', 'mean tokens of a response', [*told]))
    about = 'mean tokens divided by the share of the problems solved every time'
    for k in one.benchmark.ks:
        costs: list[tuple[str, ...]] = [(cost_text(entry, k) or '–',) for entry in entries]
        rows.append((f'tokens per problem solved, k = {k}', about, costs))
    return rows


def _lines(entry: Entry, metric: Metric) -> Iterable[str]:
    """Yield a metric, its interval, and what an audit says of it."""
    value = known(entry, metric)
    yield percent(value)
    if told := told_interval(value):
        yield told
    if metric != GREEDY and (true := entry.true_metrics.get(metric.key)):
        low, high = map(percent, true.range)
        yield f'true {percent(true.estimate)} [{low}, {high}]'


def _matrix(one: DataSet) -> dict[str, Any] | None:
    """Return every two models: the upper one less the one in the column, in the primary metric."""
    ranked = one.ranked
    places = [place for place in one.order if place in ranked.rows]
    if len(places) < 2 or ranked.metric is None:
        return None
    rows = []
    for place in places[:-1]:
        cells: list[tuple[str, ...]] = []
        for other in places[1:]:
            test = ranked.difference(other, place)
            if places.index(other) <= places.index(place):
                cells.append(('',))
            elif test is None:
                cells.append(('–',))
            else:
                mark = 'claimed' if test.claim else 'fragile' if test.fragile else ''
                both = [test.headline] if test.few else [test.headline, test.like_these]
                lines = [
                    f'{signed(of.low)} to {signed(of.high)}, p {p_text(of.p_value)}'
                    for of in dict.fromkeys(both)
                ]
                cells.append((mark, signed(test.difference), *lines))
        rows.append((one.entries[place].label, cells))
    labels = [one.entries[place].label for place in places[1:]]
    apart = told_once(
        {
            f'{one.entries[a].label} and {one.entries[b].label}': [why]
            for (a, b), why in ranked.apart.items()
        }
    )
    tests = max((test.tests for test in ranked.tested.values()), default=0)
    return {
        'heading': heading_of(ranked.metric),
        'labels': told_apart(labels, LONGEST_LABEL),
        'rows': rows,
        'apart': apart,
        'tests': tests,
    }


def _notes(one: DataSet) -> list[str]:
    """Return each note once, those on ranks and on the marks of single models first."""
    marks = {
        entry.label: [f'{word}: {text}' for word, text in of_entry]
        for entry, of_entry in zip(one.entries, one.marks, strict=True)
    }
    first = [*one.ranked.notes, *serious_notes(one.benchmark), *told_once(marks)]
    told = {text for of_entry in one.marks for _, text in of_entry}
    others = [note for note in benchmark_notes(one.benchmark) if note not in told]
    others = sorted(others, key=warning_place)
    return [*dict.fromkeys([*first, *others, *sensitivity_notes(one.benchmark)])]


def markup(text: str) -> Markup:
    """Mark up a metric's name: what stands below the line."""
    name, _, tau = text.partition('_')
    return Markup('{}<sub>{}</sub>').format(name, tau) if tau else Markup('{}').format(name)
