"""What surrounds a question in a prompt: the model has to find the question in any of it.

Users ask for reasoning and for a boxed answer in many ways, so each training prompt is worded anew,
and a share of them is the bare question.
"""

from __future__ import annotations

import random
from typing import NamedTuple

BARE = 0.3  # share of the prompts that are the question alone


class Phrases(NamedTuple):
    """Parts from which the instructions of one language are put together."""

    openings: tuple[str, ...]
    reasoning: tuple[str, ...]
    answer: tuple[str, ...]
    joints: tuple[str, ...]
    labels: tuple[str, ...]
    endings: tuple[str, ...]
    stop: str


PHRASES = {
    'en': Phrases(
        openings=(
            'Here is a math problem',
            'Below is a question of mathematics',
            'Answer the following question',
            'Solve this exercise',
            'You are good at mathematics',
            'Read the problem with care',
        ),
        reasoning=(
            'please reason step by step',
            'think step by step',
            'show each step of your reasoning',
            'work it out in small steps',
            'explain how you get there',
            'please reasoning step by step',
        ),
        answer=(
            'put your final answer within \\boxed{}',
            'put your answer in \\boxed{}',
            'write the final answer inside \\boxed{}',
            'end with the answer as \\boxed{answer}',
            'give the result in the form \\boxed{...}',
            'remember to box your final answer with \\boxed{}',
        ),
        joints=(', and ', '. ', ', ', '; then ', '.\n'),
        labels=('Question: ', 'Problem: ', 'Q: ', 'Problem:\n', '### Question\n'),
        endings=('\nAnswer:', '\nSolution:', '\n', '\nA: ', '\n\nAnswer: '),
        stop='.',
    ),
    'cn': Phrases(
        openings=(
            '下面是一个数学问题',
            '请解答下面的题目',
            '这里有一道数学题',
            '你擅长数学',
            '请认真读题',
            '请回答以下问题',
        ),
        reasoning=(
            '请逐步推理',
            '请一步一步地思考',
            '写出每一步的过程',
            '请给出解题步骤',
            '请说明理由',
            '请分步计算',
        ),
        answer=(
            '把最终答案放在 \\boxed{} 中',
            '并把最终答案放置于\\boxed{}中',
            '将答案写在 \\boxed{} 里',
            '最后用 \\boxed{答案} 给出结果',
            '并在\\boxed{}内写出最后的答案',
            '请用 \\boxed{...} 表示答案',
        ),
        joints=('，', '。', '；', '，然后', '。\n'),
        labels=('问题：', '题目：', '问：', '问题：\n', '### 题目\n'),
        endings=('\n答案：', '\n解：', '\n', '\n答：', '\n\n答案：'),
        stop='。',
    ),
}


def instruction(rng: random.Random, phrases: Phrases) -> str:
    """One to three phrases as a sentence or two."""
    kinds = (phrases.openings, phrases.reasoning, phrases.answer)
    parts = [rng.choice(kind) for kind in kinds if rng.random() < 0.6]
    text = (parts or [rng.choice(phrases.answer)])[0]
    for part in parts[1:]:
        text += rng.choice(phrases.joints) + part
    if rng.random() < 0.8:
        text = text[0].upper() + text[1:]
    return text + (phrases.stop if rng.random() < 0.8 else '')


def wrap(question: str, language: str, rng: random.Random) -> str:
    """The question as a user might pose it, with an instruction before it, after it or neither."""
    if rng.random() < BARE:
        return question
    phrases = PHRASES[language]
    text = question
    if rng.random() < 0.2:
        text = rng.choice(phrases.labels) + text
    place = rng.choice(('before', 'after', 'after', 'none'))
    border = rng.choice(('\n', '\n\n', ' '))
    if place == 'before':
        text = instruction(rng, phrases) + border + text
    elif place == 'after':
        text = text + border + instruction(rng, phrases)
    return text + (rng.choice(phrases.endings) if rng.random() < 0.2 else '')
