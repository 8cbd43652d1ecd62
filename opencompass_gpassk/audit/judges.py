"""Verdicts of judges as sources of an audit: what one said before, what one says when asked now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from opencompass_gpassk.audit.sources import Opinion
from opencompass_gpassk.audit.trials import AuditTrial
from opencompass_gpassk.judging.judge import Candidate, Judge, Triple
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.prompted import PromptedJudge
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.storage.rows import (
    COLUMNS,
    HUMAN,
    encode,
    judge_key,
    read_reply,
    read_verdict_row,
    triple_key,
)
from opencompass_gpassk.judging.store import VerdictStore
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
    if judge is None:
        return Opinions(_read(store, [HUMAN], {one.triple for one in trials})[0])
    with store.reading() as connection:
        rows = connection.execute('SELECT model, digest FROM judges').fetchall()
    keys = [digest for model, digest in rows if model == encode(judge)]
    if not keys:
        names = sorted({bytes(model).decode('utf-8', 'replace') for model, _ in rows})
        raise ValueError(
            f'{store.path}: no verdict of {judge!r} in it; there are those of '
            f'{", ".join(names) or "nobody"}'
        )
    known, several = _read(store, keys, {one.triple for one in trials})
    if several:
        report(
            f'{judge} judged {several} of the answers under several prompts or settings: its last '
            'verdict counts'
        )
    return Opinions(known)


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
        one.triple: Candidate(*one.triple, language=one.problem.groups.get('language', ''))
        for one in trials
    }
    ledger = Ledger(price_per_mtok=settings.prices)
    found = prompted.recall(cases)
    ledger.saved['store'] = len(found)
    pending = {triple: case for triple, case in cases.items() if triple not in found}
    found |= prompted.ask(pending, ledger, progress=progress).judgements
    keys = [judge_key(identity) for identity in prompted.identities.values()]
    kept, _ = _read(store, keys, cases)
    return Opinions(
        {
            triple: Opinion(one.verdict, one.reason, kept[triple].reply if triple in kept else '')
            for triple, one in found.items()
        }
    ), ledger


def _read(
    store: VerdictStore, judges: Sequence[bytes], triples: Iterable[Triple]
) -> tuple[dict[Triple, Opinion], int]:
    """Return the last verdict on each triple, and on how many triples there are several."""
    found: dict[Triple, Opinion] = {}
    several = 0
    marks = ', '.join('?' * len(judges))
    for triple in triples:
        with store.reading() as connection:
            rows = connection.execute(
                f'SELECT {COLUMNS}, reply FROM verdicts WHERE judge IN ({marks}) AND triple = ? '
                'ORDER BY created, id',
                (*judges, triple_key(triple)),
            ).fetchall()
            if rows:
                *columns, reply = rows[-1]
                said = read_verdict_row(columns)
                found[triple] = Opinion(said.verdict, said.reason, read_reply(reply))
        several += len(rows) > 1
    return found, several
