"""Between which figures the truth lies while some responses are unjudged."""

from __future__ import annotations

import dataclasses
import math

from opencompass_gpassk.measured import headline_figures, problem_figures
from opencompass_gpassk.protocol import MAJORITY_VOTE, Protocol, accuracy_key
from opencompass_gpassk.soundness import SOUND, scored_trials, surely_sound_trials
from opencompass_gpassk.trials import TrialTable, Verdict
from opencompass_gpassk.version_groups import monotone

__all__ = ['bounds', 'bounds_line']


def bounds(table: TrialTable, protocol: Protocol) -> dict[str, list[float]]:
    """Return each metric with all unjudged responses wrong, and with all of them right.

    A metric of n and c grows with c, so whatever verdicts the unjudged ones would get, it lies
    between the two. Lost responses are unjudged too. The majority vote is left out: it depends on
    which answers would turn out to be the same one. So is what compares versions with originals,
    such as OOR, which falls where a version turns right. Of the sound figures it is whatever
    isn't known to be wrong or invalid that may be sound.

    Returns:
        Name of the metric → [lowest, highest] in percent, NaN where undefined; empty where nothing
        is unjudged.
    """
    if protocol.sound is not None:
        plain = dataclasses.replace(protocol, sound=None)
        found = _bounds(table, plain) if not table.judged.all() else {}
        if scored_trials(table).judged.all():
            return found
        of_sound = _bounds(surely_sound_trials(table, protocol.sound), plain)
        names = set(problem_figures(table, plain)) - {MAJORITY_VOTE}
        return found | {f'{SOUND}{name}': ends for name, ends in of_sound.items() if name in names}
    return {} if table.judged.all() else _bounds(table, protocol)


def _bounds(table: TrialTable, protocol: Protocol) -> dict[str, list[float]]:
    lowest, highest = (
        headline_figures(table.settled(verdict), protocol)
        for verdict in (Verdict.INCORRECT, Verdict.CORRECT)
    )
    plain = set(problem_figures(table, protocol)) - {MAJORITY_VOTE}
    return {
        name: [low, highest[name]]
        for name, low in lowest.items()
        if name in plain or monotone(name)
    }


def bounds_line(found: dict[str, list[float]], protocol: Protocol, *, sound: bool = False) -> str:
    """Return the bounds of the headline metrics as text, such as ``pass@4 50.0 to 62.5``.

    Args:
        found: The bounds.
        protocol: What was measured.
        sound: Tell of the sound figures instead of the plain ones.
    """
    names = [accuracy_key(protocol.n)]
    names += [name for name in found if name.startswith('GA@') or name == 'CR']
    if protocol.ks:
        k, tau = max(protocol.ks), max(protocol.taus, default=1.0)
        names += [f'pass@{k}', f'G-Pass@{k}_{float(tau)}', f'mG-Pass@{k}']
    names = [f'{SOUND}{name}' for name in names] if sound else names
    shown = [name for name in names if name in found and not math.isnan(sum(found[name]))]
    return ', '.join(f'{name} {found[name][0]:.1f} to {found[name][1]:.1f}' for name in shown)
