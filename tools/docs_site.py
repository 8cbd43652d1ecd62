"""Hooks of ``mkdocs``: pages that are made when the site is built, links, formulas, docstrings.

The same Markdown is read on a code host and on the site. So links are written for the repository;
here they become links of the site, or plain text if the file has no page.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import griffe
from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

from opencompass_gpassk.commands.main import build_parser

ROOT = Path(__file__).parents[1]
PAGES = {
    'README.md': 'index.md',
    'CHANGELOG.md': 'changelog.md',
    'CONTRIBUTING.md': 'contributing.md',
    'tools/upstream_datasets.md': 'upstream_datasets.md',
}
LINK = re.compile(r'(!?)\[([^\]]*)\]\(([^():#\s]+)(#[^)\s]*)?\)')
ROLE = re.compile(r':(?:attr|class|data|func|meth|mod):`(~?)([^`]+)`')
SESSION = re.compile(r'^>>> .*(?:\n.+)*', re.MULTILINE)
FORMULA = re.compile(r'^\$\$(.+?)\$\$$', re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie outside of ``docs``, and the one with the help of all commands."""
    made = {page: (ROOT / name).read_text('utf-8') for name, page in PAGES.items()}
    with patch.dict(os.environ, COLUMNS='100'):  # the width of the help texts
        made['help.md'] = '# Help of all commands\n\n' + '\n'.join(_described(build_parser(), 2))
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def _described(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    """Yield usage, description and arguments of each subcommand under a heading of its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield f'{"#" * level} {command.prog}\n'
                for part in (command.description or '').strip().split('\n\n'):
                    yield f'```text\n{part}\n```\n' if part.startswith('  ') else f'{part}\n'
                yield f'```text\n{command.format_usage()}```\n'
                yield '| argument | |\n|---|---|'
                yield from _arguments(command)
                yield ''
                yield from _described(command, level + 1)


def _arguments(command: argparse.ArgumentParser) -> Iterator[str]:
    form = command._get_formatter()
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action._choices_actions:
                yield f'| `{one.dest}` | {one.help} |'
        elif '--help' not in action.option_strings:
            told = form._expand_help(action).replace('|', '\\|').replace('<', '&lt;')
            yield f'| `{form._format_action_invocation(action)}` | {told} |'


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page with the site's links, and with formulas as MathML."""
    places = {page: (ROOT / place).parent for place, page in PAGES.items()}
    folder = places.get(page.file.src_uri, ROOT / 'docs')

    def linked(match: re.Match[str]) -> str:
        image, label, target, anchor = match.groups()
        path = (folder / target).resolve()
        if not path.exists():  # code that looks like a link
            return match[0]
        place = path.relative_to(ROOT).as_posix()
        if path.is_dir() or (place not in PAGES and not place.startswith('docs/')):
            return label
        return f'{image}[{label}]({PAGES.get(place, place.removeprefix("docs/"))}{anchor or ""})'

    markdown = LINK.sub(linked, markdown)
    return FORMULA.sub(lambda found: f'<div>{convert(found[1], display="block")}</div>', markdown)


class Docstrings(griffe.Extension):
    """Writes docstrings in the site's Markdown: names instead of roles, sessions as code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            text = ROLE.sub(_named, obj.docstring.value)
            obj.docstring.value = SESSION.sub(r'```pycon\n\g<0>\n```', text)


def _named(role: re.Match[str]) -> str:
    return f'`{role[2].rpartition(".")[2] if role[1] else role[2]}`'
