"""What tells two tokenizers or two models apart, though they have one name."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.hashing import stable_hash

if TYPE_CHECKING:
    import torch

__all__ = ['model_name', 'tokenizer_fingerprint', 'weights_fingerprint']

SAMPLE = 64  # numbers of each tensor: reading all of a large model would take minutes


def model_name(source: str | Path) -> str:
    """Return what a model is called: of a local folder its last name, wherever it lies."""
    folder = Path(source)
    return folder.resolve().name if str(source) and folder.is_dir() else str(source)


def tokenizer_fingerprint(tokenizer: Any) -> str:
    """Return sixteen hexadecimal digits of how a tokenizer of ``transformers`` makes tokens."""
    if getattr(tokenizer, 'is_fast', False):
        rules = json.loads(tokenizer.backend_tokenizer.to_str())
        for name in ('padding', 'truncation'):  # of the last call, not of the tokenizer
            rules.pop(name, None)
    else:
        added = {number: str(token) for number, token in tokenizer.added_tokens_decoder.items()}
        probe = tokenizer('a A 1+1=2\n\u03c0')['input_ids']
        rules = [type(tokenizer).__name__, tokenizer.get_vocab(), added, probe]
    special = {name: str(token) for name, token in tokenizer.special_tokens_map.items()}
    return stable_hash([rules, special])[:16]


def weights_fingerprint(model: torch.nn.Module) -> str:
    """Return sixteen hexadecimal digits of a sample of each tensor: any training changes some."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f'{name} {tuple(tensor.shape)} {tensor.dtype}'.encode())
        if tensor.device.type != 'meta':  # left on disk
            flat = tensor.detach().reshape(-1)
            some = flat[:: max(len(flat) // SAMPLE, 1)]
            digest.update(some.to('cpu').float().numpy().tobytes())
    return digest.hexdigest()[:16]
