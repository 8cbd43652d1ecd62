"""Passages of like length together, as tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from opencompass_gpassk.reasoneval.windows import Passage

if TYPE_CHECKING:
    import torch

__all__ = ['Batch', 'like_lengths', 'pad']


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
