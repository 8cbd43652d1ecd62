"""A judge with its prompts: asks about answers that are not in the store, and reads the replies."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from opencompass_gpassk.answers.extract import spoken
from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.chat_completions import Reply
from opencompass_gpassk.judging.judge import (
    Candidate,
    Failure,
    Judge,
    JudgeError,
    JudgeIdentity,
    JudgingBar,
    Ledger,
    Outcome,
    Receive,
    RecordedJudge,
    Triple,
)
from opencompass_gpassk.judging.prompt import BUILT_IN, Prompt, language_of
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.store import StoredVerdict, VerdictStore
from opencompass_gpassk.judging.verdict import MENUS, Judgement, Menu, read_verdict
from opencompass_gpassk.trials import Verdict

__all__ = ['Inquiry', 'PromptedJudge', 'ask_aside', 'judgement_of', 'make_judge']

UNREADABLE = 'unreadable reply of the judge'
CUT_OFF = 'reply of the judge cut off at max_tokens'
EXCERPT = 80  # characters shown of an unreadable reply, from its end
SUSPICIOUS = 16  # after this many unreadable replies and no verdict, prompt or menu must be wrong


class Inquiry:
    """One round of asking a judge about triples, each with one of its candidates.

    Unreadable replies are held back until a first verdict shows that the judge keeps to the menu.
    Otherwise a wrong prompt would be stored as a lasting fault of every answer.

    Attributes:
        judgements: One for each settled triple.
        transient: The settled triples left unjudged by a temporary failure, with its kind.
        recalled: Number of settled triples whose verdict another task had stored meanwhile.
    """

    def __init__(
        self,
        judge: PromptedJudge,
        cases: Mapping[Triple, Candidate],
        ledger: Ledger,
        bar: JudgingBar,
    ) -> None:
        self.judgements: dict[Triple, Judgement] = {}
        self.transient: dict[Triple, str] = {}
        self.recalled = 0
        self._judge = judge
        self._cases = cases
        self._ledger = ledger
        self._bar = bar
        self._asked_again: set[Triple] = set()
        self._held: dict[Triple, StoredVerdict] = {}

    def jobs(self) -> Iterator[tuple[Triple, str]]:
        """Yield the jobs for the judge, except triples whose verdict another task has stored."""
        for triple, case in self._cases.items():
            known = self._judge.recall({triple: case}, self._ledger)
            if known:
                self.judgements |= known
                self.recalled += 1
                self._bar.advance()
            else:
                yield triple, self._judge.prompt(case, triple)

    def receive(self, triple: Triple, outcome: Reply | Failure) -> bool:
        """Take a triple's outcome; return whether to ask once more.

        Raises:
            JudgeError: If many replies arrived and none could be read.
        """
        if isinstance(outcome, Failure) and not outcome.permanent:
            self._pass_by(triple, outcome.kind, reason_of(outcome))
            return False
        said = read(outcome, self._judge.menu)
        if said.reason.startswith((UNREADABLE, CUT_OFF)):
            self._ledger.failures['unreadable'] += 1
            if triple not in self._asked_again:
                self._asked_again.add(triple)
                return True
            if not self._judge.readable:
                self._hold(triple, said)
                return False
        elif isinstance(outcome, Reply):
            self._judge.readable = True
            self.end()
        self._settle(triple, said)
        return False

    def end(self) -> None:
        """Settle the held replies: as temporary failures if there was one and no verdict."""
        while self._held:
            triple, said = self._held.popitem()
            if self.transient and not self._judge.readable:
                self._pass_by(triple, UNREADABLE, said.reason)
            else:
                self._settle(triple, said)

    def _pass_by(self, triple: Triple, kind: str, reason: str) -> None:
        """Leave a triple unjudged because of a temporary failure, which is not stored."""
        self.transient[triple] = kind
        answer = self._cases[triple].answer
        self.judgements[triple] = Judgement(Verdict.UNJUDGED, answer, reason, 'judge')
        self._bar.advance()

    def _settle(self, triple: Triple, said: StoredVerdict) -> None:
        case = self._cases[triple]
        stands = self._judge.keep(case, triple, said)
        self.judgements[triple] = judgement_of(case, stands, 'judge')
        self._bar.advance()

    def _hold(self, triple: Triple, said: StoredVerdict) -> None:
        self._held[triple] = said
        if len(self._held) >= SUSPICIOUS:
            menu = self._judge.menu.name
            raise JudgeError(
                f'the judge replied to {SUSPICIOUS} prompts, twice to each, and gave no verdict '
                f'that menu {menu!r} can read ({said.reason}); set prompt and menu of judge to '
                'what this model was made for, or raise max_tokens'
            )


def judgement_of(case: Candidate, said: StoredVerdict, source: str) -> Judgement:
    """Return a stored verdict as the judgement of a candidate."""
    return Judgement(said.verdict, case.answer, said.reason, source)


def read(outcome: Reply | Failure, menu: Menu) -> StoredVerdict:
    """Return the verdict in a reply; a permanent failure is unjudged, with its reason."""
    if isinstance(outcome, Failure):
        return StoredVerdict(Verdict.UNJUDGED, reason_of(outcome))
    verdict, reason = read_verdict(outcome.text, menu) or (
        Verdict.UNJUDGED,
        f'{UNREADABLE}: {excerpt(outcome.text)}',
    )
    if outcome.truncated:
        verdict, reason = Verdict.UNJUDGED, CUT_OFF
    return StoredVerdict(
        verdict, reason, outcome.text, outcome.prompt_tokens, outcome.completion_tokens
    )


def reason_of(failure: Failure) -> str:
    """Return a failure as the reason why a trial is unjudged."""
    return f'{failure.kind}: {failure.detail}' if failure.detail else failure.kind


def excerpt(reply: str) -> str:
    """Return the end of a reply, without its thoughts, on one line and in quotes."""
    words = one_line(spoken(reply)[-10 * EXCERPT :])
    return repr(words if len(words) <= EXCERPT else f'…{words[-EXCERPT:]}')


LANGUAGES = ('en', 'cn')
MOST_PROMPTS = 30  # of a judge in the store, since every pair of prompts is tried


def make_judge(settings: JudgeSettings) -> Judge:
    """Return the judge that settings name.

    Raises:
        ValueError: If they name no judge.
    """
    if settings.recorded:
        decoding = {
            'temperature': settings.temperature,
            'max_tokens': settings.max_tokens,
            'extra_body': dict(settings.extra_body),
        }
        custom = bool(settings.extra_body) or settings.prompt not in BUILT_IN
        return RecordedJudge(settings.model_name, decoding, custom=custom)
    if isinstance(settings.model, Mapping):
        from opencompass_gpassk.judging.local_judge import LocalJudge

        return LocalJudge(
            settings.model, max_tokens=settings.max_tokens, batch_size=settings.batch_size
        )
    from opencompass_gpassk.judging.http_judge import HttpJudge

    return HttpJudge(
        settings.model_name,
        settings.endpoints,
        key=settings.key,
        key_env=settings.api_key_env,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        extra_body=settings.extra_body,
        max_concurrency=settings.max_concurrency,
        timeout=settings.timeout,
        deadline=settings.deadline,
        retries=settings.retries,
        give_up_after=settings.give_up_after,
    )


class PromptedJudge:
    """A judge with its prompts in both languages, the menu of its verdicts, and their store.

    Args:
        judge: The judge.
        settings: Its settings, with prompt and menu.
        store: Keeps verdicts as soon as they arrive; None keeps none.

    Raises:
        ValueError: If the prompt can't be read.
    """

    def __init__(
        self, judge: Judge, settings: JudgeSettings, store: VerdictStore | None = None
    ) -> None:
        self.judge = judge
        self.store = store
        self.menu = MENUS[settings.menu]
        self.readable = False  # whether it gave a verdict from the menu
        self._decoding = {**judge.settings, 'menu': settings.menu}
        self._policy = settings.policy
        self.prompts = (
            self._recorded_prompts(settings)
            if settings.recorded
            else {name: Prompt.load(settings.prompt, name) for name in LANGUAGES}
        )
        self.identities = self._identities(self.prompts)

    @property
    def name(self) -> str:
        """Eight hexadecimal digits: a hash of all that verdicts depend on besides the mode."""
        return self._name(self.identities)

    def _name(self, identities: Mapping[str, JudgeIdentity]) -> str:
        digest = stable_hash([identity.digest for identity in identities.values()])
        return stable_hash([digest, self._policy])[:8]

    def _identities(self, prompts: Mapping[str, Prompt]) -> dict[str, JudgeIdentity]:
        return {
            name: JudgeIdentity(self.judge.model, prompt.text, self._decoding)
            for name, prompt in prompts.items()
        }

    def _recorded_prompts(self, settings: JudgeSettings) -> dict[str, Prompt]:
        """Return the prompts of an earlier judging from the store: those that match its name."""
        known = self.store.judges() if self.store else []
        texts = [
            one.prompt
            for one in known
            if one.model == self.judge.model and dict(one.settings) == self._decoding
        ][:MOST_PROMPTS]
        built_in = settings.prompt in BUILT_IN
        own = {name: Prompt.load(settings.prompt, name) for name in LANGUAGES} if built_in else {}
        texts += [prompt.text for prompt in own.values()]
        for pair in itertools.product(map(Prompt, dict.fromkeys(texts)), repeat=len(LANGUAGES)):
            prompts = dict(zip(LANGUAGES, pair, strict=True))
            if settings.recorded.endswith(self._name(self._identities(prompts))):
                return prompts
        return own or dict.fromkeys(LANGUAGES, Prompt(''))

    def recall(
        self, cases: Mapping[Triple, Candidate], ledger: Ledger | None = None
    ) -> dict[Triple, Judgement]:
        """Return this judge's stored verdicts on triples; the ledger counts their tokens."""
        if self.store is None:
            return {}
        by_language: dict[str, list[Triple]] = {name: [] for name in LANGUAGES}
        for triple, case in cases.items():
            by_language[_language(case)].append(triple)
        found: dict[Triple, StoredVerdict] = {}
        for name, triples in by_language.items():
            found |= self.store.get(self.identities[name], triples)
        self.readable |= any(said.verdict is not Verdict.UNJUDGED for said in found.values())
        if ledger is not None:
            ledger.kept_prompt_tokens += sum(said.prompt_tokens for said in found.values())
            ledger.kept_completion_tokens += sum(said.completion_tokens for said in found.values())
        return {t: judgement_of(cases[t], said, 'judge') for t, said in found.items()}

    def ask(
        self, cases: Mapping[Triple, Candidate], ledger: Ledger, *, progress: bool = False
    ) -> Inquiry:
        """Ask about triples, each with one of its candidates.

        After an unreadable reply the prompt is sent once more; then its triple stays unjudged.

        Raises:
            JudgeError: If the judge can't be asked at all, or gives no readable verdict; its
                earlier verdicts are in the store.
        """
        with JudgingBar(len(cases), ledger, shown=progress) as bar:
            inquiry = Inquiry(self, cases, ledger, bar)
            if cases:
                self.judge.ask(inquiry.jobs(), inquiry.receive, ledger)
            inquiry.end()
        return inquiry

    def keep(self, case: Candidate, triple: Triple, said: StoredVerdict) -> StoredVerdict:
        """Store a verdict; return the one that is in the store afterwards."""
        if self.store is None:
            return said
        return self.store.put(self.identities[_language(case)], triple, said)

    def prompt(self, case: Candidate, triple: Triple) -> str:
        """Return the prompt about a triple."""
        return self.prompts[_language(case)].fill(triple)


