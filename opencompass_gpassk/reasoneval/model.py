"""A language model's backbone with a head that classifies steps as good, idle or wrong.

There are two published layouts of a checkpoint, each a backbone's files with a head among them.
``GAIR/ReasonEval-7B`` is a Mistral backbone whose config describes the head by ``score_dimension``
and ``use_bias``; ``GAIR/ReasonEval-34B`` is a Llama backbone with ``score_dim`` and ``bias``. The
weights of both are ``model.*`` and ``score_head.*``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.reasoneval.solutions import CLASSES

if TYPE_CHECKING:
    from transformers import PreTrainedModel
    from typing_extensions import Self

__all__ = [
    'LAYOUTS',
    'POSITIONS',
    'Layout',
    'StepClassifier',
    'default_position',
    'dtype_keyword',
    'find_layout',
    'head_weights',
    'model_name',
    'tokenizer_fingerprint',
    'weights_fingerprint',
]

HEAD = 'score_head.'
POSITIONS = ('published', 'last')
POSITION_KEY = 'step_position'  # in configs that we write: how the checkpoint was trained
DELIMITER_KEY = 'step_delimiter'  # likewise: the text between steps in its training data
WHERE = ('revision', 'cache_dir', 'token', 'local_files_only', 'subfolder', 'proxies')
# In the order in which transformers looks for them.
WEIGHTS = ('model.safetensors', 'pytorch_model.bin')


@dataclass(frozen=True)
class Layout:
    """How a checkpoint describes its head.

    Attributes:
        architecture: The model's name in the config.
        classes_key: The config's name for the number of classes.
        bias_key: The config's name for whether the head has a bias.
    """

    architecture: str
    classes_key: str
    bias_key: str


LAYOUTS = {
    '7b': Layout('ReasonEval_7B', 'score_dimension', 'use_bias'),
    '34b': Layout('ReasonEval_34B', 'score_dim', 'bias'),
}


def find_layout(config: Any) -> Layout | None:
    """Return the layout of a config; None if it describes no head.

    Raises:
        ValueError: If the head doesn't have three classes.
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
    """Return the name of the dtype argument in the installed ``transformers``."""
    from packaging.version import Version
    from transformers import __version__

    return 'dtype' if Version(__version__) >= Version('4.56') else 'torch_dtype'


def default_position(config: Any) -> str:
    """Return where a checkpoint's steps are read: as its config says, else as its authors did.

    The published code for the 7B model puts a BOS token in front without moving the positions of
    the steps, and so reads each step one token before its last one.

    Raises:
        ValueError: If the config names an unknown position.
    """
    said = getattr(config, POSITION_KEY, None)
    if said is None:
        theirs = find_layout(config) == LAYOUTS['7b'] and config.model_type == 'mistral'
        return 'published' if theirs else 'last'
    if said not in POSITIONS:
        raise ValueError(f'{POSITION_KEY} of the checkpoint is {said!r}; known: {POSITIONS}')
    return str(said)


