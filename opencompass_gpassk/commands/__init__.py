"""The commands of ``gpassk``: one module each, with ``add_parser`` and ``run``."""

from __future__ import annotations

import argparse
import gzip
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from opencompass_gpassk.formats.stored_files import written_whole


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
    default: Any = None,
) -> None:
    """Add an option that takes several numbers."""
    parser.add_argument(name, action=NumbersAction, number=number, help=told, default=default)


def check_output(output: Path | None, *, made: bool = False) -> None:
    """Refuse an output that can't be written, before anything is computed.

    Args:
        output: The file; None if there is none.
        made: Whether its folder will be made.

    Raises:
        ValueError: If the output is a folder, or its folder is missing.
    """
    if output and output.is_dir():
        raise ValueError(f'--output {output} is a folder; name the file to write')
    if output and not made and not output.parent.is_dir():
        raise ValueError(f'--output {output}: there is no folder {output.parent}; make it first')


def note(message: str) -> None:
    """Print a message to standard error."""
    print(message, file=sys.stderr)


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
    target = output.resolve() if output.is_file() else output  # a link stays, a pipe too
    with written_whole(target) as part, part.open('wb') as plain:
        # Without a name and a time in it, equal lines give equal files.
        packed = (
            gzip.GzipFile('', 'wb', fileobj=plain, mtime=0) if output.suffix == '.gz' else plain
        )
        with io.TextIOWrapper(packed, encoding='utf-8', newline='\n') as file:
            yield file


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument RUN to a command that reads one run."""
    parser.add_argument(
        'run_folder',
        metavar='RUN',
        type=Path,
        help='a timestamp folder, or a work dir (its newest run is used)',
    )


def add_trust_argument(parser: argparse.ArgumentParser) -> None:
    """Add --trust-config to a command that builds objects from a run's config."""
    parser.add_argument(
        '--trust-config',
        action='store_true',
        help='execute the config in RUN, which can do anything that you can, and import all that '
        'it and the results name; for your own runs with data sets or judges of other packages',
    )


def add_undecided_argument(parser: argparse.ArgumentParser) -> None:
    """Add --undecided to a command that may judge by rule."""
    parser.add_argument(
        '--undecided',
        choices=('unjudged', 'incorrect'),
        help='with judge rule: how answers count that no rule can decide (default: unjudged)',
    )