def _language(case: Candidate) -> str:
    return language_of(case.question, case.language)


def ask_aside(
    judge: Judge, jobs: Iterable[tuple[Hashable, str]], receive: Receive, ledger: Ledger
) -> Generator[Any, None, None]:
    """Ask a judge in a thread; yield each job's key as soon as it is settled.

    Closing or dropping the generator stops the asking and ends the thread: requests in flight are
    cancelled, and a model in process finishes its current batch.

    Args:
        judge: The judge; all jobs are asked in one :meth:`~.judge.Judge.ask`.
        jobs: As in that method; they are read in the thread.
        receive: As in that method, called in the thread; a job is settled when it returns False.
        ledger: Counts calls, failures and tokens.

    Raises:
        JudgeError: As the judge does, after all settled keys are yielded. Errors of ``jobs`` and
            ``receive`` are raised likewise.
    """
    asking = _Aside(judge, jobs, receive, ledger)
    asking.thread.start()
    try:
        while not isinstance(one := asking.settled.get(), _End):
            yield one
        if one.error is not None:
            raise one.error
    finally:
        asking.abandon()


@dataclass(frozen=True)
class _End:
    """Marks the end of the keys."""

    error: BaseException | None


class _AbandonedError(JudgeError):
    """The generator was closed: the judge's replies are no longer wanted."""


