"""OpenCompass's wrappers of APIs: what their configs say, asked under the protocol.

Wrappers of OpenAI-compatible servers are asked through the client of :class:`OpenAICompatible`.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

from opencompass_gpassk.inference.backend import Options, Output, Tap, as_output, truncated_by
from opencompass_gpassk.inference.client import CHAT, Outcome
from opencompass_gpassk.inference.openai_compatible import (
    OFFICIAL,
    OWN_FIELDS,
    APIBackend,
    OpenAICompatible,
    OpenAICompatibleBackend,
    messages,
    not_taken,
)
from opencompass_gpassk.inference.request_loop import reason_of
from opencompass_gpassk.inference.requests import Request

__all__ = ['OpenAIBackend', 'TurboMindAPIBackend', 'WrapperBackend']

WORKERS = 32  # requests at once, as OpenCompass's wrappers have at most by default
UNUSED = ('http_client_cfg', 'orgs')  # settings that only the wrappers' own clients know


class Wrapped(OpenAICompatible):
    """``OpenAI``, ``OpenAISDK`` or a class derived from them, with our client.

    Raises:
        ValueError: If our client lacks one of its settings.
    """

    def __init__(self, wrapper: Any) -> None:
        for name in UNUSED:
            if getattr(wrapper, name, None):
                raise ValueError(
                    f'{name} of {type(wrapper).__name__} is not supported; use OpenAICompatible, '
                    'whose proxies come from the environment'
                )
        own = {
            **(wrapper.extra_body or {}),
            **(getattr(wrapper, 'openai_extra_kwargs', None) or {}),
        }
        super().__init__(
            wrapper.path,
            wrapper.url,
            temperature=wrapper.temperature,
            extra_body={name: value for name, value in own.items() if name not in OWN_FIELDS},
            max_concurrency=wrapper.max_workers or WORKERS,
            timeout=getattr(wrapper, 'timeout', 3600),
        )
        self.client.use_keys(wrapper.keys)
        if wrapper.proxy_url:
            addresses = self.client.addresses
            self.client.addresses = [one._replace(proxy=wrapper.proxy_url) for one in addresses]
        self.template_parser = wrapper.template_parser
        self.wrapper = wrapper

    def asking(self, prompt: Any, max_out_len: int) -> dict[str, Any]:
        """Return the fields that hold a prompt, which may have images, and the length.

        As the wrapper does it, ``max_seq_len`` shortens responses and, with ``mode``, prompts.
        """
        wrapper, asked = self.wrapper, messages(prompt)
        with suppress(ValueError):  # it sees no room at all: the server may have some
            asked, max_out_len = wrapper._preprocess_messages(
                asked, max_out_len, wrapper.max_seq_len, wrapper.mode, wrapper.get_token_len
            )
        asked = wrapper._messages_to_chat_completions(asked)
        return {'messages': asked, self.length_field: max_out_len}


class Completions(OpenAICompatible):
    """``TurboMindAPIModel``, LMDeploy's server, which continues a text; with our client."""

    def __init__(self, wrapper: Any) -> None:
        super().__init__(
            wrapper.model_name,
            f'{wrapper.api_addr.rstrip("/")}/v1',
            temperature=wrapper.temperature,
            top_p=wrapper.top_p,
            top_k=wrapper.top_k,
            max_concurrency=WORKERS,
        )
        self.fields |= {
            name: value for name, value in wrapper.gen_config.items() if name not in OWN_FIELDS
        }
        self.client.use_keys(
            [wrapper.chatbot.headers.get('Authorization', '').removeprefix('Bearer ')]
        )
        self.client.addresses = [
            one._replace(url=f'{one.url.removesuffix(CHAT)}/completions')
            for one in self.client.addresses
        ]
        self.length_field = 'max_tokens'  # whatever the model is called
        self.template_parser = wrapper.template_parser
        self.end_str = wrapper.end_str

    def asking(self, prompt: Any, max_out_len: int) -> dict[str, Any]:
        """Return the fields that hold a prompt and the greatest length of a response."""
        return {'prompt': prompt, self.length_field: max_out_len}

    def output(self, outcome: Outcome) -> Output:
        """Return an outcome as an output, cut at ``end_str``."""
        output = super().output(outcome)
        return replace(output, text=output.text.split(self.end_str)[0]) if self.end_str else output


class OpenAIBackend(OpenAICompatibleBackend):
    """``OpenAI``, ``OpenAISDK`` and classes derived from them.

    A field that the server refuses is left out from then on, with a note.
    """

    with_client: ClassVar[Any] = Wrapped

    def __post_init__(self) -> None:
        self.model = self.with_client(self.model)
        super().__post_init__()
        self.left_out |= self.model.without
        self.model.without = self.left_out
        self.model.leave_out = self.leave_out


class TurboMindAPIBackend(OpenAIBackend):
    """``TurboMindAPIModel``."""

    with_client = Completions
    keep_all = 0


class WrapperBackend(APIBackend):
    """``LiteLLMAPI``, ``OpenAISDKResponse``, and classes of the user's own that ask as they like.

    Each request has a copy of the wrapper, with settings of its own.
    """

    concurrent = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(host in str(getattr(self.model, 'openai_api_base', '')) for host in OFFICIAL):
            for name in sorted({*not_taken(self.model.path), 'seed'}):
                self.leave_out(name, "OpenAI's own endpoint refuses it")

    def workers(self, batch_size: int) -> int:
        """Return how many requests may run at once."""
        return min(batch_size, getattr(self.model, 'max_workers', None) or batch_size)

    def stream(
        self, requests: Iterable[Request], options: Options, workers: int
    ) -> Generator[list[tuple[Request, Output]], None, None]:
        """Draw requests concurrently; yield each when it is finished."""
        left = iter(requests)
        running: dict[Future[Output], Request] = {}
        with ThreadPoolExecutor(workers) as pool:
            while True:
                for one in islice(left, workers - len(running)):
                    running[pool.submit(self._ask, one.entry, one.seed, options)] = one
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                yield [(running.pop(future), future.result()) for future in done]

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry, one after another."""
        return [self._ask(entry, seed, options) for entry, seed in zip(entries, seeds, strict=True)]

    def _ask(self, entry: Any, seed: int, options: Options) -> Output:
        model = copy.copy(self.model)
        sent = self.fields(seed)
        if self.sampling.mode != 'model':
            model.temperature = sent.pop('temperature', None)
        model.extra_body = {**self.keep(model.extra_body), **sent}
        seen: list[Any] = []  # what the SDK returned or raised
        if hasattr(model, 'openai_client'):
            model.openai_extra_kwargs = self.keep(model.openai_extra_kwargs)
            model.openai_client = _watched(model.openai_client, seen)
        lost, text = '', ''
        try:
            text = as_output(self.call(model, [entry], options, self.max_out_len)[0]).text
        except Exception as error:  # a wrapper or its client may raise anything
            lost = reason_of(seen[-1] if seen and isinstance(seen[-1], Exception) else error)
        if lost or not seen:
            return Output(text, lost=lost)
        details = getattr(seen[-1], 'incomplete_details', None)
        tokens = getattr(getattr(seen[-1], 'usage', None), 'output_tokens', None)
        return Output(text, truncated_by(getattr(details, 'reason', None) or 'stop'), tokens)


def _watched(client: Any, seen: list[Any]) -> Any:
    """Return a client of OpenAI's SDK whose responses and errors are noted."""

    def create(**query: Any) -> Any:
        try:
            seen.append(client.responses.create(**query))
        except Exception as error:
            seen.append(error)
            raise
        return seen[-1]

    return Tap(client, responses=Tap(client.responses, create=create))
