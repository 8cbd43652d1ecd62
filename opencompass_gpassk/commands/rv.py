"""``gpassk rv``: list, show and write the questions with random variables."""

from __future__ import annotations

import argparse
import hashlib
import inspect
import secrets
from pathlib import Path
from typing import Any

from opencompass_gpassk import __version__
from opencompass_gpassk.commands import add_command, check_outputs, note, write_lines
from opencompass_gpassk.datasets.rv_files import write_line
from opencompass_gpassk.rv.generation import generate, versions
from opencompass_gpassk.rv.question import question_named, questions
from opencompass_gpassk.rv.wording import latex

DESCRIPTION = """\
Browse and write the questions with random variables (RV-Bench, arXiv 2501.11790):

  gpassk rv list --source leetcode        names, subjects and levels
  gpassk rv show LampsInStep              how a question is made, some versions, the answers
  gpassk rv generate -o rv.jsonl          the rows of the data sets, as JSON lines

With --from, questions are those of a file of your own (docs/rvbench.md), which is executed:

  gpassk rv show --from my_questions.py TwoTaps

A row has question, answer, group, version ("original" or a number), source, subject, level,
language, variables and original (true or false). `gpassk run --data rv.jsonl` asks them.

A test set that nobody has seen: `gpassk rv generate --seed random -o rv.jsonl` draws a seed of 128
bits and tells it, and the SHA-256 of the rows, once. Publish the SHA-256 first, the seed later.
"""
SHOWN = 3


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'rv', told, DESCRIPTION)
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    listing = actions.add_parser('list', help='names, subjects and levels')
    _add_source(listing)
    listing.set_defaults(run=run_list)
    showing = actions.add_parser('show', help='how a question is made, and some of its versions')
    showing.add_argument('name', metavar='NAME', help='a name from `gpassk rv list`')
    _add_file(showing)
    showing.add_argument('--versions', type=int, default=SHOWN, help='versions (default: 3)')
    showing.add_argument('--seed', type=int, default=42, help='seed of versions (default: 42)')
    showing.set_defaults(run=run_show)
    writing = actions.add_parser('generate', help='write questions as JSON lines')
    _add_source(writing)
    writing.add_argument(
        '--per-group', type=int, default=5, help='versions of each question (default: 5)'
    )
    writing.add_argument(
        '--seed',
        type=integer_or_random,
        default=42,
        help='seed of versions, or random (default: 42)',
    )
    writing.add_argument(
        '--language', choices=('en', 'cn', 'both'), default='en', help='language (default: en)'
    )
    writing.add_argument(
        '--name', nargs='+', default=[], metavar='NAME', help='only these questions'
    )
    writing.add_argument('-o', '--output', type=Path, help='file (default: standard output)')
    writing.set_defaults(run=run_generate)


def _add_source(parser: argparse.ArgumentParser) -> None:
    one = parser.add_mutually_exclusive_group()
    one.add_argument('--source', default='all', help='math, leetcode or all (default: all)')
    _add_file(one)


def _add_file(parser: Any) -> None:
    parser.add_argument(
        '--from', dest='path', metavar='FILE', help='questions of your own, in Python'
    )


def integer_or_random(text: str) -> int:
    """Return a seed; argparse names this function if the text is none."""
    return secrets.randbits(128) if text == 'random' else int(text)


def run_list(args: argparse.Namespace) -> int:
    """Print a line for each question."""
    found = questions(args.source, args.path)
    width = max(len(question.name) for question in found)
    for question in found:
        print(
            f'{question.name:{width}}  {question.source:8}  {question.subject:24}  {question.level}'
        )
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the code of a question with its statements, and versions with their answers."""
    question = question_named(args.name, args.path)
    source = f'{question.source}, ' if question.source else ''
    print(f'{args.name}: {source}{question.subject}, level {question.level}\n')
    print(inspect.getsource(question.function))
    for number, version in enumerate(versions(question, args.versions, args.seed)):
        variables = ', '.join(f'{name} = {value}' for name, value in version.variables.items())
        print(f'Version {number} ({variables})' if number else f'Original ({variables})')
        print(*map(version.text, question.statements), f'=> {latex(version.answer)}\n', sep='\n')
    return 0


def run_generate(args: argparse.Namespace) -> int:
    """Write all rows, or none on an error."""
    if args.per_group < 2:
        raise ValueError(f'--per-group is {args.per_group}; a question has at least 2 versions')
    check_outputs([args.output], [args.path])
    languages = ['cn', 'en'] if args.language == 'both' else [args.language]
    rows = list(generate(args.source, args.per_group, args.seed, args.name, languages, args.path))
    lines = [write_line(row) for row in rows]
    write_lines(lines, args.output)
    originals = sum(row.original for row in rows)
    digest = hashlib.sha256(''.join(lines).encode()).hexdigest()
    note(
        f'{args.output or "standard output"}: {len(rows) - originals} versions, {originals} '
        f'originals, SHA-256 {digest}'
    )
    note(
        f'Seed {args.seed}: with it, the same other options and opencompass-gpassk '
        f'{__version__} the same rows are written again'
    )
    return 0
