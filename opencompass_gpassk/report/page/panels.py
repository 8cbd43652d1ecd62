"""What the page shows of each data set, from the page's document: panels, groups, map and pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from opencompass_gpassk.report.page.columns import AVERAGE, GREEDY, PLACES
from opencompass_gpassk.report.page.drawings import (
    IN_FULL,
    Curve,
    curves_over_tau,
    dumbbell,
    look,
    percent,
    solved_bar,
    span,
)
from opencompass_gpassk.results.figures import (
    DROP,
    G_PASS,
    GROUP_ACCURACY,
    LOSS,
    OOR,
    PASS,
    SP_ACCURACY,
    Side,
    parse_figure,
)
from opencompass_gpassk.trials import ORIGINAL

MOST_PANELS = 3  # k for which a data set has a panel: the greatest
MOST_COLUMNS = 6  # columns of the board beside rank and model
OF_VERSIONS = (SP_ACCURACY, DROP, GROUP_ACCURACY, OOR)
APART_SHOWN = 10  # problems of a pair in which two models differ most

Benchmark = Mapping[str, Any]
Entry = Mapping[str, Any]


def sections(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the page shows of each data set."""
    labels = dict.fromkeys(e['label'] for one in document['benchmarks'] for e in one['entries'])
    looks = {label: index for index, label in enumerate(labels)}
    return [_section(one, looks, index) for index, one in enumerate(document['benchmarks'])]


def _section(benchmark: Benchmark, looks: Mapping[str, int], index: int) -> dict[str, Any]:
    ks = sorted(benchmark['ks'])[-MOST_PANELS:] or [None]
    return {
        'index': index,
        'name': benchmark['name'],
        'benchmark': benchmark,
        'looks': [looks[entry['label']] for entry in benchmark['entries']],
        'panels': [_panel(benchmark, looks, k, main=k == ks[-1]) for k in ks],
        'ks': ks,
        'groups': _groups(benchmark, ks[-1]),
        'map': _map(benchmark),
        'pairs': _pairs(benchmark, ks[-1]),
    }


def figure(entry: Entry, key: str, group: str = '') -> float | None:
    """Return a figure of an entry in percent; None if it is undefined or was not measured."""
    value: float | None = entry['figures'].get(group, {}).get(key)
    return value


def ends(entry: Entry, key: str, group: str = '') -> Sequence[float] | None:
    """Return the interval of a figure, None without one."""
    found: Sequence[float] | None = entry['intervals'].get(group, {}).get(key)
    return found if found and None not in found[:2] else None


def _names(benchmark: Benchmark, k: int | None) -> list[tuple[str, str, str]]:
    """Return key, heading and meaning of the figures at k that any entry has."""
    found: dict[str, tuple[str, str, str]] = {}
    for column in benchmark['columns']:
        for tau in benchmark['taus'] or ['']:
            places = {**PLACES, 'k': k, 'tau': tau, 'm': benchmark['m']}
            key, heading, about = (
                column[name].format(**places) for name in ('key', 'heading', 'about')
            )
            if any(key in entry['figures'].get('', {}) for entry in benchmark['entries']):
                found.setdefault(key, (key, heading, about))
    return list(found.values())


def _panel(
    benchmark: Benchmark, looks: Mapping[str, int], k: int | None, *, main: bool
) -> dict[str, Any]:
    """Return what a panel shows. Only that of the greatest k has ranks, since only it is tested."""
    entries = benchmark['entries']
    names = _names(benchmark, k)
    sampled = k is not None and not benchmark['m']
    every, some = (G_PASS(k=k, tau=1.0).key, PASS(k=k).key) if k else ('', '')
    columns = _sampled_columns(names, k) if sampled else _other_columns(benchmark, names, k)
    by = every if any(figure(e, every) is not None for e in entries) else columns[0][0]
    order = sorted(range(len(entries)), key=lambda i: -(figure(entries[i], by) or -1e-9))
    ranks = benchmark['pairs']['ranks'] if main else []
    rows = []
    for place in order:
        entry = entries[place]
        rows.append(
            {
                'place': place,
                'entry': entry,
                'look': looks[entry['label']],
                'colour': look(looks[entry['label']])[0],
                'rank': _rank(ranks[place]) if main and any(ranks) else None,
                'cells': [_cell(entry, key, greedy=sampled) for key, _, _ in columns],
                'dumbbell': dumbbell(figure(entry, some), figure(entry, every), ends(entry, every))
                if sampled
                else None,
                'bar': solved_bar(*_solved(benchmark, place)) if sampled else None,
            }
        )
    curves = [
        Curve(
            entries[i]['label'],
            looks[entries[i]['label']],
            {
                tau: (value, ends(entries[i], key))
                for tau in benchmark['taus']
                for key in [G_PASS(k=k, tau=float(tau)).key]
                if (value := figure(entries[i], key)) is not None
            },
        )
        for i in order
    ]
    drawn = [curve for curve in curves if len(curve.points) > 1] if k else []
    return {
        'k': k,
        'sampled': sampled,
        'ranked': main and any(ranks),
        'columns': columns,
        'rows': rows,
        'curves': curves_over_tau(drawn, benchmark['taus'], k or 0) if drawn else '',
        'more': drawn[IN_FULL:],
        'figures': [
            (heading, about, [_cell(entry, key) for entry in entries])
            for key, heading, about in names
        ],
    }


