"""A judge that runs in this process: any model that OpenCompass has a wrapper for."""

from __future__ import annotations

import copy
import itertools
import os
import re
from collections import deque
from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from typing import Any, ClassVar

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.backend import Backend, Output, UnknownBackend
from opencompass_gpassk.inference.http_client import (
    FILTERED,
    TOO_LONG,
    Counts,
    Failure,
    Receive,
    Reply,
)
from opencompass_gpassk.inference.request_loop import InferenceStoppedError, draw, reason_of
from opencompass_gpassk.inference.sample_requests import Request
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.settings import (
    NO_GPU,
    check_gpus,
    config_hash,
    judge_name,
    sees_gpus,
)

Job = tuple[Hashable, str]  # a key and its prompt

BATCH_SIZE = 8  # the default for configs without one, as in OpenCompass's evaluators
SPEED = {'batch_size', 'max_out_len', 'max_workers'}  # fields that don't identify the model
PATIENCE = 10  # temporary failures one after another
PROBE = 'What is 1 + 1?'
PROBE_TOKENS = 4
OUT_OF_MEMORY = re.compile(r'OutOfMemory|out of memory', re.IGNORECASE)
# What an API says if asking again would not help.
FINAL_STATUS = re.compile(
    r'\b(?:code|status|HTTP|refused)\W{0,3}4(?!08|09|25|29)\d\d\b|(?:invalid|incorrect) api[_ ]key',
    re.IGNORECASE,
)


class LocalJudge:
    """A Judge that is an OpenCompass model, built when it is first asked and decoded greedily.

    Args:
        config: The model's config: ``type``, ``path`` and the other arguments of its wrapper.
        max_tokens: Length limit of a reply; the config's ``max_out_len`` may set a lower one.
        batch_size: Prompts per batch, or concurrent requests; by default the config's.

    Raises:
        ValueError: If the config names no type.
    """

    # A process that judges several data sets with one model loads it once.
    _loaded: ClassVar[tuple[str, Backend] | None] = None

    def __init__(
        self, config: Mapping[str, Any], *, max_tokens: int = 8192, batch_size: int | None = None
    ) -> None:
        if not config.get('type'):
            raise ValueError(
                'model of judge is a config without type; give the config of an OpenCompass '
                "model, as in models=[…], or the name of a served model: model='…'"
            )
        self.config = dict(config)
        self.max_tokens = min(max_tokens, config.get('max_out_len') or max_tokens)
        self.batch_size = int(batch_size or config.get('batch_size') or BATCH_SIZE)

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

    def ask(self, jobs: Iterable[Job], receive: Receive, ledger: Counts) -> None:
        """Ask prompts batch by batch, and hand over the replies of each batch when it is done.

        A failed batch is asked again in halves, until each prompt at fault is alone. A prompt that
        fails alone is refused for good if the model still replies to a harmless one.

        Raises:
            JudgeError: If the model can't be built, or fails on every prompt.
            ValueError: If it needs a GPU and finds none.
        """
        source = iter(jobs)
        again = deque(islice(source, 1))
        if not again:  # all is settled, so don't load the model
            return
        backend = self._built()
        import torch

        try:
            with torch.no_grad():
                while again:
                    self._ask(backend, again, source, receive, ledger)
        except BaseException as error:
            LocalJudge._loaded = None  # the model may be dead: don't use it again
            if isinstance(error, InferenceStoppedError):
                raise JudgeError(f'judge: {without_keys(str(error))}') from error
            raise

    def stop(self) -> None:
        """Asking ends when its receiver raises an error, after the current batch."""

    def _ask(
        self,
        backend: Backend,
        again: deque[Job],
        source: Iterator[Job],
        receive: Receive,
        ledger: Counts,
    ) -> None:
        """Ask all prompts; put those that are to be asked once more aside."""
        begun: dict[int, tuple[Job, int]] = {}  # with the prompt's length in tokens, 0 if unknown
        longest = _longest(backend.model)

        def requests() -> Iterator[Request]:
            for index in itertools.count():
                job = again.popleft() if again else next(source, None)
                if job is None:
                    return
                entry = _entry(job[1])
                tokens = 0 if _is_remote(backend) else _tokens(backend.model, entry)
                if tokens >= longest:
                    told = f'the prompt has {tokens} tokens, max_seq_len of the model is {longest}'
                    receive(job[0], Failure('too long', True, told))
                    continue
                begun[index] = job, tokens
                yield Request(index, str(index), 0, entry, job[1], None, 0, '')

        asked = requests()
        drawn: Generator[list[tuple[Request, Output]], None, None]
        if backend.concurrent:
            drawn = backend.stream(asked, {}, backend.workers(self.batch_size))
        else:
            batches = iter(lambda: list(islice(asked, self.batch_size)), [])
            drawn = (finished for batch in batches for finished in draw(backend, batch, {}))
        # Concurrent requests fail together.
        patience = PATIENCE + (backend.workers(self.batch_size) if backend.concurrent else 1)
        failed = 0  # temporary failures one after another
        with closing(drawn):
            for request, output in itertools.chain.from_iterable(drawn):
                job, tokens = begun.pop(request.index)
                ledger.calls += 1
                if output.lost:
                    failure = self._failure(backend, output.lost)
                    ledger.failures[failure.kind] += 1
                    receive(job[0], failure)
                    failed += not failure.permanent
                    if failed == patience:
                        raise JudgeError(
                            f'judge: {self.model} failed {failed} times one after another, the '
                            f'last time with: {failure.detail}'
                        )
                    continue
                failed = 0
                reply = Reply(output.text, bool(output.truncated), tokens, output.num_tokens or 0)
                ledger.prompt_tokens += reply.prompt_tokens
                ledger.completion_tokens += reply.completion_tokens
                if receive(job[0], reply):
                    ledger.retries += 1
                    again.append(job)

    def _failure(self, backend: Backend, reason: str) -> Failure:
        """Return the failure that an error is.

        Raises:
            JudgeError: If no prompt can succeed, as after an error of CUDA.
        """
        detail = without_keys(reason)
        if TOO_LONG.search(reason):
            return Failure('too long', True, detail)
        if FILTERED.search(reason):
            return Failure('filtered', True, detail)
        if OUT_OF_MEMORY.search(reason):
            return Failure('overloaded', False, detail)
        if _is_remote(backend) and not FINAL_STATUS.search(reason):
            return Failure('unreachable', False, detail)
        if not _replies(backend):
            raise JudgeError(f'judge: {self.model} fails on every prompt: {detail}')
        return Failure('refused', True, detail)

    def _built(self) -> Backend:
        identity = stable_hash([self.config, self.max_tokens])
        if LocalJudge._loaded and LocalJudge._loaded[0] == identity:
            return LocalJudge._loaded[1]
        LocalJudge._loaded = None  # make room for another model
        from opencompass.utils import build_model_from_cfg, get_logger

        from opencompass_gpassk.inference.choose_backend import backend_of

        check_gpus(self.config)
        try:
            model = build_model_from_cfg(self.config)
        except Exception as error:  # missing engines, weights and memory fail in many ways
            hint = '' if sees_gpus() else f'. If it needs a GPU: {NO_GPU.format(1)}'
            reason = without_keys(reason_of(error))
            raise JudgeError(
                f'judge: the model {self.model} can not be built: {reason}{hint}'
            ) from error
        notes: list[str] = []
        built = backend_of(model, Sampling('greedy'), self.max_tokens, notes.append)
        if isinstance(built, UnknownBackend):  # its own note is for inference
            name = judge_name(self.config)
            notes = [f'judge: {name} decodes as its config says; set temperature 0 there']
        built.note = get_logger().warning
        for note in notes:
            built.note(note)
        LocalJudge._loaded = identity, built
        return built


