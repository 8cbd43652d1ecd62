"""One asking of a judge: what is sent, how replies are read, what is kept and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from opencompass_gpassk.answers.extract import spoken
from opencompass_gpassk.judging.judge import Candidate, Failure, JudgeError, Reply, Triple
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.progress import JudgingBar
from opencompass_gpassk.judging.store import StoredVerdict
from opencompass_gpassk.judging.verdict import Judgement, Menu, read_verdict
from opencompass_gpassk.text import one_line
from opencompass_gpassk.trials import Verdict

if TYPE_CHECKING:
    from opencompass_gpassk.judging.prompted import PromptedJudge

__all__ = ['Inquiry', 'judgement_of']

UNREADABLE = 'unreadable reply of the judge'
CUT_OFF = 'reply of the judge cut off at max_tokens'
EXCERPT = 80  # characters of an unreadable reply that are shown, its last ones
SUSPICIOUS = 16  # unreadable replies and not one verdict: the prompt or the menu is wrong


class Inquiry:
    """One asking of a judge about triples, each with one of the candidates it stands for.

    Unreadable replies are held back until a first verdict shows that the judge gives verdicts of
    the menu: else a wrong prompt would be stored as the fault of every answer.

    Attributes:
        judgements: One for each triple that is settled.
        transient: Of these, the ones without a verdict for a failure that may pass, with its kind.
        recalled: How many of them another task had asked about meanwhile.
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
        """Yield what the judge is to be asked, but for what another task has asked meanwhile."""
        for triple, case in self._cases.items():
            known = self._judge.recall({triple: case}, self._ledger)
            if known:
                self.judgements |= known
                self.recalled += 1
                self._bar.advance()
            else:
                yield triple, self._judge.prompt(case, triple)

    def receive(self, triple: Triple, outcome: Reply | Failure) -> bool:
        """Take what came of a triple; tell whether to ask once more.

        Raises:
            JudgeError: If many replies came and none could be read.
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
        """Settle what was held back: as what may pass, if there was a failure and no verdict."""
        while self._held:
            triple, said = self._held.popitem()
            if self.transient and not self._judge.readable:
                self._pass_by(triple, UNREADABLE, said.reason)
            else:
                self._settle(triple, said)

    def _pass_by(self, triple: Triple, kind: str, reason: str) -> None:
        """Leave a triple unjudged for what may pass: it is not stored."""
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
    """Return a kept verdict as that of a candidate."""
    return Judgement(said.verdict, case.answer, said.reason, source)


def read(outcome: Reply | Failure, menu: Menu) -> StoredVerdict:
    """Return the verdict in a reply; that of a lasting failure is why there is none."""
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
    """Return a failure as the reason of a trial that is unjudged."""
    return f'{failure.kind}: {failure.detail}' if failure.detail else failure.kind


def excerpt(reply: str) -> str:
    """Return the end of a reply's words outside its thoughts, on one line and in quotes."""
    words = one_line(spoken(reply)[-10 * EXCERPT :])
    return repr(words if len(words) <= EXCERPT else f'…{words[-EXCERPT:]}')
