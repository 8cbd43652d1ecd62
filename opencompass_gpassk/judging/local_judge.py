"""A judge that runs in this process: any model that OpenCompass has a wrapper for."""

from __future__ import annotations

import copy
import os
import re
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Any, ClassVar

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.backend import Backend, Output, Tap, UnknownBackend
from opencompass_gpassk.inference.client import FILTERED, TOO_LONG, Counts, Failure, Receive, Reply
from opencompass_gpassk.inference.request_loop import FailureWatch, draw, reason_of
from opencompass_gpassk.inference.requests import Request
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.settings import SECRETS, check_model_gpus, config_hash, judge_name

__all__ = ['OUT_OF_MEMORY', 'PATIENCE', 'Job', 'LocalJobs', 'LocalJudge']

Job = tuple[Hashable, str]

PATIENCE = 10
PROBE = 'What is 1 + 1?'
PROBE_TOKENS = 4
OUT_OF_MEMORY = re.compile(r'OutOfMemory|out of memory', re.IGNORECASE)
BAD_REQUEST = re.compile(r'\b(?:code|status|HTTP)\W{0,3}4(?:00|22)\b', re.IGNORECASE)
NO_ENTRY = re.compile(
    r'\b(?:code|status|HTTP)\W{0,3}40[13]\b|(?:invalid|incorrect) api[_ ]key|unauthorized',
    re.IGNORECASE,
)


class LocalJobs:
    """The jobs of one call of :meth:`LocalJudge.ask`: makes requests of them, returns outcomes.

    Args:
        name: The judge's name.
        backend: The judge's model.
        shown: Removes keys from a reason before it is shown.
        source: Jobs not begun yet.
        again: Jobs to ask again, which come first.
        receive: Takes outcomes.
        ledger: Counts them.
        patience: After this many consecutive failures, asking ends.
    """

    def __init__(
        self,
        name: str,
        backend: Backend,
        shown: Callable[[str], str],
        source: Iterator[Job],
        again: deque[Job],
        receive: Receive,
        ledger: Counts,
        patience: int,
    ) -> None:
        self.name = name
        self.backend = backend
        self.shown = shown
        self.source = source
        self.again = again
        self.receive = receive
        self.ledger = ledger
        self._begun: dict[int, tuple[Job, int]] = {}  # with the prompt's tokens, 0 if unknown
        self._count = 0
        self._repeated: set[Hashable] = set()
        self._watch = FailureWatch(patience)

    def requests(self) -> Iterator[Request]:
        """Yield the requests to the model; jobs are taken one by one as requests are needed."""
        while True:
            job = self.again.popleft() if self.again else next(self.source, None)
            if job is None:
                return
            entry = entry_of(job[1])
            tokens = self._tokens(entry)
            if tokens and tokens >= self._longest:
                reason = (
                    f'the prompt has {tokens} tokens, max_seq_len of the model is {self._longest}'
                )
                self._hand_over(job, Failure('too long', True, reason))
                continue
            self._count += 1
            self._begun[self._count] = job, tokens
            yield Request(self._count, str(self._count), 0, entry, job[1], None, 0, '')

    def finish(self, request: Request, output: Output) -> None:
        """Hand over the outcome of a request.

        Raises:
            JudgeError: If the outcome shows that no prompt can succeed.
        """
        job, tokens = self._begun.pop(request.index)
        self.ledger.calls += 1
        self.ledger.retries += job[0] in self._repeated
        if output.lost:
            failure = self._failure(output.lost)
            self.ledger.failures[failure.kind] += 1
            self._hand_over(job, failure)
            if not failure.permanent:
                self._watch.saw([output])
            if self._watch.stopped:
                raise JudgeError(
                    f'judge: {self.name} failed {self._watch.failed} times one after '
                    f'another, the last time with: {failure.detail}'
                )
            return
        self._watch.saw([output])
        replied = output.num_tokens or 0
        self.ledger.prompt_tokens += tokens
        self.ledger.completion_tokens += replied
        self._hand_over(job, Reply(output.text, bool(output.truncated), tokens, replied))

    def _hand_over(self, job: Job, outcome: Reply | Failure) -> None:
        if self.receive(job[0], outcome):
            self._repeated.add(job[0])
            self.again.append(job)

    def _failure(self, reason: str) -> Failure:
        detail = self.shown(reason)
        if OUT_OF_MEMORY.search(reason):
            return Failure('overloaded', False, detail)
        if TOO_LONG.search(reason):
            return Failure('too long', True, detail)
        if FILTERED.search(reason):
            return Failure('filtered', True, detail)
        if self._remote and NO_ENTRY.search(reason):
            raise JudgeError(f'judge: {self.name} denies access: {detail}')
        if not self._remote or BAD_REQUEST.search(reason):
            self._probe(detail)
            return Failure('refused', True, detail)
        return Failure('unreachable', False, detail)

    def _probe(self, detail: str) -> None:
        """Ask a harmless prompt; raise a JudgeError if the model fails on that one too."""
        probe = copy.copy(self.backend)
        probe.max_out_len = PROBE_TOKENS
        try:
            (said,) = probe.generate([entry_of(PROBE)], [0], {})
            failed = bool(said.lost)
        except Exception:  # a wrapper or its engine may raise anything
            failed = True
        if failed:
            raise JudgeError(f'judge: {self.name} fails on every prompt: {detail}')

    @property
    def _remote(self) -> bool:
        return self.backend.concurrent or getattr(self.backend.model, 'is_api', False)

    @property
    def _longest(self) -> int:
        """Greatest number of tokens of prompt and reply together."""
        model = self.backend.model
        own = getattr(getattr(model, 'model', None), 'config', None)
        limits = [getattr(model, 'max_seq_len', None)]
        if not getattr(own, 'rope_scaling', None):
            limits.append(getattr(own, 'max_position_embeddings', None))
        return min((n for n in limits if isinstance(n, int) and n > 0), default=1 << 62)

    def _tokens(self, entry: Any) -> int:
        """Return a prompt's length in tokens; 0 if the wrapper can't tell or its server checks it.

        It has to be checked because wrappers truncate a prompt that is too long.
        """
        if self._remote:
            return 0
        try:
            return int(self.backend.model.get_token_len_from_template(entry, mode='gen'))
        except Exception:  # a tokenizer, or a wrapper without one, may raise anything
            return 0


