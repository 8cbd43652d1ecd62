"""Units before or after a value, and the lists of all words that rules know."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from opencompass_gpassk.answers.braces import TEXT_COMMAND

DIGITS, LETTERS = '0123456789/', 'abcdefghijklmnopqrstuvwxyzLSUDNJWPa'
# List → its words, from a file that says what they are.
WORDLISTS: dict[str, list[str]] = {}
for _line in Path(__file__).with_name('words.txt').read_text('utf-8').splitlines():
    if _line and not _line.startswith('#'):
        _name, _, _words = _line.partition(': ')
        WORDLISTS.setdefault(_name, []).extend(_words.split())
# Spelling → the unit's name.
UNITS = {w: name[5:] for name, found in WORDLISTS.items() if name[:5] == 'unit ' for w in found}
# Unit → how many of the unit of its kind that all are counted in, and that unit.
SIZES = {
    name: (Fraction(size.rstrip(LETTERS)), size.lstrip(DIGITS))
    for name, _, size in (entry.partition('=') for entry in WORDLISTS['size'])
}
MEASURES = {*SIZES, *(kind for _, kind in SIZES.values())}
VALUE = re.compile(r'\d|\\(?:pi|sqrt|frac)|^[一二两三四五六七八九十百千]+$')
LEADING = re.compile(r'(-?)(USD|CAD|¥|€|£|₤|₹)\s*')


def either(words: Iterable[str]) -> str:
    """Return a pattern of one of the words, the longest that fits."""
    return '|'.join(re.escape(word) for word in sorted(words, key=len, reverse=True))


WORDS = either(UNITS)
# A counted noun, and what may stand beside it: 12 pieces of cake, 3 distinct real roots.
NOUN = f'(?:{either(WORDLISTS["counted"])})(?:e?s)?'
KINDS = '(?:(?:distinct|different|possible|positive|negative|real|ordered|total|arithmetic) )*'
COUNTERS = f'(?:{either(WORDLISTS["unit 1"])})'
# The power of a unit, cm^2; a unit with its power in words, square cm; a unit at the end, and one
# in \\text{…} at the end.
POWER = r'(?:\^\s?\{?\s?(?P<power>[23])\s?\}?)?'
SUFFIX = re.compile(
    rf'(?<=[\d\s)}}.一二三四五六七八九十百千])(?:(?P<unit>{WORDS}){POWER}'
    rf'|(?P<raise>square|sq\.?|cubic|cu\.?|平方|立方)\s?(?P<raised>{WORDS})'
    rf'|(?P<above>{WORDS})(?: per |/|每)(?P<below>{WORDS})'
    rf'|{KINDS}(?P<noun>{NOUN})(?: of {NOUN})?'
    rf'|(?P<counter>{COUNTERS}) ?(?:不同的?)?(?:{either(WORDLISTS["counted in Chinese"])}))$'
)
# A measure in two units: 2 hours 30 minutes, 2小时30分.
COMPOUND = re.compile(rf'(\d+)\s?({WORDS}),?\s?(?:and )?(\d+)\s?({WORDS}|分)')
BRACED = re.compile(rf'\\text\{{\s?([^{{}}]*?)[\s.]?\}}\s?{POWER}$')
FUNCTION = re.compile(r'\\(?:sin|cos|tan|cot|sec|csc|arc[a-z]{3})(?![a-zA-Z])')
POWERS = {'square': '2', 'sq': '2', '平方': '2', 'cubic': '3', 'cu': '3', '立方': '3'}


def split_unit(text: str) -> tuple[str, str]:
    """Return (value, unit) of a value with a known unit before or after it; else (text, '')."""
    if compound := COMPOUND.fullmatch(' '.join(TEXT_COMMAND.sub(r' \1 ', text).split())):
        first, second = UNITS[compound[2]], UNITS.get(compound[4], 'min')
        size = factor(first, second)
        return (str(int(compound[1]) * size + int(compound[3])), second) if size else (text, '')
    leading = LEADING.match(text)
    if leading:
        return leading[1] + text[leading.end() :], UNITS[leading[2]]
    braced = BRACED.search(text)
    if braced:
        value, power = text[: braced.start()], f'^{braced["power"]}' if braced['power'] else ''
        match = SUFFIX.match(f'1 {braced[1]}{power}', 2)
    else:  # but not in the argument of \\sin 30^{\\circ}
        match = None if FUNCTION.search(text) else SUFFIX.search(text)
        value = text[: match.start()] if match else text
    if not match or not _is_value(value) or not (braced or _is_unit_place(text, match)):
        return text, ''
    return value.strip(), _unit_name(match)


def _unit_name(match: re.Match[str]) -> str:
    found = match.groupdict()
    if found['unit']:
        return UNITS[found['unit']] + (found['power'] or '')
    if found['raised']:
        return UNITS[found['raised']] + POWERS[found['raise'].rstrip('.')]
    if found['above']:
        return f'{UNITS[found["above"]]}/{UNITS[found["below"]]}'
    return f'1 {found["noun"].rstrip("s")}' if found['noun'] else '1'


def units_agree(gold: str, answer: str) -> bool:
    """Tell whether two units may be the same; one may be left out, or be *units* or a counter."""
    if gold == answer or any(unit[:4] in ('', 'unit') for unit in (gold, answer)):
        return True
    return '1' in (gold, answer) and gold[0] == answer[0] == '1'


def factor(unit: str, other: str) -> Fraction | None:
    """Return how many of another unit a unit is; None if they measure different things."""
    (size, kind), (other_size, other_kind) = _size(unit), _size(other)
    return size / other_size if kind == other_kind else None


def _size(unit: str) -> tuple[Fraction, str]:
    above, _, below = unit.partition('/')
    power = int(above[-1]) if above[-1:] in ('2', '3') else 1
    size, kind = SIZES.get(above.rstrip('23'), (Fraction(1), above.rstrip('23')))
    per, below_kind = SIZES.get(below, (Fraction(1), below))
    return size**power / per, f'{kind}{power}/{below_kind}'


def _is_value(text: str) -> bool:
    return bool(VALUE.search(text)) and not re.search(r'[=<>]|\^\{\\circ\}', text)


def _is_unit_place(text: str, match: re.Match[str]) -> bool:
    """Distinguish the units of ``5 m`` and ``15N`` from the variables of ``5m + 3`` and ``2h``."""
    known = len(match[0]) > 1 or not match[0].isascii()
    return known or bool(re.fullmatch(r'[+-]?[\d.,]+\s* ', text[: match.start()]))
