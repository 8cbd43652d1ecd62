"""Refusals that may be the fault of a setting: held back until a reply shows that they aren't.

Where no prompt brings a reply, a harmless one that is none of the jobs must.
"""

from __future__ import annotations

from opencompass_gpassk.judging.http.jobs import Job
from opencompass_gpassk.judging.judge import Failure

__all__ = ['PROBE', 'Suspicion']

MOST = 8  # refusals and not one reply: time to look into it
PROBE = 'What is 1 + 1?'


class Suspicion:
    """Holds the first refusals, lest prompts be blamed for good for what would meet any of them.

    Args:
        roomy: Prompts of fewer characters should fit; one that is too long is suspicious. That is
            ``max_tokens``, which alone may be more than the server's context has.
    """

    def __init__(self, roomy: int) -> None:
        self.held: list[tuple[Job, Failure]] = []
        self._roomy = roomy
        self._lifted = False

    @property
    def full(self) -> bool:
        """So many are held that it should be found out whose fault it is."""
        return len(self.held) >= MOST

    def holds(self, job: Job, failure: Failure) -> bool:
        """Tell whether an outcome is held back."""
        too_long = failure.kind == 'too long' and len(job.prompt) < self._roomy
        if self._lifted or not (too_long or failure.kind == 'refused'):
            return False
        self.held.append((job, failure))
        return True

    def lift(self) -> list[tuple[Job, Failure]]:
        """Hold nothing any longer; return what was held."""
        self._lifted = True
        held, self.held = self.held, []
        return held

    def explain(self) -> str:
        """Return what a user is told if even a harmless prompt is refused."""
        _, failure = self.held[-1]
        remedy = (
            'lower max_tokens of judge or serve the model with a longer context: prompts of fewer '
            f'characters than max_tokens, {self._roomy}, found no room'
            if failure.kind == 'too long'
            else 'check max_tokens, temperature and extra_body of judge'
        )
        return (
            f'the judge refused its first {len(self.held)} prompts, and {PROBE!r} too; {remedy}. '
            f'It says: {failure.detail}'
        )
