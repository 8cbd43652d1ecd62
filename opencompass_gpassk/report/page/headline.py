"""The head of a data set on the page: one sentence, what supports it, and what to check first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from opencompass_gpassk.compare.claims import MOVED, length_caution, signed, standing
from opencompass_gpassk.compare.comparison import Difference, differences, every_metric
from opencompass_gpassk.formats.display import counted
from opencompass_gpassk.report.board import AVERAGE
from opencompass_gpassk.report.page.columns import known
from opencompass_gpassk.report.page.data import DataSet
from opencompass_gpassk.report.page.drawings import percent, whole
from opencompass_gpassk.results.metric import ACCURACY, Side


class Check(NamedTuple):
    """What could overturn the sentence.

    Attributes:
        text: What happened, and what it does to the number.
        rows: The filter of the problems that are meant; '' for the notes.
        command: What repairs it, '' if no command does.
    """

    text: str
    rows: str = ''
    command: str = ''


class Headline(NamedTuple):
    """The sentence, '' if nothing can be said; the lines below it; what could overturn it."""

    sentence: str
    lines: list[str]
    checks: list[Check]


def headline(one: DataSet) -> Headline:
    """Return what stands first on the page."""
    order, tests = standing(one.entries, one.ranked)
    first = [order[0], next(iter(tests))] if tests else []  # the two that the sentence is about
    test = tests[first[1]] if tests else None
    sentence, *lines = one.claims or ['']
    if test and lines:
        lines = _of_two(one, first, test, lines)
    elif lines and len(one.entries) == 1 and one.ks:
        some = sum(of.kind == 'sometimes' for of in one.tried(0))
        mean = whole(known(one.entries[0], AVERAGE))
        told = (
            f'{mean} % of its samples are right; solved only sometimes: {counted(some, "problem")}'
        )
        lines.insert(0, told)
    found = [*_missing(one, first, test), *_copies(one), *_cut_off(one, first, test)]
    return Headline(sentence, lines, [*found, *_suspects(one, test)] if sentence else [])


def _of_two(one: DataSet, places: list[int], test: Difference, lines: list[str]) -> list[str]:
    """Return the lines on two models, with those on accuracy and on the length of responses."""
    best, next_best = (one.entries[place] for place in places)
    support, *others = lines
    shared, rows = one.ranked.shared, [*one.ranked.rows]
    pair = rows.index(places[1]), rows.index(places[0])
    asked = [
        of
        for of in (every_metric(shared, pair) if shared else ())
        if of.metric.family is ACCURACY and of.metric.side is Side.PLAIN
    ]
    for of in differences(asked[:1], tested=False) if test.metric.family is not ACCURACY else ():
        shares = f'{whole(of.second)} and {whole(of.first)} %'
        support += f'. Mean accuracy of {best.label} and {next_best.label}: {shares}, '
        ends = f'{signed(of.headline.low)} to {signed(of.headline.high)}'
        clear = f'{signed(of.difference)} points (95 % interval {ends})'
        support += clear if of.headline.sign else 'no significant difference'
    names = next_best.label, best.label
    longer = length_caution(next_best.result, best.result, test, names) if test.claim else ''
    return [support, *others, *filter(None, [longer])]


def _missing(one: DataSet, first: list[int], test: Difference | None) -> Iterable[Check]:
    """Yield the missing verdicts that could change who leads, or a single number."""
    told = []
    for place in [0] if len(one.entries) == 1 else first if test and test.fragile else []:
        entry = one.entries[place]
        value, bounds = known(entry, one.large), entry.result.bounds_of(one.large)
        responses = entry.result.counts.trials
        missing = sum(entry.result.counts.without_verdict.values())
        if value is None or not bounds or not missing:
            continue
        if test or max(value - bounds[0], bounds[1] - value) >= MOVED:
            low, high = map(whole, bounds)
            of = f'{missing} of the {responses:,} responses of {entry.label}'
            told.append(f'{of}, so its {whole(value)} % could be {low} to {high} %')
    if told:
        of_run = one.sources[first[0] if first else 0][0].run
        command = 'rescore RUN' if of_run else 'score …'
        decide = f'gpassk {command} --judge cascade'
        yield Check(f'No verdict for {"; for ".join(told)}', 'missing', decide)


def _copies(one: DataSet) -> Iterable[Check]:
    yield from (Check(f'{e.label}: {e.result.copies}') for e in one.entries if e.result.copies)


def _cut_off(one: DataSet, first: list[int], test: Difference | None) -> Iterable[Check]:
    """Yield a model whose cut-off responses could make up for the difference."""
    for place in [0] if len(one.entries) == 1 else first[1:]:
        entry = one.entries[place]
        cut, responses = entry.result.counts.truncated, entry.result.counts.trials
        gained = 100 * one.cut_short(place) / max(entry.result.counts.problems, 1)
        if gained >= (abs(test.difference) if test else MOVED):
            yield Check(
                f'{cut} of the {responses:,} responses of {entry.label} were cut off and count as '
                f'wrong, which costs it up to {percent(gained)} points'
            )


def _suspects(one: DataSet, test: Difference | None) -> Iterable[Check]:
    number = sum(problem.suspect is not None for problem in one.problems)
    points = 100 * number / max(len(one.problems), 1)
    room = min(map(abs, test.headline[:2])) if test and test.claim else MOVED
    if number and points >= room:
        told = f'{counted(number, "gold answer")} may be wrong, which moves numbers by up to'
        yield Check(f'{told} {percent(points)} points', 'suspect')
