"""Markers with which a response numbers its own steps: Step 1, 第一步, a list counted from 1."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from opencompass_gpassk.reasoneval.uncut_spans import Protected, Span

WORDS = [
    'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven',
    'twelve',
]  # fmt: skip
DIGITS = '零一二三四五六七八九'
CHINESE = rf'(?:\d{{1,3}}|[{DIGITS[1:]}十两]{{1,3}})'
NAMED = re.compile(
    rf'(?<![A-Za-z])step[^\S\n]{{0,3}}[#-]?(?P<english>\d{{1,3}}|{"|".join(WORDS)})'
    r'(?![A-Za-z0-9]|[.-]\d)'
    rf'|第[^\S\n]{{0,2}}(?P<ordinal>{CHINESE})[^\S\n]{{0,2}}(?:步骤?|个步骤)'
    rf'|步骤[^\S\n]{{0,2}}(?P<cardinal>{CHINESE})(?![\d.])',
    re.IGNORECASE,
)
# At the start of a line only ornaments may precede a named step, and a mark must follow it.
ORNAMENTS = re.compile(
    r'(?:\\text[a-z]{2}\{|\\(?:sub){0,2}section\*?\{|\\paragraph\*?\{|\d{1,3}[.)、]|[\W_]){0,32}'
)
REACH = 40
MOST = 10_000  # A text with more markers repeats itself endlessly and is no solution.
MARK = re.compile(
    r'[^\S\n]{0,3}(?:\*\*|__|[:：.。、，,)\]）】}(（]|[—–-]+(?=\s)|(?=\n)|\Z)'
    r'|(?<=[步骤])(?:是|就是|[^\S\n])'
)
# Within a line, a named step must begin a sentence and be followed by a colon.
SENTENCE_BEFORE = re.compile(r'(?:[.!?;:][^\S\n]{1,3}|[。！？；：][^\S\n]{0,3})((?:\*\*|__)?)\Z')
COLON = re.compile(r'[^\S\n]{0,3}(?:\*\*|__)?[:：]|(?<=步)[，,、]')

NUMBERED = re.compile(
    r'^(?P<indent>[^\S\n]{0,20})(?P<dress>(?:\#{1,6}[^\S\n]{1,3})?(?:\*\*|__)?)(?:'
    r'(?P<dot>\d{1,3})(?:\*\*)?[.．](?!\d)|(?P<comma>\d{1,3})、|(?P<bracket>\d{1,3})[)）]'
    r'|[(（](?P<round>\d{1,3})[)）]|(?P<circle>[①-⑳])'
    r'|(?P<chinese>[一二三四五六七八九十]{1,3})、|[(（](?P<parts>[一二三四五六七八九十]{1,3})[)）]'
    r')(?![^\S\n]{0,3}[=+*/^<>×÷≤≥≈](?!\*))',
    re.MULTILINE,
)
UNFINISHED = tuple('=+<>≤≥≈×÷')  # a line that ends with one of these continues in the next
HEADING = re.compile(r'^(\#{1,6})[^\S\n]', re.MULTILINE)
PARAGRAPH = re.compile(r'\n[^\S\n]*\n\s*')


class Marker(NamedTuple):
    start: int
    number: int
    style: tuple[object, ...] = ()
    indent: int = 0
    content: int = 0


def marked_steps(text: str, protected: Protected) -> list[Span]:
    """Return the spans of the steps that a text's markers declare, in order.

    Markers form runs of at least two that begin at 1 and count up. Named markers (Step 1, 第一步)
    have priority over plain numbers and may skip some. A step extends to the next marker, the last
    one to the end of the text or to a heading of its rank. As in Markdown, the last item of a
    numbered list ends at the first paragraph that isn't indented, unless earlier items contain such
    paragraphs. Lists within an item aren't steps. A text with more than 10,000 markers counts as
    one without markers.
    """
    named = _runs(_few(_named(text, protected)), gaps=True)
    if not named:
        return _lists(text, protected)
    followers = [*(run[0].start for run in named[1:]), len(text)]
    return [
        span
        for run, follower in zip(named, followers, strict=True)
        for span in _items(run, _section_end(text, run[-1], follower, protected))
    ]


def _few(markers: Iterator[Marker]) -> list[Marker]:
    few = list(islice(markers, MOST + 1))
    return few if len(few) <= MOST else []


def _named(text: str, protected: Protected) -> Iterator[Marker]:
    for match in NAMED.finditer(text):
        start = match.start()
        if protected.inside(start):
            continue
        before = text[max(0, start - REACH) : start]
        line = before.rpartition('\n')[2]
        first = len(line) < len(before) or start <= REACH
        if first and ORNAMENTS.fullmatch(line) and MARK.match(text, match.end()):
            start -= len(line)
        else:
            sentence = SENTENCE_BEFORE.search(before)
            if not sentence or not COLON.match(text, match.end()):
                continue
            start -= len(sentence.group(1))
        if not protected.inside(start):
            number = next(group for group in match.groups() if group)
            yield Marker(start, _value(number.lower()))


def _numbered(text: str, protected: Protected) -> Iterator[Marker]:
    for match in NUMBERED.finditer(text):
        start = match.start()
        if protected.inside(match.end('dress')):
            continue
        if start > 1 and text[max(0, start - 24) : start - 1].rstrip(' \t')[-1:] in UNFINISHED:
            continue
        kind = match.lastgroup or ''
        indent = len(match['indent'].expandtabs(4)) if match['indent'] else 0
        # Right-aligned numbers differ in indent: those below 10 are indented by one more.
        style = (kind, match['dress'], indent // 2)
        yield Marker(start, _value(match[kind]), style, indent, match.end('indent'))


def _runs(markers: Sequence[Marker], gaps: bool = False) -> list[list[Marker]]:
    """Group the markers of each style into runs that begin at 1 and count up, ordered by start.

    With ``gaps``, a run may begin at 0 and skip numbers.
    """
    runs: list[list[Marker]] = []
    current: dict[tuple[object, ...], list[Marker]] = {}
    for marker in markers:
        run = current.get(marker.style)
        ahead = marker.number - run[-1].number if run else 0
        if run and (ahead == 1 or (gaps and ahead > 1)):
            run.append(marker)
        elif marker.number == 1 or (gaps and marker.number == 0):
            current[marker.style] = [marker]
            runs.append(current[marker.style])
    return [run for run in runs if len(run) > 1]


def _items(run: Sequence[Marker], end: int) -> list[Span]:
    starts = [marker.start for marker in run]
    return list(zip(starts, [*starts[1:], end], strict=True))


def _section_end(text: str, last: Marker, end: int, protected: Protected) -> int:
    """Return the start of the next heading of the same rank as the step's, or ``end``."""
    heading = HEADING.match(text, last.start)
    if not heading:
        return end
    for other in HEADING.finditer(text, heading.end(), end):
        if len(other.group(1)) <= len(heading.group(1)) and not protected.inside(other.start()):
            return other.start()
    return end


