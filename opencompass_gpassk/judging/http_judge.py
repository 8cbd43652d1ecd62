"""A judge behind one or many OpenAI-compatible endpoints."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import aiohttp

from opencompass_gpassk.inference.chat_completions import (
    Redactor,
    Reply,
    read_completion,
    request_fields,
    well_formed,
)
from opencompass_gpassk.inference.endpoints import Endpoint, read_addresses
from opencompass_gpassk.inference.http_faults import Fault, Remedy, exception_fault
from opencompass_gpassk.judging.dispatch import PROBE, Asking, Limits
from opencompass_gpassk.judging.judge import Ledger, Receive

__all__ = ['HttpJudge']

CONNECT_TIMEOUT = 15.0  # seconds
LONGEST_RESPONSE = 16 * 2**20  # bytes


class HttpJudge:
    """A judge asked over HTTP, many prompts at once; see :class:`Endpoint` for how many.

    Args:
        model: The model's name at the endpoints.
        api_base: URLs of one or many endpoints that serve the model, with or without
            ``/chat/completions``. A request goes to the endpoint with the most room.
        key: Sent as bearer token; None for servers that need none. It is blanked out in all
            responses.
        key_env: Name of the environment variable that holds the key, for messages.
        temperature: Sampling temperature.
        max_tokens: Length limit of a reply in tokens, thoughts included.
        extra_body: Further request fields, which replace those above; a value of None removes one.
        max_concurrency: Greatest number of concurrent requests to one endpoint.
        timeout: Seconds for one request.
        deadline: Seconds for all requests of one :meth:`ask`, None for no limit.
        retries: How often a failed request is tried again. Tries at an endpoint that is down
            don't count.
        give_up_after: Seconds without a reply from any endpoint, after which asking ends.

    Raises:
        ValueError: If a URL, the key or an extra field can't be used.
    """

    def __init__(
        self,
        model: str,
        api_base: str | Iterable[str],
        *,
        key: str | None,
        key_env: str = 'OC_JUDGE_API_KEY',
        temperature: float = 0.0,
        max_tokens: int = 8192,
        extra_body: Mapping[str, Any] | None = None,
        max_concurrency: int = 256,
        timeout: float = 600.0,
        deadline: float | None = None,
        retries: int = 12,
        give_up_after: float = 300.0,
    ) -> None:
        if max_concurrency < 1:
            raise ValueError(f'max_concurrency of judge is {max_concurrency}; give 1 or more')
        if key and not (key.isascii() and key.isprintable() and ' ' not in key):
            raise ValueError(
                f'the key in {key_env} holds spaces or characters that no key has; set it again'
            )
        self.max_concurrency = max_concurrency
        self.timeout = timeout
        self._model = model
        self._addresses = read_addresses(api_base)
        self._key = key or None
        self._key_env = key_env
        self._redact = Redactor(key)
        if self._redact.finds_key(extra_body or {}):
            raise ValueError(
                f'extra_body of judge holds the key in {key_env}, but settings are stored; leave '
                'the key out: it is sent as bearer token'
            )
        self._settings = {
            'temperature': temperature,
            'max_tokens': max_tokens,
            'extra_body': dict(extra_body or {}),
        }
        self._fields = request_fields(model, temperature, max_tokens, extra_body or {})
        self._limits = Limits(retries, give_up_after, deadline, max_tokens)

    def __repr__(self) -> str:
        names = ', '.join(address.name for address in self._addresses)
        return f'HttpJudge({self._model!r} at {names})'

    @property
    def model(self) -> str:
        """The model's name, under which verdicts are stored."""
        return self._model

    @property
    def settings(self) -> Mapping[str, Any]:
        """Decoding settings that the replies depend on."""
        return self._settings

    def ask(
        self,
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        """Ask prompts, and hand over each reply when it arrives: see :class:`Judge`.

        Temporary failures are tried again; a prompt that never succeeds is handed over as a
        failure. The first refusals are held back until a reply shows that the settings are right.

        Raises:
            JudgeError: If the key is refused or the quota used up; or if no endpoint ever replied
                and all of them don't know the model, redirect, or refuse even a harmless prompt.
                Replies in flight are handed over before, if they arrive within seconds.
        """
        work = self._ask(jobs, receive, ledger)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(work)
        else:
            _run_in_thread(work)

    async def _ask(
        self,
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        endpoints = [Endpoint(address, self.max_concurrency) for address in self._addresses]
        headers = {'Content-Type': 'application/json'}
        if self._key:
            headers['Authorization'] = f'Bearer {self._key}'
        async with aiohttp.ClientSession(
            headers=headers,
            connector=aiohttp.TCPConnector(limit=0),  # the endpoints have limits of their own
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=self.timeout, sock_connect=min(CONNECT_TIMEOUT, self.timeout)
            ),
        ) as session:

            async def send(endpoint: Endpoint, prompt: str) -> tuple[Reply | Fault, int, int]:
                return await self._send(session, endpoint, prompt)

            asking = Asking(endpoints, send, self._limits, self._explain, jobs, receive, ledger)
            await asking.run()

    async def _send(
        self, session: aiohttp.ClientSession, endpoint: Endpoint, prompt: str
    ) -> tuple[Reply | Fault, int, int]:
        messages = [{'role': 'user', 'content': well_formed(prompt)}]
        try:
            async with session.post(
                endpoint.address.url,
                data=json.dumps({**self._fields, 'messages': messages}).encode(),
                proxy=endpoint.address.proxy,
                allow_redirects=False,  # the key is for this host alone
            ) as response:
                raw = await _read(response)
                if raw is None:
                    size = f'more than {LONGEST_RESPONSE} bytes'
                    return Fault('bad reply', Remedy.RETRY, size), 0, 0
                status, answered = response.status, response.headers
        except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
            return self._without_key(exception_fault(error)), 0, 0
        outcome, *tokens = read_completion(status, answered, raw)
        return self._without_key(outcome), tokens[0], tokens[1]

    def _without_key(self, outcome: Reply | Fault) -> Reply | Fault:
        if isinstance(outcome, Reply):
            return replace(outcome, text=self._redact(outcome.text))
        return replace(outcome, detail=self._redact.excerpt(outcome.detail))

    def _explain(self, endpoint: Endpoint, fault: Fault) -> str:
        """Return the message and remedy for a fault that stops everything."""
        name = f'the judge at {endpoint.address.name}'
        if fault.kind == 'key refused' and self._key is None:
            return f'{name} asks for a key; put it into the environment variable {self._key_env}'
        if fault.kind == 'key refused':
            return (
                f'{name} refuses the key in the environment variable {self._key_env} '
                f'({fault.detail[:3]}); set it to one that is valid there'
            )
        if fault.forbids:
            return (
                f'{name} forbids every request; see whether the key in the environment variable '
                f'{self._key_env} may be used for the model {self._model!r}. It says: '
                f'{fault.detail}'
            )
        if fault.kind == 'unknown model':
            return (
                f'{name} knows no model {self._model!r}, or not this path; set model and api_base '
                f'(which often ends with /v1) of judge. It says: {fault.detail}'
            )
        if fault.kind == 'no quota':
            return f'{name} says that the quota is used up: {fault.detail}'
        if fault.kind == 'redirect':
            return (
                f'{name} redirects to {fault.detail}, where the key is not sent; set api_base of '
                'judge to the URL that serves the model'
            )
        remedy = (
            'lower max_tokens of judge or serve the model with a longer context: prompts of fewer '
            f'characters than max_tokens, {self._limits.roomy}, found no room'
            if fault.kind == 'too long'
            else 'check max_tokens, temperature and extra_body of judge'
        )
        return (
            f'{name} refuses its first prompts, and {PROBE!r} too; {remedy}. It says: '
            f'{fault.detail}'
        )


async def _read(response: aiohttp.ClientResponse) -> bytes | None:
    """Return the body; None if it is too long."""
    parts = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LONGEST_RESPONSE:
            response.close()
            return None
        parts.append(part)
    return b''.join(parts)


def _run_in_thread(work: Coroutine[Any, Any, None]) -> None:
    """Run in an event loop of another thread, since this thread already runs one."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name='judge')
    thread.start()
    running = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        running.result()
    finally:
        if not running.done():  # interrupted while waiting
            running.cancel()
        asyncio.run_coroutine_threadsafe(_settle(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _settle() -> None:
    """Wait for tasks that are being cancelled."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*others, return_exceptions=True)
