"""Checks of opencompass_gpassk.rv.leetcode.grids: points and cells are counted one by one."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product

from opencompass_gpassk.rv.leetcode import grids as figures
from rv_checks import check


@cache
def steps_of_a_king():
    """Return the steps from the origin to each near point, found ring by ring."""
    ways = [way for way in product((-1, 0, 1), repeat=2) if any(way)]
    steps, ring = {(0, 0): 0}, [(0, 0)]
    while steps[ring[0]] < 24:
        following = []
        for x, y in ring:
            for dx, dy in ways:
                if (x + dx, y + dy) not in steps:
                    steps[x + dx, y + dy] = steps[x, y] + 1
                    following.append((x + dx, y + dy))
        ring = following
    return steps


@check(figures.DiagonalShortcuts)
def diagonal_shortcuts(q, answer):
    legs = pairwise(q.stops)
    return answer == sum(steps_of_a_king()[c - a, d - b] for (a, b), (c, d) in legs)


@check(figures.DippedTowers)
def dipped_towers(q, answer):
    rows = enumerate((q.front, q.middle, q.back))
    cubes = {(x, y, z) for y, row in rows for x, height in enumerate(row) for z in range(height)}
    sides = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    return answer == sum(
        (x + a, y + b, z + c) not in cubes for x, y, z in cubes for a, b, c in sides
    )


def area_by_columns(points):
    """Return the area of the convex hull, whose sides have no corner between integers x."""
    heights = []
    for x in range(min(points)[0], max(points)[0] + 1):
        here = [Fraction(b) for a, b in points if a == x]
        for (a, b), (c, d) in combinations(points, 2):
            if (a - x) * (c - x) < 0:
                here.append(b + Fraction((d - b) * (x - a), c - a))
        heights.append(max(here) - min(here))
    return sum((one + other) / 2 for one, other in pairwise(heights))


@check(figures.WidestTriangle)
def widest_triangle(q, answer):
    return answer == max(area_by_columns(corners) for corners in combinations(q.points, 3))


@check(figures.MirroredBox)
def mirrored_box(q, answer):
    x, y, dx, dy, reflections = 0, 0, 1, 1, -1
    while reflections < 0 or x not in (0, q.width) or y not in (0, q.height):
        reflections += 1
        dx = 1 if x == 0 else -1 if x == q.width else dx
        dy = 1 if y == 0 else -1 if y == q.height else dy
        way = min(q.width - x if dx > 0 else x, q.height - y if dy > 0 else y)
        x, y = x + way * dx, y + way * dy
    return answer == reflections


@check(figures.DotsInsideTriangle)
def dots_inside_triangle(q, answer):
    a, b, c = q.first, q.second, q.third
    inside = 0
    for x, y in product(range(21), repeat=2):
        sides = [
            (t[0] - s[0]) * (y - s[1]) - (t[1] - s[1]) * (x - s[0])
            for s, t in ((a, b), (b, c), (c, a))
        ]
        inside += all(side > 0 for side in sides) or all(side < 0 for side in sides)
    return answer == inside


@check(figures.SquaresOnDots)
def squares_on_dots(q, answer):
    squares = 0
    for x, y in product(range(q.columns), range(q.rows)):
        # One side of a square goes to the right, and not down, from its lowest (leftmost) corner.
        for dx, dy in product(range(1, q.columns - x), range(q.rows - y)):
            squares += x - dy >= 0 and y + dx + dy < q.rows
    return answer == squares


@check(figures.RoundMinusDiamond)
def round_minus_diamond(q, answer):
    pairs = product(range(-13, 14), repeat=2)
    return answer == sum(x * x + y * y <= q.square and abs(x) + abs(y) > q.bound for x, y in pairs)


@check(figures.CubesBetweenViews)
def cubes_between_views(q, answer):
    # The totals that the rows so far can have, by which of the columns have reached their height.
    totals = {(False, False, False): {0}}
    for height in q.side:
        following = {}
        for row in product(*(range(min(height, column) + 1) for column in q.front)):
            if max(row) == height:
                for reached, sums in totals.items():
                    now = tuple(r or h == f for r, h, f in zip(reached, row, q.front, strict=True))
                    following.setdefault(now, set()).update(total + sum(row) for total in sums)
        totals = following
    return answer == len(totals[True, True, True])


@check(figures.ThreePosters)
def three_posters(q, answer):
    return answer == sum(
        any(a <= x < c and b <= y < d for a, b, c, d in q.posters)
        for x, y in product(range(16), repeat=2)
    )


@check(figures.TilesUnderCircle)
def tiles_under_circle(q, answer):
    # A tile of the first quarter has its nearest corner within the circle, its farthest outside.
    corners = product(range(0, q.radius, q.tile), repeat=2)
    return answer == 4 * sum(
        x * x + y * y < q.radius**2 < (x + q.tile) ** 2 + (y + q.tile) ** 2 for x, y in corners
    )


@check(figures.BandAroundNails)
def band_around_nails(q, answer):
    return answer == area_by_columns(q.nails)
