"""``gpassk verdicts``: export, import and delete verdicts of judges and people."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, check_outputs, note, write_lines
from opencompass_gpassk.formats.display import counted
from opencompass_gpassk.formats.shared_store import DATABASE_NAMES
from opencompass_gpassk.judging.verdict_files import read_verdict_rows, verdict_line
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.runs.config import find_run
from opencompass_gpassk.trials import Verdict

DESCRIPTION = """\
Manage a verdict store: the verdicts of judges and people on (question, gold, answer) triples.
STORE is its file, or a run of OpenCompass (a timestamp folder, or a work dir, whose newest run is
used). For a run it is the store of its evaluation: the file in GPASSK_VERDICT_STORE, else
verdicts.sqlite in the run. The default is the file in GPASSK_VERDICT_STORE.
"""
IMPORT = """\
Import verdicts into a store, which is created if needed. FILE is JSON lines, gzipped or not, or -
for standard input. Rows of gpassk verdicts export restore a judge's verdicts. Rows without a judge
are a person's verdicts, which take precedence over all judges':

  {"question": "1 + 1 = ?", "gold": "2", "answer": "two", "verdict": "correct", "note": "a word"}

The field may also be called "human", as in the disagreements that gpassk audit writes. Its value is
correct or true, incorrect or false; rows with an empty value or unjudged are left out. A person's
verdict replaces an earlier one. Nothing is imported if any row is malformed. Then run gpassk
rescore RUN to update a run's results.
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'verdicts', told, DESCRIPTION)
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    for name, told, action in (
        ('export', 'write verdicts as JSON lines', _export),
        ('import', "read JSON lines of a judge's or people's verdicts", _import),
        ('prune', 'delete the verdicts that match all options, to ask for them again', _prune),
    ):
        full = IMPORT if name == 'import' else f'{told[0].upper()}{told[1:]}.\n\n{DESCRIPTION}'
        one = add_command(actions, name, told, full, run)
        if name == 'import':
            one.add_argument('files', nargs='+', metavar='FILE', help='JSON lines, or -')
            one.add_argument('--store', type=Path, help='the store (default: GPASSK_VERDICT_STORE)')
            one.add_argument('--skip-bad', action='store_true', help='leave out malformed rows')
        else:
            one.add_argument(
                'store', nargs='?', type=Path, metavar='STORE', help='its file or a run'
            )
        one.set_defaults(act=action)
        if name == 'export':
            one.add_argument('-o', '--output', type=Path, help='a file, gzipped if named .gz')
        if name == 'prune':
            one.add_argument('--judge', metavar='MODEL', help='only verdicts of this judge')
            one.add_argument(
                '--unjudged', action='store_true', help='only replies without a verdict'
            )
            one.add_argument('--human', action='store_true', help="people's verdicts, not judges'")
            one.add_argument(
                '-y', '--yes', action='store_true', help='delete them, and do not only count them'
            )


def run(args: argparse.Namespace) -> int:
    """Find the store and run the action."""
    path = find_store(args.store)
    shared = VerdictStore.default_path(None)
    if args.store and args.store.is_dir():
        note(f'verdict store: {path}')
    elif shared and shared != path.absolute():
        note(f'note: this reads {path}; runs use GPASSK_VERDICT_STORE, {shared}')
    act: Callable[[argparse.Namespace, Path], int] = args.act
    return act(args, path)


def store_beside(given: Path | None, folder: Path, *, asked: bool) -> Path:
    """Return the verdict store of a command, which also holds people's verdicts.

    Args:
        given: As in :func:`find_store`.
        folder: The run or folder whose store is the default.
        asked: Whether a judge may be asked, whose verdicts are then written.
    """
    path = find_store(given, folder)
    if asked:
        require_beginnable(path)
    return path


def find_store(given: Path | None, folder: Path | None = None) -> Path:
    """Return the verdict store that a command line names.

    Args:
        given: A store's file; or a run, which means the store of its evaluation: a timestamp
            folder, or a work dir, whose newest run is taken; or None, which means the file in
            ``GPASSK_VERDICT_STORE``.
        folder: Whose store it is if neither is there.

    Raises:
        ValueError: If no store is named, or there is no run in a folder.
    """
    path = given or VerdictStore.default_path(folder)
    if path is None:
        raise ValueError('name a verdict store or a run, or set GPASSK_VERDICT_STORE')
    if given is None or not path.is_dir():
        return path
    try:
        run = find_run(path)
    except ValueError:
        if not (path / VerdictStore.name).is_file():  # else the store of scored samples
            raise
        run = path
    return find_store(None, run)


def require_beginnable(path: Path) -> None:
    """Refuse to create a store at a path that looks mistyped.

    OpenCompass takes every entry beside timestamp folders for a run.

    Raises:
        ValueError: If there is no store and its name isn't a database's, or runs lie beside it.
    """
    if path.exists() and (path.stat().st_size or path.suffix in DATABASE_NAMES):
        return
    if path.suffix not in DATABASE_NAMES:
        raise ValueError(
            f'{path}: there is no verdict store; a new one is begun in a run, or in a file whose '
            f'name ends in {", ".join(DATABASE_NAMES)}'
        )
    beside = path.parent if path.parent.is_dir() else path.parent.parent
    if any(beside.glob('[0-9]*_[0-9]*/configs')):
        raise ValueError(
            f'{path}: {beside} holds runs, and only runs may lie in it; name one of them, or a '
            'file elsewhere'
        )


def _export(args: argparse.Namespace, path: Path) -> int:
    check_outputs([args.output], [path])
    with VerdictStore(path, read_only=True) as store:
        count = write_lines(map(verdict_line, store.records()), args.output)
    note(f'{counted(count, "verdict")} written')
    return 0


def _import(args: argparse.Namespace, path: Path) -> int:
    files = [read_verdict_rows(name, skip_bad=args.skip_bad, report=note) for name in args.files]
    given = [record for file in files for record in file.records]
    kept = 0
    if given:
        require_beginnable(path)
        with VerdictStore(path) as store:
            written = store.restore(given)
        kept = len(given) - written
        human = sum(record.judge is None for record in given)
        told = f'{human} in the files are by people'
        print(f'{counted(written, "verdict")} imported to {path}; {told}')
    else:
        print('there is nothing to import')
    for number, noun, told in (
        (kept, 'verdict', 'already in the store, not changed'),
        (sum(file.empty for file in files), 'row', 'without a verdict, left out'),
        (sum(file.bad for file in files), 'row', 'malformed, left out'),
    ):
        if number:
            print(f'{counted(number, noun)} {told}')
    return 0


def _prune(args: argparse.Namespace, path: Path) -> int:
    if not (args.unjudged or args.human or args.judge):
        raise ValueError('choose what to prune: --unjudged, --judge or --human')
    # Refuse a file that is not a store before it is opened for writing, which might make it one.
    with VerdictStore(path, read_only=True) as store:
        gone = [
            record
            for record in store.records()
            if args.human == (record.judge is None)
            and (not args.unjudged or record.said.verdict is Verdict.UNJUDGED)
            and (not args.judge or (record.judge and record.judge.model == args.judge))
        ]
    if not args.yes:
        print(f'{counted(len(gone), "verdict")} would be deleted from {path}; --yes does it')
        return 0
    with VerdictStore(path) as store:
        store.prune(gone)
    print(f'{counted(len(gone), "verdict")} deleted from {path}')
    return 0
