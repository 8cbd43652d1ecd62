"""What a training takes: people's step labels from PRM800K and MR-MATH, and its settings.

PRM800K (arXiv 2305.20050) rates steps -1, 0 or 1: wrong, idle, good. It may rate several
alternatives for a step, one of which was chosen to continue from. For MR-MATH see
:mod:`~.mr_math`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from opencompass_gpassk.formats.jsonlines import at_line, numbered_lines, parse_row
from opencompass_gpassk.formats.parse_settings import Settings
from opencompass_gpassk.reasoneval.mr_math import (
    FIRST_ERROR,
    STEPS,
    ErrorKind,
    LabelledSolution,
    field_error,
    read_set,
    typed,
)

LABELS = (-1, 0, 1)  # in the order of the classes: negative, neutral, positive
BAD_PROBLEM = 'bad_problem'


@dataclass(frozen=True)
class LabelledSteps:
    """A solution of S steps and their labels.

    Attributes:
        question: The problem's text.
        steps: S texts.
        labels: S labels: -1 for a wrong step, 0 for a right but idle one, 1 for a good one, None
            for a step without label.
    """

    question: str
    steps: tuple[str, ...]
    labels: tuple[int | None, ...]


def read_step_labels(path: str | Path) -> list[LabelledSteps]:
    """Return the labelled solutions of a file of JSON lines, gzipped or not.

    The first row shows the format. A row of PRM800K gives one solution: at each step the chosen
    completion, else the one that the labeller wrote, which is good. If both are missing, as at the
    end of a wrong solution, the first completion is the last step. Flagged completions, and
    problems that the labeller found broken, give no labels. A solution that was given up at once
    has no steps.

    In the invalid set of MR-MATH the steps before the first wrong one are good, and those after it
    have no label. The lines of a step are joined, since people labelled steps.

    Args:
        path: The file.

    Raises:
        ValueError: If a row is malformed, with file, line, field and remedy; or if there is no row.
        OSError: If the file can't be read.
    """
    number, line = next(numbered_lines(path), (0, ''))
    if not line:
        raise ValueError(f'{path}: there is no solution in it; give one a line')
    with at_line(path, number):
        first = parse_row(line)
    if STEPS in first:
        kind = ErrorKind.INVALID if FIRST_ERROR in first else ErrorKind.REDUNDANT
        return [_mr_math(solution, kind) for solution in read_set(Path(path), kind)]
    if 'label' not in first:
        raise ValueError(
            f'{path}, line 1: the row has neither the field label, of PRM800K, nor the field '
            f'{STEPS}, of MR-MATH; give a file of either'
        )
    found: list[LabelledSteps] = []
    for number, line in numbered_lines(path):
        with at_line(path, number):
            found.append(_prm800k(parse_row(line)))
    return found


def _mr_math(solution: LabelledSolution, kind: ErrorKind) -> LabelledSteps:
    bad = -1 if kind is ErrorKind.INVALID else 0
    labels = [bad if error else 1 for error in solution.errors]
    unlabelled = [None] * (len(solution.steps) - len(labels))
    steps = tuple('\n'.join(lines) for lines in solution.steps)
    return LabelledSteps(solution.question, steps, (*labels, *unlabelled))


Choice = tuple[str, 'int | None']  # a step and its label
RATINGS = '-1 for a wrong step, 0 for an idle one, 1 for a good one, null for no label'


def _prm800k(row: dict[str, Any]) -> LabelledSteps:
    """Return the solution of a row."""
    question = typed(typed(row, 'question', dict), 'problem', str, 'question.')
    label = typed(row, 'label', dict)
    broken = label.get('finish_reason') == BAD_PROBLEM
    path: list[Choice] = []
    for where, step in _objects(label, 'steps', 'label.'):
        completions = _completions(step, where)
        chosen, goes_on = _chosen(step, completions, where)
        if isinstance(chosen, int):
            path.append(completions[chosen])
        elif chosen is not None:
            path.append((chosen, 1))
        if not goes_on:
            break
    if broken:
        path = [(text, None) for text, _ in path]
    return _solution(question, path)


def _completions(step: dict[str, Any], where: str) -> list[Choice]:
    found: list[Choice] = []
    if step.get('completions') is None:
        return found
    for name, one in _objects(step, 'completions', f'{where}.'):
        text = typed(one, 'text', str, f'{name}.')
        rating = one.get('rating')
        if isinstance(rating, bool) or rating not in (None, *LABELS):
            raise field_error(f'{name}.rating', rating, RATINGS)
        found.append((text, None if rating is None or one.get('flagged') else int(rating)))
    return found


def _objects(row: dict[str, Any], name: str, before: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects in a field, each with its place in the row."""
    for index, one in enumerate(typed(row, name, list, before)):
        where = f'{before}{name}[{index}]'
        if not isinstance(one, dict):
            raise field_error(where, one, 'an object')
        yield where, one


