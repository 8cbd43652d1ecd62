"""What a judge that is asked with prompts is: who it is, what it replies, how it may fail."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.judging.ledger import Ledger

__all__ = [
    'Candidate',
    'Failure',
    'Judge',
    'JudgeError',
    'JudgeIdentity',
    'Outcome',
    'Receive',
    'RecordedJudge',
    'Reply',
    'Triple',
]


class JudgeError(RuntimeError):
    """Judging can't go on, or didn't come to its end; the verdicts so far are kept."""


class Candidate(NamedTuple):
    """One response that is to be judged.

    Attributes:
        question: What was asked.
        gold: The reference answer.
        answer: The response's final answer, None if it gives none.
        response: All of it, for judges that are shown more than the answer.
        language: Of the question, ``en`` or ``cn``; '' to tell it from the text.
    """

    question: str
    gold: str
    answer: str | None
    response: str = ''
    language: str = ''


class Triple(NamedTuple):
    """What one verdict is about; the same triple is judged once, whoever answered."""

    question: str
    gold: str
    answer: str


@dataclass(frozen=True)
class JudgeIdentity:
    """Everything that a verdict depends on besides the triple.

    Attributes:
        model: The judge's name.
        prompt: The prompt template's text.
        settings: Decoding settings and the menu that replies are read by, as JSON can hold them.
    """

    model: str
    prompt: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """64 hexadecimal digits, the same for equal judges in every process."""
        return stable_hash([self.model, self.prompt, dict(self.settings)])


@dataclass(frozen=True)
class Reply:
    """What a judge said to one prompt.

    Attributes:
        text: Its words, thoughts included where they stand in the same text.
        truncated: It ran into its length limit.
        prompt_tokens: As the server counted, 0 where it didn't.
        completion_tokens: The same.
    """

    text: str
    truncated: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class Failure:
    """Why a judge said nothing to one prompt.

    Attributes:
        kind: A few words to count by, such as ``overloaded`` or ``too long``.
        permanent: To ask again would not help.
        detail: What the server said, without any key.
    """

    kind: str
    permanent: bool
    detail: str = ''


Outcome = Reply | Failure
# Takes a job's key and what came of it; says whether the same prompt shall be asked once more.
Receive = Callable[[Any, Outcome], bool]


class Judge(Protocol):
    """A model that can be asked with prompts, over HTTP or in process."""

    @property
    def model(self) -> str:
        """Its name, which its verdicts are stored under."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Decoding settings that its replies depend on."""

    def ask(
        self,
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        """Ask prompts, and hand over each reply when it arrives.

        Args:
            jobs: (key, prompt), read lazily: a job is taken when there is room for it.
            receive: Is called with a job's key and outcome, one call at a time; it returns True
                if the same prompt shall be asked once more.
            ledger: Counts calls, retries, failures and tokens.

        Raises:
            JudgeError: If nothing can succeed, as where the key is refused.
        """


class RecordedJudge:
    """A judge that is known from a run folder, which does not say where it may be asked.

    Args:
        model: Its name.
        settings: Decoding settings that its replies depended on.
        custom: They, or its prompt, are the user's own.
    """

    def __init__(self, model: str, settings: Mapping[str, Any], *, custom: bool) -> None:
        self.model = model
        self.settings = settings
        self._custom = custom

    def ask(self, jobs: Iterable[tuple[Hashable, str]], receive: Receive, ledger: Ledger) -> None:
        """Refuse.

        Raises:
            JudgeError: If there is anything to be asked, saying how much and what to set.
        """
        missing = sum(1 for _ in jobs)
        if missing and self._custom:
            raise JudgeError(
                f'{missing} verdicts of {self.model} are not in the store, and its prompt or '
                'extra_body is your own, which no run folder may name: give --judge FILE, a JSON '
                'file of its settings, or --config CONFIG'
            )
        if missing:
            raise JudgeError(
                f'{missing} verdicts of {self.model} are not in the store; to ask for them set '
                f'OC_JUDGE_MODEL={self.model} and OC_JUDGE_API_BASE=http://…/v1'
            )
