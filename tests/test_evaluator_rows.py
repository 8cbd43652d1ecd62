"""Every response is its own row's, through the tasks: shards, test ranges, gaps, changed data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from eval_judges import judged_by
from eval_task import (
    COUNTS,
    OurSums,
    Sums,
    counts,
    data_set,
    evaluate,
    infer_in_shards,
    logged,
    predict,
)

from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.runs.predictions import IncompletePredictionsError


@pytest.mark.parametrize('workers', [1, 2])
@pytest.mark.parametrize('kind', [OurSums, Sums])
def test_shards_shift_nothing(tmp_path: Path, kind: Any, workers: int) -> None:
    """In one file or two that cut through replicas, every trial is its problem's own."""
    dataset = data_set(kind, k=1)
    files = infer_in_shards(tmp_path, dataset, workers)
    assert len(files) == workers
    result = evaluate(tmp_path, dataset)
    assert counts(result) == COUNTS
    assert result['signature']['sampling'] != {'unknown': True}


def test_a_range_of_repeated_rows_is_no_result(tmp_path: Path) -> None:
    """Responses that were drawn without our inferencer's refusal are not evaluated either."""
    dataset = data_set(OurSums)
    predict(tmp_path, dataset)
    dataset['reader_cfg']['test_range'] = '[0:4]'
    with pytest.raises(
        ValueError, match=r"sums_en: reader_cfg.test_range is '\[0:4\]'.* set limit"
    ):
        evaluate(tmp_path, dataset)


def test_rows_that_opencompass_leaves_out_of_all_shards_are_noticed(tmp_path: Path) -> None:
    """It remembers a smaller data set under the name; to resume then brings nothing."""
    dataset = data_set(OurSums)
    infer_in_shards(tmp_path, dataset, size=70)
    with pytest.raises(IncompletePredictionsError, match=r'10 of 80 .* --max-num-workers 1'):
        evaluate(tmp_path, dataset)


def test_a_missing_shard_is_an_error_or_an_accepted_gap(tmp_path: Path) -> None:
    """No result that would be kept for ever; with a lower minimum the gap is lost, not wrong."""
    dataset = data_set(OurSums)
    infer_in_shards(tmp_path, dataset, workers=4)[1].unlink()
    with pytest.raises(IncompletePredictionsError, match=r'20 of 80 .* sums_en_1\.json'):
        evaluate(tmp_path, dataset)
    assert not (tmp_path / 'results/demo/sums_en.json').exists()
    accepting = {'type': GPassKEvaluator, 'min_coverage': 0.75}
    result = evaluate(tmp_path, data_set(OurSums, evaluator=accepting))
    assert [row['n'] for row in result['details']] == [6] * 10
    assert (result['coverage'], result['counts']['lost']) == (75.0, 20)
    assert result['counts']['incorrect'] + result['counts']['correct'] == 60
    assert not any('sampling settings' in warning for warning in result['warnings'])
    assert not any('delete predictions' in warning for warning in result['warnings'])


@pytest.mark.parametrize('report', ['rule', 'details'])
def test_lost_predictions_are_unjudged_and_told(tmp_path: Path, report: str) -> None:
    """A request that failed for good is no wrong answer."""

    def lose(row: int, record: dict[str, Any]) -> dict[str, Any]:
        return record | {'prediction': '', 'lost': 'HTTP 500'} if row < 12 else record

    evaluator = {'type': GPassKEvaluator} if report == 'rule' else judged_by(report)
    dataset = data_set(OurSums, evaluator=evaluator)
    predict(tmp_path, dataset, change=lose)
    with logged() as messages:
        result = evaluate(tmp_path, dataset)
    assert [row['n'] for row in result['details']] == [6, 6, *[7] * 8]
    assert (result['counts']['lost'], result['counts']['unjudged']) == (12, 12)
    assert result['coverage'] == 85.0
    remedy = 'delete predictions/demo/sums_en.json', 'opencompass CONFIG -r'
    for told in ('12 of 80 responses are lost', *remedy):
        assert told in ' '.join(messages)
        assert told in ' '.join(result['warnings'])


def test_rows_of_opencompass_that_moved_since_the_inference_are_an_error(tmp_path: Path) -> None:
    """Its problems are numbered by their place, which another row before them shifts."""
    predict(tmp_path, data_set(Sums))
    with pytest.raises(ValueError, match='the data have changed'):
        evaluate(tmp_path, data_set(Sums, golds=[str((i + 1) % 10) for i in range(10)]))
