"""Checks of opencompass_gpassk.rv.math.prealgebra_stories."""

from __future__ import annotations

import math
from datetime import datetime
from fractions import Fraction
from itertools import product

from opencompass_gpassk.rv.math import prealgebra_stories as ps
from rv_checks import check


@check(ps.PearsInBoxes)
def pears_in_boxes(q, answer):
    pears = [(box, place) for box in range(q.boxes) for place in range(q.each)]
    del pears[: q.eaten]
    return answer == len(pears)


@check(ps.FencedBed)
def fenced_bed(q, answer):
    # Around the bed lie so many squares of a metre, the four beyond its corners not counted.
    bed = set(product(range(q.length), range(q.width)))
    beside = [(x + dx, y + dy) for x, y in bed for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))]
    return answer == sum(place not in bed for place in beside)


@check(ps.TrainOnTheMove)
def train_on_the_move(q, answer):
    leaves = datetime(2001, 1, 1, q.hour, q.minute)
    arrives = datetime(2001, 1, 1, q.last_hour, q.last_minute)
    return (arrives - leaves).total_seconds() == 60 * (answer + q.standing)


@check(ps.BoxesOfTiles)
def boxes_of_tiles(q, answer):
    corners = product(range(0, 100 * q.length, q.side), range(0, 100 * q.width, q.side))
    needed = sum(1 for _ in corners)
    boxes = 0
    while needed > 0:
        needed, boxes = needed - q.packed, boxes + 1
    return answer == boxes


@check(ps.BeetleOnTheFlagpole)
def beetle_on_the_flagpole(q, answer):
    day, at = 1, q.up
    while at < q.height:
        day, at = day + 1, at - q.down + q.up
    return answer == day


@check(ps.TypedPageNumbers)
def typed_page_numbers(q, answer):
    return len(''.join(str(page) for page in range(q.first, answer + 1))) == q.digits


@check(ps.SheetInStrips)
def sheet_in_strips(q, answer):
    side = math.isqrt(answer)
    if side * side != answer:
        return False
    # Strips of unequal widths 1 : 2 : 3 : ..., which together are as wide as the sheet.
    parts = range(1, q.strips + 1)
    widths = [Fraction(side * part, sum(parts)) for part in parts]
    return sum(2 * (width + side) for width in widths) == q.total


@check(ps.PaintedOnTheTable)
def painted_on_the_table(q, answer):
    painted = [
        [x == 0, x == q.length - 1, y == 0, y == q.width - 1, z == q.height - 1]
        for x, y, z in product(range(q.length), range(q.width), range(q.height))
    ]
    return answer == sum(sum(faces) == 2 for faces in painted)


@check(ps.DrainingTanks)
def draining_tanks(q, answer):
    first, second = (1 - answer / hours for hours in (q.slow, q.fast))
    return second > 0 and first == q.times * second


@check(ps.StepsOfTheEscalator)
def steps_of_the_escalator(q, answer):
    # Going up tells the speed at which the steps move; going down, Nora must just arrive.
    moves = Fraction(answer - q.up, q.up)
    place = Fraction(answer)
    for _ in range(q.down):
        place += moves / 2 - 1
    return moves > 0 and place == 0
