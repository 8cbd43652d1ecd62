"""Read and check stored results of OpenCompass's runs and of ``gpassk score``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.stored_files import read_json, read_object
from opencompass_gpassk.results.join_results import Result, is_ours
from opencompass_gpassk.results.schema import check_result, in_schema_3
from opencompass_gpassk.runs.config import planned_run, read_run_config
from opencompass_gpassk.runs.task_states import State, TaskState, task_states

TRIALS = '.trials.jsonl.gz'
TIME = re.compile(r'\d{8}_\d{6}')
OF_RUN = frozenset({'configs', 'predictions', 'results', 'logs', 'summary'})


def run_around(path: Path) -> Path | None:
    """Return the run at a path, or the run whose results contain it; None if there is none."""
    whole = path.absolute()
    for folder in (whole, *whole.parents):
        if folder.name == 'results' and _is_run(folder.parent):
            return folder.parent
    return path if path.is_dir() and _is_run(path) else None


def results_below(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the runs below a folder, and the JSON files outside of them that may be results.

    For a file it returns the file itself. It skips hidden files and doesn't follow links.
    """
    if path.is_file():
        return [], [path]
    runs: list[Path] = []
    files: set[Path] = set()
    for name, folders, names in os.walk(path):
        folder = Path(name)
        if _is_run(folder):
            runs.append(folder)
            folders[:] = [one for one in folders if one not in OF_RUN]
        else:
            files |= {folder / one for one in names if one.endswith('.json')}
            # If the result of a trials file is missing, reading it reports that.
            files |= {
                folder / f'{one.removesuffix(TRIALS)}.json' for one in names if one.endswith(TRIALS)
            }
        folders[:] = [one for one in folders if not one.startswith('.')]
    return sorted(runs), sorted(files)


def _is_run(folder: Path) -> bool:
    found = [(folder / name).is_dir() for name in ('configs', 'predictions', 'results')]
    # One folder is not enough: many projects have a folder of configs, or of results.
    return sum(found) > 1 or found[1] or (any(found) and TIME.fullmatch(folder.name) is not None)


def read_result(path: Path) -> dict[str, Any]:
    """Return a stored result, of this package's or another evaluator; ours in the current schema.

    Raises:
        FileNotFoundError: If the file doesn't exist.
        ValueError: If it can't be read, or is ours and doesn't have the form of a result.
    """
    result = read_object(path)
    if not is_ours(result):
        return result
    try:
        found = in_schema_3(result)
        check_result(found)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'{path}: not readable: {error}') from error
    return found


MOST_NAMED = 5  # skipped files named in a message


@dataclass(frozen=True)
class Found:
    """One result.

    Attributes:
        model: The model's abbr, which is also the folder of its results in a run.
        dataset: The data set's abbr.
        result: The stored result, with its details.
        path: The result file.
        time: When it was made: the name of the run's folder, or else the file's time.
        run: The timestamp folder, None for a result of ``gpassk score``.
        state: The task's state in words; '' if it is finished or not in the config.
    """

    model: str
    dataset: str
    result: Result
    path: Path
    time: str
    run: Path | None = None
    state: str = ''

    @property
    def trials(self) -> Path | None:
        """The trials file beside the result, None if it names none."""
        return trials_beside(self.path, self.result)


def trials_beside(path: Path, result: Result) -> Path | None:
    """Return the trials file beside a result file, None if the result names none there."""
    name = result.get('trials_file')
    if not isinstance(name, str) or not name or Path(name).name != name:
        return None
    return path.with_name(name)


