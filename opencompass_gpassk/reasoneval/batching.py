"""Scorers that read solutions in batches of similar length, equal solutions once."""

from __future__ import annotations

import inspect
import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.formats.display import progress_bar
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores
from opencompass_gpassk.reasoneval.tokens import Encoded

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

__all__ = [
    'Batch',
    'BatchedScorer',
    'Passage',
    'Passes',
    'Prepared',
    'Rows',
    'StepReader',
    'like_lengths',
    'pad',
    'passages',
]


@dataclass(frozen=True, eq=False)
class Passage:
    """The part of a solution that one forward pass reads.

    Attributes:
        ids: The tokens, shape (T,).
        reads: Indexes of the tokens at which steps are read, shape (R,).
        first: Index in the solution of the first of these steps, from 0.
    """

    ids: NDArray[np.int32]
    reads: NDArray[np.int64]
    first: int = 0


def passages(
    encoded: Encoded, *, shift: int, limit: int | None, window: bool
) -> list[Passage] | Refusal:
    """Return a solution whole if it fits; else the prompt with windows of the steps, or a refusal.

    Windows overlap by up to a half. A step is read in the first window that holds its end, with at
    least a quarter of a window before that end. Windows begin at the start of a step if possible.
    If a step is longer than a window, only its end is read. A solution whose prompt takes more than
    half of the limit is refused.

    Args:
        encoded: The solution.
        shift: How many tokens before its last token a step is read.
        limit: Greatest number of tokens that the model takes; None for any number.
        window: Whether to make windows of a solution that is too long, or to refuse it.
    """
    if limit is None or len(encoded.ids) <= limit:
        return [Passage(encoded.ids, encoded.ends - shift)]
    if not window or encoded.prompt > limit / 2:
        return Refusal.TOO_LONG
    return list(_windows(encoded, shift, limit - encoded.prompt))


