"""Warnings of a result: reasons to trust its metrics less."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.inference.sampling import (
    MIN_P,
    NOT_APPLIED,
    NOT_KNOWN,
    UNUSED,
    meant_greedy,
    unused_settings,
)
from opencompass_gpassk.metrics.independence import Independence
from opencompass_gpassk.results.metric import (
    ACCURACY,
    G_PASS,
    GROUP_ACCURACY,
    PASS,
    Side,
    parse_metric,
)
from opencompass_gpassk.results.protocol import ADVISED, Protocol
from opencompass_gpassk.results.result import Counts, Result, Versions


def bounds_line(found: Mapping[str, Sequence[float]], protocol: Protocol, side: Side) -> str:
    """Return the bounds of the main metrics as text, such as ``pass@4 50.0 to 62.5``.

    Args:
        found: Key of a metric → its bounds.
        protocol: The protocol of the measurement.
        side: Plain or sound metrics.
    """
    k, tau = max(protocol.ks, default=None), max(protocol.taus, default=None)
    shown = [
        f'{metric.heading} {low:.1f} to {high:.1f}'
        for key, (low, high) in found.items()
        if (metric := parse_metric(key).of_n(protocol.n)).side is side
        and metric.family.in_summary
        and metric.k in (None, k)
        and metric.tau in (None, tau)
        and not math.isnan(low + high)
    ]
    return ', '.join(shown)


MANY_TRUNCATED = 1.0  # percent
MANY_SILENT = 1.0
UNAPPLIED = f'sampling {NOT_APPLIED}: '
COPIES = 'copies: '
FIRST = (UNAPPLIED, UNUSED, COPIES)  # warnings with these come before all others, in this order
SHOWN_REASONS = 3
LEAST_MOVED = 0.1  # points by which responses without a verdict must move a metric
LONGEST_REASON = 60


def result_warnings(
    protocol: Protocol,
    result: Result,
    audit: Independence,
    sampling: Sequence[Mapping[str, Any]],
    unused: str = '',
) -> list[str]:
    """Return the reasons to trust a result's metrics less.

    Args:
        protocol: The protocol of the measurement.
        result: The result, without its warnings.
        audit: The audit of the responses' independence.
        sampling: The distinct parameters under which responses were drawn.
        unused: The settings of the model that they replaced, '' if there are none.
    """
    unapplied = _unapplied(sampling)
    if unused:
        unapplied.append(unused_settings(short_line(unused)))
    if not protocol.judged:
        return [*unapplied, *_response_warnings(result, protocol.n, audit, sampling)]
    counts, ks = result.counts, protocol.ks
    # The most important first: the end of a job shows three.
    found = unapplied + [
        f'{excluded} of {counts.problems} problems have fewer than k = {k} responses, or none '
        f'with a verdict, and are left out of the metrics at {k}'
        for k, excluded in reversed(counts.excluded.items())
        if excluded
    ]
    found += [
        *_silent(protocol, counts),
        *_without_verdict(protocol, result),
        *_response_warnings(result, protocol.n, audit, sampling),
        *_verdict_warnings(protocol, result),
    ]
    if ks and protocol.n < ADVISED * max(ks):
        found.append(
            f'n = {protocol.n} is less than {ADVISED}k = {ADVISED * max(ks)}: the estimates of '
            f'G-Pass@{max(ks)} are noisy'
        )
    if result.versions.per_group:
        found += _version_warnings(result.versions)
    return found


def _silent(protocol: Protocol, counts: Counts) -> list[str]:
    """Return warnings if many responses say nothing beside their thoughts, or refuse."""
    empty, thoughts, refused = counts.empty, counts.thoughts_only, counts.refused
    silent = 100 * (empty + thoughts) / max(counts.trials, 1)
    refusing = 100 * refused / max(counts.trials, 1)
    wrong = f'count as wrong, which costs {ACCURACY(n=protocol.n).heading} up to'
    found = []
    if silent >= MANY_SILENT:
        found.append(
            f'{silent:.1f} % of responses say nothing ({empty} empty, {thoughts} only thoughts) '
            f'and {wrong} {silent:.1f} points. Usually a token limit ends the thoughts (raise '
            'max_out_len), or the reasoning parser of the server takes answers for thoughts '
            '(vLLM: leave out --reasoning-parser; llama.cpp: --reasoning-format none)'
        )
    if refusing >= MANY_SILENT:
        found.append(
            f'{refusing:.1f} % of responses refuse to answer and {wrong} {refusing:.1f} points; '
            "look at them: a system prompt, or the model's safety training, may be the cause"
        )
    return found


def _without_verdict(protocol: Protocol, result: Result) -> list[str]:
    """Return a warning on the responses without a verdict, and what they may change."""
    missing = result.counts.without_verdict
    if not missing:
        return []
    metrics = [ACCURACY(n=protocol.n)]
    if protocol.ks:
        k = max(protocol.ks)
        metrics += [PASS(k=k), G_PASS(k=k, tau=max(protocol.taus))]
    reasons = list(result.judging.unjudged.items())[:SHOWN_REASONS]
    why = ', '.join(f'{short_line(reason, LONGEST_REASON)} {count}' for reason, count in reasons)
    told = (
        f'{sum(missing.values())} of {result.counts.trials} verdicts are missing: '
        f'{result.counts.told_without_verdict}'
        f'{why and f" ({why})"}'
    )
    bounds = {
        metric.heading: ends
        for metric in metrics
        if (ends := result.bounds.get(metric.key)) and not math.isnan(sum(ends))
    }
    if not bounds:
        return [told]
    moved = [
        f'{name} lies between {low:.1f} and {high:.1f}'
        for name, (low, high) in bounds.items()
        if high - low >= LEAST_MOVED
    ]
    return [f'{told}; {", ".join(moved) or f"metrics move by less than {LEAST_MOVED:g} points"}']


def _unapplied(sampling: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a warning if the model's wrapper could not set parameters of the protocol."""
    names = dict.fromkeys(str(one[NOT_APPLIED]) for one in sampling if NOT_APPLIED in one)
    return [
        f"{UNAPPLIED}{one}; the model's wrapper or server does not take this, so the responses "
        'were drawn as the model or its provider chose'
        + (', and may be copies of one another' if 'temperature' in one else '')
        for one in names
    ]