@dataclass
class Sources:
    """The results that were found, and problems with them.

    Attributes:
        results: Our results, in the order of the paths and of each run's folders.
        tasks: (time of the run, state) of every task in a run's config.
        faults: Messages on files that could not be read.
        others: Results of other evaluators, as text: model/data set and accuracy.
    """

    results: list[Found] = field(default_factory=list)
    tasks: list[tuple[str, TaskState]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def find_results(paths: Sequence[Path]) -> Sources:
    """Return the results in work dirs, runs, and folders and files of ``gpassk score``.

    All runs below a folder are read, so that older results of a model appear too, and all results
    outside of runs.

    Args:
        paths: The folders and files.

    Raises:
        ValueError: If a path doesn't exist or contains neither a run nor a result.
    """
    sources = Sources()
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise ValueError(
                f'{path}: there is no such file or folder; name a work dir of OpenCompass, a run '
                'in it, or a result of gpassk score'
            )
        run = run_around(path)
        runs, files = ([run], []) if run else results_below(path)
        if not runs and not files:
            raise ValueError(
                f'{path}: there is neither a run of OpenCompass nor a result of gpassk score -o in '
                'it; name a work dir such as outputs/default'
            )
        for run in runs:
            only = path.absolute() if path.is_file() else None
            if (only or run).resolve() not in seen:
                seen.add((only or run).resolve())
                _take_run(run, sources, only)
        _take_scores([file for file in files if file.resolve() not in seen], path, sources)
        seen.update(file.resolve() for file in files)
    return sources


def _take_run(run: Path, sources: Sources, only: Path | None = None) -> None:
    """Add the results of a run to the sources, or only one of them."""
    states: dict[tuple[str, str], TaskState] = {}
    root = run / 'results'
    try:
        for state in task_states(planned_run(run, read_run_config(run))):
            states[state.model, state.dataset] = state
            if only in (None, root / state.model / f'{state.dataset}.json'):
                sources.tasks.append((run.name, state))
    except Exception as error:  # configs and logs may contain anything
        sources.faults.append(f'{run}: its tasks are not known: {error}')
    paths = {only} if only else {path for path in root.rglob('*.json') if _is_file(path)}
    planned = [root / model / f'{dataset}.json' for model, dataset in states]
    for path in [*(path for path in planned if path in paths), *sorted(paths - {*planned})]:
        model, dataset = path.parent.relative_to(root).as_posix(), path.stem
        result = _read(path, sources)
        if result is None:
            continue
        found = states.get((model, dataset))
        partial = '' if found is None or found.state is State.FINISHED else str(found)
        if is_ours(result):
            sources.results.append(Found(model, dataset, result, path, run.name, run, partial))
        elif 'error' not in result:  # an error is reported in the task's state
            accuracy = result.get('accuracy')
            told = f', accuracy {accuracy:.2f}' if isinstance(accuracy, float) else ''
            sources.others.append(f'{model}/{dataset} ({run.name}){told}')


def _take_scores(files: Sequence[Path], given: Path, sources: Sources) -> None:
    """Add the results among files to the sources; other files are reported in one message."""
    others = []
    for path in files:
        meant = path == given or _is_file(path.with_name(path.stem + TRIALS))
        result = _read(path, sources, meant)
        if result is None:
            continue
        if is_ours(result):
            _take_score(path, given, result, sources)
        elif meant:
            sources.faults.append(
                f'{path}: not a result of this package; make it with gpassk score SAMPLES -o {path}'
            )
        else:
            others.append(path.relative_to(given).as_posix())
    if others:
        told = ', '.join(others[:MOST_NAMED]) + (', …' if len(others) > MOST_NAMED else '')
        sources.faults.append(f'{given}: these files are skipped, as they are not results: {told}')


def _take_score(path: Path, given: Path, result: Result, sources: Sources) -> None:
    try:
        time = f'{datetime.fromtimestamp(path.stat().st_mtime):%Y%m%d_%H%M%S}'
    except (OverflowError, ValueError):  # a file's time may be in the year 100,000
        time = ''
    model, dataset = path.stem, str(result['benchmark'])
    if given.is_dir() and path.parent != given:  # gpassk score writes several as MODEL/DATA.json
        model, dataset = path.parent.relative_to(given).as_posix(), path.stem
    if isinstance(result.get('model'), str):  # from gpassk score --model
        model = result['model'] or model
    sources.results.append(Found(model, dataset, result, path, time))


def _is_file(path: Path) -> bool:
    """Tell whether a path exists and is not a folder; a pipe counts as a file."""
    try:
        return path.exists() and not path.is_dir()
    except OSError:  # a name that is too long
        return False


def _read(path: Path, sources: Sources, meant: bool = True) -> dict[str, Any] | None:
    """Return a JSON file, None if it can't be read; if not ``meant`` as a result, a list is {}."""
    try:
        if not meant and not isinstance(read_json(path), dict):
            return {}
        return read_result(path)
    except (OSError, ValueError) as error:
        sources.faults.append(str(error))
        return None
