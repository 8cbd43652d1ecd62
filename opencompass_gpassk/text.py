"""Names, warnings and exceptions come from outside: make them safe to show."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ['escape_markdown', 'one_line', 'spreadsheet_text', 'told_apart', 'visible_text']

MARKUP = re.compile(r'([\\`*_\[\]#|~!$])')
# What moves text about, hides it or ends a line where a reader sees none.
UNSEEN = re.compile(
    '[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff'
    '\ud800-\udfff\U000e0000-\U000e01ef]'
)
ENTITIES = str.maketrans({'&': '&amp;', '<': '&lt;', '>': '&gt;'})


def one_line(text: str) -> str:
    """Return a text as one line of printable characters.

    Line breaks become blanks; control characters, such as those that move a terminal's cursor, and
    lone surrogates become �.
    """
    return ''.join(c if c.isprintable() else '\ufffd' for c in ' '.join(text.split()))


def escape_markdown(text: str) -> str:
    """Return a text as one line that Markdown shows as it stands: no markup, no HTML."""
    # An underscore inside a word is no markup, and headings such as G-Pass@4_0.5 hold one.
    escaped = MARKUP.sub(r'\\\1', one_line(text).translate(ENTITIES))
    return re.sub(r'(?<=\w)\\_(?=\w)', '_', escaped)


def spreadsheet_text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    line = one_line(text)
    return f"'{line}" if line.startswith(('=', '+', '-', '@')) else line


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """Return names of at most so many characters, cut in the middle, that differ if these do.

    Names of models differ in their ends, as do versions, or the data sets behind them.
    """
    short = [_without_middle(name, most) for name in names]
    of_short: dict[str, list[str]] = {}
    for name, one in zip(names, short, strict=True):
        if name not in of_short.setdefault(one, []):
            of_short[one].append(name)
    numbers = {n: i for same in of_short.values() if len(same) > 1 for i, n in enumerate(same, 1)}
    return [
        f'{_without_middle(name, most - 5)} ({numbers[name]})' if name in numbers else one
        for name, one in zip(names, short, strict=True)
    ]


def _without_middle(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    end = most // 2
    return f'{name[: most - 1 - end]}…{name[len(name) - end :]}'


def visible_text(text: str) -> str:
    """Return a text in which what nobody sees is spelled out: U+202E as ``⟨U+202E⟩``.

    Tabs and line breaks remain; CR LF is one line break.
    """
    return UNSEEN.sub(lambda char: f'⟨U+{ord(char[0]):04X}⟩', text.replace('\r\n', '\n'))
