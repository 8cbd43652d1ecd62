"""Readers of opencompass_gpassk.rv.leetcode.grids: points and cells are counted one by one."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product

from rv_texts import numbers, reader


def points(given):
    """Return the points with these coordinates."""
    return list(zip(given[::2], given[1::2], strict=True))


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


@reader
def diagonal_shortcuts(text, answer):
    _, *stops = numbers(text)
    legs = pairwise(points(stops))
    return answer == sum(steps_of_a_king()[c - a, d - b] for (a, b), (c, d) in legs)


@reader
def dipped_towers(text, answer):
    _, _, *heights, _ = numbers(text)
    rows = enumerate((heights[:3], heights[3:6], heights[6:]))
    cubes = {(x, y, z) for y, row in rows for x, height in enumerate(row) for z in range(height)}
    sides = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    return answer == sum(
        (x + a, y + b, z + c) not in cubes for x, y, z in cubes for a, b, c in sides
    )


def area_by_columns(corners):
    """Return the area of the convex hull, whose sides have no corner between integers x."""
    heights = []
    for x in range(min(corners)[0], max(corners)[0] + 1):
        here = [Fraction(b) for a, b in corners if a == x]
        for (a, b), (c, d) in combinations(corners, 2):
            if (a - x) * (c - x) < 0:
                here.append(b + Fraction((d - b) * (x - a), c - a))
        heights.append(max(here) - min(here))
    return sum((one + other) / 2 for one, other in pairwise(heights))


@reader
def widest_triangle(text, answer):
    triangles = combinations(points(numbers(text)), 3)
    return answer == max(area_by_columns(corners) for corners in triangles)


@reader
def mirrored_box(text, answer):
    length, width, _ = numbers(text)
    x, y, dx, dy, reflections = 0, 0, 1, 1, -1
    while reflections < 0 or x not in (0, length) or y not in (0, width):
        reflections += 1
        dx = 1 if x == 0 else -1 if x == length else dx
        dy = 1 if y == 0 else -1 if y == width else dy
        way = min(length - x if dx > 0 else x, width - y if dy > 0 else y)
        x, y = x + way * dx, y + way * dy
    return answer == reflections


@reader
def dots_inside_triangle(text, answer):
    a, b, c = points(numbers(text))
    inside = 0
    for x, y in product(range(21), repeat=2):
        sides = [
            (t[0] - s[0]) * (y - s[1]) - (t[1] - s[1]) * (x - s[0])
            for s, t in ((a, b), (b, c), (c, a))
        ]
        inside += all(side > 0 for side in sides) or all(side < 0 for side in sides)
    return answer == inside


@reader
def squares_on_dots(text, answer):
    rows, columns, _ = numbers(text)
    squares = 0
    for x, y in product(range(columns), range(rows)):
        # One side of a square goes to the right, and not down, from its lowest (leftmost) corner.
        for dx, dy in product(range(1, columns - x), range(rows - y)):
            squares += x - dy >= 0 and y + dx + dy < rows
    return answer == squares


@reader
def round_minus_diamond(text, answer):
    _, _, square, bound = numbers(text)
    pairs = product(range(-13, 14), repeat=2)
    return answer == sum(x * x + y * y <= square and abs(x) + abs(y) > bound for x, y in pairs)


@reader
def three_posters(text, answer):
    given = numbers(text)
    posters = [given[:4], given[4:8], given[8:]]
    return answer == sum(
        any(a <= x < c and b <= y < d for a, c, b, d in posters)
        for x, y in product(range(16), repeat=2)
    )


@reader
def cubes_between_views(text, answer):
    _, _, *heights = numbers(text)
    front, side = heights[:3], heights[3:]
    # The totals that the rows so far can have, by which of the columns have reached their height.
    totals = {(False, False, False): {0}}
    for height in side:
        following = {}
        for row in product(*(range(min(height, column) + 1) for column in front)):
            if max(row) == height:
                for reached, sums in totals.items():
                    now = tuple(r or h == f for r, h, f in zip(reached, row, front, strict=True))
                    following.setdefault(now, set()).update(total + sum(row) for total in sums)
        totals = following
    return answer == len(totals[True, True, True])


@reader
def tiles_under_circle(text, answer):
    # A tile of the first quarter has its nearest corner within the circle, its farthest outside.
    tile, radius = numbers(text)
    corners = product(range(0, radius, tile), repeat=2)
    return answer == 4 * sum(
        x * x + y * y < radius**2 < (x + tile) ** 2 + (y + tile) ** 2 for x, y in corners
    )


@reader
def band_around_nails(text, answer):
    _, *nails = numbers(text)
    return answer == area_by_columns(points(nails))
