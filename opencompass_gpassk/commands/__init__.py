"""The commands of ``gpassk``: one module each, with ``add_parser`` and ``run``."""

from __future__ import annotations

import argparse
import gzip
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.stored_files import TRIALS_ENDING, full_disk_named, written_whole

if sys.platform == 'win32':  # before a command imports fcntl
    print('gpassk runs on Linux or macOS; on Windows use WSL', file=sys.stderr)
    sys.exit(2)

PARTS_OF_RUNS = frozenset(
    ('configs', 'logs', 'predictions', 'results', 'verdicts.sqlite', 'step_scores.sqlite')
)


class NumbersAction(argparse.Action):
    """Takes several numbers, with commas, blanks or both: ``-k 4,8`` or ``-k 4 8``."""

    def __init__(self, number: Callable[[str], Any], **settings: Any) -> None:
        super().__init__(nargs='+', **settings)
        self.number = number

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        texts = ' '.join(values).replace(',', ' ').split()
        try:
            setattr(namespace, self.dest, [self.number(text) for text in texts])
        except ValueError as error:
            told = f'{" ".join(values)}: numbers are needed, such as 4,8'
            raise argparse.ArgumentError(self, told) from error


def add_command(
    commands: Any,
    name: str,
    told: str,
    description: str,
    run: Callable[[argparse.Namespace], int] | None = None,
) -> argparse.ArgumentParser:
    """Add a command, or an action of one, to the command line; return its parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=told,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser


def add_numbers(
    parser: argparse.ArgumentParser,
    name: str,
    number: Callable[[str], Any],
    told: str,
) -> None:
    """Add an option that takes several numbers."""
    parser.add_argument(name, action=NumbersAction, number=number, help=told)


def check_outputs(
    outputs: Iterable[Path | None],
    inputs: Iterable[Path | str | None] = (),
    *,
    made: bool = False,
    begin: tuple[bytes, ...] = (b'',),
) -> None:
    """Refuse outputs that can't be written or would replace an input, before anything is computed.

    Args:
        outputs: The files that will be written, also those that are named after another; None if
            there is none.
        inputs: The files and folders that are read, ``-`` for the standard input.
        made: Whether their folders will be made, and files be written beside them.
        begin: How files of the command begin; one that begins otherwise is not replaced, since it
            may hold the responses that a result names.

    Raises:
        ValueError: If an output is a folder, its folder is missing, it is an input or another
            output, or it is a file of another kind.
    """
    given = [one for one in inputs if one]
    seen: set[Path] = set()
    for output in filter(None, outputs):
        if output.is_dir():
            raise ValueError(f'{output} is a folder; name the file to write')
        if output.resolve() in seen:
            raise ValueError(f'{output} would be written twice; name two files')
        seen.add(output.resolve())
        if made and output.exists() and not output.is_file():
            raise ValueError(
                f'{output} is no file, and other files are written beside it; name one'
            )
        if not made and not output.parent.is_dir():
            raise ValueError(f'{output}: there is no folder {output.parent}; make it first')
        for one in given:
            with suppress(OSError):
                if output.is_file() and _replaces(output, one):
                    raise ValueError(
                        f'{output} is an input of this command ({one}), and would be replaced; '
                        'name another output'
                    )
        if output.is_file():
            with output.open('rb') as file:
                if (start := file.read(8)) and not start.startswith(begin):
                    raise ValueError(
                        f'{output} is there, and is no file that this command writes; name '
                        'another output'
                    )


def _replaces(output: Path, given: Path | str) -> bool:
    """Tell whether an existing file is an input, or a part of a run or of results that are one."""
    if str(given) == '-':
        return os.path.samestat(output.stat(), os.fstat(0))
    path = Path(given)
    if not path.is_dir():
        trials = path.with_name(f'{path.stem}{TRIALS_ENDING}')
        result = path.with_name(f'{path.name.removesuffix(TRIALS_ENDING)}.json')
        return any(one.exists() and one.samefile(output) for one in (path, trials, result))
    file, folder = output.resolve(), path.resolve()
    has_trials = file.with_name(f'{file.stem}{TRIALS_ENDING}').is_file() or file.name.endswith(
        TRIALS_ENDING
    )
    return file.is_relative_to(folder) and (
        has_trials or not PARTS_OF_RUNS.isdisjoint(file.relative_to(folder).parts)
    )


def note(message: str) -> None:
    """Print a message to standard error, as one line of printable characters."""
    print(short_line(message), file=sys.stderr)


def write_lines(lines: Iterable[str], output: Path | None) -> int:
    """Print lines, or write a file whole or not at all, gzipped if named ``.gz``.

    Args:
        lines: The lines, each with its end.
        output: The file; None or ``-`` is the standard output.

    Returns:
        The number of lines.
    """
    number = 0
    with _opened(output) as file:
        for line in lines:
            file.write(line)
            number += 1
    return number


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[str]]:
    if output is None or output == Path('-'):
        if isinstance(sys.stdout, io.TextIOWrapper):  # JSON is always UTF-8
            sys.stdout.reconfigure(encoding='utf-8', errors='strict')
        yield sys.stdout
        sys.stdout.flush()
        return
    with written_output(output) as part, part.open('wb') as plain:
        # Without a name and a time in it, equal lines give equal files.
        packed = (
            gzip.GzipFile('', 'wb', fileobj=plain, mtime=0) if output.suffix == '.gz' else plain
        )
        with io.TextIOWrapper(packed, encoding='utf-8', newline='\n') as file:
            yield file


@contextmanager
def written_output(output: Path) -> Iterator[Path]:
    """Yield the path to write for a file that the user named, which is written whole.

    So a link is followed, and a pipe or a device, such as /dev/stdout, is written to.
    """
    if output.exists() and not output.is_file():
        with full_disk_named(output):
            yield output
        return
    with written_whole(output.resolve() if output.is_symlink() else output) as part:
        yield part


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument RUN to a command that reads one run."""
    parser.add_argument(
        'run_folder',
        metavar='RUN',
        type=Path,
        help='a timestamp folder, or a work dir (its newest run is used)',
    )


def add_all_argument(parser: argparse.ArgumentParser) -> None:
    """Add --all to a command that prints a short answer."""
    parser.add_argument('--all', action='store_true', help='print every table and note')


def add_undecided_argument(parser: argparse.ArgumentParser) -> None:
    """Add --undecided to a command that may judge by rule."""
    parser.add_argument(
        '--undecided',
        choices=('unjudged', 'incorrect'),
        help='with judge rule: how answers count that no rule can decide (default: unjudged)',
    )
