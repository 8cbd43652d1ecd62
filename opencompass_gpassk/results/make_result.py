"""From judged responses to the result of one model on one data set, and the files that hold it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from opencompass_gpassk import __version__
from opencompass_gpassk.judging.rules import answer_classes
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.metrics.independence import Independence, audit_independence
from opencompass_gpassk.results.figure_intervals import (
    IntervalSettings,
    figure_intervals,
    reasoning_intervals,
)
from opencompass_gpassk.results.figures import NOBODY, figures, headline_trials, reasoning_figures
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.soundness import ReasoningColumns, scored_trials, sound_trials
from opencompass_gpassk.results.warnings import bounds, response_warnings, result_warnings
from opencompass_gpassk.runs.predictions import Response
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict, write_trials

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.score_responses import ResponseScores, ScoredResponse

__all__ = [
    'audit_responses',
    'make_reasoning_result',
    'make_result',
    'make_table',
    'problem_rows',
    'store',
]


def problem_rows(table: TrialTable, sound: float | None = None) -> list[dict[str, object]]:
    """Return n, c and the distinct answers with their counts, for each problem.

    Args:
        table: The trials.
        sound: Least validity of sound reasoning, where it is scored; ``sound`` of a row is then
            how many of the c are sound.
    """
    n, c = table.counts()
    of_sound = None if sound is None else sound_trials(table, sound).counts()[1]
    return [
        {
            'problem_id': problem.problem_id,
            **({'version': problem.version} if problem.version else {}),
            **({'cluster': problem.cluster} if problem.cluster else {}),
            **problem.groups,
            'gold': problem.gold,
            'n': int(n[index]),
            'c': int(c[index]),
            **({} if of_sound is None else {'sound': int(of_sound[index])}),
            'answers': _answers(trials),
        }
        for index, (problem, trials) in enumerate(
            zip(table.problems, table.by_problem(), strict=True)
        )
    ]


def _answers(trials: Sequence[Trial]) -> list[dict[str, object]]:
    first: dict[tuple[int, Verdict, str], Trial] = {}
    counts: Counter[tuple[int, Verdict, str]] = Counter()
    for trial in trials:
        key = (trial.answer_class, trial.verdict, trial.source)
        first.setdefault(key, trial)
        counts[key] += 1
    return [
        {
            'answer': _printable(first[key].answer),
            'count': count,
            'verdict': key[1].value,
            'source': key[2],
        }
        for key, count in counts.most_common()
    ]


def _printable(answer: str | None) -> str | None:
    # OpenCompass writes results unescaped, which a lone surrogate of a model would break off.
    return answer and answer.encode('utf-8', 'replace').decode('utf-8')


INTERVALS = IntervalSettings()


def make_table(
    problems: Sequence[Problem],
    responses: Sequence[Response],
    judgements: Sequence[Judgement],
    reasoning: Sequence[ScoredResponse] | None = None,
    *,
    progress: bool = False,
) -> TrialTable:
    """Join responses (which must hold their identity), judgements and scores to a trial table.

    ``judgements`` and ``reasoning``, where it is scored, belong to the responses that are not lost,
    in their order.
    """
    judged = iter(judgements)
    rows = [
        Judgement(Verdict.UNJUDGED, None, response.lost, '') if response.lost else next(judged)
        for response in responses
    ]
    scored = iter(reasoning or ())
    scores = [None if one.lost or reasoning is None else next(scored) for one in responses]
    identities = [_identity(response) for response in responses]
    classes = answer_classes([problem for problem, _ in identities], rows, progress=progress)
    trials = [
        Trial(
            problem_id=problem_id,
            replica=replica,
            verdict=row.verdict,
            source=row.source,
            answer=row.answer,
            answer_class=answer_class,
            reason=row.reason,
            lost=bool(response.lost),
            truncated=response.truncated,
            num_tokens=response.num_tokens,
            values=score.values if score else {},
            unscored=score.unscored if score else '',
            response=response.location,
        )
        for (problem_id, replica), response, row, answer_class, score in zip(
            identities, responses, rows, classes, scores, strict=True
        )
    ]
    return TrialTable(problems, trials)


def audit_responses(responses: Sequence[Response]) -> Independence:
    """Audit the independence of the responses that are not lost, as the model gave them."""
    present = [response for response in responses if not response.lost]
    problems = {pid: i for i, pid in enumerate(dict.fromkeys(_identity(r)[0] for r in present))}
    texts = {text: i for i, text in enumerate(dict.fromkeys(r.raw for r in present))}
    return audit_independence(
        problem=np.array([problems[_identity(r)[0]] for r in present], dtype=np.int64),
        replica=np.array([_identity(r)[1] for r in present], dtype=np.int64),
        text=np.array([texts[r.raw] for r in present], dtype=np.int64),
        length=np.array([len(r.raw) for r in present], dtype=np.int64),
    )


def make_result(
    table: TrialTable,
    protocol: Protocol,
    responses: Sequence[Response],
    *,
    benchmark: str,
    data_version: str,
    judge: str,
    prompt: str,
    judging: Mapping[str, Any] | None = None,
    reasoning: ResponseScores | None = None,
    intervals: IntervalSettings | None = INTERVALS,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the result of one model on one data set, as it is stored in its JSON file.

    Args:
        table: The trials.
        protocol: n, k, τ and groups.
        responses: The trials' responses, for the audit and the sampling parameters.
        benchmark: What the problems are, in the name that results are joined by.
        data_version: Version of the problems.
        judge: Who judged.
        prompt: Hash of the prompts.
        judging: How the verdicts came about, and what they cost.
        reasoning: The scores of the responses' reasoning, where ``protocol.sound`` asks for it.
        intervals: How confidence intervals are made; None makes none.
        notes: Warnings besides those that the responses and the figures give cause for.
    """
    result = figures(table, protocol)
    audit = audit_responses(responses)
    sampling = _samplings(responses)
    result |= _shares(audit) | {
        'benchmark': benchmark,
        'k': list(protocol.ks),
        'taus': [float(tau) for tau in protocol.taus],
        'signature': {
            'package': __version__,
            'data': f'{benchmark}:{data_version}',
            'n': protocol.n,
            'k': list(protocol.ks),
            'sampling': _one(sampling),
            'judge': judge,
            'prompt': prompt,
            **_thresholds(result),
            **({'reasoning': reasoning.signature} if reasoning else {}),
        },
        'judging': dict(judging or {}),
        'bounds': bounds(table, protocol),
    }
    if intervals:
        result |= figure_intervals(table, protocol, intervals)
    if reasoning:
        headline = headline_trials(table)
        n, _ = scored_trials(headline).counts()
        result['reasoning'] = reasoning.describe() | {
            **ReasoningColumns.of(headline).summary(protocol.sound),
            'excluded': {str(k): int((n < k).sum()) for k in protocol.ks},
        }
        notes = [*notes, *reasoning.notes]
    result['warnings'] = [*result_warnings(protocol, result, audit, sampling), *notes]
    result['details'] = problem_rows(table, protocol.sound)
    return result


