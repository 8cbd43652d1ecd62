"""What becomes of a judge's replies to questions about steps."""

from __future__ import annotations

from opencompass_gpassk.judging.ask import excerpt, reason_of
from opencompass_gpassk.judging.judge import Failure, JudgeError, JudgingBar, Ledger, Outcome
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import Solution
from opencompass_gpassk.reasoneval.step_findings import StepFinding
from opencompass_gpassk.reasoneval.step_replies import read_steps

__all__ = ['Job', 'StepAsking']

UNREADABLE = 'unreadable reply of the judge'
CUT_OFF = 'reply of the judge cut off at max_tokens'
SUSPICIOUS = 16  # answers that can't be read, twice each, and not one that can

Job = tuple[Solution, ErrorKind]


class StepAsking:
    """One asking of a judge: reads its replies into what is known.

    Args:
        known: What was said of each job; this adds to it.
        ledger: Counts replies that can't be read.
        bar: Shows how many jobs are settled.
    """

    def __init__(self, known: dict[Job, StepFinding], ledger: Ledger, bar: JudgingBar) -> None:
        self._known = known
        self._ledger = ledger
        self._bar = bar
        self._again: set[Job] = set()
        self._unreadable = 0
        self._readable = any(finding.steps is not None for finding in known.values())

    def receive(self, job: Job, outcome: Outcome) -> bool:
        """Take what came of a job; tell whether to ask once more.

        Raises:
            JudgeError: If the judge never gives an answer that can be read.
        """
        if isinstance(outcome, Failure):
            self._settle(job, StepFinding(None, reason_of(outcome), not outcome.permanent))
            return False
        solution, kind = job
        steps = read_steps(outcome.text, kind, len(solution.steps))
        if steps is not None and not outcome.truncated:
            self._readable = True
            self._settle(job, StepFinding(steps))
            return False
        self._ledger.failures['unreadable'] += 1
        if job not in self._again:
            self._again.add(job)
            return True
        failure = CUT_OFF if outcome.truncated else f'{UNREADABLE}: {excerpt(outcome.text)}'
        self._settle(job, StepFinding(None, failure, passing=True))  # a judge may sample
        self._unreadable += 1
        if self._unreadable >= SUSPICIOUS and not self._readable:
            raise JudgeError(
                f'the judge replied to {SUSPICIOUS} prompts, twice to each, and ended none with '
                f'the line it is asked for ({self._known[job].failure}); ask a model that follows '
                'instructions, or raise max_tokens'
            )
        return False

    def _settle(self, job: Job, finding: StepFinding) -> None:
        self._known[job] = finding
        self._bar.advance()
