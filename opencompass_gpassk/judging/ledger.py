"""What judging cost and what it saved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

__all__ = ['Ledger']


@dataclass
class Ledger:
    """Counts of one judging.

    Attributes:
        calls: Requests that were sent, those that failed among them.
        retries: Those of the calls that repeated an earlier one.
        failures: Failed calls by kind.
        prompt_tokens: As the servers counted.
        completion_tokens: The same.
        saved: Trials that needed no call, by what saved it: ``no answer``, ``rule``, ``human``,
            ``identity`` (the same triple is asked about once) and ``store``.
        price_per_mtok: Price of a million prompt tokens and of a million completion tokens.
    """

    calls: int = 0
    retries: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    saved: Counter[str] = field(default_factory=Counter)
    price_per_mtok: tuple[float, float] | None = None

    @property
    def price(self) -> float | None:
        """The price of all tokens, None where none was given."""
        if self.price_per_mtok is None:
            return None
        prompt, completion = self.price_per_mtok
        return (self.prompt_tokens * prompt + self.completion_tokens * completion) / 1e6

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger as it stands in a result."""
        found: dict[str, Any] = {
            'calls': self.calls,
            'retries': self.retries,
            'failures': dict(sorted(self.failures.items())),
            'prompt_tokens': self.prompt_tokens,
            'completion_tokens': self.completion_tokens,
            'saved': dict(sorted(self.saved.items())),
        }
        if self.price is not None:
            found['price'] = self.price
        return found
