"""Forward passes: the class probabilities of a batch of passages."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.batches import pad
from opencompass_gpassk.reasoneval.solutions import Refusal
from opencompass_gpassk.reasoneval.windows import Passage

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

__all__ = ['Passes', 'Rows', 'StepReader']

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
