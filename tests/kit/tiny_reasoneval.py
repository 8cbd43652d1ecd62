"""Tiny checkpoints in the published layouts, and a plain way to score with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoTokenizer,
    LlamaConfig,
    LlamaModel,
    MistralConfig,
    MistralModel,
    PreTrainedModel,
)

import opencompass_gpassk.demo

torch.set_num_threads(1)

DEMO = Path(opencompass_gpassk.demo.__file__).parent / 'model'
SHAPE: dict[str, Any] = {
    'hidden_size': 32,
    'intermediate_size': 48,
    'num_hidden_layers': 2,
    'num_attention_heads': 4,
    'num_key_value_heads': 2,
    'max_position_embeddings': 2048,
    'initializer_range': 0.3,  # far from uniform, so that a wrong position shows
}


def tokenizer(layout: str) -> Any:
    """The demonstration tokenizer with a BOS token in front, which the 7B one also pads with."""
    made = AutoTokenizer.from_pretrained(DEMO)
    made.add_special_tokens({'bos_token': '<s>'})
    made.backend_tokenizer.post_processor = TemplateProcessing(
        single='<s> $A', special_tokens=[('<s>', made.bos_token_id)]
    )
    if layout == '7b':
        made.pad_token = '<s>'
    return made


@dataclass
class Published:
    """A checkpoint as it was published, and the very weights in it.

    Attributes:
        folder: Where it lies.
        layout: ``7b`` or ``34b``.
        tokenizer: Its own.
        backbone: Of transformers' own class.
        head: The tensors of the head.
    """

    folder: Path
    layout: str
    tokenizer: Any
    backbone: PreTrainedModel
    head: dict[str, torch.Tensor]

    def logits(self, ids: Sequence[int]) -> torch.Tensor:
        """Score every token of one row, shape (T, 3)."""
        with torch.no_grad():
            hidden = self.backbone(torch.tensor([list(ids)]))[0][0]
            return hidden @ self.head['weight'].T + self.head.get('bias', torch.zeros(3))

    def plain(self, question: str, steps: Sequence[str], position: str) -> np.ndarray:
        """Score one solution the authors' way: in one text, by counting separators.

        Where the pad token is the BOS token, taking separators out takes BOS out too; the 7B code
        puts it back without moving what it has counted.
        """
        pad = self.tokenizer.pad_token
        text = f"Question:\n{question}\nAnswer:\nLet's think step by step.\n{pad}"
        ids = self.tokenizer(text + ''.join(step + pad for step in steps))['input_ids']
        kept: list[int] = []
        before: list[int] = []
        for token in ids:
            if token == self.tokenizer.pad_token_id:
                before.append(len(kept) - 1)
            else:
                kept.append(token)
        reads = before[-len(steps) :]
        if self.layout == '7b':
            kept = [self.tokenizer.bos_token_id, *kept]
            reads = [read + (position == 'last') for read in reads]
        else:
            reads = [read - (position == 'published') for read in reads]
        logits = self.logits(kept).double().numpy()[reads]
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def publish(
    folder: Path, layout: str, *, bias: bool = True, parts: bool = False, **shape: Any
) -> Published:
    """Write random weights with the published names of weights and of config keys."""
    torch.manual_seed(5 + (layout == '7b'))
    made = tokenizer(layout)
    shape = {'vocab_size': len(made), **SHAPE, **shape}
    backbone = (
        MistralModel(MistralConfig(sliding_window=None, **shape))
        if layout == '7b'
        else LlamaModel(LlamaConfig(**shape))
    ).eval()
    head = {'weight': torch.randn(3, backbone.config.hidden_size)}
    if bias:
        head['bias'] = torch.randn(3)
    keys = ('score_dimension', 'use_bias') if layout == '7b' else ('score_dim', 'bias')
    config = backbone.config.to_dict() | dict(zip(keys, (3, bias), strict=True))
    config['architectures'] = ['ReasonEval_7B' if layout == '7b' else 'ReasonEval_34B']
    folder.mkdir(parents=True)
    (folder / 'config.json').write_text(json.dumps(config))
    tensors = {f'model.{name}': tensor for name, tensor in backbone.state_dict().items()}
    tensors |= {f'score_head.{name}': tensor for name, tensor in head.items()}
    if parts:
        write_parts(folder, tensors)
    else:
        save_file(tensors, folder / 'model.safetensors', {'format': 'pt'})
    made.save_pretrained(folder)
    return Published(folder, layout, made, backbone, head)


def write_parts(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Write weights as three pickled files and their index."""
    names = sorted(tensors)
    files = {name: f'pytorch_model-{i % 3 + 1:05}-of-00003.bin' for i, name in enumerate(names)}
    for file in set(files.values()):
        torch.save({name: tensors[name] for name in names if files[name] == file}, folder / file)
    index = {'metadata': {'total_size': 1}, 'weight_map': files}
    (folder / 'pytorch_model.bin.index.json').write_text(json.dumps(index))
