"""Worked examples that stand before a question, for models that were not trained to chat.

``'math'`` are the four of Minerva as the installed OpenCompass holds them, ``'leetcode'`` four of
this package's own.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path

__all__ = ['EXAMPLES', 'STOP', 'few_shot_prompt']

EXAMPLES = ('math', 'leetcode')
STOP = 'Problem:'  # a model that goes on after its answer poses itself another problem
MINERVA = 'opencompass.configs.datasets.math.math_4shot_example_from_google_research'
OWN = Path(__file__).parents[1] / 'rv/prompts/leetcode_4shot.jsonl'


def few_shot_prompt(question: str, examples: str) -> str:
    """Return four worked examples and the question, to be continued with its solution.

    Raises:
        ValueError: If the examples are unknown, or the installed OpenCompass has them no longer.
    """
    if examples not in EXAMPLES:
        raise ValueError(f'examples is {examples!r}; choose one of {", ".join(EXAMPLES)}')
    shown = _minerva() if examples == 'math' else _own()
    return f'{shown}\n\n{STOP}\n{question}\n\nSolution:'


@cache
def _minerva() -> str:
    try:
        text = import_module(MINERVA).prompt
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"prompt '4-shot': the installed OpenCompass has no examples in {MINERVA}; "
            "use prompt='default'"
        ) from error
    return str(text).strip()


@cache
def _own() -> str:
    rows = [json.loads(line) for line in OWN.read_text('utf-8').splitlines()]
    return '\n\n'.join(f'{STOP}\n{row["question"]}\n\nSolution:\n{row["solution"]}' for row in rows)
