"""Steps judged by a language model that is asked with prompts: ReasonEval's axis without a GPU.

A judge is asked for the first wrong step of a solution, and for its redundant steps: the
prompting-based evaluators of arXiv 2404.05692, Figure 6, in words of our own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.judging.inquiry import excerpt, reason_of
from opencompass_gpassk.judging.judge import Failure, Judge, JudgeError, Outcome
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.progress import JudgingBar
from opencompass_gpassk.judging.prompted import make_judge
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores
from opencompass_gpassk.reasoneval.step_findings import JudgedSteps, StepFinding
from opencompass_gpassk.reasoneval.step_replies import fill_prompt, prompt_text, read_steps

__all__ = ['PromptedStepJudge']

UNREADABLE = 'unreadable reply of the judge'
CUT_OFF = 'reply of the judge cut off at max_tokens'
NO_REPLY = 'no reply'
SUSPICIOUS = 16  # answers that can't be read, twice each, and not one that can
AT_ONCE = 256  # solutions that are asked about together where scores are streamed
IDLE = (
    *('match', 'prompt', 'menu', 'candidate', 'no_answer', 'tail_length', 'recheck_different'),
    'price_per_mtok',
)

Job = tuple[Solution, ErrorKind]


class PromptedStepJudge:
    """A judge that is asked about the steps of solutions, one question a prompt.

    Answers stay with the object: equal solutions are asked about once, and after a
    :class:`JudgeError`, or failures that may pass, a second call asks for what is missing alone.

    Args:
        judge: Who is asked, or the settings that name it: model, endpoints, decoding.
        kinds: What it is asked for, by default both: the first wrong step, and the redundant ones.

    Attributes:
        ledger: Counts calls, retries, failures and tokens of all calls.

    Raises:
        ValueError: If the settings name no judge, or hold some that have no effect here.
    """

    def __init__(
        self, judge: Judge | JudgeSettings, *, kinds: Iterable[ErrorKind] = tuple(ErrorKind)
    ) -> None:
        self.asked_for = tuple(dict.fromkeys(kinds))
        for kind in self.asked_for:
            if not isinstance(kind, ErrorKind):
                raise ValueError(f'kinds of PromptedStepJudge: {kind!r} is no ErrorKind')
        if not self.asked_for:
            raise ValueError('kinds of PromptedStepJudge: there is none; give one, or leave it out')
        self.judge = _made(judge) if isinstance(judge, JudgeSettings) else judge
        self.prompts = {kind: prompt_text(kind) for kind in self.asked_for}
        self.ledger = Ledger()
        self._known: dict[Job, StepFinding] = {}

    @property
    def settings(self) -> dict[str, Any]:
        """What scores depend on beside the solution, as values that JSON holds."""
        return {
            'model': self.judge.model,
            'decoding': dict(self.judge.settings),
            'prompts': {kind.value: stable_hash(text) for kind, text in self.prompts.items()},
        }

    def find(self, solutions: Sequence[Solution], *, progress: bool = False) -> list[JudgedSteps]:
        """Return what the judge finds in each solution, in their order.

        A reply that can't be read is asked for once more; then the solution has no answer, with the
        reason. Solutions without any text are not asked about.

        Args:
            solutions: Equal ones are asked about once.
            progress: Show a bar on standard error.

        Raises:
            JudgeError: If the judge can't be asked at all, or gives no answer that can be read; the
                answers so far stay with the object.
        """
        jobs = [
            (solution, kind)
            for solution in dict.fromkeys(solutions)
            for kind in self.asked_for
            if not _empty(solution) and not self._answered((solution, kind))
        ]
        if jobs:
            with JudgingBar(len(jobs), self.ledger, shown=progress) as bar:
                asking = _Asking(self._known, self.ledger, bar)
                prompts = ((job, fill_prompt(self.prompts[job[1]], job[0])) for job in jobs)
                self.judge.ask(prompts, asking.receive, self.ledger)
        return [self._judged(solution) for solution in solutions]

    def score(self, solutions: Sequence[Solution], *, progress: bool = False) -> list[StepScores]:
        """Return hard probabilities of each solution, as :meth:`.StepScorer.score` returns soft.

        Raises:
            JudgeError: As :meth:`find` does.
            ValueError: If the judge is asked for one kind alone.
        """
        self._require_both()
        return [judged.scores() for judged in self.find(solutions, progress=progress)]

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield index and scores of each solution, some hundreds at a time, so as to keep them.

        Raises:
            JudgeError: As :meth:`find` does.
            ValueError: If the judge is asked for one kind alone.
        """
        self._require_both()
        pending = iter(enumerate(solutions))
        while some := list(itertools.islice(pending, AT_ONCE)):
            indexes, batch = zip(*some, strict=True)
            yield from zip(indexes, self.score(batch, progress=progress), strict=True)

    def _require_both(self) -> None:
        if set(self.asked_for) != set(ErrorKind):
            raise ValueError(
                'kinds of PromptedStepJudge: scores tell both, wrong steps and redundant ones; '
                'leave kinds out, or take what find() returns'
            )

    def _answered(self, job: Job) -> bool:
        known = self._known.get(job)
        return known is not None and not known.passing

    def _judged(self, solution: Solution) -> JudgedSteps:
        count = len(solution.steps)
        if _empty(solution):
            return JudgedSteps(count, refusal=Refusal.EMPTY)
        missing = StepFinding(None, NO_REPLY, passing=True)
        found = {kind: self._known.get((solution, kind), missing) for kind in self.asked_for}
        return JudgedSteps(count, found.get(ErrorKind.INVALID), found.get(ErrorKind.REDUNDANT))


class _Asking:
    """One asking of the judge: reads its replies into what is known."""

    def __init__(self, known: dict[Job, StepFinding], ledger: Ledger, bar: JudgingBar) -> None:
        self._known = known
        self._ledger = ledger
        self._bar = bar
        self._again: set[Job] = set()
        self._unreadable = 0
        self._readable = any(finding.steps is not None for finding in known.values())

    def receive(self, job: Job, outcome: Outcome) -> bool:
        """Take what came of a job; tell whether to ask once more."""
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


def _empty(solution: Solution) -> bool:
    return not any(step.strip() for step in solution.steps)


def _made(settings: JudgeSettings) -> Judge:
    default = {one.name: one.default for one in fields(JudgeSettings)}
    for name in IDLE:
        if getattr(settings, name) != default[name]:
            raise ValueError(
                f'{name} of judge has no effect on the steps of solutions, which have prompts of '
                'their own; leave it out'
            )
    return make_judge(settings)