def _lists(text: str, protected: Protected) -> list[Span]:
    runs = _runs(_few(_numbered(text, protected)))
    if not runs:
        return []
    paragraphs = _paragraphs(text, protected)
    positions = [position for position, _ in paragraphs]
    followers: dict[int, int] = {}
    nearest: dict[tuple[object, ...], int] = {}
    for run in reversed(runs):
        followers[run[0].start] = nearest.get(run[0].style, len(text))
        nearest[run[0].style] = run[0].start
    spans: list[Span] = []
    for run in runs:
        if spans and run[0].start < spans[-1][1]:
            continue  # a list within an item
        end = followers[run[0].start]
        if '#' in str(run[0].style[1]):
            spans += _items(run, _section_end(text, run[-1], end, protected))
            continue
        # The first paragraph that isn't indented: after the list, or in an item before the last.
        items = {marker.content for marker in run}
        index = bisect_right(positions, run[0].content)
        while index < len(paragraphs) and positions[index] < end:
            position, indent = paragraphs[index]
            if indent <= run[0].indent and position not in items:
                end = position if position > run[-1].start else end
                break
            index += 1
        spans += _items(run, end)
    return spans


def _paragraphs(text: str, protected: Protected) -> list[tuple[int, int]]:
    """Return start and indent of each paragraph after the first."""
    paragraphs = []
    for match in PARAGRAPH.finditer(text):
        position = match.end()
        if not protected.inside(position):
            indent = text[text.rfind('\n', 0, position) + 1 : position]
            paragraphs.append((position, len(indent.expandtabs(4))))
    return paragraphs


def _value(number: str) -> int:
    """Return the value of a number in digits, in words, in a circle, or in Chinese below 100."""
    if number.isdecimal():
        return int(number)
    if number in WORDS:
        return WORDS.index(number) + 1
    if '①' <= number <= '⑳':
        return ord(number) - ord('①') + 1
    tens, ten, units = number.replace('两', '二').rpartition('十')
    if len(tens) > 1 or len(units) > 1 or '十' in tens:
        return -1
    return (DIGITS.index(tens or '一') * 10 if ten else 0) + DIGITS.index(units or '零')
