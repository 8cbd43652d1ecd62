"""Sampling protocols, applied to any model that a user's config names."""

from typing import Any


def __getattr__(name: str) -> Any:
    # Loaded when asked for: judging imports this package too, and does without OpenCompass.
    if name == 'OpenAICompatible':
        from opencompass_gpassk.inference.openai_compatible import OpenAICompatible

        return OpenAICompatible
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
