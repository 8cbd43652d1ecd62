"""From answers to verdicts: people, rules, the store and a judge are consulted, in this order.

Identical (question, gold, answer) triples are judged once, over all replicas of all problems. Each
reply of the judge is stored as soon as it arrives. Answers without a verdict stay unjudged.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from opencompass_gpassk.answers.extract import spoken
from opencompass_gpassk.judging.judge import Candidate, Judge, JudgeError, Ledger, Triple
from opencompass_gpassk.judging.prompted_judge import PromptedJudge, judgement_of, make_judge
from opencompass_gpassk.judging.rules import (
    NO_ANSWER,
    final_answer,
    judge_answers,
    reason_counts,
)
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.store import StoreError, VerdictStore
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.runs.predictions import Response
from opencompass_gpassk.trials import Problem, Verdict

__all__ = ['Judged', 'Pipeline', 'Verdicts', 'judge_responses', 'require_coverage']

Decided = Callable[[Candidate, Judgement], object]
ROUNDING = 1e-9  # trials; rounding must not put 8 of 10 above a share of 1 - 0.2


@dataclass(frozen=True)
class Judged:
    """The result of judging.

    Attributes:
        judgements: One per candidate, in order.
        ledger: Costs, and calls saved.
        transient: Number of candidates left unjudged by a temporary failure, by its kind.
    """

    judgements: list[Judgement]
    ledger: Ledger
    transient: Counter[str] = field(default_factory=Counter)


class Pipeline:
    """Judges candidates under one set of settings.

    Args:
        settings: How verdicts are reached.
        store: The verdict store; None keeps no verdicts.
        judge: The judge; by default the one that the settings name.
        progress: Show bars on standard error.
        decided: Takes each verdict by rule as it is reached.

    Raises:
        ValueError: If the settings need a judge but name none, or its prompt can't be read.
    """

    def __init__(
        self,
        settings: JudgeSettings,
        store: VerdictStore | None = None,
        *,
        judge: Judge | None = None,
        progress: bool = False,
        decided: Decided = lambda case, judgement: None,
    ) -> None:
        self.settings = settings
        self.decided = decided
        self.store = store
        self.progress = progress
        self.judge: PromptedJudge | None = None
        if settings.mode != 'rule':
            self.judge = PromptedJudge(judge or make_judge(settings), settings, store)

    @property
    def signature(self) -> str:
        """Mode and judge, with a hash of all settings that a verdict depends on."""
        if self.judge is None:
            return self.settings.rules
        return f'{self.settings.mode}:{self.judge.judge.model}:{self.judge.name}'

    def run(self, candidates: Sequence[Candidate]) -> Judged:
        """Judge T candidates.

        Raises:
            JudgeError: If the judge can't be asked at all; its earlier verdicts are in the store.
        """
        triples = [self._triple(candidate) for candidate in candidates]
        cases: dict[Triple, Candidate] = {}
        for triple, candidate in zip(triples, candidates, strict=True):
            # Rules can read the answer 7, but not a response that merely ends in 7.
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
        """Return the result's description of how its verdicts were reached."""
        told: dict[str, Any] = {'mode': self.settings.mode, 'match': self.settings.match}
        if self.signature != 'rule' and not self.judge:
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
        reached = reason_counts(judged.judgements)
        return told | {'reasons': reached, 'unjudged': dict(reasons.most_common())}

    def _triple(self, candidate: Candidate) -> Triple | None:
        """Return the triple of a candidate that is judged; None if nothing is judged."""
        text = candidate.answer
        if self.judge and text is not None and self.settings.candidate == 'response':
            text = spoken(candidate.response)
        if self.judge and text is None and self.settings.no_answer == 'tail':
            text = spoken(candidate.response).strip()[-self.settings.tail_length :] or None
        return None if text is None else Triple(candidate.question, candidate.gold, text)

    def _by_human(self, cases: Mapping[Triple, Candidate]) -> dict[Triple, Judgement]:
        if self.store is None:
            return {}
        # People judge the final answer, even if the judge sees the whole response.
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
            [(case.gold, case.answer or '', case.question) for case in ruled.values()],
            match=self.settings.match,
            undecided=self.settings.undecided,
            progress=self.progress,
        )
        kept = set(Verdict)
        if self.judge:  # other verdicts are left to the judge
            kept = {Verdict.CORRECT}
            kept |= set() if self.settings.recheck_different else {Verdict.INCORRECT}
        found = {}
        for (triple, case), judgement in zip(ruled.items(), judgements, strict=True):
            if judgement.verdict in kept:
                found[triple] = judgement
                self.decided(case, judgement)
        return found

    def _by_store(
        self, cases: Mapping[Triple, Candidate], ledger: Ledger
    ) -> dict[Triple, Judgement]:
        return self.judge.recall(cases, ledger) if self.judge else {}


