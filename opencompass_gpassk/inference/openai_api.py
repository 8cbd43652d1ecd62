"""OpenCompass's wrappers of OpenAI-compatible APIs, and LiteLLM's."""

from __future__ import annotations

import ast
import copy
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import Any

from opencompass_gpassk.inference.backend import (
    Backend,
    Options,
    Output,
    Tap,
    as_output,
    truncated_by,
)
from opencompass_gpassk.inference.request_loop import reason_of
from opencompass_gpassk.inference.requests import Request
from opencompass_gpassk.inference.sampling import Sampling

__all__ = ['APIBackend', 'LiteLLMBackend', 'OpenAIBackend', 'RequestLog', 'refuses']

REFUSAL = (
    r'(?:un(?:recogni[sz]ed|supported|known|expected)|invalid|extra|cannot be|'
    r'(?:does|is|are) not (?:support|permit|allow|valid)|not (?:support|permitt|allow)ed)'
)
FINAL_STATUS = re.compile(r'\b4(?!08|09|25|29)\d\d\b')  # an error that retrying can't fix
PATIENCE = 8  # further attempts while a server is busy
LONGEST_PAUSE = 30.0  # seconds


class APIBackend(Backend):
    """Wrappers of APIs: each request is sent alone, with its own seed.

    A parameter that the API refuses is left out from then on, with a note.
    """

    concurrent = True
    recovers = True

    def __init__(
        self, model: Any, sampling: Sampling, max_out_len: int, note: Callable[[str], None]
    ) -> None:
        super().__init__(model, sampling, max_out_len, note)
        self.left_out: set[str] = set()
        self._lock = Lock()

    def prepare(self, seed: int, log: RequestLog) -> Any:
        """Return a wrapper that sends one request under the protocol; ``log`` records its end."""
        raise NotImplementedError

    def off(self) -> int:
        """Return the top_k that keeps all tokens."""
        return -1

    def wanted(self, seed: int) -> dict[str, Any]:
        """Return the parameters to send: all of them, since servers have defaults of their own."""
        if self.sampling.mode == 'greedy':
            sent: dict[str, Any] = {**self.sampling.parameters, 'temperature': 0.0, 'top_k': 1}
        elif self.sampling.mode == 'sampled':
            chosen = self.sampling.parameters
            sent = {**chosen, 'top_k': chosen['top_k'] or self.off(), 'seed': seed}
        else:
            sent = {'seed': seed}
        return {name: value for name, value in sent.items() if name not in self.left_out}

    def leave_out(self, name: str, reason: str) -> None:
        """Stop sending a parameter, and tell the user."""
        with self._lock:
            if name in self.left_out or name not in self.wanted(0):
                return
            self.left_out.add(name)
            who = f'{type(self.model).__name__} {getattr(self.model, "path", "")}'.strip()
            effect = ''
            if name == 'seed':
                effect = ': a repeated run will draw other samples'
            elif name == 'temperature' and self.sampling.mode == 'greedy':
                effect = ': this model can NOT be decoded greedily'
                self.applied = {'model': True}
            elif self.sampling.mode == 'sampled':
                effect = ': responses are drawn with the value of the API instead'
                self.applied = {key: v for key, v in self.applied.items() if key != name}
            self.note(f'{who}: the API does not take {name} ({reason}); it is left out{effect}')

    def workers(self, batch_size: int) -> int:
        """Return how many requests may run at once."""
        return min(batch_size, getattr(self.model, 'max_workers', None) or batch_size)

    def stream(
        self, requests: Iterable[Request], options: Options, workers: int
    ) -> Generator[list[tuple[Request, Output]], None, None]:
        """Draw requests concurrently; yield each when it is finished."""
        left = iter(requests)
        running: dict[Future[Output], Request] = {}
        with ThreadPoolExecutor(max_workers=workers) as pool:
            while True:
                for request in islice(left, workers - len(running)):
                    running[pool.submit(self._request, request, options)] = request
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                yield [(running.pop(future), future.result()) for future in done]

    def generate(
        self, entries: Sequence[Any], seeds: Sequence[int], options: Options
    ) -> list[Output]:
        """Draw one response to each entry, one after another."""
        return [self._ask(entry, seed, options) for entry, seed in zip(entries, seeds, strict=True)]

    def _request(self, request: Request, options: Options) -> Output:
        try:
            return self._ask(request.entry, request.seed, options)
        except Exception as error:  # a wrapper that can't be set up loses only its request
            return Output('', lost=reason_of(error))

    def _ask(self, entry: Any, seed: int, options: Options) -> Output:
        while True:
            log = RequestLog(self.model)
            sent = self.wanted(seed)
            model = self.prepare(seed, log)
            log.listen(model)
            try:
                output = as_output(self.call(model, [entry], options, self.max_out_len)[0])
            except Exception as error:  # a wrapper or its client may raise anything
                refused = [name for name in sent if refuses(log.last or str(error), name)]
                if refused:
                    for name in refused:
                        self.leave_out(name, (log.last or str(error))[:200])
                    continue
                if truncated_by(log.finish_reason):
                    # All tokens were spent on thoughts that the API does not return.
                    return Output('', True, log.num_tokens)
                return Output('', lost=log.reason or reason_of(error))
            if not output.text and log.reason and log.finish_reason is None:
                return Output('', lost=log.reason)
            if log.finish_reason is None:
                return output
            return replace(
                output, truncated=truncated_by(log.finish_reason), num_tokens=log.num_tokens
            )


