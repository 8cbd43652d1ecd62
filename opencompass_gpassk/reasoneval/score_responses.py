"""From responses to the scores of their reasoning, for the evaluators."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.jsonlines import row_line
from opencompass_gpassk.formats.stored_files import written_whole
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.metrics.reasoning import solution_redundancy, solution_validity
from opencompass_gpassk.reasoneval.score_store import score_solutions
from opencompass_gpassk.reasoneval.scorers import make_scorer, step_delimiter
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.reasoneval.solution_files import scored_row
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores
from opencompass_gpassk.reasoneval.steps import require_steps, split_steps
from opencompass_gpassk.responses import Response
from opencompass_gpassk.trials import Problem, Trial


@dataclass(frozen=True)
class ScoredResponse:
    """The reasoning in one response.

    Attributes:
        solution: The question and the response's steps.
        scores: The scores of each step.
        values: ``validity``, ``redundancy``, ``steps`` and ``tokens``, as far as known.
    """

    solution: Solution
    scores: StepScores
    values: dict[str, float]

    @property
    def unscored(self) -> str:
        """Why there are no scores, '' if there are."""
        return self.scores.refusal.value if self.scores.refusal else ''


@dataclass(frozen=True)
class ResponseScores:
    """The scores of a data set's responses, and their description in a result.

    Attributes:
        settings: The settings of the scoring.
        scored: One for each response that is not lost, in order.
        signature: The scorer's name, with a hash of the settings.
        notes: Notes for readers of the result.
        delimiter: The text at which responses were split; None if steps were found by rules.
    """

    settings: ReasoningSettings
    scored: list[ScoredResponse]
    signature: str
    notes: list[str]
    delimiter: str | None = None

    def describe(self) -> dict[str, Any]:
        """Return the result's description of the scorer and its settings."""
        return {
            'scorer': self.settings.scorer,
            'settings': self.settings.as_dict(),
            'threshold': self.settings.sound_threshold,
            'validity_by': self.settings.validity_by,
            'redundancy_by': self.settings.redundancy_by,
            'delimiter': self.delimiter,
        }


def score_responses(
    problems: Sequence[Problem],
    responses: Sequence[Response],
    settings: ReasoningSettings,
    store: Path | None,
    *,
    min_coverage: float = 0.0,
    again: str = '',
    report: Callable[[str], None],
) -> ResponseScores:
    """Score the steps of the responses that are not lost.

    The model's own response is scored, not OpenCompass's postprocessed text, which may be reduced
    to the answer.

    Args:
        problems: The problems that the responses answer.
        responses: T responses, each with its identity.
        settings: The scorer and its settings.
        store: The file of the score store; None keeps no scores.
        min_coverage: Least share of the responses, in [0, 1], that a judge's temporary failures
            may leave.
        again: How to score once more, such as ``run the command again``.
        report: Takes messages on the progress.

    Raises:
        JudgeError: If a judge as scorer can't be asked, or fails too often; its replies are kept.
        ValueError: If the settings or the model can't be used.
    """
    questions = {problem.problem_id: problem.question for problem in problems}
    scorer = make_scorer(settings, report=report)
    delimiter = step_delimiter(settings, scorer)
    present = [response for response in responses if not response.lost]
    solutions = [
        Solution(
            questions.get(response.identity[0], '') if response.identity else '',
            split_steps(response.raw, delimiter=delimiter, thinking=settings.thinking),
        )
        for response in present
    ]
    if settings.delimiter is None:
        require_steps([one.steps for one in solutions], delimiter)
    found = score_solutions(scorer, solutions, store, progress=True, report=report)
    scored = [
        _scored(solution, found[solution], settings, response.num_tokens)
        for solution, response in zip(solutions, present, strict=True)
    ]
    # If the judge was down, a result without its scores would never be replaced.
    lacking = sum(one.scores.refusal is Refusal.UNJUDGED for one in scored)
    if scored and 1 - lacking / len(scored) < min_coverage:
        raise JudgeError(
            f'the judge gave no answer about the steps of {lacking} of {len(scored)} responses; '
            f'{again} when it is available: no answer is paid for twice. Or accept the gap with '
            'a lower min_coverage'
        )
    name = settings.scorer
    how = (
        {**scorer.settings, 'model': name},  # without the path of a model's folder
        *(settings.sound_threshold, settings.validity_by, settings.redundancy_by),
        *(delimiter, settings.thinking),
    )
    signature = f'{name}:{stable_hash(how)[:8]}'
    notes = _notes(scored)
    if settings.borrows_threshold:
        notes.append(
            f'sound reasoning has a validity of {settings.sound_threshold:g} or more, which the '
            f'paper chose for ReasonEval-34B; how well it fits {name} is unknown: measure that '
            'with gpassk reasoneval meta, and set threshold'
        )
    return ResponseScores(settings, scored, signature, notes, delimiter)


def _scored(
    solution: Solution, scores: StepScores, settings: ReasoningSettings, num_tokens: int | None
) -> ScoredResponse:
    # A judge doesn't count the steps' tokens; the model that responded may have.
    tokens = scores.tokens or num_tokens
    values = {
        'steps': float(len(solution.steps)),
        'tokens': float(tokens) if tokens else math.nan,
        'validity': solution_validity(scores.validity, settings.validity_by),
        'redundancy': solution_redundancy(scores.redundancy, settings.redundancy_by),
    }
    known = {name: value for name, value in values.items() if not math.isnan(value)}
    return ScoredResponse(solution, scores, known)


def _notes(scored: Sequence[ScoredResponse]) -> list[str]:
    reasons = Counter(one.scores.refusal for one in scored if one.scores.refusal)
    if not reasons:
        return []
    told = '; '.join(f'{reason.value} ({count})' for reason, count in reasons.most_common())
    note = (
        f'the reasoning of {reasons.total()} of {len(scored)} responses has no scores, because: '
        f'{told}'
    )
    if any(reason.may_pass for reason in reasons):
        note += '; gpassk reasoneval run RUN tries temporary failures again'
    return [note]


def write_steps(path: Path, trials: Iterable[Trial], reasoning: ResponseScores) -> None:
    """Write one row per response with its question, steps, their scores, and its verdict.

    The file is written whole or not at all. Lost trials have no row.
    """
    settings = reasoning.settings
    present = [trial for trial in trials if not trial.lost]
    with (
        written_whole(path) as part,
        gzip.open(part, 'wt', encoding='utf-8', newline='\n') as file,
    ):
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
                about,
                scored.solution,
                scored.scores,
                validity_by=settings.validity_by,
                redundancy_by=settings.redundancy_by,
            )
            file.write(row_line(row))
