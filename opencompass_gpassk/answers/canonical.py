"""The canonical form of an answer, which equivalent answers share where that can be told."""

from __future__ import annotations

from opencompass_gpassk.answers.form import Form, Kind
from opencompass_gpassk.answers.lists import spread
from opencompass_gpassk.answers.normalise import unspaced
from opencompass_gpassk.answers.numbers import Number
from opencompass_gpassk.answers.values import fingerprint

__all__ = ['canonical_form', 'is_plain_form']


def is_plain_form(form: Form) -> bool:
    """Tell whether neither the form nor its parts need computer algebra."""
    if form.kind in (Kind.EXPRESSION, Kind.RELATION):
        return False
    return all(is_plain_form(part) for part in form.parts)


def canonical_form(form: Form) -> str:
    """Return the canonical text of an answer that was taken apart."""
    if form.number:
        return _canonical_number(form.number)
    if form.kind is Kind.EXPRESSION:
        return fingerprint(form.text) or unspaced(form.text)
    if form.kind in (Kind.LIST, Kind.SET):
        return '{' + ', '.join(sorted(canonical_form(part) for part in spread(form))) + '}'
    parts = [canonical_form(part) for part in form.parts]
    if form.kind is Kind.UNION:
        return ' u '.join(sorted(parts))
    if form.kind is Kind.TUPLE:
        return form.text[0] + ', '.join(parts) + form.text[1]
    if parts:
        return f'{form.text}: ' + ', '.join(parts)
    return form.text


def _canonical_number(number: Number) -> str:
    value = number.value / 100 if number.percent else number.value
    return str(value)
