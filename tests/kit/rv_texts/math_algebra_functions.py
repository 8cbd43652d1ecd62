"""Readers of opencompass_gpassk.rv.math.algebra_functions."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import sympy

from rv_texts import numbers, reader


def coefficients(formula):
    """Return the coefficients of ``x^2 - 3x + 7``, from the highest power down."""
    expression = sympy.sympify(re.sub(r'(\d)x', r'\1*x', formula).replace('^', '**'))
    return [int(factor) for factor in sympy.Poly(expression, sympy.Symbol('x')).all_coeffs()]


def close(answer, decimal):
    """Compare an exact answer with a number of 50 digits."""
    return abs(Decimal(str(sympy.N(answer, 50))) - decimal) < Decimal('1e-30')


@reader
def value_of_composite(text, answer):
    factor, shift, two, square, at = numbers(text)
    inner = Fraction(answer - shift, factor)
    return inner - square == at**two


@reader
def line_to_the_axis(text, answer):
    a, b, c, d = numbers(text)
    return (c - a) * (0 - b) == (d - b) * (answer - a)  # vectors from start to end, and to (x, 0)


@reader
def two_steps_back(text, answer):
    factor, plus, below, value = numbers(text)
    for _ in range(2):
        answer = (factor * answer + plus) / (answer + below)
    return answer == value


@reader
def dearer_boat_tours(text, answer):
    price, guests, lost = numbers(text)
    rises = range(guests // lost + 1)
    return answer == max((price + rise) * (guests - lost * rise) for rise in rises)


@reader
def fourfold_map(text, answer):
    factor, plus, below, start, times = numbers(text)
    value = Fraction(start)
    for _ in range(times):
        value = (factor * value + plus) / (value + below)
    return answer == value


@reader
def equation_with_swapped_argument(text, answer):
    _, factor, swap, slope, _, at = numbers(text)
    other = Fraction(swap, at)
    of_other = (slope * at - answer) / factor  # from the equation at x = at
    return of_other + factor * answer == slope * other


@reader
def tangent_points_apart(text, answer):
    # A line of slope m through the point meets the parabola where x^2 + (b - m)x + c + mp - q = 0;
    # it touches if the discriminant, m^2 - 2(b + 2p)m + b^2 - 4(c - q), is 0.
    point, parabola = text.split('$')[1:4:2]
    x, y = numbers(point)
    _, b, c = coefficients(parabola.removeprefix('y = '))
    with localcontext() as context:
        context.prec = 60
        half = b + 2 * x
        root = Decimal(half**2 - b**2 + 4 * (c - y)).sqrt()
        touch = [(m - b) / 2 for m in (half - root, half + root)]
        (s, v), (t, w) = ((u, u * u + b * u + c) for u in touch)
        return close(answer, ((s - t) ** 2 + (v - w) ** 2).sqrt())


@reader
def squares_of_nested_roots(text, answer):
    function, condition = re.findall(r'\$f(?:\(x\)|\(f\(x\)\)) = (.*?)\$', text)
    f = np.poly1d(coefficients(function))
    roots = (f(f) - int(condition)).roots
    return bool(abs(answer - sum(x.real**2 for x in roots if abs(x.imag) < 1e-6)) < 1e-6)


@reader
def least_sum_of_roots(text, answer):
    squares = [coefficients(square) for square in re.findall(r'sqrt\{(.*?)\}', text)]
    with localcontext() as context:
        context.prec = 60
        left, right = Decimal(-20), Decimal(20)
        for _ in range(70):  # the sum is convex: halve the interval by the sign of the slope
            x = (left + right) / 2
            slope = sum((2 * x + b) / (x * x + b * x + c).sqrt() for _, b, c in squares)
            left, right = (left, x) if slope > 0 else (x, right)
        return close(answer, sum((x * x + b * x + c).sqrt() for _, b, c in squares))
