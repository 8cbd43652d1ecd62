"""What a reader of a result's figures is warned of."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from opencompass_gpassk.metrics.independence import Independence
from opencompass_gpassk.results.figures import headline_figures, problem_figures
from opencompass_gpassk.results.protocol import MAJORITY_VOTE, Protocol, accuracy_key
from opencompass_gpassk.results.soundness import SOUND, scored_trials, surely_sound_trials
from opencompass_gpassk.results.versions import monotone
from opencompass_gpassk.trials import TrialTable, Verdict

__all__ = ['MANY_TRUNCATED', 'bounds', 'bounds_line', 'response_warnings', 'result_warnings']


def bounds(table: TrialTable, protocol: Protocol) -> dict[str, list[float]]:
    """Return each metric with all unjudged responses wrong, and with all of them right.

    A metric of n and c grows with c, so whatever verdicts the unjudged ones would get, it lies
    between the two. Lost responses are unjudged too. The majority vote is left out: it depends on
    which answers would turn out to be the same one. So is what compares versions with originals,
    such as OOR, which falls where a version turns right. Of the sound figures it is whatever
    isn't known to be wrong or invalid that may be sound.

    Returns:
        Name of the metric → [lowest, highest] in percent, NaN where undefined; empty where nothing
        is unjudged.
    """
    if protocol.sound is not None:
        plain = dataclasses.replace(protocol, sound=None)
        found = _bounds(table, plain) if not table.judged.all() else {}
        if scored_trials(table).judged.all():
            return found
        of_sound = _bounds(surely_sound_trials(table, protocol.sound), plain)
        names = set(problem_figures(table, plain)) - {MAJORITY_VOTE}
        return found | {f'{SOUND}{name}': ends for name, ends in of_sound.items() if name in names}
    return {} if table.judged.all() else _bounds(table, protocol)


def _bounds(table: TrialTable, protocol: Protocol) -> dict[str, list[float]]:
    lowest, highest = (
        headline_figures(table.settled(verdict), protocol)
        for verdict in (Verdict.INCORRECT, Verdict.CORRECT)
    )
    plain = set(problem_figures(table, protocol)) - {MAJORITY_VOTE}
    return {
        name: [low, highest[name]]
        for name, low in lowest.items()
        if name in plain or monotone(name)
    }


def bounds_line(found: dict[str, list[float]], protocol: Protocol, *, sound: bool = False) -> str:
    """Return the bounds of the headline metrics as text, such as ``pass@4 50.0 to 62.5``.

    Args:
        found: The bounds.
        protocol: What was measured.
        sound: Tell of the sound figures instead of the plain ones.
    """
    names = [accuracy_key(protocol.n)]
    names += [name for name in found if name.startswith('GA@') or name == 'CR']
    if protocol.ks:
        k, tau = max(protocol.ks), max(protocol.taus, default=1.0)
        names += [f'pass@{k}', f'G-Pass@{k}_{float(tau)}', f'mG-Pass@{k}']
    names = [f'{SOUND}{name}' for name in names] if sound else names
    shown = [name for name in names if name in found and not math.isnan(sum(found[name]))]
    return ', '.join(f'{name} {found[name][0]:.1f} to {found[name][1]:.1f}' for name in shown)


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
