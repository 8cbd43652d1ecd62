"""Readers of opencompass_gpassk.rv.leetcode.simulation."""

from __future__ import annotations

from collections import deque

from rv_texts import numbers, reader


@reader
def rows_in_groups_of_seven(text, answer):
    one, start, rows = numbers(text)
    arena, first = 0, start - one
    for row in range(rows):
        if row % 7 == 0:
            first = seats = first + 1
        else:
            seats += 1
        arena += seats
    return answer == arena


@reader
def train_up_and_down_the_mountain(text, answer):
    stations, station, *named, rides = numbers(text)
    way = 1
    for _ in range(rides):
        if not 1 <= station + way <= stations:
            way = -way
        station += way
    return named == [stations, 1, stations, 1] and answer == station


@reader
def can_after_can_on_the_beds(text, answer):
    *cans, wanted = numbers(text)
    lacking = dict(enumerate(cans, 1))
    minutes = 0
    while lacking[wanted]:
        for bed in lacking:
            if lacking[bed] and lacking[wanted]:
                lacking[bed] -= 1
                minutes += 1
    return answer == minutes


@reader
def strikes_of_the_town_clock(text, answer):
    hours, start = numbers(text)
    strikes = 0
    for minute in range(60 * start + 15, 60 * (start + hours) + 15):
        hour, past = divmod(minute, 60)
        if past == 0:
            strikes += hour % 12 or 12
        strikes += past == 30
    return answer == strikes


@reader
def every_few_lamps_round_the_ring(text, answer):
    lamps, presses, step = numbers(text)
    on = [False] * lamps
    place = 0
    for _ in range(presses):
        place = (place + step) % lamps
        on[place] = not on[place]
    return answer == sum(on)


@reader
def vat_drained_when_full(text, answer):
    jug, vat, target = numbers(text)
    litres, fillings = 0, 0
    while litres != target and fillings <= vat:
        fillings += 1
        for _ in range(jug):
            litres += 1
            if litres == vat:
                litres = 0
    return answer == fillings


@reader
def counted_out_of_the_circle(text, answer):
    first, children, start, count, again, last, last_count = numbers(text)
    circle = deque(range(first, children + 1))
    while circle[0] != start:
        circle.append(circle.popleft())
        if circle[0] == first:
            return False  # there is no such child
    while len(circle) > 1:
        circle.rotate(1 - count)
        circle.popleft()
    said = (first, children, count) == (again, last, last_count)
    return said and answer == circle[0]


@reader
def cards_taken_to_and_fro(text, answer):
    low, high = numbers(text)
    met = list(range(low, high + 1))
    while len(met) > 1:
        met = met[1::2][::-1]
    return [answer] == met


@reader
def robot_on_a_square_spiral(text, answer):
    x, y, _, *sides, steps = numbers(text)
    place, way = complex(x, y), 1
    path, side = [place], 0
    while len(path) <= steps:
        side += 1
        for _ in range(2):
            for _ in range(side):
                path.append(path[-1] + way)
            way *= 1j
    said = sides == [1, 1, 2, 2, 3, 3, 4]
    return said and answer == (path[steps].real, path[steps].imag)


@reader
def robot_repeats_its_program(text, answer):
    east, north, first, second, third, _, _, runs = numbers(text)
    ahead = (1, 0)
    for _ in range(runs):
        for steps in (first, second, third):
            for _ in range(steps):
                north, east = north + ahead[0], east + ahead[1]
            ahead = {(1, 0): (0, 1), (0, 1): (-1, 0), (-1, 0): (0, -1), (0, -1): (1, 0)}[ahead]
    return answer == (east, north)


@reader
def beetles_on_a_ruler(text, answer):
    *marks, zero, length, second, seconds = numbers(text)
    places = [2 * mark for mark in marks]  # in half marks, so that they meet at whole numbers
    ways = [1, -1, 1, -1]
    for _ in range(2 * seconds):
        places = [place + way for place, way in zip(places, ways, strict=True)]
        for one in range(4):
            met = any(places[one] == places[other] for other in range(4) if other != one)
            if met or places[one] in (2 * zero, 2 * length):
                ways[one] = -ways[one]
    return max(marks) < length and second == marks[1] and 2 * answer == places[1]


@reader
def hanoi_halted_halfway(text, answer):
    def bring(disc, source, target, spare):
        if disc:
            yield from bring(disc - 1, source, spare, target)
            yield source, target
            yield from bring(disc - 1, spare, target, source)

    discs, moves = numbers(text)
    pegs = [list(range(discs, 0, -1)), [], []]
    for done, (source, target) in enumerate(bring(discs, 0, 2, 1)):
        if done == moves:
            break
        pegs[target].append(pegs[source].pop())
    return answer == tuple(map(len, pegs))
