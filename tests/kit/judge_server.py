"""An OpenAI-compatible judge on this machine that can misbehave in most ways that servers do.

In a test: ``with JudgeServer(judge, latency=0.01) as server: … server.url …``. As a process of its
own: ``python tests/kit/judge_server.py --port 8000``; it prints its URL, and serves its counters at
``/count``. Nothing of this package is imported but the folder of its prompts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import json
import random
import re
import signal
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

PROMPTS = Path(__file__).parents[2] / 'opencompass_gpassk/judging/prompts'
FAULTS = (
    *('429', '500', '503', 'reset', 'hang', 'truncate', 'cut', 'empty', 'not json', 'no choices'),
    *('context', 'filter', 'refuse'),
)
ERRORS = {  # status, message, code
    '429': (429, 'slow down', 'rate_limit_exceeded'),
    '500': (500, 'internal error', None),
    '503': (503, 'the model is loading', None),
    'context': (400, 'The maximum context length is 10 tokens.', 'context_length_exceeded'),
    'filter': (400, 'The prompt was filtered.', 'content_filter'),
    'refuse': (400, 'temperature must be 1', 'invalid_value'),
    'forbidden': (403, 'Not in \x1b[31myour country', None),
    'key': (401, 'Incorrect API key provided: {key}', 'invalid_api_key'),
    'model': (404, 'The model `{model}` does not exist.', 'model_not_found'),
    'quota': (429, 'You have no credit left.', 'insufficient_quota'),
}


def rule_judge(prompt: str) -> str:
    """Judge a prompt of this package's own: yes if gold and candidate are the same text."""
    for pattern in _patterns():
        if found := pattern.fullmatch(prompt):
            same = _normal(found['gold']) == _normal(found['answer'])
            return f'They are {"the same" if same else "not the same"}. ' + (
                r'\boxed{yes}' if same else r'\boxed{no}'
            )
    return 'This is not a prompt that I know.'


@functools.cache
def _patterns() -> list[re.Pattern[str]]:
    patterns = []
    for path in sorted(PROMPTS.glob('*.txt')):
        text = re.escape(path.read_text('utf-8'))
        for name in ('question', 'gold', 'answer'):
            text = text.replace(re.escape('{' + name + '}'), f'(?P<{name}>.*)')
        patterns.append(re.compile(text, re.DOTALL))
    if not patterns:
        raise FileNotFoundError(f'{PROMPTS} holds no prompts; start the server in the repository')
    return patterns


def _normal(text: str) -> str:
    text = re.sub(r'\\(left|right|text|mathrm|displaystyle|[,;!: ])', '', text)
    return re.sub(r'[\s${}.]', '', text.replace('dfrac', 'frac').replace('tfrac', 'frac')).lower()


JUDGES: dict[str, Callable[[str], str]] = {
    'rules': rule_judge,
    'yes': lambda prompt: r'\boxed{yes}',
    'no': lambda prompt: r'\boxed{no}',
    'echo': lambda prompt: prompt,
}


