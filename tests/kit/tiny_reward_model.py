"""A tiny process reward model with random weights, and a plain way to score with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tiny_reasoneval import SHAPE
from tokenizers import Regex, Tokenizer, decoders, models, normalizers
from tokenizers.processors import TemplateProcessing
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

TAG, GOOD, BAD = 'ки', '+', '-'


def tokenizer() -> Any:
    """Characters as tokens, in the way of Llama: a space is ▁, and one is put before a text."""
    letters = [chr(code) for code in range(33, 127)] + list('▁\nки\ufffdé')
    words = ['<unk>', '<s>', '</s>', '▁+', '▁-', TAG, f'{TAG}z', 'th', 'he', *letters]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    merges = [('▁', '+'), ('▁', '-'), ('к', 'и'), (TAG, 'z'), ('t', 'h'), ('h', 'e')]
    made = Tokenizer(models.BPE(vocabulary, merges, unk_token='<unk>'))
    made.normalizer = normalizers.Sequence(
        [normalizers.Prepend('▁'), normalizers.Replace(Regex(' '), '▁')]
    )
    made.decoder = decoders.Sequence([decoders.Replace('▁', ' '), decoders.Fuse()])
    made.post_processor = TemplateProcessing(
        single='<s> $A', special_tokens=[('<s>', vocabulary['<s>'])]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token='<unk>', bos_token='<s>', eos_token='</s>'
    )


@dataclass
class RewardModel:
    """A checkpoint and what is in it."""

    folder: Path
    tokenizer: Any
    model: LlamaForCausalLM

    def plain(self, question: str, steps: Sequence[str]) -> np.ndarray:
        """Score one solution the published way: in one text, softmax of two logits at each tag."""
        text = f'{question} ' + '\n'.join(f'{step} {TAG}' for step in steps)
        ids = torch.tensor([self.tokenizer.encode(text)])
        good, bad = self.tokenizer.encode(f'{GOOD} {BAD}')[1:]
        tag = self.tokenizer.encode(TAG)[-1]
        with torch.no_grad():
            logits = self.model(ids).logits[0][:, [good, bad]].double()
        return logits.softmax(dim=-1)[:, 0][ids[0] == tag].numpy()


def publish(folder: Path, **shape: Any) -> RewardModel:
    """Write random weights and the tokenizer."""
    torch.manual_seed(11)
    made = tokenizer()
    config = LlamaConfig(**{'vocab_size': len(made), **SHAPE, **shape}, tie_word_embeddings=False)
    model = LlamaForCausalLM(config).eval()
    model.save_pretrained(folder)
    made.save_pretrained(folder)
    return RewardModel(folder, made, model)