def _sampled_columns(
    names: Sequence[tuple[str, str, str]], k: int | None
) -> list[tuple[str, str, str]]:
    wanted = [AVERAGE, G_PASS(k=k, tau=1.0).key, LOSS(k=k).key]
    return [one for key in wanted for one in names if one[0] == key]


def _other_columns(
    benchmark: Benchmark, names: Sequence[tuple[str, str, str]], k: int | None
) -> list[tuple[str, str, str]]:
    """Return the columns of questions in versions, and of results without samples."""
    if not benchmark['m']:
        return list(names[:MOST_COLUMNS])
    keys = [family(m=benchmark['m'] if family.has('m') else None).key for family in OF_VERSIONS]
    keys = [keys[0], AVERAGE, GREEDY, *keys[1:], G_PASS(k=k, tau=1.0).key]
    return [one for key in keys for one in names if one[0] == key][:MOST_COLUMNS]


def _cell(entry: Entry, key: str, *, greedy: bool = False) -> list[str]:
    """Return the lines of a cell: the figure, its interval, and what else is known of it."""
    lines = [percent(figure(entry, key)), span(ends(entry, key))]
    chance = figure(entry, f'{key} by chance')
    if chance is not None:
        lines.append(f'by chance {percent(chance)}')
    if greedy and key == AVERAGE and (once := figure(entry, GREEDY)) is not None:
        lines.append(f'greedy {percent(once)}')
    if true := entry['true'].get('', {}).get(key):
        lines.append(f'true {percent(true[0])} {span(true[1:3])}')
    return [lines[0], *filter(None, lines[1:])]


def _rank(rank: Sequence[int] | None) -> str:
    return '–' if rank is None else '–'.join(map(str, dict.fromkeys(rank)))


def _headline(benchmark: Benchmark) -> list[Mapping[str, Any]]:
    """Return the problems that the headline figures average over."""
    problems = benchmark['problems']
    return [one for one in problems if one['version'] != ORIGINAL] or problems


def _solved(benchmark: Benchmark, place: int) -> tuple[int, int, int]:
    """Return how many problems an entry never, sometimes and always solved, of those judged."""
    found = [(one['c'][place], one['n'][place]) for one in _headline(benchmark) if one['n'][place]]
    never, always = sum(not c for c, _ in found), sum(c == n for c, n in found)
    return never, len(found) - never - always, always


def _groups(benchmark: Benchmark, k: int | None) -> dict[str, Any] | None:
    """Return the table of groups × models in the primary figure."""
    entries = benchmark['entries']
    key = G_PASS(k=k, tau=1.0).key if k else ''
    if not any(figure(entry, key) is not None for entry in entries):
        key = AVERAGE if any(figure(e, AVERAGE) is not None for e in entries) else GREEDY
    sizes = {group['label']: group for group in benchmark['groups']}
    kinds = []
    for kind in benchmark['breakdowns']:
        rows = [
            (
                sizes[label]['name'],
                sizes[label]['problems'],
                [
                    (
                        percent(figure(entry, key, label)),
                        span(ends(entry, key, label)),
                        [place, label] in kind['weakest'],
                    )
                    for place, entry in enumerate(entries)
                ],
            )
            for label in kind['groups']
        ]
        kinds.append((kind['name'], rows))
    return {'key': key, 'kinds': kinds} if kinds else None


