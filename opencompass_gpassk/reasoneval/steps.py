"""Split a response into the steps of its solution; formulas, code and environments stay whole."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator

from opencompass_gpassk.answers.extract import CHANNEL, CHANNEL_END, THINK_TAG, spoken
from opencompass_gpassk.reasoneval.markers import marked_steps

__all__ = ['Protected', 'split_steps']

Span = tuple[int, int]

# A fence opens code anywhere in a line (a list item may begin with it); alone in a line it closes.
FENCE = re.compile(r'(?:(?<!`)(`{3,})|(?m:^)[^\S\n]{0,20}(~{3,}))([^`\n]*)(?=\n|\Z)')
INLINE_CODE = re.compile(r'(?<!`)(`{1,8})(?!`)[^`\n]+\1(?!`)')
# Two backslashes come first: a bracket after them is the height of a row.
TOKEN = re.compile(
    r'\\(?:[\\$()\[\]]|(?P<edge>begin|end)[ ]{0,3}\{(?P<name>[^{}\n]{1,40})\})'
    r'|(?P<dollars>\$+)|(?P<blank>\n[^\S\n]*(?=\n))'
)
PARAGRAPHS = 3  # greatest length of a formula with blank lines in it
CLOSED_BY = {'\\)': '\\(', '\\]': '\\['}


class Protected:
    """The spans of a text that must not be cut, found in time linear in its length.

    They are ``$…$``, ``$$…$$``, ``\\(…\\)``, ``\\[…\\]``, ``\\begin{…}…\\end{…}``, fenced code and
    inline code. Formulas and environments that are never closed are protected to the end of their
    paragraph (``$$`` also if it is closed only far away), unclosed fenced code to the end of the
    text. A dollar sign that is never closed or precedes an amount of money protects nothing.
    """

    def __init__(self, text: str) -> None:
        code = _merged(_code(text))
        self.spans = _merged([*code, *_Mathematics(text, code).spans])
        self._starts = [start for start, _ in self.spans]

    def inside(self, position: int) -> bool:
        """Tell whether a cut before the character at a position would divide a span."""
        return bool(self._starts) and position < self.end_of(position)

    def end_of(self, position: int) -> int:
        """Return the end of the span that a cut here would divide; else the position itself."""
        index = bisect_left(self._starts, position) - 1
        return max(position, self.spans[index][1]) if index >= 0 else position


def _code(text: str) -> list[Span]:
    spans = []
    opened, fence = 0, ''
    for match in FENCE.finditer(text):
        ticks = match.group(1) or match.group(2)
        if not fence:
            opened, fence = match.start(), ticks
        elif ticks.startswith(fence) and not match.group(3).strip():
            spans.append((opened, match.end()))
            fence = ''
    if fence:
        spans.append((opened, len(text)))
    spans += [match.span() for match in INLINE_CODE.finditer(text)]
    return spans


class _Mathematics:
    """One pass over the delimiters of formulas and environments."""

    def __init__(self, text: str, code: list[Span]) -> None:
        self.text = text
        self.spans: list[Span] = []
        self.blanks: list[int] = []
        self.brackets: dict[str, int] = {}  # open \( and \[, with their positions
        self.environments: dict[str, list[int]] = {}
        self.display: int | None = None
        self.dollar: int | None = None
        unclosed = self._scan(code)
        for start in unclosed:
            index = bisect_left(self.blanks, start)
            self.spans.append(
                (start, self.blanks[index] if index < len(self.blanks) else len(text))
            )

    def _scan(self, code: list[Span]) -> list[int]:
        """Find the closed spans; return the positions of openings that are never closed."""
        unclosed: list[int] = []
        tokens = list(_outside(code, TOKEN.finditer(self.text)))
        displays = _displays(tokens)
        for token in tokens:
            position = token.start()
            kind = token.lastgroup
            if kind == 'blank':
                self.blanks.append(position)
                self.dollar = None
                # A display is closed nearby unless the next ones form pairs in their paragraph.
                near = (displays[len(self.blanks) + offset] for offset in range(PARAGRAPHS))
                pairs = next((count for count in near if count), 0) % 2 == 0
                if self.display is not None and pairs:
                    unclosed.append(self.display)
                    self.display = None
            elif kind == 'dollars':
                self._dollars(token)
            elif kind == 'name':
                self._environment(token)
            elif token.group() in ('\\(', '\\['):
                if token.group() in self.brackets:
                    unclosed.append(self.brackets[token.group()])
                self.brackets[token.group()] = position
            elif token.group() in CLOSED_BY:
                start = self.brackets.pop(CLOSED_BY[token.group()], None)
                if start is not None:
                    self.spans.append((start, token.end()))
        unclosed += self.brackets.values()
        unclosed += [start for starts in self.environments.values() for start in starts]
        return unclosed if self.display is None else [*unclosed, self.display]

    def _environment(self, token: re.Match[str]) -> None:
        opened = self.environments.setdefault(token.group('name'), [])
        if token.group('edge') == 'begin':
            opened.append(token.start())
        elif opened:
            self.spans.append((opened.pop(), token.end()))

    def _dollars(self, token: re.Match[str]) -> None:
        start, end = token.span()
        if _is_display(token):
            self.dollar = None
            if self.display is None:
                self.display = start
            else:
                self.spans.append((self.display, end))
                self.display = None
        elif end - start == 1 and self.display is None:
            if self.dollar is not None and self._closes(start):
                self.spans.append((self.dollar, end))
                self.dollar = None
            elif self._opens(start):
                self.dollar = start

    def _opens(self, position: int) -> bool:
        before, after = self._around(position)
        # A dollar sign after an amount (5$), or after a country's name (US$5).
        return not (_is_word(before) and not (after.isalpha() or after in '\\({'))

    def _closes(self, position: int) -> bool:
        """Distinguish money, $5 and $10, from mathematics, $x$ or $ x $, much as Pandoc does."""
        before, after = self._around(position)
        _, first = self._around(self.dollar or 0)
        if not before.isspace():
            return not after.isdigit()
        return first.isspace() or not (first.isdigit() or _is_word(after) or after in '\\({')

    def _around(self, position: int) -> tuple[str, str]:
        before = self.text[position - 1] if position else ' '
        after = self.text[position + 1] if position + 1 < len(self.text) else ' '
        return before, after


def _displays(tokens: Iterable[re.Match[str]]) -> Counter[int]:
    """Return the number of ``$$`` in each paragraph."""
    paragraph = 0
    counts: Counter[int] = Counter()
    for token in tokens:
        paragraph += token.lastgroup == 'blank'
        counts[paragraph] += token.lastgroup == 'dollars' and _is_display(token)
    return counts


def _is_display(token: re.Match[str]) -> bool:
    return token.end() - token.start() in (2, 3)


def _outside(code: list[Span], tokens: Iterable[re.Match[str]]) -> Iterator[re.Match[str]]:
    number = 0
    for token in tokens:
        while number < len(code) and code[number][1] <= token.start():
            number += 1
        if number == len(code) or token.start() < code[number][0]:
            yield token


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return the union of spans, in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


# A sentence may end inside quotes, emphasis or a formula that is closed after the full stop.
CLOSERS = r'["\'”’)\]}*_$」』）]{0,4}(?:\\[)\]])?["\'”’)*_]{0,4}'
END = re.compile(
    rf'(?<![.!?…])(?P<stop>[.!?…]{{1,6}}){CLOSERS}\s+(?=(?P<next>\S))'
    r'|[。！？]{1,6}[”’」』）)*_]{0,4}\s*(?=\S)'
)
ABBREVIATIONS = frozenset({
    'fig', 'figs', 'eq', 'eqs', 'eqn', 'vs', 'cf', 'dr', 'mr', 'mrs', 'ms', 'prof', 'st', 'thm',
    'pp', 'vol', 'approx', 'resp', 'viz',
})  # fmt: skip
BEFORE_NUMBERS = frozenset({'no', 'nos', 'ex', 'ch', 'sec'})  # abbreviations only before a number
LETTERS = re.compile(r'[A-Za-z](?:\.[A-Za-z])+')  # e.g., i.e., U.S.
REACH = 12


def sentence_starts(text: str) -> Iterator[int]:
    """Yield the position of the first character of each sentence after the first.

    Decimals, factorials, abbreviations (e.g., i.e., Fig. 1), and ellipses before a number or small
    letter don't end a sentence. The caller must keep formulas whole.
    """
    for match in END.finditer(text):
        stop = match.group('stop')
        if stop is None or _ends(text, match.start(), stop, match.group('next')):
            yield match.end()


def _ends(text: str, position: int, stop: str, following: str) -> bool:
    if following.islower() or following in '.,;:=+-/<>)]}^&|':
        return False
    if following.isdigit() and (len(stop) > 1 or stop in '!…'):
        return False
    if stop == '!' and text[max(0, position - 1) : position].isdigit():
        return following.isupper()
    if stop != '.':
        return True
    if not text[position - 1 : position].isalpha():
        return True
    word = text[max(0, position - REACH) : position].split()[-1].lstrip('([{"\'*_').lower()
    if word in ABBREVIATIONS or LETTERS.fullmatch(word):
        return False
    return not (word in BEFORE_NUMBERS and following.isdigit())


COLONS = (':', '：')
HEADING = re.compile(r'\#{1,6}\s|(\*\*|__)(?![*_]).{1,200}(?<![.!?。！？])\1\Z')
TITLE = re.compile(
    r'(?:(?:the[^\S\n])?(?:solution|answer|proof|explanation|reasoning)'
    r'|解|解答|解法|解析|解题过程|答案|分析|证明|证)[.。]?',
    re.IGNORECASE,
)


def joined(pieces: Iterable[str]) -> list[str]:
    """Join each piece that only announces the next piece, such as a heading, with that piece."""
    steps: list[str] = []
    announcing: list[str] = []
    for piece in pieces:
        if _announces(piece):
            announcing.append(piece)
        elif announcing:
            steps.append('\n'.join([*announcing, piece]))
            announcing = []
        else:
            steps.append(piece)
    if announcing:
        steps.append('\n'.join(announcing))
    return steps


def parted(pieces: list[str]) -> tuple[list[str], list[str]]:
    """Split off the last pieces whose lines all only announce something."""
    first = len(pieces)
    while first and all(
        _announces(line.strip()) for line in pieces[first - 1].split('\n') if line.strip()
    ):
        first -= 1
    return pieces[:first], pieces[first:]


def _announces(piece: str) -> bool:
    if piece.rstrip('*_').endswith(COLONS):
        return True
    if '\n' in piece:
        return False
    return bool((piece[0] in '#*_' and HEADING.match(piece)) or TITLE.fullmatch(piece))


LINE_END = re.compile('\r\n|[\r\x0b\x0c\x85\u2028]')
PARAGRAPH = re.compile(r'\n[^\S\n]*\n\s*')
LINE = re.compile(r'\n\s*')
RULE = re.compile(r'\s*(?:-{3,}|\*{3,}|_{3,})\s*')
RULERS = frozenset('-*_')
NUMBER = re.compile(r'[*_(（]{0,3}\d{1,3}[.)）]{1,2}[*_]{0,2}')
# White space and invisible characters, for which a tokenizer may make no token at all.
INVISIBLE = re.compile('[\\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*')
REPLY_START = re.compile(r'<\|start\|>\w{0,40}')


def split_steps(
    response: str, *, delimiter: str | None = None, thinking: str = 'drop'
) -> list[str]:
    """Split a response into the steps of its solution.

    The first of these that finds two steps or more is used:

    1. markers that begin lines and count from 1 (Step 1, **Step 2**, 第一步, 步骤 2, ``1.``,
       ``(1)``, 一、); text outside marked steps is split at blank lines;
    2. blank lines;
    3. lines;
    4. sentences.

    A heading, a title such as "Solution", or a text that ends in a colon is joined with the text
    that it announces: by itself it states nothing to be judged. Mathematics, code and environments
    are never cut (:class:`~opencompass_gpassk.reasoneval.steps.Protected`). The steps keep all text
    of the response in order, except white space, rules (``---``) between steps, delimiters and
    dropped thoughts. The time is about linear in the length of the response.

    Args:
        response: The model's response.
        delimiter: A text that separates the steps, instead of the rules above.
        thinking: Whether thinking blocks, also unclosed ones, are left out (``drop``) or split
            like separate solutions, without their tags (``keep``).

    Returns:
        The steps, stripped of white space; none is empty or has only invisible characters. The list
        is empty if the response is empty, blank, or a dropped thought. Lines end with ``\\n``,
        unless a delimiter is given.

    Raises:
        ValueError: If the delimiter is empty or ``thinking`` is neither setting.
    """
    if delimiter == '':
        raise ValueError("delimiter='' separates nothing; give a text, or None for the rules")
    if thinking not in ('drop', 'keep'):
        raise ValueError(f"thinking={thinking!r} is no setting; choose 'drop' or 'keep'")
    parts = [spoken(response)] if thinking == 'drop' else _all_parts(response)
    split = _by_rules if delimiter is None else lambda part: _by_delimiter(part, delimiter)
    steps = (step for part in parts if part.strip() for step in split(part))
    return [step for step in steps if not INVISIBLE.fullmatch(step)]


def _all_parts(response: str) -> list[str]:
    """Return thoughts and the rest of a response as separate texts, without tags."""
    tags = [THINK_TAG]
    if CHANNEL.search(response):
        tags += [CHANNEL, REPLY_START, CHANNEL_END]
    parts = [response]
    for tag in tags:  # splitting gives a tag's groups, too
        parts = [piece for part in parts for piece in tag.split(part)[:: tag.groups + 1]]
    return parts


def _by_delimiter(text: str, delimiter: str) -> list[str]:
    protected = Protected(text)
    steps = []
    start, found = 0, text.find(delimiter)
    while found >= 0:
        end = found + len(delimiter)
        if protected.inside(found) or protected.inside(end):
            # A delimiter inside a protected span cuts nothing; go on at the end of the span.
            found = text.find(delimiter, max(found + 1, protected.end_of(found)))
            continue
        steps.append(text[start:found].strip())
        start, found = end, text.find(delimiter, end)
    steps.append(text[start:].strip())
    return [step for step in steps if step]


def _by_rules(text: str) -> list[str]:
    text = LINE_END.sub('\n', text).replace('\u2029', '\n\n')
    protected = Protected(text)
    marked = marked_steps(text, protected)
    if marked:
        return list(_around_marked(text, marked, protected))
    for starts in (
        (match.end() for match in PARAGRAPH.finditer(text)),
        (match.end() for match in LINE.finditer(text)),
    ):
        steps = joined(_cut(text, starts, protected))
        if len(steps) > 1:
            return steps
    return _numbers_joined(_cut(text, sentence_starts(text), protected))


def _around_marked(
    text: str, marked: Iterable[tuple[int, int]], protected: Protected
) -> Iterator[str]:
    """Yield the marked steps, and the paragraphs before, between and after them."""
    paragraphs = [match.end() for match in PARAGRAPH.finditer(text)]
    position = 0
    for start, end in [*marked, (len(text), len(text))]:
        announcing: list[str] = []
        if position < start:
            index = bisect_right(paragraphs, position)
            within = paragraphs[index : bisect_left(paragraphs, start)]
            pieces = _cut(text, within, protected, position, start)
            if start < len(text):
                pieces, announcing = parted(pieces)
            yield from joined(pieces)
        step = '\n'.join(filter(None, [*announcing, _without_rules(text[start:end])]))
        if step:
            yield step
        position = end


def _cut(
    text: str, starts: Iterable[int], protected: Protected, first: int = 0, end: int | None = None
) -> list[str]:
    """Cut a part of a text where pieces may start, and leave out pieces without content."""
    if protected.spans:
        starts = (start for start in starts if not protected.inside(start))
    pieces = []
    for start in starts:
        pieces.append(text[first:start])
        first = start
    pieces.append(text[first:end])
    stripped = (_without_rules(piece) for piece in pieces)
    return [piece for piece in stripped if piece]


def _without_rules(piece: str) -> str:
    """Strip white space and rules such as ``---`` at either end."""
    piece = piece.strip()
    if piece[:1] not in RULERS and piece[-1:] not in RULERS:
        return piece
    lines = piece.split('\n')
    first, last = 0, len(lines)
    while first < last and (not lines[first].strip() or RULE.fullmatch(lines[first])):
        first += 1
    while first < last and (not lines[last - 1].strip() or RULE.fullmatch(lines[last - 1])):
        last -= 1
    return '\n'.join(lines[first:last]).strip()


def _numbers_joined(pieces: Iterable[str]) -> list[str]:
    """Join each number of a list, such as ``1.``, with the sentence after it."""
    steps: list[str] = []
    number = ''
    for piece in pieces:
        if NUMBER.fullmatch(piece):
            number += f'{piece} '
        else:
            steps.append(number + piece)
            number = ''
    return [*steps, number.strip()] if number else steps
