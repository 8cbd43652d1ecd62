"""What judging cost and what it saved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

__all__ = ['Ledger']


@dataclass
class Ledger:
    """Counts of one judging: what was paid in an earlier start stands under ``kept``.

    Attributes:
        calls: Requests that were sent, those that failed among them.
        retries: Those of the calls that repeated an earlier one.
        failures: Failed calls by kind.
        prompt_tokens: As the servers counted.
        completion_tokens: The same.
        saved: Trials that needed no call, by what saved it: ``no answer``, ``rule``, ``human``,
            ``identity`` (the same triple is asked about once) and ``store``.
        kept_prompt_tokens: What the verdicts from the store cost when they were given, in an
            earlier start or another run.
        kept_completion_tokens: The same.
        price_per_mtok: Price of a million prompt tokens and of a million completion tokens.
    """

    calls: int = 0
    retries: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    saved: Counter[str] = field(default_factory=Counter)
    kept_prompt_tokens: int = 0
    kept_completion_tokens: int = 0
    price_per_mtok: tuple[float, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger as it stands in a result; prices where one was given."""
        return {
            'calls': self.calls,
            'retries': self.retries,
            'failures': dict(sorted(self.failures.items())),
            **self._tokens(self.prompt_tokens, self.completion_tokens),
            'saved': dict(sorted(self.saved.items())),
            'kept': self._tokens(self.kept_prompt_tokens, self.kept_completion_tokens),
        }

    def _tokens(self, prompt: int, completion: int) -> dict[str, Any]:
        counts: dict[str, Any] = {'prompt_tokens': prompt, 'completion_tokens': completion}
        if self.price_per_mtok is not None:
            prices = self.price_per_mtok
            counts['price'] = (prompt * prices[0] + completion * prices[1]) / 1e6
        return counts
