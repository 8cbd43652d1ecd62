"""Verdicts of judges as sources of an audit: what one said before, what one says when asked now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from opencompass_gpassk.audit.sources import Opinion
from opencompass_gpassk.audit.trials import AuditTrial
from opencompass_gpassk.judging.judge import Candidate, Judge, Triple
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.prompted import PromptedJudge
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.store import StoredVerdict, VerdictStore
from opencompass_gpassk.text import one_line
from opencompass_gpassk.trials import Verdict

__all__ = ['Opinions', 'ask_now', 'look_up']

NOT_IN_STORE = 'not in the verdict store'


class Opinions:
    """Verdicts by what they are about, as a source.

    Args:
        known: What was said.
    """

    def __init__(self, known: Mapping[Triple, Opinion]) -> None:
        self.known = known

    def __call__(self, trials: Sequence[AuditTrial]) -> list[Opinion]:
        """Return what was said of trials; those of which nothing was are unjudged."""
        nothing = Opinion(Verdict.UNJUDGED, NOT_IN_STORE)
        return [self.known.get(one.triple, nothing) for one in trials]


def look_up(
    store: VerdictStore,
    judge: str | None,
    trials: Iterable[AuditTrial],
    report: Callable[[str], None],
) -> Opinions:
    """Return what a judge, or people, said before; of several verdicts the last counts.

    Args:
        store: Where it stands.
        judge: The judge's name; None for people.
        trials: Of which trials.
        report: Is told of answers that were judged under several prompts or settings.

    Raises:
        ValueError: If the store holds no verdict of that judge, naming those it knows.
        StoreError: If it is damaged, or can't be read.
    """
    triples = {one.triple for one in trials}
    if judge is None:
        people = store.human(triples, replies=True)
        return Opinions({triple: _opinion(said) for triple, said in people.items()})
    judges = store.judges()
    meant = [one for one in judges if one.model == judge]
    if not meant:
        names = ', '.join(sorted({one_line(one.model) for one in judges}))
        raise ValueError(
            f'{store.path}: no verdict of {judge!r} in it; there are those of {names or "nobody"}'
        )
    last: dict[Triple, StoredVerdict] = {}
    several = set()
    for identity in meant:
        for triple, said in store.get(identity, triples, replies=True).items():
            if triple in last:
                several.add(triple)
            if triple not in last or _rank(last[triple]) <= _rank(said):
                last[triple] = said
    if several:
        report(
            f'{judge} judged {len(several)} of the answers under several prompts or settings: its '
            'last verdict counts'
        )
    return Opinions({triple: _opinion(said) for triple, said in last.items()})


def ask_now(
    judge: Judge,
    settings: JudgeSettings,
    store: VerdictStore,
    trials: Iterable[AuditTrial],
    *,
    progress: bool = False,
) -> tuple[Opinions, Ledger]:
    """Return what a judge says of the final answers of trials; the store is asked before it is.

    Neither rules nor people are heard, since it is the judge who is audited.

    Args:
        judge: Who is asked.
        settings: With which prompt and menu.
        store: Keeps each verdict the moment it arrives, with the judge's own words.
        trials: Trials, each of which gives an answer.
        progress: Show a bar on standard error.

    Raises:
        ValueError: If the prompt can't be read.
        JudgeError: If the judge can't be asked at all; what it said before is in the store.
    """
    prompted = PromptedJudge(judge, settings, store)
    cases = {
        one.triple: Candidate(
            *one.triple,
            language=one.problem.language or one.problem.groups.get('language', ''),
        )
        for one in trials
    }
    ledger = Ledger(price_per_mtok=settings.prices)
    found = prompted.recall(cases)
    ledger.saved['store'] = len(found)
    pending = {triple: case for triple, case in cases.items() if triple not in found}
    found |= prompted.ask(pending, ledger, progress=progress).judgements
    replies = {
        triple: said.reply
        for identity in prompted.identities.values()
        for triple, said in store.get(identity, cases, replies=True).items()
    }
    return Opinions(
        {
            triple: Opinion(one.verdict, one.reason, replies.get(triple, ''))
            for triple, one in found.items()
        }
    ), ledger


def _rank(said: StoredVerdict) -> tuple[bool, float]:
    """Return what is greater for the verdict to take: one that is none stands behind all others."""
    return said.verdict is not Verdict.UNJUDGED, said.created or 0.0


def _opinion(said: StoredVerdict) -> Opinion:
    return Opinion(said.verdict, said.reason, said.reply)
