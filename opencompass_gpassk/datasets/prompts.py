"""What a model is asked: the question, and how to answer it.

Presets: ``'default'``, this package's own words, and ``'opencompass'``, those that the installed
OpenCompass has for LiveMathBench. Both exist in Chinese and English, with and without a request for
reasoning. ``'4-shot'``, for models that were not trained to chat, shows four worked examples.
"""

from __future__ import annotations

from opencompass_gpassk.datasets.examples import few_shot_prompt

__all__ = ['PRESETS', 'make_prompt']

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
        question: The problem.
        language: ``'en'`` or ``'cn'``.
        preset: Whose words.
        cot: Ask for reasoning step by step; examples always show some.
        examples: Of the preset ``'4-shot'``; see :mod:`opencompass_gpassk.datasets.examples`.

    Raises:
        ValueError: If the preset or the language is unknown.
    """
    if preset not in PRESETS:
        raise ValueError(f'prompt is {preset!r}; choose one of {", ".join(PRESETS)}')
    if language not in ANSWER:
        raise ValueError(f'language is {language!r}; there are prompts in {", ".join(ANSWER)}')
    if preset == 'opencompass':
        return _upstream(question, language, cot)
    if preset == '4-shot' and language != 'en':
        raise ValueError(
            f"prompt '4-shot' is in English, but a question in {language!r}; use another"
        )
    if preset == '4-shot':
        return few_shot_prompt(question, examples)
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