def entry_of(prompt: str) -> Any:
    """Return a prompt in the form that OpenCompass's templates produce, its text unchanged."""
    from opencompass.utils.prompt import PromptList

    return PromptList(
        [
            {'section': 'round', 'pos': 'begin'},
            {'role': 'HUMAN', 'prompt': prompt},
            {'section': 'round', 'pos': 'end'},
        ]
    )


BATCH_SIZE = 8  # the default for configs without one, as in OpenCompass's evaluators
SPEED = {'batch_size', 'max_out_len', 'max_workers'}  # fields that don't identify the model


class LocalJudge:
    """A Judge that is an OpenCompass model, built when it is first asked and decoded greedily.

    Args:
        config: The model's config: ``type``, ``path`` and the other arguments of its wrapper.
        max_tokens: Length limit of a reply; the config's ``max_out_len`` may set a lower one.
        batch_size: Prompts per batch, or concurrent requests; by default the config's.
        warn: Takes messages for the user; by default OpenCompass's logger.

    Raises:
        ValueError: If the config names no type.
    """

    # A process that judges several data sets with one model loads it once.
    _loaded: ClassVar[tuple[str, Backend] | None] = None

    def __init__(
        self,
        config: Mapping[str, Any],
        *,
        max_tokens: int = 8192,
        batch_size: int | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        if not config.get('type'):
            raise ValueError(
                'model of judge is a config without type; give the config of an OpenCompass '
                "model, as in models=[…], or the name of a served model: model='…'"
            )
        self.config = dict(config)
        self.max_tokens = min(max_tokens, config.get('max_out_len') or max_tokens)
        self.batch_size = int(batch_size or config.get('batch_size') or BATCH_SIZE)
        self.warn = warn or _log
        self._backend: Backend | None = None

    @property
    def model(self) -> str:
        """The model's abbreviation, or the end of its path."""
        path = '/'.join(str(self.config.get('path', '')).rstrip('/').split('/')[-2:])
        return str(self.config.get('abbr') or path or judge_name(self.config))

    @property
    def settings(self) -> dict[str, Any]:
        """What the replies depend on: the length limit, and a hash of the config."""
        kept = {name: value for name, value in self.config.items() if name not in SPEED}
        return {'decoding': 'greedy', 'max_tokens': self.max_tokens, 'config': config_hash(kept)}

    def ask(
        self,
        jobs: Iterable[Job],
        receive: Receive,
        ledger: Counts,
    ) -> None:
        """Ask prompts batch by batch, and hand over the replies of each batch when it is done.

        A failed batch is asked again in halves, until each prompt at fault is alone. A prompt that
        fails alone is refused for good if the model still replies to a harmless one.

        Raises:
            JudgeError: If the model can't be built, finds no GPU, or fails on every prompt.
        """
        source = iter(jobs)
        again: deque[Job] = deque(islice(source, 1))
        if not again:  # all is settled, so don't load the model
            return
        backend = self._built()
        # Concurrent requests fail together.
        together = backend.workers(self.batch_size) if backend.concurrent else 1
        asking = LocalJobs(
            self.model,
            backend,
            self.shown,
            source,
            again,
            receive,
            ledger,
            patience=PATIENCE + together,
        )
        import torch

        try:
            with torch.no_grad():
                while asking.again:
                    with closing(self._draws(backend, asking.requests())) as draws:
                        for request, output in draws:
                            asking.finish(request, output)
        except BaseException:
            self._backend = LocalJudge._loaded = None  # the model may be dead: don't use it again
            raise

    def stop(self) -> None:
        """Asking ends when its receiver raises an error, after the current batch."""

    def _draws(
        self, backend: Backend, requests: Iterator[Request]
    ) -> Generator[tuple[Request, Output], None, None]:
        if backend.concurrent:
            workers = backend.workers(self.batch_size)
            with closing(backend.stream(requests, {}, workers)) as stream:
                for finished in stream:
                    yield from finished
            return
        recovering: Any = Tap(backend, recover=self._recover)
        while batch := list(islice(requests, self.batch_size)):
            for finished in draw(recovering, batch, {}):
                yield from finished

    def _recover(self, size: int, reason: str) -> None:
        """Free memory after a failed call; halve the batch size if memory ran out."""
        if self._backend:
            self._backend.recover(size, reason)
        if OUT_OF_MEMORY.search(reason):
            self.batch_size = max(1, min(self.batch_size, size // 2))

    def _built(self) -> Backend:
        if LocalJudge._loaded and LocalJudge._loaded[0] == self._identity():
            self._backend = LocalJudge._loaded[1]
        if self._backend is None:
            LocalJudge._loaded = None  # make room for another model
            from opencompass.utils import build_model_from_cfg

            from opencompass_gpassk.inference.choose_backend import backend_of

            try:
                check_model_gpus(self.config)
            except ValueError as error:
                raise JudgeError(str(error)) from None
            try:
                model = build_model_from_cfg(self.config)
            except Exception as error:  # missing engines, weights and memory fail in many ways
                raise JudgeError(
                    f'judge: the model {self.model} can not be built: {self.shown(error)}'
                ) from error
            notes: list[str] = []
            built = backend_of(model, Sampling('greedy'), self.max_tokens, notes.append)
            if isinstance(built, UnknownBackend):
                name = judge_name(self.config)
                notes = [f'judge: {name} decodes as its config says; set temperature 0 there']
            for note in notes:
                self.warn(note)
            built.note = self.warn
            self._backend = built
            LocalJudge._loaded = self._identity(), built
        return self._backend

    def _identity(self) -> str:
        """Return a key that differs between models that would be built differently."""
        return stable_hash([self.config, self.max_tokens])

    def shown(self, reason: str | BaseException) -> str:
        """Return the reason of a failure, without the API keys of the config."""
        text = reason if isinstance(reason, str) else reason_of(reason)
        # If a config names no key, OpenCompass's wrappers take the keys in this variable.
        secrets = os.environ.get('OPENAI_API_KEY', '').split(',')
        for name in SECRETS & self.config.keys():
            value = self.config[name]
            secrets += [value] if isinstance(value, str) else list(value or [])
        for secret in secrets:
            if isinstance(secret, str) and len(secret.strip()) >= 6:  # not 'ENV' or 'EMPTY'
                text = text.replace(secret.strip(), '[key]')
        return text[:300]


def _log(message: str) -> None:
    from opencompass.utils import get_logger

    get_logger().warning(message)
