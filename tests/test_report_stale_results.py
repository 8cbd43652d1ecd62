"""Results of settings that the config no longer has, and names that say another n."""

from __future__ import annotations

from typing import Any

import pytest

from opencompass_gpassk.datasets.settings import check_name
from opencompass_gpassk.inference.sampling import PAPER
from opencompass_gpassk.report.stale_results import differences
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.trials import SCHEMA

OURS = {'type': 'opencompass_gpassk.evaluator.GPassKEvaluator'}
RESULT: dict[str, Any] = {
    'k': [2],
    'schema': SCHEMA,
    'benchmark': 'b',
    'metrics': {},
    'taus': [0.0, 0.25, 0.5, 0.75, 1.0],
    'signature': {'n': 4, 'judge': 'rule', 'sampling': PAPER},
    'groups': {'AMC': {'split': 'AMC', 'problems': 3}},
}


@pytest.mark.parametrize(
    ('dataset', 'evaluator', 'named'),
    [
        ({}, {}, []),
        ({'n': 8}, {}, ['n']),
        ({'infer_cfg': {'inferencer': {'sampling': 'model'}}}, {}, ['sampling']),
        ({'infer_cfg': {'inferencer': {'sampling': PAPER}}}, {}, []),
        ({'k': [2, 4]}, {}, ['k']),
        ({}, {'taus': [0.5, 1.0]}, ['taus']),
        ({}, {'judge': {'match': 'exact', 'mode': 'rule'}}, ['judge']),
    ],
)
def test_each_setting_that_differs_is_named(
    dataset: dict[str, Any], evaluator: dict[str, Any], named: list[str]
) -> None:
    """What the config asks for is compared with what the result was made for."""
    config = {'n': 4, 'k': 2, 'eval_cfg': {'evaluator': {**OURS, **evaluator}}, **dataset}
    assert [*differences(config, Result.of(RESULT), None)] == named


def test_settings_that_a_rescoring_chose_stay() -> None:
    """The next start of the run must not undo it."""
    config = {'n': 4, 'k': 2, 'eval_cfg': {'evaluator': {**OURS, 'judge': 'rule'}}}
    rescored = {**RESULT, 'signature': {**RESULT['signature'], 'judge': 'cascade:m:1'}}
    assert [*differences(config, Result.of(rescored), None)] == ['judge']
    kept = Result.of({**rescored, 'rescored': ['judge']})
    assert not differences(config, kept, None)


@pytest.mark.parametrize(
    'abbr', ['sample-n16', 'sample_n16', 'sample-n16_3', 'sample-n16_rep4', 'a-n4-hard_n16.part']
)
def test_a_name_that_says_another_n_is_refused(abbr: str) -> None:
    """OpenCompass would take the responses of the n in the name."""
    check_name(abbr, 16)
    with pytest.raises(ValueError, match='says n = 16, but n is 32'):
        check_name(abbr, 32)
    for harmless in ('sums-n3gram', 'model-n2.5b'):  # they say no n
        check_name(harmless, 16)


def test_greedy_samples_are_not_stale() -> None:
    """Their result has no k, whatever the config says."""
    signature = RESULT['signature'] | {'sampling': {'greedy': True}}
    greedy = {**RESULT, 'k': [], 'signature': signature}
    assert not differences({'n': 4, 'k': 2}, Result.of(greedy), None)
