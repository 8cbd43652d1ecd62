"""What a result says of a test set: its problems, their version, what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opencompass_gpassk.predictions import Response
from opencompass_gpassk.scoring import text_hash
from opencompass_gpassk.trials import Problem

__all__ = ['constant', 'is_ours', 'problems_of', 'prompt_hash', 'version_of']


def is_ours(test_set: Any) -> bool:
    """Tell whether a test set is of this package, and so says its version and its prompts."""
    return {'problem_id', 'data_version', 'prompt'} <= set(test_set.column_names)


def problems_of(
    test_set: Any,
    identities: Sequence[tuple[str, int]],
    golds: Sequence[Any],
    groups: Sequence[Sequence[str]],
) -> list[Problem]:
    """Return each problem of a test set once, with the columns that ``groups`` names."""
    fields = [name for group in groups for name in group if name in test_set.column_names]
    problems: dict[str, Problem] = {}
    for (problem_id, _), gold, row in zip(identities, golds, test_set, strict=True):
        if problem_id not in problems:
            problems[problem_id] = Problem(
                problem_id=problem_id,
                question=str(row.get('question') or row.get('problem') or ''),
                gold='' if gold is None else str(gold),
                groups={name: str(row[name]) for name in fields if row[name] not in (None, '')},
                cluster=str(row.get('cluster') or ''),
            )
    return list(problems.values())


def constant(test_set: Any, column: str, default: str) -> str:
    """Return the value that all rows of a test set share, the default where they don't."""
    values = set(test_set[column]) if column in test_set.column_names else set()
    return str(values.pop()) if len(values) == 1 else default


def version_of(test_set: Any, problems: Sequence[Problem]) -> str:
    """Return a test set's own version, or a hash of its questions and gold answers."""
    content = text_hash([text for problem in problems for text in (problem.question, problem.gold)])
    return constant(test_set, 'data_version', content)


def prompt_hash(test_set: Any, responses: Sequence[Response]) -> str:
    """Return a hash of what was asked: the prompts of our own data sets, else the recorded ones.

    Recorded prompts hold the roles of a model's template, which may differ between models.
    """
    prompts = test_set['prompt'] if is_ours(test_set) else [r.prompt for r in responses]
    distinct = list(dict.fromkeys(prompt for prompt in prompts if prompt))
    return text_hash(distinct) if distinct else 'unknown'
