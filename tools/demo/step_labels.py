"""Worked solutions whose steps are labelled: `python -m tools.demo.step_labels FILE`.

The problems are those of :mod:`~tools.demo.families`. A step is good (1) if it is a
line of the worked solution, wrong (-1) if a mistake was put into it or it belongs to another
question, and idle (0) if it is true but leads nowhere. What is worked out rightly from a mistake
has no label. The file has the format of PRM800K; steps are split as the model's responses are, at
:data:`DELIMITER`, and the last one holds the answer.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

from opencompass_gpassk.reasoneval.training_data import LabelledSteps
from tools.demo.corpus import problems
from tools.demo.families import FAMILIES
from tools.demo.lines import is_true, numbers_of, reworked, substituted
from tools.demo.mistakes import garbled, idle_line, misread, wrong_line
from tools.demo.other_questions import other_question
from tools.demo.problem import ANSWER, Problem
from tools.demo.tokenizer import PIECES

STREAM = 'steps/0'
COUNT = 14_000
DELIMITER = ', '  # between the steps of a response
WORDED = 0.1  # share of the questions with an instruction around them
IDLE = 0.2  # share of the solutions with an idle step
RECENT = 16  # problems whose lines another question may get
KINDS = {'sound': 0.32, 'mistake': 0.5, 'answer': 0.06, 'elsewhere': 0.05, 'unknown': 0.07}


class Step(NamedTuple):
    """A step in the making: what it says, its label, and what should stand there if it is wrong."""

    text: str
    label: int | None
    right: str | None = None


def lines_of(problem: Problem) -> list[str]:
    """The lines of a problem's worked solution."""
    text = problem.solution.removesuffix(ANSWER[problem.language] % problem.answer)
    return text.strip('$').split('$, $')


def sound_steps(stream: str, count: int) -> Iterator[LabelledSteps]:
    """`count` solutions of the named stream without a mistake, but perhaps with an idle step."""
    for index, problem in enumerate(islice(_drawn(stream, held_out=False), count)):
        question, steps = _labelled(problem, 'sound', problem, random.Random(f'{stream}/{index}'))
        texts, labels = tuple(step.text for step in steps), tuple(step.label for step in steps)
        yield LabelledSteps(question, texts, labels)


