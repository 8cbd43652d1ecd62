"""The score store: keeps the scores of solutions' steps, so that no solution is scored twice.

It is an SQLite file that any number of processes may have open at once, also on a network file
system. Scores stay in it when a process is killed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.judging.sqlite import Schema, StoreError, StoreFile
from opencompass_gpassk.judging.store import named_path
from opencompass_gpassk.judging.store_rows import DamagedRowError
from opencompass_gpassk.reasoneval.scorers import checked_item, identity_of
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.scorers import SolutionScorer

__all__ = [
    'ScoreStore',
    'StoreError',
    'checksum_of',
    'read_scores',
    'score_solutions',
    'score_store_path',
    'solution_key',
]


def solution_key(solution: Solution) -> bytes:
    """Return the key of a solution: a digest of its texts."""
    return bytes.fromhex(stable_hash([solution.question, *solution.steps]))


def read_scores(row: Sequence[Any], steps: int) -> StepScores | None:
    """Return the scores in a sound row; None if they don't have this number of steps."""
    _, _, counted, numbers, refusal, tokens = row
    if counted != steps:
        return None
    if refusal:  # an unknown refusal counts as missing
        known = refusal in Refusal.__members__
        return StepScores.refused(steps, Refusal[refusal], tokens) if known else None
    if not steps:
        return None
    flat = np.frombuffer(numbers, '<f8').astype(np.float64)
    return StepScores(flat.reshape(steps, len(flat) // steps), tokens=tokens)


def checksum_of(row: Sequence[Any]) -> bytes:
    """Return the checksum of a row, which shows whether it is as it was written."""
    return hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).digest()


COLUMNS = 'scorer, solution, steps, numbers, refusal, tokens'
ELSEWHERE = 'set GPASSK_SCORE_STORE to a file that you may write'
AT_ONCE = 900  # every build of SQLite takes 999 parameters


def _require_whole(connection: sqlite3.Connection) -> None:
    (found,) = connection.execute('PRAGMA integrity_check(1)').fetchone()
    if found != 'ok':
        raise DamagedRowError(found)


SCORES = Schema(
    noun='score store',
    application=0x47505353,  # 'GPSS'
    version=1,
    tables={
        'scorers': 'CREATE TABLE scorers (digest BLOB PRIMARY KEY, settings TEXT NOT NULL)',
        'scores': """CREATE TABLE scores (
    id INTEGER PRIMARY KEY, scorer BLOB NOT NULL, solution BLOB NOT NULL, steps INTEGER NOT NULL,
    numbers BLOB NOT NULL, refusal TEXT NOT NULL, tokens INTEGER NOT NULL, checksum BLOB NOT NULL,
    UNIQUE (scorer, solution)
)""",
    },
    variable='GPASSK_SCORE_STORE',
    name='step_scores.sqlite',
    loss='its solutions are scored again.',
    require_sound=_require_whole,
)


class ScoreStore(StoreFile):
    """Scores in a file, found by the scorer's settings and the solution's texts. A context manager.

    Args:
        path: The file; it is created if it doesn't exist. A damaged one is renamed.
        settings: What scores depend on besides the solution, as JSON values.
        report: Takes a message on a damaged file's new name; by default standard error does.
        read_only: Change nothing in the file's folder; the file must exist.

    Raises:
        ValueError: If the file belongs to another program or a later version of this one; or if
            ``read_only`` is set and the file doesn't exist.
        StoreError: If it can't be opened.
    """

    schema: ClassVar[Schema] = SCORES

    def __init__(
        self,
        path: Path,
        settings: Mapping[str, Any],
        *,
        report: Callable[[str], None] | None = None,
        read_only: bool = False,
    ) -> None:
        super().__init__(path, report=report, read_only=read_only)
        self.settings = json.dumps(dict(settings), sort_keys=True, default=str)
        self.scorer = hashlib.sha256(self.settings.encode()).digest()

    def restore(self, solutions: Sequence[Solution]) -> dict[Solution, StepScores]:
        """Return the stored scores of these solutions.

        A damaged row counts as missing.

        Raises:
            StoreError: If the file is damaged, or can't be read.
        """
        wanted = {solution_key(solution): solution for solution in solutions}
        found = {}
        pending = iter(wanted)
        while chunk := list(itertools.islice(pending, AT_ONCE)):
            marks = ', '.join('?' * len(chunk))
            with self.reading() as connection:
                rows = connection.execute(
                    f'SELECT {COLUMNS}, checksum FROM scores '
                    f'WHERE scorer = ? AND solution IN ({marks})',
                    (self.scorer, *chunk),
                ).fetchall()
            for *row, checksum in rows:
                solution = wanted.get(row[1])
                if solution is None or checksum != checksum_of(row) or row[0] != self.scorer:
                    continue
                if scores := read_scores(row, len(solution.steps)):
                    found[solution] = scores
        return found

    def keep(self, solution: Solution, scores: StepScores) -> None:
        """Store the scores of a solution durably.

        Temporary refusals, such as a lack of memory, are not stored.

        Raises:
            StoreError: If they can't be written.
        """
        if scores.refusal and scores.refusal.may_pass:
            return
        numbers = b'' if scores.refusal else scores.probabilities.astype('<f8').tobytes()
        refusal = scores.refusal.name if scores.refusal else ''
        row = [
            *(self.scorer, solution_key(solution), len(solution.steps)),
            *(numbers, refusal, int(scores.tokens)),
        ]
        with self.writing() as connection:
            connection.execute(
                'INSERT OR IGNORE INTO scorers VALUES (?, ?)', (self.scorer, self.settings)
            )
            # An existing row is either the same or damaged.
            connection.execute(
                f'INSERT OR REPLACE INTO scores ({COLUMNS}, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
                [*row, checksum_of(row)],
            )


def score_store_path(run: Path | None) -> Path | None:
    """Return the score store's path: ``GPASSK_SCORE_STORE``, else a run's ``step_scores.sqlite``.

    Raises:
        ValueError: If ``GPASSK_SCORE_STORE`` is a folder.
    """
    return named_path(SCORES, run)


def score_solutions(
    scorer: SolutionScorer,
    solutions: Sequence[Solution],
    store: Path | None,
    *,
    progress: bool,
    report: Callable[[str], None],
) -> dict[Solution, StepScores]:
    """Return the scores of solutions; each distinct one is scored once unless it is in the store.

    Args:
        scorer: The scorer.
        solutions: The solutions.
        store: Keeps scores as soon as they are made; None keeps none. A read-only store is enough
            if it holds all scores.
        progress: Show a bar on standard error.
        report: Takes messages on scores found in the store, and on a damaged store's new name.

    Raises:
        StoreError: If the store can't be used, or is read-only and lacks some scores; scores
            stored before are kept.
        ValueError: If the scorer's settings aren't a mapping, its stream gives something other than
            an index with scores of that solution's steps, or scores are missing or repeated.
    """
    distinct = list(dict.fromkeys(solutions))
    with ExitStack() as stack:
        kept = None
        scores: dict[Solution, StepScores] = {}
        if store is not None:
            writable = _may_write(store)
            if not (writable or store.is_file()):
                raise StoreError(f'{store}: the score store can not be begun; {ELSEWHERE}')
            kept = stack.enter_context(
                ScoreStore(store, identity_of(scorer), report=report, read_only=not writable)
            )
            scores = kept.restore(distinct)
        if scores:
            report(f'{len(scores)} of {len(distinct)} distinct solutions are in {store}')
        missing = [one for one in distinct if one not in scores]
        if missing and kept is not None and kept.read_only:
            raise StoreError(
                f'{store}: the score store may be read but not written, and {len(missing)} of '
                f'{len(distinct)} distinct solutions are not in it; {ELSEWHERE}, such as a copy '
                'of this file and of those beside it whose names begin with its name'
            )
        stream = scorer.stream(missing, progress=progress) if missing else iter(())
        if close := getattr(stream, 'close', None):  # so that a judge is not asked in vain
            stack.callback(close)
        for item in stream:
            index, found = checked_item(scorer, item, missing)
            solution = missing[index]
            if solution in scores:
                raise ValueError(
                    f'{type(scorer).__name__}.stream() gave scores of solution {index} twice; '
                    'give the scores of each once'
                )
            scores[solution] = found
            if kept is not None:
                kept.keep(solution, found)
    if len(scores) < len(distinct):
        raise ValueError(
            f'{type(scorer).__name__} scored {len(scores)} of {len(distinct)} solutions; its '
            'stream() must give scores or a refusal of each'
        )
    return scores


def _may_write(store: Path) -> bool:
    """Tell whether a file, and SQLite's files beside it, may be written or created."""
    if store.exists():
        return os.access(store, os.W_OK) and os.access(store.parent, os.W_OK)
    folder = next((one for one in store.absolute().parents if one.exists()), store.parent)
    return os.access(folder, os.W_OK)
