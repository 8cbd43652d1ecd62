"""What makes a result's figures not comparable with others: shown at each figure of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from opencompass_gpassk.report.benchmarks import Result
from opencompass_gpassk.report.notes import incomparable
from opencompass_gpassk.report.page.sources import Found
from opencompass_gpassk.results import NOBODY

__all__ = ['Mark', 'marks_of', 'set_apart']

Mark = tuple[str, str]
COMPARED = ('data', 'judge', 'prompt')


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
    return marks + _others(result, [other.result for other in others])


def _others(result: Result, results: Sequence[Result]) -> list[Mark]:
    """Return in what a result is other than most of its benchmark."""
    marks = []
    for key in COMPARED:
        counts = Counter(value for one in results if (value := _signed(one, key)) is not None)
        value = _signed(result, key)
        if value is None or len(counts) < 2 or value == (usual := counts.most_common(1)[0][0]):
            continue
        marks.append((f'other {key}', f'{key} {value}; other results here have {usual}'))
    return marks


def _signed(result: Result, key: str) -> str | None:
    value = result['signature'].get(key)
    return None if value in (None, 'unknown', NOBODY) else str(value)


def set_apart(marks: Sequence[Sequence[Sequence[str]]]) -> set[int]:
    """Return the indices of entries whose figures can't be compared with the others' here.

    What all of them share sets none of them apart: figures on data of one's own can be compared
    with one another.

    Args:
        marks: Of each entry.
    """
    # Two coverages are the same reason.
    words = [{word.rstrip(' %.0123456789') for word, _ in one} for one in marks]
    shared = set.intersection(*words) if words else set()
    return {index for index, one in enumerate(words) if one - shared}


def _problems(found: Found) -> int:
    return int((found.result.get('counts') or {}).get('problems') or 0)


def _floor(coverage: float) -> str:
    # 99.97 % must not read as 100.
    return f'{int(coverage * 10) / 10:.1f}'
