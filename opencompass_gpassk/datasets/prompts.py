"""The prompts: a question with the request for an answer.

The presets are ``'default'``, this package's own wording, and ``'opencompass'``, the wording of the
installed OpenCompass for LiveMathBench. Both exist in Chinese and English, with and without a
request for reasoning. ``'4-shot'``, for models that were not trained to chat, shows four worked
examples: Minerva's, from the installed OpenCompass, or this package's own for LeetCode questions.

A text that holds ``{question}`` is a template of the user's own.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path

from opencompass_gpassk.datasets.language import language_of

STOP = 'Problem:'  # a model that continues after its answer writes another problem
MINERVA = 'opencompass.configs.datasets.math.math_4shot_example_from_google_research'
OWN = Path(__file__).parents[1] / 'rv/prompts/leetcode_4shot.jsonl'


@cache
def _worked(examples: str) -> str:
    """Return the worked examples for ``'math'`` or ``'leetcode'``."""
    if examples == 'math':
        return str(import_module(MINERVA).prompt).strip()
    rows = [json.loads(line) for line in OWN.read_text('utf-8').splitlines()]
    return '\n\n'.join(f'{STOP}\n{row["question"]}\n\nSolution:\n{row["solution"]}' for row in rows)


QUESTION = '{question}'  # its place in a template
PRESETS = ('default', 'opencompass', '4-shot')
REASONING = {
    'en': 'Work through the problem step by step.',
    'cn': '请一步一步地推理求解。',
}
ANSWER = {
    'en': 'State your final answer at the end, inside \\boxed{}.',
    'cn': '最后请将答案写在 \\boxed{} 中。',
}


def make_prompt(
    question: str,
    language: str,
    *,
    preset: str = 'default',
    cot: bool = True,
    examples: str = 'math',
) -> str:
    """Return the prompt for a question.

    Args:
        question: The problem's text.
        language: The language that the data set states; see
            :func:`~opencompass_gpassk.datasets.language.language_of`.
        preset: The wording, or a template with ``{question}``; see
            :mod:`opencompass_gpassk.datasets.prompts`.
        cot: Ask for reasoning step by step; worked examples always show reasoning, and a template
            stays as it is.
        examples: The worked examples of the preset ``'4-shot'``: ``'math'`` or ``'leetcode'``.

    Raises:
        ValueError: If the preset is unknown, or has no prompt in the language.
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
    if preset == '4-shot' and language != 'en':
        raise ValueError(
            f"prompt '4-shot' is in English, but a question in {language!r}; use another"
        )
    if preset == '4-shot':
        return f'{_worked(examples)}\n\n{STOP}\n{question}\n\nSolution:'
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
