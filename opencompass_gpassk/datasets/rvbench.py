"""RV-Bench (arXiv 2501.11790): questions with random variables, each in several versions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from opencompass.registry import LOAD_DATASET

from opencompass_gpassk.datasets.base import GPassKDataset, make_dataset
from opencompass_gpassk.datasets.data_files import DatasetProblem
from opencompass_gpassk.datasets.rv_files import read_posed, version_id
from opencompass_gpassk.rv.generation import PosedQuestion, generate
from opencompass_gpassk.rv.question import DEFAULT_SEED, PER_GROUP, is_executed, questions

NAMES = {'math': 'RV-MATH', 'leetcode': 'RV-LEETCODE', 'all': 'RV-Bench'}
VERSION = '2'  # of the questions


@LOAD_DATASET.register_module()
class RVBench(GPassKDataset):
    """Versions and originals of questions with random variables. See :meth:`load` for settings."""

    @staticmethod
    def load(
        source: str = 'math',
        per_group: int = PER_GROUP,
        seed: int = DEFAULT_SEED,
        names: Sequence[str] = (),
        languages: Sequence[str] = ('en',),
        path: str | None = None,
        originals: str | None = None,
        benchmark: str | None = None,
        prompt: str = 'default',
        cot: bool = True,
    ) -> Dataset:
        """Generate the problems, or read them from a file.

        Args:
            source: ``math``, ``leetcode`` or ``all``.
            per_group: Versions of each question, at least 2; a file determines its own number.
            seed: Seed of the versions; another seed gives another, equally hard, set of problems.
            names: Names of questions to load, from ``gpassk rv list`` or the file; by default all.
            languages: ``en``, ``cn`` or both, for generated ones; a version has the same numbers
                in both. Each language has groups of its own.
            path: A file in place of this package's questions: problems, see
                :func:`opencompass_gpassk.datasets.rv_files.read_posed`, or the user's own
                questions in Python (``.py``), see :mod:`opencompass_gpassk.rv.question`, which is
                executed. ``source`` then has no effect.
            originals: A file of the originals, if ``path`` doesn't contain them.
            benchmark: The name under which results are joined and shown.
            prompt: ``'default'``, ``'opencompass'``, or a template that contains ``{question}``.
            cot: Ask for reasoning step by step.

        Raises:
            ValueError: If a setting is out of its range, or a file can't be read.
        """
        if source not in NAMES:
            raise ValueError(f'source is {source!r}; use one of {", ".join(NAMES)}')
        own = is_executed(path)
        if (own or not path) and (not isinstance(per_group, int) or per_group < 2):
            raise ValueError(f'per_group is {per_group!r}; a group has at least 2 versions')
        if isinstance(names, str):
            raise ValueError(f'names is {names!r}; give a list of names')
        if originals and (own or not path):
            raise ValueError(
                'originals names a file, but path does not name one of versions; name both'
            )
        if path and not own:
            rows = _named(read_posed(path, originals), names, path)
            version = 'file'
        else:
            rows = list(generate(source, per_group, seed, names, languages, path))
            version = f'{"own" if own else VERSION}:seed{seed}:{per_group}'
        return make_dataset(
            [_question(row) for row in rows],
            benchmark=benchmark or _name(source, names, path),
            version=version,
            prompt=prompt,
            cot=cot,
        )


def _named(rows: list[PosedQuestion], names: Sequence[str], path: str) -> list[PosedQuestion]:
    unknown = set(names) - {row.group for row in rows}
    if unknown:
        raise ValueError(f'names holds {min(unknown)!r}, but {path} has no such group')
    return [row for row in rows if not names or row.group in names]


def _name(source: str, names: Sequence[str], path: str | None) -> str:
    """Return a benchmark name that describes the selected problems."""
    name = Path(path).stem if path else NAMES[source]
    if names:
        name += f', {len(names)} of {len(questions(source))} questions' if not path else ', a part'
    return name


def _question(row: PosedQuestion) -> DatasetProblem:
    return DatasetProblem(
        problem_id=version_id(row.group, row.version, row.language),
        question=row.question,
        answer=row.answer,
        language=row.language,
        cluster=row.group,
        version=row.version,
        split=row.source,
        level=row.level,
        subject=row.subject,
    )
