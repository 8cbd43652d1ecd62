"""What ``--model`` names: a server, a folder or hub id, or a config of models."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import opencompass
from mmengine.config import Config

from opencompass_gpassk.commands.configs import configs_folder
from opencompass_gpassk.commands.run.server_check import served_models, shown_models
from opencompass_gpassk.judging.settings import sees_gpus
from opencompass_gpassk.runs.config import require_literal

BACKENDS = ('hf', 'vllm', 'lmdeploy')
SHORTEST_CONTEXT = 256  # tokens; a server that says less is wrong


def model_configs(
    name: str, backend: str, *, slurm: bool, without: Sequence[str] = (), ask: bool = True
) -> list[dict[str, Any]]:
    """Return the configs of the models that one ``--model`` names, as plain dicts.

    Args:
        name: ``URL`` or ``URL#name`` of a server, a folder, ``org/name`` on the hub, the name of a
            model config of OpenCompass or of this package, or a config file.
        backend: What runs a folder or a model of the hub.
        slurm: Whether tasks run with Slurm, on machines that are assumed to have a GPU.
        without: Fields of the sampling protocol that are not sent to a server.
        ask: Whether a server must answer.

    Raises:
        ValueError: If there is no such model; the message names those that there are.
    """
    if re.match('https?://', name):
        return [_served(name, without, ask=ask)]
    if name.endswith('.py'):
        return _read(Path(name))
    configs = _named_configs()
    if name in configs:  # a folder of that name is ./NAME
        return _read(configs[name])
    if Path(name).is_dir():
        return [_local(str(Path(name).resolve()), backend, slurm=slurm)]
    if re.fullmatch(r'[\w.-]+/[\w.-]+', name):
        return [_local(name, backend, slurm=slurm)]
    near = difflib.get_close_matches(name, configs, 3)
    raise ValueError(
        f'--model {name}: there is no such folder, and no model config of that name'
        + (f'; did you mean {" or ".join(near)}?' if near else '')
        + ' (A model on the hub is org/name, a server http://host:8000/v1)'
    )


def _served(name: str, without: Sequence[str], *, ask: bool) -> dict[str, Any]:
    url, _, model = name.partition('#')
    config = _example('openai_api')
    served: dict[str, Any] = {}
    try:
        served = served_models(url, config.get('api_key_env', 'OPENAI_API_KEY'), model)
    except ValueError:
        if ask or not model:
            raise
    if not model and len(served) != 1:
        listed = f'has {shown_models(served)}' if served else 'lists no models at this URL'
        raise ValueError(
            f'--model {url}: the server {listed}; name one as {url}#NAME (the URL often ends '
            'with /v1)'
        )
    model = model or next(iter(served))
    require_literal(model, f'--model {url}: the model id')
    config |= {'abbr': _abbr(model), 'path': model, 'api_base': url}
    context = served.get(model)
    if type(context) is int and context >= SHORTEST_CONTEXT:
        config['max_seq_len'] = context  # OpenCompass leaves out worked examples that don't fit
    return config | ({'without': list(without)} if without else {})


def _local(path: str, backend: str, *, slurm: bool) -> dict[str, Any]:
    return {
        **_example(backend),
        'abbr': f'{_abbr(path)}-{backend}',
        'path': path,
        'run_cfg': {'num_gpus': 1 if slurm or sees_gpus() else 0},
    }


def _abbr(name: str) -> str:
    """Return a name for tables and files: the last part of a path, without odd characters."""
    abbr = re.sub(r'[^\w.+-]+', '-', name.rstrip('/').rpartition('/')[2])
    return abbr if abbr.strip('.-') else 'model'


def _example(backend: str) -> dict[str, Any]:
    """Return this package's example config of a backend."""
    return _read(configs_folder() / f'models/{backend}_example.py')[0]


def _named_configs() -> dict[str, Path]:
    """Name → file of the model configs in ./configs, of this package and of OpenCompass."""
    places = (Path(opencompass.__file__).parent / 'configs', configs_folder(), Path('configs'))
    return {path.stem: path for one in places for path in sorted((one / 'models').rglob('*.py'))}


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        raise ValueError(f'--model {path}: there is no such file')
    try:
        found: list[dict[str, Any]] = Config.fromfile(path).to_dict().get('models', [])
    except Exception as error:  # a config is Python code, which may raise anything
        raise ValueError(f'--model {path}: not a config of OpenCompass: {error}') from error
    if not found:
        raise ValueError(f'--model {path}: it has no list models')
    return found
