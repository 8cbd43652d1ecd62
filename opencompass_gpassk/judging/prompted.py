"""A judge with its prompts: asks about what the store doesn't know, and reads the replies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.judging.judge import (
    Candidate,
    Failure,
    Judge,
    JudgeIdentity,
    Reply,
    Triple,
)
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.progress import JudgingBar
from opencompass_gpassk.judging.prompt import Prompt, language_of
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.store import StoredVerdict, VerdictStore
from opencompass_gpassk.judging.verdict import MENUS, Judgement, read_verdict
from opencompass_gpassk.trials import Verdict

__all__ = ['PromptedJudge', 'judgement_of', 'make_judge']

LANGUAGES = ('en', 'cn')
UNREADABLE = 'unreadable reply of the judge'
CUT_OFF = 'the reply of the judge is cut off at max_tokens'


def make_judge(settings: JudgeSettings) -> Judge:
    """Return the judge that settings name.

    Raises:
        ValueError: If they name none.
    """
    if isinstance(settings.model, Mapping):
        from opencompass_gpassk.judging.local import LocalJudge

        return LocalJudge(
            settings.model, max_tokens=settings.max_tokens, batch_size=settings.batch_size
        )
    from opencompass_gpassk.judging.client import HttpJudge

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


@dataclass
class Said:
    """What came of asking.

    Attributes:
        judgements: One for each triple that was asked about.
        transient: Of these, the ones without a verdict for a failure that may pass, with its kind.
        recalled: How many of them another task had asked about meanwhile.
    """

    judgements: dict[Triple, Judgement] = field(default_factory=dict)
    transient: dict[Triple, str] = field(default_factory=dict)
    recalled: int = 0


class PromptedJudge:
    """A judge, its prompts in both languages, the menu of its verdicts, and their store.

    Args:
        judge: Who is asked.
        settings: Which prompt and menu.
        store: Where verdicts are kept the moment they arrive; None keeps none.

    Raises:
        ValueError: If the prompt can't be read.
    """

    def __init__(
        self, judge: Judge, settings: JudgeSettings, store: VerdictStore | None = None
    ) -> None:
        self.judge = judge
        self.store = store
        self.menu = MENUS[settings.menu]
        self.prompts = {name: Prompt.load(settings.prompt, name) for name in LANGUAGES}
        decoding = {**judge.settings, 'menu': settings.menu}
        self.identities = {
            name: JudgeIdentity(judge.model, prompt.text, decoding)
            for name, prompt in self.prompts.items()
        }

    @property
    def digest(self) -> str:
        """Hexadecimal digits that name model, prompts, menu and decoding."""
        return stable_hash([identity.digest for identity in self.identities.values()])

    def recall(self, cases: Mapping[Triple, Candidate]) -> dict[Triple, Judgement]:
        """Return what the store knows of this judge about triples."""
        if self.store is None:
            return {}
        by_language: dict[str, list[Triple]] = {name: [] for name in LANGUAGES}
        for triple, case in cases.items():
            by_language[_language(case)].append(triple)
        return {
            triple: judgement_of(cases[triple], said, 'judge')
            for name, triples in by_language.items()
            for triple, said in self.store.get(self.identities[name], triples).items()
        }

    def ask(
        self, cases: Mapping[Triple, Candidate], ledger: Ledger, *, progress: bool = False
    ) -> Said:
        """Ask about triples, each with one of the candidates it stands for.

        A reply that can't be read is asked for once more, then its triple stays unjudged.

        Raises:
            JudgeError: If the judge can't be asked at all; what it said before is in the store.
        """
        said = Said()
        unread: set[Triple] = set()
        with JudgingBar(len(cases), ledger, shown=progress) as bar:

            def jobs() -> Iterator[tuple[Triple, str]]:
                for triple, case in cases.items():
                    known = self.recall({triple: case})
                    if known:
                        said.judgements |= known
                        said.recalled += 1
                        bar.advance()
                    else:
                        yield triple, self.prompts[_language(case)].fill(triple)

            def receive(triple: Triple, outcome: Reply | Failure) -> bool:
                case = cases[triple]
                if isinstance(outcome, Failure) and not outcome.permanent:
                    said.transient[triple] = outcome.kind
                    reason = _reason(outcome)
                    said.judgements[triple] = Judgement(
                        Verdict.UNJUDGED, case.answer, reason, 'judge'
                    )
                else:
                    verdict = self._verdict(outcome)
                    if verdict.reason.startswith((UNREADABLE, CUT_OFF)) and triple not in unread:
                        unread.add(triple)
                        ledger.failures['unreadable'] += 1
                        return True
                    if self.store is not None:
                        verdict = self.store.put(self.identities[_language(case)], triple, verdict)
                    said.judgements[triple] = judgement_of(case, verdict, 'judge')
                bar.advance()
                return False

            if cases:
                self.judge.ask(jobs(), receive, ledger)
        return said

    def _verdict(self, outcome: Reply | Failure) -> StoredVerdict:
        """Return the verdict in a reply; that of a lasting failure is why there is none."""
        if isinstance(outcome, Failure):
            return StoredVerdict(Verdict.UNJUDGED, _reason(outcome))
        if outcome.truncated:
            verdict, reason = Verdict.UNJUDGED, CUT_OFF
        else:
            verdict, reason = read_verdict(outcome.text, self.menu) or (
                Verdict.UNJUDGED,
                UNREADABLE,
            )
        return StoredVerdict(
            verdict, reason, outcome.text, outcome.prompt_tokens, outcome.completion_tokens
        )


def judgement_of(case: Candidate, said: StoredVerdict, source: str) -> Judgement:
    """Return a kept verdict as that of a candidate."""
    return Judgement(said.verdict, case.answer, said.reason, source)


def _language(case: Candidate) -> str:
    return language_of(case.question, case.language)


def _reason(failure: Failure) -> str:
    return f'{failure.kind}: {failure.detail}' if failure.detail else failure.kind
