"""Checks of opencompass_gpassk.rv.math.number_theory."""

from __future__ import annotations

from opencompass_gpassk.rv.math import number_theory as nt
from rv_checks import check


@check(nt.LampsInStep)
def lamps_in_step(q, answer):
    seconds = range(1, 60 * q.minutes + 1)
    return answer == sum(s % q.first == 0 and s % q.second == 0 for s in seconds)
