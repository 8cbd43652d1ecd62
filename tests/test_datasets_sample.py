"""The problems of `sample`: their schema, their translations, and their answers computed anew."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest
import sympy

import opencompass_gpassk

FOLDER = Path(opencompass_gpassk.__file__).parent / 'datasets/sample'
SPLITS = ('CNMO', 'CCEE', 'AMC', 'WLPMC')
X = sympy.Symbol('x')


def load(split: str, language: str) -> list[dict[str, Any]]:
    """All rows of one file."""
    lines = (FOLDER / f'{split}_{language}.jsonl').read_text('utf-8').split('\n')
    return [json.loads(line) for line in lines if line]


def dice_divisible_by_five() -> Fraction:
    throws = list(product(range(1, 7), repeat=3))
    return Fraction(sum(sum(throw) % 5 == 0 for throw in throws), len(throws))


def focal_triangle_area() -> sympy.Expr:
    """Area from the law of cosines: distances p + q = 10, foci 8 apart, angle 60 degrees."""
    p, q = sympy.symbols('p q', positive=True)
    cosine = p**2 + q**2 - 2 * p * q * sympy.cos(sympy.pi / 3)
    areas = {
        sympy.simplify(solution[p] * solution[q] * sympy.sin(sympy.pi / 3) / 2)
        for solution in sympy.solve([p + q - 10, cosine - 64], [p, q], dict=True)
    }
    return areas.pop() if len(areas) == 1 else sympy.nan


def pairs_of_reciprocals() -> int:
    """Solutions of 2/x + 3/y = 1/6: y follows from x, and x <= 228 since y >= 19."""
    rest = [Fraction(1, 6) - Fraction(2, x) for x in range(1, 1000)]
    return sum(value > 0 and (3 / value).denominator == 1 for value in rest)


def subsets_without_difference_three() -> int:
    sets = ({i for i in range(12) if mask >> i & 1} for mask in range(2**12))
    return sum(all(i + 3 not in chosen for i in chosen) for chosen in sets)


def square_values() -> int:
    """Beyond n = 30 the value lies strictly between (n + 9)^2 and (n + 10)^2."""
    values = {n: n * n + 19 * n + 130 for n in range(1, 10_000)}
    return sum(n for n, value in values.items() if math.isqrt(value) ** 2 == value)


def even_part_of_the_integrand() -> sympy.Expr:
    """Over a symmetric interval only (f(x) + f(-x)) / 2 counts, and that is a polynomial."""
    integrand = X**4 / (1 + sympy.exp(X**3))
    even = sympy.simplify((integrand + integrand.subs(X, -X)) / 2)
    return sympy.integrate(even, (X, -1, 1))


def functions_with_cube_equal_to_self() -> int:
    functions = product(range(5), repeat=5)
    return sum(all(f[f[f[x]]] == f[x] for x in range(5)) for f in functions)


def area_from_perimeter() -> int:
    (width,) = (width for width in range(1, 100) if 14 + width + 14 + width == 46)
    return sum(1 for _ in product(range(14), range(width)))


def last_divisor_in_common() -> int:
    return max(d for d in range(1, 85) if 84 % d == 126 % d == 0)


ANSWERS: dict[str, list[Callable[[], Any]]] = {
    'AMC': [
        lambda: len([*range(347), *range(286)]),
        lambda: Fraction(80) / 100 * 35,
        area_from_perimeter,
        lambda: len(list(combinations(range(13), 2))),
        lambda: int(str(7**23)[-1]),
        dice_divisible_by_five,
    ],
    'CCEE': [
        lambda: sympy.solve(7 * X + 18 - 74, X)[0],
        lambda: range(7, 1000, 6)[11],
        lambda: sympy.Matrix([6, -4]).dot(sympy.Matrix([7, 3])),
        lambda: max(sympy.solve(X**2 - 17 * X + 66, X)),
        lambda: sympy.maximum(2 * X**3 - 9 * X**2 + 12 * X + 1, X, sympy.Interval(0, 3)),
        focal_triangle_area,
    ],
    'CNMO': [
        lambda: next(r for r in range(7) if (538 - r) in range(0, 539, 7)),
        last_divisor_in_common,
        lambda: sum(180 % d == 0 for d in range(1, 181)),
        pairs_of_reciprocals,
        subsets_without_difference_three,
        square_values,
    ],
    'WLPMC': [
        lambda: sympy.Matrix([[7, 4], [3, 9]]).det(),
        lambda: sympy.diff(X**3 + 4 * X**2 + 5 * X, X).subs(X, 3),
        lambda: sum(range(39)),
        even_part_of_the_integrand,
        lambda: sympy.Matrix(10, 10, lambda i, j: 5 if i == j else 2).det(),
        functions_with_cube_equal_to_self,
    ],
}


@pytest.mark.parametrize('split', SPLITS)
def test_every_answer_is_what_an_independent_computation_gives(split: str) -> None:
    """Brute force or computer algebra finds the stored answer, written in LaTeX."""
    rows = load(split, 'en')
    assert len(rows) == len(ANSWERS[split]) == 6
    for row, compute in zip(rows, ANSWERS[split], strict=True):
        latex = sympy.latex(sympy.sympify(compute())).replace(' ', '')
        assert row['answer'] == f'${latex}$', row['question']


@pytest.mark.parametrize('language', ['en', 'cn'])
@pytest.mark.parametrize('split', SPLITS)
def test_rows_follow_the_schema(split: str, language: str) -> None:
    """Each row has LiveMathBench's fields, a level of 1 to 5 and a subject."""
    for row in load(split, language):
        assert list(row) == ['question', 'answer', 'question_type', 'options', 'level', 'subject']
        assert (row['question_type'], row['options']) == ('problem-solving', [])
        assert re.fullmatch(r'\$[^$]+\$', row['answer'])
        assert row['level'] in range(1, 6)
        assert row['subject'].strip()


@pytest.mark.parametrize('split', SPLITS)
def test_rows_at_the_same_place_are_translations(split: str) -> None:
    """English and Chinese rows differ in their words, not in formulas, answer, level, subject."""
    for english, chinese in zip(load(split, 'en'), load(split, 'cn'), strict=True):
        assert {**english, 'question': ''} == {**chinese, 'question': ''}
        assert not re.search('[一-鿿]', english['question'])
        assert re.search('[一-鿿]', chinese['question'])
        formulas = [re.findall(r'\$[^$]+\$', row['question']) for row in (english, chinese)]
        assert sorted(formulas[0]) == sorted(formulas[1])


def test_levels_rise_within_a_split_and_span_the_scale() -> None:
    """Problems go from plain arithmetic (1) to competition level (5)."""
    levels = {split: [row['level'] for row in load(split, 'en')] for split in SPLITS}
    assert all(values == sorted(values) for values in levels.values())
    assert set().union(*levels.values()) == {1, 2, 3, 4, 5}


def test_no_question_occurs_twice() -> None:
    """The 48 questions are 48 different ones."""
    questions = [
        row['question']
        for split in SPLITS
        for tongue in ('en', 'cn')
        for row in load(split, tongue)
    ]
    assert len(questions) == len(set(questions)) == 48
