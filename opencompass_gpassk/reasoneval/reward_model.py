"""Process reward models: language models that say after each step whether it is good.

A tag follows each step. At the tag the model predicts one of two tokens, for a good or for a bad
step (Math-Shepherd, arXiv 2312.08935). The probability of the good token among the two is the
step's only score, its validity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.batching import BatchedScorer, Passage, Prepared, Rows
from opencompass_gpassk.reasoneval.model import (
    WHERE,
    dtype_keyword,
    model_name,
    tokenizer_fingerprint,
    weights_fingerprint,
)
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution
from opencompass_gpassk.reasoneval.tokens import SURROGATES, prefix_ids, special_ids, unfit

if TYPE_CHECKING:
    from transformers import PreTrainedModel
    from typing_extensions import Self

__all__ = ['ProcessRewardScorer', 'StepTags', 'Tagged']


@dataclass(frozen=True, eq=False)
class Tagged:
    """A solution of S steps in T tokens, with a tag after each step.

    Attributes:
        ids: The tokens of the whole text, int32, shape (T,).
        ends: Index of the tag of each step, rising, shape (S,).
        tokens: Number of the steps' tokens, without tags and separators.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    tokens: int


class StepTags:
    """Tokenizes solutions, and finds the tags among the tokens by their positions in the text.

    So questions and steps may contain the tag's text. A special token's text in a solution is read
    as text; but if the tag itself is a special token, a solution with a special token's text is
    refused.

    Args:
        tokenizer: A fast tokenizer of ``transformers``. Tokens that it puts before a text, such as
            BOS, are put before the question.
        tag: Follows each step, after a space.
        template: A text with {question} and {steps}.

    Raises:
        ValueError: If the tokenizer is slow, the tag isn't one of its tokens, or the template lacks
            a part.
    """

    def __init__(self, tokenizer: Any, tag: str, template: str) -> None:
        if not getattr(tokenizer, 'is_fast', False):
            raise ValueError(
                f'{type(tokenizer).__name__} is no fast tokenizer, so the positions of its tokens '
                'are unknown; save it as one: AutoTokenizer.from_pretrained(…, use_fast=True)'
            )
        for part in ('{question}', '{steps}'):
            if template.count(part) != 1:
                raise ValueError(f'template of ProcessRewardScorer: {template!r} needs one {part}')
        self.tokenizer = tokenizer
        self.tag = tag
        self.template = template
        self.tag_id = self._tag_id()
        self.prefix = prefix_ids(tokenizer)
        self.special = set(special_ids(tokenizer).values()) - {tokenizer.unk_token_id}
        self.parts_special = self.tag_id not in self.special

    def token(self, field: str, text: str) -> int:
        """Return the single token of a text, with or without a space before it.

        Args:
            field: The setting's name, for the error message.
            text: The text, such as ``+``.

        Raises:
            ValueError: If the text is no token, or several.
        """
        ids = self.tokenizer(text, add_special_tokens=False, verbose=False)['input_ids']
        # Llama's tokenizers separate a space from what follows, and put one before a text.
        pieces = [self.tokenizer.decode([one]) for one in ids]
        telling = [one for one, piece in zip(ids, pieces, strict=True) if piece.strip()]
        known = telling and telling[0] != self.tokenizer.unk_token_id
        if len(telling) != 1 or not known:
            count = len(telling) if known else 'no'
            raise ValueError(
                f'{field} of ProcessRewardScorer: {text!r} is {count} token{"s" * (count != 1)} of '
                'the tokenizer, not one; give one that the model was trained with'
            )
        return int(telling[0])

    def _tag_id(self) -> int:
        """Return the token of the tag after a step."""
        text = f'1 {self.tag}\n1'
        found = self.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        end = len(text) - 2
        for number, (_, stop) in zip(found['input_ids'], found['offset_mapping'], strict=True):
            said = self.tokenizer.decode([number]).strip()
            if stop == end and said == self.tag.strip() != '':
                return int(number)
        raise ValueError(
            f'step_tag of ProcessRewardScorer: {self.tag!r} is no token of the tokenizer; give the '
            'one that the model was trained with'
        )

    def encode(self, solutions: Sequence[Solution]) -> list[Tagged | Refusal]:
        """Return the tokens of each solution, or a refusal. Lone surrogates become �."""
        found: list[Tagged | Refusal | None] = [unfit(solution) for solution in solutions]
        wanted = [index for index, refusal in enumerate(found) if refusal is None]
        if wanted:
            texts = [self._text(solutions[index]) for index in wanted]
            tokenised = self.tokenizer(
                [text for text, *_ in texts],
                add_special_tokens=False,
                return_attention_mask=False,
                return_token_type_ids=False,
                return_offsets_mapping=True,
                split_special_tokens=self.parts_special,
                verbose=False,  # else it warns of long texts, which are handled later
            )
            for row, index in enumerate(wanted):
                ids, offsets = tokenised['input_ids'][row], tokenised['offset_mapping'][row]
                _, *spans = texts[row]
                found[index] = self._located(ids, np.array(offsets), *spans)
        return [item for item in found if item is not None]

    def _text(self, solution: Solution) -> tuple[str, list[int], list[int]]:
        """Return the whole text, the start of each step, and the end of its tag."""
        before, after = self.template.split('{steps}')
        before = before.replace('{question}', solution.question)
        after = after.replace('{question}', solution.question)
        pieces = [before]
        starts: list[int] = []
        ends: list[int] = []
        position = len(before)
        for step in solution.steps:
            position += bool(ends)  # the line end after the previous tag
            piece = f'{step} {self.tag}'
            pieces.append(f'\n{piece}' if ends else piece)
            starts.append(position)
            position += len(piece)
            ends.append(position)
        # Replace single characters by single characters, so that positions don't change.
        return SURROGATES.sub('\ufffd', ''.join([*pieces, after])), starts, ends

    def _located(
        self, ids: Sequence[int], offsets: np.ndarray, starts: Sequence[int], ends: Sequence[int]
    ) -> Tagged | Refusal:
        """Find the token at the end of each tag, and count the tokens of the steps."""
        row = np.array(ids, np.int32)
        begins, stops = offsets.T
        at = np.searchsorted(stops, ends, side='right') - 1
        if np.any(stops[at] != ends) or np.any(row[at] != self.tag_id):
            return Refusal.TAG
        others = np.delete(row, at)
        if self.special.intersection(others.tolist()):
            return Refusal.SPECIAL_TOKENS
        # A token with any character of a step belongs to it; the blank and the tag do not.
        closes = np.array(ends) - len(f' {self.tag}')
        step = (
            np.searchsorted(starts, stops, side='left') - 1
        )  # the last that begins before it ends
        own = (step >= 0) & (begins < closes[step])
        own[at] = False
        whole = np.concatenate([np.array(self.prefix, np.int32), row])
        return Tagged(whole, at + len(self.prefix), int(own.sum()))


