"""Names, warnings and exceptions come from outside: make them safe to show."""

from __future__ import annotations

import re

__all__ = ['escape_markdown', 'one_line', 'spreadsheet_text']

MARKUP = re.compile(r'([\\`*_\[\]#|~!$])')
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
