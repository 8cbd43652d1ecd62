"""The command ``gpassk``, with one subcommand per module of :mod:`opencompass_gpassk.commands`."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from opencompass_gpassk import __version__, commands
from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.formats.shared_store import StoreError
from opencompass_gpassk.formats.stored_files import full_disk_named
from opencompass_gpassk.judging.judge import JudgeError

# Command → what it is for; its module has the same name.
COMMANDS = {
    'audit': 'measure how well two sources of verdicts agree',
    'check': 'compare predictions with gold answers by rule',
    'compare': 'compare two models on the same problems',
    'configs': 'print the folder of the configs, for opencompass --config-dir',
    'fetch': 'download the data that a job needs, for machines without a network',
    'gate': 'check whether a model is surely good enough, on every problem or in a metric',
    'plan': 'plan how many samples and problems tell two models apart',
    'reasoneval': 'score whether the steps of solutions are valid and useful',
    'report': 'write the results of any number of runs as one HTML page',
    'rescore': 'make the results of a run again, without inference',
    'run': 'measure models on data sets: from a model and a file to a table',
    'rv': 'list, show and write questions with random variables',
    'score': 'score responses from other programs',
    'status': 'show which tasks of a run finished, and why others did not',
    'verdicts': "export, import or prune judges' and people's verdicts",
}


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    Args:
        command: The one command that is needed; the others are only named, since their modules take
            a second to load. By default all are.
    """
    parser = argparse.ArgumentParser(
        prog='gpassk', description='Stability of language models on reasoning benchmarks.'
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {__version__}')
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, told in COMMANDS.items():
        if command in (None, name):
            importlib.import_module(f'{commands.__name__}.{name}').add_parser(subparsers, told)
            subparsers.choices[name].set_defaults(misuse=subparsers.choices[name].error)
        else:
            subparsers.add_parser(name, help=told)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success, 1 on an error or an unfinished run, 2 on misuse."""
    words = sys.argv[1:] if argv is None else argv
    named = next((word for word in words if not word.startswith('-')), '')
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not encode every character
            stream.reconfigure(errors='backslashreplace')
    try:
        args, unknown = build_parser(named).parse_known_args(words)
        if unknown:  # with the usage of the command, which parse_args would not show
            args.misuse(f'unrecognized arguments: {" ".join(unknown)}')
        args.line = f'gpassk {shlex.join(words)}'  # for commands that advise to go on with it
        with full_disk_named('standard output or a temporary file'):  # others have names
            code = int(args.run(args))
            sys.stdout.flush()
        return code
    except ModuleNotFoundError as error:
        if find_spec('opencompass'):
            raise
        _tell(
            named,
            f'OpenCompass is not installed here, and this needs it (no module {error.name}); '
            'install it: pip install opencompass-gpassk',
        )
        return 1
    except BrokenPipeError:  # the reader of our output has closed it, as head does
        # Else Python writes what is left when it ends, and its exit code is 120.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        _tell(named, f'{error.filename}: {error.strerror}' if error.filename else str(error))
        return 1
    except (ValueError, JudgeError, StoreError) as error:
        _tell(named, str(error))
        return 1


def _tell(command: str, message: str) -> None:
    """Print an error without control characters; it may quote a server's reply."""
    lines = [one_line(line) for line in message.split('\n')]
    print(f'gpassk {command}: ' + '\n'.join(lines), file=sys.stderr)


if __name__ == '__main__':
    sys.exit(main())
