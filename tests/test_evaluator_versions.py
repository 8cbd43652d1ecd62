"""RV-Bench through OpenCompass's evaluation task: versions, originals, and how answers match."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eval_task import SAMPLING, data_set, evaluate
from mmengine.config import ConfigDict
from opencompass.utils import build_dataset_from_cfg

from opencompass_gpassk.datasets import RVBench
from opencompass_gpassk.datasets.rv_files import write_line
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.rv.generation import generate
from opencompass_gpassk.trials import read_trials

NAMES = ['LampsInStep', 'PercentOfTens']


def answered(
    work_dir: Path, answer: Callable[[dict[str, Any]], str], **settings: Any
) -> dict[str, Any]:
    """The result of RV-Bench where each row is answered by a function of it."""
    dataset = data_set(RVBench, n=settings.pop('n', 1), k=1, names=NAMES, **settings)
    records = {
        str(index): {
            'origin_prompt': row['prompt'],
            'prediction': answer(row),
            'gold': row['answer'],
            'problem_id': row['problem_id'],
            'replica': row['replica'],
            'truncated': False,
            'num_tokens': 9,
            'sampling': SAMPLING,
        }
        for index, row in enumerate(build_dataset_from_cfg(ConfigDict(dataset)).test)
    }
    path = work_dir / f'predictions/demo/{dataset["abbr"]}.json'
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(records))
    return evaluate(work_dir, dataset)


def recited(row: dict[str, Any]) -> str:
    """Right on the originals, and on all versions of one question but the second."""
    right = row['version'] == 'original' or row['cluster'] == 'LampsInStep'
    return f'\\boxed{{{row["answer"] if right and row["version"] != "2" else 12345}}}'


def test_a_question_that_was_learnt_by_heart_is_found_out(tmp_path: Path) -> None:
    """One is understood, of the other the original alone is right."""
    result = answered(tmp_path, recited)
    assert result['accuracy'] == pytest.approx(40.0)
    assert (result['SP accuracy'], result['CR'], result['OOR']) == (100.0, 50.0, 50.0)
    assert result['GA@5'] == 0.0
    assert result['level 2/CR'] == 100.0
    assert result['counts']['problems'] == 10
    assert result['benchmark'] == 'RV-MATH, 2 of 115 questions'
    assert result['details'][0]['version'] == 'original'
    table, _ = read_trials(tmp_path / 'results/demo' / result['trials_file'])
    assert {problem.version for problem in table.problems} == {'original', *'12345'}
    assert {problem.cluster for problem in table.problems} == set(NAMES)


def test_versions_alone_say_what_is_missing(tmp_path: Path) -> None:
    """CR and OOR are undefined, not 0, and a warning says why."""
    lines = [write_line(row) for row in generate(names=NAMES) if not row.original]
    (tmp_path / 'versions.jsonl').write_text(''.join(lines))
    result = answered(tmp_path, recited, path=str(tmp_path / 'versions.jsonl'))
    assert result['GA@5'] == 0.0
    assert math.isnan(result['CR'])
    assert any('originals of 2 of 2 questions' in warning for warning in result['warnings'])


@pytest.mark.parametrize(('match', 'right'), [('value', 100.0), ('exact', 0.0)])
def test_answers_match_by_value_or_by_text(tmp_path: Path, match: str, right: float) -> None:
    """The paper compares texts; the result says which was used."""
    judge = {'mode': 'rule', 'match': match}
    result = answered(
        tmp_path,
        lambda row: f'\\boxed{{{row["answer"]}.0}}',
        evaluator={'type': GPassKEvaluator, 'judge': judge},
    )
    assert result['accuracy'] == right
    assert result['judging']['match'] == match
    assert result['signature']['judge'] == ('rule' if match == 'value' else 'rule:exact')
