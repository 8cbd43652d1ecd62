"""The base of this package's data sets: their columns, and a replica number in each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from datasets import Dataset
from opencompass.datasets.base import BaseDataset

from opencompass_gpassk.datasets.data_files import DatasetProblem
from opencompass_gpassk.datasets.prompts import make_prompt
from opencompass_gpassk.datasets.settings import check_name, checked_ks
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.sample_requests import check_test_range
from opencompass_gpassk.runs.running_task import leave_responses_unread


class GPassKDataset(BaseDataset):
    """A data set whose problems are each sampled `n` times.

    OpenCompass repeats the rows replica by replica and then selects `test_range`. After that a
    row's place no longer shows its replica, so each row has the replica as a column.

    Args:
        reader_cfg: As in every OpenCompass data set.
        k: One k or several, of pass@k and G-Pass@k.
        n: Samples of each problem, at least the largest k; 3k is advised.
        limit: Only the first so many questions, each with all its versions and translations (its
            cluster); the benchmark's name then says so. (A `test_range` is refused if n > 1.)
        **kwargs: The settings of :meth:`load`.

    Raises:
        ValueError: If a k is above n or the limit is below 1, or as :meth:`load` says.
    """

    dataset: Dataset

    def __init__(
        self,
        reader_cfg: dict[str, Any] | None = None,
        k: int | Sequence[int] = 1,
        n: int = 1,
        limit: int | None = None,
        **kwargs: Any,
    ) -> None:
        ks = checked_ks(k, n, limit)
        check_name(str(kwargs.get('abbr', '')), n)
        check_test_range({'abbr': kwargs.get('abbr', ''), 'n': n, 'reader_cfg': reader_cfg})
        leave_responses_unread()
        self._replicas, self._limit = n, limit
        super().__init__(reader_cfg=reader_cfg or {}, k=ks, n=n, **kwargs)

    def _init_reader(self, **kwargs: Any) -> None:
        rows = self.dataset
        problems = len(rows) // self._replicas
        clusters = rows['cluster'][:problems]
        first = set(list(dict.fromkeys(clusters))[: self._limit])
        kept = [i for i, cluster in enumerate(clusters) if cluster in first]
        replicas = [replica for replica in range(self._replicas) for _ in kept]
        if len(kept) < problems:
            places = range(0, len(rows), problems)
            rows = rows.select([start + i for start in places for i in kept])
            names = [f'{name}-first{len(first)}' for name in rows['benchmark']]
            rows = rows.remove_columns('benchmark').add_column('benchmark', names)
        self.dataset = rows.add_column('replica', replicas)
        super()._init_reader(**kwargs)


def make_dataset(
    questions: Sequence[DatasetProblem],
    *,
    benchmark: str,
    version: str,
    prompt: str,
    cot: bool,
    examples: Callable[[DatasetProblem], str] = lambda question: 'math',
) -> Dataset:
    """Return the rows of a data set, before they are repeated.

    Args:
        questions: The problems.
        benchmark: The name under which results are joined and shown.
        version: The data's version; a hash of the content is added to it.
        prompt: A preset of :mod:`opencompass_gpassk.datasets.prompts`, or a template.
        cot: Ask for reasoning step by step.
        examples: Returns the name of the worked examples that ``'4-shot'`` shows before a question.

    Raises:
        ValueError: If there are no problems, if two share an id, or if the preset is unknown.
    """
    if not questions:
        raise ValueError(f'{benchmark} {version}: there are no problems in the data')
    problem_id, count = Counter(q.problem_id for q in questions).most_common(1)[0]
    if count > 1:
        raise ValueError(f'{benchmark}: {count} problems have the id {problem_id!r}; make them one')
    content = sorted((q.problem_id, q.question, q.answer) for q in questions)
    data_version = f'{version}:{stable_hash(content)[:8]}'
    return Dataset.from_list(
        [
            {
                **asdict(q),
                'prompt': make_prompt(
                    q.question, q.language, preset=prompt, cot=cot, examples=examples(q)
                ),
                'benchmark': benchmark,
                'data_version': data_version,
            }
            for q in questions
        ]
    )
