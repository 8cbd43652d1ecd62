"""Readers of opencompass_gpassk.rv.math.prealgebra_stories."""

from __future__ import annotations

import math
from datetime import datetime
from fractions import Fraction
from itertools import product

from rv_texts import numbers, reader


@reader
def pears_in_boxes(text, answer):
    boxes, each, eaten = numbers(text)
    pears = [(box, place) for box in range(boxes) for place in range(each)]
    return answer == len(pears[eaten:])


@reader
def fenced_bed(text, answer):
    # Around the bed lie so many squares of a metre, the four beyond its corners not counted.
    length, width = numbers(text)
    bed = set(product(range(length), range(width)))
    beside = [(x + dx, y + dy) for x, y in bed for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    return answer == sum(place not in bed for place in beside)


@reader
def train_on_the_move(text, answer):
    hour, minute, last_hour, last_minute, _, standing = numbers(text)
    leaves = datetime(2001, 1, 1, hour, minute)
    arrives = datetime(2001, 1, 1, last_hour, last_minute)
    return (arrives - leaves).total_seconds() == 60 * (answer + standing)


@reader
def boxes_of_tiles(text, answer):
    length, width, side, packed = numbers(text)
    needed = len(range(0, 100 * length, side)) * len(range(0, 100 * width, side))
    boxes = 0
    while needed > 0:
        needed, boxes = needed - packed, boxes + 1
    return answer == boxes


@reader
def beetle_on_the_flagpole(text, answer):
    height, day, up, down = numbers(text)
    at = up
    while at < height and up > down:
        day, at = day + 1, at - down + up
    return at >= height and answer == day


@reader
def typed_page_numbers(text, answer):
    first, step, digits = numbers(text)
    return len(''.join(str(page) for page in range(first, answer + 1, step))) == digits


@reader
def sheet_in_strips(text, answer):
    strips, total = numbers(text)
    side = math.isqrt(answer)
    # Strips of unequal widths 1 : 2 : 3 : ..., which together are as wide as the sheet.
    parts = range(1, strips + 1)
    widths = [Fraction(side * part, sum(parts)) for part in parts]
    return side * side == answer and sum(2 * (width + side) for width in widths) == total


@reader
def painted_on_the_table(text, answer):
    length, width, height = numbers(text)
    painted = [
        [x == 0, x == length - 1, y == 0, y == width - 1, z == height - 1]
        for x, y, z in product(range(length), range(width), range(height))
    ]
    return answer == sum(sum(faces) == 2 for faces in painted)


@reader
def draining_tanks(text, answer):
    slow, fast, times = numbers(text)
    first, second = (1 - answer / hours for hours in (slow, fast))
    return second > 0 and first == times * second


@reader
def steps_of_the_escalator(text, answer):
    # Going up tells the speed at which the steps move; going down, Nora must just arrive.
    up, down = numbers(text)
    moves = Fraction(answer - up, up)
    place = Fraction(answer)
    for _ in range(down):
        place += moves / 2 - 1
    return moves > 0 and place == 0
