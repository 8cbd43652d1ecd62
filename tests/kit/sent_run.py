"""A run of this package's sample problems, in a folder that somebody else might have sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mmengine.config import ConfigDict
from opencompass.tasks import OpenICLEvalTask

from opencompass_gpassk.datasets import LiveMathBench

N = 2


class SentRun:
    """A timestamp folder with predictions of the English sample problems, not yet scored.

    Every response is right but for those to the first problem, which the rules can't read.

    Args:
        folder: Where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.dataset: dict[str, Any] = {
            'abbr': 'sample-n2',
            'type': 'opencompass_gpassk.datasets.LiveMathBench',
            'version': 'sample',
            'languages': ['en'],
            'path': None,
            'n': N,
            'k': [2],
            'reader_cfg': {'input_columns': ['prompt'], 'output_column': 'answer'},
            'infer_cfg': {
                'inferencer': {
                    'type': 'opencompass_gpassk.inference.inferencer.GPassKGenInferencer'
                },
                'prompt_template': {'type': 'opencompass.openicl.PromptTemplate'},
                'retriever': {'type': 'opencompass.openicl.icl_retriever.ZeroRetriever'},
            },
            'eval_cfg': {
                'evaluator': {
                    'type': 'opencompass_gpassk.evaluator.GPassKEvaluator',
                    'judge': 'rule',
                    'intervals': None,
                }
            },
        }
        self.model: dict[str, Any] = {'abbr': 'demo', 'type': 'opencompass.models.HuggingFace'}
        self.further: dict[str, Any] = {}
        self._predict()
        self.write()

    @property
    def evaluator(self) -> dict[str, Any]:
        """The config of the evaluator."""
        found: dict[str, Any] = self.dataset['eval_cfg']['evaluator']
        return found

    @property
    def result_path(self) -> Path:
        """Where the result goes."""
        return self.folder / 'results/demo/sample-n2.json'

    def result(self) -> dict[str, Any]:
        """Read the result."""
        found: dict[str, Any] = json.loads(self.result_path.read_text('utf-8'))
        return found

    def change_result(self, **fields: Any) -> None:
        """Replace fields of the result."""
        self.result_path.write_text(json.dumps(self.result() | fields), 'utf-8')

    def write(self, appended: str = '') -> None:
        """Write the config as OpenCompass does, with what somebody appended to it."""
        parts = {'models': [self.model], 'datasets': [self.dataset], **self.further}
        text = ''.join(f'{name} = {value!r}\n' for name, value in parts.items())
        path = self.folder / 'configs/20260101_000000_1.py'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + appended, 'utf-8')

    def evaluate(self) -> None:
        """Make the result with OpenCompass's task."""
        parts = {'models': [self.model], 'datasets': [[self.dataset]]}
        OpenICLEvalTask(ConfigDict(work_dir=str(self.folder), **parts)).run()

    def _predict(self) -> None:
        rows = list(LiveMathBench.load(version='sample', languages=['en']))
        records = []
        for replica in range(N):
            for place, row in enumerate(rows):
                right = f'The answer is $\\boxed{{{row["answer"].strip("$")}}}$.'
                records.append(
                    {
                        'origin_prompt': row['prompt'],
                        'prediction': right if place else '\\boxed{as many as before}',
                        'gold': row['answer'],
                        'problem_id': row['problem_id'],
                        'replica': replica,
                    }
                )
        path = self.folder / 'predictions/demo/sample-n2.json'
        path.parent.mkdir(parents=True, exist_ok=True)
        numbered = {str(i): record for i, record in enumerate(records)}
        path.write_text(json.dumps(numbered), 'utf-8')
