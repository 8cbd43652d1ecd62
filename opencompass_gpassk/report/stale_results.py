"""Results that were made under other settings than the config now has.

OpenCompass's ``-r`` keeps every result, whatever was changed in the config since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opencompass_gpassk.inference.sampling import NEUTRAL, NOT_APPLIED, Sampling
from opencompass_gpassk.judging.pipeline import Pipeline
from opencompass_gpassk.judging.settings import JudgeSettings, judge_name
from opencompass_gpassk.results.groups import parts_of
from opencompass_gpassk.results.protocol import DEFAULT_GROUPS, DEFAULT_TAUS
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.runs.config import config_hash, evaluator_of
from opencompass_gpassk.trials import ORIGINAL, TrialTable

N, SAMPLING = 'n', 'sampling'
OF_RESPONSES = {N, SAMPLING}  # settings that no new evaluation changes


def differences(
    dataset: Mapping[str, Any], result: Result, table: TrialTable | None
) -> dict[str, tuple[Any, Any]]:
    """Return the settings in which a result is not what a config asks for: name → (was, now).

    Settings that ``gpassk rescore`` was asked to change are no differences. A judge that the
    environment doesn't name is unknown, and no difference. Without an evaluator there is none.

    Args:
        dataset: The config of the data set.
        result: A result of our evaluators.
        table: Its trial table, if it can be read; without it groups are not compared.
    """
    evaluator, signature = evaluator_of(dataset), result.signature
    if 'type' not in evaluator:
        return {}
    n = dataset.get('n', result.n)
    pairs: dict[str, tuple[Any, Any]] = {
        N: (result.n, n),
        SAMPLING: _samplings(dataset, signature.sampling),
    }
    if result.judged:
        k = dataset.get('k', result.k)
        ks = sorted({k} if isinstance(k, int) else {*k})
        ks = ks if n > 1 and not result.greedy else []
        taus = {float(tau) for tau in evaluator.get('taus') or DEFAULT_TAUS}
        pairs['k'] = sorted(result.k), ks
        pairs['taus'] = sorted({*result.taus}), sorted(taus)
        judge = _judge(evaluator.get('judge', 'rule'))
        pairs['judge'] = signature.judge, judge or signature.judge
    pairs['groups'] = _groups(evaluator.get('groups'), result, table)
    kept = result.rescored
    return {name: both for name, both in pairs.items() if both[0] != both[1] and name not in kept}


def _samplings(dataset: Mapping[str, Any], stored: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return how responses were drawn, and how a config asks for it, as far as both are known."""
    inferencer = (dataset.get('infer_cfg') or {}).get('inferencer') or {}
    if 'sampling' not in inferencer:
        return None, None
    asked = Sampling.of(inferencer['sampling']).record
    names = ('greedy', 'model', *NEUTRAL)
    was, now = ({name: one[name] for name in names if name in one} for one in (stored, asked))
    # What a wrapper can't set, and how records of several protocols were mixed, is told elsewhere.
    return (None, None) if NOT_APPLIED in stored or not was else (was, now)


def _judge(config: Any) -> str | None:
    """Return the signature of the judge that a config names, None if it can't be known here."""
    if isinstance(config, Mapping) and 'type' in config:
        return f'{judge_name(config)}:{config_hash(config)}'
    try:
        return Pipeline(JudgeSettings.of(config)).signature
    except (ValueError, OSError):
        return None


def _groups(given: Any, result: Result, table: TrialTable | None) -> tuple[Any, Any]:
    """Return the groups in a result, and those that a config asks for and its problems have."""
    found = {*result.groups} - {ORIGINAL}
    if table is None:  # what the problems have is unknown
        return found, found
    asked = [(one,) if isinstance(one, str) else tuple(one) for one in given or DEFAULT_GROUPS]
    return sorted(found), sorted({*parts_of(table.problems, asked)} - {'', ORIGINAL})


def told(different: Mapping[str, tuple[Any, Any]]) -> str:
    """Return differences in words, with what can be done."""
    named = ', '.join(f'{name} {was} instead of {now}' for name, (was, now) in different.items())
    remedy = 'opencompass CONFIG -r makes it again'
    if OF_RESPONSES & different.keys():
        remedy = (
            'the responses are those of the former settings: give the data set another name '
            '(abbr), with the new n in it, and resume, which asks for its samples; or set both as '
            'they were'
        )
    return f'not the result that the config asks for: {named}; {remedy}'
