"""What makes a result's figures not comparable with others: shown at each figure of it."""

from __future__ import annotations

from collections.abc import Sequence

from opencompass_gpassk.report.notes import incomparable
from opencompass_gpassk.report.page.sources import Found

__all__ = ['Mark', 'marks_of']

Mark = tuple[str, str]


def marks_of(found: Found, others: Sequence[Found]) -> list[Mark]:
    """Return (word, explanation) of everything that makes a result less comparable.

    Args:
        found: The result.
        others: Those of the same benchmark, this one among them.
    """
    result = found.result
    counts = result.get('counts') or {}
    marks = [('own data', note) for note in incomparable(result)]
    if found.state:
        marks.append(('partial run', f'the task did not finish: {found.state}'))
    coverage = result.get('coverage')
    if isinstance(coverage, (int, float)) and coverage < 100:
        marks.append(
            (
                f'coverage {_floor(coverage)} %',
                'some responses have no verdict; they count neither as right nor as wrong',
            )
        )
    if lost := counts.get('lost'):
        marks.append(('lost responses', f'{lost} of {counts.get("trials")} responses are lost'))
    most = max((_problems(other) for other in others), default=0)
    if _problems(found) < most:
        marks.append(
            ('fewer problems', f'{_problems(found)} problems; another result here has {most}')
        )
    return marks


def _problems(found: Found) -> int:
    return int((found.result.get('counts') or {}).get('problems') or 0)


def _floor(coverage: float) -> str:
    # 99.97 % must not read as 100.
    return f'{int(coverage * 10) / 10:.1f}'
