"""Draw what is missing of a task's rows, and save it as it comes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from tqdm import tqdm

from opencompass_gpassk.inference.backend import Backend, Options
from opencompass_gpassk.inference.failures import FailureWatch, draw
from opencompass_gpassk.inference.outputs import Output
from opencompass_gpassk.inference.progress import Progress, Record
from opencompass_gpassk.inference.rows import Row, batches

__all__ = ['Run']

Finished = list[tuple[Row, Output]]


@dataclass
class Run:
    """One data set on one model.

    Attributes:
        rows: All of the task.
        backend: Draws them.
        options: Further arguments of the wrapper's ``generate``.
        batch_size: Rows at once.
        max_failures: So many failed requests one after another end the run.
        progress: Where finished rows are saved; None in all but one process of several.
        record: Makes the record of a row.
        warn: Takes a message for the user.
        saved: Records of finished rows by index, to begin with those of an earlier run.
        failed_before: Rows that an earlier run lost. They are tried again, but last: a prompt that
            always fails must not look like a model out of reach.
        lost: Records of rows whose request failed in this run.
    """

    rows: Sequence[Row]
    backend: Backend
    options: Options
    batch_size: int
    max_failures: int
    progress: Progress | None
    record: Callable[[Row, Output], Record]
    warn: Callable[[str], None]
    saved: dict[int, Record] = field(default_factory=dict)
    failed_before: set[int] = field(default_factory=set)
    lost: dict[int, Record] = field(default_factory=dict)

    def finish(self) -> None:
        """Draw all rows that aren't saved.

        Raises:
            InferenceStoppedError: If too many requests failed one after another.
        """
        # Requests that are under way together fail together, for one and the same reason.
        together = self.backend.workers(self.batch_size) if self.backend.concurrent else 1
        watch = FailureWatch(self.max_failures + together - 1)
        with tqdm(
            total=len(self.rows),
            initial=len(self.saved),
            disable=self.progress is None,
            desc='Sampling',
        ) as bar:
            self._draw(bar, watch, self._open() - self.failed_before)
            again = self._open()
            if not self.backend.concurrent:
                again -= set(self.lost)  # while a server may have recovered since
            self._draw(bar, None, again)

    def _open(self) -> set[int]:
        return {row.index for row in self.rows} - set(self.saved)

    def _draw(self, bar: tqdm, watch: FailureWatch | None, wanted: set[int]) -> None:
        with closing(self._draws(wanted)) as draws:
            for finished in draws:
                new = [item for item in finished if item[0].index not in self.saved]
                self._save(new)
                bar.update(sum(not output.lost for _, output in new))
                if watch is not None:
                    watch.saw([output for _, output in finished])

    def _draws(self, wanted: set[int]) -> Generator[Finished, None, None]:
        """Yield finished rows, a batch or a request at a time."""
        if self.backend.per_request:
            rows = [row for row in self.rows if row.index in wanted]
            if self.backend.concurrent:
                workers = self.backend.workers(self.batch_size)
                yield from self.backend.stream(rows, self.options, workers)
                return
        else:
            rows = list(self.rows)
        for batch in batches(rows, self.batch_size, repeats=self.backend.repeats):
            # A batch with one seed is drawn as a whole again: its samples depend on all its rows.
            if any(row.index in wanted for row in batch):
                yield from draw(self.backend, batch, self.options)

    def _save(self, finished: Finished) -> None:
        records = [(row, self.record(row, output)) for row, output in finished]
        for row, record in records:
            if 'lost' in record:
                self.lost[row.index] = record
                self.warn(f'problem {row.problem_id}, replica {row.replica}: {record["lost"]}')
            else:
                self.lost.pop(row.index, None)
                self.saved[row.index] = record
        if self.progress is not None:
            self.progress.append(records)
