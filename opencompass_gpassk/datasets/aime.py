"""AIME 2024 and 2025: 30 problems per year, with integers from 0 to 999 as answers.

``2024-45`` is the set that arXiv 2412.13147 calls AIME2024-45. The paper describes it as parts I
and II of AIME 2024, which have 30 problems, but its published metrics are multiples of 1/45. The
list of 45 was not published. You can load it from a file of your own; no other set is comparable
with the published column.
"""

from __future__ import annotations

import re

from datasets import Dataset
from opencompass.registry import LOAD_DATASET
from opencompass.utils import get_logger

from opencompass_gpassk.datasets.base import GPassKDataset, make_dataset
from opencompass_gpassk.datasets.data_files import (
    DataPart,
    DatasetProblem,
    Row,
    check_counts,
    text_field,
)
from opencompass_gpassk.datasets.settings import forty_five_file
from opencompass_gpassk.datasets.sources import load_rows

EDITIONS = ('2024', '2025', '2024-45')
HUBS = {'2024': 'HuggingFaceH4/aime_2024', '2025': 'opencompass/AIME2025'}
PARTS = {
    '2024': DataPart('2024', (('aime2024',), ('aime_2024',), ('aime',)), hub_split='train'),
    '2025': DataPart(
        '2025',
        (('aime2025_I', 'aime2025_II'), ('aime2025-I', 'aime2025-II'), ('aime2025',)),
        hub_configs=('AIME2025-I', 'AIME2025-II'),
    ),
    '2024-45': DataPart('2024-45', (('aime2024-45',), ('aime2024_45',))),
}
COUNTS = {'2024': 30, '2025': 30, '2024-45': 45}
UNPUBLISHED = (
    'the list of the 45 problems behind the published AIME2024-45 was never published, and '
    'AIME 2024 has 30'
)


@LOAD_DATASET.register_module()
class AIME(GPassKDataset):
    """One edition of the AIME. See :meth:`load` for the settings."""

    @staticmethod
    def load(
        edition: str = '2024',
        path: str | None = None,
        hub: str | None = 'default',
        modelscope: str | None = None,
        download: bool = True,
        prompt: str = 'default',
        cot: bool = True,
    ) -> Dataset:
        """Load the problems.

        Args:
            edition: One of ``EDITIONS``. ``2024-45`` without a list of your own in ``path`` gives
                the 30 problems of AIME 2024, named AIME2024-30.
            path: A file, or a folder with ``aime2024.jsonl``, ``aime2024-45.jsonl``,
                ``aime2025.jsonl``, or ``aime2025_I.jsonl`` and ``aime2025_II.jsonl``, or a snapshot
                of a hub's repository. If given, no other source is tried.
            hub: Repository on the Hugging Face hub, None to leave it out.
            modelscope: Repository on ModelScope, used if ``DATASET_SOURCE=ModelScope``.
            download: Let OpenCompass download the data if no other source has them.
            prompt: ``'default'`` or ``'opencompass'``.
            cot: Ask for reasoning step by step.

        Raises:
            ValueError: If a setting is unknown, no source has the data, a row is malformed, or the
                file for ``2024-45`` doesn't hold 45 problems.
        """
        if edition not in EDITIONS:
            raise ValueError(f'edition is {edition!r}; choose one of {", ".join(EDITIONS)}')
        benchmark = f'AIME{edition}'
        if edition == '2024-45':
            own = forty_five_file(path)
            if own:
                path = own
                told = f'{path} is a list of your own, which may differ from the one behind the'
            else:
                edition, benchmark = '2024', 'AIME2024-30'
                told = f"these are its 30, called {benchmark}; they can't be compared with the"
            get_logger().warning(f'AIME2024-45: {UNPUBLISHED}: {told} published column')
        forty_five = edition == '2024-45'
        part = PARTS[edition]
        rows = load_rows(
            benchmark,
            (part,),
            path=path,
            subfolders=('aime', 'aime2025', 'data', 'data/aime2025'),
            hub=HUBS.get(edition) if hub == 'default' else hub,
            modelscope=modelscope,
            opencompass=None if forty_five else f'opencompass/aime{edition}',
            download=download,
        )
        check_counts(benchmark, {part.name: COUNTS[edition]}, rows)
        return make_dataset(
            [_question(row, number) for number, row in enumerate(rows[part.name], start=1)],
            benchmark=benchmark,
            version='user' if forty_five else '1',
            prompt=prompt,
            cot=cot,
        )


def _question(row: Row, number: int) -> DatasetProblem:
    answer = text_field(row, ['answer', 'Answer', 'gold_answer'])
    if not re.fullmatch(r'0*\d{1,3}', answer.strip()):
        raise ValueError(
            f'{row.place}: field answer is {answer!r}; answers of AIME are integers from 0 to 999'
        )
    return DatasetProblem(
        problem_id=str(number),
        cluster=str(number),
        language='en',
        question=text_field(row, ['question', 'problem', 'Problem', 'origin_prompt']),
        answer=answer.strip(),
        split=_part(row),
    )


def _part(row: Row) -> str:
    """Return I or II if the row, its source or its file's name says so, else ''."""
    file = '/'.join(row.place.split('/')[-2:])  # with its folder, which hubs name for the part
    told = [row.fields.get('part'), row.fields.get('url'), row.fields.get('id'), file]
    found = (re.search(r'(?:^|[-_ ])(I{1,2})(?:$|[-_ .,/])', str(text)) for text in told)
    return next((match[1] for match in found if match), '')
