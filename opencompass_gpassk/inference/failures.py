"""Requests that fail: find them, record them as lost, and stop where all of them fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from opencompass_gpassk.inference.backend import Backend, Options
from opencompass_gpassk.inference.outputs import Output
from opencompass_gpassk.inference.requests import Request

__all__ = ['FailureWatch', 'InferenceStoppedError', 'draw', 'how_to_ask_again', 'reason_of']


class InferenceStoppedError(RuntimeError):
    """So many requests failed one after another that the model is presumably out of reach."""


class FailureWatch:
    """Counts requests that failed without a success between them.

    Args:
        limit: How many are too many; None if any number will do.

    Attributes:
        stopped: The limit was reached. Successes that come after it don't change that.
    """

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.failed = 0
        self.stopped = False
        self._reason = ''

    def saw(self, outputs: Sequence[Output]) -> None:
        """Count finished requests."""
        for output in outputs:
            if self.stopped:
                return
            self.failed = self.failed + 1 if output.lost else 0
            self._reason = output.lost
            self.stopped = self.failed == self.limit

    def check(self) -> None:
        """Raise an error if the limit was reached.

        Raises:
            InferenceStoppedError: It names the last failure, and what to do.
        """
        if self.stopped:
            raise InferenceStoppedError(
                f'{self.failed} requests failed one after another, the last with: {self._reason}. '
                'Finished responses are saved; mend the model or its address and key, then resume '
                'with opencompass CONFIG -r. max_failures of GPassKGenInferencer sets how many '
                'failures end a run'
            )


def draw(
    backend: Backend, batch: Sequence[Request], options: Options
) -> Iterator[list[tuple[Request, Output]]]:
    """Draw one batch; if that fails, halve it until the requests that fail stand alone.

    A batch too large for the memory gets through in parts, and one bad prompt costs itself alone.
    """
    reason = ''
    try:
        outputs = backend.generate(
            [request.entry for request in batch], [request.seed for request in batch], options
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


def how_to_ask_again(predictions: Path, dataset: str) -> str:
    """Return what a user does to have lost requests sent again.

    Args:
        predictions: ``WORK_DIR/predictions/MODEL/DATA SET.json``, or that of a shard.
        dataset: The data set's abbreviation.
    """
    work_dir, found, model = predictions.parent.as_posix().rpartition('/predictions/')
    result = f'{work_dir}/results/{model}/{dataset}.json' if found else f'the result of {dataset}'
    return (
        f'to ask for the lost ones again, and for no others, delete {predictions} and, if there '
        f'is one, {result} (an existing result is never made anew), then resume with '
        'opencompass CONFIG -r'
    )