def _map(benchmark: Benchmark) -> dict[str, Any]:
    """Return the rows of the map, the most unstable first: a problem, or a question in versions."""
    rows: dict[str, list[int]] = {}
    for place, one in enumerate(benchmark['problems']):
        rows.setdefault(f'cluster {one["cluster"]}' if one['cluster'] else f'{place}', []).append(
            place
        )
    shown = [
        {
            'name': _named(problems[0], len(problems) > 1),
            'first': places[0],
            'words': problems[0]['words'],
            'tags': list(dict.fromkeys(tag for one in problems for tag in one['tags'])),
            'groups': ' · '.join(
                f'{name} {value}' for name, value in problems[0]['groups'].items()
            ),
            'unstable': sum(_spread(one) for one in problems) / len(problems),
            'cells': [
                [_map_cell(place, benchmark['problems'][place], entry) for place in places]
                for entry in range(len(benchmark['entries']))
            ],
        }
        for places in rows.values()
        for problems in [[benchmark['problems'][place] for place in places]]
    ]
    shown.sort(key=lambda row: -row['unstable'])
    n = {n for one in benchmark['problems'] for n in one['n'] if n}
    return {
        'rows': shown,
        'n': n.pop() if len(n) == 1 else None,
        'versions': any(len(places) > 1 for places in rows.values()),
        'tags': list(dict.fromkeys(tag for row in shown for tag in row['tags'])),
    }


def _named(problem: Mapping[str, Any], in_versions: bool) -> str:
    version = '' if in_versions or not problem['version'] else f' (version {problem["version"]})'
    return f'{problem["cluster"] if in_versions else problem["id"]}{version}'


def _spread(problem: Mapping[str, Any]) -> float:
    shares = [c / n for c, n in zip(problem['c'], problem['n'], strict=True) if n]
    return sum(share * (1 - share) for share in shares) / max(1, len(shares))


def _map_cell(place: int, problem: Mapping[str, Any], entry: int) -> tuple[int, str, int, str]:
    """Return index of the problem, text, colour and meaning of a cell; the colour is -1 without."""
    n, c, missing = (problem[name][entry] for name in ('n', 'c', 'missing'))
    if n is None:
        return place, '–', -1, 'not asked'
    text = f'{c}/{n}' + (f' ?{missing}' if missing else '')
    version = f'version {problem["version"]}: ' if problem['version'] else ''
    told = f'{version}{c} of {n} right' + (f', {missing} without a verdict' if missing else '')
    return place, text, tone(c, n) if n else -1, told


def tone(c: int, n: int) -> int:
    """Return the colour of c right responses of n: 0 for none, 10 for all."""
    return 0 if not c else 10 if c >= n else min(9, max(1, round(10 * c / n)))


def _pairs(benchmark: Benchmark, k: int | None) -> list[dict[str, Any]]:
    """Return every two models: what the test says, their figures, and where they differ most."""
    pairs, entries = benchmark['pairs'], benchmark['entries']
    apart = {(a, b): why for a, b, why in pairs['incomparable']}
    shown = [(at, name) for at, name in enumerate(pairs['metrics']) if _of_panel(name, k)]
    return [
        {
            'names': (entries[a]['label'], entries[b]['label']),
            'places': (a, b),
            'claim': sentence,
            'incomparable': apart.get((a, b), ''),
            'rows': [
                (name, values[at], p if name == pairs['figure'] else None) for at, name in shown
            ],
            'problems': _most_apart(benchmark, a, b),
        }
        for a, b, values, p, _, sentence in pairs['rows']
    ]


def _of_panel(name: str, k: int | None) -> bool:
    """Tell whether a figure is one at k, or has no k; G-Pass@k at τ = 0 is pass@k."""
    if name == GREEDY:
        return True
    one = parse_figure(name)
    return one.side is Side.PLAIN and one.k in (None, k) and (one.tau != 0 or not one.k)


def _most_apart(benchmark: Benchmark, a: int, b: int) -> list[tuple[int, str, list[Any]]]:
    problems = enumerate(benchmark['problems'])
    both = [(place, one) for place, one in problems if one['n'][a] and one['n'][b]]
    gaps = [
        (one['c'][b] / one['n'][b] - one['c'][a] / one['n'][a], place, one) for place, one in both
    ]
    gaps.sort(key=lambda gap: -abs(gap[0]))
    return [
        (place, _named(one, False), [_map_cell(place, one, entry) for entry in (a, b)])
        for gap, place, one in gaps[:APART_SHOWN]
        if gap
    ]


def markup(text: str) -> Markup:
    """Mark up a figure's name: what stands below the line."""
    name, _, tau = text.partition('_')
    return Markup('{}<sub>{}</sub>').format(name, tau) if tau else Markup('{}').format(name)
