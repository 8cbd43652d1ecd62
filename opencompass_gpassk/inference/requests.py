"""One row of a test set as a request to a model, and the seeds that belong to requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.hashing import stable_hash

__all__ = ['Request', 'batches', 'combined_seed', 'request_seed']

SEED_BITS = 31  # what every engine and API takes as a seed


@dataclass(frozen=True)
class Request:
    """One trial to be drawn.

    Attributes:
        index: Position in the prediction file.
        problem_id: The problem, unique inside the data set.
        replica: Which of its n samples.
        entry: The prompt as OpenCompass's template makes it.
        prompt: The prompt as the model wrapper parses it, for the record.
        gold: The gold answer, None where the data set names none.
        seed: Of this request's draw.
        key: Names prompt, protocol and identity: a saved response with another key is not ours.
    """

    index: int
    problem_id: str
    replica: int
    entry: Any
    prompt: Any
    gold: Any
    seed: int
    key: str


def request_seed(run_seed: int, problem_id: str, replica: int, prompt: Any) -> int:
    """Return the seed of one draw: a function of the request alone, not of batch, shard or resume.

    The prompt takes part because two data sets may both call a problem ``'0'``.
    """
    return _seed(stable_hash(['row', run_seed, problem_id, replica, prompt]))


def combined_seed(seeds: Iterable[int]) -> int:
    """Return the seed of a batch whose backend takes a single one."""
    return _seed(stable_hash(['batch', *seeds]))


def _seed(digest: str) -> int:
    return int(digest, 16) >> (256 - SEED_BITS)


def batches(requests: Sequence[Request], size: int, *, repeats: bool) -> list[list[Request]]:
    """Cut requests into batches, which depend on nothing else: a resumed run draws the same.

    Args:
        requests: All that make up the batches.
        size: Requests a batch holds at most.
        repeats: Whether a batch may hold several replicas of a problem. Where the backend gives
            one seed to every request of a batch it must not: equal prompts would be answered
            equally.
    """
    if repeats:
        return [list(requests[i : i + size]) for i in range(0, len(requests), size)]
    found: list[list[Request]] = []
    members: list[set[str]] = []
    first_open = 0
    for request in requests:
        place = first_open
        while place < len(found) and (
            len(found[place]) >= size or request.problem_id in members[place]
        ):
            place += 1
        if place == len(found):
            found.append([])
            members.append(set())
        found[place].append(request)
        members[place].add(request.problem_id)
        while first_open < len(found) and len(found[first_open]) >= size:
            first_open += 1
    return found
