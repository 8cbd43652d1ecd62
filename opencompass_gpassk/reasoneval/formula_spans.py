"""Where a text must not be cut: mathematics, code and LaTeX environments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

__all__ = ['Protected']

Span = tuple[int, int]

# A fence opens code anywhere in a line (a list item may begin with it), and closes it alone there.
FENCE = re.compile(r'(?:(?<!`)(`{3,})|(?m:^)[^\S\n]{0,20}(~{3,}))([^`\n]*)(?=\n|\Z)')
INLINE_CODE = re.compile(r'(?<!`)(`{1,8})(?!`)[^`\n]+\1(?!`)')
# Two backslashes come first: behind them, a bracket is the height of a row.
TOKEN = re.compile(
    r'\\(?:[\\$()\[\]]|(?P<edge>begin|end)[ ]{0,3}\{(?P<name>[^{}\n]{1,40})\})'
    r'|(?P<dollars>\$+)|(?P<blank>\n[^\S\n]*(?=\n))'
)
PARAGRAPHS = 3  # that a formula with blank lines in it may go on for
CLOSED_BY = {'\\)': '\\(', '\\]': '\\['}


class Protected:
    """The spans of a text that must not be cut, found in time linear in its length.

    They are ``$…$``, ``$$…$$``, ``\\(…\\)``, ``\\[…\\]``, ``\\begin{…}…\\end{…}``, fenced code and
    code in a line. Formulas and environments that are never closed are protected to the end of
    their paragraph, ``$$`` also where it would be closed far away, fenced code to the end of the
    text; a dollar sign that nothing closes, or that
    stands before an amount of money, protects nothing.
    """

    def __init__(self, text: str) -> None:
        code = _merged(_code(text))
        self.spans = _merged([*code, *_Mathematics(text, code).spans])
        self._starts = [start for start, _ in self.spans]

    def inside(self, position: int) -> bool:
        """Tell whether a cut before the character at a position would divide a span."""
        return bool(self._starts) and position < self.end_of(position)

    def end_of(self, position: int) -> int:
        """Return the end of the span that a cut here would divide; the position if none."""
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
        self.brackets: dict[str, int] = {}  # what is open: \( or \[, and where
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
        """Find what is closed; return where something opens that isn't."""
        unclosed: list[int] = []
        tokens = list(_outside(code, TOKEN.finditer(self.text)))
        displays = _Displays(tokens)
        for token in tokens:
            position = token.start()
            kind = token.lastgroup
            if kind == 'blank':
                self.blanks.append(position)
                self.dollar = None
                if self.display is not None and not displays.goes_on(len(self.blanks)):
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
        # Money behind its number (5$), or behind the name of its country (US$5).
        return not (_is_word(before) and not (after.isalpha() or after in '\\({'))

    def _closes(self, position: int) -> bool:
        """Tell money, $5 and $10, from mathematics, $x$ or $ x $, much as Pandoc does."""
        before, after = self._around(position)
        _, first = self._around(self.dollar or 0)
        if not before.isspace():
            return not after.isdigit()
        return first.isspace() or not (first.isdigit() or _is_word(after) or after in '\\({')

    def _around(self, position: int) -> tuple[str, str]:
        before = self.text[position - 1] if position else ' '
        after = self.text[position + 1] if position + 1 < len(self.text) else ' '
        return before, after


class _Displays:
    """How many ``$$`` stand in which paragraph, which tells one that is never closed."""

    def __init__(self, tokens: Iterable[re.Match[str]]) -> None:
        paragraph = 0
        self.counts: dict[int, int] = {}
        for token in tokens:
            if token.lastgroup == 'blank':
                paragraph += 1
            elif token.lastgroup == 'dollars' and _is_display(token):
                self.counts[paragraph] = self.counts.get(paragraph, 0) + 1

    def goes_on(self, paragraph: int) -> bool:
        """Tell whether a formula that is open where a paragraph begins is closed near by.

        It isn't where the next ``$$`` are pairs within their paragraph.
        """
        near = (self.counts.get(paragraph + offset, 0) for offset in range(PARAGRAPHS))
        return next((count for count in near if count), 0) % 2 == 1


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
