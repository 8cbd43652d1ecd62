"""Checks of opencompass_gpassk.rv.leetcode.arrays."""

from __future__ import annotations

from itertools import combinations

from opencompass_gpassk.rv.leetcode import arrays
from rv_checks import check


@check(arrays.SumOfBlockSums)
def sum_of_block_sums(q, answer):
    total = 0
    for start in range(len(q.numbers)):
        for length in range(2, len(q.numbers) - start + 1):
            total += sum(q.numbers[start : start + length])
    return answer == total


@check(arrays.WellOnTheRoad)
def well_on_the_road(q, answer):
    # The sum is linear between farms, so that whole kilometres are enough.
    return answer == min(sum(abs(farm - well) for farm in q.farms) for well in range(101))


@check(arrays.GreatestTripleProduct)
def greatest_triple_product(q, answer):
    return answer == max(a * b * c for a, b, c in combinations(q.numbers, 3))


@check(arrays.ProductsOverSubsets)
def products_over_subsets(q, answer):
    total = 0
    for size in range(1, len(q.elements) + 1):
        for subset in combinations(q.elements, size):
            product = 1
            for element in subset:
                product *= element
            total += product
    return answer == total


@check(arrays.HooksWithOneNumberTwice)
def hooks_with_one_number_twice(q, answer):
    twice, missing = answer
    numbers = list(range(1, q.last + 1))
    numbers[numbers.index(missing)] = twice
    is_other = twice != missing and 1 <= twice <= q.last
    return is_other and (q.total, q.squares) == (sum(numbers), sum(n * n for n in numbers))


@check(arrays.XorOfEveryPair)
def xor_of_every_pair(q, answer):
    def digits_apart(a, b):
        pairs = zip(f'{a:08b}', f'{b:08b}', strict=True)
        return int(''.join('0' if one == other else '1' for one, other in pairs), 2)

    return answer == sum(digits_apart(a, b) for a, b in combinations(q.numbers, 2))


@check(arrays.SpiralIntoTheTable)
def spiral_into_the_table(q, answer):
    table = {}
    row, column, down, right = 1, 1, 0, 1
    for number in range(1, q.height * q.width + 1):
        table[row, column] = number
        ahead = (row + down, column + right)
        if ahead in table or not (1 <= ahead[0] <= q.height and 1 <= ahead[1] <= q.width):
            down, right = right, -down
        row, column = row + down, column + right
    return answer == table[q.row, q.column]


@check(arrays.BestArcOfTheRing)
def best_arc_of_the_ring(q, answer):
    size = len(q.numbers)
    return answer == max(
        sum(q.numbers[(start + i) % size] for i in range(length))
        for start in range(size)
        for length in range(1, size + 1)
    )


@check(arrays.MiddlesOfTriples)
def middles_of_triples(q, answer):
    triples = list(combinations(q.elements, 3))
    return len(triples) == 56 and answer == sum(sorted(triple)[1] for triple in triples)


@check(arrays.PlaceAmongProducts)
def place_among_products(q, answer):
    products = sorted(i * j for i in range(1, q.rows + 1) for j in range(1, q.columns + 1))
    return answer == products[q.place - 1]


@check(arrays.FiveFromTenSums)
def five_from_ten_sums(q, answer):
    sums = tuple(sorted(a + b for a, b in combinations(answer, 2)))
    return len(set(answer)) == 5 and min(answer) > 0 and sums == q.sums
