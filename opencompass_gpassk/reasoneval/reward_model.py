"""Process reward models: language models that say after each step whether it is good.

A tag follows each step. At the tag the model predicts one of two tokens, for a good or for a bad
step (Math-Shepherd, arXiv 2312.08935). The probability of the good token among the two is the
step's only score, its validity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.batching import (
    SURROGATES,
    BatchedScorer,
    Encoded,
    load_whole,
    prefix_ids,
    special_ids,
    tokenised,
)
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class ProcessRewardScorer(BatchedScorer):
    """Scores solutions step by step with a causal language model, one number per step.

    Tags are found among the tokens by their positions in the text, so that questions and steps may
    contain the tag's text. A special token's text in a solution is read as text; but if the tag
    itself is a special token, a solution with a special token's text is refused.

    Args:
        model: A ``transformers`` model with a language-model head; put into evaluation mode.
        tokenizer: The checkpoint's own, a fast one. Tokens that it puts before a text, such as BOS,
            are put before the question.
        step_tag: The tag after each step, preceded by a space; one token.
        good: The token that the model predicts at the tag of a good step.
        bad: The token that it predicts at the tag of a bad step.
        batching: Arguments of :class:`~.batching.BatchedScorer`: ``batch_size``, ``batch_tokens``
            and ``max_tokens``. Longer solutions are refused.

    Raises:
        ValueError: If a setting is out of its range, or the tag, ``good`` or ``bad`` isn't one of
            the tokenizer's tokens.
        NotImplementedError: If the tokenizer is not a fast one.
    """

    score_columns = slice(1, None)  # of the good token

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: Any,
        *,
        step_tag: str = 'ки',
        good: str = '+',
        bad: str = '-',
        **batching: Any,
    ) -> None:
        super().__init__(model, tokenizer, **batching)
        self.step_tag = step_tag
        self.tag_id = self._tag_id()
        self.candidates = [self._token('bad', bad), self._token('good', good)]
        if self.candidates[0] == self.candidates[1]:
            raise ValueError(f'good of ProcessRewardScorer: {good!r} is the token of bad, {bad!r}')
        self.prefix = prefix_ids(tokenizer)
        self.special = set(special_ids(tokenizer).values()) - {tokenizer.unk_token_id}

    def _tag_id(self) -> int:
        """Return the token of the tag after a step."""
        text = f'1 {self.step_tag}\n1'
        found = tokenised(self.tokenizer, [text], return_offsets_mapping=True)
        end = len(text) - 2
        for number, (_, stop) in zip(
            found['input_ids'][0], found['offset_mapping'][0], strict=True
        ):
            said = self.tokenizer.decode([number]).strip()
            if stop == end and said == self.step_tag.strip() != '':
                return int(number)
        raise _no_token('step_tag', self.step_tag)

    def _token(self, field: str, text: str) -> int:
        """Return the single token of a text, with or without a space before it."""
        (ids,) = tokenised(self.tokenizer, [text])['input_ids']
        # Llama's tokenizers separate a space from what follows, and put one before a text.
        telling = [int(one) for one in ids if self.tokenizer.decode([one]).strip()]
        if len(telling) != 1 or telling[0] == self.tokenizer.unk_token_id:
            raise _no_token(field, text)
        return telling[0]

    @staticmethod
    def load_model(source: str, *, dtype: str = 'auto', **settings: Any) -> Any:
        """Load the model alone.

        Raises:
            ValueError: If the checkpoint lacks weights of the model.
            OSError: If there is no such checkpoint.
        """
        from transformers import AutoModelForCausalLM

        remedy = 'name a process reward model that has a language-model head'
        return load_whole(AutoModelForCausalLM, source, dtype=dtype, remedy=remedy, **settings)[0]

    def own_settings(self) -> dict[str, Any]:
        """Return the tag, and the tokens of good and bad."""
        return {'step_tag': self.step_tag, 'candidates': self.candidates}

    def encode(self, solutions: Sequence[Solution]) -> list[Encoded | Refusal]:
        """Return the tokens of each solution, or a refusal. Lone surrogates become �."""
        texts = [self._text(solution) for solution in solutions if not solution.unfit]
        rows = tokenised(
            self.tokenizer,
            [text for text, _ in texts],
            return_offsets_mapping=True,
            split_special_tokens=self.tag_id not in self.special,
        )
        spans = (span for _, span in texts)
        found = iter(map(self._located, rows['input_ids'], rows['offset_mapping'], spans))
        return [solution.unfit or next(found) for solution in solutions]

    def _text(self, solution: Solution) -> tuple[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the whole text, the start of each step, and the end of its tag."""
        before = f'{solution.question} '
        pieces = [f'{step} {self.step_tag}' for step in solution.steps]
        lengths = np.array([len(piece) for piece in pieces])
        ends = len(before) + np.cumsum(lengths + 1) - 1  # a line end stands between two pieces
        # Replace single characters by single characters, so that positions don't change.
        text = SURROGATES.sub('\ufffd', before + '\n'.join(pieces))
        return text, (ends - lengths, ends)

    def _located(
        self,
        ids: Sequence[int],
        offsets: Sequence[tuple[int, int]],
        spans: tuple[NDArray[np.int64], NDArray[np.int64]],
    ) -> Encoded | Refusal:
        """Find the token at the end of each tag, and count the tokens of the steps."""
        row = np.array(ids, np.int32)
        begins, stops = np.array(offsets).T
        starts, ends = spans
        at = np.searchsorted(stops, ends, side='right') - 1
        if np.any(stops[at] != ends) or np.any(row[at] != self.tag_id):
            return Refusal.TAG
        others = np.delete(row, at)
        if self.special.intersection(others.tolist()):
            return Refusal.SPECIAL_TOKENS
        # A token with any character of a step belongs to it; the blank and the tag do not.
        closes = ends - len(f' {self.step_tag}')
        step = np.searchsorted(starts, stops) - 1  # the last that begins before the token ends
        own = (step >= 0) & (begins < closes[step])
        own[at] = False
        whole = np.concatenate([np.array(self.prefix, np.int32), row])
        return Encoded(whole, at + len(self.prefix), int(own.sum()))

    def read(self, input_ids: torch.Tensor, reads: torch.Tensor) -> torch.Tensor:
        """Return the logits of the bad and the good token at R tags, shape (R, 2).

        Only the tags reach the head: logits of all tokens would fill the memory.
        """

        def select(_: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor]:
            rows, columns = reads.to(given[0].device).T
            return (given[0][rows, columns][None],)

        # Changes that a model makes to its logits after the head, such as capping, are kept.
        hook = self.model.get_output_embeddings().register_forward_pre_hook(select)
        try:
            mask = torch.ones_like(input_ids)  # plain causal attention, which is fast
            output = self.model(input_ids=input_ids, attention_mask=mask, use_cache=False)
        finally:
            hook.remove()
        logits: torch.Tensor = output.logits[0]
        return logits[:, self.candidates]


def _no_token(field: str, text: str) -> ValueError:
    return ValueError(
        f'{field} of ProcessRewardScorer: {text!r} is not one token of the tokenizer; give one '
        'that the model was trained with'
    )
