"""MATH500-L5: the level-5 problems of MATH-500, as in arXiv 2412.13147."""

from __future__ import annotations

from datasets import Dataset
from opencompass.registry import LOAD_DATASET

from opencompass_gpassk.answers.reader import boxed
from opencompass_gpassk.datasets.base import GPassKDataset, make_dataset
from opencompass_gpassk.datasets.data_files import (
    DataPart,
    DatasetProblem,
    Row,
    check_counts,
    optional_text,
    text_field,
)
from opencompass_gpassk.datasets.sources import load_rows

BENCHMARK = 'MATH500-L5'
COUNT = 134
LAYOUTS = (('test',), ('math500',), ('MATH-500',), ('test_prm800k_500',))


@LOAD_DATASET.register_module()
class MATH500L5(GPassKDataset):
    """The 134 problems of level 5 of MATH-500. See :meth:`load` for the settings."""

    @staticmethod
    def load(
        path: str | None = None,
        hub: str | None = 'HuggingFaceH4/MATH-500',
        modelscope: str | None = 'AI-ModelScope/MATH-500',
        download: bool = True,
        prompt: str = 'default',
        cot: bool = True,
    ) -> Dataset:
        """Load the problems.

        Args:
            path: A file, a folder with ``test.jsonl``, or a snapshot of a hub's repository; rows
                have ``problem``, ``answer``, ``level``, ``subject``, ``unique_id``. If given, no
                other source is tried.
            hub: Repository on the Hugging Face hub, None to leave it out.
            modelscope: Repository on ModelScope, used if ``DATASET_SOURCE=ModelScope``.
            download: Let OpenCompass download the data if no other source has them.
            prompt: ``'default'`` or ``'opencompass'``.
            cot: Ask for reasoning step by step.

        Raises:
            ValueError: If the prompt is unknown, no source has the data, a row is malformed, or
                problems are missing.
        """
        loaded = load_rows(
            BENCHMARK,
            (DataPart('test', LAYOUTS),),
            path=path,
            subfolders=('math500', 'MATH-500', 'math', 'data/math'),
            hub=hub,
            modelscope=modelscope,
            opencompass='opencompass/math',
            download=download,
        )
        numbered = [
            (i, row)
            for i, row in enumerate(loaded['test'], 1)
            if optional_text(row, 'level').removeprefix('Level ') == '5'
        ]
        check_counts(BENCHMARK, {'test': COUNT}, {'test': [row for _, row in numbered]})
        questions = [_question(row, number) for number, row in numbered]
        return make_dataset(questions, benchmark=BENCHMARK, version='1', prompt=prompt, cot=cot)


def _question(row: Row, number: int) -> DatasetProblem:
    problem_id = optional_text(row, 'unique_id') or f'{number}'
    return DatasetProblem(
        problem_id=problem_id,
        cluster=problem_id,
        language='en',
        question=text_field(row, ['problem', 'question']),
        answer=_answer(row),
        level='5',
        subject=optional_text(row, 'subject') or optional_text(row, 'type'),
    )


def _answer(row: Row) -> str:
    """Return the gold answer; in OpenCompass's copy it is only in the solution."""
    if 'answer' in row.fields:
        return text_field(row, ['answer'])
    answer = boxed(text_field(row, ['solution']))
    if answer is None:
        raise ValueError(f'{row.place}: field solution holds no \\boxed{{}} answer')
    return answer
