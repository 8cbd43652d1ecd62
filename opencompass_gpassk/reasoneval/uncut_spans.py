"""The spans of a text that must not be cut: formulas, code and environments."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

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
        self.spans = _merged([*code, *_mathematics(text, code)])
        self._starts = [start for start, _ in self.spans]

    def inside(self, position: int) -> bool:
        """Tell whether a cut before the character at a position would divide a span."""
        index = bisect_left(self._starts, position) - 1
        return index >= 0 and position < self.spans[index][1]


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


def _mathematics(text: str, code: list[Span]) -> list[Span]:
    """Return the spans of formulas and environments, from one pass over their delimiters."""
    tokens = list(_outside(code, TOKEN.finditer(text)))
    displays = _displays(tokens)
    spans: list[Span] = []
    unclosed: list[int] = []
    blanks: list[int] = []
    brackets: dict[str, int] = {}  # open \( and \[, with their positions
    environments: dict[str, list[int]] = defaultdict(list)
    display: int | None = None
    dollar: int | None = None
    for token in tokens:
        start, end = token.span()
        kind, said = token.lastgroup, token.group()
        if kind == 'blank':
            blanks.append(start)
            dollar = None
            # A display is closed nearby unless the next ones form pairs in their paragraph.
            near = (displays[len(blanks) + offset] for offset in range(PARAGRAPHS))
            if display is not None and next((count for count in near if count), 0) % 2 == 0:
                unclosed.append(display)
                display = None
        elif kind == 'dollars' and _is_display(token):
            dollar = None
            if display is None:
                display = start
            else:
                spans.append((display, end))
                display = None
        elif said == '$' and display is None:
            if dollar is not None and _closes(text, dollar, start):
                spans.append((dollar, end))
                dollar = None
            elif _opens(text, start):
                dollar = start
        elif kind == 'name' and token.group('edge') == 'begin':
            environments[token.group('name')].append(start)
        elif kind == 'name' and environments[token.group('name')]:
            spans.append((environments[token.group('name')].pop(), end))
        elif said in CLOSED_BY.values():
            if said in brackets:
                unclosed.append(brackets[said])
            brackets[said] = start
        elif CLOSED_BY.get(said) in brackets:
            spans.append((brackets.pop(CLOSED_BY[said]), end))
    unclosed += [*brackets.values(), *itertools.chain.from_iterable(environments.values())]
    unclosed += [] if display is None else [display]
    for start in unclosed:
        index = bisect_left(blanks, start)
        spans.append((start, blanks[index] if index < len(blanks) else len(text)))
    return spans


def _opens(text: str, dollar: int) -> bool:
    before, after = _around(text, dollar)
    # A dollar sign after an amount (5$), or after a country's name (US$5).
    return not (_is_word(before) and not (after.isalpha() or after in '\\({'))


def _closes(text: str, opening: int, dollar: int) -> bool:
    """Distinguish money, $5 and $10, from mathematics, $x$ or $ x $, much as Pandoc does."""
    before, after = _around(text, dollar)
    _, first = _around(text, opening)
    if not before.isspace():
        return not after.isdigit()
    return first.isspace() or not (first.isdigit() or _is_word(after) or after in '\\({')


def _around(text: str, position: int) -> tuple[str, str]:
    """Return the characters before and after one, a space where there is none."""
    return (text[position - 1] if position else ' '), (text[position + 1 : position + 2] or ' ')


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
