"""How far a task is: it writes a sentence every two seconds, and its state is read from that.

OpenCompass tells of a task only that it began and that it ended. ``logs/progress/<model>/<data
set>.json`` tells how many responses are drawn, judged or scored. Shards have files of their own.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.progress_bar import NO_REPLY, newest_bar
from opencompass_gpassk.formats.stored_files import read_json, written_whole
from opencompass_gpassk.runs.config import require_inside

INTERVAL = 2.0  # seconds between two writes
SILENT = 60.0  # seconds without a write after which a task is taken to be dead
MOST_BYTES = 4096  # of a file
LONGEST = 120  # characters of its sentence
OUTPUTS = {'inference': 'predictions', 'evaluation': 'results'}
RUNNING, ENDED, FAILED = 'running', 'ended', 'failed'


@contextmanager
def progress_file(output: Path | None, stage: str) -> Iterator[None]:
    """Write every two seconds how far the work in the block is, as its progress bars tell.

    A file is written whole or not at all. A failed write never harms the work.

    Args:
        output: Where the task's output goes: ``RUN/predictions/MODEL/DATA SET.json`` or
            ``RUN/results/MODEL/DATA SET``. Nothing is written if it is elsewhere.
        stage: ``inference`` or ``evaluation``.
    """
    text = output.as_posix().removesuffix('.json') if output else ''
    run, inside, name = text.rpartition(f'/{OUTPUTS[stage]}/')
    if not inside:
        yield
        return
    path = Path(run, 'logs', 'progress', f'{name}.json')
    ended = threading.Event()
    newest_bar.clear()  # it may be of the task before

    def tell(state: str) -> None:
        with suppress(Exception):  # a full disk, a planted link: the work goes on
            require_inside(Path(run), path)
            told = {'stage': stage, 'state': state, 'told': _sentence(stage, state)}
            with written_whole(path) as part:
                part.write_text(json.dumps(told), encoding='ascii')

    def go_on() -> None:
        tell(RUNNING)
        while not ended.wait(INTERVAL):
            tell(RUNNING)

    writer = threading.Thread(target=go_on, daemon=True)
    writer.start()
    state = FAILED
    try:
        yield
        state = ENDED
    finally:
        ended.set()
        writer.join()
        tell(state)
        newest_bar.clear()


def _sentence(stage: str, state: str) -> str:
    """Return what the newest progress bar tells of the work."""
    if not newest_bar:
        return 'nothing counted yet'
    bar, status = newest_bar[0]
    said, total = status(), bar.total or bar.n
    step = f'{bar.desc.removesuffix(": ")} ' if stage == 'evaluation' else ''
    parts = [f'{step}{bar.n} of {total} ({100 * bar.n // max(total, 1)} %)']
    parts += [f'{said[name]} {name}' for name in ('lost', 'reused') if said.get(name)]
    seconds = (total - bar.n) * bar.format_dict['elapsed'] / max(bar.n - bar.initial, 1)
    if state == RUNNING and NO_REPLY in said:
        parts.append(f'{NO_REPLY} {said[NO_REPLY]}')
    elif state == RUNNING and seconds and bar.n > bar.initial:
        parts.append(f'about {_duration(seconds)} left')
    return ', '.join(parts)


def _duration(seconds: float) -> str:
    minutes, hours = seconds // 60, seconds // 3600
    if hours >= 1:
        return f'{hours:.0f} h {minutes % 60:.0f} min'
    return f'{minutes:.0f} min' if minutes >= 2 else f'{seconds:.0f} s'


def read_progress(path: Path, stage: str) -> tuple[str, bool]:
    """Return how far a task is in a stage, and whether it is at work; ``''`` if that is unknown."""
    with suppress(OSError, ValueError):
        found = read_json(path, MOST_BYTES)
        silent = time.time() - path.stat().st_mtime
        if isinstance(found, dict) and found.get('stage') == stage:
            told, state = short_line(str(found.get('told')), LONGEST), found.get('state')
            if state == RUNNING and silent >= SILENT:
                told += f', nothing written for {_duration(silent)}: is it still running?'
            told += ', failed' if state == FAILED else ''
            return told, state == RUNNING and silent < SILENT
    return '', False
