"""Steps judged by a language model that is asked with prompts: ReasonEval's axis without a GPU.

A judge is asked for the first wrong step of a solution, and for its redundant steps. These are the
prompting-based evaluators of arXiv 2404.05692, Figure 6, with our own wording. The last line of a
reply must be ``\\boxed{…}`` with the word none, the number of the first wrong step, or the numbers
of all redundant steps. Any other reply counts as unreadable; nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.answers.extract import spoken
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.judging.judge import Answer, Asker, Judge, Ledger, in_thread, make_judge
from opencompass_gpassk.judging.prompt import QUOTED, defuse, neutralise
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import CLASSES, Refusal, Solution, StepScores

__all__ = [
    'JudgedSteps',
    'PromptedStepJudge',
    'StepFinding',
    'fill_prompt',
    'prompt_text',
    'read_steps',
]


@dataclass(frozen=True)
class StepFinding:
    """The judge's answer to one question about a solution, or the reason why there is none.

    Attributes:
        steps: Indexes, from 0, of the named steps: the first wrong one, or all redundant ones;
            empty if there are none. None if the judge gave no readable answer.
        failure: The reason, beginning with a short name for counts; '' if there is an answer.
        passing: Whether the failure is temporary, so that asking again later may help.
    """

    steps: tuple[int, ...] | None
    failure: str = ''
    passing: bool = False


@dataclass(frozen=True)
class JudgedSteps:
    """A judge's findings about one solution of S steps. A missing answer counts as unknown.

    Attributes:
        count: Number of steps, S.
        invalid: The first wrong step; None if not asked for.
        redundant: The redundant steps; None if not asked for.
        refusal: Why the judge was not asked about the solution; None if it was.
    """

    count: int
    invalid: StepFinding | None = None
    redundant: StepFinding | None = None
    refusal: Refusal | None = None

    def finding(self, kind: ErrorKind) -> StepFinding | None:
        """Return the finding of one kind."""
        return self.invalid if kind is ErrorKind.INVALID else self.redundant

    def named(self, kind: ErrorKind) -> NDArray[np.float64]:
        """Return 1 for each step that was named as an error of a kind, else 0, shape (S,).

        All are NaN if there is no answer. The steps after the first wrong one, about which the
        judge isn't asked, are 0.
        """
        finding = self.finding(kind)
        if finding is None or finding.steps is None:
            return np.full(self.count, np.nan)
        named = np.zeros(self.count)
        named[list(finding.steps)] = 1.0
        return named

    def scores(self) -> StepScores:
        """Return hard probabilities: for each step one class is 1 and the others are 0.

        The first wrong step is negative; of the others, redundant ones are neutral and the rest
        positive. A solution that lacks an answer is refused: its scores are NaN, and the refusal
        says whether asking again may help.
        """
        if self.refusal is not None:
            return StepScores.refused(self.count, self.refusal)
        wrong, idle = (self.named(kind) for kind in (ErrorKind.INVALID, ErrorKind.REDUNDANT))
        if np.isnan(wrong).any() or np.isnan(idle).any():
            missing = [one for one in (self.invalid, self.redundant) if one and one.steps is None]
            final = any(not one.passing for one in missing)
            return StepScores.refused(self.count, Refusal.DECLINED if final else Refusal.UNJUDGED)
        classes = np.where(wrong == 1, 0, np.where(idle == 1, 1, 2))
        return StepScores(np.eye(len(CLASSES))[classes])


FOLDER = Path(__file__).parent / 'prompts'
PLACEHOLDER = re.compile(r'\{(question|steps|count)\}')
END_TOKENS = re.compile(r'(?:\s{0,9}(?:<\|\w{1,40}\|>|</s>)){1,3}\Z')
BOX = re.compile(r'\\boxed(?![A-Za-z])')
# A box, perhaps with \text{…} in it, and other decoration of its word or numbers.
ANSWER = re.compile(
    r'\\boxed\s{0,3}\{(?:\s{0,3}\\(?:text\w{0,2}|math\w{2})\s{0,3}\{(?P<inner>[^{}]*)\}\s{0,3}'
    r'|(?P<outer>[^{}]*))\}'
)
NONE = 'none'
LISTED = re.compile(r'(?:steps?\s{1,3})?([1-9][0-9]{0,8}(?:\s{0,3},\s{0,3}[1-9][0-9]{0,8})*)')
CLOSING = ' \t\r\n*_`$.")]\\\''  # may follow the box, as in \[ \boxed{2} \]


def prompt_text(kind: ErrorKind) -> str:
    """Return the template of the prompt that asks for errors of a kind."""
    return (FOLDER / f'{kind.value}_en.txt').read_text('utf-8')


def fill_prompt(template: str, solution: Solution) -> str:
    """Return the prompt about a solution, filled in one pass: placeholders in values stay text.

    Each step has a heading with its number. All lines of a step are marked as quoted, so that none
    can pass for a heading or the end of the solution. Boxes and signs of chat templates in steps
    are neutralised. The question keeps its wording, but nothing in it can act as a turn.
    """
    values = {
        'question': defuse(solution.question),
        'steps': '\n'.join(
            f'[Step {number}]\n{_quoted(step)}' for number, step in enumerate(solution.steps, 1)
        ),
        'count': str(len(solution.steps)),
    }
    return PLACEHOLDER.sub(lambda place: values[place[1]], template)


def read_steps(reply: str, kind: ErrorKind, count: int) -> tuple[int, ...] | None:
    r"""Return the steps that a reply names; None if it can't be read.

    Thoughts are left out. The last line counts, and must hold one box: with the word none, a
    number, or for redundant steps several. The time is linear in the reply's length.

    Args:
        reply: The judge's whole reply.
        kind: The kind of errors that it was asked for.
        count: Number of steps in the solution.

    Returns:
        Indexes from 0, rising, each once; empty if the box says none. None if the box is missing,
        holds ranges, several wrong steps or other text, or names a step that doesn't exist.

    >>> read_steps('Step 2 adds wrongly.\n\\boxed{2}', ErrorKind.INVALID, 3)
    (1,)
    """
    text = END_TOKENS.sub('', spoken(reply).rstrip()).rstrip(CLOSING)
    line = text[max(text.rfind(end) for end in '\n\r') + 1 :]
    boxes = list(BOX.finditer(line))
    answer = ANSWER.fullmatch(line, boxes[0].start()) if len(boxes) == 1 else None
    if answer is None:
        return None
    said = (answer['inner'] if answer['outer'] is None else answer['outer']).strip().lower()
    if said == NONE:
        return ()
    listed = LISTED.fullmatch(said)
    if listed is None:
        return None
    named = sorted({int(number) - 1 for number in listed[1].split(',')})
    if named[-1] >= count or (kind is ErrorKind.INVALID and ',' in said):
        return None
    return tuple(named)


def _quoted(step: str) -> str:
    shown = neutralise(step)  # it marks the lines if there are several
    return shown if '\n' in shown else QUOTED + shown


Job = tuple[Solution, ErrorKind]
NO_REPLY = 'no reply'
IDLE = (
    *('match', 'undecided', 'prompt', 'menu', 'candidate', 'no_answer', 'tail_length'),
    *('recheck_different', 'price_per_mtok'),
)


class PromptedStepJudge:
    """A judge that is asked about the steps of solutions, one question per prompt.

    The object keeps the answers: equal solutions are asked about once. After a :class:`JudgeError`
    or temporary failures, a second call asks only for the missing answers.

    Args:
        judge: The judge, or the settings that name it: model, endpoints, decoding.
        kinds: The kinds of errors to ask for; by default both.

    Attributes:
        ledger: Counts calls, retries, failures and tokens of all calls.

    Raises:
        ValueError: If the settings name no judge, or contain some without effect here.
    """

    def __init__(
        self, judge: Judge | JudgeSettings, *, kinds: Iterable[ErrorKind] = tuple(ErrorKind)
    ) -> None:
        self.asked_for = tuple(dict.fromkeys(kinds))
        for kind in self.asked_for:
            if not isinstance(kind, ErrorKind):
                raise ValueError(f'kinds of PromptedStepJudge: {kind!r} is no ErrorKind')
        if not self.asked_for:
            raise ValueError('kinds of PromptedStepJudge is empty; give one, or leave it out')
        self.judge = _made(judge) if isinstance(judge, JudgeSettings) else judge
        self.prompts = {kind: prompt_text(kind) for kind in self.asked_for}
        self.ledger = Ledger()
        self._known: dict[Job, StepFinding] = {}

    @property
    def settings(self) -> dict[str, Any]:
        """What scores depend on besides the solution, as JSON values."""
        return {
            'model': self.judge.model,
            'decoding': dict(self.judge.settings),
            'prompts': {kind.value: stable_hash(text) for kind, text in self.prompts.items()},
        }

    def find(self, solutions: Sequence[Solution], *, progress: bool = False) -> list[JudgedSteps]:
        """Return the judge's findings about each solution, in order.

        After an unreadable reply the prompt is sent once more; then the solution has no answer,
        with the reason. Solutions without any text are not asked about.

        Args:
            solutions: The solutions; equal ones are asked about once.
            progress: Show a bar on standard error.

        Raises:
            JudgeError: If the judge can't be asked at all, or gives no readable answer; the object
                keeps the answers so far.
        """
        self._ask(self._open(solutions), progress=progress)
        return [self._judged(solution) for solution in solutions]

    def score(self, solutions: Sequence[Solution], *, progress: bool = False) -> list[StepScores]:
        """Return hard probabilities of each solution; :meth:`.StepScorer.score` gives soft ones.

        Raises:
            JudgeError: As :meth:`find` does.
            ValueError: If the judge is asked for only one kind.
        """
        self._require_both()
        return [judged.scores() for judged in self.find(solutions, progress=progress)]

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield index and scores of each solution as soon as both its questions are settled.

        Meanwhile the judge is asked in a thread (:func:`~.judge.in_thread`), so that the
        caller can store the scores at once.

        Args:
            solutions: The solutions; equal ones are asked about once.
            progress: Show a bar on standard error.

        Raises:
            JudgeError: As :meth:`find` does, after all settled solutions are yielded.
            ValueError: If the judge is asked for only one kind.
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

        def work(hand_over: Callable[[Job], None]) -> None:
            self._ask(jobs, hand_over, progress=progress)

        settled = in_thread(work, self.judge.stop)
        with closing(settled):
            for solution, _ in settled:
                left[solution] -= 1
                if not left[solution]:
                    yield from self._placed(places, [solution])
        yield from self._placed(places, [one for one in places if left[one]])

    def _ask(
        self,
        jobs: Sequence[Job],
        settled: Callable[[Job], None] = lambda job: None,
        *,
        progress: bool,
    ) -> None:
        """Ask about jobs; tell each when its finding is known."""

        def read(job: Job, text: str) -> tuple[int, ...] | None:
            return read_steps(text, job[1], len(job[0].steps))

        def deliver(job: Job, answer: Answer[tuple[int, ...]]) -> None:
            # A reply that can't be read may be better another time: a judge may sample.
            passing = answer.passing or (answer.found is None and answer.reply is not None)
            self._known[job] = StepFinding(answer.found, answer.reason, passing)
            settled(job)

        prompts = ((job, fill_prompt(self.prompts[job[1]], job[0])) for job in jobs)
        readable = any(finding.steps is not None for finding in self._known.values())
        remedy = 'ask a model that follows instructions'
        asker = Asker(self.judge, read, deliver, self.ledger, remedy=remedy, readable=readable)
        asker.ask(prompts, len(jobs), progress=progress)

    def _placed(
        self, places: Mapping[Solution, Sequence[int]], settled: Iterable[Solution]
    ) -> Iterator[tuple[int, StepScores]]:
        for solution in settled:
            scores = self._judged(solution).scores()
            for index in places[solution]:
                yield index, scores

    def _open(self, solutions: Iterable[Solution]) -> list[Job]:
        """Return the jobs that are still to be asked about solutions."""
        return [
            (solution, kind)
            for solution in dict.fromkeys(solutions)
            for kind in self.asked_for
            if not _empty(solution) and not self._answered((solution, kind))
        ]

    def _require_both(self) -> None:
        if set(self.asked_for) != set(ErrorKind):
            raise ValueError(
                'kinds of PromptedStepJudge: scores need both kinds, wrong and redundant steps; '
                'leave kinds out, or use the findings that find() returns'
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
