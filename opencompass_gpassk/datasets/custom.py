"""Problems from a file of the user's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from datasets import Dataset
from opencompass.registry import LOAD_DATASET

from opencompass_gpassk.datasets.base import GPassKDataset, make_dataset
from opencompass_gpassk.datasets.data_files import (
    DatasetProblem,
    Row,
    optional_text,
    read_rows,
    text_of,
)
from opencompass_gpassk.datasets.language import language_of
from opencompass_gpassk.datasets.rv_files import Asked, all_or_none, version_id, version_of
from opencompass_gpassk.formats.jsonlines import columns_option, fields_of

REQUIRED = ('question', 'answer')
FIELDS = (*REQUIRED, 'id', 'language', 'cluster', 'split', 'level', 'subject')
# Names of this package's data sets: under one of them, results would be joined with theirs.
TAKEN = re.compile(r'sample(-.+)?|(LiveMathBench-|AIME20|MATH500-L|RV-).*')


@LOAD_DATASET.register_module()
class CustomProblems(GPassKDataset):
    """Problems from a file of the user's own. See :meth:`load` for the settings."""

    @staticmethod
    def load(
        path: str | None = None,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        prompt: str = 'default',
        cot: bool = True,
    ) -> Dataset:
        """Load the problems.

        Args:
            path: A file: JSON lines, JSON, CSV or parquet. Rows have ``question`` and ``answer``.
                Optional are ``id``; ``language`` (by default ``'cn'`` if the question contains
                Chinese, else ``'en'``); the groups ``split``, ``level`` and ``subject``, also
                inside an object ``groups``; ``cluster``, a label that translations of one
                question share; and ``group`` with ``version`` or ``original``, as ``gpassk rv
                generate`` writes them, if problems are versions of questions.
            name: The name in tables, under which results are joined; by default the file's name.
            columns: Field → its name in the file, such as ``{'question': 'problem'}``.
            prompt: ``'default'``, ``'opencompass'``, or a template that contains
                ``{question}``.
            cot: Ask for reasoning step by step.

        Raises:
            ValueError: If a setting is unknown, the name is another benchmark's, there is no such
                file, or a row is malformed; with file, line and field.
        """
        if not path:
            raise ValueError(
                "path is missing; name your file in the data set's config, or in the environment "
                'variable GPASSK_DATA'
            )
        columns = columns or {}
        if unknown := set(columns) - set(FIELDS):
            raise ValueError(
                f'columns has {min(unknown)!r}; fields that can be mapped: {", ".join(FIELDS)}'
            )
        file = Path(path).expanduser()
        benchmark = name or file.stem
        if TAKEN.fullmatch(benchmark):
            raise ValueError(
                f'{path}: {benchmark!r} is the name of a benchmark of this package; set name=… in '
                'the data set config, or rename the file'
            )
        questions: list[DatasetProblem] = []
        asked: Asked = {}
        places: dict[str, str] = {}
        for number, row in enumerate(read_rows(file), start=1):
            question = _question(row, number, columns, asked)
            first = places.setdefault(question.problem_id, row.place)
            if first != row.place:
                raise ValueError(
                    f'{row.place}: field id: {question.problem_id!r} is already used at {first}; '
                    'give every problem its own'
                )
            questions.append(question)
        all_or_none(questions, path)
        return make_dataset(questions, benchmark=benchmark, version='user', prompt=prompt, cot=cot)


def _question(given: Row, number: int, columns: Mapping[str, str], asked: Asked) -> DatasetProblem:
    name = {field: columns.get(field) or field for field in FIELDS}
    groups = given.fields.get('groups')
    row = Row(given.place, {**groups, **given.fields}) if isinstance(groups, Mapping) else given
    texts = {field: text_of(row.fields.get(name[field])) for field in REQUIRED}
    if lacking := [name[field] for field in REQUIRED if not texts[field]]:
        message = (
            f'{row.place}: field {" and ".join(lacking)} is missing, empty or not a text; '
            f'{fields_of(row.fields)}'
        )
        mapped = [f for f in REQUIRED if not texts[f] and name[f] not in row.fields]
        if mapped:
            message += (
                '; if a column has another name, give it to gpassk run: '
                f'{columns_option(row.fields, mapped) or "--columns FIELD=COLUMN"}, or set columns='
                ' in a config'
            )
        raise ValueError(message)
    text = texts['question']
    language = optional_text(row, name['language']) or language_of(text)
    group, version = version_of(given, language, asked)
    own_id = version_id(group, version, language) if version else str(number)
    problem_id = optional_text(row, name['id']) or own_id
    return DatasetProblem(
        problem_id=problem_id,
        question=text,
        answer=texts['answer'],
        language=language,
        cluster=group or optional_text(row, name['cluster']) or problem_id,
        version=version,
        split=optional_text(row, name['split']) or (optional_text(row, 'source') if group else ''),
        level=optional_text(row, name['level']),
        subject=optional_text(row, name['subject']),
    )
