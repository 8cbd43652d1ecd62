"""Settings as a config gives them: a text, a dictionary, or the settings themselves."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin

Settings = TypeVar('Settings')


def parse_settings(
    kind: type[Settings], given: Any, name: str, *, text_is: str, example: str
) -> Settings:
    """Return the settings that a config gives.

    Args:
        kind: A dataclass that validates itself.
        given: One of its instances, a dictionary of its fields, or a text.
        name: The settings' name in the config, for messages.
        text_is: The field that a plain text sets.
        example: Example settings for messages.

    Raises:
        ValueError: If ``given`` has another type, a field is unknown, or a value is out of range.
    """
    if isinstance(given, kind):
        return given
    if isinstance(given, str):
        return kind(**{text_is: given})
    if not isinstance(given, Mapping):
        raise ValueError(f'{name} is {given!r}; give settings such as {example}')
    check_names(given, [one.name for one in dataclasses.fields(kind)], name)  # type: ignore[arg-type]  # a dataclass
    return kind(**given)


def settings_from(file: Path, make: Callable[[dict[str, Any]], Settings]) -> Settings:
    """Return the settings in a JSON file that a command line names.

    Args:
        file: The file.
        make: Makes the settings of the object in it.

    Raises:
        ValueError: If it isn't a JSON object, or a setting is wrong; it names the file.
        OSError: If it can't be read.
    """
    try:
        read = json.loads(file.read_text('utf-8'))
    except ValueError as error:
        raise ValueError(f'{file}: not JSON: {error}') from error
    if not isinstance(read, dict):
        raise ValueError(f'{file}: settings is a {type(read).__name__}; give an object {{…}}')
    try:
        return make(read)
    except (ValueError, TypeError) as error:
        raise ValueError(f'{file}: {error}') from error


def check_names(given: Collection[Any], known: Collection[str], name: str) -> None:
    """Raise a ValueError if a given name is unknown; it suggests the nearest known name."""
    for one in given:
        if one not in known:
            alike = difflib.get_close_matches(str(one), known, 1)
            meant = f'did you mean {alike[0]!r}? There are' if alike else 'there are'
            raise ValueError(f'{name} has no setting {one!r}; {meant} {", ".join(known)}')


WORDS = {
    NoneType: 'None',
    float: 'a number',
    int: 'an integer',
    str: 'a text',
    bool: 'True or False',
}


def checked(name: str, value: Any, hint: Any) -> Any:
    """Return a value converted to its type hint, so that 0 and 0.0 mean the same.

    Raises:
        ValueError: If it has another type; it names both types.
    """
    hints = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    kinds = [get_origin(one) or one for one in hints]
    if float in kinds and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, tuple(kinds)) or (isinstance(value, bool) and bool not in kinds):
        wanted = ' or '.join(WORDS.get(kind, kind.__name__.lower()) for kind in kinds)
        raise ValueError(f'{name} is a {type(value).__name__}; give {wanted}')
    return value


def gpus_asked(config: Any) -> int:
    """Return the greatest ``run_cfg.num_gpus`` anywhere in a config; 0 if there is none."""
    if isinstance(config, Mapping):
        own = (config.get('run_cfg') or {}).get('num_gpus') or 0
        return max([own, *(gpus_asked(value) for value in config.values())])
    values = config if isinstance(config, (list, tuple)) else ()
    return max(map(gpus_asked, values), default=0)
