"""Readers of opencompass_gpassk.rv.leetcode.sequences."""

from __future__ import annotations

from itertools import count, groupby, islice
from math import isqrt

from rv_texts import numbers, reader


@reader
def badges_without_multiples(text, answer):
    left_out, place = numbers(text)
    badges = (n for n in count(1) if n % left_out)
    return answer == next(islice(badges, place - 1, None))


@reader
def numbers_in_blocks(text, answer):
    *blocks, wanted = numbers(text)
    start = blocks[0]
    terms = [number for number in range(start, 40) for _ in range(number)]
    said = blocks == [start, start, start + 1, start + 1, start + 2, start + 2]
    return said and answer == sum(terms[:wanted])


@reader
def lost_second_term(text, answer):
    first, seventh = numbers(text)
    for second in range(seventh):
        terms = [first, second]
        while len(terms) < 10:
            terms.append(terms[-1] + terms[-2])
        if terms[6] == seventh:
            return answer == terms[9]
    return False


@reader
def term_less_the_one_before(text, answer):
    _, first, _, second, *_, last = numbers(text)
    terms = [first, second]
    while len(terms) < last:
        terms.append(terms[-1] - terms[-2])
    return answer == sum(terms)


@reader
def squares_among_cubes(text, answer):
    above, place = numbers(text)
    cubes = {n * n * n for n in range(100)}
    written = (n for n in count(above + 1) if isqrt(n) ** 2 == n or n in cubes)
    return answer == next(islice(written, place - 1, None))


def may_describe_itself(terms):
    runs = [len(list(run)) for _, run in groupby(terms)]
    finished = all(run == term for run, term in zip(runs[:-1], terms, strict=False))
    return finished and runs[-1] <= terms[len(runs) - 1]


@reader
def runs_that_count_themselves(text, answer):
    one, other, first, wanted = numbers(text)
    beginnings = [[first]]
    for _ in range(wanted - 1):
        longer = [[*terms, new] for terms in beginnings for new in (one, other)]
        beginnings = [terms for terms in longer if may_describe_itself(terms)]
    return {answer} == {sum(terms) for terms in beginnings}


@reader
def square_treadmill(text, answer):
    _, x, _, _, shift, modulus, place = numbers(text)
    for _ in range(place - 1):
        x = (x * x + shift) % modulus
    return answer == x


@reader
def odd_parts_added_up(text, answer):
    *_, start, end = numbers(text)
    total = 0
    for n in range(start, end + 1):
        while n % 2 == 0:
            n //= 2
        total += n
    return answer == total


@reader
def halving_down_the_index(text, answer):
    one, start, _, _, step, _, _, _, index = numbers(text)
    f = {one: start}
    for n in range(2, index + 1):
        f[n] = f[n // 2] + f[n // 2 + 1] if n % 2 else f[n // 2] + step
    return answer == f[index]


@reader
def roots_rounded_down(text, answer):
    start, end = numbers(text)
    return answer == sum(isqrt(n) for n in range(start, end + 1))


@reader
def numbers_as_in_a_dictionary(text, answer):
    first, last, *_, place = numbers(text)
    return answer == sorted(range(first, last + 1), key=str)[place - 1]


@reader
def no_three_evenly_spaced(text, answer):
    start, place = numbers(text)
    terms = {start}
    new = start
    while len(terms) < place:
        new += 1
        if not any(2 * middle - new in terms for middle in terms):
            terms.add(new)
    return answer == new