class _Aside:
    def __init__(
        self,
        judge: Judge,
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        self.settled: SimpleQueue[Any] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, name='asking a judge', daemon=True)
        self._judge = judge
        self._jobs = jobs
        self._receiver = receive
        self._ledger = ledger
        self._abandoned = False
        self._cancel: Callable[[], Any] | None = None

    def abandon(self) -> None:
        """Stop asking, and wait until the thread has ended."""
        self._abandoned = True
        if self._cancel is not None:
            with suppress(RuntimeError):  # the loop is closed: no request is in flight
                self._cancel()
        self.thread.join()

    def _run(self) -> None:
        error = None
        try:
            self._judge.ask(self._taken(), self._receive, self._ledger)
        except BaseException as raised:
            error = raised
        self.settled.put(_End(error))

    def _taken(self) -> Iterator[tuple[Hashable, str]]:
        # Jobs are read in the thread that sends requests. A judge over HTTP may wait minutes for a
        # server that is down, without calling us; a judge in process has no event loop.
        with suppress(RuntimeError):
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            if task is not None:
                cancel = task.cancel
                self._cancel = lambda: loop.call_soon_threadsafe(cancel)
        self._require_awaited()
        for job in self._jobs:
            yield job
            self._require_awaited()

    def _receive(self, key: Any, outcome: Outcome) -> bool:
        self._require_awaited()
        again = self._receiver(key, outcome)
        if not again:
            self.settled.put(key)
        return again

    def _require_awaited(self) -> None:
        if self._abandoned:
            raise _AbandonedError('the replies are no longer wanted')
