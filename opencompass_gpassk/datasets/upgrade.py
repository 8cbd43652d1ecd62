"""G-Pass@k of any data set of OpenCompass: n samples of its problems, judged by its own evaluator.

    datasets = __import__('opencompass_gpassk').upgraded('gsm8k_gen', n=16, k=[4, 8])

or, of a data set that a config has imported:

    from opencompass_gpassk import upgrade
    datasets = upgrade.build()(gsm8k_datasets, n=16, k=[4, 8])
"""

from __future__ import annotations

import copy
import difflib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import opencompass
from datasets import DatasetDict, concatenate_datasets
from mmengine.config import Config
from mmengine.config.lazy import LazyAttr, LazyObject
from opencompass.datasets.base import BaseDataset
from opencompass.registry import LOAD_DATASET
from opencompass.utils import dataset_abbr_from_cfg

from opencompass_gpassk.datasets import settings
from opencompass_gpassk.formats.parse_settings import gpus_asked
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.runs.running_task import leave_responses_unread

CONFIGS = Path(opencompass.__file__).parent / 'configs/datasets'
# Fields of a data set's config that are not arguments of its class, or that are set anew.
APART = ('infer_cfg', 'eval_cfg', 'n', 'k')
# Fields of reader_cfg that the data set's own reader has applied before its rows are repeated.
APPLIED = ('train_split', 'train_range', 'test_split', 'test_range')


@LOAD_DATASET.register_module()
class RepeatedProblems(BaseDataset):
    """A data set of OpenCompass whose test problems are each repeated n times.

    Repeated by OpenCompass, a `test_range` selects rows of the first replica, and examples are
    retrieved from n copies. Here the data set loads once, with its own ranges; then its first
    problems are selected and repeated, replica by replica.

    Args:
        problems: The config of the data set, without ``infer_cfg`` and ``eval_cfg``.
        reader_cfg: As in every data set; a range applies to the repeated rows, as partitioners
            need it.
        n: Samples of each problem.
        limit: Only the first so many problems; all if None.
        **kwargs: ``k`` and ``abbr``, which OpenCompass reads from the config.

    Raises:
        ValueError: If the abbr says another n.
    """

    def __init__(
        self,
        problems: Mapping[str, Any],
        reader_cfg: Mapping[str, Any],
        n: int = 1,
        limit: int | None = None,
        **kwargs: Any,
    ) -> None:
        settings.check_name(str(kwargs.get('abbr', '')), n)
        leave_responses_unread()
        read = LOAD_DATASET.build(copy.deepcopy(dict(problems))).reader.dataset
        test = read['test']
        if limit:
            test = test.select(range(min(limit, len(test))))
        if 'idx' not in test.column_names:  # of a class that does not number its rows
            test = test.add_column('idx', list(range(len(test))))
        self.dataset = DatasetDict(train=read['train'], test=concatenate_datasets([test] * n))
        self._init_reader(**reader_cfg)


