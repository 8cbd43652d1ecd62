"""The page of commands names every option, and no other."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from opencompass_gpassk.commands.main import COMMANDS, build_parser

PAGE = (Path(__file__).parents[1] / 'docs/commands.md').read_text('utf-8')


def options(parser: argparse.ArgumentParser, name: str = '') -> Iterator[tuple[str, str]]:
    """Yield command and option; of two names, one."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, each in action.choices.items():
                yield from options(each, f'{name} {word}'.strip())
        elif isinstance(action, argparse.BooleanOptionalAction):
            yield from ((name, one) for one in action.option_strings)
        elif action.option_strings and name and not isinstance(action, argparse._HelpAction):
            one = action.option_strings[-1]
            yield name, '-o' if one == '--output' else one


def test_the_page_of_commands_names_every_option() -> None:
    """A row has options and the commands that have them all."""
    section = PAGE.partition('## Options by task')[2].partition('## Exit codes')[0]
    named: set[tuple[str, str]] = set()
    for row in re.findall(r'^\| (`-.*?) \| (`.*?) \|', section, re.M):
        words, commands = (re.findall('`(.*?)`', cell) for cell in row)
        new = {(command, word) for command in commands for word in words}
        assert not new & named, 'named twice'
        named |= new
    assert named == set(options(build_parser()))


def test_the_page_of_commands_names_every_command() -> None:
    """In the tables of the first section."""
    first = PAGE.partition('## Options by task')[0]
    assert not [
        name for name in COMMANDS if not re.search(rf'\| [^|\n]*`(gpassk )?{name}\b', first)
    ]
