"""Checks of opencompass_gpassk.rv.leetcode.sequences."""

from __future__ import annotations

from itertools import count, groupby, islice
from math import isqrt

from opencompass_gpassk.rv.leetcode import sequences
from rv_checks import check


@check(sequences.BadgesWithoutMultiples)
def badges_without_multiples(q, answer):
    badges = (n for n in count(1) if n % q.left_out)
    return answer == next(islice(badges, q.place - 1, None))


@check(sequences.NumbersInBlocks)
def numbers_in_blocks(q, answer):
    terms = [number for number in range(q.start, 40) for _ in range(number)]
    return answer == sum(terms[: q.terms])


@check(sequences.LostSecondTerm)
def lost_second_term(q, answer):
    for second in range(q.seventh):
        terms = [q.first, second]
        while len(terms) < 10:
            terms.append(terms[-1] + terms[-2])
        if terms[6] == q.seventh:
            return answer == terms[9]
    return False


@check(sequences.TermLessTheOneBefore)
def term_less_the_one_before(q, answer):
    terms = [q.first, q.second]
    while len(terms) < q.terms:
        terms.append(terms[-1] - terms[-2])
    return answer == sum(terms)


@check(sequences.SquaresAmongCubes)
def squares_among_cubes(q, answer):
    cubes = {n * n * n for n in range(100)}
    written = (n for n in count(q.above + 1) if isqrt(n) ** 2 == n or n in cubes)
    return answer == next(islice(written, q.place - 1, None))


def may_describe_itself(terms):
    runs = [len(list(run)) for _, run in groupby(terms)]
    finished = all(run == term for run, term in zip(runs[:-1], terms, strict=False))
    return finished and runs[-1] <= terms[len(runs) - 1]


@check(sequences.RunsThatCountThemselves)
def runs_that_count_themselves(q, answer):
    beginnings = [[q.one]]
    for _ in range(q.terms - 1):
        longer = [[*terms, new] for terms in beginnings for new in (q.one, q.other)]
        beginnings = [terms for terms in longer if may_describe_itself(terms)]
    return {answer} == {sum(terms) for terms in beginnings}


@check(sequences.SquareTreadmill)
def square_treadmill(q, answer):
    x = q.start
    for _ in range(q.place - 1):
        x = (x * x + q.shift) % q.modulus
    return answer == x


@check(sequences.OddPartsAddedUp)
def odd_parts_added_up(q, answer):
    total = 0
    for n in range(q.start, q.end + 1):
        while n % 2 == 0:
            n //= 2
        total += n
    return answer == total


@check(sequences.HalvingDownTheIndex)
def halving_down_the_index(q, answer):
    f = {1: q.start}
    for n in range(2, q.index + 1):
        f[n] = f[n // 2] + f[n // 2 + 1] if n % 2 else f[n // 2] + q.step
    return answer == f[q.index]


@check(sequences.RootsRoundedDown)
def roots_rounded_down(q, answer):
    return answer == sum(isqrt(n) for n in range(q.start, q.end + 1))


@check(sequences.NumbersAsInADictionary)
def numbers_as_in_a_dictionary(q, answer):
    return answer == sorted(range(1, q.last + 1), key=str)[q.place - 1]


@check(sequences.NoThreeEvenlySpaced)
def no_three_evenly_spaced(q, answer):
    terms = {q.start}
    new = q.start
    while len(terms) < q.place:
        new += 1
        if not any(2 * middle - new in terms for middle in terms):
            terms.add(new)
    return answer == new
