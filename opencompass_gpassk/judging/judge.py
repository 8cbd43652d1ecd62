"""Judges, and how one is asked: what is asked for again, held back, told and given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from opencompass_gpassk.answers.speech import spoken
from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.progress_bar import progress_bar
from opencompass_gpassk.inference.http_client import Client, ClientError, Counts, Receive
from opencompass_gpassk.inference.server_replies import Failure, Outcome, Reply
from opencompass_gpassk.judging.settings import JudgeSettings


class JudgeError(RuntimeError):
    """Judging can't go on or was not completed; the verdicts so far are kept."""


class Candidate(NamedTuple):
    """One response that is to be judged.

    Attributes:
        question: The problem's text.
        gold: The reference answer.
        answer: The response's final answer; None if it gives none.
        response: The whole response, for judges that see more than the answer.
        language: The question's language, ``en`` or ``cn``; '' to detect it from the text.
        truncated: Whether the response was cut off; None if unknown.
    """

    question: str
    gold: str
    answer: str | None
    response: str = ''
    language: str = ''
    truncated: bool | None = None


@dataclass(frozen=True)
class JudgeIdentity:
    """Everything that a verdict depends on besides the triple.

    Attributes:
        model: The judge's name.
        prompt: The prompt template's text.
        settings: Decoding settings, and the menu by which replies are read; JSON values only.
    """

    model: str
    prompt: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits, the same for equal judges in every process."""
        return stable_hash([self.model, self.prompt, dict(self.settings)])


@dataclass
class Ledger(Counts):
    """Counts of one judging; costs that were paid earlier are counted under ``kept``.

    Attributes:
        saved: Trials that needed no call, by the reason: ``no answer``, ``rule``, ``human``,
            ``identity`` (the same triple is asked about once) and ``store``.
        kept_prompt_tokens: Prompt tokens that the verdicts from the store cost when they were
            given, in an earlier start or another run.
        kept_completion_tokens: Completion tokens, likewise.
        price_per_mtok: Price of a million prompt tokens and of a million completion tokens.
    """

    saved: Counter[str] = field(default_factory=Counter)
    kept_prompt_tokens: int = 0
    kept_completion_tokens: int = 0
    price_per_mtok: tuple[float, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the ledger as results hold it, with costs if a price is given."""
        return {
            'calls': self.calls,
            'retries': self.retries,
            'failures': dict(sorted(self.failures.items())),
            **self._tokens(self.prompt_tokens, self.completion_tokens),
            'saved': dict(sorted(self.saved.items())),
            'kept': self._tokens(self.kept_prompt_tokens, self.kept_completion_tokens),
        }

    def _tokens(self, prompt: int, completion: int) -> dict[str, Any]:
        counts: dict[str, Any] = {'prompt_tokens': prompt, 'completion_tokens': completion}
        if self.price_per_mtok is not None:
            prices = self.price_per_mtok
            counts['price'] = (prompt * prices[0] + completion * prices[1]) / 1e6
        return counts


class Judge(Protocol):
    """A model that can be asked with prompts."""

    @property
    def model(self) -> str:
        """The judge's name, under which its verdicts are stored."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Decoding settings that the replies depend on."""

    def ask(self, jobs: Iterable[tuple[Hashable, str]], receive: Receive, ledger: Counts) -> None:
        """Ask prompts, and hand over each reply when it arrives.

        Args:
            jobs: (key, prompt) pairs, read lazily: a job is taken when there is room for it.
            receive: Called with a job's key and outcome, one call at a time. It returns True to
                have the same prompt asked once more.
            ledger: Counts calls, retries, failures and tokens.

        Raises:
            JudgeError: If no prompt can succeed, for example because the key is refused.
        """

    def stop(self) -> None:
        """End :meth:`ask` soon, from another thread, without waiting for a server."""


