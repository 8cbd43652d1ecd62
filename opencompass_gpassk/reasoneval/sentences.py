"""Where sentences begin, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ['sentence_starts']

# The end of a sentence may stand inside quotes, emphasis or a formula that closes behind it.
CLOSERS = r'["\'”’)\]}*_$」』）]{0,4}(?:\\[)\]])?["\'”’)*_]{0,4}'
END = re.compile(
    rf'(?<![.!?…])(?P<stop>[.!?…]{{1,6}}){CLOSERS}\s+(?=(?P<next>\S))'
    r'|[。！？]{1,6}[”’」』）)*_]{0,4}\s*(?=\S)'
)
ABBREVIATIONS = frozenset({
    'fig', 'figs', 'eq', 'eqs', 'eqn', 'vs', 'cf', 'dr', 'mr', 'mrs', 'ms', 'prof', 'st', 'thm',
    'pp', 'vol', 'approx', 'resp', 'viz',
})  # fmt: skip
BEFORE_NUMBERS = frozenset({'no', 'nos', 'ex', 'ch', 'sec'})  # else words that end sentences
LETTERS = re.compile(r'[A-Za-z](?:\.[A-Za-z])+')  # e.g., i.e., U.S.
REACH = 12


def sentence_starts(text: str) -> Iterator[int]:
    """Yield where a sentence follows another, each at its first character.

    Neither decimals, factorials, ellipses before a number or small letter, nor abbreviations
    (e.g., i.e., Fig. 1) end one. Formulas are for the caller to keep whole.
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
