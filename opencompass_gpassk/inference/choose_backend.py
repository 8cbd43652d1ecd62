"""The choice of the backend for a model wrapper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opencompass_gpassk.inference.api_wrappers import (
    OpenAIBackend,
    TurboMindAPIBackend,
    WrapperBackend,
    asks_otherwise,
)
from opencompass_gpassk.inference.backend import Backend, UnknownBackend
from opencompass_gpassk.inference.huggingface import HuggingFaceBackend
from opencompass_gpassk.inference.lmdeploy import LMDeployBackend
from opencompass_gpassk.inference.openai_compatible import OpenAICompatibleBackend
from opencompass_gpassk.inference.provider_wrappers import ProviderBackend, parameters_taken
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.inference.vllm import VLLMBackend

# By the name of the wrapper's class or of a base class: importing the classes themselves would
# import every engine.
BACKENDS: dict[str, type[Backend]] = {
    'HuggingFace': HuggingFaceBackend,
    'HuggingFacewithChatTemplate': HuggingFaceBackend,
    'LiteLLMAPI': WrapperBackend,
    'OpenAI': OpenAIBackend,
    'OpenAICompatible': OpenAICompatibleBackend,
    'OpenAISDKResponse': WrapperBackend,
    'TurboMindAPIModel': TurboMindAPIBackend,
    'TurboMindModel': LMDeployBackend,
    'TurboMindModelwithChatTemplate': LMDeployBackend,
    'VLLM': VLLMBackend,
    'VLLMwithChatTemplate': VLLMBackend,
}


def backend_of(
    model: Any, sampling: Sampling, max_out_len: int, note: Callable[[str], None]
) -> Backend:
    """Return the backend that applies a protocol to a wrapper.

    Args:
        model: The wrapper that OpenCompass built.
        sampling: The protocol.
        max_out_len: Greatest number of tokens in a response.
        note: Takes a message for the user.
    """
    backend = backend_class(type(model))
    if backend is OpenAIBackend and asks_otherwise(model):
        backend = WrapperBackend
    return backend(model, sampling, max_out_len, note)


def backend_class(wrapper: type) -> type[Backend]:
    """Return the backend of a class of wrappers."""
    for base in wrapper.__mro__:
        if base.__name__ in BACKENDS:
            return BACKENDS[base.__name__]
    return ProviderBackend if parameters_taken(wrapper) else UnknownBackend
