"""Readers of opencompass_gpassk.rv.leetcode.arrays."""

from __future__ import annotations

from itertools import combinations
from math import prod

from rv_texts import numbers, reader


@reader
def sum_of_block_sums(text, answer):
    row = numbers(text)
    ends = combinations(range(len(row) + 1), 2)
    return answer == sum(sum(row[i:j]) for i, j in ends if j - i >= 2)


@reader
def well_on_the_road(text, answer):
    # The sum is linear between farms, so that whole kilometres are enough.
    farms = numbers(text)
    wells = range(max(farms) + 1)
    return len(farms) == 7 and answer == min(sum(abs(f - well) for f in farms) for well in wells)


@reader
def greatest_triple_product(text, answer):
    return answer == max(a * b * c for a, b, c in combinations(numbers(text), 3))


@reader
def products_over_subsets(text, answer):
    elements = numbers(text)
    sizes = range(1, len(elements) + 1)
    return answer == sum(prod(subset) for size in sizes for subset in combinations(elements, size))


@reader
def hooks_with_one_number_twice(text, answer):
    hooks, first, last, again, total, squares = numbers(text)
    twice, missing = answer
    row = list(range(first, last + 1))
    row[row.index(missing)] = twice
    sound = hooks == last == again and twice != missing and first <= twice <= last
    return sound and (total, squares) == (sum(row), sum(n * n for n in row))


@reader
def xor_of_every_pair(text, answer):
    # The text starts with 1, 0, 6, 3 and 5.
    *_, a, b, c, d, e, f, pairs = numbers(text)

    def digits_apart(one, other):
        places = zip(f'{one:08b}', f'{other:08b}', strict=True)
        return int(''.join('01'[x != y] for x, y in places), 2)

    apart = [digits_apart(one, other) for one, other in combinations((a, b, c, d, e, f), 2)]
    return len(apart) == pairs and answer == sum(apart)


@reader
def spiral_into_the_table(text, answer):
    height, width, _, _, _, *cell = numbers(text)
    table = {}
    row, column, down, right = 1, 1, 0, 1
    for number in range(1, height * width + 1):
        table[row, column] = number
        ahead = (row + down, column + right)
        if ahead in table or not (1 <= ahead[0] <= height and 1 <= ahead[1] <= width):
            down, right = right, -down
        row, column = row + down, column + right
    return answer == table[tuple(cell)]


@reader
def best_arc_of_the_ring(text, answer):
    ring = numbers(text)
    size = len(ring)
    return size == 8 and answer == max(
        sum(ring[(start + i) % size] for i in range(length))
        for start in range(size)
        for length in range(1, size + 1)
    )


@reader
def middles_of_triples(text, answer):
    count, *elements, again = numbers(text)
    triples = list(combinations(elements, 3))
    return len(triples) == count == again and answer == sum(sorted(t)[1] for t in triples)


@reader
def place_among_products(text, answer):
    entries, _, rows, _, columns, *_, place = numbers(text)
    products = sorted(i * j for i in range(1, rows + 1) for j in range(1, columns + 1))
    return len(products) == entries and answer == products[place - 1]


@reader
def five_from_ten_sums(text, answer):
    sums = sorted(a + b for a, b in combinations(answer, 2))
    return len(set(answer)) == 5 and min(answer) > 0 and sums == numbers(text)
