"""How lines of worked solutions go wrong, and lines that are true but of no use."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from tools.demo.lines import is_true, numbers_of, reworked

KINDS = {'slip': 0.62, 'miscopied': 0.1, 'misplaced': 0.2, 'garbled': 0.08}
ATTEMPTS = 20


def misread(number: int, rng: random.Random, others: Sequence[int] = ()) -> int:
    """Another number that one might take for this one, or one of the others."""
    digits = str(number)
    place = rng.randrange(len(digits))
    power = 10**place
    guesses = {
        'digit': int(digits[:place] + str(rng.randrange(10)) + digits[place + 1 :]),
        'near': abs(number + rng.choice((-1, 1)) * power),
        'swapped': int(digits[:place] + digits[place:][::-1]),
        'short': int(digits[:place] + digits[place + 1 :] or rng.randrange(10)),
        'other': rng.choice(others) if others else number,
    }
    while True:
        (how,) = rng.choices(list(guesses), (6, 2, 1, 1, 3))
        if guesses[how] != number:
            return guesses[how]
        guesses['digit'] = int(digits[:place] + str(rng.randrange(10)) + digits[place + 1 :])


def wrong_line(
    line: str, lines: Sequence[str], numbers: Sequence[int], rng: random.Random
) -> str | None:
    """The line with a mistake in it; None if none was found that makes it wrong.

    A slip makes an equation false, and so does an operand that is miscopied; a misplaced operand
    makes one that is true and does not belong to the question; a garbled line can't be read.

    Args:
        line: That is right.
        lines: Of the right solution, none of which is given back.
        numbers: Of the question, with which others may be confused.
        rng: Draws the mistake.
    """
    for _ in range(ATTEMPTS):
        (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
        if kind == 'garbled':
            made = garbled(line, rng)
        elif kind == 'slip':
            made = _changed(line, rng, numbers, later=True)
            if rng.random() < 0.5:
                made = _result_again(made)
        else:
            made = _changed(line, rng, numbers, later=False)
            if kind == 'misplaced':
                made = reworked(made)
        if made not in lines and (kind in ('misplaced', 'garbled') or is_true(made) is not True):
            return made
    return None


def garbled(line: str, rng: random.Random) -> str:
    """The line with a piece left out, doubled or put elsewhere, as no person would write it."""
    pieces = re.findall(r'\\[a-z]+|\d+|.', line)
    start = rng.randrange(len(pieces))
    cut = pieces[start : start + rng.randint(1, 3)]
    rest = pieces[:start] + pieces[start + len(cut) :]
    if rest and rng.random() < 0.5:
        return ''.join(rest)
    at = rng.randint(0, len(pieces))
    return ''.join([*pieces[:at], *cut, *pieces[at:]])


def idle_line(lines: Sequence[str], numbers: Sequence[int], rng: random.Random) -> str:
    """A true line that leads nowhere: one said before, a number for itself, a sum that keeps it.

    Args:
        lines: Said before, right ones; there may be none.
        numbers: Of the question.
        rng: Draws the line.
    """
    if lines and rng.random() < 0.5:
        line = rng.choice(lines)
        if found := re.fullmatch(r'(\d+)(\+|\\times)(\d+)=(\d+)', line):
            first, sign, second, result = found.groups()
            return rng.choice((line, f'{second}{sign}{first}={result}'))
        return line
    number = rng.choice([*numbers, *(each for line in lines for each in numbers_of(line))] or [1])
    same = (
        rf'1\times{number}={number}',
        rf'{number}\times1={number}',
        rf'{number}\div1={number}',
        f'{number}+0={number}',
        f'0+{number}={number}',
        f'{number}-0={number}',
    )
    return rng.choice((f'{number}={number}', f'{number}={number}', *same))


def _changed(line: str, rng: random.Random, numbers: Sequence[int], *, later: bool) -> str:
    """The line with one number misread, after the first sign of equality or before it."""
    places = list(re.finditer(r'\d+', line))
    equals = line.find('=')
    if equals >= 0 and re.match(r'\d+=', line) is None:
        places = [each for each in places if (each.start() > equals) == later] or places
    elif equals >= 0:  # a number is taken apart
        places = places[1:] if later else places[:1]
    place = rng.choice(places)
    number = misread(int(place[0]), rng, numbers)
    return line[: place.start()] + str(number) + line[place.end() :]


def _result_again(line: str) -> str:
    """The line with its last number following from what stands before it, false or not."""
    head, _, _ = line.rpartition('=')
    return reworked(line) if '=' in head and not re.match(r'\d+\\times\d+=', line) else _sum(line)


def _sum(line: str) -> str:
    """The line whose last side is the sum of the one before it."""
    if found := re.fullmatch(r'(.+=)(\d+)\+(\d+)=\d+', line):
        return f'{found[1]}{found[2]}+{found[3]}={int(found[2]) + int(found[3])}'
    return line
