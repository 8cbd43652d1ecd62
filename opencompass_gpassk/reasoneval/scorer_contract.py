"""What is demanded of a scorer, whoever wrote it, and what its scores are kept under."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.reasoning import validity
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores
from opencompass_gpassk.text import one_line

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.scorers import SolutionScorer

__all__ = ['checked_item', 'identity_of']

OWN = __name__.partition('.')[0]


def identity_of(scorer: SolutionScorer) -> dict[str, Any]:
    """Return what a scorer's scores are kept under.

    They are the settings of one of this package's scorers, which tell its kinds apart. Those of
    another are put under its class: two of equal settings may say different things.

    Raises:
        ValueError: If its settings are no mapping that JSON can hold.
    """
    kind = type(scorer)
    settings = scorer.settings
    if not isinstance(settings, Mapping):
        raise ValueError(
            f'settings of {kind.__name__} is {settings!r}; give a mapping of what its scores '
            'depend on'
        )
    try:
        json.dumps(dict(settings), sort_keys=True, default=str)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f'settings of {kind.__name__} can not be kept as JSON ({error}); give texts as names, '
            'and texts, numbers, lists and mappings as values'
        ) from error
    if kind.__module__.partition('.')[0] == OWN:
        return dict(settings)
    return {'class': f'{_module(kind)}.{kind.__qualname__}', 'settings': dict(settings)}


def checked_item(
    scorer: SolutionScorer, item: Any, solutions: Sequence[Solution]
) -> tuple[int, StepScores]:
    """Return what a scorer's stream gave: which solution, and its scores.

    Numbers that are not finite, and scores of no steps, are made the refusals that they are.

    Raises:
        ValueError: If it is no index of a solution with scores of its steps.
    """
    name = type(scorer).__name__
    if not (isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], StepScores)):
        raise ValueError(
            f'{name}.stream() gave {_shown(item)}; give pairs of an index and StepScores'
        )
    index, scores = item
    if isinstance(index, bool) or not isinstance(index, Integral):
        raise ValueError(f'{name}.stream() gave the index {_shown(index)}; give a whole number')
    index = int(index)
    if not 0 <= index < len(solutions):
        raise ValueError(
            f'{name}.stream() gave the index {index} among {len(solutions)} solutions; give that '
            'of the solution in what it was given, from 0'
        )
    return index, _checked(name, scores, len(solutions[index].steps))


def _checked(name: str, scores: StepScores, steps: int) -> StepScores:
    refusal, tokens = scores.refusal, scores.tokens
    if not (refusal is None or isinstance(refusal, Refusal)):
        raise ValueError(f'{name}: the refusal {_shown(refusal)} is no Refusal; give one, or None')
    if isinstance(tokens, bool) or not isinstance(tokens, Integral) or int(tokens) < 0:
        raise ValueError(
            f'{name}: the tokens {_shown(tokens)} are no count; give a whole number, 0 where '
            'nobody counted'
        )
    tokens = int(tokens)
    try:
        numbers = np.atleast_1d(np.asarray(scores.probabilities, np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f'{name}: probabilities are no numbers: {error}') from error
    if refusal is None and not numbers.size and not steps:
        refusal = Refusal.EMPTY
    elif refusal is None and not np.isfinite(numbers).all():
        refusal = Refusal.NOT_FINITE
    elif refusal is None:
        _require_shares(name, numbers)
    if len(numbers) != steps:
        raise ValueError(
            f'{name} gave scores of {len(numbers)} steps to a solution of {steps}; give a row of '
            'scores to each step'
        )
    if refusal is not None:
        return StepScores.refused(steps, refusal, tokens)
    return StepScores(numbers, tokens=tokens)


def _require_shares(name: str, numbers: NDArray[np.float64]) -> None:
    try:
        validity(numbers)
    except ValueError as error:
        raise ValueError(f'{name}: {error}') from error


def _module(kind: type) -> str:
    """Return where a class stands: of a script, by the name that others import it by."""
    if kind.__module__ != '__main__':
        return kind.__module__
    main = sys.modules['__main__']
    if spec := getattr(main, '__spec__', None):
        return str(spec.name)
    return Path(getattr(main, '__file__', None) or '__main__').stem


def _shown(value: Any) -> str:
    text = one_line(repr(value))
    return text if len(text) <= 80 else f'{text[:80]}…'
