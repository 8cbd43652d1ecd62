"""Replies of LLM judges that nobody can read are no verdict, whatever OpenCompass makes of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from eval_judges import LLM_JUDGE, NoRule, YesNo
from eval_task import (
    COUNTS,
    Sums,
    data_set,
    evaluate,
    predict,
)
from opencompass.datasets.livemathbench import livemathbench as upstream
from opencompass.evaluator import CascadeEvaluator
from opencompass.registry import DICT_POSTPROCESSORS

from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.judging.judge import JudgeError


def test_an_llm_judge_that_is_never_understood_is_an_error(tmp_path: Path) -> None:
    """Its prompt asks for something else than A or B, or nobody answers."""
    evaluator = {'type': GPassKEvaluator, 'judge': LLM_JUDGE}
    dataset = data_set(Sums, golds=['7'] * 10, evaluator=evaluator)
    predict(tmp_path, dataset)
    reason = r'none of 80 responses.* replied neither A nor B; .* delete the folder .*/sums_en,'
    with pytest.raises(JudgeError, match=reason):
        evaluate(tmp_path, dataset)
    assert not (tmp_path / 'results/demo/sums_en.json').exists()


class Unsure(YesNo):
    """Like YesNo, but without a word about problem 7."""

    def generate(self, inputs: list[str], *settings: Any) -> list[str]:
        """Answer each prompt, or break off."""
        replies = super().generate(inputs)
        return ['Let me' if '7 + 0' in i else r for i, r in zip(inputs, replies, strict=True)]


def test_a_reply_that_livemathbench_counts_as_wrong_is_unjudged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its evaluator takes all but a boxed yes for a no; the reply stands in its folder."""
    monkeypatch.setattr(upstream, 'OpenAISDK', Unsure)
    judge = {'type': upstream.LiveMathBenchEvaluator, 'model_name': 'judge', 'url': 'http://x'}
    dataset = data_set(Sums, evaluator={'type': GPassKEvaluator, 'judge': judge})
    predict(tmp_path, dataset)
    result = evaluate(tmp_path, dataset)
    expected = [(8, c) for c in COUNTS]
    expected[7] = (0, 0)
    assert [(row['n'], row['c']) for row in result['details']] == expected
    (told,) = [warning for warning in result['warnings'] if 'gave no verdict' in warning]
    folder = tmp_path / 'results/demo/sums_en'
    assert f'to ask it again, delete the folder {folder}' in told
    # And so it is: what stands there is taken for done, what doesn't is asked.
    monkeypatch.setattr(upstream, 'OpenAISDK', YesNo)
    for n in (0, 8):
        folder.with_suffix('.json').unlink()
        assert evaluate(tmp_path, dataset)['details'][7]['n'] == n
        shutil.rmtree(folder)


class Choices(Sums):
    """The ten problems with the columns that postprocessors of multiple choice ask for."""

    @staticmethod
    def load(**settings: Any) -> Dataset:
        """Load them."""
        rows = Sums.load(**settings)
        return rows.add_column('options', [['x', 'y']] * len(rows))


@pytest.mark.parametrize('kind', ['judge', 'cascade'])
@pytest.mark.parametrize(
    'postprocessor',
    [
        'Medbullets.medbullets_llmjudge_postprocess',
        'supergpqa.supergpqa.supergpqa_llmjudge_postprocess',
    ],
)
def test_a_reply_that_a_postprocessor_makes_a_letter_of_is_unjudged(
    tmp_path: Path, postprocessor: str, kind: str
) -> None:
    """'The Answer is wrong' begins with an A for them; the reply stands in the judge's file."""
    judge: dict[str, Any] = LLM_JUDGE | {
        'dict_postprocessor': {'type': f'opencompass.datasets.{postprocessor}'}
    }
    if kind == 'cascade':
        judge = {
            'type': CascadeEvaluator,
            'rule_evaluator': {'type': NoRule},
            'llm_evaluator': judge,
        }
    dataset = data_set(Choices, evaluator={'type': GPassKEvaluator, 'judge': judge})
    predict(tmp_path, dataset)
    result = evaluate(tmp_path, dataset)
    expected = [(8, c) for c in COUNTS]
    expected[7] = (0, 0)
    assert [(row['n'], row['c']) for row in result['details']] == expected
    assert not any('read by its own postprocessor' in warning for warning in result['warnings'])


@DICT_POSTPROCESSORS.register_module()
def flags_alone(output: dict[str, Any], output_path: str) -> dict[str, Any]:
    """Postprocess replies as data sets of their own menu do: what is no yes is a no."""
    details = [{'correct': record['prediction'] == 'A'} for record in output.values()]
    return {'accuracy': 0.0, 'details': details}


@DICT_POSTPROCESSORS.register_module()
def accuracy_alone(output: dict[str, Any], output_path: str) -> dict[str, Any]:
    """Postprocess replies to one metric."""
    right = [record['prediction'] == 'A' for record in output.values()]
    return {'accuracy': 100 * sum(right) / len(right)}


@pytest.mark.parametrize('postprocessor', ['flags_alone', 'accuracy_alone'])
def test_replies_that_nobody_else_can_read_are_told(tmp_path: Path, postprocessor: str) -> None:
    """An evaluator with a menu of its own is believed, and the result says so."""
    judge = LLM_JUDGE | {'dict_postprocessor': {'type': postprocessor}}
    dataset = data_set(Sums, evaluator={'type': GPassKEvaluator, 'judge': judge})
    predict(tmp_path, dataset)
    result = evaluate(tmp_path, dataset)
    assert result['details'][7]['c'] == 0
    told = 'the replies of the LLM behind GenericLLMEvaluator are read by its own postprocessor'
    assert [told in warning for warning in result['warnings']] == [True]
