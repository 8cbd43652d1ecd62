"""The families of problems that the demonstration model learns.

A question holds `@a`, `@b`, … for its numbers; the function below it draws them, in that order, and
works the solution out in steps that a small model can follow.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from tools.demo.problem import Family, Work

FAMILIES: dict[str, Family] = {}


def family(
    en: str, cn: str, weight: int = 2
) -> Callable[[Callable[[random.Random], Work]], Callable[[random.Random], Work]]:
    """Register the decorated function as a family, drawn in proportion to `weight`."""

    def register(work: Callable[[random.Random], Work]) -> Callable[[random.Random], Work]:
        name = work.__name__
        FAMILIES[name] = Family(name, {'en': en, 'cn': cn}, weight, work)
        return work

    return register


def times(a: int, b: int) -> str:
    """Multiplication as done by hand: tens and ones of b apart."""
    tens, ones = b // 10 * 10, b % 10
    if tens == 0 or ones == 0:
        return rf'{a}\times{b}={a * b}'
    parts = rf'{a}\times{tens}+{a}\times{ones}={a * tens}+{a * ones}'
    return rf'{a}\times{b}={parts}={a * b}'


@family('Compute $@a+@b$.', '计算 $@a+@b$ 的值。')
def total(rng: random.Random) -> Work:
    a, b = rng.randint(100, 999), rng.randint(100, 999)
    return Work({'a': a, 'b': b}, [f'{a}+{b}={a + b}'], a + b)


@family(r'Compute $@a\times @b$.', r'计算 $@a\times @b$ 的值。', weight=3)
def multiplication(rng: random.Random) -> Work:
    a, b = rng.randint(2, 99), rng.randint(2, 99)
    return Work({'a': a, 'b': b}, [times(a, b)], a * b)


@family(r'What is $@b\%$ of $@a$?', r'$@a$ 的 $@b\%$ 是多少？')
def percentage(rng: random.Random) -> Work:
    a, b = 20 * rng.randint(1, 20), 5 * rng.randint(1, 19)
    return Work({'a': a, 'b': b}, [times(a, b), rf'{a * b}\div100={a * b // 100}'], a * b // 100)


@family(
    'A rectangle has length $@a$ and perimeter $@b$. What is its area?',
    '一个长方形的长为 $@a$，周长为 $@b$，它的面积是多少？',
)
def rectangle(rng: random.Random) -> Work:
    a = rng.randint(6, 40)
    width = rng.randint(3, a - 1)
    b = 2 * (a + width)
    lines = [rf'{b}\div2={b // 2}', f'{b // 2}-{a}={width}', times(a, width)]
    return Work({'a': a, 'b': b}, lines, a * width)


@family(
    'In a room of $@a$ people, everyone shakes hands with everyone else exactly once. '
    'How many handshakes are there?',
    '房间里有 $@a$ 个人，每两人恰好握手一次，一共握手多少次？',
    weight=1,
)
def handshakes(rng: random.Random) -> Work:
    a = rng.randint(5, 60)
    twice = a * (a - 1)
    lines = [f'{a}-1={a - 1}', times(a, a - 1), rf'{twice}\div2={twice // 2}']
    return Work({'a': a}, lines, twice // 2)


@family('What is the units digit of $@a^{@b}$?', '$@a^{@b}$ 的个位数字是多少？')
def units_digit(rng: random.Random) -> Work:
    a, b = rng.choice((2, 3, 4, 7, 8, 9)), rng.randint(11, 60)
    cycle = ','.join(str(a**i % 10) for i in (1, 2, 3, 4))
    return Work({'a': a, 'b': b}, [cycle, rf'{b}=4\times{b // 4}+{b % 4}'], pow(a, b, 10))


@family('If $@{a}x+@b=@c$, what is $x$?', '若 $@{a}x+@b=@c$，求 $x$ 的值。')
def linear_equation(rng: random.Random) -> Work:
    a, x, b = rng.randint(2, 9), rng.randint(2, 20), rng.randint(1, 60)
    lines = [f'{a}x={a * x + b}-{b}={a * x}', rf'x={a * x}\div{a}={x}']
    return Work({'a': a, 'b': b, 'c': a * x + b}, lines, x)


@family(
    'An arithmetic sequence has first term $@a$ and common difference $@b$. '
    'Find its term number $@c$.',
    '等差数列的首项为 $@a$，公差为 $@b$，求它的第 $@c$ 项。',
)
def arithmetic_sequence(rng: random.Random) -> Work:
    a, b, c = rng.randint(1, 20), rng.randint(2, 12), rng.randint(5, 30)
    rise = b * (c - 1)
    lines = [f'{c}-1={c - 1}', times(b, c - 1), f'{a}+{rise}={a + rise}']
    return Work({'a': a, 'b': b, 'c': c}, lines, a + rise)


@family(
    r'Given the vectors $\vec{a}=(@a,@b)$ and $\vec{b}=(@c,@d)$, find $\vec{a}\cdot\vec{b}$.',
    r'已知向量 $\vec{a}=(@a,@b)$，$\vec{b}=(@c,@d)$，求 $\vec{a}\cdot\vec{b}$。',
)
def dot_product(rng: random.Random) -> Work:
    a, b, c, d = (rng.choice((-1, 1)) * rng.randint(1, 9) for _ in range(4))
    lines = [rf'{a}\times({c})={a * c}', rf'{b}\times({d})={b * d}']
    lines.append(f'{a * c}+({b * d})={a * c + b * d}')
    return Work({'a': a, 'b': b, 'c': c, 'd': d}, lines, a * c + b * d)


@family('Find the larger root of $x^2-@{a}x+@b=0$.', '求方程 $x^2-@{a}x+@b=0$ 的较大的根。')
def quadratic_equation(rng: random.Random) -> Work:
    small, large = sorted(rng.sample(range(1, 16), 2))
    a, b = small + large, small * large
    return Work({'a': a, 'b': b}, [rf'{b}={small}\times{large}', f'{small}+{large}={a}'], large)


@family('Find the remainder when $@a$ is divided by $@b$.', '求 $@a$ 除以 $@b$ 的余数。')
def remainder(rng: random.Random) -> Work:
    a, b = rng.randint(100, 999), rng.randint(3, 9)
    tens = a // 10
    rest = tens % b * 10 + a % 10
    lines = [rf'{tens}={b}\times{tens // b}+{tens % b}', rf'{rest}={b}\times{rest // b}+{a % b}']
    return Work({'a': a, 'b': b}, lines, a % b)


@family(
    'Find the greatest common divisor of $@a$ and $@b$.',
    '求 $@a$ 与 $@b$ 的最大公约数。',
)
def common_divisor(rng: random.Random) -> Work:
    factor = rng.randint(2, 30)
    small, large = sorted(rng.sample(range(1, 9), 2))
    a, b = factor * small, factor * large
    lines, high, low = [], b, a
    while low:
        lines.append(rf'{high}={low}\times{high // low}+{high % low}')
        high, low = low, high % low
    return Work({'a': a, 'b': b}, lines, high)


@family('How many positive divisors does $@a$ have?', '$@a$ 有多少个正约数？', weight=1)
def divisors(rng: random.Random) -> Work:
    primes = [2, 3, 5, 7]
    exponents = [rng.randint(0, top) for top in (4, 3, 2, 1)]
    a = math.prod(p**e for p, e in zip(primes, exponents, strict=True))
    used = [(p, e) for p, e in zip(primes, exponents, strict=True) if e]
    count = math.prod(e + 1 for _, e in used)
    if len(used) < 2 or a > 999:
        return divisors(rng)
    factors = r'\times'.join(f'{p}^{e}' for p, e in used)
    counts = r'\times'.join(str(e + 1) for _, e in used)
    return Work({'a': a}, [f'{a}={factors}', f'{counts}={count}'], count)


@family(
    r'Compute the determinant $\begin{vmatrix}@a&@b\\@c&@d\end{vmatrix}$.',
    r'计算行列式 $\begin{vmatrix}@a&@b\\@c&@d\end{vmatrix}$ 的值。',
)
def determinant(rng: random.Random) -> Work:
    a, b, c, d = (rng.randint(1, 9) for _ in range(4))
    lines = [rf'{a}\times{d}={a * d}', rf'{b}\times{c}={b * c}']
    lines.append(f'{a * d}-{b * c}={a * d - b * c}')
    return Work({'a': a, 'b': b, 'c': c, 'd': d}, lines, a * d - b * c)


@family(
    "Let $f(x)=x^3+@{a}x^2+@{b}x$. Find $f'(@c)$.", "设 $f(x)=x^3+@{a}x^2+@{b}x$，求 $f'(@c)$。"
)
def derivative(rng: random.Random) -> Work:
    a, b, c = rng.randint(2, 9), rng.randint(2, 9), rng.randint(2, 5)
    terms = (3 * c * c, 2 * a * c, b)
    lines = [
        f"f'(x)=3x^2+{2 * a}x+{b}",
        rf"f'({c})=3\times{c * c}+{2 * a}\times{c}+{b}={'+'.join(map(str, terms))}={sum(terms)}",
    ]
    return Work({'a': a, 'b': b, 'c': c}, lines, sum(terms))


@family(r'Evaluate the sum $1+2+3+\cdots+@a$.', r'求和 $1+2+3+\cdots+@a$。', weight=1)
def series(rng: random.Random) -> Work:
    a = rng.randint(6, 99)
    twice = a * (a + 1)
    return Work({'a': a}, [times(a, a + 1), rf'{twice}\div2={twice // 2}'], twice // 2)
