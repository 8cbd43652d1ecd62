"""The scores of ReasonEval: for each step of a solution the probabilities of three classes.

Prompt and steps are tokenised as one text with a separator after each. The separator is a special
token, so no token crosses the border of two steps. Then the separators are removed, so that the
model reads an ordinary answer (arXiv 2404.05692, section 3.2, and the authors' code).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.reasoneval.batching import (
    SURROGATES,
    BatchedScorer,
    Encoded,
    prefix_ids,
    special_ids,
    tokenised,
)
from opencompass_gpassk.reasoneval.model import DELIMITER_KEY, POSITIONS, StepClassifier
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores

if TYPE_CHECKING:
    import torch

__all__ = ['PROMPT', 'Refusal', 'Solution', 'StepScorer', 'StepScores', 'StepTokenizer']

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
        self.separator, self.separator_id = _separator(tokenizer)
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


def _separator(tokenizer: Any) -> tuple[str, int]:
    for token in (tokenizer.pad_token, tokenizer.eos_token, tokenizer.bos_token):
        if token and token != tokenizer.unk_token:
            return str(token), int(tokenizer.convert_tokens_to_ids(token))
    raise ValueError(
        'the tokenizer has neither pad nor end-of-text nor BOS token to separate steps with; set '
        "its pad token: tokenizer.add_special_tokens({'pad_token': '<pad>'})"
    )


class StepScorer(BatchedScorer):
    """Scores solutions step by step with a :class:`~.model.StepClassifier`.

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
