"""A language model's backbone with a head that tells good, idle and wrong steps apart."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from opencompass_gpassk.reasoneval.checkpoint import (
    LAYOUTS,
    POSITIONS,
    default_position,
    dtype_keyword,
    find_layout,
    head_weights,
    save,
)
from opencompass_gpassk.reasoneval.solutions import CLASSES

if TYPE_CHECKING:
    from transformers import PreTrainedModel
    from typing_extensions import Self

__all__ = ['StepClassifier']


class StepClassifier(torch.nn.Module):
    """A decoder of ``transformers`` without language-model head, and a linear ``score_head``.

    The classes are [negative, neutral, positive]; their softmax is the model of ReasonEval (arXiv
    2404.05692, section 3.2). The names of its parameters are those of the published checkpoints.

    Args:
        backbone: What ``AutoModel`` gives: of H hidden units.
        bias: Give the head a bias.
        position: Where a step is read by default: ``last``, at its last token, or ``published``,
            one token before it. By default as the config says, and ``published`` for the
            published 7B model alone.
        generator: Draws the head's weights; by default they are zero, and all classes alike.

    Raises:
        ValueError: If the position is unknown.
    """

    def __init__(
        self,
        backbone: PreTrainedModel,
        *,
        bias: bool = False,
        position: str | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        if position not in (None, *POSITIONS):
            raise ValueError(f'position: {position!r} is unknown; give one of {POSITIONS}')
        self.model = backbone
        self.config = backbone.config
        self.position: str = position or default_position(self.config)
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
        self.score_head.to(self.device)

    @classmethod
    def load(
        cls,
        source: str | Path,
        *,
        dtype: str | torch.dtype = 'auto',
        device_map: Any = None,
        attn_implementation: str | None = None,
        quantization_config: Any = None,
        **settings: Any,
    ) -> Self:
        """Load a checkpoint of either published layout, or any decoder with a ``score_head``.

        Args:
            source: A folder, or an id on the hub such as ``GAIR/ReasonEval-7B``.
            dtype: ``auto``, that of the checkpoint, or ``bfloat16``, ``float32`` and so on.
            device_map: Where its parts go: ``auto``, ``cuda``, a mapping; by default the CPU.
            attn_implementation: ``sdpa``, ``eager``, ``flash_attention_2``, …
            quantization_config: How the backbone is quantised; the head never is.
            settings: Whatever else ``AutoModel.from_pretrained`` takes, ``revision`` for instance.

        Raises:
            ValueError: If weights are missing, or some are there that the model has no place for;
                or if the head has not three classes.
            OSError: If there is no such checkpoint.
        """
        from transformers import AutoModel

        source = str(source)
        head = head_weights(source, settings)
        named = {
            'device_map': device_map,
            'attn_implementation': attn_implementation,
            'quantization_config': quantization_config,
        }
        settings |= {name: value for name, value in named.items() if value is not None}
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
        """Where the backbone takes its input."""
        device = self.model.device
        return torch.device('cpu') if device.type == 'meta' else device

    @property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits of the head's weights: any training changes them."""
        digest = hashlib.sha256()
        for tensor in self.score_head.state_dict().values():
            digest.update(tensor.detach().to('cpu', torch.float32).numpy().tobytes())
        return digest.hexdigest()[:16]

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        reads: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the classes' logits at some tokens or at all.

        Args:
            input_ids: B rows of T token ids.
            attention_mask: 1 where a token is, 0 where a row is padded, shape (B, T). Rows that
                are padded on the right can have 1 throughout: a decoder's tokens don't see what
                follows, and ``transformers`` is slower without any mask.
            position_ids: Positions of the tokens, shape (B, T); by default each row begins at 0.
            reads: R pairs of row and column, shape (R, 2); by default every token is read.

        Returns:
            Shape (R, 3), or (B, T, 3) where no ``reads`` are given.
        """
        places = {} if position_ids is None else {'position_ids': position_ids}
        hidden = self.model(
            input_ids=input_ids, attention_mask=attention_mask, use_cache=False, **places
        )[0]
        if reads is not None:
            hidden = hidden[reads[:, 0], reads[:, 1]]
        weight = self.score_head.weight
        return self.score_head(hidden.to(weight.device, weight.dtype))

    def save(
        self, folder: str | Path, layout: str | None = None, position: str | None = None
    ) -> None:
        """Write a checkpoint that this class loads, and the authors' classes too.

        The authors' 7B class reads Mistral backbones, their 34B class Llama ones. The tokenizer is
        saved on its own.

        Args:
            folder: Made where there is none.
            layout: ``7b`` or ``34b``; by default that of the checkpoint that was loaded, else
                ``34b`` for a Llama backbone and ``7b`` for others.
            position: Where its steps are to be read when it is loaded; by default where they are
                now. A head that was trained at the last token of each step says ``last``.

        Raises:
            ValueError: If layout or position is unknown.
        """
        if layout not in (None, *LAYOUTS):
            raise ValueError(f'layout: {layout!r} is unknown; give one of {tuple(LAYOUTS)}')
        if position not in (None, *POSITIONS):
            raise ValueError(f'position: {position!r} is unknown; give one of {POSITIONS}')
        usual = (
            find_layout(self.config)
            or LAYOUTS['34b' if self.config.model_type == 'llama' else '7b']
        )
        chosen = LAYOUTS[layout] if layout else usual
        head = self.score_head.state_dict()
        save(self.model, head, folder, chosen, position or self.position)


def _some(keys: set[str]) -> str:
    shown = sorted(keys)[:5]
    return ', '.join(shown) + (f' and {len(keys) - 5} more' if len(keys) > 5 else '')
