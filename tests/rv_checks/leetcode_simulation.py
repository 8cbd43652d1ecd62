"""Checks of opencompass_gpassk.rv.leetcode.simulation."""

from __future__ import annotations

from collections import deque

from opencompass_gpassk.rv.leetcode import simulation
from rv_checks import check


@check(simulation.RowsInGroupsOfSeven)
def rows_in_groups_of_seven(q, answer):
    arena, first = 0, q.start - 1
    for row in range(q.rows):
        if row % 7 == 0:
            first = seats = first + 1
        else:
            seats += 1
        arena += seats
    return answer == arena


@check(simulation.TrainUpAndDownTheMountain)
def train_up_and_down_the_mountain(q, answer):
    station, way = 1, 1
    for _ in range(q.rides):
        if not 1 <= station + way <= q.stations:
            way = -way
        station += way
    return answer == station


@check(simulation.CanAfterCanOnTheBeds)
def can_after_can_on_the_beds(q, answer):
    lacking = dict(enumerate(q.cans, 1))
    minutes = 0
    while lacking[q.bed]:
        for bed in lacking:
            if lacking[bed] and lacking[q.bed]:
                lacking[bed] -= 1
                minutes += 1
    return answer == minutes


@check(simulation.StrikesOfTheTownClock)
def strikes_of_the_town_clock(q, answer):
    strikes = 0
    for minute in range(60 * q.start + 15, 60 * (q.start + q.hours) + 15):
        hour, past = divmod(minute, 60)
        if past == 0:
            strikes += hour % 12 or 12
        strikes += past == 30
    return answer == strikes


@check(simulation.EveryFewLampsRoundTheRing)
def every_few_lamps_round_the_ring(q, answer):
    on = [False] * q.lamps
    place = 0
    for _ in range(q.presses):
        place = (place + q.step) % q.lamps
        on[place] = not on[place]
    return answer == sum(on)


@check(simulation.VatDrainedWhenFull)
def vat_drained_when_full(q, answer):
    litres, fillings = 0, 0
    while litres != q.target and fillings <= q.vat:
        fillings += 1
        for _ in range(q.jug):
            litres += 1
            if litres == q.vat:
                litres = 0
    return answer == fillings


@check(simulation.CountedOutOfTheCircle)
def counted_out_of_the_circle(q, answer):
    circle = deque(range(1, q.children + 1))
    while circle[0] != q.start:
        circle.rotate(-1)
    while len(circle) > 1:
        for _ in range(q.count - 1):
            circle.append(circle.popleft())
        circle.popleft()
    return answer == circle[0]


@check(simulation.CardsTakenToAndFro)
def cards_taken_to_and_fro(q, answer):
    met = list(range(q.low, q.high + 1))
    while len(met) > 1:
        met = met[1::2][::-1]
    return [answer] == met


@check(simulation.RobotOnASquareSpiral)
def robot_on_a_square_spiral(q, answer):
    place, way = complex(q.x, q.y), 1
    path, side = [place], 0
    while len(path) <= q.steps:
        side += 1
        for _ in range(2):
            for _ in range(side):
                path.append(path[-1] + way)
            way *= 1j
    return answer == (path[q.steps].real, path[q.steps].imag)


@check(simulation.RobotRepeatsItsProgram)
def robot_repeats_its_program(q, answer):
    north, east, ahead = 0, 0, (1, 0)
    for _ in range(q.runs):
        for steps in (q.first, q.second, q.third):
            for _ in range(steps):
                north, east = north + ahead[0], east + ahead[1]
            ahead = {(1, 0): (0, 1), (0, 1): (-1, 0), (-1, 0): (0, -1), (0, -1): (1, 0)}[ahead]
    return answer == (east, north)


@check(simulation.BeetlesOnARuler)
def beetles_on_a_ruler(q, answer):
    places = [2 * mark for mark in q.marks]  # in half marks, so that they meet at whole numbers
    ways = [1, -1, 1, -1]
    for _ in range(2 * q.seconds):
        places = [place + way for place, way in zip(places, ways, strict=True)]
        for one in range(4):
            met = any(places[one] == places[other] for other in range(4) if other != one)
            if met or places[one] in (0, 2 * q.length):
                ways[one] = -ways[one]
    return 2 * answer == places[1]


@check(simulation.HanoiHaltedHalfway)
def hanoi_halted_halfway(q, answer):
    def bring(disc, source, target, spare):
        if disc:
            yield from bring(disc - 1, source, spare, target)
            yield source, target
            yield from bring(disc - 1, spare, target, source)

    pegs = [list(range(q.discs, 0, -1)), [], []]
    for done, (source, target) in enumerate(bring(q.discs, 0, 2, 1)):
        if done == q.moves:
            break
        pegs[target].append(pegs[source].pop())
    return answer == tuple(map(len, pegs))
