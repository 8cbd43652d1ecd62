"""``gpassk verdicts``: what judges and people said, listed, counted, moved, thrown away."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opencompass_gpassk.judging.storage.contents import Selection
    from opencompass_gpassk.judging.storage.rows import Record
    from opencompass_gpassk.judging.store import VerdictStore

__all__ = ['add_parser', 'run']

DESCRIPTION = """\
Look after a verdict store: what judges said of (question, gold, answer) triples, and people.
STORE is its file, or a run of OpenCompass (a timestamp folder, or a work dir, of which the newest
run is meant), whose verdicts.sqlite is taken; by default the file in GPASSK_VERDICT_STORE.
"""
IMPORT = """\
Put verdicts into a store, which is begun if need be. FILE is JSON lines, gzipped or not, or - for
standard input. Rows as gpassk verdicts export writes them restore a judge's verdicts. Rows that
name no judge are a person's, which outrank every judge's:

  {"question": "1 + 1 = ?", "gold": "2", "answer": "two", "verdict": "correct", "note": "a word"}

"human" may stand in place of "verdict", as in the disagreements that gpassk audit writes: rows
in which it is empty are left out. A person's verdict takes the place of an earlier one. Nothing
is imported if any row is malformed. gpassk rescore RUN then brings a run's results up to date.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        'verdicts',
        help="list, count, export, import or prune judges' verdicts",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    for name, told, action in (
        ('list', 'a line for each verdict', _list),
        ('count', 'verdicts and tokens of each judge', _count),
        ('export', 'write JSON lines', _export),
        ('import', "read JSON lines: a judge's verdicts, or people's", _import),
        ('prune', 'delete the verdicts that fit all options, to be asked for again', _prune),
    ):
        one = actions.add_parser(
            name,
            help=told,
            description=IMPORT if name == 'import' else f'{told.capitalize()}.\n\n{DESCRIPTION}',
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == 'import':
            one.add_argument('files', nargs='+', metavar='FILE', help='JSON lines, or -')
            one.add_argument('--store', type=Path, help='where to (default: GPASSK_VERDICT_STORE)')
        else:
            one.add_argument(
                'store', nargs='?', type=Path, metavar='STORE', help='its file or a run'
            )
        _add_options(one, name)
        one.set_defaults(run=run, act=action)


def _add_options(parser: argparse.ArgumentParser, name: str) -> None:
    if name in ('list', 'export', 'prune'):
        parser.add_argument('--judge', metavar='MODEL', help='given by this judge')
    if name in ('list', 'export'):
        parser.add_argument(
            '--verdict', choices=['correct', 'incorrect', 'unjudged'], help='that say so'
        )
        parser.add_argument(
            '--search', metavar='TEXT', help='on a question, gold or answer with this text'
        )
        parser.add_argument('--limit', type=int, metavar='N', help='the first N')
        parser.add_argument('--human', action='store_true', help="people's, no judge's")
    if name == 'export':
        parser.add_argument('-o', '--output', default='-', help='a file, gzipped if named .gz')
    if name == 'import':
        parser.add_argument(
            '--replace', action='store_true', help="let judges' verdicts replace earlier ones too"
        )
        parser.add_argument('--skip-bad', action='store_true', help='leave malformed rows out')
    if name == 'prune':
        parser.add_argument('--unjudged', action='store_true', help='replies without a verdict')
        parser.add_argument('--older-than', type=float, metavar='DAYS', help='given longer ago')
        parser.add_argument('--human', action='store_true', help="people's, no judge's")
        parser.add_argument(
            '-y', '--yes', action='store_true', help='delete; else they are counted'
        )


def run(args: argparse.Namespace) -> int:
    """Open the store and do what was asked."""
    from opencompass_gpassk.judging.storage.paths import find_store
    from opencompass_gpassk.judging.store import VerdictStore, store_path

    path = find_store(args.store)
    if args.action != 'import' and not path.is_file():
        raise ValueError(f'{path}: there is no verdict store')
    shared = store_path(None)
    if shared and shared != path.absolute():
        _note(f'note: {path} is meant here; runs look into GPASSK_VERDICT_STORE, {shared}')
    act: Callable[[argparse.Namespace, Callable[[], VerdictStore]], None] = args.act
    act(args, lambda: VerdictStore(path, report=_note))
    return 0


def _list(args: argparse.Namespace, store: Callable[[], VerdictStore]) -> None:
    from opencompass_gpassk.report.verdicts import record_line

    with store() as opened:
        for record in _selected(opened, args):
            print(record_line(record))


def _count(args: argparse.Namespace, store: Callable[[], VerdictStore]) -> None:
    from opencompass_gpassk.judging.storage.contents import count_verdicts
    from opencompass_gpassk.report.verdicts import count_lines

    with store() as opened:
        print('\n'.join(count_lines(count_verdicts(opened))))


def _export(args: argparse.Namespace, store: Callable[[], VerdictStore]) -> None:
    from opencompass_gpassk.judging.storage.lines import verdict_line

    count = 0
    with store() as opened, _writable(args.output) as file:
        for record in _selected(opened, args):
            file.write(verdict_line(record))
            count += 1
    _note(f'{_counted(count, "verdict")} written')


def _import(args: argparse.Namespace, store: Callable[[], VerdictStore]) -> None:
    from opencompass_gpassk.judging.storage.contents import restore
    from opencompass_gpassk.judging.storage.lines import read_verdict_rows

    files = [
        read_verdict_rows(path, skip_bad=args.skip_bad, report=lambda m: _note(f'left out: {m}'))
        for path in args.files
    ]
    given = [record for file in files for record in file.records]
    with store() as opened:
        written, kept = restore(opened, given, replace=args.replace)
        path = opened.path
    human = sum(record.judge is None for record in given)
    print(f'{_counted(written, "verdict")} imported to {path}; {human} in the files are by people')
    for number, noun, told in (
        (kept, 'verdict', 'there already, and kept (--replace takes the new ones)'),
        (sum(file.empty for file in files), 'row', 'without a verdict, left out'),
        (sum(file.bad for file in files), 'row', 'malformed, left out'),
    ):
        if number:
            print(f'{_counted(number, noun)} {told}')


def _prune(args: argparse.Namespace, store: Callable[[], VerdictStore]) -> None:
    from opencompass_gpassk.judging.storage.contents import count_selected, give_room_back, prune
    from opencompass_gpassk.judging.store import StoreError

    if not (args.unjudged or args.human or args.judge or args.older_than is not None):
        raise ValueError('say what to prune: --unjudged, --judge, --older-than or --human')
    selection = _selection(args)
    with store() as opened:
        if not args.yes:
            number = count_selected(opened, selection)
            told = _counted(number, 'verdict')
            print(f'{told} would be deleted from {opened.path}; --yes does it')
            return
        told = _counted(prune(opened, selection), 'verdict')
        print(f'{told} deleted from {opened.path}')
        try:
            give_room_back(opened)
        except StoreError as error:
            _note(f'the file stays as large as it is: {error}')


def _selection(args: argparse.Namespace) -> Selection:
    from opencompass_gpassk.judging.storage.contents import Selection
    from opencompass_gpassk.trials import Verdict

    pruning = args.action == 'prune'
    verdict = ('unjudged' if args.unjudged else None) if pruning else args.verdict
    return Selection(
        model=args.judge,
        verdict=Verdict(verdict) if verdict else None,
        older_than=args.older_than if pruning else None,
        human=args.human if pruning else args.human or None,
    )


def _selected(store: VerdictStore, args: argparse.Namespace) -> Iterator[Record]:
    from opencompass_gpassk.judging.storage.contents import records

    number = 0
    for record in records(store, _selection(args)):
        if args.limit is not None and number >= args.limit:
            return
        if not args.search or any(args.search in text for text in record.triple):
            number += 1
            yield record


@contextmanager
def _writable(name: str) -> Iterator[IO[str]]:
    """Open a file to write, gzipped by its name, which appears once it is whole."""
    if name == '-':
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(name)
    part = path.with_name(f'{path.name}.part')
    try:
        opened = gzip.open if path.suffix == '.gz' else open
        with opened(part, 'wt', encoding='utf-8') as file:
            yield file
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _counted(number: int, noun: str) -> str:
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def _note(message: str) -> None:
    print(message, file=sys.stderr)