def _is_remote(backend: Backend) -> bool:
    """Tell whether a server runs the model: it checks lengths itself, and its failures may pass."""
    return backend.concurrent or getattr(backend.model, 'is_api', False)


def _replies(backend: Backend) -> bool:
    """Tell whether the model replies to a harmless prompt."""
    probe = copy.copy(backend)
    probe.max_out_len = PROBE_TOKENS
    try:
        return not probe.generate([_entry(PROBE)], [0], {})[0].lost
    except Exception:  # a wrapper or its engine may raise anything
        return False


def _entry(prompt: str) -> Any:
    """Return a prompt in the form that OpenCompass's templates produce, its text unchanged."""
    from opencompass.utils.prompt import PromptList

    return PromptList(
        [
            {'section': 'round', 'pos': 'begin'},
            {'role': 'HUMAN', 'prompt': prompt},
            {'section': 'round', 'pos': 'end'},
        ]
    )


def _longest(model: Any) -> float:
    """Return the greatest number of tokens of prompt and reply together.

    It has to be checked because wrappers truncate a prompt that is too long.
    """
    config = getattr(getattr(model, 'model', None), 'config', None)
    limits = [getattr(model, 'max_seq_len', None)]
    if not getattr(config, 'rope_scaling', None):
        limits.append(getattr(config, 'max_position_embeddings', None))
    return min((n for n in limits if isinstance(n, int) and n > 0), default=float('inf'))


def _tokens(model: Any, entry: Any) -> int:
    """Return a prompt's length in tokens; 0 if the wrapper can't tell."""
    try:
        return int(model.get_token_len_from_template(entry, mode='gen'))
    except Exception:  # a tokenizer, or a wrapper without one, may raise anything
        return 0


def without_keys(reason: str) -> str:
    """Return a reason of a failure without API keys, which a config can't hold, only this."""
    for key in os.environ.get('OPENAI_API_KEY', '').split(','):
        if len(key.strip()) >= 6:  # not EMPTY
            reason = reason.replace(key.strip(), '[key]')
    return reason[:300]
