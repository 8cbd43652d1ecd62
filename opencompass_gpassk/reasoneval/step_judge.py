"""Steps judged by a language model that is asked with prompts: ReasonEval's axis without a GPU.

A judge is asked for the first wrong step of a solution, and for its redundant steps. These are the
prompting-based evaluators of arXiv 2404.05692, Figure 6, with our own wording. The last line of a
reply must be ``\\boxed{…}`` with the word none, the number of the first wrong step, or the numbers
of all redundant steps. Any other reply counts as unreadable; nothing is guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from opencompass_gpassk.answers.speech import spoken
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.http_client import in_thread
from opencompass_gpassk.judging.judge import Asker, Judge, Ledger, ReadReply
from opencompass_gpassk.judging.prompt import QUOTED, defuse, neutralise
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import (
    CLASSES,
    Refusal,
    Solution,
    StepScores,
    indexes,
)

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
Found = ReadReply[tuple[int, ...]]


class PromptedStepJudge:
    """Scores solutions by two questions to a judge: about the first wrong step and redundant ones.

    Args:
        judge: The judge.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.prompts = {kind: prompt_text(kind) for kind in ErrorKind}

    @property
    def settings(self) -> dict[str, Any]:
        """What scores depend on besides the solution, as JSON values."""
        return {
            'model': self.judge.model,
            'decoding': dict(self.judge.settings),
            'prompts': {kind.value: stable_hash(text) for kind, text in self.prompts.items()},
        }

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield index and scores of each solution as soon as both its questions are settled.

        Meanwhile the judge is asked in a thread (:func:`~.client.in_thread`), so that the
        caller can store the scores at once. After an unreadable reply a prompt is sent once more.
        Solutions without any text are not asked about.

        Args:
            solutions: The solutions; equal ones are asked about once.
            progress: Show a bar on standard error.

        Raises:
            JudgeError: If the judge can't be asked at all, or gives no readable answer; after all
                settled solutions are yielded.
        """
        places = indexes(solutions)
        jobs: list[Job] = []
        for solution, where in places.items():
            if solution.unfit is Refusal.EMPTY:
                refused = StepScores.refused(len(solution.steps), Refusal.EMPTY)
                yield from ((index, refused) for index in where)
            else:
                jobs += [(solution, kind) for kind in ErrorKind]

        def work(hand_over: Callable[[tuple[Job, Found]], None]) -> None:
            asker: Asker[Job, tuple[int, ...]] = Asker(
                self.judge,
                lambda job, text: read_steps(text, job[1], len(job[0].steps)),
                lambda job, answer: hand_over((job, answer)),
                Ledger(),
                remedy='ask a model that follows instructions',
                readable=False,
            )
            prompts = ((job, fill_prompt(self.prompts[job[1]], job[0])) for job in jobs)
            asker.ask(prompts, len(jobs), progress=progress)

        answers: dict[Solution, dict[ErrorKind, Found]] = defaultdict(dict)
        settled = in_thread(work, self.judge.stop)
        with closing(settled):
            for (solution, kind), answer in chain.from_iterable(settled):
                answers[solution][kind] = answer
                if len(answers[solution]) == len(ErrorKind):
                    scores = _scores(len(solution.steps), answers.pop(solution))
                    yield from ((index, scores) for index in places[solution])


def _scores(steps: int, answers: Mapping[ErrorKind, Found]) -> StepScores:
    """Return hard probabilities: for each step one class is 1 and the others are 0.

    The first wrong step is negative; of the others, redundant ones are neutral and the rest
    positive. A solution that lacks an answer is refused; the refusal says whether asking again may
    help. It may after an unreadable reply, since a judge may sample.
    """
    missing = [answer for answer in answers.values() if answer.found is None]
    if missing:
        final = any(not answer.passing and answer.reply is None for answer in missing)
        return StepScores.refused(steps, Refusal.DECLINED if final else Refusal.UNJUDGED)
    classes = np.full(steps, CLASSES.index('positive'))
    classes[list(answers[ErrorKind.REDUNDANT].found or ())] = CLASSES.index('neutral')
    classes[list(answers[ErrorKind.INVALID].found or ())] = CLASSES.index('negative')
    return StepScores(np.eye(len(CLASSES))[classes])