def warning_place(warning: str) -> int:
    """Return where a warning of one result, or of several models, stands among all: a sort key."""
    return next((place for place, one in enumerate(FIRST) if one in warning), len(FIRST))


def _response_warnings(
    result: Result, n: int, audit: Independence, sampling: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the warnings about the responses themselves."""
    counts, truncated, found = result.counts, result.shares['truncated'], []
    if n > 1 and all(map(meant_greedy, sampling)):
        found.append(
            f'n = {n} greedy responses to each problem are copies of one: they are shown as the '
            'greedy row, without G-Pass@k; n = 1 says the same in less time'
        )
    elif n > 1 and (copies := audit.warning()):
        found.append(copies)
    if counts.lost:
        filtered = counts.filtered
        why = f'; the server or its content filter refused {filtered}' if filtered else ''
        found.append(f'{counts.lost} of {counts.trials} responses are lost (inference failed{why})')
    if truncated > MANY_TRUNCATED:
        low, high = result.tokens.cut_off
        after = f'{low:,} to {high:,}' if low < high else f'{high:,}'
        found.append(
            f'{truncated:.1f} % of the responses are cut off'
            + (f' after {after} tokens' if high else '')
            + '; raise max_out_len, or the limit of the context or server'
        )
    unknown = dict.fromkeys(str(one[NOT_KNOWN]) for one in sampling if NOT_KNOWN in one)
    unknown.pop(MIN_P, None)  # a server that refuses it hardly has a value of its own
    for names in unknown:
        found.append(
            f'sampling {NOT_KNOWN}: {names}; the server was not seen to apply these, and may have '
            'drawn with values of its own, which changes every metric by an unknown amount; to '
            'be sure, serve the model with vLLM, SGLang or llama.cpp and run it again'
        )
    if len(sampling) > 1:
        found.append(
            f'the responses were drawn under {len(sampling)} different sampling settings; '
            'run the inference again under one of them'
        )
    return found


def _verdict_warnings(protocol: Protocol, result: Result) -> list[str]:
    counts, found = result.counts, []
    if skipped := result.judging.reasons.get('unknown: budget'):
        found.append(
            f'{skipped} answers were not compared, since comparing others of their problems, or '
            'of this run, took too much time (reason budget); look at these answers, or let a '
            'judge decide'
        )
    for k, excluded in result.reasoning.excluded.items():
        if excluded > counts.excluded[k]:
            found.append(
                f'{excluded} of {counts.problems} problems have fewer than k = {k} responses, '
                f'or none known to be sound or not, and are left out of the sound metrics at {k}'
            )
    sound = result.reasoning.sound
    if sound.get('unknown') and (line := bounds_line(result.bounds, protocol, Side.SOUND)):
        found.append(
            f'{sound["unknown"]} of {sound["right"]} right responses have no scores of their '
            'reasoning: sound metrics are expected values over these; if none of them were sound, '
            f'or all, they would be {line}'
        )
    return found


def _version_warnings(versions: Versions) -> list[str]:
    found = []
    groups = versions.groups
    if versions.incomplete:
        found.append(
            f'{versions.incomplete} of {groups + versions.incomplete} questions have fewer '
            f'than {versions.per_group} versions here: they count for the accuracy on versions, '
            'but not for the metrics that compare the versions of a question'
        )
    missing = groups - versions.originals
    if missing:
        found.append(
            f'the originals of {missing} of {groups} questions are not in this data set: their CR, '
            'OOR, understanding and drop are undefined'
        )
    unjudged = {
        name: count - (0 if parse_metric(name).family is GROUP_ACCURACY else missing)
        for name, count in versions.excluded.items()
    }
    if any(count > 0 for count in unjudged.values()):
        told = ', '.join(f'{name} ({count})' for name, count in unjudged.items() if count > 0)
        found.append(
            f'some of {groups} questions have a version or an original without a judged response '
            f'and are left out of {told}'
        )
    return found
