"""The names of values: x of x = 5, f(x) of f(x) = 2x, (x, y) of (x, y) = (1, 2)."""

from __future__ import annotations

import re
from dataclasses import replace

from opencompass_gpassk.answers.form import Form, Kind

__all__ = ['coordinate_names', 'names_agree', 'renamed']

FUNCTION = re.compile(r'([a-zA-Z])\(([a-z])\)')
COORDINATES = re.compile(r"\(([\w\\,']+)\)")


def names_agree(gold: str, answer: str) -> bool:
    """Tell whether two names may mean the same: f(x) and f(t) or y, but not x and y."""
    first, second = FUNCTION.fullmatch(gold), FUNCTION.fullmatch(answer)
    if first and second:
        return first[1] == second[1]
    return bool(first or second) and 'y' in (gold, answer)


def renamed(gold: Form, answer: Form) -> Form:
    """Return the answer with the argument of its function called as in the gold answer."""
    first, second = FUNCTION.fullmatch(gold.name), FUNCTION.fullmatch(answer.name)
    if not first or not second or first[2] == second[2] or answer.kind is not Kind.EXPRESSION:
        return answer
    # a letter that is no part of a command; where the new one is taken, it would be confused
    if re.search(rf'(?<![a-zA-Z\\]){first[2]}(?![a-zA-Z])', answer.text):
        return answer
    text = re.sub(rf'(?<![a-zA-Z\\]){second[2]}(?![a-zA-Z])', first[2], answer.text)
    return replace(answer, text=text, name=gold.name)


def coordinate_names(name: str) -> list[str]:
    """Return x and y of ``(x,y)``; nothing of any other name."""
    match = COORDINATES.fullmatch(name)
    return match[1].split(',') if match else []
