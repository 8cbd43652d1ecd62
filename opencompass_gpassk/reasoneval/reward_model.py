"""Process reward models: a language model that says after each step if it is good.

Behind each step stands a tag, at which one of two tokens is expected: that of a good or that of a
bad step (Math-Shepherd, arXiv 2312.08935). The probability of the good one among the two is the
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
    """A solution of S steps in T tokens, a tag behind each step.

    Attributes:
        ids: The tokens of the whole text, int32, shape (T,).
        ends: Index of the tag of each step, rising, shape (S,).
        tokens: How many are the steps' own, without tags and what stands between steps.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    tokens: int


class StepTags:
    """Makes tokens of solutions, and finds the tags among them by where they stand in the text.

    So it makes no difference whether a question or a step holds the tag's text. A special token's
    text in a solution is read as text, unless the tag is a special token itself; then such a
    solution is refused.

    Args:
        tokenizer: Of ``transformers``, a fast one. What it puts before a text, such as a BOS token,
            is put before the question.
        tag: Stands behind each step, after a space.
        template: With {question} and {steps} in it.

    Raises:
        ValueError: If the tokenizer is slow, the tag is no token of it, or the template lacks a
            part.
    """

    def __init__(self, tokenizer: Any, tag: str, template: str) -> None:
        if not getattr(tokenizer, 'is_fast', False):
            raise ValueError(
                f'{type(tokenizer).__name__} is no fast tokenizer, which tells where its tokens '
                'stand in a text; save it as one: AutoTokenizer.from_pretrained(…, use_fast=True)'
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
        """Return the token that a text is, with or without a space before it.

        Args:
            field: What it is called where it is none.
            text: Such as ``+``.

        Raises:
            ValueError: If it is none, or several.
        """
        ids = self.tokenizer(text, add_special_tokens=False, verbose=False)['input_ids']
        # The tokenizers of Llama part a space from what follows, and put one before a text.
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
        """Return the token that the tag is behind a step."""
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
        """Return the tokens of each solution, or why there are none. Lone surrogates become �."""
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
                verbose=False,  # else it warns of long texts, which are dealt with
            )
            for row, index in enumerate(wanted):
                ids, offsets = tokenised['input_ids'][row], tokenised['offset_mapping'][row]
                _, *spans = texts[row]
                found[index] = self._located(ids, np.array(offsets), *spans)
        return [item for item in found if item is not None]

    def _text(self, solution: Solution) -> tuple[str, list[int], list[int]]:
        """Return the whole text, where each step begins, and where its tag ends."""
        before, after = self.template.split('{steps}')
        before = before.replace('{question}', solution.question)
        after = after.replace('{question}', solution.question)
        pieces = [before]
        starts: list[int] = []
        ends: list[int] = []
        position = len(before)
        for step in solution.steps:
            position += bool(ends)  # the line end behind the tag before
            piece = f'{step} {self.tag}'
            pieces.append(f'\n{piece}' if ends else piece)
            starts.append(position)
            position += len(piece)
            ends.append(position)
        # One character for one: places stay what they are.
        return SURROGATES.sub('\ufffd', ''.join([*pieces, after])), starts, ends

    def _located(
        self, ids: Sequence[int], offsets: np.ndarray, starts: Sequence[int], ends: Sequence[int]
    ) -> Tagged | Refusal:
        """Find the token that ends where each tag does, and count those of the steps themselves."""
        row = np.array(ids, np.int32)
        begins, stops = offsets.T
        at = np.searchsorted(stops, ends, side='right') - 1
        if np.any(stops[at] != ends) or np.any(row[at] != self.tag_id):
            return Refusal.TAG
        others = np.delete(row, at)
        if self.special.intersection(others.tolist()):
            return Refusal.SPECIAL_TOKENS
        # A token is a step's if it holds any of its characters; the blank and the tag are not.
        closes = np.array(ends) - len(f' {self.tag}')
        step = (
            np.searchsorted(starts, stops, side='left') - 1
        )  # the last that begins before it ends
        own = (step >= 0) & (begins < closes[step])
        own[at] = False
        whole = np.concatenate([np.array(self.prefix, np.int32), row])
        return Tagged(whole, at + len(self.prefix), int(own.sum()))


class ProcessRewardScorer(BatchedScorer):
    """Scores solutions step by step with a causal language model, one number a step.

    Args:
        model: With a language-model head, of ``transformers``; it is put into evaluation mode.
        tokenizer: The checkpoint's own, a fast one.
        step_tag: What stands behind each step, after a space; one token.
        good: The token that is expected there if the step is good.
        bad: The same if it is bad.
        template: What the model is given, with {question} and {steps} in it; each step ends with
            the tag, and a line.
        batch_size: Solutions in a forward pass at most.
        batch_tokens: Tokens in one at most, padding among them; a longer solution is read alone.
            By default 2048 on the CPU, whose caches hold no more, and 16384 elsewhere.
        max_tokens: Tokens that the model takes, question and steps together; by default as many
            as it has positions. Longer solutions are refused.
        padding_side: ``right``, where attention needs no mask and is faster, or ``left``.
        name: Of the model, in :attr:`settings`; by default what it was loaded from, of a folder
            its name alone.

    Raises:
        ValueError: If a setting is out of its range, or the tag or a candidate is no token of the
            tokenizer.
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
            model: What ``AutoModelForCausalLM.from_pretrained`` takes: ``dtype``, by default that
                of the checkpoint, ``device_map``, ``quantization_config``, and so on.
            settings: What this class takes.

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
        """What scores depend on beside the solution, as values that JSON holds."""
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
        """Yield what is to be read of each solution, or why it can't be."""
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
    """Reads two tokens' logits at the tags alone: those of all tokens would fill the memory."""

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
        # What a model does to its logits behind the head, such as capping them, is done to these.
        hook = self.head.register_forward_pre_hook(select)
        try:
            logits: torch.Tensor = self.model(
                input_ids=input_ids, attention_mask=attention_mask, use_cache=False, **places
            ).logits[0]
        finally:
            hook.remove()
        return logits[:, self.candidates]