def make_reasoning_result(
    table: TrialTable,
    groups: Sequence[tuple[str, ...]],
    responses: Sequence[Response],
    reasoning: ResponseScores,
    *,
    n: int,
    benchmark: str,
    data_version: str,
    prompt: str,
    intervals: IntervalSettings | None = INTERVALS,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the result of scored reasoning whose answers nobody judged.

    Args:
        table: The trials, all of them unjudged.
        groups: Breakdowns; each is a tuple of the problems' group fields.
        responses: The trials' responses.
        reasoning: The scores of their reasoning.
        n: Samples of each problem.
        benchmark: What the problems are, in the name that results are joined by.
        data_version: Version of the problems.
        prompt: Hash of the prompts.
        intervals: How confidence intervals are made; None makes none.
        notes: Warnings besides those that the responses give cause for.
    """
    result = reasoning_figures(table, groups)
    if intervals:
        result |= reasoning_intervals(table, groups, intervals)
    audit = audit_responses(responses)
    sampling = _samplings(responses)
    result |= _shares(audit) | {
        'benchmark': benchmark,
        'signature': {
            'package': __version__,
            'data': f'{benchmark}:{data_version}',
            'n': n,
            'sampling': _one(sampling),
            'judge': NOBODY,
            'prompt': prompt,
            'reasoning': reasoning.signature,
        },
        'reasoning': reasoning.describe() | ReasoningColumns.of(table).summary(None),
    }
    told = response_warnings(result, n, audit, sampling)
    result['warnings'] = [*told, *notes, *reasoning.notes]
    return result


def store(path: Path, table: TrialTable, result: dict[str, Any]) -> None:
    """Write the trials behind a result, whose ``trials_file`` then names the file."""
    names = ('benchmark', 'k', 'taus', 'signature')
    meta: dict[str, object] = {name: result[name] for name in names if name in result}
    write_trials(path, table, meta)
    result['trials_file'] = path.name


def _thresholds(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the thresholds of understanding, where questions have versions."""
    versions = result.get('versions') or {}
    return {name: versions[name] for name in ('complete', 'collapsed') if name in versions}


def _shares(audit: Independence) -> dict[str, float]:
    return {'identical': 100 * audit.identical, 'duplicates': 100 * audit.duplicates}


def _one(samplings: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the one setting that responses were drawn under, or how many there are."""
    return samplings[0] if len(samplings) == 1 else {'mixed': len(samplings)}


def _samplings(responses: Sequence[Response]) -> list[dict[str, Any]]:
    distinct: dict[str, dict[str, Any]] = {}
    for response in responses:
        if response.lost:
            continue
        sampling = response.sampling or {'unknown': True}
        distinct.setdefault(repr(sorted(sampling.items())), sampling)
    return list(distinct.values()) or [{'unknown': True}]


def _identity(response: Response) -> tuple[str, int]:
    if response.identity is None:
        raise ValueError(f'{response.location}: the response does not say which problem it answers')
    return response.identity
