"""What a comparison of two models found, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from opencompass_gpassk.compare.differences import Check, Difference
from opencompass_gpassk.compare.problems import Change
from opencompass_gpassk.jsonlines import without_nan
from opencompass_gpassk.report.page.sources import Found
from opencompass_gpassk.uncertainty import ESTIMAND, IntervalSettings

__all__ = ['Compared', 'comparison_document']

FORMAT = 1


@dataclass(frozen=True)
class Compared:
    """Two results of one data set, compared.

    Attributes:
        name: Of the data set.
        differences: Of the figures, B less A.
        changes: Of the problems, the greatest first.
        left_out: (problem_id, why) of the problems that are not compared.
        cautions: Why the two are not comparable.
        settings: In which settings they differ.
        level: Coverage of the intervals.
        k: Of the G-Pass@k at τ = 1 of each problem, None where there is none.
        drawn: What is counted → problems of which tests take no more than both models have, see
            :class:`~opencompass_gpassk.compare.aligned.Aligned`.
    """

    name: str
    differences: Sequence[Difference]
    changes: Sequence[Change]
    left_out: Sequence[tuple[str, str]]
    cautions: Sequence[str]
    settings: Sequence[str]
    level: float
    k: int | None = None
    drawn: Mapping[str, int] = field(default_factory=dict)

    def of_change(self, sign: int, *, significant: bool = False) -> list[Change]:
        """Return the problems that B solves more often (1), less often (-1) or alike (0).

        Args:
            sign: Which.
            significant: Those alone of which the corrected p-value tells so, too.
        """
        points = ((change, change.points) for change in self.changes if all(change.n))
        found = [change for change, p in points if (p > 0) - (p < 0) == sign]
        if not significant:
            return found
        return [change for change in found if change.adjusted < 1 - self.level - 1e-12]


def comparison_document(
    sides: tuple[Found, Found],
    compared: Sequence[Compared],
    checks: Sequence[Check],
    unpaired: Sequence[Found],
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
                'p_value': check.p_value,
                'worse': check.worse,
                'unknowable': check.unknowable or None,
            }
            for check in checks
        ],
    }
    whole: dict[str, Any] = without_nan(document)
    return whole


def _about(found: Found) -> dict[str, str]:
    return {'model': found.model, 'path': str(found.run or found.path), 'time': found.time}


def _data_set(compared: Compared) -> dict[str, Any]:
    return {
        'data_set': compared.name,
        'not_comparable': list(compared.cautions),
        'settings': list(compared.settings),
        'drawn_down': dict(compared.drawn),
        'problems': len(compared.changes),
        'gained': len(compared.of_change(1)),
        'lost': len(compared.of_change(-1)),
        'gained_significantly': len(compared.of_change(1, significant=True)),
        'lost_significantly': len(compared.of_change(-1, significant=True)),
        'unchanged': len(compared.of_change(0)),
        'left_out': [{'problem_id': name, 'why': why} for name, why in compared.left_out],
        'differences': [{'key': one.key, **asdict(one)} for one in compared.differences],
        'changes': [
            {
                'problem_id': change.problem.problem_id,
                'n': list(change.n),
                'c': list(change.c),
                'points': change.points,
                **({} if compared.k is None else {f'G-Pass@{compared.k}_1.0': change.strictest}),
                'p_value': change.p_value,
                'adjusted': change.adjusted,
            }
            for change in compared.changes
        ],
    }
