"""Files of RV-Bench problems, in this package's format and in others'."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.datasets.data_files import (
    DatasetProblem,
    Row,
    optional_text,
    read_rows,
    text_field,
)
from opencompass_gpassk.datasets.language import language_of
from opencompass_gpassk.rv.generation import PosedQuestion
from opencompass_gpassk.trials import ORIGINAL, Problem

QUESTION = ('question', 'problem', 'rv_question')
ANSWER = ('answer', 'gold', 'label', 'rv_answer')
GROUP = ('group', 'group_id', 'qf_id', 'question_id')
# The spellings of true and false in JSON, tables and hand-written files.
TRUE, FALSE = ('true', '1', '1.0', 'yes'), ('false', '0', '0.0', 'no', '', 'none', 'nan')
FLAGS = ('original', 'is_original')

Asked = dict[tuple[str, str], set[str]]  # group and language → versions


def write_line(posed: PosedQuestion) -> str:
    """Return a row as a JSON line, which :func:`read_posed` reads."""
    return json.dumps({**asdict(posed), 'original': posed.original}, ensure_ascii=False) + '\n'


def read_posed(path: str, originals: str | None = None) -> list[PosedQuestion]:
    """Read versions and originals.

    Args:
        path: JSON lines, JSON, Parquet or CSV with ``question``, ``answer`` and ``group``, or other
            names for these: ``problem``, ``qf_id`` …; optional are ``original`` (true, false),
            ``source``, ``subject``, ``level`` and ``language``. Rows without ``original`` are
            versions, numbered in order.
        originals: Another file, in which all rows are originals.

    Raises:
        ValueError: If a row lacks a field (with file, line and field), a group has two originals,
            groups have different numbers of versions, or an original's group has no version.
    """
    rows = [_posed(row, None) for row in read_rows(Path(path).expanduser())]
    if originals:
        rows += [_posed(row, True) for row in read_rows(Path(originals).expanduser())]
    return _checked(rows, ' and '.join(filter(None, (path, originals))))


def version_of(row: Row, language: str, asked: Asked) -> tuple[str, str]:
    """Return the question that a problem is a version of, and which one it is; '' if it is none.

    A row with a ``group`` and a ``version`` or ``original`` is a version, as those of ``gpassk rv
    generate`` are.

    Args:
        row: The row.
        language: Of the problem.
        asked: The versions that came before; this one is added. One without a number gets the
            next.

    Raises:
        ValueError: If ``original`` is neither true nor false, or a version came before.
    """
    group, version = optional_text(row, 'group'), optional_text(row, 'version')
    if not group or not {'version', *FLAGS} & row.fields.keys():
        return '', ''
    before = asked.setdefault((group, language), set())
    version = ORIGINAL if _is_original(row) else version or str(len(before - {ORIGINAL}) + 1)
    if version in before:
        raise ValueError(
            f'{row.place}: question {group!r} has version {version!r} twice; number the versions '
            'of a question, or rename the field group if it names something else'
        )
    before.add(version)
    return group, version


def version_id(group: str, version: str, language: str) -> str:
    """Return the id of a version: ``LampsInStep/3`` or, in Chinese, ``LampsInStep/3/cn``."""
    return f'{group}/{version}' + ('' if language == 'en' else f'/{language}')


def all_or_none(problems: Sequence[DatasetProblem | Problem], place: str) -> None:
    """Check that all problems of a file are versions of questions, or none is.

    Args:
        problems: The problems of the file.
        place: The file.

    Raises:
        ValueError: If some are, and others aren't.
    """
    plain = [one.problem_id for one in problems if not one.version]
    if plain and len(plain) < len(problems):
        raise ValueError(
            f'{place}: problem {plain[0]!r} has no group and version, but others have; put '
            'versions of questions and plain problems into files of their own'
        )


def _posed(row: Row, original: bool | None) -> PosedQuestion:
    original = _is_original(row) if original is None else original
    question = text_field(row, QUESTION)
    return PosedQuestion(
        question,
        text_field(row, ANSWER),
        text_field(row, GROUP),
        ORIGINAL if original else optional_text(row, 'version'),
        optional_text(row, 'source'),
        optional_text(row, 'subject'),
        optional_text(row, 'level') or optional_text(row, 'difficulty'),
        optional_text(row, 'language') or language_of(question),
    )


def _is_original(row: Row) -> bool:
    flags = [_truth(row, row.fields[name]) for name in FLAGS if name in row.fields]
    return any(flags) or optional_text(row, 'version').lower() == ORIGINAL


def _truth(row: Row, flag: Any) -> bool:
    text = str(flag).strip().lower()
    if text not in (*TRUE, *FALSE):
        raise ValueError(f'{row.place}: field original is {flag!r}; give true or false')
    return text in TRUE


def _checked(rows: Sequence[PosedQuestion], files: str) -> list[PosedQuestion]:
    """Return the rows group by group, the original first, versions numbered."""
    groups: dict[tuple[str, str], list[PosedQuestion]] = {}
    for row in rows:
        groups.setdefault((row.group, row.language), []).append(row)
    sizes = Counter[int]()
    ordered: list[PosedQuestion] = []
    for (name, _), members in groups.items():
        found = [row for row in members if row.original]
        others = [row for row in members if not row.original]
        if len(found) > 1:
            raise ValueError(f'{files}: group {name!r} has {len(found)} originals; keep one')
        if not others and not all(row.original for row in rows):
            raise ValueError(
                f'{files}: group {name!r} has an original but no version; the groups of both must '
                'have the same names'
            )
        sizes[len(others)] += 1
        ordered += found
        ordered += [replace(row, version=str(i)) for i, row in enumerate(others, start=1)]
    if len(sizes) > 1:
        told = ', '.join(f'{count} of {size}' for size, count in sorted(sizes.items()))
        raise ValueError(
            f'{files}: groups have different numbers of versions ({told}), but GA@m needs one m; '
            'give each group the same number'
        )
    return ordered