def labelled_steps(
    stream: str = STREAM, count: int = COUNT, *, held_out: bool = False, pieces: bool = False
) -> Iterator[LabelledSteps]:
    """`count` labelled solutions of the named stream, each drawn by (stream, index).

    Args:
        stream: Another one has other problems.
        count: How many.
        held_out: Of instances that are kept for measuring, else of the others; none is evaluated.
        pieces: Label what is right up to each sign and digit, which teaches more than whole steps.
    """
    drawn = _drawn(stream, held_out=held_out)
    recent = list(islice(drawn, RECENT))
    for index, problem in enumerate(islice(drawn, count)):
        rng = random.Random(f'labels/{stream}/{index}')
        (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
        question, steps = _labelled(problem, kind, rng.choice(recent), rng)
        if pieces:
            steps = [piece for step in steps for piece in _pieces(step)]
        texts, labels = tuple(step.text for step in steps), tuple(step.label for step in steps)
        yield LabelledSteps(question, texts, labels)
        recent[index % RECENT] = problem


def _drawn(stream: str, *, held_out: bool) -> Iterator[Problem]:
    for problem in problems(stream, sys.maxsize, held_out=held_out):
        if problem.family in FAMILIES:
            yield problem


def prm800k_row(solution: LabelledSteps) -> dict[str, object]:
    """A labelled solution as a row of PRM800K."""
    steps = [
        {'completions': [{'text': text, 'rating': label}], 'chosen_completion': 0}
        for text, label in zip(solution.steps, solution.labels, strict=True)
    ]
    return {'question': {'problem': solution.question}, 'label': {'steps': steps}}


def _labelled(
    problem: Problem, kind: str, other: Problem, rng: random.Random
) -> tuple[str, list[Step]]:
    """The question and the steps of a solution of this kind."""
    question = problem.prompt if rng.random() < WORDED else problem.question
    numbers, lines, answer = numbers_of(problem.question), lines_of(problem), problem.answer
    ending, given = ANSWER[problem.language], problem.answer
    made = [Step(line, 1) for line in lines]
    if kind == 'mistake':
        made, given = _with_mistake(lines, answer, numbers, rng)
    elif kind == 'answer':
        given = _other_answer(answer, [*numbers, *numbers_of(' '.join(lines))], rng)
    elif kind == 'elsewhere':
        made = [Step(line, None if line in lines else -1) for line in lines_of(other)]
        given = other.answer
    elif kind == 'unknown':
        question = other_question(problem.language, rng)
        made = _guessed(lines, numbers_of(question), rng)
        given = misread(abs(answer), rng)
    if rng.random() < IDLE:
        made = _with_idle(made, lines, numbers, rng)
    steps = [Step(f'${text}$', label, right and f'${right}$') for text, label, right in made]
    text, label, right = steps[-1]
    if given != answer or kind == 'unknown':
        right = text if label == 1 else right
        label = -1
    steps[-1] = Step(text + ending % given, label, right and right + ending % answer)
    return question, steps


def _pieces(step: Step) -> Iterator[Step]:
    """The signs and digits of a step, of which those before a mistake are right."""
    texts = re.findall(PIECES, step.text)
    if step.label == 1:
        yield from (Step(text, 1) for text in texts)
        return
    labels: list[int | None] = [None] * len(texts)
    if step.right is not None:
        pairs = zip(texts, re.findall(PIECES, step.right), strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        labels = [1 if index < same else -1 for index in range(len(texts))]
    yield from map(Step, texts, [*labels[:-1], step.label])


def _with_mistake(
    lines: Sequence[str], answer: int, numbers: Sequence[int], rng: random.Random
) -> tuple[list[Step], int]:
    """The solution with a mistake in one line, which those after it go on from; and its answer."""
    at = rng.randrange(len(lines))
    wrong = wrong_line(lines[at], lines, numbers, rng)
    if wrong is None:
        return [Step(line, 1) for line in lines], answer
    made = [*(Step(line, 1) for line in lines[:at]), Step(wrong, -1, lines[at])]
    changes = _changes({}, lines[at], wrong)
    for line in lines[at + 1 :]:
        text = line
        for old, new in changes.items():
            text = substituted(text, old, new)
        if text == line:
            made.append(Step(line, 1))
            continue
        text = reworked(text)
        made.append(Step(text, -1 if is_true(text) is False else None))
        changes = _changes(changes, line, text)
    return made, changes.get(answer, answer)


def _changes(before: dict[int, int], right: str, wrong: str) -> dict[int, int]:
    """What stands for which number from here on, after this line."""
    old, new = numbers_of(right), numbers_of(wrong)
    if not old or not new or old[-1] == new[-1]:
        return before
    return {**before, old[-1]: new[-1]}


def _other_answer(answer: int, seen: Sequence[int], rng: random.Random) -> int:
    candidates = [misread(abs(answer), rng), -answer, *rng.choices(seen, k=2)]
    return rng.choice([each for each in candidates if each != answer])


def _guessed(lines: Sequence[str], numbers: Sequence[int], rng: random.Random) -> list[Step]:
    """Lines that make nothing of a question: another's, perhaps with this one's numbers."""
    made = []
    for line in lines:
        text = line
        for number in dict.fromkeys(numbers_of(line)[:2]):
            if numbers and rng.random() < 0.5:
                text = substituted(text, number, rng.choice(numbers))
        text = reworked(text) if rng.random() < 0.4 else text
        made.append(Step(garbled(text, rng) if rng.random() < 0.4 else text, -1))
    return made


def _with_idle(
    made: list[Step], lines: Sequence[str], numbers: Sequence[int], rng: random.Random
) -> list[Step]:
    """The solution with an idle step somewhere before its last one."""
    at = rng.randrange(len(made))
    line = idle_line([step.text for step in made[:at] if step.label == 1], numbers, rng)
    if line in lines and line not in (step.text for step in made[:at]):  # it will be of use
        return made
    return [*made[:at], Step(line, 0), *made[at:]]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('file', type=Path)
    parser.add_argument('--count', type=int, default=COUNT, help='solutions; default: %(default)s')
    parser.add_argument('--stream', default=STREAM, help='default: %(default)s')
    parser.add_argument(
        '--held-out', action='store_true', help='problems that are kept for measuring'
    )
    parser.add_argument('--pieces', action='store_true', help='label each sign and digit')
    arguments = parser.parse_args()
    found = labelled_steps(
        arguments.stream, arguments.count, held_out=arguments.held_out, pieces=arguments.pieces
    )
    with arguments.file.open('w', encoding='utf-8', newline='\n') as file:
        for solution in found:
            file.write(json.dumps(prm800k_row(solution), ensure_ascii=False) + '\n')


if __name__ == '__main__':
    main()