def _kept_settings(settings: JudgeSettings) -> dict[str, Any]:
    """Return the settings for a later rescoring; {} if JSON can't hold a model's config."""
    given = settings.resolved()
    try:
        json.dumps(given)
    except (TypeError, ValueError):
        return {}
    return {'settings': given}


def _judgement(
    settled: Mapping[Triple, Judgement], triple: Triple | None, candidate: Candidate
) -> Judgement:
    """Return a candidate's judgement, with the candidate's own answer."""
    if triple is None:
        return NO_ANSWER
    found = settled[triple]
    return found if found.answer == candidate.answer else replace(found, answer=candidate.answer)


def require_coverage(judged: Judged, trials: int, min_coverage: float, remedy: str) -> None:
    """Raise a JudgeError if temporary failures left too many trials without a verdict.

    Permanent refusals and unreadable replies don't count, since asking again would not help.

    Args:
        judged: The result of judging.
        trials: Number of all trials.
        min_coverage: Least share of the trials, in [0, 1], without a temporary failure.
        remedy: How to go on.

    Raises:
        JudgeError: If the share is lower.
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


LEFT_OUT = "people's verdicts are left out: {}"


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on responses, and their description in a result.

    Attributes:
        judgements: One for each response that is not lost, in order.
        signature: The mode or judge, with a hash of the settings.
        description: Mode, judge and ledger.
        notes: Notes for readers of the result.
    """

    judgements: list[Judgement]
    signature: str
    description: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def judge_responses(
    problems: Sequence[Problem],
    responses: Sequence[Response],
    settings: JudgeSettings,
    store: Path | None,
    *,
    min_coverage: float,
    again: str,
    after: str = '',
    report: Callable[[str], None],
    decided: Decided = lambda case, judgement: None,
) -> Verdicts:
    """Judge the responses that are not lost.

    Args:
        problems: The problems that the responses answer.
        responses: T responses, each with its identity.
        settings: How verdicts are reached.
        store: The file of the verdict store; None keeps no verdicts. If no judge is asked, it is
            only read for people's verdicts, if it exists.
        min_coverage: Least share of the responses, in [0, 1], that temporary failures may leave;
            see :func:`require_coverage`.
        again: How to judge once more, such as ``run the command again``.
        after: How to do so once there is a result; by default as ``again`` says.
        report: Takes messages on the progress.
        decided: Takes each verdict by rule on a distinct answer as it is reached.

    Raises:
        JudgeError: If the judge can't be asked, or fails too often; its verdicts are kept.
        ValueError: If the settings, the prompt or the store can't be used.
    """
    present = [response for response in responses if not response.lost]
    notes: list[str] = []
    with ExitStack() as stack:
        kept = _opened(store, settings, notes)
        if kept is not None:
            stack.enter_context(kept)
        pipeline = Pipeline(settings, kept, progress=True, decided=decided)
        candidates = _candidates(problems, present)
        try:
            judged = pipeline.run(candidates)
        except StoreError as error:
            if pipeline.judge:
                raise
            notes.append(LEFT_OUT.format(error))
            judged = Pipeline(settings, progress=True, decided=decided).run(candidates)
        notes += [kept.damage] if kept and kept.damage else []
    if pipeline.judge:
        kept_in = f'; verdicts are kept in {store}' if store else ''
        report(f'{_ledger_line(judged.ledger)}{kept_in}')
    require_coverage(
        judged,
        len(present),
        min_coverage,
        f'{again} when the judge is available: no verdict is paid for twice. Or accept the gap '
        'with a lower min_coverage',
    )
    people = sum(one.source == 'human' for one in judged.judgements)
    if people:
        notes.append(f"{people} of {len(responses)} verdicts are a person's")
    reasons = _lasting(judged)
    remedy = ''
    if reasons and pipeline.judge and store:
        remedy = f'to ask it again: gpassk verdicts prune {shlex.quote(str(store))} --judge '
        remedy += f'{shlex.quote(pipeline.judge.judge.model)} --unjudged --yes, '
        remedy += f'then {after or again}'
        shown = ', '.join(f'{reason} ({count})' for reason, count in reasons.most_common(3))
        notes.append(f'the judge gave no verdict of {reasons.total()} responses: {shown}; {remedy}')
    _require_verdicts(judged, remedy)
    return Verdicts(judged.judgements, pipeline.signature, pipeline.describe(judged), notes)


