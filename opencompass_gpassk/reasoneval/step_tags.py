"""Solutions as tokens, with a tag behind each step at which a process reward model is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.prompt import (
    SURROGATES,
    prefix_ids,
    special_ids,
    unfit,
)
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution

__all__ = ['StepTags', 'Tagged']


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
