"""What judging says of one response."""

from __future__ import annotations

from dataclasses import dataclass

from opencompass_gpassk.trials import Verdict

__all__ = ['Judgement']


@dataclass(frozen=True)
class Judgement:
    """A verdict with the answer it was given to.

    Attributes:
        verdict: Right, wrong or not judged.
        answer: The answer, None where the response gives none.
        reason: Why a trial is unjudged.
        source: Who judged: ``rule``, ``judge``, ``human`` or an evaluator's name.
    """

    verdict: Verdict
    answer: str | None = None
    reason: str = ''
    source: str = 'rule'
