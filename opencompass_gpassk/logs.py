"""OpenCompass's task logs: which data sets a task contained, and what it died of."""

from __future__ import annotations

import os
import re
from pathlib import Path

from opencompass_gpassk.stored_files import open_regular

__all__ = ['last_exception', 'read_log', 'tasks_named']

HEAD, TAIL = 1 << 20, 4 << 20  # bytes of a huge log that are read
LONGEST = 400  # characters of a message

TRACEBACK = 'Traceback (most recent call last):'
RANK = re.compile(r'^\[rank\d+\]: ?')
EXCEPTION = re.compile(r'^(?:[\w<>]+\.)*([A-Za-z_]\w*)(?::(?: (.*)|$)|$)')
# Where a message of several lines ends: another log line, a blank line, a chained traceback.
END_OF_MESSAGE = re.compile(
    r'^(\s*$|\d\d/\d\d \d\d:\d\d:\d\d - |Traceback |The above exc|During ha)'
)
# Deaths without a traceback, as the interpreter or the shell reports them.
SUDDEN = re.compile(
    r'^(Fatal Python error: .*|Killed|Terminated|Aborted.*|Segmentation fault.*|Bus error.*'
    r'|.*\(core dumped\)|.*: (?:command )?not found|.*: error: .*)$'
)
# torchrun's own exception tells nothing of the process that failed.
LAUNCHERS = ('ChildFailedError',)


def read_log(path: Path) -> str:
    """Return a log's text; of a huge one its beginning and its end.

    Raises:
        FileNotFoundError: If there is none.
        ValueError: If it is no regular file, or can't be opened.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(HEAD + TAIL)
        if size > HEAD + TAIL:
            file.seek(size - TAIL)
            data = data[:HEAD] + b'\n' + file.read(TAIL)
    return data.decode('utf-8', 'replace').replace('\r', '\n')


def tasks_named(log: str, model: str) -> list[str]:
    """Return the data sets that a log's tasks contain for a model, shards by their own name.

    OpenCompass writes ``Task [model/dataset,model/dataset_0]`` when a task starts.
    """
    names: dict[str, None] = {}
    for line in log.split('\n'):
        listed = line.partition('Task [')[2].rstrip(' \t')
        for name in listed[:-1].split(',') if listed.endswith(']') else []:
            if name.startswith(f'{model}/'):
                names.setdefault(name[len(model) + 1 :])
    return list(names)


def last_exception(log: str) -> str | None:
    """Return the last exception in a log as ``Type: message``, None if there is none."""
    lines = [RANK.sub('', line) for line in log.split('\n')]
    found = [
        exception
        for index, line in enumerate(lines)
        if TRACEBACK in line and (exception := _exception_after(lines, index))
    ]
    telling = [text for text in found if not text.startswith(LAUNCHERS)] or found
    if telling:
        return telling[-1]
    sudden = [line.strip() for line in lines if SUDDEN.match(line.strip())]
    return sudden[-1][:LONGEST] if sudden else None


def _exception_after(lines: list[str], traceback: int) -> str | None:
    """Return the exception that ends the traceback which starts at a line."""
    for index in range(traceback + 1, len(lines)):
        line = lines[index]
        if TRACEBACK in line:
            return None
        if line[:1] in ('', ' ', '\t') or not (match := EXCEPTION.match(line)):
            continue
        name, message = match.groups()
        parts = [message or '']
        for more in lines[index + 1 : index + 20]:
            if END_OF_MESSAGE.match(more) or len(' '.join(parts)) > LONGEST:
                break
            parts.append(more)
        text = ' '.join(' '.join(parts).split())
        text = f'{name}: {text}' if text else name
        return text if len(text) <= LONGEST else f'{text[: LONGEST - 1]}…'
    return None
