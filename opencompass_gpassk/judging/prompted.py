"""A judge with its prompts: asks about what the store doesn't know, and reads the replies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.judging.inquiry import Inquiry, judgement_of
from opencompass_gpassk.judging.judge import (
    Candidate,
    Judge,
    JudgeIdentity,
    RecordedJudge,
    Triple,
)
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.progress import JudgingBar
from opencompass_gpassk.judging.prompt import BUILT_IN, Prompt, language_of
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.store import StoredVerdict, VerdictStore
from opencompass_gpassk.judging.verdict import MENUS, Judgement
from opencompass_gpassk.trials import Verdict

__all__ = ['PromptedJudge', 'make_judge']

LANGUAGES = ('en', 'cn')
MOST_PROMPTS = 30  # of a judge, of which each pair is tried


def make_judge(settings: JudgeSettings) -> Judge:
    """Return the judge that settings name.

    Raises:
        ValueError: If they name none.
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
        self.readable = False  # it gave a verdict that is on the menu
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
        """Eight hexadecimal digits that name all that verdicts depend on beside the mode."""
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
        """Return the prompts of an earlier judging, from the store: those that its name is of."""
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
        """Return what the store knows of this judge about triples; the ledger notes its tokens."""
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
        """Ask about triples, each with one of the candidates it stands for.

        A reply that can't be read is asked for once more, then its triple stays unjudged.

        Raises:
            JudgeError: If the judge can't be asked at all, or gives no verdict that can be read;
                what it said before is in the store.
        """
        with JudgingBar(len(cases), ledger, shown=progress) as bar:
            inquiry = Inquiry(self, cases, ledger, bar)
            if cases:
                self.judge.ask(inquiry.jobs(), inquiry.receive, ledger)
            inquiry.end()
        return inquiry

    def keep(self, case: Candidate, triple: Triple, said: StoredVerdict) -> StoredVerdict:
        """Store a verdict; return the one that stands."""
        if self.store is None:
            return said
        return self.store.put(self.identities[_language(case)], triple, said)

    def prompt(self, case: Candidate, triple: Triple) -> str:
        """Return what is asked about a triple."""
        return self.prompts[_language(case)].fill(triple)


def _language(case: Candidate) -> str:
    return language_of(case.question, case.language)
