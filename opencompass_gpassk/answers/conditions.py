"""The conditions behind an answer: for any integer k, for all x, where C is a constant."""

from __future__ import annotations

import re

from opencompass_gpassk.answers.braces import TEXT_COMMAND
from opencompass_gpassk.answers.units import either

# Stands for the parameter of a family of values, whichever letter it was written with.
PARAMETER = '\\Upsilon'
# A condition may begin here.
START = re.compile(
    r'[,;(]|\\(?:text\{|forall)|(?<![a-zA-Z])(?:where|for|with)(?![a-zA-Z])|其中|对|\s',
    re.IGNORECASE,
)


def number_set(letter: str) -> str:
    """Return a pattern of the ways to write a set of numbers: Z, \\Z, \\mathbb{Z}."""
    return rf'\\?(?:mathbb|text|bf)?\s?\{{?\s?{letter}\s?\}}?'


LEAD = r'(?:where|with|for|here|all|any|every|each|some|\\forall|其中|对于?|任意的?|所有|一切)'
SETS = (
    rf'{number_set("(?P<set>[ZNR])")}'
    r'(?P<which>\s?[_^]\s?\{?\s?(?:\*|\+|\\ast|\\cdot|>\s?0|\\ge\s?[01])\s?\}?)?'
)
NAMES = {
    'integer': 'Z', '整数': 'Z', 'positive integer': 'N+', '正整数': 'N+', 'natural': 'N',
    'nonnegative integer': 'N', 'non-negative integer': 'N', '自然数': 'N', '非负整数': 'N',
    'real': 'R', 'constant': 'R', 'value': 'R', '实数': 'R', '常数': 'R',
}  # fmt: skip
KIND = rf'(?:any |an? |arbitrary )*(?P<kind{{}}>{either(NAMES)})s?(?: number| constant| value)?s?'
# k ∈ Z; where k is an integer; for any integer k; for all x
CONDITION = re.compile(
    rf'(?:{LEAD}\s?)*(?P<name>[a-zA-Z])\s?'
    rf'(?:\\in\s?{SETS}|\s?(?:is|are|being|为|是)?\s?(?:任意)?{KIND.format("")})'
    rf'|(?:{LEAD}\s?)+(?:{KIND.format("2")}\s?(?:of )?)?(?P<name2>[a-zA-Z])',
    re.IGNORECASE,
)
TOKEN = re.compile(r'\\text\{[^{}]*\}|\\[a-zA-Z]+|[a-zA-Z]')
WORD = re.compile(r'(?<![\\a-zA-Z])[a-zA-Z]{3,}')
COUNTERS = frozenset('klmn')  # letters that stand for whole numbers without being said to
STARTS_LIMIT = 30


def read_conditions(gold: str, answer: str) -> tuple[str, str]:
    """Return two answers without the conditions behind them, which are accounted for.

    The parameter of a family, k of kπ for k ∈ Z, becomes the same mark in both, whichever letter
    it has. Where one of them doesn't say of what kind its parameter is, it is of the other's. Where
    they say different kinds, the conditions stay. A real parameter has the gold answer's name.
    """
    (first, own), (second, other) = (_split(text) for text in (gold, answer))
    kinds = {one[1] for one in (own, other) if one}
    known = kinds in ({'Z'}, {'R'}) or (own and other)
    if len(kinds) != 1 or not known:
        return gold, answer
    if kinds != {'Z'}:
        if own and other and own[0] not in letters(second):
            second = renamed(second, other[0], own[0])
        return first, second
    names = [one[0] if one else _counter(text) for text, one in ((first, own), (second, other))]
    if not all(names):
        return gold, answer
    return renamed(first, names[0], f'{PARAMETER} '), renamed(second, names[1], f'{PARAMETER} ')


def _split(text: str) -> tuple[str, tuple[str, str] | None]:
    """Return a text without its last condition, and the parameter with its kind."""
    for start in list(START.finditer(text))[-STARTS_LIMIT:]:
        head = text[: start.start()].strip(' ,;')
        tail = TEXT_COMMAND.sub(r' \1 ', text[start.start() :])
        tail = ' '.join(tail.split()).strip(' ,;.$')
        if tail.startswith('(') and tail.endswith(')'):
            tail = tail[1:-1].strip()
        match = CONDITION.fullmatch(tail)
        letter = match and (match['name'] or match['name2'])
        if not match or not letter or WORD.search(head) or letter not in letters(head):
            continue
        kind = match['set'] or NAMES[(match['kind'] or match['kind2'] or 'real').lower()]
        if kind == 'R' or letter.islower():
            return head, (letter, 'N+' if match['which'] else kind)
    return text, None


def _counter(text: str) -> str:
    """Return the one letter of a text that usually counts, '' if none does."""
    same = letters(text) & COUNTERS
    return same.pop() if len(same) == 1 and not WORD.search(text) else ''


def letters(text: str) -> set[str]:
    """Return the letters that stand for values."""
    return {token for token in TOKEN.findall(text) if len(token) == 1}


def renamed(text: str, letter: str, mark: str) -> str:
    """Return a text with another name in place of a letter."""
    return TOKEN.sub(lambda match: mark if match[0] == letter else match[0], text)
