"""What this package takes from OpenCompass: a list names it, and the installed release has it."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAME = re.compile(r'opencompass(\.\w+){2,}')  # of a class or a module, in a text
PAGE = ROOT / 'tools/opencompass_names.md'


def imported() -> set[str]:
    """Return ``module.name`` of all that package and configs import from OpenCompass, or name."""
    found = set()
    files = [
        path for top in ('opencompass_gpassk', 'configs') for path in (ROOT / top).rglob('*.py')
    ]
    for node in (node for path in files for node in ast.walk(ast.parse(path.read_text('utf-8')))):
        if isinstance(node, ast.ImportFrom) and f'{node.module}.'.startswith('opencompass.'):
            found |= {f'{node.module}.{one.name}' for one in node.names}
        elif isinstance(node, ast.Constant) and NAME.fullmatch(str(node.value)):
            found.add(node.value)
    return found


def listed() -> list[str]:
    """Return the names in the docs, in their order."""
    block = PAGE.read_text('utf-8').partition('<!-- names -->\n```\n')[2].partition('```')[0]
    return [
        f'{module}.{name.strip()}'
        for module, _, names in (line.partition(': ') for line in block.splitlines())
        for name in names.split(',')
    ]


def test_the_docs_list_the_names() -> None:
    """Each once, and no others."""
    assert sorted(listed()) == sorted(imported())


@pytest.mark.parametrize('name', sorted(imported()))
def test_the_installed_release_has_the_name(name: str) -> None:
    """As a name of the module, or a module itself."""
    module, _, last = name.rpartition('.')
    found = importlib.import_module(module)
    assert hasattr(found, last) or importlib.import_module(name)