def head_weights(source: str, settings: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Return the tensors of a checkpoint's head, ``weight`` and perhaps ``bias``, on the CPU.

    Args:
        source: A folder or an id on the hub.
        settings: Where to look: ``revision``, ``cache_dir`` and so on; others have no effect.

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
        files = [find(name)]
        if files == [None]:
            if not (index := find(f'{name}.index.json')):
                continue
            places = json.loads(index.read_text('utf-8'))['weight_map']
            shards = {shard for key, shard in places.items() if key.startswith(HEAD)}
            files = [find(shard) for shard in sorted(shards)]
        tensors = {key: one for file in files if file for key, one in _head_in(file).items()}
        if 'weight' in tensors:
            return tensors
        raise ValueError(
            f'{source}: the checkpoint has no {HEAD}weight, so that it can score no steps; name a '
            'ReasonEval model, or train a head on this one first'
        )
    raise OSError(f'{source} holds neither {" nor ".join(WEIGHTS)}, whole or in parts')


def _head_in(file: Path) -> dict[str, torch.Tensor]:
    """Return the head's tensors in a file of weights."""
    if file.suffix == '.safetensors':
        from safetensors import safe_open

        with safe_open(file, framework='pt') as held:
            tensors = {name: held.get_tensor(name) for name in held.keys() if name.startswith(HEAD)}  # noqa: SIM118
    else:
        tensors = torch.load(file, map_location='cpu', weights_only=True)
    return {name.removeprefix(HEAD): one for name, one in tensors.items() if name.startswith(HEAD)}


class StepClassifier(torch.nn.Module):
    """A decoder of ``transformers`` without language-model head, and a linear ``score_head``.

    The classes are [negative, neutral, positive]; their softmax is the model of ReasonEval (arXiv
    2404.05692, section 3.2). The names of its parameters are those of the published checkpoints.

    Args:
        backbone: A model from ``AutoModel``, with H hidden units.
        bias: Whether the head has a bias.
        generator: Draws the head's weights; by default they are zero, and all classes equal.

    Attributes:
        position: Where a step is read by default: ``last``, at its last token, or ``published``,
            one token before it.

    Raises:
        ValueError: If the backbone's config names an unknown position.
    """

    def __init__(
        self,
        backbone: PreTrainedModel,
        *,
        bias: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.model = backbone
        self.config = backbone.config
        self.position = default_position(self.config)
        hidden = self.config.get_text_config().hidden_size
        self.score_head = torch.nn.utils.skip_init(
            torch.nn.Linear, hidden, len(CLASSES), bias=bias, dtype=backbone.dtype
        )
        deviation = getattr(self.config, 'initializer_range', 0.02)
        with torch.no_grad():
            for parameter in self.score_head.parameters():
                parameter.zero_()
            if generator is not None:
                self.score_head.weight.normal_(0.0, deviation, generator=generator)
        if backbone.device.type != 'meta':  # as one that is offloaded to the disk
            self.score_head.to(backbone.device)

    @classmethod
    def load(
        cls, source: str | Path, *, dtype: str | torch.dtype = 'auto', **settings: Any
    ) -> Self:
        """Load a checkpoint of either published layout, or any decoder with a ``score_head``.

        Args:
            source: A folder, or an id on the hub such as ``GAIR/ReasonEval-7B``.
            dtype: ``auto`` for the checkpoint's, or ``bfloat16``, ``float32`` and so on.
            settings: Other arguments of ``AutoModel.from_pretrained``, such as ``device_map`` (by
                default the CPU), ``attn_implementation``, ``revision``, or
                ``quantization_config``, which is for the backbone: the head is never quantised.

        Raises:
            ValueError: If weights are missing, or the model has no place for some; or if the head
                doesn't have three classes.
            OSError: If there is no such checkpoint.
        """
        from transformers import AutoModel

        source = str(source)
        head = head_weights(source, settings)
        settings[dtype_keyword()] = dtype
        backbone, report = AutoModel.from_pretrained(source, output_loading_info=True, **settings)
        layout = find_layout(backbone.config)
        bias = bool(getattr(backbone.config, layout.bias_key if layout else '', 'bias' in head))
        model = cls(backbone, bias=bias)
        own = {f'score_head.{name}' for name in model.score_head.state_dict()}
        there = {f'score_head.{name}' for name in head}
        missing = {*report['missing_keys'], *(own - there)}
        unexpected = {*report['unexpected_keys'], *there} - own
        for kind, keys in (('misses', missing), ('has no place for', unexpected)):
            if keys:
                raise ValueError(
                    f'{source}: the model {kind} {_some(keys)}; the files may be cut '
                    'short, or of another model'
                )
        if head['weight'].shape != model.score_head.weight.shape:
            found, fitting = tuple(head['weight'].shape), tuple(model.score_head.weight.shape)
            raise ValueError(
                f'{source}: score_head.weight has the shape {found}; {fitting} fits the backbone '
                f'and {len(CLASSES)} classes'
            )
        model.score_head.load_state_dict(head)
        return model.eval()

    @property
    def device(self) -> torch.device:
        """The backbone's device."""
        return self.model.device

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the backbone's weights."""
        return self.model.dtype

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits: a hash of the head's weights, which training changes."""
        digest = hashlib.sha256()
        for tensor in self.score_head.state_dict().values():
            digest.update(tensor.detach().to('cpu', torch.float32).numpy().tobytes())
        return digest.hexdigest()[:16]

    def forward(self, input_ids: torch.Tensor, reads: torch.Tensor | None = None) -> torch.Tensor:
        """Return the classes' logits at some tokens or at all tokens.

        Args:
            input_ids: B rows of T token ids, padded on the right: a decoder's tokens don't see
                what follows them.
            reads: R pairs of row and column, shape (R, 2); by default every token is read.

        Returns:
            Shape (R, 3), or (B, T, 3) without ``reads``.
        """
        # With a mask of ones transformers uses plain causal attention, which is fast; without a
        # mask it would look for packed sequences.
        mask = torch.ones_like(input_ids)
        hidden = self.model(input_ids=input_ids, attention_mask=mask, use_cache=False)[0]
        if reads is not None:
            hidden = hidden[reads[:, 0], reads[:, 1]]
        weight = self.score_head.weight
        return self.score_head(hidden.to(weight.device, weight.dtype))

    def save(
        self, folder: str | Path, layout: str | None = None, position: str | None = None
    ) -> None:
        """Write a checkpoint that this class and the authors' classes can load.

        The weights are safetensors in parts of 5 GB. The authors' 7B class loads Mistral
        backbones, their 34B class Llama ones. The tokenizer must be saved separately.

        Args:
            folder: The folder; it is created if needed.
            layout: ``7b`` or ``34b``; by default that of the loaded checkpoint, else ``34b`` for a
                Llama backbone and ``7b`` for others.
            position: Where steps are read when the checkpoint is loaded; by default as now. Use
                ``last`` for a head that was trained at the last token of each step.

        Raises:
            ValueError: If the layout is unknown.
        """
        from huggingface_hub import save_torch_state_dict

        if layout not in (None, *LAYOUTS):
            raise ValueError(f'layout: {layout!r} is unknown; give one of {tuple(LAYOUTS)}')
        usual = LAYOUTS['34b' if self.config.model_type == 'llama' else '7b']
        chosen = LAYOUTS[layout] if layout else find_layout(self.config) or usual
        config = deepcopy(self.config)
        for other in LAYOUTS.values():
            if other != chosen and hasattr(config, other.classes_key):
                for key in (other.classes_key, other.bias_key):
                    config.__dict__.pop(key, None)
        head = self.score_head.state_dict()
        setattr(config, chosen.classes_key, len(CLASSES))
        setattr(config, chosen.bias_key, 'bias' in head)
        setattr(config, POSITION_KEY, position or self.position)
        Path(folder).mkdir(parents=True, exist_ok=True)
        config.save_pretrained(folder)
        # `save_pretrained` names the backbone's class, which has no head.
        path = Path(folder) / 'config.json'
        written = json.loads(path.read_text('utf-8')) | {'architectures': [chosen.architecture]}
        path.write_text(json.dumps(written, indent=2, sort_keys=True) + '\n', 'utf-8')
        # The backbone's own prefix is `model.` for Mistral and Llama.
        prefix = f'{self.model.base_model_prefix}.' if self.model.base_model_prefix else ''
        tensors = {f'{prefix}{key}': tensor for key, tensor in self.model.state_dict().items()}
        tensors |= {f'{HEAD}{key}': tensor for key, tensor in head.items()}
        save_torch_state_dict(tensors, folder)


def _some(keys: set[str]) -> str:
    shown = sorted(keys)[:5]
    return ', '.join(shown) + (f' and {len(keys) - 5} more' if len(keys) > 5 else '')


SAMPLE = 64  # numbers sampled per tensor: reading all of a large model would take minutes


def model_name(source: str | Path) -> str:
    """Return a model's name; for a local folder the last part of its path."""
    folder = Path(source)
    return folder.resolve().name if str(source) and folder.is_dir() else str(source)


def tokenizer_fingerprint(tokenizer: Any) -> str:
    """Return sixteen hexadecimal digits: a hash of how a ``transformers`` tokenizer works."""
    if getattr(tokenizer, 'is_fast', False):
        rules = json.loads(tokenizer.backend_tokenizer.to_str())
        for name in ('padding', 'truncation'):  # they belong to the last call, not the tokenizer
            rules.pop(name, None)
    else:
        added = {number: str(token) for number, token in tokenizer.added_tokens_decoder.items()}
        probe = tokenizer('a A 1+1=2\n\u03c0')['input_ids']
        rules = [type(tokenizer).__name__, tokenizer.get_vocab(), added, probe]
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    return stable_hash([rules, special])[:16]


def weights_fingerprint(model: torch.nn.Module) -> str:
    """Return sixteen hexadecimal digits: a hash of samples of all tensors, changed by training."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f'{name} {tuple(tensor.shape)} {tensor.dtype}'.encode())
        if tensor.device.type != 'meta':  # left on disk
            flat = tensor.detach().reshape(-1)
            some = flat[:: max(len(flat) // SAMPLE, 1)]
            digest.update(some.to('cpu').float().numpy().tobytes())
    return digest.hexdigest()[:16]
