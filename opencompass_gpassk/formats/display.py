"""Safe display of names, warnings and exceptions from outside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

MARKUP = re.compile(r'([\\`*_\[\]#|~!$])')
# Characters that move or hide text, or end a line invisibly.
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


def short_line(text: str, most: int = 1000) -> str:
    """Return a text as :func:`one_line` does, cut to at most ``most`` characters."""
    line = one_line(text[: 2 * most])
    return line if len(line) <= most else f'{line[: most - 1]}…'


def escape_markdown(text: str) -> str:
    """Return a text as one line that Markdown shows literally: no markup, no HTML."""
    # An underscore inside a word is no markup; headings such as G-Pass@4_0.5 contain one.
    escaped = MARKUP.sub(r'\\\1', one_line(text).translate(ENTITIES))
    return re.sub(r'(?<=\w)\\_(?=\w)', '_', escaped)


def spreadsheet_text(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula."""
    line = one_line(text)
    return f"'{line}" if line.startswith(('=', '+', '-', '@')) else line


def visible_text(text: str) -> str:
    """Return a text with invisible characters spelled out: U+202E as ``⟨U+202E⟩``.

    Tabs and line breaks remain; CR LF is one line break.
    """
    return UNSEEN.sub(lambda char: f'⟨U+{ord(char[0]):04X}⟩', text.replace('\r\n', '\n'))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, 'problem'), counted(2, 'problem')
    ('1 problem', '2 problems')
    """
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def decimal_text(value: float, decimals: int) -> str:
    """Return a number with so many decimals, halves to the even digit.

    The last digits of a metric depend on what else was computed; they don't decide the rounding.

    >>> decimal_text(98.95, 1), decimal_text(-0.04, 1)
    ('99.0', '0.0')
    """
    # Adding 0.0 turns -0.0 into 0.0.
    return f'{round(round(float(value), 9), decimals) + 0.0:.{decimals}f}'


def share_text(percent: float) -> str:
    """Return a share in percent with one decimal, or as many as it needs not to read as all.

    >>> share_text(98.95), share_text(99.97), share_text(100.0)
    ('99.0', '99.97', '100.0')
    """
    found = (decimal_text(percent, decimals) for decimals in range(1, 9))
    return next((one for one in found if float(one) < 100), f'{percent:.1f}')


# The name of a data set of one's own file is followed by a hash and the number of samples.
HASHED = re.compile(r'(?P<name>.+)-[0-9a-f]{6}(?P<samples>(?:-greedy)?-n\d+)')


def called(abbrs: Iterable[str]) -> dict[str, str]:
    """Return abbr → what people call each data set: so much of the abbr as tells them apart.

    >>> called(['exam-20e3d2-n32', 'sample-n16'])
    {'exam-20e3d2-n32': 'exam', 'sample-n16': 'sample-n16'}
    """
    known = list(dict.fromkeys(abbrs))
    names = {one: [one] for one in known}
    for one in known:
        if found := HASHED.fullmatch(one):
            names[one] = [found['name'], found['name'] + found['samples'], one]
    taken = Counter(name for of in names.values() for name in of)
    return {one: next((n for n in of if taken[n] == 1), one) for one, of in names.items()}
