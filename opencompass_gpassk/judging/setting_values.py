"""Values of settings: of their fields' types, without keys, and as JSON can hold them."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from opencompass_gpassk.judging.configs import SECRETS

__all__ = ['checked', 'named', 'secret_in']

WORDS = {
    NoneType: 'None',
    float: 'a number',
    int: 'an integer',
    str: 'a text',
    bool: 'True or False',
}
NO_SECRET = {'', 'ENV', 'EMPTY', 'NONE'}  # what OpenCompass's configs have in place of a key


def checked(name: str, value: Any, hint: Any) -> Any:
    """Return a value as its type hint has it: 0 and 0.0 are one number, and so one judge.

    Raises:
        ValueError: If it is of another type, naming both.
    """
    hints = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    kinds = [get_origin(one) or one for one in hints]
    if float in kinds and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, tuple(kinds)) or (isinstance(value, bool) and bool not in kinds):
        wanted = ' or '.join(WORDS.get(kind, kind.__name__.lower()) for kind in kinds)
        raise ValueError(f'{name} is a {type(value).__name__}; it is {wanted}')
    return value


def secret_in(value: Any) -> str:
    """Return the name under which a config holds a key, '' if it holds none."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            given = one if isinstance(one, (list, tuple)) else [one]
            real = [part for part in given if str(part or '').strip().upper() not in NO_SECRET]
            if real and str(name) in SECRETS - {'org'}:
                return str(name)
    values = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, (Mapping, list, tuple)):
        return next((found for one in values if (found := secret_in(one))), '')
    return ''


def named(value: Any) -> Any:
    """Return a config in which classes stand by name."""
    if isinstance(value, Mapping):
        return {str(name): named(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [named(one) for one in value]
    return f'{value.__module__}.{value.__qualname__}' if isinstance(value, type) else value
