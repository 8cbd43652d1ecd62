"""The command ``gpassk``, with one subcommand per module of :mod:`opencompass_gpassk.commands`."""

from __future__ import annotations

import argparse
import importlib
import io
import pkgutil
import sys
from collections.abc import Sequence

from opencompass_gpassk import __version__, commands
from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.judging.judge import JudgeError

__all__ = ['build_parser', 'main']


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with all commands of :mod:`opencompass_gpassk.commands`."""
    parser = argparse.ArgumentParser(
        prog='gpassk', description='Stability of language models on reasoning benchmarks.'
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {__version__}')
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    modules = {info.name for info in pkgutil.iter_modules(commands.__path__)} - {'main'}
    for module in sorted(modules):
        importlib.import_module(f'{commands.__name__}.{module}').add_parser(subparsers)
    for command in subparsers.choices.values():
        command.set_defaults(misuse=command.error)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success, 1 on an error or an unfinished run, 2 on misuse."""
    args, unknown = build_parser().parse_known_args(argv)
    if unknown:  # with the usage of the command, which parse_args would not show
        args.misuse(f'unrecognized arguments: {" ".join(unknown)}')
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not encode every character
            stream.reconfigure(errors='backslashreplace')
    try:
        return int(args.run(args))
    except BrokenPipeError:  # the reader of our output has closed it, as head does
        sys.stderr.close()
        return 1
    except OSError as error:
        _tell(args.command, f'{error.filename}: {error.strerror}' if error.filename else str(error))
        return 1
    except (ValueError, JudgeError) as error:
        _tell(args.command, str(error))
        return 1


def _tell(command: str, message: str) -> None:
    """Print an error without control characters; it may quote a server's reply."""
    lines = [one_line(line) for line in message.split('\n')]
    print(f'gpassk {command}: ' + '\n'.join(lines), file=sys.stderr)


if __name__ == '__main__':
    sys.exit(main())
