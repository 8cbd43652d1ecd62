"""Which problem and replica each row of a test set is, in shards too."""

from __future__ import annotations

from typing import Any

from opencompass_gpassk.datasets.identity import identify

__all__ = ['identities_of']


def identities_of(test_set: Any) -> list[tuple[str, int]]:
    """Return (problem_id, replica) of each row."""
    return identify(test_set)
