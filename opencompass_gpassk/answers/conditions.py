"""The condition behind a family of values, k ∈ Z, and letters that stand for values."""

from __future__ import annotations

import re

# Stands for the parameter of a family of values, whichever letter it was written with.
PARAMETER = '\\Upsilon'
# k ∈ Z; where k is an integer; for any integer k; x ∈ R; n ∈ N^*.
CONDITION = re.compile(
    r'[,;(\s]{0,3}(?:\\text\{)?\s?(?:(?:where|for|any|all|every|其中|对于?|任意的?|\\forall)\s?){0,4}\}?\s?'
    r'(?:(?P<before>[a-z])\s?\}?\s?(?:\\in\s?\\?(?:mathbb|text|bf)?\s?\{?\s?'
    r'(?P<set>[ZR]|N\s?\}?\s?[_^]\s?\{?\s?[*+])\s?\}?'
    r'|(?:\\text\{)?\s?(?:is|are|为|是)?\s?(?:an? |any )*(?:integers?|整数))'
    r'|(?:an? )?(?:integers?|整数)\s?\}?\s?(?P<behind>[a-z]))[\s.)}]*$'
)
LENGTH_LIMIT = 80  # of a condition
TOKEN = re.compile(r'\\text\{[^{}]*\}|\\[a-zA-Z]+|[a-zA-Z]')
COUNTERS = frozenset('klmn')  # letters that stand for whole numbers without being said to


def read_conditions(gold: str, answer: str) -> tuple[str, str]:
    """Return two families of values without the condition behind them, and with one parameter.

    Of kπ for k ∈ Z it is k, whichever letter it has. The condition may be missing in one of them,
    as may that of a real variable, and of the index of a sequence.
    """
    found = [CONDITION.search(text, max(0, len(text) - LENGTH_LIMIT)) for text in (gold, answer)]
    first, second = (
        (text[: one.start()], {one['before'] or one['behind']})
        if one
        else (text, letters(text) & COUNTERS)
        for text, one in zip((gold, answer), found, strict=True)
    )
    sets = {(one['set'] or 'Z')[0] for one in found if one}
    # The index of a sequence, n ∈ N^*, needs no condition.
    if not all(found) and (sets == {'R'} or (sets == {'N'} and first[1] | second[1] <= COUNTERS)):
        return first[0], second[0]
    known = all(len(name) == 1 and name <= letters(text) for text, name in (first, second))
    if not known or len(sets) != 1:
        return gold, answer
    texts = [renamed(text, name.pop(), f'{PARAMETER} ') for text, name in (first, second)]
    return texts[0], texts[1]


def letters(text: str) -> set[str]:
    """Return the letters that stand for values."""
    return {token for token in TOKEN.findall(text) if len(token) == 1}


def renamed(text: str, letter: str, mark: str) -> str:
    """Return a text with another name in place of a letter."""
    return TOKEN.sub(lambda match: mark if match[0] == letter else match[0], text)
