"""Draw the missing responses to a data set's requests, and save each as it arrives."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from opencompass_gpassk.formats.progress_bar import progress_bar
from opencompass_gpassk.inference.backend import Backend, Options, Output
from opencompass_gpassk.inference.progress_files import Progress, Record
from opencompass_gpassk.inference.sample_requests import Request, batches

if TYPE_CHECKING:
    from tqdm import tqdm


class InferenceStoppedError(RuntimeError):
    """Too many consecutive requests failed: the model is probably unreachable."""


def draw(
    backend: Backend, batch: Sequence[Request], options: Options
) -> Iterator[list[tuple[Request, Output]]]:
    """Draw one batch; if it fails, halve it until each failing request is alone.

    So a batch too large for the memory is drawn in parts, and a bad prompt loses only itself.
    """
    reason = ''
    try:
        outputs = backend.generate(
            [request.entry for request in batch], [request.seed for request in batch], options
        )
        finished = list(zip(batch, outputs, strict=True))
    except Exception as error:  # a wrapper or its engine may raise anything
        reason = reason_of(error)
    if not reason:
        yield finished
        return
    backend.recover(len(batch), reason)
    if len(batch) == 1:
        yield [(batch[0], Output('', lost=reason))]
        return
    middle = len(batch) // 2
    yield from draw(backend, batch[:middle], options)
    yield from draw(backend, batch[middle:], options)


def reason_of(error: BaseException) -> str:
    """Return an exception's type and message on one short line."""
    text = ' '.join(str(error).split())
    return f'{type(error).__name__}: {text}'[:500] if text else type(error).__name__


Finished = list[tuple[Request, Output]]


@dataclass
class Drawing:
    """The responses of one model to one data set, or to a shard of it.

    Attributes:
        requests: All requests.
        backend: Draws the responses.
        options: Further arguments of the wrapper's ``generate``.
        batch_size: Requests at once.
        max_failures: This many consecutive failed requests end the drawing; with w concurrent
            requests to an API, w - 1 more.
        progress: The saved responses. Requests that an earlier run lost are tried again, but last:
            a prompt that always fails must not make the model look unreachable.
        record: Makes the record of a request.
        warn: Takes a message for the user.
        lost: Records of requests that failed in this run.
    """

    requests: Sequence[Request]
    backend: Backend
    options: Options
    batch_size: int
    max_failures: int
    progress: Progress
    record: Callable[[Request, Output], Record]
    warn: Callable[[str], None]
    lost: dict[int, Record] = field(default_factory=dict)

    def finish(self) -> None:
        """Draw all requests that aren't saved.

        Raises:
            InferenceStoppedError: If too many consecutive requests failed.
        """
        # Concurrent requests fail together, for the same reason.
        together = self.backend.workers(self.batch_size) if self.backend.concurrent else 1
        with progress_bar(
            len(self.requests),
            'Sampling',
            'it',
            shown=True,
            initial=len(self.progress.places),
            status=lambda: {
                **self.backend.status(),
                'lost': len(self.lost),
                **({'reused': len(reused)} if (reused := self.progress.reused) else {}),
            },
        ) as bar:
            first = self._open() - self.progress.failed_before
            self._draw(bar, first, self.max_failures + together - 1)
            if again := self._open() - set(self.lost):
                self._draw(bar, again, None)

    def _open(self) -> set[int]:
        return {request.index for request in self.requests} - self.progress.places.keys()

    def _draw(self, bar: tqdm, wanted: set[int], most: int | None) -> None:
        """Draw until all is done, or so many requests failed one after another.

        Requests in flight are saved in either case.
        """
        failed, reason, stopped = 0, '', False
        with closing(self._draws(wanted, lambda: stopped)) as draws:
            for finished in draws:
                new = [item for item in finished if item[0].index not in self.progress.places]
                self._save(new)
                bar.update(sum(not output.lost for _, output in new))
                for _, output in finished if not stopped else ():
                    failed, reason = failed + 1 if output.lost else 0, output.lost
                    if stopped := failed == most:
                        break
        if stopped:
            raise InferenceStoppedError(
                f'{failed} requests failed one after another, the last with: {reason}. Finished '
                'responses are saved; fix the model or its address and key, then resume with '
                'opencompass CONFIG -r. max_failures of GPassKGenInferencer sets how many failures '
                'end a run'
            )

    def _draws(
        self, wanted: set[int], stopped: Callable[[], bool]
    ) -> Generator[Finished, None, None]:
        """Yield finished requests, per batch or one by one; start none after the stop."""
        missing = [request for request in self.requests if request.index in wanted]
        if not self.backend.batch_seed and self.backend.repeats:
            # An engine's prefix cache reads the prompt of a problem's samples once, if they are
            # drawn one after another.
            first: dict[str, int] = {}
            missing.sort(key=lambda one: first.setdefault(one.problem_id, one.index))
        if self.backend.concurrent:
            begun = takewhile(lambda _: not stopped(), missing)
            workers = self.backend.workers(self.batch_size)
            yield from self.backend.stream(begun, self.options, workers)
            return
        # A batch with one seed is drawn again as a whole: its samples depend on all its requests.
        drawn = [one for one in self.requests if one.index not in self.progress.reused]
        requests = drawn if self.backend.batch_seed else missing
        for batch in batches(requests, self.batch_size, repeats=self.backend.repeats):
            if any(request.index in wanted for request in batch):
                for finished in draw(self.backend, batch, self.options):
                    yield finished
                    if stopped():
                        return

    def _save(self, finished: Finished) -> None:
        records = [(request, self.record(request, output)) for request, output in finished]
        for request, record in records:
            if 'lost' in record:
                self.lost[request.index] = record
                self.warn(
                    f'problem {request.problem_id}, replica {request.replica}: {record["lost"]}'
                )
            else:
                self.lost.pop(request.index, None)
        self.progress.save(records)
