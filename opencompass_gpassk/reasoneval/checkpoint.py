"""The two published layouts of a checkpoint: a backbone's files with a head among them.

``GAIR/ReasonEval-7B`` is a Mistral backbone whose config says ``score_dimension`` and ``use_bias``
of the head, ``GAIR/ReasonEval-34B`` a Llama one that says ``score_dim`` and ``bias``. The weights
of both are ``model.*`` and ``score_head.*``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel

from opencompass_gpassk.reasoneval.solutions import CLASSES

__all__ = [
    'LAYOUTS',
    'POSITIONS',
    'Layout',
    'default_position',
    'dtype_keyword',
    'find_layout',
    'head_weights',
    'save',
]

HEAD = 'score_head.'
POSITIONS = ('published', 'last')
POSITION_KEY = 'step_position'  # of a config that we wrote: how the checkpoint was trained
DELIMITER_KEY = 'step_delimiter'  # likewise: what stood between the steps that it learned from
WHERE = ('revision', 'cache_dir', 'token', 'local_files_only', 'subfolder', 'proxies')
# In the order in which transformers looks for them.
WEIGHTS = ('model.safetensors', 'pytorch_model.bin')


@dataclass(frozen=True)
class Layout:
    """How a checkpoint describes its head.

    Attributes:
        name: ``7b`` or ``34b``.
        architecture: What its config calls the model.
        classes_key: The config's name for the number of classes.
        bias_key: The config's name for whether the head has a bias.
    """

    name: str
    architecture: str
    classes_key: str
    bias_key: str


LAYOUTS = {
    '7b': Layout('7b', 'ReasonEval_7B', 'score_dimension', 'use_bias'),
    '34b': Layout('34b', 'ReasonEval_34B', 'score_dim', 'bias'),
}


def find_layout(config: Any) -> Layout | None:
    """Return the layout that a config is written in, None where it says nothing of a head.

    Raises:
        ValueError: If its head has not three classes.
    """
    for layout in LAYOUTS.values():
        classes = getattr(config, layout.classes_key, None)
        if classes is None:
            continue
        if classes != len(CLASSES):
            raise ValueError(
                f'{layout.classes_key} of the checkpoint is {classes!r}; a step is scored as one '
                f'of {len(CLASSES)} classes: {", ".join(CLASSES)}'
            )
        return layout
    return None


def dtype_keyword() -> str:
    """Return what the installed ``transformers`` calls the dtype that a model is loaded in."""
    from packaging.version import Version
    from transformers import __version__

    return 'dtype' if Version(__version__) >= Version('4.56') else 'torch_dtype'


def default_position(config: Any) -> str:
    """Return where a checkpoint's steps are read: as its config says, else as its authors did.

    The published code for the 7B model puts a BOS token in front but leaves the positions of the
    steps as they were, and so reads each step one token before its last one.

    Raises:
        ValueError: If the config names an unknown position.
    """
    said = getattr(config, POSITION_KEY, None)
    if said is None:
        layout = find_layout(config)
        ours = layout is None or layout.name != '7b' or config.model_type != 'mistral'
        return 'last' if ours else 'published'
    if said not in POSITIONS:
        raise ValueError(f'{POSITION_KEY} of the checkpoint is {said!r}; known: {POSITIONS}')
    return str(said)


def head_weights(source: str, settings: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Return the tensors of a checkpoint's head, ``weight`` and perhaps ``bias``, on the CPU.

    Args:
        source: A folder or an id on the hub.
        settings: Where to look: ``revision``, ``cache_dir`` and the like; others have no effect.

    Raises:
        ValueError: If there is no head in the checkpoint.
        OSError: If there is no checkpoint.
    """
    from transformers.utils import cached_file

    where = {name: settings[name] for name in WHERE if settings.get(name) is not None}

    def find(name: str) -> Path | None:
        found = cached_file(source, name, _raise_exceptions_for_missing_entries=False, **where)
        return Path(found) if found else None

    for name in WEIGHTS:
        if file := find(name):
            tensors = _read(file, None)
        elif index := find(f'{name}.index.json'):
            places = json.loads(index.read_text('utf-8'))['weight_map']
            tensors = {}
            for key, shard in places.items():
                if key.startswith(HEAD) and (file := find(shard)):
                    tensors |= _read(file, key)
        else:
            continue
        if f'{HEAD}weight' in tensors:
            return {key.removeprefix(HEAD): tensor for key, tensor in tensors.items()}
        raise ValueError(
            f'{source}: the checkpoint has no {HEAD}weight, so that it can score no steps; name a '
            'ReasonEval model, or train a head on this one first'
        )
    raise OSError(f'{source} holds neither {" nor ".join(WEIGHTS)}, whole or in parts')


def save(
    backbone: PreTrainedModel,
    head: Mapping[str, torch.Tensor],
    folder: str | Path,
    layout: Layout,
    position: str,
) -> None:
    """Write a backbone and its head in a published layout, as safetensors in parts of 5 GB.

    Args:
        backbone: Written under its own prefix, ``model.`` for Mistral and Llama.
        head: ``weight`` and perhaps ``bias``.
        folder: Made where there is none.
        layout: Whose config keys are written; those of the other one are left out.
        position: Where steps are read by default when it is loaded again.
    """
    from copy import deepcopy

    from huggingface_hub import save_torch_state_dict

    config = deepcopy(backbone.config)
    for other in LAYOUTS.values():
        if other != layout and hasattr(config, other.classes_key):
            for key in (other.classes_key, other.bias_key):
                config.__dict__.pop(key, None)
    setattr(config, layout.classes_key, len(CLASSES))
    setattr(config, layout.bias_key, 'bias' in head)
    setattr(config, POSITION_KEY, position)
    prefix = f'{backbone.base_model_prefix}.' if backbone.base_model_prefix else ''
    tensors = {f'{prefix}{key}': tensor for key, tensor in backbone.state_dict().items()}
    tensors |= {f'{HEAD}{key}': tensor for key, tensor in head.items()}
    Path(folder).mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    # `save_pretrained` names the backbone's class, which knows no head.
    path = Path(folder) / 'config.json'
    written = json.loads(path.read_text('utf-8')) | {'architectures': [layout.architecture]}
    path.write_text(json.dumps(written, indent=2, sort_keys=True) + '\n', 'utf-8')
    save_torch_state_dict(tensors, folder)


def _read(file: Path, key: str | None) -> dict[str, torch.Tensor]:
    """Return one tensor of a file, or all of its head's."""
    if file.suffix == '.safetensors':
        from safetensors import safe_open

        with safe_open(file, framework='pt') as tensors:
            names = [name for name in tensors.keys() if name.startswith(HEAD)]  # noqa: SIM118
            return {name: tensors.get_tensor(name) for name in names if key in (None, name)}
    import torch

    held = torch.load(file, map_location='cpu', weights_only=True)
    return {
        name: tensor
        for name, tensor in held.items()
        if name.startswith(HEAD) and key in (None, name)
    }
