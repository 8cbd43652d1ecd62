"""A judge that runs in this process: any model that OpenCompass has a wrapper for."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Any, ClassVar

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.inference.backend import Backend, Output, Tap, UnknownBackend
from opencompass_gpassk.inference.drawing import draw, reason_of
from opencompass_gpassk.inference.requests import Request
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.judging.configs import (
    SECRETS,
    check_model_gpus,
    config_hash,
    judge_name,
)
from opencompass_gpassk.judging.judge import JudgeError, Receive
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.local_jobs import OUT_OF_MEMORY, PATIENCE, Job, LocalJobs

__all__ = ['LocalJudge']

BATCH_SIZE = 8  # of configs that state none, as they do in OpenCompass's evaluators
SPEED = {'batch_size', 'max_out_len', 'max_workers'}  # of a config, beside what it says elsewhere


class LocalJudge:
    """A Judge that is an OpenCompass model, built when it is first asked and decoded greedily.

    Args:
        config: Of the model: ``type``, ``path`` and whatever its wrapper takes.
        max_tokens: Of a reply; the config's ``max_out_len`` may set less.
        batch_size: Prompts at once, or requests beside each other; by default the config's.
        warn: Takes messages for the user; by default OpenCompass's logger.

    Raises:
        ValueError: If the config names no type.
    """

    # A process that judges several data sets by one model loads it once.
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
        """Its abbreviation, or the end of its path."""
        path = '/'.join(str(self.config.get('path', '')).rstrip('/').split('/')[-2:])
        return str(self.config.get('abbr') or path or judge_name(self.config))

    @property
    def settings(self) -> dict[str, Any]:
        """What its replies depend on: the length limit, and a hash of the config."""
        kept = {name: value for name, value in self.config.items() if name not in SPEED}
        return {'decoding': 'greedy', 'max_tokens': self.max_tokens, 'config': config_hash(kept)}

    def ask(
        self,
        jobs: Iterable[Job],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        """Ask prompts batch by batch, and hand over the replies of each batch when it is done.

        A batch that fails is asked again in halves, until the prompts that are to blame stand
        alone. A prompt that fails alone is refused for good if the model still replies to another.

        Raises:
            JudgeError: If the model can't be built, finds no GPU, or fails whatever it is asked.
        """
        source = iter(jobs)
        again: deque[Job] = deque(islice(source, 1))
        if not again:  # all is settled: no model is loaded for nothing
            return
        backend = self._built()
        # Requests that are under way together fail together.
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
            self._backend = LocalJudge._loaded = None  # the model may be dead: not for the next
            raise

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
        """Free memory after a failed call, and take smaller batches where there was too little."""
        if self._backend:
            self._backend.recover(size, reason)
        if OUT_OF_MEMORY.search(reason):
            self.batch_size = max(1, min(self.batch_size, size // 2))

    def _built(self) -> Backend:
        if LocalJudge._loaded and LocalJudge._loaded[0] == self._identity():
            self._backend = LocalJudge._loaded[1]
        if self._backend is None:
            LocalJudge._loaded = None  # room for another model
            from opencompass.utils import build_model_from_cfg

            from opencompass_gpassk.inference.backends import backend_of

            try:
                check_model_gpus(self.config)
            except ValueError as error:
                raise JudgeError(str(error)) from None
            try:
                model = build_model_from_cfg(self.config)
            except Exception as error:
                raise JudgeError(
                    f'judge: the model {self.model} can not be built: {self.shown(error)}'
                ) from error
            notes: list[str] = []
            built = backend_of(model, Sampling('greedy'), self.max_tokens, notes.append)
            if isinstance(built, UnknownBackend):
                name = judge_name(self.config)
                notes = [f'judge: {name} is decoded as its config says; set temperature 0 there']
            for note in notes:
                self.warn(note)
            built.note = self.warn
            self._backend = built
            LocalJudge._loaded = self._identity(), built
        return self._backend

    def _identity(self) -> str:
        """Return what tells models apart that would be built differently."""
        return stable_hash([self.config, self.max_tokens])

    def shown(self, reason: str | BaseException) -> str:
        """Return why something failed, without the keys of the config."""
        text = reason if isinstance(reason, str) else reason_of(reason)
        # Where a config names no key, OpenCompass's wrappers take those of this variable.
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
