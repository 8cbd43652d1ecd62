"""What a report page is made from: runs of OpenCompass and results of ``gpassk score``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from opencompass_gpassk.report.benchmarks import Result, is_ours
from opencompass_gpassk.runs import planned_run, read_run_config
from opencompass_gpassk.states import State, TaskState, task_states

__all__ = ['Found', 'Sources', 'find_results']


@dataclass(frozen=True)
class Found:
    """One result.

    Attributes:
        model: The model's abbr, which is where a run keeps its results.
        dataset: The data set's abbr.
        result: As stored, details included.
        path: The result file.
        time: When it was made: the name of the run's folder, else the file's time.
        run: The timestamp folder, None for a result of ``gpassk score``.
        state: What became of the task, '' where it is finished or nobody planned it.
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
        """The file of trials beside the result, as far as it names one."""
        name = self.result.get('trials_file')
        if not isinstance(name, str) or Path(name).name != name:
            return None
        return self.path.with_name(name)


@dataclass
class Sources:
    """Everything that was found.

    Attributes:
        results: Ours, in the order of the paths and of each run's folders.
        tasks: (time of the run, state) of every task that a config asks for.
        faults: What could not be read, and why.
        others: Results of other evaluators: model/data set, and its accuracy.
    """

    results: list[Found] = field(default_factory=list)
    tasks: list[tuple[str, TaskState]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def find_results(paths: Sequence[Path]) -> Sources:
    """Return the results in work dirs, runs, folders and files of ``gpassk score``.

    Every run of a work dir counts, so that an older result of the same model is not hidden.

    Raises:
        ValueError: If a path doesn't exist or there is nothing of this package in it.
    """
    sources = Sources()
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise ValueError(
                f'{path}: there is no such file or folder; name a work dir of OpenCompass, a run '
                'in it, or a result of gpassk score'
            )
        runs = _runs(path)
        files = [] if runs else _score_results(path)
        if not runs and not files:
            raise ValueError(
                f'{path}: there is neither a run of OpenCompass nor a result of gpassk score -o in '
                'it; name a work dir such as outputs/default'
            )
        for run in runs:
            if run.resolve() not in seen:
                seen.add(run.resolve())
                _take_run(run, sources)
        for file in files:
            if file.resolve() not in seen:
                seen.add(file.resolve())
                _take_score(file, path, sources)
    return sources


def _runs(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    if _is_run(path):
        return [path]
    return sorted(folder for folder in path.iterdir() if folder.is_dir() and _is_run(folder))


def _is_run(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in ('configs', 'predictions', 'results'))


def _score_results(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    ending = '.trials.jsonl.gz'
    trials = sorted(path.rglob(f'*{ending}'))
    return [file.with_name(file.name.removesuffix(ending) + '.json') for file in trials]


def _take_run(run: Path, sources: Sources) -> None:
    states: dict[tuple[str, str], TaskState] = {}
    try:
        for state in task_states(planned_run(run, read_run_config(run))):
            states[state.model, state.dataset] = state
            sources.tasks.append((run.name, state))
    except Exception as error:  # configs are Python, logs are anything
        sources.faults.append(f'{run}: its tasks are not known: {error}')
    root = run / 'results'
    paths = {path for path in root.rglob('*.json') if path.is_file()}
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
        elif 'error' not in result:  # of an error the task's state tells
            accuracy = result.get('accuracy')
            told = f', accuracy {accuracy:.2f}' if isinstance(accuracy, (int, float)) else ''
            sources.others.append(f'{model}/{dataset} ({run.name}){told}')


def _take_score(path: Path, given: Path, sources: Sources) -> None:
    result = _read(path, sources)
    if result is None:
        return
    if not is_ours(result):
        sources.faults.append(
            f'{path}: not a result of this package; make it with gpassk score SAMPLES -o {path}'
        )
        return
    written = datetime.fromtimestamp(path.stat().st_mtime)
    model, dataset = path.stem, str(result['benchmark'])
    if given.is_dir() and path.parent != given:  # as gpassk score writes several: MODEL/DATA.json
        model, dataset = path.parent.relative_to(given).as_posix(), path.stem
    sources.results.append(Found(model, dataset, result, path, f'{written:%Y%m%d_%H%M%S}'))


def _read(path: Path, sources: Sources) -> dict[str, Any] | None:
    try:
        result = json.loads(path.read_text('utf-8', errors='surrogatepass'))
        if not isinstance(result, dict):
            raise ValueError(f'a result is an object {{…}}, not a {type(result).__name__}')
        if is_ours(result):
            _check(result)
    except (OSError, ValueError, RecursionError) as error:
        sources.faults.append(f'{path}: not readable: {error}')
        return None
    return result


def _check(result: Result) -> None:
    """Raise ValueError if a part of a result has not the form that the page reads."""
    for name, kind in (('groups', dict), ('counts', dict), ('details', list), ('k', list)):
        if not isinstance(result.get(name) or kind(), kind):
            raise ValueError(f'field {name} is a {type(result[name]).__name__}')
    for row in _rows(result):
        if not isinstance(row, dict) or not {'problem_id', 'n', 'c'} <= row.keys():
            raise ValueError('field details: a row holds no problem_id, n and c')
        if (
            not all(isinstance(row[name], int) for name in ('n', 'c'))
            or not 0 <= row['c'] <= row['n']
        ):
            raise ValueError(f'field details: c is {row["c"]!r} and n is {row["n"]!r}')


def _rows(result: Result) -> Iterable[Any]:
    return result.get('details') or []
