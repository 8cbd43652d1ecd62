"""OpenCompass's wrappers of APIs: what their configs say, asked under the protocol.

Wrappers of OpenAI-compatible servers are asked through the client of :class:`OpenAICompatible`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from itertools import count, islice
from time import sleep
from typing import Any, ClassVar

from opencompass_gpassk.inference.backend import (
    HELD_BACK,
    REFUSED,
    Options,
    Output,
    Tap,
    as_output,
    truncated_by,
)
from opencompass_gpassk.inference.http_client import CHAT, LENGTH
from opencompass_gpassk.inference.openai_compatible import (
    OFFICIAL,
    OWN_FIELDS,
    UNNAMED,
    APIBackend,
    OpenAICompatible,
    OpenAICompatibleBackend,
    messages,
    not_taken,
)
from opencompass_gpassk.inference.request_loop import reason_of
from opencompass_gpassk.inference.sample_requests import Request
from opencompass_gpassk.inference.server_replies import Outcome

WORKERS = 32  # requests at once, as OpenCompass's wrappers have at most by default
UPSTREAM = 'opencompass.'
PATIENCE = 8  # further attempts of a wrapper that would go on for ever
LONGEST_PAUSE = 30.0  # seconds between two of them


def asks_otherwise(wrapper: Any) -> bool:
    """Tell whether a wrapper, derived from ``OpenAI``, asks in a way that our client doesn't know.

    It is a class of the user's own, or has settings of HTTP: an organisation, a client, an address
    with a query such as Azure's, or one that doesn't end as OpenAI's does.
    """
    ends = '' if hasattr(wrapper, 'openai_client') else CHAT
    urls = [wrapper.url] if isinstance(wrapper.url, str) else wrapper.url
    return (
        not wrapper._generate.__module__.startswith(UPSTREAM)
        or bool(wrapper.orgs or getattr(wrapper, 'http_client_cfg', None))
        or any('?' in url or not url.rstrip('/').endswith(ends) for url in urls)
    )


class Wrapped(OpenAICompatible):
    """``OpenAI``, ``OpenAISDK`` or a class derived from them, with our client."""

    def __init__(self, wrapper: Any) -> None:
        own = {
            **(wrapper.extra_body or {}),
            **(getattr(wrapper, 'openai_extra_kwargs', None) or {}),
        }
        usual = None if hasattr(wrapper, 'openai_client') else 0.7
        super().__init__(
            wrapper.path,
            wrapper.url,
            temperature=usual if wrapper.temperature is None else wrapper.temperature,
            extra_body={name: value for name, value in own.items() if name not in OWN_FIELDS},
            max_concurrency=wrapper.max_workers or WORKERS,
            timeout=getattr(wrapper, 'timeout', 3600),
        )
        self.client.use_keys(wrapper.keys)
        if wrapper.proxy_url:
            addresses = self.client.addresses
            self.client.addresses = [one._replace(proxy=wrapper.proxy_url) for one in addresses]
        self.template_parser = wrapper.template_parser
        self.end_of_thoughts = wrapper.think_tag
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
        return {'messages': asked, LENGTH: max_out_len}


class Completions(OpenAICompatible):
    """``TurboMindAPIModel``, LMDeploy's server, which continues a text; with our client."""

    def __init__(self, wrapper: Any) -> None:
        super().__init__(
            wrapper.model_name,
            f'{wrapper.api_addr.rstrip("/")}/v1',
            temperature=1.0 if wrapper.temperature is None else wrapper.temperature,
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
        self.template_parser = wrapper.template_parser
        self.end_str = wrapper.end_str

    def asking(self, prompt: Any, max_out_len: int) -> dict[str, Any]:
        """Return the fields that hold a prompt and the greatest length of a response."""
        return {'prompt': prompt, LENGTH: max_out_len}

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
    """``LiteLLMAPI``, ``OpenAISDKResponse``, and what :func:`asks_otherwise`.

    Each request has a copy of the wrapper, with settings of its own.
    """

    concurrent = True

    def __post_init__(self) -> None:
        super().__post_init__()
        address = getattr(self.model, 'openai_api_base', None) or getattr(self.model, 'url', '')
        responses = type(self.model).__name__ == 'OpenAISDKResponse'
        self.left_out |= {*UNNAMED}  # they can't be taken back where a server refuses them
        self.tell()
        if responses:
            self.leave_out('stop', 'this API has no such field')
        if any(host in str(address) for host in OFFICIAL):
            seed = {'seed'} if responses else set()
            for name in sorted(not_taken(self.model.path) | seed):
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

    def set_parameters(self, model: Any, seed: int) -> None:
        """Set the protocol in a request's own copy of the wrapper."""
        sent = self.fields(seed)
        if self.sampling.mode != 'model':
            model.temperature = sent.pop('temperature', None)
        model.extra_body = {**self.keep(model.extra_body), **sent}
        if hasattr(model, 'openai_client'):
            model.openai_extra_kwargs = self.keep(model.openai_extra_kwargs)

    def _ask(self, entry: Any, seed: int, options: Options) -> Output:
        model = copy.copy(self.model)
        attempts = count()
        waiting = 'acquire' if hasattr(model, 'acquire') else 'wait'  # before each attempt

        def acquire() -> None:
            late = next(attempts) - max(1, model.retry)
            if late >= PATIENCE:
                raise RuntimeError(
                    f'no response in {PATIENCE} more attempts; the log has the errors'
                )
            sleep(min(2.0**late, LONGEST_PAUSE) if late >= 0 else 0)
            getattr(self.model, waiting)()

        setattr(model, waiting, acquire)
        self.set_parameters(model, seed)
        seen: list[Any] = []  # what the SDK returned or raised
        if hasattr(model, 'openai_client'):
            model.openai_client = _watched(model.openai_client, seen)
        lost, text = '', ''
        stop, tokens = None, None
        try:
            said = as_output(self.call(model, [entry], options, self.max_out_len)[0]).text
            stop, tokens = _end(seen[-1]) if seen else (None, None)
            text, lost = ('', HELD_BACK) if stop == REFUSED else (said, '')
        except Exception as error:  # a wrapper or its client may raise anything
            lost = reason_of(seen[-1] if seen and isinstance(seen[-1], Exception) else error)
        return Output(text, truncated_by(stop), tokens, lost)


def _watched(client: Any, seen: list[Any]) -> Any:
    """Return a client of OpenAI's SDK whose responses and errors are noted."""

    def noted(create: Callable[..., Any]) -> Callable[..., Any]:
        def call(**query: Any) -> Any:
            try:
                seen.append(create(**query))
            except Exception as error:
                seen.append(error)
                raise
            return seen[-1]

        return call

    completions = client.chat.completions
    return Tap(
        client,
        responses=Tap(client.responses, create=noted(client.responses.create)),
        chat=Tap(client.chat, completions=Tap(completions, create=noted(completions.create))),
    )


def _end(response: Any) -> tuple[Any, int | None]:
    """Return why a response of OpenAI's SDK ended, and its tokens; a stream doesn't tell."""
    usage = getattr(response, 'usage', None)
    if choices := getattr(response, 'choices', None):
        reason = choices[0].finish_reason
        return reason, getattr(usage, 'completion_tokens', None)
    if not hasattr(response, 'incomplete_details'):
        return None, None
    reason = getattr(response.incomplete_details, 'reason', None) or 'stop'
    return reason, getattr(usage, 'output_tokens', None)
