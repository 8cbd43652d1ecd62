"""LiveMathBench (arXiv 2412.13147), and this package's own problems in the same schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from datasets import Dataset
from opencompass.registry import LOAD_DATASET

from opencompass_gpassk.datasets.base import GPassKDataset, make_dataset
from opencompass_gpassk.datasets.data_files import (
    DataPart,
    DatasetProblem,
    Row,
    check_counts,
    optional_text,
    text_field,
)
from opencompass_gpassk.datasets.settings import PART_SIZES
from opencompass_gpassk.datasets.sources import load_rows

SAMPLE_FOLDER = Path(__file__).parent / 'sample'


@LOAD_DATASET.register_module()
class LiveMathBench(GPassKDataset):
    """Problems of recent mathematics competitions, in Chinese and English.

    Version ``'sample'`` is different: 48 problems written for this package, in the same schema and
    splits, which need no download. Its results are named ``sample``. Results on a selection of
    splits or languages name the selection: ``LiveMathBench-202412-en``.
    """

    @staticmethod
    def load(
        version: str = 'sample',
        path: str | None = None,
        splits: Sequence[str] | None = None,
        languages: Sequence[str] | None = None,
        prompt: str = 'default',
        cot: bool = True,
        hub: str | None = 'opencompass/LiveMathBench',
        modelscope: str | None = 'opencompass/LiveMathBench',
        download: bool = True,
    ) -> Dataset:
        """Return the rows, one per problem.

        Args:
            version: ``'sample'``, ``'202412'``, ``'202412-hard'``, ``'202505'`` or
                ``'202505-hard'``.
            path: A folder with a file for each split and language, such as ``AMC_en.jsonl``; a
                snapshot of a hub's repository; or the file of a single part. jsonl, json, parquet
                or csv.
            splits: Splits to load; by default all of the version.
            languages: Languages to load; by default all of the version.
            prompt: ``'default'`` for this package's prompt, ``'opencompass'`` for OpenCompass's.
            cot: Ask for reasoning step by step.
            hub: The repository on the HuggingFace hub, None to leave it out.
            modelscope: The repository on ModelScope, None to leave it out.
            download: Let OpenCompass download its archive if no other source has the data.

        Raises:
            ValueError: If a setting is out of its range, a selected part is missing, or a row lacks
                a field; with file, line and field.
        """
        if version not in PART_SIZES:
            raise ValueError(f'version is {version!r}; choose one of {", ".join(PART_SIZES)}')
        if version == 'sample' and path:
            raise ValueError(
                f"path is {path!r}, but version 'sample' comes with this package; name the "
                'version of your data (version=…, or the environment variable GPASSK_VERSION)'
            )
        wanted = _select(version, splits, languages)
        title = version if version == 'sample' else f'LiveMathBench-{version}'
        release = version.split('-')[0]
        rows = load_rows(
            title,
            tuple(_part(release, split, language) for split, language in wanted),
            path=str(SAMPLE_FOLDER) if version == 'sample' else path,
            subfolders=tuple(
                f'{folder}{release}'
                for folder in (
                    *('', 'data/', 'livemathbench/', 'LiveMathBench/'),
                    *('data/livemathbench/', 'data/LiveMathBench/'),
                )
            ),
            hub=hub,
            modelscope=modelscope,
            opencompass='opencompass/LiveMathBench',
            download=download,
            narrowing=(
                'To load less, say so: splits=[…] and languages=[…] in the data set config '
                "(for example languages=['en']), or in the environment GPASSK_LANGUAGES=en"
            ),
        )
        check_counts(
            title,
            {f'{split}_{language}': count for (split, language), count in wanted.items()},
            rows,
        )
        questions = [
            _question(row, split, language, number, paired=_paired(rows, split, wanted))
            for split, language in wanted
            for number, row in enumerate(rows[f'{split}_{language}'], start=1)
        ]
        return make_dataset(
            questions,
            benchmark=title + _selection(version, wanted),
            version='1' if version == 'sample' else version,
            prompt=prompt,
            cot=cot,
        )


def _select(
    version: str, splits: Sequence[str] | None, languages: Sequence[str] | None
) -> dict[tuple[str, str], int | None]:
    parts = PART_SIZES[version]
    for name, chosen, known in (
        ('splits', splits, dict.fromkeys(split for split, _ in parts)),
        ('languages', languages, dict.fromkeys(language for _, language in parts)),
    ):
        if chosen is not None and (
            isinstance(chosen, str) or not chosen or not set(chosen) <= set(known)
        ):
            raise ValueError(
                f'{name} is {chosen!r}; give a list of some of those of version {version}: '
                f'{", ".join(known)}'
            )
    return {
        (split, language): count
        for (split, language), count in parts.items()
        if (splits is None or split in splits) and (languages is None or language in languages)
    }


def _selection(version: str, wanted: Mapping[tuple[str, str], int | None]) -> str:
    """Return a suffix for the benchmark's name, so that a part isn't taken for the whole."""
    ending = ''
    for axis in (0, 1):
        whole, chosen = (
            dict.fromkeys(key[axis] for key in keys) for keys in (PART_SIZES[version], wanted)
        )
        if len(chosen) < len(whole):
            ending += f'-{"+".join(chosen)}'
    return ending


def _part(release: str, split: str, language: str) -> DataPart:
    return DataPart(
        name=f'{split}_{language}',
        layouts=((f'{split}_{language}',),),
        hub_configs=(f'v{release}_{split}_{language}',),
    )


def _paired(
    rows: Mapping[str, Sequence[Row]], split: str, wanted: Mapping[tuple[str, str], int | None]
) -> bool:
    """Whether problems at the same place in a split's files are translations of one another."""
    return len({len(rows[f'{s}_{language}']) for s, language in wanted if s == split}) == 1


def _question(row: Row, split: str, language: str, number: int, *, paired: bool) -> DatasetProblem:
    return DatasetProblem(
        problem_id=f'{split}_{language}/{number}',
        question=text_field(row, ['question']),
        answer=text_field(row, ['answer']),
        language=language,
        cluster=f'{split}/{number}' if paired else f'{split}_{language}/{number}',
        split=split,
        level=optional_text(row, 'level'),
        subject=optional_text(row, 'subject'),
        question_type=optional_text(row, 'question_type'),
    )
