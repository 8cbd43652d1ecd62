"""Which problem and replica each row of a test set is, in shards of a test set too."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

from opencompass_gpassk.datasets.identity import identify

__all__ = ['identities_in_task', 'shard_of']

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
