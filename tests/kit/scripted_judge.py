"""A judge that says what a test tells it to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from opencompass_gpassk.inference.http_client import Receive
from opencompass_gpassk.inference.server_replies import Failure, Reply
from opencompass_gpassk.judging.judge import Candidate, JudgeError, Ledger

YES, NO = Reply('\\boxed{yes}', False, 100, 5), Reply('\\boxed{no}', False, 100, 5)


class ScriptedJudge:
    """Answers each prompt by a function of the candidate's answer.

    Args:
        say: From the answer and how often it was asked about to what comes of it.
        model: Its name.
        settings: Its decoding settings.
    """

    def __init__(
        self,
        say: Callable[[str, int], Reply | Failure],
        model: str = 'scripted',
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.say = say
        self.model = model
        self.settings = settings or {'temperature': 0.0}
        self.asked: list[str] = []
        self.prompts: list[str] = []

    def ask(
        self,
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        """Ask one after the other."""
        for key, prompt in jobs:
            again = True
            while again:
                answer = key.answer  # type: ignore[attr-defined]  # keys are triples
                outcome = self.say(answer, self.asked.count(answer))
                self.asked.append(answer)
                self.prompts.append(prompt)
                ledger.calls += 1
                if isinstance(outcome, Reply):
                    ledger.prompt_tokens += outcome.prompt_tokens
                    ledger.completion_tokens += outcome.completion_tokens
                again = receive(key, outcome)

    def stop(self) -> None:
        """Nothing is waited for."""


def right_if(*answers: str) -> ScriptedJudge:
    """A judge that says yes to these answers and no to all others."""
    return ScriptedJudge(lambda answer, _: YES if answer in answers else NO)


def refusing(message: str = 'the key is refused') -> ScriptedJudge:
    """A judge that can't be asked at all."""

    def say(answer: str, times: int) -> Reply:
        raise JudgeError(message)

    return ScriptedJudge(say)


def candidates(*answers: str | None, gold: str = '7', question: str = 'What?') -> list[Candidate]:
    """Candidates to one problem."""
    return [Candidate(question, gold, answer, f'So: {answer}') for answer in answers]
