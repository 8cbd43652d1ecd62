"""Progress bars on a terminal; in a log they are a line every ten seconds."""

from __future__ import annotations

import io
import math
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

LOG_INTERVAL = 10.0  # seconds
Item = TypeVar('Item')


class _Log(io.TextIOBase):
    """Standard error as a log, in which each update of a progress bar is a line."""

    def write(self, text: str) -> int:
        sys.stderr.write(f'{shown}\n' if (shown := text.strip()) else '')
        return len(text)


def with_progress(
    items: Iterable[Item], total: int | None, name: str, unit: str, *, shown: bool
) -> Iterator[Item]:
    """Yield items; a bar, as of :func:`progress_bar`, moves behind each."""
    with progress_bar(total, name, unit, shown=shown) as bar:
        for item in items:
            yield item
            bar.update()


NO_REPLY = 'no reply for'  # the name in a status of how long a server has been silent
# The newest bar that was shown, with its status; runs/task_progress.py writes it to a file.
newest_bar: deque[tuple[tqdm, Callable[[], Mapping[str, object]]]] = deque(maxlen=1)


@contextmanager
def progress_bar(
    total: int | None,
    name: str,
    unit: str,
    *,
    shown: bool,
    initial: int = 0,
    status: Callable[[], Mapping[str, object]] | None = None,
) -> Iterator[tqdm]:
    """Show a progress bar on standard error; a hidden one takes the same calls.

    Outside a terminal it is a line every ten seconds.

    Args:
        total: Number of items; None if it is unknown.
        name: What is done.
        unit: What an item is.
        shown: Whether anything is shown.
        initial: Number of items that were done before.
        status: Returns what else is told, by name; it is called by another thread. With it, the
            bar goes on telling the time while nothing arrives.
    """
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    interval = 0.1 if terminal else LOG_INTERVAL
    ended = threading.Event()
    told = status or dict
    with tqdm(
        total=total,
        desc=name,
        unit=unit,
        initial=initial,
        disable=not shown,
        file=sys.stderr if terminal else _Log(),
        mininterval=interval,
        delay=0.0 if terminal else LOG_INTERVAL,
        miniters=1,
    ) as bar:

        def show() -> None:
            while not ended.wait(interval):
                bar.set_postfix(told())

        if shown:
            newest_bar.append((bar, told))
        if shown and status:  # by a thread alone, since it must also be shown while nothing arrives
            bar.mininterval, bar.delay = math.inf, 0.0
            threading.Thread(target=show, daemon=True).start()
        try:
            yield bar
        finally:
            ended.set()
            if status:
                bar.set_postfix(told(), refresh=False)
