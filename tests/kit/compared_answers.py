"""Gold answers and answers compared in this process, without the pool of workers."""

from __future__ import annotations

from opencompass_gpassk.answers.check import compare_quickly, compare_thoroughly
from opencompass_gpassk.answers.sameness import Relation


def compare(gold: str, answer: str, question: str | None = None) -> tuple[Relation, str]:
    """Return the relation and its reason."""
    quick = compare_quickly(gold, answer, question)
    return quick or compare_thoroughly(gold, answer, question)
