"""The score store: keeps the scores of solutions' steps, so that no solution is scored twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.shared_store import Store
from opencompass_gpassk.reasoneval.scorers import SolutionScorer, checked, identity_of
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores


class ScoreStore(Store):
    """Scores in a file, found by the scorer's settings and the solution's texts.

    Args:
        path: The file; see :class:`~opencompass_gpassk.formats.shared_store.Store`.
        settings: What scores depend on besides the solution, as JSON values.
    """

    noun = 'score store'
    application = b'GPSS'
    variable = 'GPASSK_SCORE_STORE'
    name = 'step_scores.sqlite'
    loss = 'Lost scores are made again.'

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        super().__init__(path)
        self.scorer = bytes.fromhex(stable_hash(dict(settings)))

    def restore(self, solutions: Sequence[Solution]) -> dict[Solution, StepScores]:
        """Return the stored scores of these solutions; raise a StoreError if they can't be read."""
        wanted = {solution_key(solution): solution for solution in solutions}
        found = {wanted[key]: value for _, key, value in self.look_up(self.scorer, wanted)}
        restored = {one: _scores(value, len(one.steps)) for one, value in found.items()}
        return {one: scores for one, scores in restored.items() if scores}

    def add(self, solution: Solution, scores: StepScores) -> None:
        """Store the scores of a solution durably; raise a StoreError if they can't be written.

        Temporary refusals, such as a lack of memory, are not stored.
        """
        if scores.refusal and scores.refusal.may_pass:
            return
        refusal = scores.refusal.name if scores.refusal else ''
        numbers = [] if refusal else scores.probabilities.tolist()
        value = {'numbers': numbers, 'refusal': refusal, 'tokens': int(scores.tokens)}
        self.keep([(self.scorer, solution_key(solution), value)], replace=True)


def solution_key(solution: Solution) -> bytes:
    """Return the key of a solution: a digest of its texts."""
    return bytes.fromhex(stable_hash([solution.question, *solution.steps]))


def _scores(value: Mapping[str, Any], steps: int) -> StepScores | None:
    """Return stored scores; None if they don't fit a solution of so many steps."""
    try:
        if value['refusal']:
            return StepScores.refused(steps, Refusal[value['refusal']], int(value['tokens']))
        numbers = np.array(value['numbers'], np.float64)
        fits = numbers.ndim == 2 and len(numbers) == steps > 0
        return StepScores(numbers, tokens=int(value['tokens'])) if fits else None
    except (KeyError, TypeError, ValueError):  # a refusal of a later version, or somebody's file
        return None


def score_solutions(
    scorer: SolutionScorer,
    solutions: Sequence[Solution],
    store: Path | None,
    *,
    progress: bool,
    report: Callable[[str], None],
) -> dict[Solution, StepScores]:
    """Return the scores of solutions; each distinct one is scored once unless it is in the store.

    Args:
        scorer: The scorer.
        solutions: The solutions.
        store: Keeps scores as soon as they are made; None keeps none.
        progress: Show a bar on standard error.
        report: Takes a message on scores found in the store.

    Raises:
        StoreError: If the store can't be used; scores stored before are kept.
        ValueError: If the scorer's scores don't fit the steps, or some are missing.
    """
    distinct = list(dict.fromkeys(solutions))
    with ExitStack() as stack:
        kept = None
        scores: dict[Solution, StepScores] = {}
        if store is not None:
            kept = ScoreStore(store, identity_of(scorer))
            scores = stack.enter_context(kept).restore(distinct)
        if scores:
            report(f'{len(scores)} of {len(distinct)} distinct solutions are in {store}')
        missing = [one for one in distinct if one not in scores]
        stream = scorer.stream(missing, progress=progress) if missing else iter(())
        if close := getattr(stream, 'close', None):  # so that a judge is not asked in vain
            stack.callback(close)
        for index, given in stream:
            if index < 0:
                raise ValueError(f'{type(scorer).__name__}: {index} is no index of a solution')
            solution = missing[index]
            scores[solution] = checked(scorer, given, len(solution.steps))
            if kept is not None:
                kept.add(solution, scores[solution])
    if len(scores) < len(distinct):
        raise ValueError(
            f'{type(scorer).__name__} scored {len(scores)} of {len(distinct)} solutions; its '
            'stream() must give scores or a refusal of each'
        )
    return scores
