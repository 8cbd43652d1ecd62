"""The interface of a judge that is asked with prompts: its identity, replies and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from opencompass_gpassk.formats.display import progress_bar
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.chat_completions import Reply

__all__ = [
    'Candidate',
    'Failure',
    'Judge',
    'JudgeError',
    'JudgeIdentity',
    'JudgingBar',
    'Ledger',
    'Outcome',
    'Receive',
    'RecordedJudge',
    'Triple',
]


@dataclass
class Ledger:
    """Counts of one judging; costs that were paid earlier are counted under ``kept``.

    Attributes:
        calls: Requests sent, including failed ones.
        retries: Calls that repeated an earlier one.
        failures: Failed calls by kind.
        prompt_tokens: Prompt tokens as the servers counted them.
        completion_tokens: Completion tokens, likewise.
        saved: Trials that needed no call, by the reason: ``no answer``, ``rule``, ``human``,
            ``identity`` (the same triple is asked about once) and ``store``.
        kept_prompt_tokens: Prompt tokens that the verdicts from the store cost when they were
            given, in an earlier start or another run.
        kept_completion_tokens: Completion tokens, likewise.
        price_per_mtok: Price of a million prompt tokens and of a million completion tokens.
    """

    calls: int = 0
    retries: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
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
    """

    question: str
    gold: str
    answer: str | None
    response: str = ''
    language: str = ''


class Triple(NamedTuple):
    """Question, gold and answer of one verdict; equal triples are judged once for all models."""

    question: str
    gold: str
    answer: str


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


@dataclass(frozen=True)
class Failure:
    """Why a judge gave no reply to one prompt.

    Attributes:
        kind: A short name for counts, such as ``overloaded`` or ``too long``.
        permanent: Whether asking again would not help.
        detail: The server's message, without any key.
    """

    kind: str
    permanent: bool
    detail: str = ''


Outcome = Reply | Failure
# Takes a job's key and outcome; returns whether to ask the same prompt once more.
Receive = Callable[[Any, Outcome], bool]


class Judge(Protocol):
    """A model that can be asked with prompts, over HTTP or in process."""

    @property
    def model(self) -> str:
        """The judge's name, under which its verdicts are stored."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Decoding settings that the replies depend on."""

    def ask(
        self,
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        """Ask prompts, and hand over each reply when it arrives.

        Args:
            jobs: (key, prompt) pairs, read lazily: a job is taken when there is room for it.
            receive: Called with a job's key and outcome, one call at a time. It returns True to
                have the same prompt asked once more.
            ledger: Counts calls, retries, failures and tokens.

        Raises:
            JudgeError: If no prompt can succeed, for example because the key is refused.
        """


class RecordedJudge:
    """A judge recorded in a run folder: its stored verdicts can be read, but it can't be asked.

    Args:
        model: The judge's name.
        settings: Decoding settings that its replies depended on.
        custom: Whether its prompt or extra_body is the user's own.
    """

    def __init__(self, model: str, settings: Mapping[str, Any], *, custom: bool) -> None:
        self.model = model
        self.settings = settings
        self._custom = custom

    def ask(self, jobs: Iterable[tuple[Hashable, str]], receive: Receive, ledger: Ledger) -> None:
        """Refuse to ask.

        Raises:
            JudgeError: If there is any job; it names their number and what to set.
        """
        missing = sum(1 for _ in jobs)
        if missing and self._custom:
            raise JudgeError(
                f'{missing} verdicts of {self.model} are not in the store, and its prompt or '
                'extra_body is custom, which is not read from a run folder: give --judge FILE, a '
                'JSON file of its settings, or --config CONFIG'
            )
        if missing:
            raise JudgeError(
                f'{missing} verdicts of {self.model} are not in the store; to ask for them set '
                f'OC_JUDGE_MODEL={self.model} and OC_JUDGE_API_BASE=http://…/v1'
            )


class JudgingBar:
    """A bar of tqdm on standard error: rate, time left, calls saved, failed calls.

    Args:
        total: Number of triples to ask about.
        ledger: The counts to show.
        shown: Whether to show the bar.
    """

    def __init__(self, total: int, ledger: Ledger, *, shown: bool) -> None:
        self.ledger = ledger
        self.bar = progress_bar(total, 'judging', 'answer', shown=shown and total > 0)

    def __enter__(self) -> JudgingBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._tell()
        self.bar.close()

    def advance(self) -> None:
        """Count one more settled triple."""
        if self.bar.update():  # True when the bar is redrawn, a few times a second
            self._tell()

    def _tell(self) -> None:
        self.bar.set_postfix(
            saved=self.ledger.saved.total(), errors=self.ledger.failures.total(), refresh=False
        )
