"""What a training takes: people's step labels from PRM800K and MR-MATH, and its settings.

PRM800K (arXiv 2305.20050) rates steps -1, 0 or 1: wrong, idle, good. It may rate several
alternatives for a step, one of which was chosen to continue from. For MR-MATH see
:mod:`~.mr_math`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from opencompass_gpassk.formats.decode import Count, Text, Typed, decode
from opencompass_gpassk.formats.jsonlines import at_line, numbered_lines, parse_row
from opencompass_gpassk.formats.parse_settings import Settings
from opencompass_gpassk.reasoneval.mr_math import (
    FIRST_ERROR,
    STEPS,
    ErrorKind,
    LabelledSolution,
    read_set,
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
            found.append(_prm800k(line))
    return found


def _mr_math(solution: LabelledSolution, kind: ErrorKind) -> LabelledSteps:
    bad = -1 if kind is ErrorKind.INVALID else 0
    labels = [bad if error else 1 for error in solution.errors]
    unlabelled = [None] * (len(solution.steps) - len(labels))
    steps = tuple('\n'.join(lines) for lines in solution.steps)
    return LabelledSteps(solution.question, steps, (*labels, *unlabelled))


class _Written(Typed):
    text: Text


class _Completion(_Written):
    rating: Annotated[float, Field(ge=-1, le=1, multiple_of=1)] | None = None
    flagged: bool | None = None

    @property
    def label(self) -> int | None:
        return None if self.rating is None or self.flagged else int(self.rating)


class _Step(Typed):
    completions: list[_Completion] | None = None
    chosen_completion: Count | None = None
    human_completion: _Written | Text | None = None

    def taken(self) -> tuple[str, int | None] | None:
        """Return text and label of the step, as the solution has it; None if there is none."""
        there, human = self.completions or [], self.human_completion
        if human is not None and self.chosen_completion is None:
            return (human.text if isinstance(human, _Written) else human), 1
        chosen = self.chosen_completion or 0
        if chosen >= len(there) and self.chosen_completion is not None:
            raise ValueError(f'chosen_completion is {chosen}: there are {len(there)} completions')
        return (there[chosen].text, there[chosen].label) if there else None

    @property
    def goes_on(self) -> bool:
        return self.chosen_completion is not None or self.human_completion is not None


class _Label(Typed):
    steps: list[_Step]
    finish_reason: Text | None = None


class _Question(Typed):
    problem: Text


class _Row(Typed):
    question: _Question
    label: _Label


def _prm800k(line: str) -> LabelledSteps:
    """Return the solution of a row."""
    row = decode(_Row, parse_row(line))
    texts, labels = [], []
    for step in row.label.steps:
        if taken := step.taken():
            texts.append(taken[0])
            labels.append(None if row.label.finish_reason == BAD_PROBLEM else taken[1])
        if not step.goes_on:
            break
    return LabelledSteps(row.question.problem, tuple(texts), tuple(labels))


AboveZero = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Positive = Annotated[int, Field(gt=0)]
Share = Annotated[float, Field(ge=0, lt=1)]


@dataclass(frozen=True)
class TrainingSettings(Settings):
    """The settings of a training.

    Optimiser, schedule, weight decay, epochs and warm-up are the paper's (arXiv 2404.05692,
    appendix B). Learning rate and batch size are usual for models of 7 billion parameters; smaller
    models learn at higher rates.

    Attributes:
        learning_rate: The rate at the end of the warm-up; then it falls to 0 along a cosine.
        epochs: Passes over the data.
        batch_size: Solutions per update, over all processes.
        device_batch: Greatest number of solutions in a forward pass of one process.
        warmup: Updates over which the rate rises.
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
    epochs: AboveZero = 1.0
    batch_size: Positive = 64
    device_batch: Positive = 8
    warmup: Count = 8
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
