"""Scorers that read solutions in batches: of like length together, equal ones once."""

from __future__ import annotations

import itertools
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.batches import like_lengths
from opencompass_gpassk.reasoneval.passes import Passes, Rows, StepReader
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores
from opencompass_gpassk.reasoneval.windows import Passage

__all__ = ['BatchedScorer', 'Prepared']

POOL = 8192  # solutions that are sorted by length together; their tokens are held in memory
AT_ONCE = 256  # solutions in a call of the tokenizer
SIDES = ('left', 'right')

Prepared = tuple[int, list[Passage] | Refusal]  # tokens of the steps, and what is to be read


class BatchedScorer(ABC):
    """Scores solutions with a model that reads many of them in one forward pass.

    Args:
        reader: The model; it is put into evaluation mode.
        batch_size: Solutions in a forward pass at most.
        batch_tokens: Tokens in one at most, padding among them; a longer solution is read alone.
            By default 2048 on the CPU, whose caches hold no more, and 16384 elsewhere.
        max_tokens: Tokens that the model takes, prompt and steps together; by default as many as
            it has positions.
        padding_side: ``right``, where attention needs no mask and is faster, or ``left``.

    Raises:
        ValueError: If a setting is out of its range.
    """

    def __init__(
        self,
        reader: StepReader,
        *,
        batch_size: int = 64,
        batch_tokens: int | None = None,
        max_tokens: int | None = None,
        padding_side: str = 'right',
    ) -> None:
        name = type(self).__name__
        if padding_side not in SIDES:
            raise ValueError(
                f'padding_side of {name}: {padding_side!r} is unknown; give {", ".join(SIDES)}'
            )
        counts = {'batch_size': batch_size, 'batch_tokens': batch_tokens, 'max_tokens': max_tokens}
        for field, count in counts.items():
            if count is not None and count < 1:
                raise ValueError(f'{field} of {name}: {count!r} is too few; give at least 1')
        positions = getattr(reader.model.config.get_text_config(), 'max_position_embeddings', None)
        if positions and max_tokens and max_tokens > positions:
            raise ValueError(
                f'max_tokens of {name}: {max_tokens} is more than the {positions} positions that '
                'the model has; give less'
            )
        self.batch_size = batch_size
        self.batch_tokens = batch_tokens or (2048 if reader.device.type == 'cpu' else 16384)
        self.max_tokens: int | None = max_tokens or positions
        self.passes = Passes(reader, padding_side)

    @abstractmethod
    def prepare(self, solutions: Sequence[Solution]) -> Iterator[Prepared]:
        """Yield what is to be read of each solution, or why it can't be."""

    @abstractmethod
    def scores_of(self, rows: Rows) -> NDArray[np.float64]:
        """Return the scores of steps, of the classes' probabilities at each."""

    def score(self, solutions: Sequence[Solution], *, progress: bool = False) -> list[StepScores]:
        """Return the scores of each solution, in their order.

        Args:
            solutions: Equal ones are scored once.
            progress: Show a bar on standard error.
        """
        found = dict(self.stream(solutions, progress=progress))
        return [found[index] for index in range(len(solutions))]

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield index and scores of each solution as soon as they are there, the longest first.

        What was yielded can be kept at once, so that little is lost when the process is killed.
        Refused solutions come among the others, with the reason in their scores.

        Args:
            solutions: Equal ones are scored once.
            progress: Show a bar on standard error.
        """
        from tqdm import tqdm

        places: dict[Solution, list[int]] = {}
        for index, solution in enumerate(solutions):
            places.setdefault(solution, []).append(index)
        self.passes.reader.eval()
        pending = iter(places)
        refused = 0
        often = 0.1 if sys.stderr.isatty() else 30.0  # in a log each redrawing is a line
        with tqdm(
            total=len(places),
            desc='scoring',
            unit='solution',
            mininterval=often,
            disable=not progress,
        ) as bar:
            while pool := list(itertools.islice(pending, POOL)):
                for solution, scores in self._pool(pool):
                    refused += scores.refusal is not None
                    bar.set_postfix(refused=refused, refresh=False)
                    bar.update()
                    for index in places[solution]:
                        yield index, scores

    def _pool(self, solutions: Sequence[Solution]) -> Iterator[tuple[Solution, StepScores]]:
        work: list[tuple[int, Passage]] = []
        tokens: list[int] = []
        for start in range(0, len(solutions), AT_ONCE):
            for counted, found in self.prepare(solutions[start : start + AT_ONCE]):
                index = len(tokens)
                tokens.append(counted)
                if isinstance(found, Refusal):
                    steps = len(solutions[index].steps)
                    yield solutions[index], StepScores.refused(steps, found, counted)
                else:
                    work += [(index, passage) for passage in found]
        parts: dict[int, list[tuple[int, Rows | Refusal]]] = {}
        left = np.bincount([index for index, _ in work], minlength=len(solutions))
        lengths = [len(passage.ids) for _, passage in work]
        for batch in like_lengths(lengths, self.batch_size, self.batch_tokens):
            results = self.passes.run([work[item][1] for item in batch])
            for item, rows in zip(batch, results, strict=True):
                index, passage = work[item]
                parts.setdefault(index, []).append((passage.first, rows))
                left[index] -= 1
                if not left[index]:
                    whole = self._joined(parts.pop(index), len(solutions[index].steps))
                    yield solutions[index], replace(whole, tokens=tokens[index])

    def _joined(self, parts: Sequence[tuple[int, Rows | Refusal]], steps: int) -> StepScores:
        rows = []
        for _, part in sorted(parts, key=lambda part: part[0]):
            if isinstance(part, Refusal):
                return StepScores.refused(steps, part)
            rows.append(part)
        return StepScores(self.scores_of(np.concatenate(rows)))
