"""docs/architecture.md promises what exists, and all that is public."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name

import opencompass_gpassk
from opencompass_gpassk.commands.main import COMMANDS
from opencompass_gpassk.trials import SCHEMA

PAGE = (Path(__file__).parents[1] / 'docs/architecture.md').read_text('utf-8')


def promised(part: str) -> list[str]:
    """Return the names between the two comments of a part."""
    return re.findall(r'`([\w.]+)`', PAGE.split(f'<!-- {part} -->')[1].split('<!-- end -->')[0])


def test_the_schema_is_the_promised_one() -> None:
    """Whoever raises it changes the page, and so thinks of older files."""
    assert re.findall(r'schema \*\*(\d+)\*\*', PAGE) == [SCHEMA]


def test_all_commands_are_promised() -> None:
    """A command that goes, or comes, changes the page."""
    assert promised('commands') == list(COMMANDS)


def test_public_names_are_promised_and_exist() -> None:
    """What the package exports, apart from its version."""
    assert promised('names') == [one for one in opencompass_gpassk.__all__ if one[0] != '_']
    assert all(getattr(opencompass_gpassk, name) for name in promised('names'))


def test_paths_in_configs_exist() -> None:
    """Paths that users' configs and dumped runs name."""
    assert promised('paths')
    for path in promised('paths'):
        assert isinstance(resolve_name(path), type), path
