"""The jobs of a judge in process: handed to its model in turn, and what came of each."""

from __future__ import annotations

import copy
import re
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from opencompass_gpassk.inference.backend import Backend, Output
from opencompass_gpassk.inference.drawing import FailureWatch
from opencompass_gpassk.inference.requests import Request
from opencompass_gpassk.judging.judge import Failure, JudgeError, Receive, Reply
from opencompass_gpassk.judging.ledger import Ledger

__all__ = ['OUT_OF_MEMORY', 'PATIENCE', 'Job', 'LocalJobs']

Job = tuple[Hashable, str]

PATIENCE = 10
PROBE = 'What is 1 + 1?'
PROBE_TOKENS = 4
OUT_OF_MEMORY = re.compile(r'OutOfMemory|out of memory', re.IGNORECASE)
TOO_LONG = re.compile(
    r'context[ _]?(?:length|window|size)|max_seq_len|max_model_len|maximum (?:model|input) length'
    r'|longer than the max|prompt is too long|too many (?:input )?tokens|session_len',
    re.IGNORECASE,
)
FILTERED = re.compile(r'content[_ ]?(?:filter|management|policy)|data_?inspection', re.IGNORECASE)
BAD_REQUEST = re.compile(r'\b(?:code|status|HTTP)\W{0,3}4(?:00|22)\b', re.IGNORECASE)
NO_ENTRY = re.compile(
    r'\b(?:code|status|HTTP)\W{0,3}40[13]\b|(?:invalid|incorrect) api[_ ]key|unauthorized',
    re.IGNORECASE,
)


class LocalJobs:
    """The jobs of one call, between the caller and the model.

    Args:
        name: Of the judge.
        backend: Its model.
        shown: Makes a reason fit to be shown.
        source: Jobs not begun yet.
        again: Jobs that come before these.
        receive: Takes outcomes.
        ledger: Counts them.
        patience: So many failures one after another show that nothing can succeed.
    """

    def __init__(
        self,
        name: str,
        backend: Backend,
        shown: Callable[[str], str],
        source: Iterator[Job],
        again: deque[Job],
        receive: Receive,
        ledger: Ledger,
        patience: int,
    ) -> None:
        self.name = name
        self.backend = backend
        self.shown = shown
        self.source = source
        self.again = again
        self.receive = receive
        self.ledger = ledger
        self._begun: dict[int, tuple[Job, int]] = {}  # with tokens of the prompt, 0 if not known
        self._count = 0
        self._repeated: set[Hashable] = set()
        self._watch = FailureWatch(patience)

    def requests(self) -> Iterator[Request]:
        """Yield what the model is to be asked, taking jobs when there is room for them."""
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
        """Hand over what came of a request.

        Raises:
            JudgeError: If it shows that nothing can succeed.
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
            raise JudgeError(f'judge: {self.name} lets nobody in: {detail}')
        if not self._remote or BAD_REQUEST.search(reason):
            self._probe(detail)
            return Failure('refused', True, detail)
        return Failure('unreachable', False, detail)

    def _probe(self, detail: str) -> None:
        """Ask something else, to know whether a prompt is to blame or the model."""
        probe = copy.copy(self.backend)
        probe.max_out_len = PROBE_TOKENS
        try:
            (said,) = probe.generate([entry_of(PROBE)], [0], {})
            failed = bool(said.lost)
        except Exception:
            failed = True
        if failed:
            raise JudgeError(f'judge: {self.name} fails whatever it is asked: {detail}')

    @property
    def _remote(self) -> bool:
        return self.backend.concurrent or getattr(self.backend.model, 'is_api', False)

    @property
    def _longest(self) -> int:
        """Tokens that prompt and reply may have together."""
        model = self.backend.model
        own = getattr(getattr(model, 'model', None), 'config', None)
        limits = [getattr(model, 'max_seq_len', None)]
        if not getattr(own, 'rope_scaling', None):
            limits.append(getattr(own, 'max_position_embeddings', None))
        return min((n for n in limits if isinstance(n, int) and n > 0), default=1 << 62)

    def _tokens(self, entry: Any) -> int:
        """Return the length of a prompt; 0 where the wrapper can't tell, or its server does.

        Wrappers cut a prompt that is too long, and the judge would see a part of it.
        """
        if self._remote:
            return 0
        try:
            return int(self.backend.model.get_token_len_from_template(entry, mode='gen'))
        except Exception:
            return 0


def entry_of(prompt: str) -> Any:
    """Return a prompt as OpenCompass's templates make it, without reading it as a template."""
    from opencompass.utils.prompt import PromptList

    return PromptList(
        [
            {'section': 'round', 'pos': 'begin'},
            {'role': 'HUMAN', 'prompt': prompt},
            {'section': 'round', 'pos': 'end'},
        ]
    )
