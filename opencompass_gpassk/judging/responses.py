"""From responses to verdicts: what the evaluator and ``gpassk score`` ask of the pipeline."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opencompass_gpassk.judging.judge import Candidate, JudgeError
from opencompass_gpassk.judging.ledger import Ledger
from opencompass_gpassk.judging.pipeline import Judged, Pipeline, require_coverage
from opencompass_gpassk.judging.rules import final_answer
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.store import StoreError, VerdictStore
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.predictions import Response
from opencompass_gpassk.trials import Problem, Verdict

__all__ = ['Verdicts', 'judge_responses']

LEFT_OUT = "people's verdicts are left out: {}"


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of responses, and what a result says of them.

    Attributes:
        judgements: One for each response that is not lost, in their order.
        signature: Who judged, under settings that a hash names.
        description: Mode, judge and ledger.
        notes: What a reader of the result has to know.
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
) -> Verdicts:
    """Judge the responses that are not lost.

    Args:
        problems: What they answer.
        responses: T responses, each with its identity.
        settings: How verdicts are reached.
        store: The file that keeps verdicts; None keeps none. Where no judge is asked it is read if
            it is there, for what people said.
        min_coverage: Share of the responses, in [0, 1], that must not lack their verdict because
            of a failure that may pass.
        again: How to judge once more, such as ``run the command again``.
        after: The same where there is a result already; by default no other way.
        report: Is told of what happened on the way.

    Raises:
        JudgeError: If the judge can't be asked, or fails too often; its verdicts are kept.
        ValueError: If the settings, the prompt or the store are no good.
    """
    present = [response for response in responses if not response.lost]
    notes: list[str] = []
    with ExitStack() as stack:
        kept = _opened(store, settings, notes)
        if kept is not None:
            stack.enter_context(kept)
        pipeline = Pipeline(settings, kept, progress=True)
        candidates = _candidates(problems, present)
        try:
            judged = pipeline.run(candidates)
        except StoreError as error:
            if pipeline.judge:
                raise
            notes.append(LEFT_OUT.format(error))
            judged = Pipeline(settings, progress=True).run(candidates)
    if pipeline.judge:
        kept_in = f'; verdicts are kept in {store}' if store else ''
        report(f'{_ledger_line(judged.ledger)}{kept_in}')
    require_coverage(
        judged,
        len(present),
        min_coverage,
        f'{again} when the judge is there: no verdict is paid for twice. Or accept the gap with '
        'a lower min_coverage',
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
    """Refuse a judging in which the judge gave no verdict: the figures would be of what is left.

    Raises:
        JudgeError: If it was needed, and of no answer it said right or wrong.
    """
    by_judge = [one for one in judged.judgements if one.source == 'judge']
    if by_judge and all(one.verdict is Verdict.UNJUDGED for one in by_judge):
        raise JudgeError(
            f'no result is made, since the judge gave no verdict that can be read: '
            f'{by_judge[0].reason} ({len(by_judge)} answers). Set prompt, menu and max_tokens of '
            f'judge to what this model was made for; {remedy or "then judge again"}'
        )


def _opened(store: Path | None, settings: JudgeSettings, notes: list[str]) -> VerdictStore | None:
    """Open the store; where no judge is asked, only to read what people said, if that can be."""
    if store is None or (settings.mode == 'rule' and not store.exists()):
        return None
    if settings.mode != 'rule':
        return VerdictStore(store, report=notes.append)
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
    """Count why the judge has no verdict of responses, where to ask again at once won't help."""
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
