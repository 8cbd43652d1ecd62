"""The bar that is shown while a judge is asked."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from opencompass_gpassk.judging.ledger import Ledger

__all__ = ['JudgingBar']


class JudgingBar:
    """A bar of tqdm on standard error: rate, time left, calls saved, failed calls.

    Args:
        total: Triples to ask about.
        ledger: Whose counts are shown.
        shown: Show it, else nothing.
    """

    def __init__(self, total: int, ledger: Ledger, *, shown: bool) -> None:
        self.total = total
        self.ledger = ledger
        self.shown = shown and total > 0
        self.bar: Any = None

    def __enter__(self) -> JudgingBar:
        if self.shown:
            from tqdm import tqdm

            # In a log each redrawing is a line.
            often = 0.1 if sys.stderr.isatty() else 30.0
            self.bar = tqdm(total=self.total, desc='judging', unit='answer', mininterval=often)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self._tell()
            self.bar.close()

    def advance(self) -> None:
        """One more is settled."""
        if self.bar is not None and self.bar.update():  # redrawn, which is a few times a second
            self._tell()

    def _tell(self) -> None:
        self.bar.set_postfix(
            saved=self.ledger.saved.total(), errors=self.ledger.failures.total(), refresh=False
        )
