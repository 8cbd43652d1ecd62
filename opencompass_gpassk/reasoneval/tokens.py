"""The prompt of ReasonEval: question and steps as tokens, and the position of each step's end.

Prompt and steps are tokenised as one text with a separator after each. The separator is a special
token, so no token crosses the border of two steps. Then the separators are removed, so that the
model reads an ordinary answer (arXiv 2404.05692, section 3.2, and the authors' code).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.solutions import Refusal, Solution

__all__ = [
    'PROMPT',
    'SURROGATES',
    'Encoded',
    'StepTokenizer',
    'prefix_ids',
    'special_ids',
    'tokenised',
    'unfit',
]

PROMPT = "Question:\n{question}\nAnswer:\nLet's think step by step.\n"
PROBE = 'a'
SURROGATES = re.compile('[\ud800-\udfff]')  # not valid Unicode; tokenizers fail on them


@dataclass(frozen=True, eq=False)
class Encoded:
    """A solution of S steps in T tokens.

    Attributes:
        ids: The tokens of prompt and steps, int32, shape (T,).
        ends: Index of the token at which each step is read, rising, shape (S,).
        tokens: Number of the steps' tokens.
        prompt: Number of the prompt's tokens, if the steps follow them and nothing else does.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    tokens: int
    prompt: int = 0


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
        parts = [self._parts(solution) for solution in solutions if not unfit(solution)]
        rows = tokenised(self.tokenizer, [self.separator.join([*texts, '']) for texts, _ in parts])
        closes = (closing for _, closing in parts)
        found = iter(map(self._without_separators, rows['input_ids'], closes))
        return [unfit(solution) or next(found) for solution in solutions]

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


def tokenised(tokenizer: Any, texts: list[str], **settings: Any) -> Mapping[str, list[Any]]:
    """Return what a tokenizer makes of texts, without the tokens that it puts around each."""
    if not texts:
        return {'input_ids': [], 'offset_mapping': []}
    found: Mapping[str, list[Any]] = tokenizer(
        texts,
        add_special_tokens=False,
        return_attention_mask=False,
        return_token_type_ids=False,
        verbose=False,  # else it warns of long texts, which are handled later
        **settings,
    )
    return found


def special_ids(tokenizer: Any) -> dict[str, int]:
    """Return a tokenizer's special tokens, each with its number."""
    special = {str(text) for text in tokenizer.all_special_tokens}
    special |= {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    return {text: int(tokenizer.convert_tokens_to_ids(text)) for text in sorted(special)}


def unfit(solution: Solution) -> Refusal | None:
    """Return why no scorer can score a solution; None if one can."""
    blank = [not step.strip() for step in solution.steps]
    if all(blank):
        return Refusal.EMPTY
    return Refusal.BLANK_STEP if any(blank) else None


def _separator(tokenizer: Any) -> tuple[str, int]:
    for token in (tokenizer.pad_token, tokenizer.eos_token, tokenizer.bos_token):
        if token and token != tokenizer.unk_token:
            return str(token), int(tokenizer.convert_tokens_to_ids(token))
    raise ValueError(
        'the tokenizer has neither pad nor end-of-text nor BOS token to separate steps with; set '
        "its pad token: tokenizer.add_special_tokens({'pad_token': '<pad>'})"
    )


def prefix_ids(tokenizer: Any) -> list[int]:
    """Return the tokens that a tokenizer puts before each text."""
    plain = tokenizer(PROBE, add_special_tokens=False)['input_ids']
    whole = tokenizer(PROBE)['input_ids']
    for start in range(len(whole) - len(plain) + 1):
        if whole[start : start + len(plain)] == plain:
            return list(whole[:start])
    return []
