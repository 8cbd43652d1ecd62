"""Tables of a comparison of two models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from opencompass_gpassk.compare.claims import claim, p_text, pair_claims, signed
from opencompass_gpassk.compare.comparability import Look
from opencompass_gpassk.compare.differences import Check, Difference
from opencompass_gpassk.compare.problem_changes import Change
from opencompass_gpassk.compare.shared_problems import DRAWS
from opencompass_gpassk.formats.display import counted, one_line, shortened
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.metrics.gpassk import threshold
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.figure_intervals import ESTIMAND, IntervalSettings
from opencompass_gpassk.results.figures import G_PASS, PASS, Figure
from opencompass_gpassk.results.read import ModelResult

FORMAT = 1


@dataclass(frozen=True)
class Compared:
    """The comparison of two results on one data set.

    Attributes:
        name: The data set's name.
        differences: Differences of the figures, B minus A.
        changes: Changes of the problems, the greatest first.
        left_out: (problem_id, reason) of the problems that are not compared.
        incomparable: Why the figures measure different things; then no claim is made.
        cautions: What is wrong with each result by itself.
        settings: The settings in which they differ.
        level: Confidence level of the intervals.
        k: The k of G-Pass@k at τ = 1 of each problem; None without G-Pass@k.
        drawn: Kind of responses → problems of which tests use only as many as both models have, see
            :class:`~opencompass_gpassk.compare.shared_problems.Aligned`.
        look: The planned look that it is; p-values are corrected for it.
    """

    name: str
    differences: Sequence[Difference]
    changes: Sequence[Change]
    left_out: Sequence[tuple[str, str]]
    incomparable: Sequence[str]
    cautions: Sequence[str]
    settings: Sequence[str]
    level: float
    k: int | None = None
    drawn: Mapping[str, int] = field(default_factory=dict)
    look: Look | None = None

    def of_change(self, sign: int, *, significant: bool = False) -> list[Change]:
        """Return the problems that B solves more often (1), less often (-1) or alike (0).

        Args:
            sign: The direction of the change.
            significant: Return only changes whose corrected p-value is significant.
        """
        points = ((change, change.points) for change in self.changes if all(change.n))
        found = [change for change, p in points if (p > 0) - (p < 0) == sign]
        if not significant:
            return found
        return [change for change in found if change.adjusted < 1 - self.level - 1e-12]


def comparison_document(
    sides: tuple[ModelResult, ModelResult],
    compared: Sequence[Compared],
    checks: Sequence[Check],
    unpaired: Sequence[ModelResult],
    settings: IntervalSettings,
) -> dict[str, Any]:
    """Return a comparison for JSON: percentages and points, null where undefined."""
    document = {
        'format': FORMAT,
        'a': _about(sides[0]),
        'b': _about(sides[1]),
        'intervals': {**asdict(settings), 'method': 'gain-loss', 'of': ESTIMAND},
        'data_sets': [_data_set(one) for one in compared],
        'not_compared': [f'{one.model}/{one.dataset}' for one in unpaired],
        'checks': [
            {
                'data_set': check.data_set,
                'key': check.difference.key,
                'difference': check.difference.difference,
                'p_value': check.p_value,
                'worse': check.worse,
                'unknowable': check.unknowable or None,
            }
            for check in checks
        ],
    }
    whole: dict[str, Any] = without_nan(document)
    return whole


def _about(found: ModelResult) -> dict[str, str]:
    return {'model': found.model, 'path': str(found.run or found.path), 'time': found.time}


def _data_set(compared: Compared) -> dict[str, Any]:
    return {
        'data_set': compared.name,
        'claims': pair_claims(compared.differences, compared.level),
        'not_comparable': list(compared.incomparable),
        'cautions': list(compared.cautions),
        'settings': list(compared.settings),
        'drawn_down': dict(compared.drawn),
        'look': compared.look and compared.look._asdict(),
        'problems': len(compared.changes),
        'gained': len(compared.of_change(1)),
        'lost': len(compared.of_change(-1)),
        'gained_significantly': len(compared.of_change(1, significant=True)),
        'lost_significantly': len(compared.of_change(-1, significant=True)),
        'unchanged': len(compared.of_change(0)),
        'left_out': [{'problem_id': name, 'why': why} for name, why in compared.left_out],
        'differences': [
            {'key': one.key, 'name': one.name, **vars(one), 'figure': one.figure.heading}
            for one in compared.differences
        ],
        'changes': [
            {
                'problem_id': change.problem.problem_id,
                'n': list(change.n),
                'c': list(change.c),
                'points': change.points,
                **(
                    {}
                    if compared.k is None
                    else {G_PASS(k=compared.k, tau=1.0).key: change.strictest}
                ),
                'p_value': change.p_value,
                'adjusted': change.adjusted,
            }
            for change in compared.changes
        ],
    }


LONGEST_QUESTION, LONGEST_NAME = 60, 40
NAMED = 5  # problems named for each reason why they are left out
WILSON = 'wilson'
FEW = (
    'n of m differ: in n of m clusters of problems the models differ, too few (or too alike) to '
    'know more; among problems like these the difference may be anything in the interval'
)
OPEN = 'open: the missing verdicts decide; a claim must hold whether they are right or wrong'
LEAST = (
    'some p-values are the least possible with so many problems and resamples; take more '
    '--resamples, or more problems'
)
FISHER = (
    "A, B: right/judged responses. p: Fisher's exact test for each problem; p (Holm) is corrected "
    'for the number of problems'
)


def comparison_tables(compared: Compared, *, groups: bool, most: int) -> list[Table]:
    """Return the headline, the groups if requested, and the problems that changed most.

    Args:
        compared: The comparison.
        groups: Whether to show the groups.
        most: Greatest number of problems to show, gained and lost each.
    """
    title = f'{compared.name}: B minus A on {counted(len(compared.changes), "problem")}'
    if compared.incomparable:
        title += '. NOT COMPARABLE: see the notes'
    headline = [one for one in compared.differences if not one.group]
    notes = [
        *(f'NOT COMPARABLE: {reason}' for reason in compared.incomparable),
        *compared.cautions,
        *compared.settings,
        *_left_out(compared),
        _turned(compared),
        _tests(compared.level),
        *_drawn(compared),
        *_looked(compared.look),
    ]
    table = _differences(title, headline, compared.level, notes)
    tables = [replace(table, claims=pair_claims(compared.differences, compared.level))]
    of_groups = [
        one for one in compared.differences if one.group and _brief(one.figure, compared.k)
    ]
    if groups and of_groups:
        note = 'p (Holm) is corrected for the number of groups, separately for each figure'
        tables.append(_differences(f'{title}, by group', of_groups, compared.level, [note]))
    changed = [_changes(word, compared, sign, most) for word, sign in (('lost', -1), ('gained', 1))]
    return [*tables, *(table for table in changed if table.rows)]


def check_lines(checks: Sequence[Check]) -> list[str]:
    """Return a line with the outcome of each check."""
    return [
        f'{check.difference.heading} on {check.data_set}: '
        f'{_verdict(check)}, '
        f'{check.difference.difference:+.2f} points, p (Holm) {p_text(check.p_value)}'
        for check in checks
    ]


def _verdict(check: Check) -> str:
    if check.worse:
        return 'WORSE'
    return 'UNKNOWN whether it is worse' if check.unknowable else 'not significantly worse'


def _tests(level: float) -> str:
    return (
        f'{_percent(level)} intervals for {ESTIMAND}, from gains and losses of clusters of '
        'problems, each for one figure alone; p: paired sign-flip test over clusters of problems, '
        'two-sided; p (Holm): corrected for the number of figures, significant below '
        f'{1 - level:.3g}'
    )


def _drawn(compared: Compared) -> list[str]:
    """Return a note on tests if the numbers of responses differ."""
    if not compared.drawn:
        return []
    told = ', '.join(f'{what} on {count}' for what, count in compared.drawn.items())
    return [
        f'A and B have different numbers of responses to some problems ({told}): there the tests '
        f'use equally many of each, and combine {DRAWS} random draws; figures and intervals use all'
    ]


def _looked(look: Look | None) -> list[str]:
    """Return a note on the correction of p-values for planned looks."""
    if not look:
        return []
    return [
        f'look at n = {look.n} of the looks planned at n = {", ".join(map(str, look.plan))}: all '
        f'p-values are multiplied by {look.factor:.3g}, since its level is {look.level:.2g} (alpha '
        "spending of O'Brien-Fleming type, Lan and DeMets 1983); intervals are not corrected"
    ]


def _percent(level: float) -> str:
    return f'{100 * level:.4g} %'


def _differences(
    title: str, differences: Sequence[Difference], level: float, notes: Sequence[str]
) -> Table:
    shown = [one for one in differences if not _hidden(one, differences)]
    columns = ['figure', 'A', 'B', 'B - A', _percent(level), 'p', 'p (Holm)', '']
    rows: list[list[Cell]] = [
        [
            f'{_line(one.group, LONGEST_NAME)}/{one.figure.heading}'
            if one.group
            else one.figure.heading,
            one.first,
            one.second,
            signed(one.difference),
            _interval(one),
            p_text(one.p_value),
            p_text(one.adjusted),
            claim(one, level),
        ]
        for one in shown
    ]
    if len({one.units for one in shown}) > 1:
        columns.insert(1, 'over')
        for row, one in zip(rows, shown, strict=True):
            row.insert(1, one.units)
        notes = [*notes, 'over: problems, or groups of versions, with the figure in both models']
    if any(one.method == WILSON for one in shown):
        notes = [*notes, FEW]
    if any(claim(one, level) == 'open' for one in shown):
        notes = [*notes, OPEN]
    if any(not one.adjusted < 1 - level and one.p_value <= one.least_p for one in shown):
        notes = [*notes, LEAST]
    return Table(title, columns, rows, notes)


def _hidden(one: Difference, others: Sequence[Difference]) -> bool:
    """Tell whether a G-Pass@k equals the pass@k that is shown: it needs one right sample of k."""
    figure = one.figure
    if figure.family is not G_PASS or threshold(figure.k or 1, figure.tau or 0.0) > 1:
        return False
    same = one.group, PASS(k=figure.k).on(figure.side).key
    return any((other.group, other.name) == same for other in others)


def _brief(figure: Figure, k: int | None) -> bool:
    """Tell whether tables of groups show a figure: any without k; at the greatest k, no τ or 1."""
    return k is None or figure.k is None or (figure.k == k and figure.tau in (None, 1.0))


def _interval(one: Difference) -> str:
    if math.isnan(one.low):
        return '–'
    few = f', {one.differing} of {one.measured} differ' if one.method == WILSON else ''
    return f'{signed(one.low)} … {signed(one.high)}{few}'


def _changes(word: str, compared: Compared, sign: int, most: int) -> Table:
    changes = compared.of_change(sign)
    columns = ['problem', 'A', 'B', 'points', 'p', 'p (Holm)', 'question']
    rows: list[list[Cell]] = [
        [
            _line(change.problem.problem_id, LONGEST_NAME),
            *(f'{c}/{n}' for c, n in zip(change.c, change.n, strict=True)),
            signed(change.points),
            p_text(change.p_value),
            p_text(change.adjusted),
            _line(change.problem.question, LONGEST_QUESTION),
        ]
        for change in changes[:most]
    ]
    shown = f', the {len(rows)} that changed most' if len(rows) < len(changes) else ''
    title = f'{compared.name}: {counted(len(changes), "problem")} {word}{shown}'
    return Table(title, columns, rows, [FISHER])


def _turned(compared: Compared) -> str:
    lost, same, gained = (len(compared.of_change(sign)) for sign in (-1, 0, 1))
    unknown = len(compared.changes) - lost - same - gained
    told = f', {unknown} without a verdict in one' if unknown else ''
    found = f'problems solved more often by B: {gained}, less often: {lost}, as often: {same}{told}'
    if compared.incomparable:
        return found
    sure = [len(compared.of_change(sign, significant=True)) for sign in (1, -1)]
    return (
        f"{found}; significantly (Fisher's test, Holm) more often: {sure[0]}, less often: {sure[1]}"
    )


def _left_out(compared: Compared) -> list[str]:
    reasons = Counter(why for _, why in compared.left_out)
    notes = []
    for reason, count in reasons.items():
        names = [_line(name, LONGEST_NAME) for name, why in compared.left_out if why == reason]
        more = ', …' if count > NAMED else ''
        told = counted(count, 'problem')
        notes.append(f'left out: {told}, {reason}: {", ".join(names[:NAMED])}{more}')
    return notes


def _line(text: str, most: int) -> str:
    # A text may have a megabyte; only its beginning is escaped.
    return shortened(one_line(text[: 4 * most]), most)