def _windows(encoded: Encoded, shift: int, room: int) -> Iterator[Passage]:
    prompt, ends = encoded.prompt, encoded.ends
    begins = np.concatenate([[prompt], ends[:-1] + 1])
    step, start = 0, prompt
    while True:
        stop = start + room
        after = int(np.searchsorted(ends, stop))  # the first step that ends after the window
        if after > step:  # the first window may hold no step's end
            ids = np.concatenate([encoded.ids[:prompt], encoded.ids[start:stop]])
            yield Passage(ids, ends[step:after] - start + prompt - shift, step)
            step = after
        if step == len(ends):
            return
        # Go half a window back, or less if the window would not reach the end of the next step.
        earliest = max(stop - room // 2, int(ends[step]) + 1 - room)
        fitting = begins[(begins >= earliest) & (begins <= ends[step] - room // 4)]
        start = int(fitting[0]) if len(fitting) else earliest


class Batch(NamedTuple):
    """The model's input for B passages, padded to T tokens.

    Attributes:
        input_ids: Token ids, shape (B, T).
        attention_mask: 1 for tokens, 0 for padding that tokens would see, shape (B, T).
        position_ids: Shape (B, T), or None if each row begins at 0.
        reads: Row and column of each step, shape (R, 2), passage after passage.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    position_ids: torch.Tensor | None
    reads: torch.Tensor


def like_lengths(lengths: Sequence[int], size: int, tokens: int) -> Iterator[list[int]]:
    """Yield batches of indexes, the longest first, so that a lack of memory shows at once.

    Args:
        lengths: Lengths of all passages in tokens.
        size: Greatest number of passages in a batch.
        tokens: Greatest number of tokens in a batch, with padding; a longer passage is alone.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch and (len(batch) == size or (len(batch) + 1) * lengths[batch[0]] > tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def pad(passages: Sequence[Passage], side: str, device: torch.device) -> Batch:
    """Return passages as tensors on a device, padded on the ``left`` or ``right``.

    Padding on the right needs no mask, since a decoder's tokens don't see what follows them. The
    mask is full of ones: transformers then uses plain causal attention, which is fast; without a
    mask it would look for packed sequences. On the left, mask and positions hide the padding.
    """
    import torch

    width = max(len(passage.ids) for passage in passages)
    ids = np.zeros((len(passages), width), np.int64)
    mask = np.zeros_like(ids)
    reads = []
    for row, passage in enumerate(passages):
        start = width - len(passage.ids) if side == 'left' else 0
        ids[row, start : start + len(passage.ids)] = passage.ids
        mask[row, start : start + len(passage.ids)] = 1
        reads.append(np.stack([np.full_like(passage.reads, row), passage.reads + start], axis=1))

    def tensor(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(device)

    columns = tensor(np.concatenate(reads))
    if side == 'right':
        return Batch(tensor(ids), tensor(np.ones_like(mask)), None, columns)
    positions = np.maximum(mask.cumsum(axis=1) - 1, 0)
    return Batch(tensor(ids), tensor(mask), tensor(positions), columns)


Rows = NDArray[np.float64]
# Messages of errors without a class of their own that mean exhausted memory: PyTorch's allocator on
# the CPU, and libraries of CUDA.
EXHAUSTED = re.compile(
    r"out of memory|not enough memory|can't allocate memory|cannot allocate memory|ALLOC_FAILED"
    r'|bad_alloc',
    re.IGNORECASE,
)


class StepReader(Protocol):
    """A model that gives logits at chosen tokens, such as :class:`~.model.StepClassifier`."""

    @property
    def model(self) -> PreTrainedModel:
        """The model of ``transformers``."""

    @property
    def device(self) -> torch.device:
        """The device that takes the input."""

    def eval(self) -> Any:
        """Put the model into evaluation mode."""

    def __call__(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        position_ids: torch.Tensor | None,
        reads: torch.Tensor,
    ) -> torch.Tensor:
        """Return the logits of C classes at R pairs of row and column, shape (R, C)."""


class Passes:
    """Runs a model on batches. A batch that runs out of memory is run again in halves.

    Args:
        reader: The model.
        padding_side: ``left`` or ``right``.
    """

    def __init__(self, reader: StepReader, padding_side: str) -> None:
        self.reader = reader
        self.padding_side = padding_side
        self.positions = 'position_ids' in inspect.signature(reader.model.forward).parameters

    def run(self, passages: Sequence[Passage]) -> list[Rows | Refusal]:
        """Return the probabilities of each passage's steps, shape (R, C), or a refusal."""
        rows = self._try(passages)
        if rows is not None:
            return [part if np.isfinite(part).all() else Refusal.NOT_FINITE for part in rows]
        if len(passages) == 1:
            return [Refusal.OUT_OF_MEMORY]
        half = len(passages) // 2
        return [*self.run(passages[:half]), *self.run(passages[half:])]

    def _try(self, passages: Sequence[Passage]) -> list[Rows] | None:
        """Return None if memory runs out; the memory of the failed pass is free then."""
        import torch

        try:
            return self._probabilities(passages)
        except MemoryError:
            pass
        except RuntimeError as error:  # also torch.cuda.OutOfMemoryError, perhaps without a message
            if not (isinstance(error, torch.cuda.OutOfMemoryError) or EXHAUSTED.search(str(error))):
                raise
        torch.cuda.empty_cache()
        return None

    def _probabilities(self, passages: Sequence[Passage]) -> list[Rows]:
        import torch

        batch = pad(passages, self.padding_side, self.reader.device)
        with torch.inference_mode():
            logits = self.reader(
                batch.input_ids,
                batch.attention_mask,
                batch.position_ids if self.positions else None,
                batch.reads,
            )
            rows = torch.softmax(logits.float(), dim=-1).cpu().numpy().astype(np.float64)
        borders = np.cumsum([len(passage.reads) for passage in passages])[:-1]
        return np.split(rows, borders)


POOL = 8192  # solutions that are sorted by length together; their tokens are kept in memory
AT_ONCE = 256  # solutions in a call of the tokenizer
SIDES = ('left', 'right')

Prepared = tuple[int, list[Passage] | Refusal]  # number of tokens of the steps, and passages


class BatchedScorer(ABC):
    """Scores solutions with a model that reads many of them in one forward pass.

    Args:
        reader: The model; it is put into evaluation mode.
        batch_size: Greatest number of solutions in a forward pass.
        batch_tokens: Greatest number of tokens in a pass, with padding; a longer solution is alone.
            By default 2048 on the CPU, whose caches hold no more, and 16384 elsewhere.
        max_tokens: Greatest number of tokens of prompt and steps together; by default the number
            of the model's positions.
        padding_side: ``right``, which needs no attention mask and is faster, or ``left``.

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
        """Yield the passages of each solution, or a refusal."""

    @abstractmethod
    def scores_of(self, rows: Rows) -> NDArray[np.float64]:
        """Return the scores of steps, from the classes' probabilities at each step."""

    def score(self, solutions: Sequence[Solution], *, progress: bool = False) -> list[StepScores]:
        """Return the scores of each solution, in order.

        Args:
            solutions: The solutions; equal ones are scored once.
            progress: Show a bar on standard error.
        """
        found = dict(self.stream(solutions, progress=progress))
        return [found[index] for index in range(len(solutions))]

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield index and scores of each solution as soon as it is scored, the longest first.

        The caller can store them at once, so that little is lost if the process is killed. Refused
        solutions are yielded too, with the reason in their scores.

        Args:
            solutions: The solutions; equal ones are scored once.
            progress: Show a bar on standard error.
        """
        places: dict[Solution, list[int]] = {}
        for index, solution in enumerate(solutions):
            places.setdefault(solution, []).append(index)
        self.passes.reader.eval()
        pending = iter(places)
        refused = 0
        with progress_bar(len(places), 'scoring', 'solution', shown=progress) as bar:
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
