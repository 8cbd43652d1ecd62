"""The form of an answer: a number, a list, an interval, a relation, a matrix, a choice, words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from opencompass_gpassk.answers.numbers import Number

__all__ = ['Form', 'Kind']


class Kind(str, Enum):
    """What an answer is."""

    NUMBER = 'number'
    EXPRESSION = 'expression'
    TEXT = 'text'
    CHOICE = 'choice'
    LIST = 'list'  # without brackets: order is free
    SET = 'set'
    TUPLE = 'tuple'  # in brackets: coordinates or an interval
    UNION = 'union'
    MATRIX = 'matrix'
    RELATION = 'relation'


@dataclass(frozen=True)
class Form:
    """An answer taken apart.

    Attributes:
        kind: What it is.
        text: LaTeX of an expression, words of a text, letter of a choice, the outer brackets of a
            tuple such as ``[)``, the operators of a relation, rows x columns of a matrix.
        parts: The elements.
        number: The value of a number.
        name: The variable it is said to be the value of, as in ``x = 5``; '' if none.
        unit: The unit behind it, '' if none.
    """

    kind: Kind
    text: str = ''
    parts: tuple[Form, ...] = field(default=())
    number: Number | None = None
    name: str = ''
    unit: str = ''

    def named(self, name: str) -> Form:
        """Return the same value under a name, or under none if it is ''."""
        return replace(self, name=name)

    def latex(self) -> str:
        """Return the LaTeX of a number, an expression or a matrix of these."""
        if self.number:
            value = self.number.value / (100 if self.number.percent else 1)
            if value.denominator == 1:
                return str(value.numerator)
            return f'\\frac{{{value.numerator}}}{{{value.denominator}}}'
        if self.kind is Kind.MATRIX:
            width = int(self.text.partition('x')[2])
            cells = [part.latex() for part in self.parts]
            rows = [' & '.join(cells[i : i + width]) for i in range(0, len(cells), width)]
            return '\\begin{pmatrix}' + ' \\\\ '.join(rows) + '\\end{pmatrix}'
        return self.text
