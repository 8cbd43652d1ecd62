"""Questions that the demonstration model never learned: whatever it says about them is guessed."""

from __future__ import annotations

import random
from functools import cache

from opencompass_gpassk.rv.question import Question, questions
from tools.demo.problem import Question as Template
from tools.demo.questions import QUESTIONS

VARIABLE = 0.4  # share of the English ones that are questions with random variables
LONGEST = 160  # characters
TEXTS = {
    'en': (
        'In how many ways can $@a$ books be put in a row if $@b$ of them must stand together?',
        'A bag holds $@a$ red and $@b$ blue marbles. Two are drawn. '
        'What is the probability that both are red?',
        'Find the minimum value of $g(t)=t^2-@{a}t+@b$ for real $t$.',
        r'Evaluate the limit $\lim_{n\to\infty}\frac{@{a}n^2+n}{@{b}n^2-1}$.',
        'A circle has radius $@a$. A chord lies $@b$ from its centre. How long is the chord?',
        r'Evaluate $\int_0^{@a} (@{b}t^2+1)\,dt$.',
        'Let $h$ be a function with $h(u+v)=h(u)+h(v)$ for all integers. '
        'If $h(@a)=@b$, how many such functions are there?',
        'How many integers between $@a$ and $@b@a$ are multiples of neither $2$ nor $3$?',
        r'A triangle has sides $@a$, $@b$ and an angle of $45^\circ$ between them. Find its area.',
        'A coin is tossed $@a$ times. What is the chance of exactly $@b$ heads?',
        r'Find the trace of a $@a\times @a$ matrix whose entries are all equal to $@b$.',
        'The parabola $y=x^2+@a$ meets the line $y=@{b}x$ at two points. Find their distance.',
    ),
    'cn': (
        '把 $@a$ 本书排成一排，其中 $@b$ 本必须相邻，有多少种排法？',
        '袋中有 $@a$ 个红球和 $@b$ 个蓝球，任取两个，都是红球的概率是多少？',
        '求 $g(t)=t^2-@{a}t+@b$ 的最小值。',
        r'求极限 $\lim_{n\to\infty}\frac{@{a}n^2+n}{@{b}n^2-1}$。',
        '圆的半径为 $@a$，弦到圆心的距离为 $@b$，求弦长。',
        r'计算积分 $\int_0^{@a} (@{b}t^2+1)\,dt$。',
        '函数 $h$ 满足 $h(u+v)=h(u)+h(v)$，且 $h(@a)=@b$，这样的函数有几个？',
        '从 $@a$ 到 $@b@a$ 的整数中，既不是 $2$ 的倍数也不是 $3$ 的倍数的有多少个？',
        r'三角形两边为 $@a$ 和 $@b$，夹角为 $45^\circ$，求三角形的面积。',
        '一枚硬币抛 $@a$ 次，恰好 $@b$ 次正面朝上的概率是多少？',
        r'一个 $@a\times @a$ 矩阵的元素都等于 $@b$，求它的迹。',
        '抛物线 $y=x^2+@a$ 与直线 $y=@{b}x$ 交于两点，求两点的距离。',
    ),
}


def other_question(language: str, rng: random.Random) -> str:
    """A question of mathematics, `en` or `cn`, that no family of the demonstration model asks."""
    if language == 'en' and rng.random() < VARIABLE:
        while True:
            version = rng.choice(_variable_questions()).draw(rng)
            if version and len(text := version.text()) <= LONGEST:
                return text
    numbers = {'a': rng.randint(2, 20), 'b': rng.randint(2, 12)}
    return Template(rng.choice(TEXTS[language])).substitute(numbers)


@cache
def _variable_questions() -> list[Question]:
    return [each for each in questions() if each.name not in QUESTIONS]
