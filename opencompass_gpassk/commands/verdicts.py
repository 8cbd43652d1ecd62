"""``gpassk verdicts``: list, count, export, import and delete verdicts of judges and people."""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from opencompass_gpassk.formats.stored_files import written_whole

if TYPE_CHECKING:
    from opencompass_gpassk.judging.store import JudgeCount, Selection, VerdictStore
    from opencompass_gpassk.judging.store_rows import Record

__all__ = ['add_parser', 'count_lines', 'record_line', 'run']

DESCRIPTION = """\
Manage a verdict store: the verdicts of judges and people on (question, gold, answer) triples.
STORE is its file, or a run of OpenCompass (a timestamp folder, or a work dir, whose newest run is
used). For a run it is the store of its evaluation: the file in GPASSK_VERDICT_STORE, else
verdicts.sqlite in the run. The default is the file in GPASSK_VERDICT_STORE. The actions list, count
and export change nothing, and leave damaged verdicts out.
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
        ('list', 'print a line for each verdict', _list),
        ('count', 'count verdicts and tokens of each judge', _count),
        ('export', 'write verdicts as JSON lines', _export),
        ('import', "read JSON lines of a judge's or people's verdicts", _import),
        ('prune', 'delete the verdicts that match all options, to ask for them again', _prune),
    ):
        one = actions.add_parser(
            name,
            help=told,
            description=IMPORT
            if name == 'import'
            else f'{told[0].upper()}{told[1:]}.\n\n{DESCRIPTION}',
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if name == 'import':
            one.add_argument('files', nargs='+', metavar='FILE', help='JSON lines, or -')
            one.add_argument('--store', type=Path, help='the store (default: GPASSK_VERDICT_STORE)')
        else:
            one.add_argument(
                'store', nargs='?', type=Path, metavar='STORE', help='its file or a run'
            )
        _add_options(one, name)
        one.set_defaults(run=run, act=action)


def _add_options(parser: argparse.ArgumentParser, name: str) -> None:
    if name in ('list', 'export', 'prune'):
        parser.add_argument('--judge', metavar='MODEL', help='only verdicts of this judge')
    if name in ('list', 'export'):
        parser.add_argument(
            '--verdict', choices=['correct', 'incorrect', 'unjudged'], help='only this verdict'
        )
        parser.add_argument(
            '--search', metavar='TEXT', help='only with this text in question, gold or answer'
        )
        parser.add_argument('--limit', type=int, metavar='N', help='only the first N')
        parser.add_argument('--human', action='store_true', help="only people's verdicts")
    if name == 'export':
        parser.add_argument('-o', '--output', default='-', help='a file, gzipped if named .gz')
    if name == 'import':
        parser.add_argument(
            '--replace', action='store_true', help="let judges' verdicts replace earlier ones too"
        )
        parser.add_argument('--skip-bad', action='store_true', help='leave out malformed rows')
    if name == 'prune':
        parser.add_argument('--unjudged', action='store_true', help='replies without a verdict')
        parser.add_argument('--older-than', type=float, metavar='DAYS', help='only older verdicts')
        parser.add_argument('--human', action='store_true', help="people's verdicts, not judges'")
        parser.add_argument(
            '-y', '--yes', action='store_true', help='delete them; without it they are only counted'
        )


def run(args: argparse.Namespace) -> int:
    """Find the store and run the action; return 1 if damaged verdicts were left out."""
    from opencompass_gpassk.judging.store import find_store, store_path

    _check(args)
    path = find_store(args.store)
    shared = store_path(None)
    if args.store and args.store.is_dir():
        _note(f'verdict store: {path}')
    elif shared and shared != path.absolute():
        _note(f'note: this reads {path}; runs use GPASSK_VERDICT_STORE, {shared}')
    act: Callable[[argparse.Namespace, Path], int] = args.act
    return act(args, path)


def _check(args: argparse.Namespace) -> None:
    """Raise a ValueError if a number is out of its range."""
    limit, days = getattr(args, 'limit', None), getattr(args, 'older_than', None)
    if limit is not None and limit < 0:
        raise ValueError(f'--limit is {limit}; give 0 or more')
    if days is not None and not 0 <= days < float('inf'):
        raise ValueError(f'--older-than is {days:g}; give a number of days, 0 or more')


def _list(args: argparse.Namespace, path: Path) -> int:
    with _reading(path) as (store, damaged):
        for record in _selected(store, args, damaged.append):
            print(record_line(record))
    return _left_out(path, damaged)


def _count(args: argparse.Namespace, path: Path) -> int:
    from opencompass_gpassk.judging.store import count_verdicts

    with _reading(path) as (store, damaged):
        print('\n'.join(count_lines(count_verdicts(store, report=damaged.append))))
    return _left_out(path, damaged)


def _export(args: argparse.Namespace, path: Path) -> int:
    from opencompass_gpassk.judging.export import verdict_line

    output = Path(args.output)
    if args.output != '-' and output.exists() and output.samefile(path):
        raise ValueError(f'{output} is the verdict store itself; name another file to write')
    count = 0
    with _reading(path) as (store, damaged), _writable(args.output) as file:
        for record in _selected(store, args, damaged.append):
            file.write(verdict_line(record))
            count += 1
    _note(f'{_counted(count, "verdict")} written')
    return _left_out(path, damaged)


def _import(args: argparse.Namespace, path: Path) -> int:
    from opencompass_gpassk.judging.export import read_verdict_rows
    from opencompass_gpassk.judging.store import VerdictStore, require_beginnable, restore

    files = [read_verdict_rows(name, skip_bad=args.skip_bad, report=_note) for name in args.files]
    given = [record for file in files for record in file.records]
    kept = 0
    if given:
        require_beginnable(path)
        with VerdictStore(path, report=_note) as store:
            written, kept = restore(store, given, replace=args.replace)
        human = sum(record.judge is None for record in given)
        told = f'{human} in the files are by people'
        print(f'{_counted(written, "verdict")} imported to {path}; {told}')
    else:
        print('there is nothing to import')
    for number, noun, told in (
        (kept, 'verdict', 'already in the store, not changed (--replace takes the new ones)'),
        (sum(file.empty for file in files), 'row', 'without a verdict, left out'),
        (sum(file.bad for file in files), 'row', 'malformed, left out'),
    ):
        if number:
            print(f'{_counted(number, noun)} {told}')
    return 0


def _prune(args: argparse.Namespace, path: Path) -> int:
    from opencompass_gpassk.judging.store import (
        StoreError,
        VerdictStore,
        count_selected,
        give_room_back,
        prune,
    )

    if not (args.unjudged or args.human or args.judge or args.older_than is not None):
        raise ValueError('choose what to prune: --unjudged, --judge, --older-than or --human')
    selection = _selection(args)
    # Refuse a file that is not a store before it is opened for writing, which might make it one.
    with VerdictStore(path, read_only=True) as store:
        number = count_selected(store, selection)
    if not args.yes:
        print(f'{_counted(number, "verdict")} would be deleted from {path}; --yes does it')
        return 0
    with VerdictStore(path, report=_note) as store:
        print(f'{_counted(prune(store, selection), "verdict")} deleted from {path}')
        try:
            give_room_back(store)
        except StoreError as error:
            _note(f'the file could not be made smaller: {error}')
    return 0


@contextmanager
def _reading(path: Path) -> Iterator[tuple[VerdictStore, list[str]]]:
    """Open a store for reading; yield it with a list for messages on damaged verdicts."""
    from opencompass_gpassk.judging.store import VerdictStore

    with VerdictStore(path, read_only=True) as store:
        yield store, []


def _left_out(path: Path, damaged: list[str]) -> int:
    if not damaged:
        return 0
    number = _counted(len(damaged), 'damaged verdict')
    _note(f'{path}: at least {number} left out; the first is {damaged[0]}')
    return 1


def _selection(args: argparse.Namespace) -> Selection:
    from opencompass_gpassk.judging.store import Selection
    from opencompass_gpassk.trials import Verdict

    pruning = args.action == 'prune'
    verdict = ('unjudged' if args.unjudged else None) if pruning else args.verdict
    return Selection(
        model=args.judge,
        verdict=Verdict(verdict) if verdict else None,
        older_than=args.older_than if pruning else None,
        human=args.human if pruning else args.human or None,
    )


def _selected(
    store: VerdictStore, args: argparse.Namespace, report: Callable[[str], None]
) -> Iterator[Record]:
    from opencompass_gpassk.judging.store import records

    number = 0
    for record in records(store, _selection(args), report=report):
        if args.limit is not None and number >= args.limit:
            return
        if not args.search or any(args.search in text for text in record.triple):
            number += 1
            yield record


@contextmanager
def _writable(name: str) -> Iterator[IO[str]]:
    """Open a file to write, gzipped if named .gz; the file appears when it is complete."""
    if name == '-':
        # JSON is always UTF-8. The standard output of a test may be no TextIOWrapper.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding='utf-8', errors='strict')
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(name)
    opened = gzip.open if path.suffix == '.gz' else open
    with written_whole(path) as part, opened(part, 'wt', encoding='utf-8') as file:
        yield file


def _counted(number: int, noun: str) -> str:
    return f'{number} {noun}' if number == 1 else f'{number} {noun}s'


def _note(message: str) -> None:
    print(message, file=sys.stderr)


SHOWN = 60  # characters shown of a text


def record_line(record: Record) -> str:
    """Return one line: verdict, time, judge, gold answer, answer, reason or note, question."""
    said = record.said
    time = datetime.fromtimestamp(record.created).strftime('%Y-%m-%d %H:%M')
    who, note = (record.judge.model, '') if record.judge else ('human', said.reply)
    texts = [f'gold {_short(record.triple.gold)}', f'answer {_short(record.triple.answer)}']
    texts += [_short(told)] if (told := said.reason or note) else []
    question = _short(record.triple.question)
    return '  '.join([f'{said.verdict.value:9}', time, _short(who), ' | '.join(texts), question])


def count_lines(counts: Iterable[JudgeCount]) -> list[str]:
    """Return a table with a row for each judge, and for people."""
    from opencompass_gpassk.formats.display import one_line
    from opencompass_gpassk.formats.hashing import text_hash
    from opencompass_gpassk.trials import Verdict

    counted = [*(verdict.value for verdict in Verdict), 'prompt tokens', 'completion tokens']
    table = [['judge', 'prompt', *counted, 'settings']]
    total = 0
    for one in counts:
        found = [one.verdicts.get(verdict, 0) for verdict in Verdict]
        total += sum(found)
        numbers = map(str, [*found, one.prompt_tokens, one.completion_tokens])
        if one.judge is None:
            table.append(['human', '', *numbers, ''])
        else:
            settings = json.dumps(dict(one.judge.settings), sort_keys=True)
            prompt = text_hash([one.judge.prompt])
            table.append([one_line(one.judge.model), prompt, *numbers, settings])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if name in counted else cell.ljust(width)
            for name, cell, width in zip(table[0], row, widths, strict=True)
        ]
        lines.append('  '.join(cells).rstrip())
    return [*lines, f'{total} verdicts']


def _short(text: str) -> str:
    from opencompass_gpassk.formats.display import one_line

    line = one_line(text[: 10 * SHOWN])
    return line if len(line) <= SHOWN else f'{line[: SHOWN - 1]}…'
