"""ReasonEval's scorer: a language model that says of each step if it is good, idle or wrong.

There are two published layouts of a checkpoint, each a backbone's files with a head among them.
``GAIR/ReasonEval-7B`` is a Mistral backbone whose config describes the head by ``score_dimension``
and ``use_bias``; ``GAIR/ReasonEval-34B`` is a Llama backbone with ``score_dim`` and ``bias``. The
weights of both are ``model.*`` and ``score_head.*``.

Prompt and steps are tokenised as one text with a separator after each. The separator is a special
token, so no token crosses the border of two steps. Then the separators are removed, so that the
model reads an ordinary answer (arXiv 2404.05692, section 3.2, and the authors' code).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.reasoneval.batching import (
    SURROGATES,
    WHERE,
    BatchedScorer,
    Encoded,
    load_whole,
    prefix_ids,
    special_ids,
    tokenised,
)
from opencompass_gpassk.reasoneval.solutions import CLASSES, Refusal, Solution

if TYPE_CHECKING:
    from transformers import PreTrainedModel
    from typing_extensions import Self


HEAD = 'score_head.'
POSITIONS = ('published', 'last')
POSITION_KEY = 'step_position'  # in configs that we write: how the checkpoint was trained
DELIMITER_KEY = 'step_delimiter'  # likewise: the text between steps in its training data
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
    """Return the layout of a config; None if it describes no head."""
    return next((one for one in LAYOUTS.values() if hasattr(config, one.classes_key)), None)


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
        # The published code for the 7B model puts a BOS token in front without moving the positions
        # of the steps, and so reads each step one token before its last one.
        theirs = find_layout(self.config) == LAYOUTS['7b'] and self.config.model_type == 'mistral'
        usual = 'published' if theirs else 'last'
        self.position: str = getattr(self.config, POSITION_KEY, None) or usual
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
            ValueError: If weights are missing, or the model has no place for some.
            RuntimeError: If the head's weights don't have the shape for three classes.
            OSError: If there is no such checkpoint.
        """
        from transformers import AutoModel

        source = str(source)
        head = head_weights(source, settings)
        remedy = 'the files may be cut short, or of another model'
        backbone, left = load_whole(AutoModel, source, dtype=dtype, remedy=remedy, **settings)
        layout = find_layout(backbone.config)
        bias = bool(getattr(backbone.config, layout.bias_key if layout else '', 'bias' in head))
        model = cls(backbone, bias=bias)
        own = {f'{HEAD}{name}' for name in model.score_head.state_dict()}
        there = {f'{HEAD}{name}' for name in head}
        for kind, keys in (('misses', own - there), ('has no place for', {*left, *there} - own)):
            if keys:
                raise ValueError(
                    f'{source}: the model {kind} {", ".join(sorted(keys)[:5])} ({len(keys)} in '
                    f'all); {remedy}'
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

    def save(self, folder: str | Path, position: str | None = None) -> None:
        """Write a checkpoint that this class and the authors' classes can load.

        The weights are safetensors in parts of 5 GB. The authors' 7B class loads Mistral
        backbones, their 34B class Llama ones. So a Llama backbone is saved in the layout of the 34B
        model, and any other in that of the 7B model. The tokenizer must be saved separately.

        Args:
            folder: The folder; it is created if needed.
            position: Where steps are read when the checkpoint is loaded; by default as now. Use
                ``last`` for a head that was trained at the last token of each step.
        """
        from huggingface_hub import save_torch_state_dict

        chosen = LAYOUTS['34b' if self.config.model_type == 'llama' else '7b']
        config = deepcopy(self.config)
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


PROMPT = "Question:\n{question}\nAnswer:\nLet's think step by step.\n"
LONG = ('refuse', 'window')


class StepTokenizer:
    """Tokenizes solutions. A special token's text in a solution is read as text.

    Args:
        tokenizer: A tokenizer of ``transformers``, fast or slow. Tokens that it puts before a text,
            such as BOS, are put before the prompt. The separator is its pad token; or its
            end-of-text or BOS token, if it has no pad token or one that also means unknown.

    Raises:
        ValueError: If it has no token that can separate steps.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        usable = (tokenizer.pad_token, tokenizer.eos_token, tokenizer.bos_token)
        found = [token for token in usable if token and token != tokenizer.unk_token]
        if not found:
            raise ValueError(
                'the tokenizer has neither pad nor end-of-text nor BOS token to separate steps '
                "with; set its pad token: tokenizer.add_special_tokens({'pad_token': '<pad>'})"
            )
        self.separator = str(found[0])
        self.separator_id = int(tokenizer.convert_tokens_to_ids(self.separator))
        self.prefix = prefix_ids(tokenizer)
        special = special_ids(tokenizer)
        self.special_ids = set(special.values()) - {tokenizer.unk_token_id}
        longest_first = sorted(filter(None, special), key=len, reverse=True)
        self.special = re.compile('|'.join(map(re.escape, longest_first)))

    def encode(self, solutions: Sequence[Solution]) -> list[Encoded | Refusal]:
        """Return the tokens of each solution, or a refusal. Lone surrogates become �."""
        parts = [self._parts(solution) for solution in solutions if not solution.unfit]
        rows = tokenised(self.tokenizer, [self.separator.join([*texts, '']) for texts, _ in parts])
        closes = (closing for _, closing in parts)
        found = iter(map(self._without_separators, rows['input_ids'], closes))
        return [solution.unfit or next(found) for solution in solutions]

    def _parts(self, solution: Solution) -> tuple[list[str], list[bool]]:
        """Return the texts before each separator, and which of them end the prompt or a step.

        A special token's text inside is cut after its first character. The separator there is
        removed later, like all others.
        """
        texts: list[str] = []
        closes: list[bool] = []
        for text in (PROMPT.replace('{question}', solution.question), *solution.steps):
            text = SURROGATES.sub('\ufffd', text)
            start = 0
            for found in self.special.finditer(text):
                texts.append(text[start : found.start() + 1])
                closes.append(False)
                start = found.start() + 1
            texts.append(text[start:])
            closes.append(True)
        return texts, closes

    def _without_separators(self, ids: Iterable[int], closes: Sequence[bool]) -> Encoded | Refusal:
        row = np.fromiter(ids, np.int32)
        here = row == self.separator_id
        at = np.flatnonzero(here)
        kept = row[~here]
        if len(at) != len(closes) or self.special_ids.intersection(kept.tolist()):
            return Refusal.SPECIAL_TOKENS
        # Earlier separators are removed by now, and this one comes after the last token.
        lasts = (at - np.arange(len(at)) - 1)[np.array(closes)] + len(self.prefix)
        if np.any(np.diff(lasts) == 0):
            return Refusal.BLANK_STEP
        whole = np.concatenate([np.array(self.prefix, np.int32), kept])
        prompt = int(lasts[0]) + 1
        return Encoded(whole, lasts[1:], len(whole) - prompt, prompt)


class StepScorer(BatchedScorer):
    """Scores solutions step by step with a :class:`StepClassifier`.

    Args:
        model: The classifier; it is put into evaluation mode.
        tokenizer: The checkpoint's own.
        position: Where a step is read: ``last``, at its last token, as in the paper (section 3.2);
            or ``published``, one token before it, as in the authors' code for
            ``GAIR/ReasonEval-7B``, which puts a BOS token in front without moving its positions.
            By default as the checkpoint requires.
        long: How solutions of more than ``max_tokens`` are treated: ``refuse``; or ``window``,
            which reads the prompt several times, each time with as many steps as fit.
        batching: Arguments of :class:`~.batching.BatchedScorer`: ``batch_size``, ``batch_tokens``
            and ``max_tokens``.

    Attributes:
        delimiter: The text between the steps in the model's training data, if its config gives it
            (``step_delimiter``); responses are then split at it by default.

    Raises:
        ValueError: If a setting is out of its range, or the tokenizer has no token that can
            separate steps.
    """

    model: StepClassifier

    def __init__(
        self,
        model: StepClassifier,
        tokenizer: Any,
        *,
        position: str | None = None,
        long: str = 'refuse',
        **batching: Any,
    ) -> None:
        super().__init__(model, tokenizer, **batching)
        for field, value, known in (
            ('position', position or model.position, POSITIONS),
            ('long', long, LONG),
        ):
            if value not in known:
                raise ValueError(
                    f'{field} of StepScorer: {value!r} is unknown; give {", ".join(known)}'
                )
        self.step_tokenizer = StepTokenizer(tokenizer)
        self.position = position or model.position
        self.long = long
        self.shift = int(self.position == 'published')
        self.window = long == 'window'
        self.delimiter: str | None = getattr(model.config, DELIMITER_KEY, None) or None

    load_model = StepClassifier.load

    def own_settings(self) -> dict[str, Any]:
        """Return the prompt, and how it and the steps are read."""
        quantisation = getattr(self.model.config, 'quantization_config', '')
        return {
            'quantisation': stable_hash(str(quantisation)),
            'prompt': stable_hash(PROMPT),
            'position': self.position,
            'long': self.long,
        }

    def encode(self, solutions: Sequence[Solution]) -> list[Encoded | Refusal]:
        """Return the tokens of each solution, or a refusal."""
        return self.step_tokenizer.encode(solutions)

    def read(self, input_ids: torch.Tensor, reads: torch.Tensor) -> torch.Tensor:
        """Return the logits of the three classes at R tokens, shape (R, 3)."""
        logits: torch.Tensor = self.model(input_ids, reads)
        return logits
