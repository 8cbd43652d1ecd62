"""The file of a data set's scored steps: what ``gpassk reasoneval filter`` reads, gzipped."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from pathlib import Path

from opencompass_gpassk.jsonlines import row_line
from opencompass_gpassk.reasoneval.responses import ResponseScores
from opencompass_gpassk.reasoneval.solution_rows import SolutionRow, scored_row
from opencompass_gpassk.trials import Trial

__all__ = ['write_steps']


def write_steps(path: Path, trials: Iterable[Trial], reasoning: ResponseScores) -> None:
    """Write a row a response with its question, steps, their scores, and its verdict.

    The file appears whole or not at all.

    Args:
        path: Of the file.
        trials: All; the lost ones have no row.
        reasoning: The scores of those that are not lost.
    """
    settings = reasoning.settings
    present = [trial for trial in trials if not trial.lost]
    part = path.with_name(f'{path.name}.{os.getpid()}.part')
    with gzip.open(part, 'wt', encoding='utf-8', newline='\n') as file:
        for trial, scored in zip(present, reasoning.scored, strict=True):
            about = {
                'problem_id': trial.problem_id,
                'replica': trial.replica,
                'verdict': trial.verdict.value,
                'answer': trial.answer,
                'response': trial.response,
                'question': scored.solution.question,
            }
            row = scored_row(
                SolutionRow(about, scored.solution),
                scored.scores,
                validity_by=settings.validity_by,
                redundancy_by=settings.redundancy_by,
            )
            file.write(row_line(row))
    part.replace(path)
