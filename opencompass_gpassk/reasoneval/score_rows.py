"""Scores as a row of the score store."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores

__all__ = ['checksum_of', 'read_scores', 'solution_key']


def solution_key(solution: Solution) -> bytes:
    """Return what a solution is found by: a digest of its texts."""
    return bytes.fromhex(stable_hash([solution.question, *solution.steps]))


def read_scores(row: Sequence[Any], steps: int) -> StepScores | None:
    """Return the scores in a sound row, None if they aren't those of so many steps."""
    _, _, counted, numbers, refusal, tokens = row
    if counted != steps:
        return None
    if refusal:  # one that this version doesn't know is no answer
        known = refusal in Refusal.__members__
        return StepScores.refused(steps, Refusal[refusal], tokens) if known else None
    if not steps:
        return None
    flat = np.frombuffer(numbers, '<f8').astype(np.float64)
    return StepScores(flat.reshape(steps, len(flat) // steps), tokens=tokens)


def checksum_of(row: Sequence[Any]) -> bytes:
    """Return what tells whether a row is what was written."""
    return hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).digest()
