"""What comes back from a model wrapper for one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ['End', 'Output', 'as_output', 'truncated_by', 'with_ends']

End = tuple[bool | None, int | None]  # ran into the length limit, number of tokens


@dataclass(frozen=True)
class Output:
    """What a backend returned for one request.

    Attributes:
        text: The response; '' where it is lost.
        truncated: It ran into the length limit; None where the backend doesn't tell.
        num_tokens: Its length in tokens; None where the backend doesn't tell.
        lost: Why there is no response, '' if there is one.
    """

    text: str
    truncated: bool | None = None
    num_tokens: int | None = None
    lost: str = ''


def as_output(answer: Any) -> Output:
    """Read what a wrapper returned for one request.

    Raises:
        TypeError: If it holds no single text.
    """
    if isinstance(answer, dict):  # OpenAISDKRollout
        rollout = answer.get('rollout') or {}
        reason = rollout.get('finish_reason')
        text = answer.get('prediction', answer.get('output'))
        tokens = rollout.get('num_tokens') or None
    else:
        text, reason, tokens = answer, None, None
    if not isinstance(text, str):
        raise TypeError(f'the model wrapper returned {type(text).__name__} instead of a text')
    return Output(text, truncated_by(reason), tokens)


def with_ends(answers: Sequence[Any], ends: Sequence[End]) -> list[Output]:
    """Join a wrapper's answers with how the engine said they ended, if it was seen for each."""
    outputs = [as_output(answer) for answer in answers]
    if len(ends) != len(outputs):
        return outputs
    return [Output(one.text, *end) for one, end in zip(outputs, ends, strict=True)]


def truncated_by(finish_reason: Any) -> bool | None:
    """Tell from an engine's finish reason whether the length limit ended a response."""
    if finish_reason in (None, '', 'error', 'abort'):
        return None
    return finish_reason in ('length', 'max_tokens', 'max_output_tokens')
