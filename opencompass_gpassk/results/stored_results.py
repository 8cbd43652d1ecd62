"""Stored results read back and checked: those of OpenCompass's runs and of ``gpassk score``."""

from __future__ import annotations

import os
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.stored_files import MOST_PROBLEMS, read_json, read_object
from opencompass_gpassk.results.figures import SHARES
from opencompass_gpassk.results.join_results import Result, figures_of, is_ours
from opencompass_gpassk.runs.config import planned_run, read_run_config
from opencompass_gpassk.runs.task_states import State, TaskState, task_states

__all__ = [
    'TRIALS',
    'Found',
    'Sources',
    'check_result',
    'find_results',
    'read_result',
    'results_below',
    'run_around',
]

TRIALS = '.trials.jsonl.gz'
TIME = re.compile(r'\d{8}_\d{6}')
OF_RUN = frozenset({'configs', 'predictions', 'results', 'logs', 'summary'})


def run_around(path: Path) -> Path | None:
    """Return the run that a path is, or in whose results it lies."""
    whole = path.absolute()
    for folder in (whole, *whole.parents):
        if folder.name == 'results' and _is_run(folder.parent):
            return folder.parent
    return path if path.is_dir() and _is_run(path) else None


def results_below(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the runs below a folder, and the JSON files outside of them that may be results.

    A file is such a file itself. What is hidden is passed over, and no link followed.
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
            # A result that is missing is said to be so when it is read.
            files |= {
                folder / f'{one.removesuffix(TRIALS)}.json' for one in names if one.endswith(TRIALS)
            }
        folders[:] = [one for one in folders if not one.startswith('.')]
    return sorted(runs), sorted(files)


def _is_run(folder: Path) -> bool:
    found = [(folder / name).is_dir() for name in ('configs', 'predictions', 'results')]
    # Many a project has a folder of configs, or of results.
    return sum(found) > 1 or found[1] or (any(found) and TIME.fullmatch(folder.name) is not None)


MOST = 1_000_000  # samples of a result; whatever holds more was made to do harm
MOST_K = 1024  # tables of larger ones fill the memory
# A result has a figure for each k, τ and group; the page tests the ungrouped ones pair by pair.
MOST_METRICS, MOST_FIGURES, MOST_BREAKDOWNS = 500, 50_000, 50
MOST_WARNINGS = 1000
OTHER_METRICS = 20  # that go without k: accuracy, those of versions and of reasoning
LONGEST_NAME, LONGEST_TEXT = 1000, 20_000
BRIEF = 'of {} characters at most'
NAMES = ('benchmark', 'model', 'signature', 'groups')  # fields of which tables print all
Test = Callable[[Any], bool]
Check = Callable[[Result], None]


def read_result(path: Path, check: Check) -> dict[str, Any]:
    """Return a stored result, of whichever evaluator.

    Args:
        path: The file.
        check: Raises a ValueError if a result of ours can't be used: :func:`check_result`, or what
            asks more.

    Raises:
        FileNotFoundError: If there is none.
        ValueError: If it can't be read, or is ours and the check refuses it.
    """
    result = read_object(path)
    try:
        if is_ours(result):
            check(result)
    except ValueError as error:
        raise ValueError(f'{path}: not readable: {error}') from error
    return result


def check_result(result: Result) -> None:
    """Raise an error if a result of ours has not the form that tables, figures and page read.

    Args:
        result: As stored, with its details or without.

    Raises:
        ValueError: Naming the field, what it holds, and what it should hold.
    """
    _check_fields(result)
    _demand('names', list(result), _brief(LONGEST_NAME), BRIEF.format(LONGEST_NAME))
    for name, value in result.items():
        longest = LONGEST_NAME if name in NAMES else LONGEST_TEXT
        if name != 'details':
            _demand(name, value, _brief(longest), BRIEF.format(longest))
    for row in result.get('details') or []:
        _check_row(row)
    _check_numbers(result)
    _check_figures(result)


def _whole(least: int, most: int = MOST) -> Test:
    return lambda value: type(value) is int and least <= value <= most


def _number(value: Any) -> bool:
    # NaN is undefined; an infinite figure, or an int too great for a float, is none.
    return isinstance(value, (int, float)) and (value != value or abs(value) <= MOST)


def _share(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= 1


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _brief(longest: int) -> Test:
    """Tell whether no text in a value is longer, and no key longer than a name."""

    def test(value: Any) -> bool:
        if isinstance(value, str):
            return len(value) <= longest
        if isinstance(value, Mapping):
            names = all(len(str(key)) <= LONGEST_NAME for key in value)
            return names and all(map(test, value.values()))
        return not isinstance(value, list) or all(map(test, value))

    return test


def _mapping(of: Test = lambda value: True) -> Test:
    return lambda value: isinstance(value, Mapping) and all(map(of, value.values()))


def _listed(of: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(of, value))


def _range(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(one is None or _number(one) for one in value)


FIELDS: dict[str, tuple[Test, str]] = {
    'k': (_listed(_whole(1, MOST_K)), f'a list of whole numbers from 1 to {MOST_K}'),
    'taus': (_listed(_share), 'a list of numbers from 0 to 1'),
    'groups': (_mapping(_mapping(_scalar)), 'an object of objects of texts and numbers'),
    'counts': (_mapping(), 'an object'),
    'versions': (_mapping(), 'an object'),
    'reasoning': (_mapping(), 'an object'),
    'judging': (_mapping(), 'an object'),
    'bounds': (_mapping(_range), 'an object of pairs of numbers'),
    'intervals': (_mapping(), 'an object'),
    'uncertainty': (_mapping(), 'an object'),
    'warnings': (_listed(_text), 'a list of texts'),
    'details': (_listed(_mapping()), 'a list of objects'),
    'trials_file': (_text, 'a text'),
    'signature, sampling': (_mapping(), 'an object'),
    'counts, problems': (_whole(0), 'a whole number'),
    'counts, trials': (lambda value: type(value) is int and value >= 0, 'a whole number'),
    'counts, lost': (lambda value: type(value) is int and value >= 0, 'a whole number'),
    'versions, per_group': (_whole(1), 'a whole number from 1'),
    'reasoning, threshold': (_number, 'a number'),
    'reasoning, lengths': (_mapping(_mapping()), 'an object of objects'),
    'reasoning, boxes': (_mapping(_mapping()), 'an object of objects'),
}


def _check_fields(result: Result) -> None:
    _demand('signature, n', result['signature']['n'], _whole(1), 'a whole number from 1')
    for name, (test, wanted) in FIELDS.items():
        value: Any = result
        for key in name.split(', '):
            value = value.get(key)
            if value is None:  # as if it were missing
                break
        else:
            _demand(name, value, test, wanted)
    for label, group in (result.get('groups') or {}).items():
        if 'problems' in group:
            _demand(f'groups, {label}, problems', group['problems'], _whole(0), 'a whole number')


def _check_row(row: Mapping[str, Any]) -> None:
    if not {'problem_id', 'n', 'c'} <= row.keys():
        raise ValueError('field details: a row holds no problem_id, n and c')
    place = f'details, {str(row["problem_id"])[:80]}'
    _demand(f'{place}, n', row['n'], _whole(0), 'a whole number')
    _demand(f'{place}, c', row['c'], lambda c: _whole(0)(c) and c <= row['n'], 'no more than n')
    for name, value in row.items():
        if name != 'answers':
            _demand(f'{place}, {name}', value, _scalar, 'a text or a number')
    answers = row.get('answers') or []
    _demand(f'{place}, answers', answers, _listed(_mapping(_scalar)), 'a list of objects')
    for answer in answers:
        _demand(f'{place}, count', answer.get('count', 0), _whole(0), 'a whole number')


def _check_numbers(result: Result) -> None:
    """Raise a ValueError if there is more of something than anything can be made of in time."""
    groups, rows = result.get('groups') or {}, result.get('details') or []
    metrics = len(result.get('k') or []) * (len(result.get('taus') or []) + 2) + OTHER_METRICS
    for what, number, most in (
        ('metrics, by k and taus', metrics, MOST_METRICS),
        ('figures, by metric and group', metrics * (len(groups) + 1), MOST_FIGURES),
        ('breakdowns', len({tuple(group) for group in groups.values()}), MOST_BREAKDOWNS),
        ('warnings', len(result.get('warnings') or []), MOST_WARNINGS),
        ('problems', len(rows), MOST_PROBLEMS),
        ('samples', sum(row['n'] for row in rows), MOST),
    ):
        if number > most:
            raise ValueError(f'it has {number} {what}, above {most}; score its responses again')


def _check_figures(result: Result) -> None:
    for label, group in {'': {}, **(result.get('groups') or {})}.items():
        keys = [one.key for one in figures_of(result, originals='version' in group)]
        for key in keys if label else [*keys, *SHARES]:
            name = f'{label}/{key}' if label else key
            if (value := result.get(name)) is not None:
                _demand(name, value, _number, 'a finite number')


def _demand(name: str, value: Any, test: Test, wanted: str) -> None:
    try:
        good = test(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        good = False
    if not good:
        told = reprlib.repr(value)[:60]
        raise ValueError(f'field {name[:60]} is {told}, not {wanted}; score its responses again')


MOST_NAMED = 5  # of the files that are left out


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
        if not isinstance(name, str) or not name or Path(name).name != name:
            return None
        return self.path.with_name(name)


@dataclass
class Sources:
    """Everything that was found.

    Attributes:
        check: As of :func:`read_result`.
        results: Ours, in the order of the paths and of each run's folders.
        tasks: (time of the run, state) of every task that a config asks for.
        faults: What could not be read, and why.
        others: Results of other evaluators: model/data set, and its accuracy.
    """

    check: Check
    results: list[Found] = field(default_factory=list)
    tasks: list[tuple[str, TaskState]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def find_results(paths: Sequence[Path], check: Check = check_result) -> Sources:
    """Return the results in work dirs, runs, folders and files of ``gpassk score``.

    Every run below a folder counts, so that an older result of the same model is not hidden, and
    every result that lies beside the runs.

    Args:
        paths: Those folders and files.
        check: As of :func:`read_result`.

    Raises:
        ValueError: If a path doesn't exist or there is nothing of this package in it.
    """
    sources = Sources(check)
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
            only = path if path.is_file() else None
            if (only or run).resolve() not in seen:
                seen.add((only or run).resolve())
                _take_run(run, sources, only)
        _take_scores([file for file in files if file.resolve() not in seen], path, sources)
        seen.update(file.resolve() for file in files)
    return sources


def _take_run(run: Path, sources: Sources, only: Path | None = None) -> None:
    """Take the results of a run, or one of them alone."""
    states: dict[tuple[str, str], TaskState] = {}
    root = run / 'results'
    try:
        for state in task_states(planned_run(run, read_run_config(run))):
            states[state.model, state.dataset] = state
            if only in (None, root / state.model / f'{state.dataset}.json'):
                sources.tasks.append((run.name, state))
    except Exception as error:  # configs and logs are anything
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
        elif 'error' not in result:  # of an error the task's state tells
            accuracy = result.get('accuracy')
            told = f', accuracy {accuracy:.2f}' if isinstance(accuracy, float) else ''
            sources.others.append(f'{model}/{dataset} ({run.name}){told}')


def _take_scores(files: Sequence[Path], given: Path, sources: Sources) -> None:
    """Take the results among files; what else lies there is named, but no fault of its own."""
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
        sources.faults.append(f'{given}: left out, since they are no results: {told}')


def _take_score(path: Path, given: Path, result: Result, sources: Sources) -> None:
    try:
        time = f'{datetime.fromtimestamp(path.stat().st_mtime):%Y%m%d_%H%M%S}'
    except (OverflowError, ValueError):  # a file may say that it is of the year 100,000
        time = ''
    model, dataset = path.stem, str(result['benchmark'])
    if given.is_dir() and path.parent != given:  # as gpassk score writes several: MODEL/DATA.json
        model, dataset = path.parent.relative_to(given).as_posix(), path.stem
    if isinstance(result.get('model'), str):  # as gpassk score --model says
        model = result['model'] or model
    sources.results.append(Found(model, dataset, result, path, time))


def _is_file(path: Path) -> bool:
    """Tell whether there is something that was meant as a file, be it a pipe."""
    try:
        return path.exists() and not path.is_dir()
    except OSError:  # a name that is too long
        return False


def _read(path: Path, sources: Sources, meant: bool = True) -> dict[str, Any] | None:
    """Return a JSON file, None if it can't be read; one not meant as a result may be a list."""
    try:
        if not meant and not isinstance(read_json(path), dict):
            return {}
        return read_result(path, sources.check)
    except (OSError, ValueError) as error:
        sources.faults.append(str(error))
        return None
