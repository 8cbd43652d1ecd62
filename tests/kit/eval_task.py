"""OpenCompass's own tasks, run on ten small problems whose counts of right answers are known."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from datasets import Dataset
from mmengine.config import ConfigDict
from opencompass.datasets.base import BaseDataset
from opencompass.models.base import BaseModel
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.partitioners import NumWorkerPartitioner
from opencompass.tasks import OpenICLEvalTask, OpenICLInferTask
from opencompass.utils import build_dataset_from_cfg, get_logger

from opencompass_gpassk.datasets.base import GPassKDataset, make_dataset
from opencompass_gpassk.datasets.data_files import DatasetProblem
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.inference.inferencer import GPassKGenInferencer

COUNTS = [4, 3, 4, 3, 3, 6, 3, 3, 2, 1]
N = 8
SAMPLING = {'temperature': 1.0, 'top_p': 0.8}


def question(i: int) -> str:
    """The text of problem i, whose answer is i."""
    return f'What is {i} + 0?'


class Sums(BaseDataset):
    """The ten problems as a data set of OpenCompass."""

    @staticmethod
    def load(golds: list[Any] | None = None, problems: int = len(COUNTS)) -> Dataset:
        """Load them; ``golds`` in place of their answers."""
        return Dataset.from_list(
            [
                {
                    'question': question(i),
                    'prompt': question(i),
                    'question_type': 'answer',
                    'answer': golds[i] if golds else str(i),
                }
                for i in range(problems)
            ]
        )


class OurSums(GPassKDataset):
    """The ten problems as a data set of this package, in two languages."""

    @staticmethod
    def load(golds: list[str] | None = None, problems: int = len(COUNTS)) -> Dataset:
        """Load them; ``golds`` in place of their answers."""
        questions = [
            DatasetProblem(
                problem_id=f'sum/{i}',
                question=question(i),
                answer=golds[i] if golds else str(i),
                language='en' if i % 2 else 'cn',
                cluster=str(i),
                split='AMC',
            )
            for i in range(problems)
        ]
        return make_dataset(questions, benchmark='sums', version='1', prompt='default', cot=False)


class Answerer(BaseModel):
    """A model that answers each problem right exactly as often as ``COUNTS`` says, whoever asks."""

    asked: ClassVar[Counter[int]] = Counter()

    def __init__(self, path: str = '', **settings: Any) -> None:
        super().__init__(path, tokenizer_only=True)

    def generate(self, inputs: list[str], max_out_len: int, **settings: Any) -> list[str]:
        """Answer, with a number of its own to each answer."""
        answers = []
        for prompt in inputs:
            i = next(i for i in range(len(COUNTS)) if question(i) in prompt)
            answers.append(respond(i, self.asked[i]))
            self.asked[i] += 1
        return answers

    def get_token_len(self, prompt: str) -> int:
        """Count characters."""
        return len(prompt)


def respond(i: int, replica: int) -> str:
    """The response to problem i. Which replicas are right differs from problem to problem."""
    right = (replica + 3 * i) % N < COUNTS[i]
    return f'Draw {replica} of {i}: \\boxed{{{i if right else 100 + replica}}}'


def data_set(kind: Any = OurSums, *, n: int = N, k: Any = 2, **settings: Any) -> dict[str, Any]:
    """The config of a data set; ``evaluator``, ``eval_cfg`` and what its ``load`` takes."""
    evaluator = settings.pop('evaluator', {'type': GPassKEvaluator})
    eval_cfg = settings.pop('eval_cfg', {})
    template = '{prompt}' if 'path' not in settings else '{question}'
    return {
        'type': kind,
        'abbr': settings.pop('abbr', 'sums_en'),
        'n': n,
        'k': k,
        'reader_cfg': {
            'input_columns': [template.strip('{}')],
            'output_column': 'answer',
        },
        'infer_cfg': {
            'prompt_template': {'type': PromptTemplate, 'template': template},
            'retriever': {'type': ZeroRetriever},
            'inferencer': {'type': GPassKGenInferencer, 'sampling': SAMPLING, 'max_out_len': 64},
        },
        'eval_cfg': {'evaluator': evaluator, **eval_cfg},
        **settings,
    }


def config(work_dir: Path, dataset: dict[str, Any], **model: Any) -> ConfigDict:
    """A task's config."""
    return ConfigDict(
        models=[{'abbr': 'demo', 'type': Answerer, 'path': '', 'batch_size': 4, **model}],
        datasets=[[dataset]],
        work_dir=str(work_dir),
        eval={'runner': {'task': {'dump_details': True}}},
    )


def predict(
    work_dir: Path,
    dataset: dict[str, Any],
    *,
    ours: bool = True,
    change: Callable[[int, dict[str, Any]], dict[str, Any] | None] = lambda row, record: record,
) -> None:
    """Write the prediction file that an inferencer would, ours or OpenCompass's.

    ``change`` may alter a row's record, or leave it out with None.
    """
    rows = build_dataset_from_cfg(ConfigDict(dataset)).test
    seen: Counter[int] = Counter()
    records = []
    for index, row in enumerate(rows):
        i = next(i for i in range(len(COUNTS)) if question(i) == row['question'])
        replica = row.get('replica', seen[i])
        seen[i] += 1
        record = {
            'origin_prompt': row['question'],
            'prediction': respond(i, replica),
            'gold': row['answer'],
        }
        if ours:
            record |= {
                'problem_id': row.get('problem_id', str(row['idx'])),
                'replica': replica,
                'truncated': False,
                'num_tokens': 12,
                'sampling': SAMPLING,
            }
        changed = change(index, record)
        if changed is not None:
            records.append(changed)
    path = work_dir / f'predictions/demo/{dataset["abbr"]}.json'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({str(i): record for i, record in enumerate(records)}), 'utf-8')


def infer_in_shards(
    work_dir: Path, dataset: dict[str, Any], workers: int = 2, *, size: int = len(COUNTS) * N
) -> list[Path]:
    """Infer with OpenCompass's task, split up as by ``--max-num-workers``; return the files.

    It finds the data set's ``size`` in its cache.
    """
    Answerer.asked.clear()
    work_dir.joinpath('size.json').write_text(json.dumps({dataset['abbr']: size}))
    partitioner = NumWorkerPartitioner(
        str(work_dir / 'predictions'),
        num_worker=workers,
        dataset_size_path=str(work_dir / 'size.json'),
    )
    whole = config(work_dir, dataset)
    whole['datasets'] = whole['datasets'][0]
    for task in partitioner(whole):
        OpenICLInferTask(task).run()
    return sorted((work_dir / 'predictions/demo').iterdir())


def evaluate(work_dir: Path, dataset: dict[str, Any], **model: Any) -> dict[str, Any]:
    """Evaluate with OpenCompass's task; return the result file, its metrics at the top level."""
    OpenICLEvalTask(config(work_dir, dataset, **model)).run()
    made = json.loads((work_dir / f'results/demo/{dataset["abbr"]}.json').read_text('utf-8'))
    return {**made, **made.get('metrics', {}), **made.get('shares', {})}


def counts(result: dict[str, Any]) -> list[int]:
    """Right answers to each problem."""
    return [row['c'] for row in result['details']]


@contextmanager
def logged() -> Iterator[list[str]]:
    """Collect OpenCompass's log messages."""
    messages: list[str] = []

    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    handler = Collector()
    get_logger().addHandler(handler)
    try:
        yield messages
    finally:
        get_logger().removeHandler(handler)