def _require_verdicts(judged: Judged, remedy: str) -> None:
    """Raise an error if the judge gave no verdict at all: figures would cover other trials only.

    Raises:
        JudgeError: If the judge was needed, and called no answer correct or incorrect.
    """
    by_judge = [one for one in judged.judgements if one.source == 'judge']
    if by_judge and all(one.verdict is Verdict.UNJUDGED for one in by_judge):
        raise JudgeError(
            f'no result is made, because the judge gave no verdict that can be read: '
            f'{by_judge[0].reason} ({len(by_judge)} answers). Set prompt, menu and max_tokens of '
            f'judge to what this model was made for; {remedy or "then judge again"}'
        )


def _opened(store: Path | None, settings: JudgeSettings, notes: list[str]) -> VerdictStore | None:
    """Open the store; without a judge only for reading people's verdicts, if it is readable."""
    if store is None or (settings.mode == 'rule' and not store.exists()):
        return None
    if settings.mode != 'rule':
        return VerdictStore(store)
    try:
        return VerdictStore(store, read_only=True)
    except (StoreError, ValueError) as error:
        notes.append(LEFT_OUT.format(error))
        return None


def _candidates(problems: Sequence[Problem], responses: Sequence[Response]) -> list[Candidate]:
    known = {problem.problem_id: problem for problem in problems}
    found = []
    for response in responses:
        problem = known[response.identity[0]] if response.identity else Problem('')
        found.append(
            Candidate(
                problem.question,
                problem.gold,
                final_answer(response.text, processed=response.is_answer),
                response.text,
                problem.language or problem.groups.get('language', ''),
            )
        )
    return found


def _lasting(judged: Judged) -> Counter[str]:
    """Count the permanent reasons for missing verdicts: asking again at once would not help."""
    reasons = Counter(
        one.reason.partition(':')[0]
        for one in judged.judgements
        if one.verdict is Verdict.UNJUDGED and one.source == 'judge'
    )
    return reasons - judged.transient


def _ledger_line(ledger: Ledger) -> str:
    saved = ', '.join(f'{what} {count}' for what, count in ledger.saved.items() if count)
    line = f'judge: {ledger.calls} calls, {ledger.retries} of them repeated'
    line += f'; saved: {saved}' if saved else ''
    if ledger.failures:
        kinds = ', '.join(f'{kind} {count}' for kind, count in ledger.failures.most_common())
        line += f'; failures: {kinds}'
    return line
