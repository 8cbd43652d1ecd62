"""Check whether two results are comparable, and list the settings in which they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from opencompass_gpassk.formats.display import counted, share_text, short_line
from opencompass_gpassk.inference.sampling import UNUSED
from opencompass_gpassk.metrics.independence import (
    COPY_SHARE,
    FEWEST,
    copied,
    long_texts_shared,
)
from opencompass_gpassk.results.protocol import NOBODY
from opencompass_gpassk.results.read import ModelResult
from opencompass_gpassk.results.result import Result
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


def copied_samples(
    results: Mapping[str, Result], tables: Mapping[str, TrialTable]
) -> dict[frozenset[str], str]:
    """Return which models' samples are no independent draws of theirs, so that they tell nothing.

    Args:
        results: Model → its result, which says so of the model's own samples.
        tables: Model → its trials.

    Returns:
        One or two models → why; of two, the responses of one are copies of the other's.
    """
    found = {frozenset([model]): one.copies for model, one in results.items() if one.copies}
    whole = {
        model: {(one.problem_id, one.replica): one.text_hash for one in of.trials if one.text_hash}
        for model, of in tables.items()
    }
    long = {model: {one.text_hash for one in of.trials if one.long} for model, of in tables.items()}
    for a, b in combinations(tables, 2):
        if share := copied(whole[a], whole[b]):
            why = f'{share_text(100 * share)} % of the responses of {a} and {b} are equal word for'
            why += ' word, sample by sample: this looks like one model with the same seeds'
        elif (shared := long_texts_shared(long[a], long[b])) >= max(
            FEWEST, COPY_SHARE * min(len(long[a]), len(long[b]))
        ):
            why = f'{shared} long responses of {a} stand word for word in {b}, too'
        else:
            continue
        found[frozenset([a, b])] = f'{why}; check path, server and sampling of both'
    return found


def cautions(a: ModelResult, b: ModelResult, partial: Mapping[Path, str]) -> list[str]:
    """Return what is wrong with each result by itself.

    Args:
        a: A result.
        b: That which it is compared with.
        partial: The states of tasks that are not finished, by the path of the result.
    """
    found = []
    for side, one in (('A', a), ('B', b)):
        if state := partial.get(one.path):
            found.append(f'{side} is not finished: {state}')
        found += [f'{side}: {told}' for told in one.result.warnings if told.startswith(UNUSED)]
        if missing := one.result.counts.without_verdict:
            lacking = counted(sum(missing.values()), 'missing verdict')
            found.append(f'{side} has {lacking}: {one.result.counts.told_without_verdict}')
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
