"""Judges for the evaluator: one that compares, LLMs that are scripted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from eval_task import Sums
from opencompass.datasets.livemathbench import livemathbench as upstream
from opencompass.evaluator import GenericLLMEvaluator
from opencompass.models.base import BaseModel
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.openicl.icl_prompt_template import PromptTemplate

from opencompass_gpassk.evaluator import GPassKEvaluator


def last_number(text: str) -> str:
    """Postprocess a response as OpenCompass's data sets do: to its answer alone."""
    return re.findall(r'\d+', text)[-1]


class EqualityEvaluator(BaseEvaluator):
    """Compares postprocessed responses with gold answers and reports in one of several ways."""

    def __init__(self, report: str = 'details') -> None:
        super().__init__()
        self.report = report

    def score(self, predictions: list[str], references: list[str]) -> dict[str, Any]:
        """Score as every evaluator of OpenCompass does."""
        rows = [
            {'pred': p, 'answer': r, 'correct': last_number(p) == r}
            for p, r in zip(predictions, references, strict=True)
        ]
        accuracy = 100 * sum(row['correct'] for row in rows) / len(rows)
        if self.report == 'no details':
            return {'accuracy': accuracy}
        if self.report == 'sorted':
            rows.sort(key=lambda row: row['pred'], reverse=True)
        if self.report == 'drops':
            rows = [row for row in rows if row['answer'] != '3']
        if self.report == 'raises' or (self.report == 'raises on 5' and '5' in references):
            raise ConnectionError('the judge is down')
        if self.report == 'bleu':
            return {'bleu': 12.5}
        return {'accuracy': accuracy, 'details': rows}


class NoRule(BaseEvaluator):
    """A rule that finds nothing right."""

    def score(self, predictions: list[str], references: list[str]) -> dict[str, Any]:
        """Call all of them wrong."""
        return {'accuracy': 0, 'details': [{'correct': False} for _ in predictions]}


class Judge(BaseModel):
    """A judge model that answers A or B, except on problem 7, where it writes prose."""

    def __init__(self, path: str = '', **settings: Any) -> None:
        super().__init__(path, tokenizer_only=True)

    def generate(self, inputs: list[str], max_out_len: int, **settings: Any) -> list[str]:
        """Judge prompts that end in the gold answer."""
        return [self._reply(*prompt.split(' against ')) for prompt in inputs]

    def _reply(self, response: str, gold: str) -> str:
        if gold == '7':
            return 'The Answer is wrong'
        return 'A' if last_number(response) == gold else 'B'


LLM_JUDGE = {
    'type': GenericLLMEvaluator,
    'prompt_template': {'type': PromptTemplate, 'template': '{prediction} against {obj_gold}'},
    'judge_cfg': {'type': Judge, 'path': '', 'batch_size': 8, 'max_out_len': 8},
    'dict_postprocessor': {'type': 'opencompass.datasets.generic.generic_llmjudge_postprocess'},
    'dataset_cfg': {
        'type': Sums,
        'reader_cfg': {'input_columns': ['question'], 'output_column': 'answer'},
    },
}


class YesNo:
    """The judge model that OpenCompass's evaluator asks: wrong answers here are 100 and more."""

    calls = 0

    def __init__(self, **settings: Any) -> None:
        pass

    def generate(self, inputs: list[str], *settings: Any) -> list[str]:
        """Answer each prompt in the form that was asked for."""
        YesNo.calls += len(inputs)
        wrong = [re.search(r'(?<!\d)10\d(?!\d)', prompt) for prompt in inputs]
        return [r'\boxed{no}' if found else r'\boxed{yes}' for found in wrong]


def judged_by(report: str, **settings: Any) -> dict[str, Any]:
    """An evaluator config whose judge reports in this way."""
    judge = {'type': EqualityEvaluator, 'report': report}
    return {'type': GPassKEvaluator, 'judge': judge, **settings}


def livemath_judge(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the config of LiveMathBench's evaluator with YesNo behind it, and no replies yet."""
    monkeypatch.setattr(upstream, 'OpenAISDK', YesNo)
    monkeypatch.setattr(upstream.LiveMathBenchOutputHandler, 'output_dict', {})
    return {'type': upstream.LiveMathBenchEvaluator, 'model_name': 'judge', 'url': 'http://x'}
