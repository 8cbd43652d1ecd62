"""JSON and settings become typed objects, or an error that names the field at fault."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    InstanceOf,
    TypeAdapter,
    ValidationError,
)

Kind = TypeVar('Kind')
_adapter: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


class Typed(BaseModel):
    """A JSON object with known fields: each has its type, others are ignored.

    Types are strict: true is no number and ``'1'`` no integer, but 1 is a float.
    """

    model_config = ConfigDict(strict=True, frozen=True)


def _finite_or_nan(value: float) -> float:
    if math.isinf(value):
        raise ValueError('should be a finite number')
    return value


Number = Annotated[float, AfterValidator(_finite_or_nan)]  # NaN is undefined
Count = Annotated[int, Field(ge=0)]
Text = InstanceOf[str]  # unlike str it may hold lone surrogates, as texts of models do
Pair = Annotated[tuple[Number | None, Number | None], Field(strict=False)]  # JSON has lists


def decode(kind: type[Kind], value: Any, name: str = '') -> Kind:
    """Return a value as JSON or a config holds it, as an object of a type.

    Args:
        kind: A :class:`Typed`, a dataclass, or a type such as ``dict[str, Number]``.
        value: What was read.
        name: The value's own name, before the names of its fields in messages.

    Raises:
        ValueError: If a field is missing or has another type or range; it names the first one.
    """
    try:
        made: Kind = _adapter(kind).validate_python(value)
        return made
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    way = [name, *map(str, first['loc'])]
    where = '.'.join(reprlib.repr(one).strip("'") for one in way if one)
    if first['type'] == 'missing':
        raise ValueError(f'{where} is missing')
    wanted = first['msg'].removeprefix('Value error, ').removeprefix('Input ')
    if not where:
        raise ValueError(wanted)
    raise ValueError(f'{where} is {reprlib.repr(first["input"])}: {wanted}')
