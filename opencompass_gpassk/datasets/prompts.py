"""The prompts: a question with the request for an answer.

The presets are ``'default'``, this package's own wording, and ``'opencompass'``, the wording of the
installed OpenCompass for LiveMathBench. Both exist in Chinese and English, with and without a
request for reasoning. A text that holds ``{question}`` is a template of the user's own.

Before RV-Bench's questions four worked examples may stand, as turns of a chat: Minerva's, from the
installed OpenCompass, or this package's own for LeetCode questions.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from opencompass_gpassk.datasets.language import language_of

STOP, ASKED = 'Problem:', 'Solution:'  # a model that doesn't chat goes on with another problem
FEW_SHOT = f'{STOP}\n{{question}}\n\n{ASKED}'  # the template of each question
SYSTEM = (
    'You are good at mathematics. Solve each problem step by step, and state the result in the '
    'last line, as in the worked examples.'
)
MINERVA = 'opencompass.configs.datasets.math.math_4shot_example_from_google_research'
OWN = Path(__file__).parents[1] / 'rv/prompts/leetcode_4shot.jsonl'


def few_shot_turns(source: str) -> dict[str, Any]:
    """Return the template of a chat: a system prompt, four examples and the question.

    A model that doesn't chat reads the turns as one text.

    Args:
        source: ``'math'`` or ``'leetcode'``.
    """
    turns = []
    for question, solution in _minerva() if source == 'math' else _own():
        asked = make_prompt(question, 'en', preset=FEW_SHOT)
        turns += [{'role': 'HUMAN', 'prompt': asked}, {'role': 'BOT', 'prompt': solution}]
    return {
        'begin': [{'role': 'SYSTEM', 'fallback_role': 'HUMAN', 'prompt': SYSTEM}],
        'round': [*turns, {'role': 'HUMAN', 'prompt': '{prompt}'}],
    }


def _minerva() -> list[tuple[str, str]]:
    examples = str(import_module(MINERVA).prompt).split(STOP)[1:]
    found = [example.partition(ASKED) for example in examples]
    return [(question.strip(), solution.strip()) for question, _, solution in found]


def _own() -> list[tuple[str, str]]:
    rows = [json.loads(line) for line in OWN.read_text('utf-8').splitlines()]
    return [(row['question'], row['solution']) for row in rows]


QUESTION = '{question}'  # its place in a template
PRESETS = ('default', 'opencompass')
REASONING = {
    'en': 'Work through the problem step by step.',
    'cn': '请一步一步地推理求解。',
}
ANSWER = {
    'en': 'State your final answer at the end, inside \\boxed{}.',
    'cn': '最后请将答案写在 \\boxed{} 中。',
}


def make_prompt(question: str, language: str, *, preset: str = 'default', cot: bool = True) -> str:
    """Return the prompt for a question.

    Args:
        question: The problem's text.
        language: The language that the data set states; see
            :func:`~opencompass_gpassk.datasets.language.language_of`.
        preset: The wording, or a template with ``{question}``; see
            :mod:`opencompass_gpassk.datasets.prompts`.
        cot: Ask for reasoning step by step; a template stays as it is.

    Raises:
        ValueError: If the preset is unknown.
    """
    if QUESTION in preset:  # not str.format: LaTeX in the template may contain braces
        return preset.replace(QUESTION, question)
    if preset not in PRESETS:
        raise ValueError(
            f'prompt is {preset!r}; choose one of {", ".join(PRESETS)}, or give a template that '
            f'contains {QUESTION}'
        )
    language = language_of(question, language)
    if preset == 'opencompass':
        return _upstream(question, language, cot)
    space = ' ' if language == 'en' else ''
    request = REASONING[language] + space if cot else ''
    return f'{question}\n\n{request}{ANSWER[language]}'


def _upstream(question: str, language: str, cot: bool) -> str:
    from opencompass.datasets.livemathbench.prompts import PROMPT_CN, PROMPT_EN

    template = PROMPT_EN if language == 'en' else PROMPT_CN
    # OpenCompass drops the request for reasoning in the same way.
    request = ', please reasoning step by step' if language == 'en' else '，请逐步推理'
    if request not in template:
        raise ValueError(
            f"prompt 'opencompass': that of the installed OpenCompass no longer holds {request!r}; "
            "use prompt='default'"
        )
    if not cot:
        template = template.replace(request, '')
    return template.format(question=question)
