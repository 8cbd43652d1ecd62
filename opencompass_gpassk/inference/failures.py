"""Rows whose request fails: find them, record them as lost, and stop where all of them fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opencompass_gpassk.inference.backend import Backend, Options
from opencompass_gpassk.inference.outputs import Output
from opencompass_gpassk.inference.rows import Row

__all__ = ['FailureWatch', 'InferenceStoppedError', 'draw', 'reason_of']


class InferenceStoppedError(RuntimeError):
    """So many requests failed in a row that the model is presumably out of reach."""


class FailureWatch:
    """Counts rows that failed without a success between them.

    Args:
        limit: How many are too many.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.failed = 0

    def saw(self, outputs: Sequence[Output]) -> None:
        """Count finished rows.

        Raises:
            InferenceStoppedError: If the limit is reached.
        """
        for output in outputs:
            self.failed = self.failed + 1 if output.lost else 0
        if self.failed >= self.limit:
            raise InferenceStoppedError(
                f'{self.failed} requests failed one after another, the last with: '
                f'{outputs[-1].lost}. '
                'Finished responses are saved; mend the model or its address and key, then resume '
                'with opencompass CONFIG -r. max_failures of GPassKGenInferencer sets how many '
                'failures end a run'
            )


def draw(
    backend: Backend, batch: Sequence[Row], options: Options
) -> Iterator[list[tuple[Row, Output]]]:
    """Draw one batch; if that fails, halve it until the rows that fail stand alone.

    A batch too large for the memory gets through in parts, and one bad prompt costs itself alone.
    """
    reason = ''
    try:
        outputs = backend.generate(
            [row.entry for row in batch], [row.seed for row in batch], options
        )
        if len(outputs) != len(batch):
            raise ValueError(f'{len(outputs)} responses to {len(batch)} prompts')
    except Exception as error:
        reason = reason_of(error)
    if not reason:
        yield list(zip(batch, outputs, strict=True))
        return
    backend.recover(len(batch), reason)
    if len(batch) == 1:
        yield [(batch[0], Output('', lost=reason))]
        return
    middle = len(batch) // 2
    yield from draw(backend, batch[:middle], options)
    yield from draw(backend, batch[middle:], options)


def reason_of(error: BaseException) -> str:
    """Return an exception in one short line."""
    text = ' '.join(str(error).split())
    return f'{type(error).__name__}: {text}'[:500] if text else type(error).__name__
