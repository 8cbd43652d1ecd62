"""Tables of a comparison of two models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from opencompass_gpassk.compare.claims import margin_claim, p_text, pair_claims, signed
from opencompass_gpassk.compare.comparability import Look
from opencompass_gpassk.compare.differences import FEWEST, GROUPS, PRIMARY, Check, Difference
from opencompass_gpassk.compare.problem_changes import Change
from opencompass_gpassk.formats.display import counted, short_line
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.metrics.gpassk import threshold
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.metric import G_PASS, PASS
from opencompass_gpassk.results.metric_intervals import ESTIMAND, IntervalSettings
from opencompass_gpassk.results.read import ModelResult

FORMAT = 1
SHOWN = 10  # problems gained, and problems lost, at most


@dataclass(frozen=True)
class Compared:
    """The comparison of two results on one data set.

    Attributes:
        name: The data set's name.
        differences: Differences of the metrics, B minus A.
        changes: Changes of the problems, the greatest first.
        left_out: (problem_id, reason) of the problems that are not compared.
        incomparable: Why the metrics measure different things; then no claim is made.
        cautions: What is wrong with each result by itself.
        settings: The settings in which they differ.
        level: Confidence level of the intervals.
        k: The k of G-Pass@k at τ = 1 of each problem; None without G-Pass@k.
        look: The planned look that it is, whose level the claims have.
        tipping: What would overturn the claim on the primary metric, '' if no verdict is missing.
        margin: So many points may B be less stable; None if nobody asked.
        title: What people call the data set.
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
    look: Look | None = None
    tipping: str = ''
    margin: float | None = None
    title: str = ''

    @property
    def primary(self) -> Difference | None:
        """The difference of the primary metric; None if the results can't be compared."""
        tested = (one for one in self.differences if one.family == PRIMARY and not one.group)
        return next(tested, None)

    @property
    def as_stable(self) -> bool | None:
        """Whether B is at most :attr:`margin` points less stable; None if it isn't known."""
        return self.primary.within(self.margin or 0.0) if self.primary else None

    @property
    def stability(self) -> str:
        """The sentence on whether B is as stable; '' if nobody asked, or nothing is comparable."""
        if self.primary is None or self.margin is None:
            return ''
        return margin_claim(self.primary, self.margin, self.level)

    @property
    def claims(self) -> list[str]:
        """Sentences on both models."""
        found = pair_claims(self.differences, self.level, tipping=self.tipping)
        return [*found[:1], *filter(None, [self.stability]), *found[1:]]

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
        'intervals': {**asdict(settings), 'of': ESTIMAND},
        'data_sets': [_data_set(one) for one in compared],
        'not_compared': [f'{one.model}/{one.dataset}' for one in unpaired],
        'checks': [
            {
                'data_set': check.data_set,
                'key': check.difference.key,
                'difference': check.difference.difference,
                'p_value': check.difference.p_value,
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
        'claims': compared.claims,
        'margin': compared.margin,
        'as_stable': None if compared.margin is None else compared.as_stable,
        'not_comparable': list(compared.incomparable),
        'cautions': list(compared.cautions),
        'settings': list(compared.settings),
        'look': compared.look and compared.look._asdict(),
        'problems': len(compared.changes),
        'gained': len(compared.of_change(1)),
        'lost': len(compared.of_change(-1)),
        'gained_significantly': len(compared.of_change(1, significant=True)),
        'lost_significantly': len(compared.of_change(-1, significant=True)),
        'unchanged': len(compared.of_change(0)),
        'left_out': [{'problem_id': name, 'why': why} for name, why in compared.left_out],
        'differences': [
            {
                'key': one.key,
                'name': one.name,
                **{k: v for k, v in vars(one).items() if k not in ('totals', 'labels', 'drawn')},
                'metric': one.metric.heading,
                'claim': one.claim(compared.level),
            }
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
NOT_WORSE = 'not significantly worse'
NAMED = 5  # problems named for each reason why they are left out
FISHER = (
    "A, B: right/judged responses; p: Fisher's exact test of each problem; p (Holm): corrected for "
    'their number'
)


def comparison_tables(compared: Compared, *, groups: bool) -> list[Table]:
    """Return the headline, the groups if requested, and the problems that changed most.

    Args:
        compared: The comparison.
        groups: Whether to show the groups.
    """
    title = f'{compared.title}: B minus A on {counted(len(compared.changes), "problem")}'
    questions = max((one.measured for one in compared.differences if not one.group), default=0)
    if questions < len(compared.changes):
        title += f' ({counted(questions, "question")})'
    if compared.incomparable:
        title += '. NOT COMPARABLE: see the notes'
    headline = [one for one in compared.differences if not one.group]
    cautions = [
        *(['NOT COMPARABLE: ' + '; '.join(compared.incomparable)] if compared.incomparable else []),
        *compared.cautions,
        *compared.settings,
        *_left_out(compared),
    ]
    notes = ['; '.join(cautions)] if cautions else []
    notes.append(_turned(compared))
    claims = [] if compared.incomparable else compared.claims
    shown = _differences(title, headline, compared.level)
    tables = [replace(shown, legend=_legend(compared), notes=notes, claims=claims)]
    of_groups = [one for one in compared.differences if one.family == GROUPS]
    if groups and of_groups:
        tables.append(_differences(f'{title}, by group', of_groups, compared.level))
    changed = [_changes(word, compared, sign) for word, sign in (('lost', -1), ('gained', 1))]
    return [*tables, *(table for table in changed if table.rows)]


def check_lines(checks: Sequence[Check]) -> list[str]:
    """Return a line with the outcome of each check."""
    return [
        f'{check.difference.heading} on {check.data_set}: '
        f'{_verdict(check)}, '
        f'{check.difference.difference:+.2f} points, p {p_text(check.difference.p_value)}'
        for check in checks
    ]


def _verdict(check: Check) -> str:
    if check.worse:
        return 'WORSE'
    return 'UNKNOWN whether it is worse' if check.unknowable else check.claim or NOT_WORSE


def _legend(compared: Compared) -> list[str]:
    look = compared.look
    told = f'a claim needs {FEWEST} clusters that differ, and p of at most {1 - compared.level:.3g}'
    if look:
        plan = ', '.join(map(str, look.plan))
        told += f', the level of the look at n = {look.n} of {plan}'
    return [
        f'{_percent(compared.level)}: intervals for a population of such problems; p: paired '
        'sign-flip test, corrected in its family',
        f'{told} (docs/claims.md)',
    ]


def _percent(level: float) -> str:
    return f'{100 * level:.4g} %'


def _differences(title: str, differences: Sequence[Difference], level: float) -> Table:
    shown = [one for one in differences if not _hidden(one, differences)]
    columns = ['metric', 'A', 'B', 'B - A', _percent(level), 'p', 'family', '']
    rows: list[list[Cell]] = [
        [
            f'{_line(one.group, LONGEST_NAME)}/{one.metric.heading}'
            if one.group
            else one.metric.heading,
            one.first,
            one.second,
            signed(one.difference),
            _interval(one),
            p_text(one.p_value),
            one.family,
            one.claim(level),
        ]
        for one in shown
    ]
    if len({one.units for one in shown}) > 1:
        columns.insert(1, 'over')  # problems, or groups of versions, with the metric in both models
        for row, one in zip(rows, shown, strict=True):
            row.insert(1, one.units)
    return Table(title, columns, rows)


def _interval(one: Difference) -> str:
    if math.isnan(one.difference):
        return '–'
    return 'too few' if math.isnan(one.low) else f'{signed(one.low)} … {signed(one.high)}'


def _hidden(one: Difference, others: Sequence[Difference]) -> bool:
    """Tell whether a G-Pass@k equals the pass@k that is shown: it needs one right sample of k."""
    metric = one.metric
    if metric.family is not G_PASS or threshold(metric.k or 1, metric.tau or 0.0) > 1:
        return False
    same = one.group, PASS(k=metric.k).on(metric.side).key
    return any((other.group, other.name) == same for other in others)


def _changes(word: str, compared: Compared, sign: int) -> Table:
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
        for change in changes[:SHOWN]
    ]
    shown = f', the {len(rows)} that changed most' if len(rows) < len(changes) else ''
    title = f'{compared.title}: {counted(len(changes), "problem")} {word}{shown}'
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
    return short_line(text, most)
