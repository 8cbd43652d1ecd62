"""What judging says of one response."""

from __future__ import annotations

from dataclasses import dataclass

from opencompass_gpassk.trials import Verdict

__all__ = ['Judgement']


@dataclass(frozen=True)
class Judgement:
    """A verdict with the answer it was given to; ``reason`` says why a trial is unjudged."""

    verdict: Verdict
    answer: str | None = None
    reason: str = ''
