"""From answers to verdicts: what people, rules, the store and a judge say, in this order.

Identical (question, gold, answer) triples are judged once, over all replicas of all problems. A
verdict that was paid for is in the store the moment it arrives. What nobody settled stays unjudged.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from opencompass_gpassk.answers.extract import spoken
from opencompass_gpassk.judging.inquiry import judgement_of
from opencompass_gpassk.judging.judge import Candidate, Judge, JudgeError, Triple
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.prompted import PromptedJudge, make_judge
from opencompass_gpassk.judging.rules import judge_answers
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.store import VerdictStore
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.trials import Verdict

__all__ = ['Judged', 'Pipeline', 'require_coverage']

NO_ANSWER = Judgement(Verdict.INCORRECT)
ROUNDING = 1e-9  # trials; 8 of 10 are not more than 1 - 0.2 of them


@dataclass(frozen=True)
class Judged:
    """What judging came to.

    Attributes:
        judgements: One a candidate, in their order.
        ledger: What it cost and saved.
        transient: Candidates that are unjudged for a failure that may pass, by its kind.
    """

    judgements: list[Judgement]
    ledger: Ledger
    transient: Counter[str] = field(default_factory=Counter)


class Pipeline:
    """Judges candidates under one set of settings.

    Args:
        settings: How verdicts are reached.
        store: Where verdicts are kept; None keeps none.
        judge: Who is asked; by default whom the settings name.
        progress: Show bars on standard error.

    Raises:
        ValueError: If the settings name no judge though they need one, or its prompt can't be read.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        store: VerdictStore | None = None,
        *,
        judge: Judge | None = None,
        progress: bool = False,
    ) -> None:
        self.settings = settings
        self.store = store
        self.progress = progress
        self.judge: PromptedJudge | None = None
        if settings.mode != 'rule':
            self.judge = PromptedJudge(judge or make_judge(settings), settings, store)

    @property
    def signature(self) -> str:
        """Mode and judge, with a hash of all settings that a verdict depends on."""
        if self.judge is None:
            return 'rule' if self.settings.match == 'value' else f'rule:{self.settings.match}'
        return f'{self.settings.mode}:{self.judge.judge.model}:{self.judge.name}'

    def run(self, candidates: Sequence[Candidate]) -> Judged:
        """Judge T candidates.

        Raises:
            JudgeError: If the judge can't be asked at all; what it said before is in the store.
        """
        triples = [self._triple(candidate) for candidate in candidates]
        cases: dict[Triple, Candidate] = {}
        for triple, candidate in zip(triples, candidates, strict=True):
            # Of a response that ends in 7 and one whose answer is 7, the rules can read the latter.
            if triple is not None and (triple not in cases or cases[triple].answer is None):
                cases[triple] = candidate
        ledger = Ledger(price_per_mtok=self.settings.prices)
        silent = triples.count(None)
        ledger.saved.update({'no answer': silent, 'identity': len(triples) - silent - len(cases)})
        settled: dict[Triple, Judgement] = {}
        for name, settle in (
            ('human', self._by_human),
            ('rule', self._by_rule),
            ('store', partial(self._by_store, ledger=ledger)),
        ):
            found = settle({t: case for t, case in cases.items() if t not in settled})
            ledger.saved[name] = len(found)
            settled |= found
        transient: dict[Triple, str] = {}
        if self.judge:
            pending = {t: case for t, case in cases.items() if t not in settled}
            said = self.judge.ask(pending, ledger, progress=self.progress)
            ledger.saved['store'] += said.recalled
            settled |= said.judgements
            transient = said.transient
        return Judged(
            [
                _judgement(settled, triple, candidate)
                for triple, candidate in zip(triples, candidates, strict=True)
            ],
            ledger,
            Counter(transient[triple] for triple in triples if triple in transient),
        )

    def describe(self, judged: Judged) -> dict[str, Any]:
        """Return what a result says of how its verdicts came about."""
        told: dict[str, Any] = {'mode': self.settings.mode, 'match': self.settings.match}
        if self.settings.match != 'value':
            told |= _kept_settings(self.settings)
        if self.judge:
            told |= {
                'model': self.judge.judge.model,
                **_kept_settings(self.settings),
                'decoding': dict(self.judge.judge.settings),
                'ledger': judged.ledger.as_dict(),
            }
        reasons = Counter(
            one.reason for one in judged.judgements if one.verdict is Verdict.UNJUDGED
        )
        return told | {'unjudged': dict(reasons.most_common())}

    def _triple(self, candidate: Candidate) -> Triple | None:
        """Return what is judged of a candidate, None if nothing is."""
        text = candidate.answer
        if self.judge and text is not None and self.settings.candidate == 'response':
            text = spoken(candidate.response)
        if self.judge and text is None and self.settings.no_answer == 'tail':
            text = spoken(candidate.response).strip()[-self.settings.tail_length :] or None
        return None if text is None else Triple(candidate.question, candidate.gold, text)

    def _by_human(self, cases: Mapping[Triple, Candidate]) -> dict[Triple, Judgement]:
        if self.store is None:
            return {}
        # A person is shown the final answer, whatever the judge is shown.
        final = {
            triple: triple if case.answer is None else triple._replace(answer=case.answer)
            for triple, case in cases.items()
        }
        found = self.store.human({*final, *final.values()})
        return {
            triple: judgement_of(cases[triple], said, 'human')
            for triple, other in final.items()
            if (said := found.get(triple) or found.get(other))
        }

    def _by_rule(self, cases: Mapping[Triple, Candidate]) -> dict[Triple, Judgement]:
        if self.settings.mode == 'llm':
            return {}
        ruled = {triple: case for triple, case in cases.items() if case.answer is not None}
        judgements = judge_answers(
            [case.gold for case in ruled.values()],
            [case.answer for case in ruled.values()],
            match=self.settings.match,
            progress=self.progress,
        )
        kept = set(Verdict)
        if self.judge:  # the rest is for the judge
            kept = {Verdict.CORRECT}
            kept |= set() if self.settings.recheck_different else {Verdict.INCORRECT}
        return {
            triple: judgement
            for triple, judgement in zip(ruled, judgements, strict=True)
            if judgement.verdict in kept
        }

    def _by_store(
        self, cases: Mapping[Triple, Candidate], ledger: Ledger
    ) -> dict[Triple, Judgement]:
        return self.judge.recall(cases, ledger) if self.judge else {}