class ProcessRewardScorer(BatchedScorer):
    """Scores solutions step by step with a causal language model, one number per step.

    Args:
        model: A ``transformers`` model with a language-model head; put into evaluation mode.
        tokenizer: The checkpoint's own, a fast one.
        step_tag: The tag after each step, preceded by a space; one token.
        good: The token that the model predicts at the tag of a good step.
        bad: The token that it predicts at the tag of a bad step.
        template: The model's input, with {question} and {steps}; each step ends with the tag and a
            line end.
        batch_size: Greatest number of solutions in a forward pass.
        batch_tokens: Greatest number of tokens in a pass, with padding; a longer solution is alone.
            By default 2048 on the CPU, whose caches hold no more, and 16384 elsewhere.
        max_tokens: Greatest number of tokens of question and steps together; by default the number
            of the model's positions. Longer solutions are refused.
        padding_side: ``right``, which needs no attention mask and is faster, or ``left``.
        name: The model's name in :attr:`settings`; by default the source that it was loaded from,
            without the path of a folder.

    Raises:
        ValueError: If a setting is out of its range, or the tag, ``good`` or ``bad`` isn't a token
            of the tokenizer.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: Any,
        *,
        step_tag: str = 'ки',
        good: str = '+',
        bad: str = '-',
        template: str = '{question} {steps}',
        batch_size: int = 64,
        batch_tokens: int | None = None,
        max_tokens: int | None = None,
        padding_side: str = 'right',
        name: str = '',
    ) -> None:
        self.tags = StepTags(tokenizer, step_tag, template)
        self.candidates = tuple(self.tags.token(*one) for one in (('bad', bad), ('good', good)))
        if self.candidates[0] == self.candidates[1]:
            raise ValueError(f'good of ProcessRewardScorer: {good!r} is the token of bad, {bad!r}')
        super().__init__(
            _Reader(model, self.candidates),
            batch_size=batch_size,
            batch_tokens=batch_tokens,
            max_tokens=max_tokens,
            padding_side=padding_side,
        )
        self.model = model
        self.name = name or model_name(model.config.name_or_path)

    @classmethod
    def load(
        cls, source: str | Path, *, model: dict[str, Any] | None = None, **settings: Any
    ) -> Self:
        """Load model and tokenizer from a folder or the hub.

        Args:
            source: The folder, or an id such as ``peiyi9979/math-shepherd-mistral-7b-prm``.
            model: Arguments of ``AutoModelForCausalLM.from_pretrained``: ``dtype``, by default the
                checkpoint's, ``device_map``, ``quantization_config``, and so on.
            settings: Arguments of this class.

        Raises:
            ValueError: As the class does, or if the checkpoint lacks weights of the model.
            OSError: If there is no such checkpoint.
        """
        from transformers import AutoModelForCausalLM, AutoTokenizer

        given = {'dtype': 'auto', **(model or {})}
        given[dtype_keyword()] = given.pop('dtype')
        where = {name: given[name] for name in WHERE if name in given}
        tokenizer = AutoTokenizer.from_pretrained(str(source), **where)
        loaded, report = AutoModelForCausalLM.from_pretrained(
            str(source), output_loading_info=True, **given
        )
        if missing := sorted(report['missing_keys']):
            raise ValueError(
                f'{source}: the checkpoint lacks {", ".join(missing[:5])}, so that it is no whole '
                'language model; name a process reward model that has a language-model head'
            )
        settings = {'name': model_name(source), **settings}
        return cls(loaded, tokenizer, **settings)

    @property
    def settings(self) -> dict[str, Any]:
        """What scores depend on besides the solution, as JSON values."""
        return {'model': self.name, **self._identity, 'max_tokens': self.max_tokens}

    @cached_property
    def _identity(self) -> dict[str, Any]:
        config = self.model.config
        return {
            'revision': getattr(config, '_commit_hash', None),
            'weights': weights_fingerprint(self.model),
            'tokenizer': tokenizer_fingerprint(self.tags.tokenizer),
            'dtype': str(self.model.dtype).removeprefix('torch.'),
            'step_tag': self.tags.tag,
            'candidates': list(self.candidates),
            'template': self.tags.template,
        }

    def prepare(self, solutions: Sequence[Solution]) -> Iterator[Prepared]:
        """Yield the passages of each solution, or a refusal."""
        for item in self.tags.encode(solutions):
            if isinstance(item, Refusal):
                yield 0, item
            elif self.max_tokens and len(item.ids) > self.max_tokens:
                yield item.tokens, Refusal.TOO_LONG
            else:
                yield item.tokens, [Passage(item.ids, item.ends)]

    def scores_of(self, rows: Rows) -> NDArray[np.float64]:
        """Return the probability of the good token, shape (S, 1)."""
        return rows[:, 1:]


class _Reader:
    """Computes logits of two tokens at the tags only; logits of all would fill the memory."""

    def __init__(self, model: PreTrainedModel, candidates: Sequence[int]) -> None:
        self.model = model
        self.candidates = list(candidates)
        head = model.get_output_embeddings()
        if head is None:
            raise ValueError(
                f'{type(model).__name__} has no language-model head; a process reward model says '
                'by a token if a step is good'
            )
        self.head: torch.nn.Module = head

    @property
    def device(self) -> torch.device:
        device = self.model.device
        return torch.device('cpu') if device.type == 'meta' else device

    def eval(self) -> None:
        self.model.eval()

    def __call__(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        position_ids: torch.Tensor | None,
        reads: torch.Tensor,
    ) -> torch.Tensor:
        def select(_: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor]:
            rows, columns = reads.to(given[0].device).T
            return (given[0][rows, columns][None],)

        places = {} if position_ids is None else {'position_ids': position_ids}
        # Changes that a model makes to its logits after the head, such as capping, are kept.
        hook = self.head.register_forward_pre_hook(select)
        try:
            logits: torch.Tensor = self.model(
                input_ids=input_ids, attention_mask=attention_mask, use_cache=False, **places
            ).logits[0]
        finally:
            hook.remove()
        return logits[:, self.candidates]
