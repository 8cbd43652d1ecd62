"""From judged responses to the result of one model on one data set, and the files that hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from opencompass_gpassk import __version__
from opencompass_gpassk.bounds import bounds, bounds_line
from opencompass_gpassk.judging.rules import answer_classes
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.metrics.independence import Independence, audit_independence
from opencompass_gpassk.predictions import Response
from opencompass_gpassk.results import Protocol, figures, problem_rows
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict
from opencompass_gpassk.trials_file import write_trials

__all__ = ['MANY_TRUNCATED', 'audit_responses', 'make_result', 'make_table', 'store']

MANY_TRUNCATED = 1.0  # percent


def make_table(
    problems: Sequence[Problem],
    responses: Sequence[Response],
    judgements: Sequence[Judgement],
    *,
    progress: bool = False,
) -> TrialTable:
    """Join responses (which must hold their identity) and judgements to a trial table.

    ``judgements`` belong to the responses that are not lost, in their order.
    """
    judged = iter(judgements)
    rows = [
        Judgement(Verdict.UNJUDGED, None, response.lost, '') if response.lost else next(judged)
        for response in responses
    ]
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
            response=response.location,
        )
        for (problem_id, replica), response, row, answer_class in zip(
            identities, responses, rows, classes, strict=True
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
        notes: Warnings besides those that the responses and the figures give cause for.
    """
    result = figures(table, protocol)
    audit = audit_responses(responses)
    sampling = _samplings(responses)
    result |= {
        'identical': 100 * audit.identical,
        'duplicates': 100 * audit.duplicates,
        'benchmark': benchmark,
        'k': list(protocol.ks),
        'taus': [float(tau) for tau in protocol.taus],
        'signature': {
            'package': __version__,
            'data': f'{benchmark}:{data_version}',
            'n': protocol.n,
            'k': list(protocol.ks),
            'sampling': sampling[0] if len(sampling) == 1 else {'mixed': len(sampling)},
            'judge': judge,
            'prompt': prompt,
            **_thresholds(result),
        },
        'judging': dict(judging or {}),
        'bounds': bounds(table, protocol),
    }
    result['warnings'] = [*_warnings(table, protocol, result, audit, sampling), *notes]
    result['details'] = problem_rows(table)
    return result


def store(path: Path, table: TrialTable, result: dict[str, Any]) -> None:
    """Write the trials behind a result, whose ``trials_file`` then names the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    meta = {key: result[key] for key in ('benchmark', 'k', 'taus', 'signature')}
    write_trials(path, table, meta)
    result['trials_file'] = path.name


def _warnings(
    table: TrialTable,
    protocol: Protocol,
    result: Mapping[str, Any],
    audit: Independence,
    sampling: Sequence[Mapping[str, Any]],
) -> list[str]:
    counts, found = result['counts'], []
    unjudged = counts['unjudged'] - counts['lost']
    if unjudged:
        found.append(
            f'{unjudged} of {counts["trials"]} responses are unjudged: they are not counted as '
            'wrong, but leave their problems with fewer samples'
        )
    if result['bounds'] and (line := bounds_line(result['bounds'], protocol)):
        found.append(
            f'coverage is {result["coverage"]:.2f} %: were all responses without a verdict wrong, '
            f'or all right, the figures would be {line}'
        )
    ks = protocol.ks
    if ks and protocol.n < 3 * max(ks):
        found.append(
            f'n = {protocol.n} is less than 3k = {3 * max(ks)}: the estimates of G-Pass@{max(ks)} '
            'are noisy; sample each problem more often'
        )
    if protocol.n > 1 and (copies := audit.warning()):
        found.append(copies)
    if versions := result.get('versions'):
        found += _version_warnings(versions)
    if counts['lost']:
        found.append(
            f'{counts["lost"]} of {counts["trials"]} responses are lost (inference failed)'
        )
    for k, excluded in counts['excluded'].items():
        if excluded:
            found.append(
                f'{excluded} of {counts["problems"]} problems have fewer than k = {k} judged '
                f'responses and are left out of the figures at {k}'
            )
    if result['truncated'] > MANY_TRUNCATED:
        found.append(
            f'{result["truncated"]:.1f} % of the responses are cut off, at max_out_len or where '
            'the model has no more room; raise what is the lower'
        )
    if len(sampling) > 1:
        found.append(
            f'the responses were drawn under {len(sampling)} different sampling settings; '
            'run the inference again under one of them'
        )
    return found


def _thresholds(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the thresholds of understanding, where questions have versions."""
    versions = result.get('versions') or {}
    return {name: versions[name] for name in ('complete', 'collapsed') if name in versions}


def _version_warnings(versions: Mapping[str, Any]) -> list[str]:
    found = []
    groups = versions['groups']
    if versions['incomplete']:
        found.append(
            f'{versions["incomplete"]} of {groups + versions["incomplete"]} questions have fewer '
            f'than {versions["per_group"]} versions here: they count for the accuracy on versions, '
            'but not for what relates the versions of a question'
        )
    missing = groups - versions['originals']
    if missing:
        found.append(
            f'the originals of {missing} of {groups} questions are not in this data set: their CR, '
            'OOR, understanding and drop are undefined'
        )
    unjudged = {
        name: count - (0 if name.startswith('GA@') else missing)
        for name, count in versions['excluded'].items()
    }
    if any(count > 0 for count in unjudged.values()):
        told = ', '.join(f'{name} ({count})' for name, count in unjudged.items() if count > 0)
        found.append(
            f'of {groups} questions some have a version or an original without a judged response '
            f'and are left out of {told}'
        )
    return found


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
