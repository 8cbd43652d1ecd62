"""Settings as a config gives them: a text, a dictionary, or the settings themselves."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

__all__ = ['check_names', 'parse_settings']

Settings = TypeVar('Settings')


def parse_settings(
    kind: type[Settings], given: Any, name: str, *, text_is: str, example: str
) -> Settings:
    """Return the settings that a config gives.

    Args:
        kind: A dataclass that validates itself.
        given: One of its instances, a dictionary of its fields, or a text.
        name: What the config calls them, for messages.
        text_is: The field that a text alone gives.
        example: Settings that a message can suggest.

    Raises:
        ValueError: If it is none of these, a field is unknown, or a value is out of its range.
    """
    if isinstance(given, kind):
        return given
    if isinstance(given, str):
        return kind(**{text_is: given})
    if not isinstance(given, Mapping):
        raise ValueError(f'{name} is {given!r}; give settings such as {example}')
    check_names(given, [one.name for one in dataclasses.fields(kind)], name)  # type: ignore[arg-type]  # a dataclass
    return kind(**given)


def check_names(given: Collection[Any], known: Collection[str], name: str) -> None:
    """Raise a ValueError that suggests the nearest known name if one of those given is unknown."""
    for one in given:
        if one not in known:
            alike = difflib.get_close_matches(str(one), known, 1)
            meant = f'did you mean {alike[0]!r}? There are' if alike else 'there are'
            raise ValueError(f'{name} has no setting {one!r}; {meant} {", ".join(known)}')
