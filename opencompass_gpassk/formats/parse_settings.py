"""Settings as a config gives them: a text, a dictionary, or the settings themselves."""

from __future__ import annotations

import dataclasses
import difflib
import json
import reprlib
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from opencompass_gpassk.formats.decode import decode
from opencompass_gpassk.formats.jsonlines import at_place

Kind = TypeVar('Kind')
Own = TypeVar('Own', bound='Settings')


@dataclasses.dataclass(frozen=True)
class Settings:
    """Settings with types that are checked: choices and ranges stand in the types of the fields.

    Types are strict: True is no number and ``'1'`` no integer, but 1 becomes the number 1.0.

    Raises:
        ValueError: If a setting has another type or range; it names the setting.
    """

    name: ClassVar[str]  # the settings' name in configs
    text_sets: ClassVar[str]  # the field that a plain text sets
    example: ClassVar[str]

    def __post_init__(self) -> None:
        for field, adapter in _adapters(type(self)).items():  # type: ignore[arg-type]  # classes can be hashed
            given = getattr(self, field)
            try:
                object.__setattr__(self, field, adapter.validate_python(given))
            except ValidationError as error:
                wanted = [one['msg'].partition(' should ')[2] for one in error.errors()]
                raise ValueError(
                    f'{field} of {self.name} is {reprlib.repr(given)}; it should '
                    f'{" or ".join(dict.fromkeys(wanted))}'
                ) from None

    @classmethod
    def of(cls: type[Own], given: Any) -> Own:
        """Return the settings that a config gives: a text, a mapping of fields, or settings.

        Raises:
            ValueError: If ``given`` has another type, a field is unknown, or a value is wrong.
        """
        if isinstance(given, cls):
            return given
        if isinstance(given, str):
            return cls(**{cls.text_sets: given})
        if not isinstance(given, Mapping):
            raise ValueError(f'{cls.name} is {given!r}; give settings such as {cls.example}')
        check_names(given, [one.name for one in dataclasses.fields(cls)], cls.name)
        return cls(**given)

    def changed(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults."""
        given = {one: getattr(self, one.name) for one in dataclasses.fields(self)}
        return {one.name: value for one, value in given.items() if value != default_of(one)}


def default_of(field: dataclasses.Field[Any]) -> Any:
    """Return the default of a setting."""
    made = field.default_factory
    return field.default if made is dataclasses.MISSING else made()


@cache
def _adapters(kind: type[Settings]) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(kind, include_extras=True)
    strict = ConfigDict(strict=True)
    names = [one.name for one in dataclasses.fields(kind)]
    return {name: TypeAdapter(hints[name], config=strict) for name in names}


def settings_from(file: Path, make: Callable[[dict[str, Any]], Kind]) -> Kind:
    """Return the settings in a JSON file that a command line names.

    Args:
        file: The file.
        make: Makes the settings of the object in it.

    Raises:
        ValueError: If it isn't a JSON object, or a setting is wrong; it names the file.
        OSError: If it can't be read.
    """
    with at_place(str(file)):
        return make(decode(dict[str, Any], json.loads(file.read_text('utf-8')), 'settings'))


def check_names(given: Collection[Any], known: Collection[str], name: str) -> None:
    """Raise a ValueError if a given name is unknown; it suggests the nearest known name."""
    for one in given:
        if one not in known:
            alike = difflib.get_close_matches(str(one), known, 1)
            meant = f'did you mean {alike[0]!r}? There are' if alike else 'there are'
            raise ValueError(f'{name} has no setting {one!r}; {meant} {", ".join(known)}')


def gpus_asked(config: Any) -> int:
    """Return the greatest ``run_cfg.num_gpus`` anywhere in a config; 0 if there is none."""
    if isinstance(config, Mapping):
        own = (config.get('run_cfg') or {}).get('num_gpus') or 0
        return max([own, *(gpus_asked(value) for value in config.values())])
    values = config if isinstance(config, (list, tuple)) else ()
    return max(map(gpus_asked, values), default=0)
