"""What the actions of ``gpassk reasoneval`` write and tell."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path

__all__ = ['note', 'require_no_folder', 'write_lines']


def require_no_folder(output: Path | None) -> None:
    """Refuse to write where a folder is, before anything is computed.

    Raises:
        ValueError: If it is one.
    """
    if output and output.is_dir():
        raise ValueError(f'--output {output} is a folder; name the file to write')


def write_lines(lines: list[str], output: Path | None) -> None:
    """Print lines, or write a file that appears whole or not at all, gzipped if named ``.gz``."""
    text = ''.join(lines)
    if output is None:
        if isinstance(sys.stdout, io.TextIOWrapper):  # JSON is UTF-8, whatever the terminal is
            sys.stdout.reconfigure(encoding='utf-8')
        sys.stdout.write(text)
        return
    data = text.encode()
    if output.suffix == '.gz':
        data = gzip.compress(data, mtime=0)  # of equal lines an equal file
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.exists() and not output.is_file():  # a device or a pipe is not to be replaced
        output.write_bytes(data)
        return
    output = output.resolve()  # of a link, what it names
    new = output.with_name(f'{output.name}.{os.getpid()}.new')
    new.write_bytes(data)
    new.replace(output)
    note(f'{output} written')


def note(message: str) -> None:
    """Tell the user something that is no result."""
    print(message, file=sys.stderr)