def _chosen(
    step: dict[str, Any], completions: list[Choice], where: str
) -> tuple[int | str | None, bool]:
    """Return the chosen completion (its index or the labeller's text), and whether more follow."""
    index = step.get('chosen_completion')
    if index is not None:
        if type(index) is not int or not 0 <= index < len(completions):
            wanted = f'the index of one of {len(completions)} completions, or null'
            raise field_error(f'{where}.chosen_completion', index, wanted)
        return index, True
    human = step.get('human_completion')
    if human is None:
        return (0 if completions else None), False
    if isinstance(human, dict):
        return typed(human, 'text', str, f'{where}.human_completion.'), True
    return typed(step, 'human_completion', str, f'{where}.'), True


def _solution(question: str, path: list[Choice]) -> LabelledSteps:
    return LabelledSteps(question, tuple(text for text, _ in path), tuple(each for _, each in path))


AboveZero = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Positive = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(ge=0, lt=1)]


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """The settings of a training.

    Optimiser, schedule and weight decay are the paper's (arXiv 2404.05692). Learning rate, number
    of epochs, batch size and share of the warm-up are usual for models of 7 billion parameters;
    smaller models learn at higher rates.

    Attributes:
        learning_rate: The rate at the end of the warm-up; then it falls to 0 along a cosine.
        epochs: Passes over the data.
        batch_size: Solutions per update, over all processes.
        device_batch: Greatest number of solutions in a forward pass of one process.
        warmup: Share of the updates over which the rate rises, in [0, 1).
        weight_decay: Weight decay of AdamW, for weights other than norms and biases.
        max_tokens: Tokens of prompt and steps that are read; later steps aren't trained on.
        checkpoint_every: Updates between two checkpoints; the last two are kept.
        gradient_checkpointing: Compute activations twice, to save memory.
        seed: Seed of the order of the data.

    Raises:
        ValueError: If a value has another type, or is out of its range.
    """

    name: ClassVar[str] = 'training'
    text_sets: ClassVar[str] = ''
    example: ClassVar[str] = '{"epochs": 3}'

    learning_rate: AboveZero = 1e-6
    epochs: AboveZero = 3.0
    batch_size: Positive = 64
    device_batch: Positive = 8
    warmup: Share = 0.03
    weight_decay: Share = 0.1
    max_tokens: Positive = 2048
    checkpoint_every: Positive = 200
    gradient_checkpointing: bool = False
    seed: int = 0

    def shares(self, processes: int) -> tuple[int, int]:
        """Return the solutions per forward pass, and the passes of each process per update.

        Raises:
            ValueError: If the processes can't share a batch.
        """
        own, rest = divmod(self.batch_size, processes)
        if rest or not own:
            raise ValueError(
                f"batch_size of training: {self.batch_size} can't be shared by {processes} "
                'processes; give a multiple'
            )
        rows = max(n for n in range(1, min(own, self.device_batch) + 1) if own % n == 0)
        return rows, own // rows
