"""Long solutions in parts that the model takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.prompt import Encoded
from opencompass_gpassk.reasoneval.solutions import Refusal

__all__ = ['Passage', 'passages']


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
