"""The command ``gpassk``: one subcommand a module of :mod:`opencompass_gpassk.commands`."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence

from opencompass_gpassk import __version__, commands
from opencompass_gpassk.judging.judge import JudgeError

__all__ = ['build_parser', 'main']


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every command of :mod:`opencompass_gpassk.commands`."""
    parser = argparse.ArgumentParser(
        prog='gpassk', description='Stability of language models on reasoning benchmarks.'
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {__version__}')
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for module in sorted(info.name for info in pkgutil.iter_modules(commands.__path__)):
        importlib.import_module(f'{commands.__name__}.{module}').add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 if all is well, 1 on an error or an unfinished run, 2 on misuse."""
    args = build_parser().parse_args(argv)
    try:
        return int(args.run(args))
    except BrokenPipeError:  # the reader of our output has left, as head does
        sys.stderr.close()
        return 1
    except OSError as error:
        told = f'{error.filename}: {error.strerror}' if error.filename else error
        print(f'gpassk {args.command}: {told}', file=sys.stderr)
        return 1
    except (ValueError, JudgeError) as error:
        print(f'gpassk {args.command}: {error}', file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
