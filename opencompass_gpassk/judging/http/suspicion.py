"""Refusals that may be the fault of a setting, the key or the server: held back for a while.

They are believed once the endpoint that they came from gives a reply. Where no prompt brings one, a
harmless prompt that is none of the jobs must.
"""

from __future__ import annotations

from opencompass_gpassk.judging.http.faults import Fault
from opencompass_gpassk.judging.http.jobs import Job

__all__ = ['PROBE', 'Suspicion']

MOST = 8  # refusals and not one reply: time to look into it
PROBE = 'What is 1 + 1?'


class Suspicion:
    """Holds refusals of one endpoint, lest prompts be blamed for what would meet any of them.

    Args:
        roomy: Prompts of fewer characters should fit; one that is too long is suspicious. That is
            ``max_tokens``, which alone may be more than the server's context has.

    Attributes:
        looking: A harmless prompt is on its way.
    """

    def __init__(self, roomy: int) -> None:
        self.looking = False
        self._held: list[tuple[float, Job, Fault]] = []
        self._roomy = roomy
        self._lifted = False

    def holds(self, job: Job, fault: Fault, now: float) -> bool:
        """Tell whether a refusal that came just now is held back.

        After a reply no setting is to blame any longer; that the key is forbidden to be used may
        change at any time.
        """
        too_long = fault.kind == 'too long' and len(job.prompt) < self._roomy
        suspicious = not self._lifted and (too_long or fault.kind == 'refused')
        if not (suspicious or fault.forbids):
            return False
        self._held.append((now, job, fault))
        return True

    @property
    def holding(self) -> bool:
        """Something is held back."""
        return bool(self._held)

    def due(self, idle: bool) -> bool:
        """Tell whether it is time for a harmless prompt: for a few refusals, or if all is done."""
        return not self.looking and len(self._held) >= (1 if idle else MOST)

    def lift(self, sent: float) -> list[tuple[Job, Fault]]:
        """Return what can be believed after a reply to what was sent at a moment.

        That a key may be used shows only what was sent after it seemed forbidden.
        """
        self._lifted = True
        open_ones = [one for one in self._held if one[2].forbids and one[0] > sent]
        believed = [
            (job, fault) for at, job, fault in self._held if not fault.forbids or at <= sent
        ]
        self._held = open_ones
        return believed

    def drop(self) -> list[Job]:
        """Return the jobs whose refusals can't be believed, and hold nothing."""
        held, self._held = self._held, []
        return [job for _, job, _ in held]