class ServedJudge:
    """A judge behind one or many OpenAI-compatible endpoints.

    Args:
        settings: Its model, endpoints, key and decoding.

    Raises:
        ValueError: If a setting can't be used.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self.model = settings.model_name
        self.settings: Mapping[str, Any] = settings.decoding
        self._client = Client(
            settings.endpoints,
            key_env=settings.api_key_env,
            max_concurrency=settings.max_concurrency,
            timeout=settings.timeout,
            deadline=settings.deadline,
            retries=settings.retries,
            give_up_after=settings.give_up_after,
            cut_slow=True,
        )
        fields = {'model': self.model, **self.settings, **settings.extra_body}
        del fields['extra_body']
        self._fields = self._client.plain_fields(fields, 'extra_body of judge')

    def ask(self, jobs: Iterable[tuple[Hashable, str]], receive: Receive, ledger: Counts) -> None:
        """Ask prompts, and hand over each reply when it arrives: see :class:`Judge`."""
        requests = (
            (key, {**self._fields, 'messages': [{'role': 'user', 'content': prompt}]})
            for key, prompt in jobs
        )
        try:
            self._client.ask(requests, receive, ledger)
        except ClientError as error:
            raise JudgeError(f'judge: {error}') from None

    def stop(self) -> None:
        """End :meth:`ask`, from another thread."""
        self._client.stop()


class RecordedJudge:
    """A judge recorded in a run folder: its stored verdicts can be read, but it can't be asked.

    Args:
        model: The judge's name.
        settings: Decoding settings that its replies depended on.
    """

    def __init__(self, model: str, settings: Mapping[str, Any]) -> None:
        self.model = model
        self.settings = settings

    def ask(self, jobs: Iterable[tuple[Hashable, str]], receive: Receive, ledger: Counts) -> None:
        """Refuse to ask.

        Raises:
            JudgeError: If there is any job; it names their number and what to set.
        """
        if missing := sum(1 for _ in jobs):
            raise JudgeError(
                f'{missing} verdicts of {self.model} are not in the store; to ask for them set '
                f'OC_JUDGE_MODEL={self.model} and OC_JUDGE_API_BASE=http://…/v1, or give its '
                'settings: --judge FILE (a prompt or extra_body of your own is not read from a run '
                'folder)'
            )

    def stop(self) -> None:
        """Nothing is being asked."""


UNREADABLE = 'unreadable reply of the judge'
CUT_OFF = 'reply of the judge cut off at max_tokens'
# Where a server keeps the thoughts of a model apart, and took all of a reply for thoughts.
IN_THOUGHTS = 'its content is empty, all of its text is in reasoning_content'
EXCERPT = 80  # characters shown of an unreadable reply, from its end
SUSPICIOUS = 16  # after so many prompts without a single readable reply, a setting must be wrong

KeyT = TypeVar('KeyT', bound=Hashable)
FoundT = TypeVar('FoundT')


@dataclass(frozen=True)
class ReadReply(Generic[FoundT]):
    """What a judge said to one prompt.

    Attributes:
        found: What was read in the reply; None if there is nothing to read.
        reason: Why nothing was found, beginning with a short name for counts.
        passing: Whether asking again later may help.
        reply: The reply that counts; None if there is none.
    """

    found: FoundT | None
    reason: str = ''
    passing: bool = False
    reply: Reply | None = None


class Asker(Generic[KeyT, FoundT]):
    """Asks a judge many prompts, and reads its replies.

    An unreadable reply is asked for once more. Unreadable replies and refused prompts are held
    back until a first readable reply shows that the judge works: otherwise a wrong prompt or
    setting would be stored as a lasting fault of every answer.

    Args:
        judge: The judge.
        read: Reads the text of the reply to a key's prompt; None if that can't be read.
        deliver: Takes each key's answer, once.
        ledger: Counts calls, failures and tokens.
        remedy: What to do if no reply can be read.
        readable: Whether it is known that the judge gives replies that can be read.
    """

    def __init__(
        self,
        judge: Judge,
        read: Callable[[KeyT, str], FoundT | None],
        deliver: Callable[[KeyT, ReadReply[FoundT]], None],
        ledger: Ledger,
        *,
        remedy: str,
        readable: bool,
    ) -> None:
        self.judge = judge
        self.read = read
        self.deliver = deliver
        self.ledger = ledger
        self.remedy = remedy
        self.readable = readable
        self._asked_again: set[KeyT] = set()
        self._held: dict[KeyT, ReadReply[FoundT]] = {}
        self._lost = 0  # keys without an answer that could be read
        self._failing = False  # whether any prompt was left with a temporary failure

    def ask(
        self, jobs: Iterable[tuple[KeyT, str | None]], total: int, *, progress: bool = False
    ) -> None:
        """Ask about all keys.

        Args:
            jobs: Pairs of a key and its prompt, read lazily; a key without prompt needs no call.
            total: Their number.
            progress: Show progress on standard error.

        Raises:
            JudgeError: If the judge can't be asked at all, or gives no readable reply.
        """
        failures = self.ledger.failures
        with progress_bar(
            total,
            'judging',
            'answer',
            shown=progress and total > 0,
            status=lambda: {
                'failures': failures.total(),
                'lost': self._lost,
                **self.ledger.silence(),
            },
        ) as self._progress:
            if total:
                self.judge.ask(self._prompts(jobs), self._receive, self.ledger)
            self._settle_held()

    def _prompts(self, jobs: Iterable[tuple[KeyT, str | None]]) -> Iterator[tuple[KeyT, str]]:
        for key, prompt in jobs:
            if prompt is None:
                self._progress.update()
            else:
                yield key, prompt

    def _receive(self, key: KeyT, outcome: Outcome) -> bool:
        """Take a prompt's outcome; return whether to ask it once more."""
        if isinstance(outcome, Failure):
            reason = f'{outcome.kind}: {outcome.detail}' if outcome.detail else outcome.kind
            self._failing |= not outcome.permanent
            answer: ReadReply[FoundT] = ReadReply(None, reason, not outcome.permanent)
            suspicious = outcome.kind in ('refused', 'too long')
        else:
            found = None if outcome.truncated else self.read(key, outcome.text)
            if found is not None:
                self.readable = True
                self._settle(key, ReadReply(found, reply=outcome))
                self._settle_held()
                return False
            self.ledger.failures['unreadable'] += 1
            if key not in self._asked_again:
                self._asked_again.add(key)
                return True
            reason = CUT_OFF if outcome.truncated else UNREADABLE
            if outcome.thoughts and not outcome.text:
                reason += f': {IN_THOUGHTS}'
            if not outcome.truncated:  # equal reasons are counted together
                reason += f': {excerpt(outcome.text or outcome.thoughts)}'
            answer, suspicious = ReadReply(None, reason, reply=outcome), True
        if suspicious and not self.readable:
            self._held[key] = answer
            if len(self._held) >= SUSPICIOUS:
                raise self._useless(answer)
        else:
            self._settle(key, answer)
        return False

    def _settle(self, key: KeyT, answer: ReadReply[FoundT]) -> None:
        self.deliver(key, answer)
        self._lost += answer.found is None
        self._progress.update()

    def _settle_held(self) -> None:
        """Settle the held answers, as temporary failures if the judge may just not be up yet."""
        refused = [one for one in self._held.values() if one.reply is None]
        if refused and not (self.readable or self._failing):
            raise self._useless(refused[0])
        while self._held:
            key, answer = self._held.popitem()
            passing = self._failing and not self.readable
            self._settle(key, ReadReply(None, answer.reason, passing, answer.reply))

    def _useless(self, answer: ReadReply[FoundT]) -> JudgeError:
        if answer.reply is not None:
            return JudgeError(
                f'the judge replied to {len(self._held)} prompts, twice to each, and no reply '
                f'could be read ({answer.reason}); {self.remedy}, or raise max_tokens'
                + (', or turn thoughts off by extra_body of judge' * (IN_THOUGHTS in answer.reason))
            )
        remedy = (
            'lower max_tokens of judge or serve the model with a longer context'
            if answer.reason.startswith('too long')
            else 'check max_tokens, temperature and extra_body of judge'
        )
        return JudgeError(
            f'the judge refuses its first prompts; {remedy}. It says: {answer.reason}'
        )


def excerpt(reply: str) -> str:
    """Return the end of a reply, without its thoughts, on one line and in quotes."""
    words = one_line(spoken(reply)[-10 * EXCERPT :])
    return repr(words if len(words) <= EXCERPT else f'…{words[-EXCERPT:]}')


def make_judge(settings: JudgeSettings) -> Judge:
    """Return the judge that settings name.

    Raises:
        ValueError: If they name no judge.
    """
    if settings.recorded:
        return RecordedJudge(settings.model_name, settings.decoding)
    return ServedJudge(settings)
