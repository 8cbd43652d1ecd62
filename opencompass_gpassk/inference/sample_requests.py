"""Rows of a test set as requests to a model, and the requests' seeds."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.formats.hashing import stable_hash

if TYPE_CHECKING:
    from datasets import Dataset

SEED_BITS = 31  # every engine and API takes seeds of this size


@dataclass(frozen=True)
class Request:
    """One trial to be drawn.

    Attributes:
        index: Position in the prediction file.
        problem_id: The problem, unique inside the data set.
        replica: The number of the sample, among the problem's n samples.
        entry: The prompt as OpenCompass's template makes it.
        prompt: The prompt as the model wrapper parses it, for the record.
        gold: The gold answer; None if the data set has none.
        seed: Seed of this draw.
        key: Hash of prompt, protocol and identity; a saved response with another key isn't used.
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

    It depends on the prompt too, because two data sets may both call a problem ``'0'``.
    """
    return _seed(stable_hash(['row', run_seed, problem_id, replica, prompt]))


def combined_seed(seeds: Iterable[int]) -> int:
    """Return the seed of a batch, for a backend that takes one seed per batch."""
    return _seed(stable_hash(['batch', *seeds]))


def _seed(digest: str) -> int:
    return int(digest, 16) >> (256 - SEED_BITS)


def batches(requests: Sequence[Request], size: int, *, repeats: bool) -> list[list[Request]]:
    """Cut requests into batches. They depend only on the arguments: a resumed run draws the same.

    Args:
        requests: All requests.
        size: Greatest number of requests in a batch.
        repeats: Whether a batch may hold several replicas of a problem. It must not if the backend
            gives every request of a batch the same seed: equal prompts would get equal responses.
    """
    found: list[list[Request]] = []
    members: set[str] = set()
    for request in requests:
        repeated = not repeats and request.problem_id in members
        if not found or len(found[-1]) == size or repeated:
            found.append([])
            members.clear()
        found[-1].append(request)
        members.add(request.problem_id)
    return found


def identify(rows: Dataset) -> list[tuple[str, int]]:
    """Return (problem_id, replica) of each row.

    This package's data sets have both as columns, so any part of a test set can be given. In
    OpenCompass's own data sets a problem is its `idx`, numbered before the rows are repeated, and
    the replica is how often the problem occurred before: these rows must be the whole test set,
    not a shard. (`subdivision` is ignored: it holds the abbreviation, which differs between a shard
    and the whole.)

    Args:
        rows: A test set.

    Raises:
        ValueError: If rows have neither `problem_id` and `replica` nor `idx`.
    """
    if {'problem_id', 'replica'} <= {*rows.column_names}:
        pairs = zip(rows['problem_id'], rows['replica'], strict=True)
        return [(str(problem), int(replica)) for problem, replica in pairs]
    if 'idx' not in rows.column_names:
        raise ValueError(
            "the test set's rows have neither the columns 'problem_id' and 'replica' nor 'idx', so "
            'the problem of a sample is unknown; load the data set '
            "through a subclass of OpenCompass's BaseDataset, which numbers the rows"
        )
    seen: Counter[str] = Counter()
    identities = []
    for problem in map(str, rows['idx']):
        identities.append((problem, seen[problem]))
        seen[problem] += 1
    return identities


Identity = tuple[str, int]


def identities_in_task(
    test_set: Any, config: Mapping[str, Any] | None, load: Callable[[Any], Any]
) -> list[Identity]:
    """Return (problem_id, replica) of each row of a task.

    This package's data sets have both columns. Rows of other data sets are counted: the replica is
    how often the problem occurred before in the whole test set. If OpenCompass's partitioner gave
    the task a shard, the whole test set is loaded for this.

    Args:
        test_set: The task's rows.
        config: The task's data set config; None outside a task, where rows are never split up.
        load: Returns the test set of a data set config.

    Raises:
        ValueError: If the shard doesn't match the whole test set, loaded a second time, or if a
            range selects some of the rows.
    """
    check_test_range(config or {})
    whole, shard = shard_of(config or {})
    if shard is None or {'problem_id', 'replica'} <= {*test_set.column_names}:
        return identify(test_set)
    found = identify(load(whole))[shard]
    if [problem for problem, _ in found] != [problem for problem, _ in identify(test_set)]:
        raise ValueError(
            f'reader_cfg.test_range [{shard.start}:{shard.stop}] of the whole data set '
            f'{whole["abbr"]} gives other problems than this task has; is the data set shuffled '
            'each time it is loaded?'
        )
    return found


def check_test_range(config: Mapping[str, Any]) -> None:
    """Refuse a test range of the user's own on problems that are sampled several times.

    OpenCompass repeats the rows sample by sample before it applies the range, so most ranges would
    keep other numbers of samples of a problem than the n that the results name.

    Raises:
        ValueError: If there is one.
    """
    whole, _ = shard_of(config)
    own = (whole.get('reader_cfg') or {}).get('test_range')
    if own and whole.get('n', 1) > 1:
        raise ValueError(
            f'{whole.get("abbr")}: reader_cfg.test_range is {own!r}, which OpenCompass applies to '
            f'the rows of all {whole["n"]} samples together, so that most samples would be left '
            'out; for the first 10 problems set limit=10 in the data set or in upgraded(…), or '
            'GPASSK_LIMIT=10'
        )


def shard_of(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], slice | None]:
    """Split a shard's data set config into that of the whole test set and the shard's slice.

    OpenCompass's partitioners append ``_p`` to the abbr of part p and ``[p*step:p*step+step]`` to
    the test range; a test range before that is the user's own. If abbr and range don't match, the
    config isn't a shard's and the slice is None: ``sums_500`` with ``[5:45]`` is a data set of the
    user's own. (``sums_1`` with ``[40:80]`` is taken for the second part of ``sums``.)
    """
    reader = config.get('reader_cfg') or {}
    given = re.fullmatch(r'(.*)\[(\d+): ?(\d+)\]', str(reader.get('test_range') or ''))
    name = re.fullmatch(r'(.+)_(\d+)', str(config.get('abbr') or ''))
    if given is None or name is None:
        return config, None
    start, stop = int(given[2]), int(given[3])
    if start != int(name[2]) * (stop - start):
        return config, None
    # Leave infer_cfg out: OpenCompass has put the model into it, which must not be copied.
    whole = copy.deepcopy({k: v for k, v in config.items() if k not in ('infer_cfg', 'eval_cfg')})
    whole['abbr'] = name[1]
    whole['reader_cfg']['test_range'] = given[1]
    return whole, slice(start, stop)
