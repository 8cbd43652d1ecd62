"""What README and docs show exists: files, sections, commands, options, variables."""

from __future__ import annotations

import ast
import re
import shlex
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name

import pytest

from opencompass_gpassk.commands.main import COMMANDS, build_parser

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', *sorted((ROOT / 'docs').glob('*.md'))]
BLOCK = re.compile(r'^```(\w*)\n(.*?)^```', re.DOTALL | re.MULTILINE)
LINK = re.compile(r'\]\(([^():#\s]*)(?:#([^)\s]+))?\)')
HEADING = re.compile(r'^#+ (.+)$', re.MULTILINE)
CODE = re.compile(
    r'```.*?^```|`[^`]+`|<!-- \w+ -->\n\|.*?<!-- end -->|\]\([^)]*\)', re.DOTALL | re.MULTILINE
)
# What the glossary in docs/metrics.md has another term for, and riddles.
AVOIDED = re.compile(
    r'loss@|half the width|half-width|population of|fixed problems|\btwins?\b|\breplicas?\b'
    r'|primary figure|look level|doubtful gold|competing answers|not shown:|unlike [AB]\b'
    r'|\bsurely\b|can(?:not|.t) be told|\blost (?:ones|responses?)\b|\bopen responses?\b'
    r'|guard a training|\bpage asks\b|\bcomes? to \d|\brooms?\b|\bfloors?\b'
)

each_page = pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)


def anchors(page: Path) -> set[str]:
    """Return the anchors that code hosts give to a page's headings."""
    text = BLOCK.sub('', page.read_text('utf-8'))
    plain = (re.sub(r'\[(.*?)\]\(.*?\)', r'\1', title).lower() for title in HEADING.findall(text))
    return {re.sub(r'[^\w -]', '', title).replace(' ', '-') for title in plain}


@each_page
def test_links_lead_to_files_and_sections(page: Path) -> None:
    """Each relative link, on a code host: the file is there, and so is the heading."""
    for target, anchor in LINK.findall(BLOCK.sub('', page.read_text('utf-8'))):
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), f'{target}#{anchor}'


@each_page
def test_words_are_those_of_the_glossary(page: Path) -> None:
    """One term for a concept; names in code and made tables are what they are."""
    assert not AVOIDED.findall(CODE.sub('', page.read_text('utf-8')))


@each_page
def test_commands_parse(page: Path) -> None:
    """Each command in a block has only the options and values that ``gpassk`` takes."""
    for kind, block in BLOCK.findall(page.read_text('utf-8')):
        if kind in ('bash', 'text', 'console'):
            for words in commands(block):
                build_parser().parse_args(words)  # it exits if it can't


@each_page
def test_commands_in_sentences_exist(page: Path) -> None:
    """A command such as ``gpassk plan --target`` in a sentence names a command and its options."""
    for text in re.findall(r'`(?:\w+=\S+ )*gpassk ([^`]+)`', page.read_text('utf-8')):
        parser, words = build_parser(), text.split()
        while (found := subcommands(parser)) and words and words[0] in found:
            parser = found[words.pop(0)]
        assert parser.prog != 'gpassk' or words[0] in ('--help', 'COMMAND'), text
        known = set(parser._option_string_actions)
        assert {word for word in words if re.match('--?[a-z]', word)} <= known, text


@each_page
def test_files_in_commands_exist(page: Path) -> None:
    """A command's configs, programs and recordings are in this repository."""
    for kind, block in BLOCK.findall(page.read_text('utf-8')):
        for name in re.findall(r'(?<![\w/])(?:benchmarks|configs|docs|tests)/[\w./$-]+', block):
            # docs/tutorial/t$t.jsonl.gz stands for several
            assert kind != 'bash' or list(ROOT.glob(re.sub(r'\$\w+', '*', name))), name


@each_page
def test_python_is_python(page: Path) -> None:
    """Blocks of Python can be parsed; those of an interpreter's session are doctests."""
    for kind, block in BLOCK.findall(page.read_text('utf-8')):
        if kind == 'python' and not block.startswith('>>>'):
            ast.parse(block)


@each_page
def test_documented_objects_exist(page: Path) -> None:
    """The classes and functions that the site documents can be imported."""
    for name in re.findall(r'^::: (\S+)$', page.read_text('utf-8'), re.MULTILINE):
        assert resolve_name(name) is not None


def test_every_environment_variable_is_described() -> None:
    """docs/settings.md has all variables of this package that the code reads, and no others."""
    name = re.compile(r'\b(?:GPASSK|OC_JUDGE)_[A-Z]+(?:_[A-Z]+)*\b')
    files = (*(ROOT / 'opencompass_gpassk').rglob('*.py'), *(ROOT / 'configs').rglob('*.py'))
    read = {one for file in files for one in name.findall(file.read_text('utf-8'))}
    page = (ROOT / 'docs/settings.md').read_text('utf-8')
    assert set(re.findall(r'^\| `((?:GPASSK|OC_JUDGE)_\w+)`', page, re.MULTILINE)) == read


def test_settings_have_all_parameters() -> None:
    """Each table that is marked with a class or a function names its parameters, and no others."""
    page = (ROOT / 'docs/settings.md').read_text('utf-8')
    tables = re.findall(r'^<!-- settings: (\S+) -->\n((?:\|.*\n)+)', page, re.MULTILINE)
    assert len(tables) == page.count('<!-- settings:') > 0
    for name, table in tables:
        cells = ''.join(re.findall(r'^\| (`.*?) \|', table, re.MULTILINE))
        known = {each for each in signature(resolve_name(name)).parameters if each != 'kwargs'}
        assert set(re.findall(r'`(\w+)`', cells)) == known, name


def test_the_page_of_jobs_names_every_command() -> None:
    page = (ROOT / 'docs/jobs.md').read_text('utf-8')
    assert not [name for name in COMMANDS if not re.search(rf'gpassk {name}\b', page)]


def commands(block: str) -> Iterator[list[str]]:
    """Yield the words of each ``gpassk`` command of a block, without ``gpassk``."""
    block = re.sub(r'\\\n', ' ', block)
    for line in re.sub(r"<<'END'\n.*?^END$", '', block, flags=re.DOTALL | re.MULTILINE).split('\n'):
        for part in re.split(r'\||&&|&|;', line.removeprefix('$ ').strip()):
            if re.match(r'(?:\w+=\S+ )*gpassk ', part.strip()):
                words = shlex.split(re.sub(r'\s#.*', '', part))
                yield words[words.index('gpassk') + 1 :]


def subcommands(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    return next((a.choices for a in parser._actions if isinstance(a, _SubParsersAction)), {})
