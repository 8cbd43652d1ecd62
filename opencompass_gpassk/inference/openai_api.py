"""OpenCompass's wrappers of OpenAI-compatible APIs, and LiteLLM's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from opencompass_gpassk.inference.api import APIBackend, RequestLog
from opencompass_gpassk.inference.backend import Tap, clone
from opencompass_gpassk.inference.sampling import Sampling

__all__ = ['LiteLLMBackend', 'OpenAIBackend']

OFFICIAL = ('api.openai.com', 'openai.azure.com')
REASONING = ('o1', 'o3', 'o4', 'gpt-5')
NAMED = ('temperature', 'top_p', 'seed')  # arguments of the SDK; the rest is extra_body


class OpenAIBackend(APIBackend):
    """``OpenAI`` (plain HTTP), ``OpenAISDK`` and what is derived from them.

    OpenAI's own endpoints don't know top_k and repetition_penalty, and their reasoning models no
    sampling parameter at all; servers such as vLLM's, SGLang's and LMDeploy's know all.
    """

    def __init__(
        self, model: Any, sampling: Sampling, max_out_len: int, note: Callable[[str], None]
    ) -> None:
        super().__init__(model, sampling, max_out_len, note)
        self._requests = 0
        address = getattr(model, 'openai_api_base', None) or getattr(model, 'url', '')
        if any(host in str(address) for host in OFFICIAL):
            unknown = ['top_k', 'repetition_penalty']
            if any(name in model.path for name in REASONING):
                unknown += ['temperature', 'top_p']
            if type(model).__name__ == 'OpenAISDKResponse':
                unknown.append('seed')
            for name in unknown:
                self.leave_out(name, "OpenAI's own endpoint")

    def prepare(self, seed: int, log: RequestLog) -> Any:
        """Return a wrapper that sends one request under the protocol."""
        model = clone(self.model)
        sent = self.wanted(seed)
        if self.sampling.mode != 'model':
            # The wrappers send 0.7 where they have none; null is "not given".
            sent.setdefault('temperature', None)
            model.temperature = sent['temperature']
        if hasattr(model, 'openai_client'):
            arguments = {name: sent.pop(name) for name in NAMED if name in sent}
            if type(model).__name__ == 'OpenAISDKResponse' and 'seed' in arguments:
                sent['seed'] = arguments.pop('seed')  # the Responses API's SDK doesn't name it
            model.openai_extra_kwargs = {**self.keep(model.openai_extra_kwargs), **arguments}
            model.openai_client = _watched_client(model.openai_client, log)
        model.extra_body = {**self.keep(model.extra_body), **sent} or None
        self._spread_keys(model)
        return model

    def _spread_keys(self, model: Any) -> None:
        """Go on taking keys and organisations in turn, though each request has its own copy."""
        self._requests += 1
        for items, counter in (('keys', 'key_ctr'), ('orgs', 'org_ctr')):
            if getattr(model, items, None) and hasattr(model, counter):
                setattr(model, counter, self._requests % len(getattr(model, items)))


class LiteLLMBackend(APIBackend):
    """``LiteLLMAPI``, which leaves out by itself what a provider does not know."""

    def prepare(self, seed: int, log: RequestLog) -> Any:
        """Return a wrapper that sends one request under the protocol."""
        model = clone(self.model)
        sent = self.wanted(seed)
        if self.sampling.mode != 'model':
            model.temperature = sent.pop('temperature', None)
        model.extra_body = {**self.keep(model.extra_body), **sent}
        return model


def _watched_client(client: Any, log: RequestLog) -> Any:
    """Return the SDK's client with its two calls watched for how a response ended."""
    watched: dict[str, Any] = {}
    if hasattr(client, 'chat'):
        completions = client.chat.completions
        watched['chat'] = Tap(
            client.chat, completions=Tap(completions, create=_watched(completions.create, log))
        )
    if hasattr(client, 'responses'):
        watched['responses'] = Tap(client.responses, create=_watched(client.responses.create, log))
    return Tap(client, **watched)


def _watched(create: Callable[..., Any], log: RequestLog) -> Callable[..., Any]:
    def call(**query: Any) -> Any:
        if query.get('temperature', 0) is None:
            del query['temperature']
        response = create(**query)
        if query.get('stream'):
            return _watched_stream(response, log)
        _read(response, log)
        return response

    return call


def _watched_stream(stream: Any, log: RequestLog) -> Iterator[Any]:
    try:
        for part in stream:
            _read(getattr(part, 'response', None) or part, log)
            yield part
    finally:
        if hasattr(stream, 'close'):
            stream.close()


def _read(response: Any, log: RequestLog) -> None:
    choices = getattr(response, 'choices', None)
    reason = getattr(choices[0], 'finish_reason', None) if choices else None
    if reason is None:  # the Responses API
        reason = getattr(getattr(response, 'incomplete_details', None), 'reason', None)
        if reason is None and getattr(response, 'status', None) == 'completed':
            reason = 'stop'
    if isinstance(reason, str):
        log.finish_reason = reason
    usage = getattr(response, 'usage', None)
    for name in ('completion_tokens', 'output_tokens'):
        tokens = getattr(usage, name, None)
        if isinstance(tokens, int):
            log.num_tokens = tokens
