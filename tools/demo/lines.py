"""Lines of worked solutions: whether they are true, and what they become with other numbers."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction

from tools.demo.families import times

NUMBER = re.compile(r'(?<![\d.])\d+(?![\d.])')
QUOTIENT = re.compile(r'(\d+)=(\d+)\\times\d+\+\d+')
BY_HAND = re.compile(r'(\d+)\\times(\d+)=.+=.+=.+')
SIGNS: dict[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
HIGHEST_POWER = 64


def numbers_of(text: str) -> list[int]:
    """The natural numbers in a text, without their signs."""
    return [int(found) for found in NUMBER.findall(text)]


def substituted(text: str, old: int, new: int) -> str:
    """The text with one number in place of another, wherever it stands."""
    return re.sub(rf'(?<!\d){old}(?!\d)', str(new), text)


def is_true(line: str) -> bool | None:
    """Whether the sides of an equation are equal; None if fewer than two are plain numbers."""
    values = [found for side in line.split('=') if (found := _value(side)) is not None]
    return len(set(values)) == 1 if len(values) > 1 else None


def reworked(line: str) -> str:
    """The line with its result worked out anew, after a number was changed.

    It is the line itself where that gives no natural or negative number, or it is no equation.
    """
    if (found := QUOTIENT.fullmatch(line)) and int(found[2]):
        whole, part = int(found[1]), int(found[2])
        return rf'{whole}={part}\times{whole // part}+{whole % part}'
    if found := BY_HAND.fullmatch(line):
        return times(int(found[1]), int(found[2]))
    *sides, _ = line.split('=')
    result = _value(sides[-1]) if sides else None
    if result is None or result.denominator != 1 or sides[-1].isdecimal():
        return line
    return '='.join([*sides, str(result)])


def _value(expression: str) -> Fraction | None:
    text = expression.replace(r'\times', '*').replace(r'\div', '/').replace('^', '**')
    try:
        return _evaluated(ast.parse(text.strip(), mode='eval').body)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _evaluated(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluated(node.operand)
    if isinstance(node, ast.BinOp):
        left, right = _evaluated(node.left), _evaluated(node.right)
        if type(node.op) in SIGNS:
            return SIGNS[type(node.op)](left, right)
        if isinstance(node.op, ast.Pow) and right.denominator == 1 and 0 <= right <= HIGHEST_POWER:
            return left ** int(right)
    raise ValueError('no arithmetic of numbers')
