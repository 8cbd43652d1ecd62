"""Check whether two results are comparable, and list the settings in which they differ."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from opencompass_gpassk.formats.display import share_text, short_line
from opencompass_gpassk.inference.sampling import UNUSED
from opencompass_gpassk.metrics.independence import copied
from opencompass_gpassk.results.protocol import NOBODY
from opencompass_gpassk.results.read import ModelResult
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.results.warnings import COPIES
from opencompass_gpassk.trials import TrialTable

SERIOUS = {
    'data': 'versions of the data',
    'judge': 'judges',
    'prompt': 'prompts',
    'reasoning': 'scorers of reasoning',
    'complete': 'thresholds of complete understanding',
    'collapsed': 'thresholds of collapsed understanding',
}
LONGEST = 120
UNKNOWN = 'unknown'
HASH = re.compile(r':([0-9a-f]{8,})$')
SETTINGS = {'sampling': 'sampling', 'package': 'version of this package'}


def incomparable(
    a: ModelResult, b: ModelResult, tables: tuple[TrialTable, TrialTable]
) -> list[str]:
    """Return why the metrics of two results can't be compared; [] if they can.

    They measure different things, or one result contradicts its own trials.
    """
    return different_measures(a.result, b.result) + [
        f'the result of {side} is contradictory: {contradiction}'
        for side, one, table in zip('AB', (a, b), tables, strict=True)
        if (contradiction := one.contradiction(table))
    ]


def different_measures(a: Result, b: Result) -> list[str]:
    """Return in what two results differ, so that their metrics measure different things."""
    return [
        f'different {SERIOUS[name]}: {of_a} and {of_b}'
        for name, (of_a, of_b) in _differing(a, b, SERIOUS).items()
    ]


def setting(result: Result, name: str) -> str:
    """Return a setting of a result's signature as text, :data:`UNKNOWN` if it is not told."""
    value = getattr(result.signature, name)
    if value in (None, '', NOBODY):  # a result without verdicts has no other judge
        return UNKNOWN
    if isinstance(value, dict):
        return ', '.join(f'{key}={value[key]}' for key in sorted(value, key=str))
    return str(value)


def set_apart(results: Sequence[Result]) -> list[dict[str, str]]:
    """Return the settings in which each result differs from most of the results.

    Results that differ in none can be compared with one another.

    Returns:
        For each result, setting → what it is, and what it is in most.
    """
    found: list[dict[str, str]] = [{} for _ in results]
    for name in SERIOUS:
        values = [setting(result, name) for result in results]
        usual = Counter(value for value in values if value != UNKNOWN).most_common(1)
        for apart, value in zip(found, values, strict=True):
            if value not in (UNKNOWN, *(most for most, _ in usual)):
                told = short_line(value, LONGEST), short_line(usual[0][0], LONGEST)
                apart[name] = f'{name} {told[0]}; other results here have {told[1]}'
    return found


def copies(tables: Mapping[str, TrialTable]) -> list[str]:
    """Return which models' responses are copies of each other's.

    Args:
        tables: Model → its trials.
    """
    texts = {
        model: {
            (one.problem_id, one.replica): one.text_hash for one in table.trials if one.text_hash
        }
        for model, table in tables.items()
    }
    return [
        f'{COPIES}{share_text(100 * share)} % of the responses of {a} and {b} are equal word for '
        'word, sample by sample: this looks like one model asked in one way with the same seeds, '
        'so a comparison says nothing; check path, server and sampling of both'
        for a, b in combinations(texts, 2)
        if (share := copied(texts[a], texts[b]))
    ]


class Look(NamedTuple):
    """A comparison that is one of several planned ones of the same models, with growing n.

    Attributes:
        n: Samples of each problem.
        plan: All planned n, ascending.
        level: The level of this look's tests, see
            :func:`~opencompass_gpassk.metrics.look_levels.look_levels`.
    """

    n: int
    plan: tuple[int, ...]
    level: float


def planned_look(a: ModelResult, b: ModelResult, levels: Mapping[int, float]) -> Look:
    """Return which of the planned looks a comparison is.

    It is that of the side with fewer samples.

    Args:
        a: The first result.
        b: The second result.
        levels: Planned n → level.

    Raises:
        ValueError: If this n, or an earlier one of either result, isn't planned.
    """
    n = min(a.result.n, b.result.n)
    before = sorted({look for one in (a, b) for look in one.result.looks if look < n})
    if not {*before, n} <= levels.keys():
        earlier = f', and was made with n = {_listed(before)} before' if before else ''
        raise ValueError(
            f'the comparison has n = {n}{earlier}, but --looks plans n = {_listed(levels)}; give '
            'the plan that was made before the first look, choose other data sets with --dataset, '
            'or leave --looks out'
        )
    return Look(n, tuple(levels), levels[n])


def _listed(numbers: Iterable[int]) -> str:
    return short_line(', '.join(map(str, numbers)), LONGEST)


def cautions(
    a: ModelResult, b: ModelResult, partial: Mapping[Path, str], look: Look | None = None
) -> list[str]:
    """Return what is wrong with each result by itself, and with a look that was not planned.

    Args:
        a: A result.
        b: That which it is compared with.
        partial: The states of tasks that are not finished, by the path of the result.
        look: The look that was planned.
    """
    found = []
    for side, one in (('A', a), ('B', b)):
        if state := partial.get(one.path):
            found.append(f'{side} is not finished: {state}')
        found += [f'{side}: {told}' for told in one.result.warnings if told.startswith(UNUSED)]
        if undecided := one.result.counts.undecided:
            found.append(f'{side} counts {undecided} responses as wrong that no rule could decide')
        coverage = one.result.shares.get('coverage', math.nan)
        if coverage < 100:
            # 99.97 % must not read as 100.
            found.append(f'{side} has verdicts on {share_text(coverage)} % of its responses')
        looks = one.result.looks
        if look is None:
            if looks:
                found.append(
                    f'{side} has n = {one.result.n} and was looked at with n = {_listed(looks)} '
                    'before: p-values are nominal, they do not allow for the earlier look; give '
                    '--looks if both looks were planned'
                )
        elif late := [n for n in looks if n >= look.n]:
            found.append(
                f'{side} was looked at with n = {_listed(late)}: if it was compared with the other '
                f'side at n = {look.n} then, this look is a second one, and p-values are nominal'
            )
    return found


def sides_differ(first: ModelResult, second: ModelResult) -> list[str]:
    """Return the settings in which the results differ, perhaps on purpose."""
    return [
        f'{SETTINGS[name]}: A {a}, B {b}'
        for name, (a, b) in _differing(first.result, second.result, SETTINGS).items()
    ]


def _differing(
    first: Result, second: Result, names: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    found = {}
    for name in names:
        a, b = setting(first, name), setting(second, name)
        if name == 'data' and _same_data(first, second, a, b):
            continue
        if a != b and UNKNOWN not in (a, b):
            found[name] = (short_line(a, LONGEST), short_line(b, LONGEST))
    return found


def _same_data(first: Result, second: Result, a: str, b: str) -> bool:
    """Tell whether two benchmarks with different names have the same hash of data."""
    hashes = HASH.search(a), HASH.search(b)
    named = first.benchmark != second.benchmark
    return named and all(hashes) and len({one[1] for one in hashes if one}) == 1