class JudgeServer:
    """A judge at ``http://127.0.0.1:PORT/v1``, in a thread of its own.

    Args:
        judge: Returns the reply to a prompt.
        latency: Seconds that one request takes, or a function that returns them.
        at_once: Takes so many requests at once and lets the others wait.
        most: Answers 429 to a request while it works at so many.
        faults: Share of the requests that fail, by the kinds in ``FAULTS``; in the order of
            arrival, seeded.
        always: What every request comes to, a kind in ``FAULTS`` or ``ERRORS``.
        retry_after: What ``Retry-After`` says with 429 and 503.
        key: The only key that is taken; None takes any.
        longest: Prompts of more characters are refused as too long.
        dies_after: Is gone for good after so many requests.
        hang: Seconds that a request hangs.
        port: 0 for any.

    Attributes:
        models: What ``/v1/models`` lists.
        calls: Requests that arrived.
        judged: How often each prompt got its reply.
        bodies: The last thousand requests as they were read.
        headers: Of the last request.
        most_at_once: Requests that were being worked at, at most.
    """

    def __init__(
        self,
        judge: Callable[[str], str] = rule_judge,
        *,
        latency: float | Callable[[], float] = 0.0,
        at_once: int | None = None,
        most: int | None = None,
        faults: Mapping[str, float] | None = None,
        always: str | None = None,
        seed: int = 0,
        retry_after: str | None = None,
        key: str | None = None,
        longest: int | None = None,
        dies_after: int | None = None,
        hang: float = 60.0,
        respond: Callable[[dict[str, Any]], web.Response | None] | None = None,
        port: int = 0,
    ) -> None:
        if unknown := set(faults or {}).difference(FAULTS):
            raise ValueError(f'faults are {", ".join(FAULTS)}, not {unknown.pop()!r}')
        self.judge = judge
        self.latency = latency
        self.at_once = at_once
        self.most = most
        self.faults = dict(faults or {})
        self.always = always
        self.retry_after = retry_after
        self.key = key
        self.longest = longest
        self.dies_after = dies_after
        self.hang = hang
        self.respond = respond or (lambda body: None)
        self.models: list[dict[str, Any]] = [{'id': 'judge', 'object': 'model'}]
        self.calls = 0
        self.judged: Counter[str] = Counter()
        self.bodies: deque[dict[str, Any]] = deque(maxlen=1000)
        self.headers: dict[str, str] = {}
        self.most_at_once = 0
        self._random = random.Random(f'faults {seed}')
        self._working = 0
        self._dead = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port = self._call(self._serve(port))
        self.url = f'http://127.0.0.1:{self.port}/v1'

    def __enter__(self) -> JudgeServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop, without waiting for requests that hang."""
        # What was accepted a moment ago becomes a connection a moment later, and closes after that.
        for step in (self._die(), asyncio.sleep(0.01), self._die(), self._runner.cleanup()):
            self._call(step)
        self._call(asyncio.sleep(0.01))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def counts(self) -> dict[str, Any]:
        """Return the counters, as ``/count`` does."""
        return {
            'calls': self.calls,
            'judged': sum(self.judged.values()),
            'prompts': len(self.judged),
            'most_at_once': self.most_at_once,
            'cpu_seconds': time.process_time(),
        }

    def _call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _serve(self, port: int) -> int:
        self._slots = asyncio.Semaphore(self.at_once or 1_000_000)
        app = web.Application(client_max_size=2**26)
        app.router.add_post('/v1/chat/completions', self._complete)
        app.router.add_get('/v1/models', self._models)
        app.router.add_get('/count', self._count)
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0.0, handler_cancellation=True
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, '127.0.0.1', port, backlog=1024)
        await site.start()
        server: Any = site._server
        return int(server.sockets[0].getsockname()[1])

    async def _die(self) -> None:
        self._dead = True
        for site in list(self._runner.sites):
            await site.stop()
        server: Any = self._runner.server
        for connection in list(server.connections if server else []):
            if connection.transport:
                connection.transport.abort()

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({'object': 'list', 'data': self.models})

    async def _count(self, request: web.Request) -> web.Response:
        return web.json_response(self.counts())

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self.calls += 1
        if self.dies_after is not None and self.calls > self.dies_after:
            await self._die()
        body = json.loads(await request.read())
        self.bodies.append(body)
        self.headers = dict(request.headers)
        self._working += 1
        self.most_at_once = max(self.most_at_once, self._working)
        try:
            return await self._outcome(request, body)
        finally:
            self._working -= 1

    async def _outcome(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        special = self.respond(body)
        if special is not None:  # a response is a mapping, and empty
            return special
        fault = self._fault(request, body)
        if fault == 'reset':
            return _reset(request)
        if fault == 'hang':
            await asyncio.sleep(self.hang)
        if fault in ERRORS:
            return self._error(fault, request, body)
        async with self._slots:
            await asyncio.sleep(self.latency() if callable(self.latency) else self.latency)
            return await self._reply(request, body, fault)

    def _fault(self, request: web.Request, body: dict[str, Any]) -> str:
        prompt = body['messages'][-1]['content']
        if self.always:
            return self.always
        if self.key and request.headers.get('Authorization') != f'Bearer {self.key}':
            return 'key'
        if self.longest is not None and len(prompt) > self.longest:
            return 'context'
        if self.most is not None and self._working > self.most:
            return '429'
        drawn = self._random.random()
        for kind, share in self.faults.items():
            drawn -= share
            if drawn < 0:
                return kind
        return ''

    def _error(self, kind: str, request: web.Request, body: dict[str, Any]) -> web.Response:
        status, message, code = ERRORS[kind]
        words = message.format(
            key=request.headers.get('Authorization', '').removeprefix('Bearer '),
            model=body.get('model'),
        )
        asked = self.retry_after if kind in ('429', '503') else None
        return web.json_response(
            {'error': {'message': words, 'type': 'error', 'param': None, 'code': code}},
            status=status,
            headers={'Retry-After': asked} if asked else {},
        )

    async def _reply(
        self, request: web.Request, body: dict[str, Any], fault: str
    ) -> web.StreamResponse:
        if fault == 'empty':
            return web.Response()
        if fault == 'not json':
            return web.Response(text='<html>Bad gateway</html>', content_type='text/html')
        prompt = body['messages'][-1]['content']
        completion = reply_body(self.judge(prompt), prompt)
        if fault == 'no choices':
            completion['choices'] = []
        text = json.dumps(completion).encode()
        if fault == 'cut':
            return _cut(request, text)
        if fault == 'truncate':
            return await _truncated(request, text)
        if self._dead or request.transport is None:  # nobody would get the reply
            return _reset(request)
        self.judged[prompt] += 1
        return web.Response(body=text, content_type='application/json')


def reply_body(text: str | None, prompt: str = '', finish: str = 'stop', **message: Any) -> Any:
    """Return a chat completion as a server writes it; a token is a word."""
    words = len(prompt.split()), len((text or '').split())
    return {
        'id': 'c',
        'object': 'chat.completion',
        'created': 0,
        'model': 'judge',
        'choices': [
            {
                'index': 0,
                'finish_reason': finish,
                'message': {'role': 'assistant', 'content': text, **message},
            }
        ],
        'usage': {
            'prompt_tokens': words[0],
            'completion_tokens': words[1],
            'total_tokens': sum(words),
        },
    }


def _reset(request: web.Request) -> web.Response:
    transport = request.transport
    if transport:
        # Without lingering the kernel sends a reset, where abort alone says goodbye.
        connection = transport.get_extra_info('socket')
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        transport.abort()
    return web.Response()


async def _truncated(request: web.Request, text: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={'Content-Type': 'application/json'})
    response.content_length = len(text)
    with contextlib.suppress(ConnectionError):  # the client may be gone
        await response.prepare(request)
        await response.write(text[: len(text) // 2])
    if request.transport:
        request.transport.close()
    return response


def _cut(request: web.Request, text: bytes) -> web.Response:
    """Send half a body whose end is the connection's, so that nothing shows that it is half."""
    if request.transport:
        head = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n'
        request.transport.write(head + text[: len(text) // 2])
        request.transport.close()
    return web.Response()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--verdict', choices=JUDGES, default='rules')
    parser.add_argument('--latency', type=float, default=0.0, help='seconds of one request')
    parser.add_argument('--at-once', type=int, help='requests it works at; others wait')
    parser.add_argument('--most', type=int, help='requests at once, above which it answers 429')
    parser.add_argument(
        '--fault', action='append', default=[], metavar='KIND=SHARE', help=', '.join(FAULTS)
    )
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--retry-after', help='what Retry-After says')
    parser.add_argument('--key', help='the only key that is taken')
    parser.add_argument('--longest', type=int, help='characters of a prompt')
    parser.add_argument('--dies-after', type=int, metavar='REQUESTS')
    parser.add_argument('--hang', type=float, default=60.0, help='seconds')
    options = vars(parser.parse_args())
    if options['verdict'] == 'rules':
        _patterns()  # an error now, not with the first prompt
    faults = dict(pair.rsplit('=', 1) for pair in options.pop('fault'))
    server = JudgeServer(
        JUDGES[options.pop('verdict')],
        faults={kind: float(share) for kind, share in faults.items()},
        **options,
    )
    print(server.url, flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        while True:
            time.sleep(3600)
    server.close()


if __name__ == '__main__':
    main()
