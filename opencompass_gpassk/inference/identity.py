"""Which problem and replica each row of a test set is, in shards of a test set too."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Sequence
from typing import Any

from opencompass_gpassk.datasets.identity import identify

__all__ = ['identities_of', 'shard_of']

Identity = tuple[str, int]


def identities_of(test_set: Any) -> list[Identity]:
    """Return (problem_id, replica) of each row.

    This package's data sets carry both. Rows of other data sets are counted: the replica is how
    often their problem occurred before, which takes the whole test set where OpenCompass handed
    a shard of it to this task.

    Raises:
        ValueError: If the shard doesn't fit the whole test set, loaded a second time.
    """
    if {'problem_id', 'replica'} <= set(test_set.column_names):
        return identify(test_set)
    config = _running_config()
    whole, shard = shard_of(config) if config else (None, '')
    if not shard:
        return identify(test_set)
    from opencompass.utils import build_dataset_from_cfg

    everything = build_dataset_from_cfg(whole).test
    positions = _positions(shard, len(everything))
    identities = identify(everything)
    found = [identities[i] for i in positions]
    if [problem for problem, _ in found] != [problem for problem, _ in identify(test_set)]:
        raise ValueError(
            f'reader_cfg.test_range {shard!r} of the whole data set gives other problems than '
            'this task has; is the data set shuffled anew each time it is loaded?'
        )
    return found


def shard_of(config: Any) -> tuple[Any, str]:
    """Split a shard's data set config into that of the whole test set and the shard's slice.

    OpenCompass's partitioner adds ``_<part>`` to the abbr and a last ``[start:end]`` to the
    test range; what stands before it is the user's own choice of rows. The slice is '' where the
    config is no shard's.
    """
    reader = config.get('reader_cfg') or {}
    parts = re.fullmatch(r'(.*)(\[\d+:\d+\])', str(reader.get('test_range') or ''))
    name = re.fullmatch(r'(.+)_\d+', str(config.get('abbr') or ''))
    if not parts or not name:
        return config, ''
    # Without infer_cfg, in which OpenCompass has put the model by now: that is not to be copied.
    whole = copy.deepcopy({k: v for k, v in config.items() if k not in ('infer_cfg', 'eval_cfg')})
    whole['abbr'] = name.group(1)
    whole['reader_cfg']['test_range'] = parts.group(1)
    return whole, parts.group(2)


def _positions(shard: str, total: int) -> Sequence[int]:
    start, end = (int(number) for number in shard.strip('[]').split(':'))
    return range(total)[start:end]


def _running_config() -> Any:
    """Return the data set config of the OpenCompass task that this call is part of.

    OpenCompass hands the inferencer rows, not where in the test set they stand.
    """
    frame = inspect.currentframe()
    while frame is not None:
        task = frame.f_locals.get('self')
        if type(task).__name__ == 'OpenICLInferTask':
            return getattr(task, 'dataset_cfg', None)
        frame = frame.f_back
    return None
