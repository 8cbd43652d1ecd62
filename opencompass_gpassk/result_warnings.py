"""What a reader of a result's figures is warned of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opencompass_gpassk.bounds import bounds_line
from opencompass_gpassk.metrics.independence import Independence
from opencompass_gpassk.protocol import Protocol

__all__ = ['MANY_TRUNCATED', 'response_warnings', 'result_warnings']

MANY_TRUNCATED = 1.0  # percent
MANY_WITHOUT_ANSWER = 50.0


def result_warnings(
    protocol: Protocol,
    result: Mapping[str, Any],
    audit: Independence,
    sampling: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Return what makes the figures of a result less than they seem.

    Args:
        protocol: What was measured.
        result: The result, without its warnings.
        audit: Of the independence of the responses.
        sampling: The distinct parameters under which responses were drawn.
    """
    counts, ks = result['counts'], protocol.ks
    found = _verdict_warnings(protocol, result)
    if ks and protocol.n < 3 * max(ks):
        found.append(
            f'n = {protocol.n} is less than 3k = {3 * max(ks)}: the estimates of G-Pass@{max(ks)} '
            'are noisy; sample each problem more often'
        )
    if result['no answer'] > MANY_WITHOUT_ANSWER:
        found.append(
            f'in {result["no answer"]:.0f} % of the responses no final answer was found, which '
            r'counts as wrong; ask for one in \boxed{}, or look at the responses'
        )
    if versions := result.get('versions'):
        found += _version_warnings(versions)
    for k, excluded in counts['excluded'].items():
        if excluded:
            found.append(
                f'{excluded} of {counts["problems"]} problems have fewer than k = {k} judged '
                f'responses and are left out of the figures at {k}'
            )
    return found + response_warnings(result, protocol.n, audit, sampling)


def response_warnings(
    result: Mapping[str, Any], n: int, audit: Independence, sampling: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return what is wrong with the responses themselves, whoever judges them.

    Args:
        result: With ``counts`` and ``truncated``.
        n: Samples of each problem.
        audit: Of the independence of the responses.
        sampling: The distinct parameters under which responses were drawn.
    """
    counts, found = result['counts'], []
    if n > 1 and (copies := audit.warning()):
        found.append(copies)
    if counts['lost']:
        found.append(
            f'{counts["lost"]} of {counts["trials"]} responses are lost (inference failed)'
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


def _verdict_warnings(protocol: Protocol, result: Mapping[str, Any]) -> list[str]:
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
            f'or all right, the figures over all problems would be {line}'
        )
    reasoning = result.get('reasoning') or {}
    for k, excluded in (reasoning.get('excluded') or {}).items():
        if excluded > counts['excluded'][k]:
            found.append(
                f'{excluded} of {counts["problems"]} problems have fewer than k = {k} responses '
                f'with a verdict and scores and are left out of the sound figures at {k}'
            )
    sound = reasoning.get('sound') or {}
    if sound.get('unknown') and (line := bounds_line(result['bounds'], protocol, sound=True)):
        found.append(
            f'of {sound["unknown"]} of {sound["right"]} right responses nobody knows whether the '
            'reasoning is sound: the sound figures are over the responses with scores; over all, '
            f'whatever the others are, they would be {line}'
        )
    return found


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
