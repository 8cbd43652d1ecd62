"""Steps judged by a language model that is asked with prompts: ReasonEval's axis without a GPU.

A judge is asked for the first wrong step of a solution, and for its redundant steps: the
prompting-based evaluators of arXiv 2404.05692, Figure 6, in words of our own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from typing import Any

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.judging.ask import ask_aside, make_judge
from opencompass_gpassk.judging.judge import Judge, JudgingBar, Ledger
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores
from opencompass_gpassk.reasoneval.step_asking import Job, StepAsking
from opencompass_gpassk.reasoneval.step_findings import JudgedSteps, StepFinding
from opencompass_gpassk.reasoneval.step_replies import fill_prompt, prompt_text

__all__ = ['PromptedStepJudge']

NO_REPLY = 'no reply'
IDLE = (
    *('match', 'prompt', 'menu', 'candidate', 'no_answer', 'tail_length', 'recheck_different'),
    'price_per_mtok',
)


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
        jobs = self._open(solutions)
        if jobs:
            with JudgingBar(len(jobs), self.ledger, shown=progress) as bar:
                asking = StepAsking(self._known, self.ledger, bar)
                self.judge.ask(self._prompted(jobs), asking.receive, self.ledger)
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
        """Yield index and scores of each solution as soon as both its questions are settled.

        The judge is asked in a thread meanwhile (:func:`~.ask.ask_aside`); what was yielded can
        be kept at once.

        Args:
            solutions: Equal ones are asked about once.
            progress: Show a bar on standard error.

        Raises:
            JudgeError: As :meth:`find` does, after all that was settled before is yielded.
            ValueError: If the judge is asked for one kind alone.
        """
        self._require_both()
        places: dict[Solution, list[int]] = {}
        for index, solution in enumerate(solutions):
            places.setdefault(solution, []).append(index)
        jobs = self._open(places)
        left = Counter(solution for solution, _ in jobs)
        yield from self._placed(places, [one for one in places if not left[one]])
        if not jobs:
            return
        with JudgingBar(len(jobs), self.ledger, shown=progress) as bar:
            receive = StepAsking(self._known, self.ledger, bar).receive
            answers = ask_aside(self.judge, self._prompted(jobs), receive, self.ledger)
            with closing(answers):
                for solution, _ in answers:
                    left[solution] -= 1
                    if not left[solution]:
                        yield from self._placed(places, [solution])
        yield from self._placed(places, [one for one in places if left[one]])

    def _placed(
        self, places: Mapping[Solution, Sequence[int]], settled: Iterable[Solution]
    ) -> Iterator[tuple[int, StepScores]]:
        for solution in settled:
            scores = self._judged(solution).scores()
            for index in places[solution]:
                yield index, scores

    def _open(self, solutions: Iterable[Solution]) -> list[Job]:
        """Return what is still to be asked about solutions."""
        return [
            (solution, kind)
            for solution in dict.fromkeys(solutions)
            for kind in self.asked_for
            if not _empty(solution) and not self._answered((solution, kind))
        ]

    def _prompted(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, str]]:
        return ((job, fill_prompt(self.prompts[job[1]], job[0])) for job in jobs)

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
