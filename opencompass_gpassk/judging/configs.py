"""Configs of evaluators that judge: a name, a hash that tells two apart, the GPUs they ask for."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping
from typing import Any

from mmengine.utils import get_object_from_string

from opencompass_gpassk.hashing import stable_hash

__all__ = ['check_gpus', 'check_model_gpus', 'config_hash', 'judge_name', 'sees_gpus']

# What changes no verdict, or may change with the machine: a hash that held it would tell apart what
# judges alike. Secrets are left out too: not even a hash of one belongs into a file's name.
SECRETS = {'key', 'api_key', 'openai_api_key', 'access_key', 'secret_key', 'secret', 'token', 'org'}
OPERATION = {'abbr', 'dataset_cfg', 'query_per_second', 'retry', 'run_cfg', 'verbose'}

# Wrappers of engines that run on GPUs alone, by how their names begin; and those of their servers.
ENGINES = ('LMDeploy', 'LmdeployPytorch', 'TurboMind', 'VLLM')
SERVERS = ('TurboMindAPIModel',)


def judge_name(config: Mapping[str, Any]) -> str:
    """Return the class name of the evaluator."""
    kind = config['type']
    return kind.rsplit('.', 1)[-1] if isinstance(kind, str) else kind.__name__


def config_hash(config: Mapping[str, Any]) -> str:
    """Return eight hexadecimal digits that name a config, the same in every process.

    An empty ``judge_cfg`` stands for the model of the environment variable OC_JUDGE_MODEL, as in
    OpenCompass.
    """
    return stable_hash(_plain(config))[:8]


def check_gpus(config: Mapping[str, Any]) -> None:
    """Refuse a judge that asks for GPUs in a task that has none.

    OpenCompass gives an evaluation GPUs for ``eval_cfg.num_gpus``, or for a ``judge_cfg`` right in
    ``eval_cfg.evaluator``: that of a judge lies one level deeper.

    Raises:
        ValueError: If it does.
    """
    gpus = _gpus(config)
    if gpus and os.environ.get('CUDA_VISIBLE_DEVICES') == '':
        raise ValueError(
            f'judge: run_cfg.num_gpus of {judge_name(config)} is {gpus}, but OpenCompass gave this '
            'evaluation no GPU (CUDA_VISIBLE_DEVICES is empty); set it beside the evaluator: '
            f'eval_cfg=dict(num_gpus={gpus}, evaluator=dict(type=GPassKEvaluator, judge=…))'
        )


def check_model_gpus(config: Mapping[str, Any]) -> None:
    """Refuse the config of a model that needs CUDA where there is no GPU to be seen.

    Raises:
        ValueError: If it does, naming how a task is given GPUs.
    """
    name = judge_name(config)
    gpus = _gpus(config)
    reasons = [f'run_cfg.num_gpus is {gpus}'] if gpus else []
    if name.startswith(ENGINES) and name not in SERVERS:
        reasons.append('it runs on GPUs alone')
    place = str((config.get('model_kwargs') or {}).get('device_map', ''))
    if 'cuda' in place:
        reasons.append(f'model_kwargs.device_map is {place!r}')
    if not reasons or sees_gpus():
        return
    raise ValueError(
        f'judge: {name} finds no GPU ({", ".join(reasons)}; CUDA_VISIBLE_DEVICES is '
        f'{os.environ.get("CUDA_VISIBLE_DEVICES")!r}). OpenCompass gives the evaluation as many as '
        f'stand beside its evaluator: eval_cfg=dict(num_gpus={gpus or 1}, '
        'evaluator=dict(type=GPassKEvaluator, judge=…))'
    )


def sees_gpus() -> bool:
    """Tell whether torch finds a GPU that this process may use."""
    if os.environ.get('CUDA_VISIBLE_DEVICES') == '':
        return False
    import torch

    return torch.cuda.is_available()


def _gpus(config: Any) -> int:
    if isinstance(config, Mapping):
        own = (config.get('run_cfg') or {}).get('num_gpus') or 0
        return max([own, *(_gpus(value) for value in config.values())])
    return max((_gpus(value) for value in config), default=0) if _is_list(config) else 0


def _plain(value: Any, name: str = '') -> Any:
    """Return what JSON can hold of a value, naming classes and functions by where they stand."""
    if name == 'judge_cfg' and not value:
        return {'OC_JUDGE_MODEL': os.environ.get('OC_JUDGE_MODEL', '')}
    if isinstance(value, Mapping):
        kept = ((str(k), v) for k, v in value.items() if k not in SECRETS | OPERATION)
        return {key: _plain(one, key) for key, one in kept}
    if _is_list(value):
        return [_plain(one) for one in value]
    if name == 'type' and isinstance(value, str) and '.' in value:
        # A config names a class by the module it was imported from, which is not one name alone.
        value = get_object_from_string(value) or value
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, functools.partial):
        return [_plain(value.func), _plain(value.args), _plain(value.keywords)]
    if hasattr(value, '__qualname__'):
        return f'{value.__module__}.{value.__qualname__}'
    return re.sub(r' at 0x[0-9a-f]+', '', repr(value))


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))
