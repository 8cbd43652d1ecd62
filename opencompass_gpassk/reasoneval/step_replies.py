r"""What a judge is asked about the steps of a solution, and the one form in which it answers.

The last line of a reply is ``\boxed{…}`` with the word none, the number of the first wrong step, or
the numbers of all redundant steps. What is not that is no answer: nothing is guessed.
"""

from __future__ import annotations

import re
from pathlib import Path

from opencompass_gpassk.answers.extract import spoken
from opencompass_gpassk.judging.prompt import QUOTED, defuse, neutralise
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import Solution

__all__ = ['fill_prompt', 'prompt_text', 'read_steps']

FOLDER = Path(__file__).parent / 'prompts'
PLACEHOLDER = re.compile(r'\{(question|steps|count)\}')
END_TOKENS = re.compile(r'(?:\s{0,9}(?:<\|\w{1,40}\|>|</s>)){1,3}\Z')
BOX = re.compile(r'\\boxed(?![A-Za-z])')
# A box, perhaps with \text{…} in it, and what else may stand around its word or numbers.
ANSWER = re.compile(
    r'\\boxed\s{0,3}\{(?:\s{0,3}\\(?:text\w{0,2}|math\w{2})\s{0,3}\{(?P<inner>[^{}]*)\}\s{0,3}'
    r'|(?P<outer>[^{}]*))\}'
)
NONE = 'none'
LISTED = re.compile(r'(?:steps?\s{1,3})?([1-9][0-9]{0,8}(?:\s{0,3},\s{0,3}[1-9][0-9]{0,8})*)')
CLOSING = ' \t\r\n*_`$.")]\\\''  # may stand behind the box, as in \[ \boxed{2} \]


def prompt_text(kind: ErrorKind) -> str:
    """Return the template of the prompt that asks for errors of a kind."""
    return (FOLDER / f'{kind.value}_en.txt').read_text('utf-8')


def fill_prompt(template: str, solution: Solution) -> str:
    """Return the prompt about a solution, in one pass, so that nothing in it is filled again.

    Each step has a heading with its number. All lines of a step are marked as quoted, so that no
    line of it can be a heading or the end of the solution, and boxes and signs of chat templates in
    it are neutralised. The question keeps its wording, but nothing in it can act as a turn.
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
    r"""Return the steps that a reply names, None if it can't be read.

    Thoughts are left out. The last line counts, and must hold one box: with none, with a number, or
    for redundant steps with several. The time taken is linear in the reply's length.

    Args:
        reply: All that the judge said.
        kind: What it was asked for.
        count: Steps of the solution.

    Returns:
        Indexes from 0, rising, each once; empty if it says none. None if the box is missing, holds
        something else, ranges or several wrong steps, or names a step that isn't there.

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
    shown = neutralise(step)  # which marks the lines where there are several
    return shown if '\n' in shown else QUOTED + shown