def upgraded(
    datasets: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    n: int = 16,
    k: int | Sequence[int] = (4, 8),
    *,
    greedy: bool = False,
    limit: int | None = None,
    sampling: str | Mapping[str, Any] | None = None,
    max_out_len: int | None = None,
    judge: str | Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return configs of data sets of OpenCompass, with n samples of each problem and G-Pass@k.

    Args:
        datasets: Configs of data sets, or of one; or the name of one of OpenCompass's configs, such
            as ``'gsm8k_gen'`` or ``'gsm8k'``. They are not changed.
        n: Samples of each problem. The abbr shows it.
        k: The k of pass@k and G-Pass@k, from 1 to n.
        greedy: Add a copy of each data set that is decoded greedily, once, for the greedy column.
        limit: Only the first so many problems, which abbr and benchmark show; by default as
            GPASSK_LIMIT says, else all.
        sampling: Of the samples, as in
            :class:`~opencompass_gpassk.inference.inferencer.GPassKGenInferencer`, such as
            ``'model'`` for what each model's config says; by default the paper's protocol.
        max_out_len: Greatest number of tokens of a response; by default as GPASSK_MAX_OUT_LEN says,
            else the data set's own, else the model's.
        judge: As in :class:`~opencompass_gpassk.evaluator.GPassKEvaluator`: ``'rule'``,
            ``'cascade'``, ``'llm'`` or settings; by default the data set's own evaluator.

    Returns:
        Plain dicts, in which classes and functions are dotted names; the greedy ones first.

    Raises:
        ValueError: If OpenCompass has no config of that name, a k is above n, an environment
            variable has an invalid value, or a data set does not ask for single responses.
    """
    ks = settings.checked_ks(k, n, limit)
    if sampling is not None:
        Sampling.of(sampling)
    if limit is None:
        limit = settings.limit()
    if isinstance(datasets, str):
        datasets = named_datasets(datasets)
    found = []
    for drawn_greedily in (True, False) if greedy else (False,):
        inference = settings.inference(greedy=drawn_greedily)
        if not os.environ.get('GPASSK_MAX_OUT_LEN', '').strip():
            del inference['max_out_len']
        if max_out_len is not None:
            inference['max_out_len'] = max_out_len
        if sampling is not None and not drawn_greedily:
            inference['sampling'] = sampling if isinstance(sampling, str) else dict(sampling)
        times: dict[str, Any] = {'n': 1, 'k': 1} if drawn_greedily else {'n': n, 'k': ks}
        for config in [datasets] if isinstance(datasets, Mapping) else datasets:
            found.append(_upgrade(_plain(config), times, limit, inference, judge))
    return found


upgrade = upgraded  # in a config it reads better as `upgrade.build()(…)`


def _upgrade(
    config: dict[str, Any],
    times: Mapping[str, Any],
    limit: int | None,
    inference: Mapping[str, Any],
    judge: str | Mapping[str, Any] | None,
) -> dict[str, Any]:
    name = dataset_abbr_from_cfg(config)
    greedy = inference['sampling'] == 'greedy'
    benchmark = f'{name}-first{limit}' if limit else name
    inferencer = config['infer_cfg']['inferencer']
    kind = inferencer['type'].rpartition('.')[2]
    if kind != 'GenInferencer':
        raise ValueError(
            f'{name}: its inferencer is {kind}; only data sets with GenInferencer, which ask for '
            'one response to each prompt, can be sampled n times'
        )
    evaluation = config['eval_cfg']
    own = evaluation['evaluator']
    if gpus := gpus_asked(own):
        evaluation.setdefault('num_gpus', gpus)
    return {
        'abbr': f'{benchmark}{"-greedy" * greedy}-n{times["n"]}',
        'type': f'{__name__}.{RepeatedProblems.__name__}',
        **times,
        'limit': limit,
        'problems': {key: value for key, value in config.items() if key not in APART},
        'reader_cfg': {k: v for k, v in config['reader_cfg'].items() if k not in APPLIED},
        'infer_cfg': {
            **config['infer_cfg'],
            'inferencer': {
                **inferencer,
                'type': 'opencompass_gpassk.inferencer.GPassKGenInferencer',
                **inference,
            },
        },
        'eval_cfg': {
            **evaluation,
            'evaluator': {
                'type': 'opencompass_gpassk.evaluator.GPassKEvaluator',
                'judge': own if judge is None else judge,
                'benchmark': benchmark,
            },
        },
    }


def named_datasets(name: str) -> list[dict[str, Any]]:
    """Return the data sets in a config of OpenCompass, as plain dicts with dotted names.

    Args:
        name: The config's name, such as ``'gsm8k_gen'`` or ``'gsm8k'``, or with its folder if
            several have the name: ``'mgsm/mgsm_gen'``.

    Raises:
        ValueError: If there is none of that name, or several.
    """
    files = [path for path in CONFIGS.rglob('*.py') if path.stem != '__init__']
    names = {path.relative_to(CONFIGS).with_suffix('').as_posix(): path for path in sorted(files)}
    for ending in ('', '_gen'):
        found = [one for one in names if f'/{one}'.endswith(f'/{name}{ending}')]
        if len(found) > 1:
            raise ValueError(f'{name!r} names several configs: {", ".join(found)}; choose one')
        if found:
            config = Config.fromfile(names[found[0]], format_python_code=False)
            lists = [config[key] for key in config if key.endswith('_datasets')]
            return [_plain(one) for datasets in lists for one in datasets]
    stems = {one.rpartition('/')[2] for one in names}
    near = difflib.get_close_matches(name, stems | {stem.removesuffix('_gen') for stem in stems}, 5)
    raise ValueError(
        f'OpenCompass has no data set config {name!r}; '
        + (f'did you mean {", ".join(near)}?' if near else f'its configs are in {CONFIGS}')
    )


def _plain(value: Any) -> Any:
    """Return a copy of a config with classes and functions as dotted names."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    if isinstance(value, (LazyObject, LazyAttr)):  # what a config being read has imported
        value = value.build()
    if hasattr(value, '__qualname__'):
        return f'{value.__module__}.{value.__qualname__}'
    return copy.deepcopy(value)