def _kept_settings(settings: JudgeSettings) -> dict[str, Any]:
    """Return settings for a later rescoring; none if JSON can't hold a model's config."""
    given = settings.resolved()
    try:
        json.dumps(given)
    except (TypeError, ValueError):
        return {}
    return {'settings': given}


def _judgement(
    settled: Mapping[Triple, Judgement], triple: Triple | None, candidate: Candidate
) -> Judgement:
    """Return a candidate's judgement, with the answer that it gave itself."""
    if triple is None:
        return NO_ANSWER
    found = settled[triple]
    return found if found.answer == candidate.answer else replace(found, answer=candidate.answer)


def require_coverage(judged: Judged, trials: int, min_coverage: float, remedy: str) -> None:
    """Refuse a judging that failures which may pass cut short.

    What the judge refused for good, or couldn't say readably, does not count: to ask again would
    not help.

    Args:
        judged: What judging came to.
        trials: Trials in all.
        min_coverage: Share of the trials, in [0, 1], that such failures must leave.
        remedy: How to go on.

    Raises:
        JudgeError: If they leave less.
    """
    failed = judged.transient.total()
    if failed > (1 - min_coverage) * trials + ROUNDING:
        kinds = ', '.join(f'{kind} {count}' for kind, count in judged.transient.most_common())
        first = next(
            one.reason
            for one in judged.judgements
            if one.verdict is Verdict.UNJUDGED and one.reason.startswith(tuple(judged.transient))
        )
        raise JudgeError(
            f'the judge gave no verdict of {failed} of {trials} responses ({kinds}), such as '
            f'{first}; {remedy}'
        )
