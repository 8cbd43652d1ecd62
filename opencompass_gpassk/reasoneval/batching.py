"""Scorers that read solutions in batches: of like length together, equal ones once."""

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
    """What one forward pass reads of a solution.

    Attributes:
        ids: Its tokens, shape (T,).
        reads: Indexes of the tokens at which steps are read, shape (R,).
        first: Which of the solution's steps the first of these is, from 0.
    """

    ids: NDArray[np.int32]
    reads: NDArray[np.int64]
    first: int = 0


def passages(
    encoded: Encoded, *, shift: int, limit: int | None, window: bool
) -> list[Passage] | Refusal:
    """Return a solution whole if it fits; else the prompt with windows of the steps, or a refusal.

    Windows overlap by up to a half: a step is read in the first one that holds its end, where at
    least a quarter of a window stands before it. They begin with a step if they can. Of a step
    that is longer than a window only the end is seen. A prompt that takes more than half of the
    limit is refused.

    Args:
        encoded: The solution.
        shift: How many tokens before its last one a step is read.
        limit: Tokens that the model takes, None for any number.
        window: Make windows, else refuse what is too long.
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
        after = int(np.searchsorted(ends, stop))  # the first step that doesn't end before
        if after > step:  # the first window may hold no end
            ids = np.concatenate([encoded.ids[:prompt], encoded.ids[start:stop]])
            yield Passage(ids, ends[step:after] - start + prompt - shift, step)
            step = after
        if step == len(ends):
            return
        # Half a window back, or less where the end of the next step is too far off for that.
        earliest = max(stop - room // 2, int(ends[step]) + 1 - room)
        fitting = begins[(begins >= earliest) & (begins <= ends[step] - room // 4)]
        start = int(fitting[0]) if len(fitting) else earliest


class Batch(NamedTuple):
    """What the model is given of B passages, padded to T tokens.

    Attributes:
        input_ids: Shape (B, T).
        attention_mask: 1 where a token is, 0 where there is padding that could be seen, (B, T).
        position_ids: Shape (B, T), or None where each row begins at 0.
        reads: Row and column of each step, shape (R, 2), passage after passage.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    position_ids: torch.Tensor | None
    reads: torch.Tensor


def like_lengths(lengths: Sequence[int], size: int, tokens: int) -> Iterator[list[int]]:
    """Yield batches of indexes, the longest first: what does not fit shows at once.

    Args:
        lengths: Of all passages, in tokens.
        size: At most so many in a batch.
        tokens: At most so many in a batch, padding among them; a longer passage stands alone.
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

    On the right nothing has to be masked, since the tokens of a decoder don't see what follows
    them. The mask is full then, by which transformers knows plain causal attention, the fast kind;
    without any mask it would look for packed sequences. On the left, mask and positions keep a
    passage from noticing.
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
# What says, in an error of no class of its own, that memory is exhausted: PyTorch's allocator of
# the CPU, and libraries of CUDA.
EXHAUSTED = re.compile(
    r"out of memory|not enough memory|can't allocate memory|cannot allocate memory|ALLOC_FAILED"
    r'|bad_alloc',
    re.IGNORECASE,
)


class StepReader(Protocol):
    """A model that is read at some tokens, as :class:`~.model.StepClassifier` is."""

    @property
    def model(self) -> PreTrainedModel:
        """The one of ``transformers``."""

    @property
    def device(self) -> torch.device:
        """Where it takes its input."""

    def eval(self) -> Any:
        """Put it into evaluation mode."""

    def __call__(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        position_ids: torch.Tensor | None,
        reads: torch.Tensor,
    ) -> torch.Tensor:
        """Return the logits of C classes at R pairs of row and column, shape (R, C)."""


class Passes:
    """Runs a model on batches. One that runs out of memory is run again in halves.

    Args:
        reader: Which.
        padding_side: ``left`` or ``right``.
    """

    def __init__(self, reader: StepReader, padding_side: str) -> None:
        self.reader = reader
        self.padding_side = padding_side
        self.positions = 'position_ids' in inspect.signature(reader.model.forward).parameters

    def run(self, passages: Sequence[Passage]) -> list[Rows | Refusal]:
        """Return the probabilities of each passage's steps, shape (R, C), or why there are none."""
        rows = self._try(passages)
        if rows is not None:
            return [part if np.isfinite(part).all() else Refusal.NOT_FINITE for part in rows]
        if len(passages) == 1:
            return [Refusal.OUT_OF_MEMORY]
        half = len(passages) // 2
        return [*self.run(passages[:half]), *self.run(passages[half:])]

    def _try(self, passages: Sequence[Passage]) -> list[Rows] | None:
        """Return None where memory runs out; what the failed pass held is free then."""
        import torch

        try:
            return self._probabilities(passages)
        except MemoryError:
            pass
        except RuntimeError as error:  # also torch.cuda.OutOfMemoryError, which may have no words
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
