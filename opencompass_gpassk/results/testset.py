"""Problems, data version and prompt hash of a test set, for the result."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.judging.settings import config_hash
from opencompass_gpassk.runs.predictions import Response
from opencompass_gpassk.trials import Problem

__all__ = [
    'constant',
    'has_our_columns',
    'problems_of',
    'prompt_hash',
    'version_of',
    'with_prompts',
]

TEMPLATES = ('prompt_template', 'ice_template')  # fields of infer_cfg


def has_our_columns(test_set: Any) -> bool:
    """Tell whether a test set has columns for version and prompts, as our data sets have."""
    return {'problem_id', 'data_version', 'prompt'} <= set(test_set.column_names)


def problems_of(
    test_set: Any,
    identities: Sequence[tuple[str, int]],
    golds: Sequence[Any],
    groups: Sequence[Sequence[str]],
    cluster: str = 'cluster',
) -> list[Problem]:
    """Return each problem of a test set once, with the columns named in ``groups``.

    Versions of one question share a value of the column ``cluster``, if there is one.
    """
    ours = has_our_columns(test_set)  # in other data sets `version` may mean anything
    fields = [name for group in groups for name in group if name in test_set.column_names]
    problems: dict[str, Problem] = {}
    for (problem_id, _), gold, row in zip(identities, golds, test_set, strict=True):
        if problem_id not in problems:
            problems[problem_id] = Problem(
                problem_id=problem_id,
                question=str(row.get('question') or row.get('problem') or ''),
                gold='' if gold is None else str(gold),
                groups={name: str(row[name]) for name in fields if row[name] not in (None, '')},
                cluster=str(row.get(cluster) or ''),
                version=str(row.get('version') or '') if ours else '',
                language=str(row.get('language') or ''),
            )
    return list(problems.values())


def with_prompts(problems: Sequence[Problem], responses: Sequence[Response]) -> list[Problem]:
    """Return the problems; those without a question get the prompt that was answered."""
    prompts = {one.identity[0]: one.prompt for one in responses if one.identity and one.prompt}
    return [
        problem
        if problem.question
        else dataclasses.replace(problem, question=prompts.get(problem.problem_id, ''))
        for problem in problems
    ]


def constant(test_set: Any, column: str, default: str) -> str:
    """Return the value that all rows of a test set share, or else the default."""
    values = set(test_set[column]) if column in test_set.column_names else set()
    return str(values.pop()) if len(values) == 1 else default


def version_of(test_set: Any, problems: Sequence[Problem]) -> str:
    """Return a test set's own version, or a hash of its questions and gold answers."""
    content = text_hash([text for problem in problems for text in (problem.question, problem.gold)])
    return constant(test_set, 'data_version', content)


def prompt_hash(test_set: Any, config: Mapping[str, Any]) -> str:
    """Return a hash of the prompts that depends neither on the model nor on missing responses.

    Our own data sets have a column of prompts. For others it hashes the data set's prompt template
    and the columns that fill it, before a model's template is applied.

    Args:
        test_set: The rows.
        config: The data set's config.
    """
    if has_our_columns(test_set):
        return text_hash(list(dict.fromkeys(test_set['prompt'])))
    asked = config.get('reader_cfg', {}).get('input_columns') or ['question', 'problem']
    columns = [asked] if isinstance(asked, str) else asked
    rows = zip(*(test_set[name] for name in columns if name in test_set.column_names), strict=True)
    distinct = list(dict.fromkeys(json.dumps(row, default=str) for row in rows))
    if not distinct:
        return 'unknown'
    infer_cfg = config.get('infer_cfg', {})
    templates = {name: infer_cfg[name] for name in TEMPLATES if name in infer_cfg}
    return text_hash([config_hash(templates), *distinct])
