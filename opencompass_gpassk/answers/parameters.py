"""The conditions behind an answer: for any integer k, for all x, where C is a constant."""

from __future__ import annotations

import re

from opencompass_gpassk.answers.braces import TEXT_COMMAND
from opencompass_gpassk.answers.units import either

__all__ = [
    *('MARKS', 'PARAMETER', 'SHIFTS', 'letters', 'number_set', 'read_conditions', 'renamed'),
]

# Stands for the parameter of a family of values, whichever letter it was written with: one mark
# for all integers, others for natural numbers with and without 0.
PARAMETER = '\\Upsilon'
MARKS = {'Z': f'{PARAMETER} ', 'N': '\\Xi ', 'N+': '\\varpi '}
# A parameter for any integer that counts the same values: from another start, or backwards.
SHIFTS = tuple(
    f'({sign}{PARAMETER} {start})' for sign in ('', '-') for start in ('', '+1', '-1', '+2', '-2')
)[1:]
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
LISTED = (
    r'=\s?(?P<list>0\s?,\s?1|1\s?,\s?2|0\s?,\s?\\pm\s?1)(?:\s?,\s?(?:\\pm\s?)?\d)*\s?,\s?\\ldots'
)
VALUES = r'=\s?(?P<values>-?\d+(?:\s?,\s?-?\d+){1,20})'
BOUND = r'(?:\s?(?P<bound>\\ge\s?0|\\ge\s?1|>\s?0))?'
# k ∈ Z; where k is an integer; k ≥ 0 an integer; k = 0, 1, 2, …; for any integer k; for all x
CONDITION = re.compile(
    rf'(?:{LEAD}\s?)*(?P<name>[a-zA-Z])\s?'
    rf'(?:\\in\s?{SETS}|{LISTED}|{VALUES}|(?P<start>\\ge\s?[01])'
    rf'|{BOUND}\s?(?:is|are|being|为|是)?\s?(?:任意)?{KIND.format("")})'
    rf'|(?:{LEAD}\s?)+(?:{KIND.format("2")}\s?(?:of )?)?(?P<name2>[a-zA-Z])',
    re.IGNORECASE,
)
TOKEN = re.compile(r'\\text\{[^{}]*\}|\\[a-zA-Z]+|[a-zA-Z]')
WORD = re.compile(r'(?<![\\a-zA-Z])[a-zA-Z]{3,}')
COUNTERS = frozenset('klmn')  # letters that stand for whole numbers without being said to
PARAMETERS = frozenset('ijklmnpqrst')  # and those that are said to, but x of x > 3
STARTS_LIMIT = 30
INDEXED = re.compile(r'[a-zA-Z]_\{?[klmn]\}?\s?=')
PERIOD = re.compile(r'\\pi(?![a-zA-Z])|\\circ|(?:180|360)')
BUILDER = re.compile(r'\\\{(.+?)(?:\\mid(?![a-zA-Z])|\||:)(.+)\\\}')


def read_conditions(gold: str, answer: str) -> tuple[str, str]:
    """Return two answers without the conditions behind them, which are accounted for.

    The parameter of a family, k of kπ for k ∈ Z, becomes the same mark in both, whichever letter
    it has. Where one of them doesn't say of what kind its parameter is, it is of the other's. A
    real parameter has the name that it has in the gold answer.
    """
    (first, own), (second, other) = (_split(_opened(text)) for text in (gold, answer))
    if own and other and own[1] == other[1] == 'R':
        free = own[0] not in letters(second)
        return first, renamed(second, other[0], own[0]) if free else second
    if other and other[1] == 'R' and not own:  # C of any constant, here called A
        constant = ''.join(letters(first) - letters(second))
        fits = len(constant) == 1 and constant.isupper()
        return first, renamed(second, other[0], constant) if fits else second
    counters = [_counter(text, said) for text, said in ((first, other), (second, own))]
    if not own and not other and all(counters) and counters[0] != counters[1]:
        indexed = INDEXED.match(first) and INDEXED.match(second)
        kind = 'N+' if indexed or PERIOD.search(first) else ''
        own, other = ((letter, kind) if kind else None for letter in counters)
    elif not (own and other) or INDEXED.match(first):  # nothing says that one may count anew
        own, other = (one and (one[0], 'N' if one[1] == 'Z' else one[1]) for one in (own, other))
    if other and counters[0]:
        own = own or (counters[0], other[1])
    if own and counters[1]:
        other = other or (counters[1], own[1])
    return _marked(first, own), _marked(second, other)