class RequestLog:
    """The log of one request: the wrapper's error messages, and how the response ended.

    The wrappers log why a request failed but don't raise it; some retry for ever.

    Attributes:
        last: The last error message, '' if there was none.
        finish_reason: The API's finish reason.
        num_tokens: Number of tokens in the response.
    """

    def __init__(self, model: Any) -> None:
        self.last = ''
        self.finish_reason: str | None = None
        self.num_tokens: int | None = None
        self._retries = max(1, getattr(model, 'retry', 1) or 1)
        self._attempts = 0

    @property
    def reason(self) -> str:
        """The last error message in one short line."""
        return ' '.join(self.last.split())[:500]

    def listen(self, model: Any) -> None:
        """Watch a wrapper that sends one request."""
        if hasattr(model, 'logger'):
            model.logger = _Logger(model.logger, self)
        if hasattr(model, 'acquire'):
            acquire = model.acquire

            def counted() -> Any:
                self._attempt()
                return acquire()

            model.acquire = counted

    def read(self, response: str) -> None:
        """Read how a response ended from the plain HTTP wrapper's log of it."""
        with suppress(ValueError, SyntaxError, LookupError, TypeError, AttributeError):
            answer = ast.literal_eval(response)
            self.finish_reason = answer['choices'][0].get('finish_reason')
            self.num_tokens = (answer.get('usage') or {}).get('completion_tokens')

    def _attempt(self) -> None:
        self._attempts += 1
        late = self._attempts - self._retries
        if late <= 0:
            return
        if late > PATIENCE or FINAL_STATUS.search(self.last[:200]):
            raise RuntimeError(self.last or f'no answer in {self._attempts - 1} attempts')
        time.sleep(min(2.0**late, LONGEST_PAUSE))


class _Logger:
    """A logger that passes messages on and remembers errors."""

    def __init__(self, logger: Any, log: RequestLog) -> None:
        self._logger = logger
        self._log = log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._logger, name)

    def error(self, message: Any, *args: Any, **kwargs: Any) -> None:
        text = _text(message, args)
        # The SDK wrappers first log where the error is, then the reason.
        if not text.startswith('error occurs at'):
            self._log.last = text
        self._logger.error(text)

    def debug(self, message: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(message, str) and message.startswith('{') and "'choices'" in message:
            self._log.read(message)
        self._logger.debug(message, *args, **kwargs)

    def warning(self, message: Any, *args: Any, **kwargs: Any) -> None:
        text = _text(message, args)
        if text.startswith('Invalid prompt'):
            self._log.last = text
        self._logger.warning(text)


def _text(message: Any, args: tuple[Any, ...]) -> str:
    try:
        return str(message) % args if args else str(message)
    except (TypeError, ValueError):  # a bug in the wrapper
        return ' '.join([str(message), *map(str, args)])


def refuses(message: str, name: str) -> bool:
    """Tell whether an error message refuses a parameter, close to the parameter's name."""
    word = rf'(?<![A-Za-z_]){name}(?![A-Za-z_])'
    near = rf'{REFUSAL}[^.]{{0,80}}{word}|{word}[^.]{{0,80}}{REFUSAL}'
    return re.search(near, message, re.IGNORECASE) is not None


OFFICIAL = ('api.openai.com', 'openai.azure.com')
REASONING = ('o1', 'o3', 'o4', 'gpt-5')
NAMED = ('temperature', 'top_p', 'seed')  # arguments of the SDK; the others go into extra_body


class OpenAIBackend(APIBackend):
    """``OpenAI`` (plain HTTP), ``OpenAISDK`` and classes derived from them.

    OpenAI's own endpoints don't take top_k and repetition_penalty, and their reasoning models take
    no sampling parameter at all. Servers such as vLLM's, SGLang's and LMDeploy's take all.
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
        model = copy.copy(self.model)  # settings of its own
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
        """Keep using keys and organisations in turn, although each request has its own copy."""
        self._requests += 1
        for items, counter in (('keys', 'key_ctr'), ('orgs', 'org_ctr')):
            if getattr(model, items, None) and hasattr(model, counter):
                setattr(model, counter, self._requests % len(getattr(model, items)))


class LiteLLMBackend(APIBackend):
    """``LiteLLMAPI``, which itself leaves out parameters that a provider does not know."""

    def prepare(self, seed: int, log: RequestLog) -> Any:
        """Return a wrapper that sends one request under the protocol."""
        model = copy.copy(self.model)  # settings of its own
        sent = self.wanted(seed)
        if self.sampling.mode != 'model':
            model.temperature = sent.pop('temperature', None)
        model.extra_body = {**self.keep(model.extra_body), **sent}
        return model


def _watched_client(client: Any, log: RequestLog) -> Any:
    """Return the SDK's client with its two calls watched, to log how a response ended."""
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
