"""One row of a test set as a request to a model, and the seeds that belong to requests."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.formats.hashing import stable_hash

__all__ = [
    'Request',
    'batches',
    'combined_seed',
    'identify',
    'identities_in_task',
    'request_seed',
    'shard_of',
]

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


def identify(rows: Any) -> list[tuple[str, int]]:
    """Return (problem_id, replica) of each row.

    This package's data sets carry both as columns, so any part of a test set will do. In
    OpenCompass's own data sets a problem is its `idx`, numbered before the rows are repeated, and
    the replica is how often the problem occurred before: those rows must be the whole test set,
    not a shard of it. (`subdivision` is left aside: it holds the abbreviation, which differs
    between a shard and the whole.)

    Args:
        rows: A test set, as a ``datasets.Dataset`` or a sequence of mappings.

    Raises:
        ValueError: If rows have neither `problem_id` and `replica` nor `idx`.
    """
    columns = _columns(rows, ('problem_id', 'replica', 'idx'))
    if 'problem_id' in columns and 'replica' in columns:
        pairs = zip(columns['problem_id'], columns['replica'], strict=True)
        return [(str(problem), int(replica)) for problem, replica in pairs]
    if 'idx' not in columns:
        raise ValueError(
            "the test set's rows have neither the columns 'problem_id' and 'replica' nor 'idx', so "
            'samples of one problem cannot be told from those of another; load the data set '
            "through a subclass of OpenCompass's BaseDataset, which numbers the rows"
        )
    seen: Counter[str] = Counter()
    identities = []
    for problem in map(str, columns['idx']):
        identities.append((problem, seen[problem]))
        seen[problem] += 1
    return identities


def _columns(rows: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return those of the columns that all rows have."""
    if hasattr(rows, 'column_names'):
        return {name: list(rows[name]) for name in names if name in rows.column_names}
    return {name: [row[name] for row in rows] for name in names if all(name in r for r in rows)}


Identity = tuple[str, int]


def identities_in_task(
    test_set: Any, config: Mapping[str, Any] | None, load: Callable[[Any], Any]
) -> list[Identity]:
    """Return (problem_id, replica) of each row that a task got.

    This package's data sets carry both. Rows of other data sets are counted: the replica is how
    often their problem occurred before, in all rows that the evaluation will have. That takes the
    whole test set where OpenCompass's partitioner gave the task a shard of it.

    Args:
        test_set: The task's rows.
        config: The task's data set config; None where no task calls, which alone splits rows up.
        load: Returns the test set of a data set config.

    Raises:
        ValueError: If the shard doesn't fit the whole test set, loaded a second time.
    """
    if config is None or {'problem_id', 'replica'} <= set(test_set.column_names):
        return identify(test_set)
    whole, shard = shard_of(config)
    if shard is None:
        return identify(test_set)
    found = identify(load(whole))[shard]
    if [problem for problem, _ in found] != [problem for problem, _ in identify(test_set)]:
        raise ValueError(
            f'reader_cfg.test_range [{shard.start}:{shard.stop}] of the whole data set '
            f'{whole["abbr"]} gives other problems than this task has; is the data set shuffled '
            'anew each time it is loaded?'
        )
    return found


def shard_of(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], slice | None]:
    """Split a shard's data set config into that of the whole test set and the shard's slice.

    Part p of OpenCompass's partitioners has ``_p`` behind the abbr and ``[p*step:p*step+step]``
    behind the test range; what stands before is the user's own choice of rows. All three must fit,
    or the config is no shard's, and the slice None: ``sums_500`` with ``[5:45]`` is a data set
    of the user's own. (``sums_1`` with ``[40:80]`` is taken for the second part of ``sums``.)
    """
    reader = config.get('reader_cfg') or {}
    given = re.fullmatch(r'(.*)\[(\d+): ?(\d+)\]', str(reader.get('test_range') or ''))
    name = re.fullmatch(r'(.+)_(\d+)', str(config.get('abbr') or ''))
    if given is None or name is None:
        return config, None
    start, stop = int(given[2]), int(given[3])
    if start != int(name[2]) * (stop - start):
        return config, None
    # Without infer_cfg, in which OpenCompass has put the model by now: that is not to be copied.
    whole = copy.deepcopy({k: v for k, v in config.items() if k not in ('infer_cfg', 'eval_cfg')})
    whole['abbr'] = name[1]
    whole['reader_cfg']['test_range'] = given[1]
    return whole, slice(start, stop)