def _opened(text: str) -> str:
    """Return a set-builder of values, {x | x = kπ, k ∈ Z} or {kπ | k ∈ Z}, as values."""
    match = BUILDER.fullmatch(text)
    if not match or ('{' in match[1]) != ('}' in match[1]):
        return text
    value = re.fullmatch(rf'\s*{re.escape(match[1].strip())}\s*=([^<>=]+)', match[2])
    if value:
        return value[1].strip()
    return f'{match[1]}, {match[2]}' if CONDITION.fullmatch(match[2].strip()) else text


def _split(text: str) -> tuple[str, tuple[str, str] | None]:
    """Return a text without its last condition, and the parameter with its kind."""
    if text.startswith('\\{') and text.endswith('\\}') and '\\in' in text:  # {x | x ≠ kπ, k ∈ Z}
        head, parameter = _split(text[2:-2])
        marked = parameter and parameter[1] in MARKS
        return (f'\\{{{head}\\}}', parameter) if marked else (text, None)
    for start in list(START.finditer(text))[-STARTS_LIMIT:]:
        head = text[: start.start()].strip(' ,;')
        tail = TEXT_COMMAND.sub(r' \1 ', text[start.start() :])
        tail = ' '.join(tail.split()).strip(' ,;.$')
        if tail.startswith('(') and tail.endswith(')'):
            tail = tail[1:-1].strip()
        match = CONDITION.fullmatch(tail)
        if not match or WORD.search(head):
            continue
        letter = match['name'] or match['name2']
        if letter not in letters(head) or (match['start'] and letter not in COUNTERS):
            continue
        kind = 'R' if match['values'] else _kind(match)
        if kind in MARKS and letter not in PARAMETERS:
            continue
        if match['values']:  # k = 0, 1, 2
            values = (f'{{{value.strip()}}}' for value in match['values'].split(','))
            return ', '.join(renamed(head, letter, value) for value in values), None
        return head, (letter, kind)
    return text, None


def _kind(match: re.Match[str]) -> str:
    """Return the kind of a condition's parameter: 'Z', 'N', 'N+' or 'R'."""
    said = match['start'] or match['list'] or match['bound'] or match['which'] or ''
    if match['list'] and 'pm' in said:
        return 'Z'
    kind = match['set'] or NAMES[(match['kind'] or match['kind2'] or 'real').lower()]
    if match['start'] or match['list'] or (said and kind in 'ZN'):
        return 'N' if '0' in said and '>' not in said else 'N+'
    return kind


def _counter(text: str, other: tuple[str, str] | None) -> str:
    """Return the letter of a text that counts as the other's parameter does, '' if none does."""
    found = letters(text)
    same = found & ({other[0]} if other else set()) or found & COUNTERS
    return same.pop() if len(same) == 1 and not WORD.search(text) else ''


def _marked(text: str, parameter: tuple[str, str] | None) -> str:
    """Return a text with the mark of its kind in place of the parameter."""
    mark = MARKS.get(parameter[1]) if parameter else None
    return renamed(text, parameter[0], mark) if parameter and mark else text


def letters(text: str) -> set[str]:
    """Return the letters that stand for values."""
    return {token for token in TOKEN.findall(text) if len(token) == 1}


def renamed(text: str, letter: str, mark: str) -> str:
    """Return a text with another name in place of a letter."""
    return TOKEN.sub(lambda match: mark if match[0] == letter else match[0], text)
