"""Worked solutions whose steps are labelled: `python -m opencompass_gpassk.demo.step_labels FILE`.

The problems are those that the demonstration model learns. A step is good (1) if it is a line of
the worked solution, wrong (-1) if a mistake was put into it or it belongs to another question, and
idle (0) if it is true but leads nowhere. What is worked out rightly from a mistake has no label.
The file has the format of PRM800K; steps are what stands between commas in the model's responses.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from opencompass_gpassk.demo.corpus import problems
from opencompass_gpassk.demo.lines import is_true, numbers_of, reworked, substituted
from opencompass_gpassk.demo.mistakes import garbled, idle_line, misread, wrong_line
from opencompass_gpassk.demo.other_questions import other_question
from opencompass_gpassk.demo.problem import ANSWER, Problem
from opencompass_gpassk.reasoneval.step_labels import LabelledSteps

__all__ = ['COUNT', 'DELIMITER', 'STREAM', 'labelled_steps', 'lines_of', 'prm800k_row']

STREAM = 'steps/0'
COUNT = 40_000
DELIMITER = ', '  # between the steps of a response
WORDED = 0.25  # share of the questions with an instruction around them
IDLE = 0.3  # share of the solutions with an idle step
RECENT = 16  # problems whose lines another question may get
KINDS = {'sound': 0.34, 'mistake': 0.42, 'answer': 0.08, 'elsewhere': 0.06, 'unknown': 0.1}

Labelled = list[tuple[str, int | None]]  # lines of a solution and their labels


def lines_of(problem: Problem) -> list[str]:
    """The lines of a problem's worked solution."""
    text = problem.solution.removesuffix(ANSWER[problem.language] % problem.answer)
    return text.strip('$').split('$, $')


def labelled_steps(
    stream: str = STREAM, count: int = COUNT, *, held_out: bool = False
) -> Iterator[LabelledSteps]:
    """`count` labelled solutions of the named stream, each drawn by (stream, index).

    Args:
        stream: Another one has other problems.
        count: How many.
        held_out: Of instances that are kept for measuring, else of the others; none is evaluated.
    """
    recent: list[Problem] = list(problems(f'{stream}/first', RECENT, held_out=held_out))
    for index, problem in enumerate(problems(stream, count, held_out=held_out)):
        rng = random.Random(f'labels/{stream}/{index}')
        (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
        yield _labelled(problem, kind, rng.choice(recent), rng)
        recent[index % RECENT] = problem


def prm800k_row(solution: LabelledSteps) -> dict[str, object]:
    """A labelled solution as a row of PRM800K."""
    steps = [
        {'completions': [{'text': text, 'rating': label}], 'chosen_completion': 0}
        for text, label in zip(solution.steps, solution.labels, strict=True)
    ]
    return {'question': {'problem': solution.question}, 'label': {'steps': steps}}


def _labelled(problem: Problem, kind: str, other: Problem, rng: random.Random) -> LabelledSteps:
    question = problem.prompt if rng.random() < WORDED else problem.question
    numbers, lines, answer = numbers_of(problem.question), lines_of(problem), problem.answer
    language, given = problem.language, problem.answer
    made: Labelled = [(line, 1) for line in lines]
    if kind == 'mistake':
        made, given = _with_mistake(lines, answer, numbers, rng)
    elif kind == 'answer':
        given = _other_answer(answer, [*numbers, *numbers_of(' '.join(lines))], rng)
    elif kind == 'elsewhere':
        made = [(line, None if line in lines else -1) for line in lines_of(other)]
        given = other.answer
    elif kind == 'unknown':
        question = other_question(language, rng)
        made, given = _guessed(lines, numbers_of(question), rng), misread(abs(answer), rng)
    if rng.random() < IDLE:
        made = _with_idle(made, lines, numbers, rng)
    right = given == answer and kind != 'unknown'
    texts = [f'${line}$' for line, _ in made]
    labels = [label for _, label in made]
    texts[-1] += ANSWER[language] % given
    labels[-1] = labels[-1] if right else -1
    return LabelledSteps(question, tuple(texts), tuple(labels))


def _with_mistake(
    lines: Sequence[str], answer: int, numbers: Sequence[int], rng: random.Random
) -> tuple[Labelled, int]:
    """The solution with a mistake in one line, which those after it go on from; and its answer."""
    at = rng.randrange(len(lines))
    wrong = wrong_line(lines[at], lines, numbers, rng)
    if wrong is None:
        return [(line, 1) for line in lines], answer
    made: Labelled = [*((line, 1) for line in lines[:at]), (wrong, -1)]
    changes = _changes({}, lines[at], wrong)
    for line in lines[at + 1 :]:
        text = line
        for old, new in changes.items():
            text = substituted(text, old, new)
        if text == line:
            made.append((line, 1))
            continue
        text = reworked(text)
        made.append((text, -1 if is_true(text) is False else None))
        changes = _changes(changes, line, text)
    return made, changes.get(answer, answer)


def _changes(before: dict[int, int], right: str, wrong: str) -> dict[int, int]:
    old, new = numbers_of(right), numbers_of(wrong)
    if not old or not new or old[-1] == new[-1]:
        return before
    return {**before, old[-1]: new[-1]}


def _other_answer(answer: int, seen: Sequence[int], rng: random.Random) -> int:
    candidates = [misread(abs(answer), rng), -answer, *rng.choices(seen, k=2)]
    return rng.choice([each for each in candidates if each != answer])


def _guessed(lines: Sequence[str], numbers: Sequence[int], rng: random.Random) -> Labelled:
    """Lines that make nothing of a question: another's, perhaps with this one's numbers."""
    made: Labelled = []
    for line in lines:
        text = line
        for number in dict.fromkeys(numbers_of(line)[:2]):
            if numbers and rng.random() < 0.5:
                text = substituted(text, number, rng.choice(numbers))
        text = reworked(text) if rng.random() < 0.4 else text
        made.append((garbled(text, rng) if rng.random() < 0.4 else text, -1))
    return made


def _with_idle(
    made: Labelled, lines: Sequence[str], numbers: Sequence[int], rng: random.Random
) -> Labelled:
    """The solution with an idle step somewhere before its last one."""
    at = rng.randrange(len(made))
    line = idle_line([text for text, label in made[:at] if label == 1], numbers, rng)
    said = [text for text, _ in made[:at]]
    if line in lines and line not in said:  # it will be of use
        return made
    return [*made[:at], (line, 0), *made[at:]]


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
    arguments = parser.parse_args()
    found = labelled_steps(arguments.stream, arguments.count, held_out=arguments.held_out)
    with arguments.file.open('w', encoding='utf-8', newline='\n') as file:
        for solution in found:
            file.write(json.dumps(prm800k_row(solution), ensure_ascii=False) + '\n')


if __name__ == '__main__':
    main()
