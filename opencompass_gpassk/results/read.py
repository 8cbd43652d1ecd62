"""Read results: a path to a file, a run or a folder of runs becomes results with their trials.

Every command, page and table reads results here, and tells of a bad file in the same words.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.decode import decode
from opencompass_gpassk.formats.display import called, short_line
from opencompass_gpassk.formats.stored_files import TRIALS_ENDING, read_json, read_object
from opencompass_gpassk.results.judged_trials import VALIDITY
from opencompass_gpassk.results.result import Result, Signature
from opencompass_gpassk.runs.config import find_run, planned_run, read_run_config
from opencompass_gpassk.trials import SCHEMA, Trial, TrialTable, read_meta, read_trials

TIME = re.compile(r'\d{8}_\d{6}')
OF_RUN = frozenset({'configs', 'predictions', 'results', 'logs', 'summary'})
MOST_NAMED = 5  # skipped files named in a message
LONGEST = 88  # characters of a problem's name in a message
REMEDY = 'delete the result and make it again: opencompass CONFIG -r, or gpassk score -o'

Report = Callable[[str], None]


@dataclass(frozen=True)
class ModelResult:
    """A model's result on a data set, and the way to its trials.

    Trials are read anew each time: those of twenty models don't fit into memory.

    Attributes:
        model: The model's abbr, which is also the folder of its results in a run.
        dataset: The data set's abbr.
        result: The stored result, with its details. Of trials without a result it is the first line
            of their file, which has a result's ``signature``, ``k`` and ``taus``.
        path: The result file.
        time: When it was made: the name of the run's folder, or else the file's time.
        run: The timestamp folder, None for a result of ``gpassk score``.
    """

    model: str
    dataset: str
    result: Result
    path: Path
    time: str = ''
    run: Path | None = None

    @property
    def name(self) -> str:
        """Model and data set in words."""
        return f'{self.model} on {self.dataset}'

    @property
    def trials(self) -> Path | None:
        """The trials file beside the result, None if it names none there."""
        name = self.result.trials_file
        return self.path.with_name(name) if name and Path(name).name == name else None

    def table(self) -> TrialTable:
        """Return the trials.

        Raises:
            ValueError: If they can't be read, or hold no problems.
        """
        if self.trials is None:
            raise ValueError(f'{self.path}: it names no file of trials; {REMEDY}')
        table, _ = read_trials(self.trials)
        if not table.problems:
            raise ValueError(f'{self.trials}: it holds no problems; {REMEDY}')
        return table

    def contradiction(self, table: TrialTable) -> str:
        """Return how the result and its trials contradict each other, '' if they agree.

        A result beside the trials of another run has another signature, or other n and c.
        """
        if self.trials:
            signature = read_meta(self.trials).get('signature')
            if signature and decode(Signature, signature) != self.result.signature:
                return 'its trials were measured in another way'
        n, c = table.counts()
        found = {
            f'problem {problem.problem_id}': (int(n[i]), int(c[i]))
            for i, problem in enumerate(table.problems)
        }
        stored = {f'problem {row.problem_id}': (row.n, row.c) for row in self.result.details}
        if not self.result.details:
            counts = self.result.counts
            found = {'all problems': (int(n.sum()), int(c.sum()))}
            stored = {'all problems': (counts.correct + counts.incorrect, counts.correct)}
        for name in (*found, *stored):
            shown, right = stored.get(name), found.get(name)
            if shown != right:
                return (
                    f'n and c differ from its trials: {name[:LONGEST]} has {_counted(shown)}, in '
                    f'the trials {_counted(right)}'
                )
        return ''


def _counted(pair: tuple[int, int] | None) -> str:
    return 'nothing' if pair is None else f'n = {pair[0]}, c = {pair[1]}'


def without_texts(table: TrialTable) -> TrialTable:
    """Leave in a table's trials only what ranks and curves are computed from, and return it.

    That is verdict, source, class of the answer, hash of the text and validity. Texts take most of
    the memory. Metrics that are computed from answers or tokens are lost.
    """
    ids = {problem.problem_id: problem.problem_id for problem in table.problems}
    nothing: dict[str, float] = {}
    valid: dict[float, dict[str, float]] = {}
    for place, trial in enumerate(table.trials):
        validity = trial.values.get(VALIDITY)
        table.trials[place] = Trial(
            ids[trial.problem_id],
            trial.replica,
            trial.verdict,
            sys.intern(trial.source),
            answer_class=trial.answer_class,
            lost=trial.lost,
            text_hash=trial.text_hash,
            long=trial.long,
            values=nothing
            if validity is None
            else valid.setdefault(validity, {VALIDITY: validity}),
        )
    return table


def run_around(path: Path) -> Path | None:
    """Return the run at a path, or the run whose results contain it; None if there is none."""
    whole = path.absolute()
    for folder in (whole, *whole.parents):
        if folder.name == 'results' and _is_run(folder.parent):
            return folder.parent
    return path if path.is_dir() and _is_run(path) else None


def results_below(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the runs below a folder, and the JSON files outside of them that may be results.

    For a file it returns the file itself, even if it is missing beside its trials. It skips hidden
    files and doesn't follow links.
    """
    if not path.is_dir():
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
                folder / f'{one.removesuffix(TRIALS_ENDING)}.json'
                for one in names
                if one.endswith(TRIALS_ENDING)
            }
        folders[:] = [one for one in folders if not one.startswith('.')]
    return sorted(runs), sorted(files)


def _is_run(folder: Path) -> bool:
    found = [(folder / name).is_dir() for name in ('configs', 'predictions', 'results')]
    # One folder is not enough: many projects have a folder of configs, or of results.
    return sum(found) > 1 or found[1] or (any(found) and TIME.fullmatch(folder.name) is not None)


def read_result(path: Path) -> Result | dict[str, Any]:
    """Return a stored result; one of another evaluator as it is.

    Raises:
        FileNotFoundError: If the file doesn't exist.
        ValueError: If it can't be read, or is ours and doesn't have the form of a result.
    """
    stored = read_object(path)
    signature = stored.get('signature')
    if 'benchmark' not in stored or not isinstance(signature, dict) or 'n' not in signature:
        return stored
    try:
        return Result.of(stored)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'{path}: not readable: {error}') from error


@dataclass
class Sources:
    """The results that were found, and problems with them.

    Attributes:
        results: Our results, in the order of the paths and of each run's folders.
        alone: Trials without a readable result; see :class:`ModelResult`.
        runs: The runs that were read.
        faults: Messages on files that could not be read.
        unread: Result file → why it can't be read; :attr:`faults` tells of it too.
        others: Results of other evaluators, as text: model/data set and accuracy.
    """

    results: list[ModelResult] = field(default_factory=list)
    alone: list[ModelResult] = field(default_factory=list)
    runs: list[Path] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    unread: dict[Path, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def lacking(self) -> list[str]:
        """Return messages on trials whose result is missing; in a run its task's state tells."""
        return [
            f'{one.path}: there is no such result beside its trials; put it there, or {REMEDY}'
            for one in self.alone
            if one.run is None and one.path not in self.unread
        ]


def find_results(paths: Sequence[Path]) -> Sources:
    """Return the results in work dirs, runs, and folders and files of ``gpassk score``.

    All runs below a folder are read, so that older results of a model appear too, and all results
    outside of runs.

    Args:
        paths: The folders and files; a trials file stands for its result.

    Raises:
        ValueError: If a path doesn't exist or contains neither a run nor a result.
    """
    sources = Sources()
    seen: set[Path] = set()
    for given in paths:
        if not given.exists():
            raise ValueError(
                f'{given}: there is no such file or folder; name a work dir of OpenCompass, a run '
                'in it, or a result of gpassk score'
            )
        path = given
        if given.name.endswith(TRIALS_ENDING):
            path = given.with_name(f'{given.name.removesuffix(TRIALS_ENDING)}.json')
        run = run_around(path)
        runs, files = ([run], []) if run else results_below(path)
        if not runs and not files:
            raise ValueError(
                f'{path}: there is neither a run of OpenCompass nor a result of gpassk score -o in '
                'it; name a work dir such as outputs/default'
            )
        for run in runs:
            whole = path.resolve() if path.is_dir() else _resolved(path)
            part = (run / 'results').resolve() in whole.parents
            _take_run(run, sources, seen, whole if part else None)
        _take_scores([file for file in files if file.resolve() not in seen], path, sources)
        seen.update(file.resolve() for file in files)
    return sources


def results_at(path: Path, report: Report, *, alone: bool = False) -> list[ModelResult]:
    """Return the results at a path: of a run, of the newest run in a work dir, or of files.

    Of several results of a model on a data set the newest is meant.

    Args:
        path: A work dir, a timestamp folder, or a file or folder of ``gpassk score -o``.
        report: Takes a message on each file that can't be read, and on results that are left out.
        alone: Whether trials without a readable result are enough.

    Raises:
        ValueError: If no result can be read.
    """
    try:
        run = find_run(path)
    except ValueError:
        run = path
    sources = find_results([run])
    found = [*sources.results, *(sources.alone if alone else ())]
    faults = [*sources.faults, *(() if alone else sources.lacking())]
    for fault in faults:
        report(short_line(fault))
    if not found:
        told = f': {faults[0]}' if faults else ''
        raise ValueError(f'{run}: it has no readable result of this package{told}')
    newest: dict[tuple[str, str], ModelResult] = {}
    for one in sorted(found, key=lambda one: one.time):
        if older := newest.get((one.model, one.dataset)):
            report(f'{older.path} is left out: {one.path} is newer')
        newest[one.model, one.dataset] = one
    return [one for one in found if any(one is other for other in newest.values())]


def chosen(
    results: Iterable[ModelResult], models: Collection[str], data_sets: Collection[str]
) -> list[ModelResult]:
    """Return the results of some models on some data sets; nothing named means all.

    Raises:
        ValueError: If one that is named isn't there, or they have none together.
    """
    there = list(results)
    names = called(one.dataset for one in there)
    found = [
        one
        for one in there
        if one.model in (models or [one.model])
        if not data_sets or {one.dataset, names[one.dataset]} & {*data_sets}
    ]
    known = {name for one in there for name in (one.model, one.dataset, names[one.dataset])}
    if not found or {*models, *data_sets} - known:
        asked = ', '.join(sorted({*models, *data_sets} - known or {*models, *data_sets}))
        told = ', '.join(sorted(one.name for one in there))
        raise ValueError(f'no result of {asked}; there are {told}')
    return found


def one_of_each(results: Sequence[ModelResult], report: Report) -> list[ModelResult]:
    """Return one result of each model on each benchmark: that with the most samples.

    Samples that are measured twice, or by two judges, must not be pooled.

    Args:
        results: Results, of which those with the same benchmark may be of other n or judges.
        report: Takes a message on each result that is left out.
    """
    best: dict[tuple[str, str, bool], ModelResult] = {}
    for one in results:
        benchmark = one.result.benchmark
        other = best.setdefault((one.model, benchmark, one.result.greedy), one)
        if other is not one:
            less, more = sorted((one, other), key=lambda one: one.result.n)
            best[one.model, benchmark, one.result.greedy] = more
            report(
                f'{less.name} is left out: {more.dataset} has n = {more.result.n} on the same '
                'benchmark; choose with --dataset'
            )
    return [one for one in results if any(one is other for other in best.values())]


def _resolved(path: Path) -> Path:
    """Return the path without links and dots, of which the last part may be one."""
    return Path(os.path.realpath(path.parent), path.name)


def _take_run(run: Path, sources: Sources, seen: set[Path], only: Path | None) -> None:
    """Add the results of a run to the sources, or only those at a path in it; each path once."""
    root = run / 'results'
    sources.runs.append(run)
    trials = [
        file.with_name(f'{file.name.removesuffix(TRIALS_ENDING)}.json')
        for file in sorted(root.rglob(f'*{TRIALS_ENDING}'))
    ]
    there = [*_planned(run), *sorted(root.rglob('*.json')), *trials]
    resolved = {path: _resolved(path) for path in there}
    meant = [
        path
        for path, whole in resolved.items()
        if whole not in seen and (only is None or whole.is_relative_to(only))
    ]
    new = {resolved[path] for path in meant}
    seen |= new
    for path in filter(_is_file, meant):
        model, dataset = path.parent.relative_to(root).as_posix(), path.stem
        match _read(path, sources):
            case Result() as result:
                sources.results.append(ModelResult(model, dataset, result, path, run.name, run))
            case dict(other) if 'error' not in other:  # an error is reported in the task's state
                accuracy = other.get('accuracy')
                told = f', accuracy {accuracy:.2f}' if isinstance(accuracy, float) else ''
                sources.others.append(f'{model}/{dataset} ({run.name}){told}')
    read = {one.path for one in sources.results}
    for path in trials:
        if path not in read and resolved[path] in new and (alone := _of_trials(path, sources)):
            model = path.parent.relative_to(root).as_posix()
            sources.alone.append(ModelResult(model, path.stem, alone, path, run.name, run))


def _planned(run: Path) -> list[Path]:
    """Return the results that a run's config asks for, model by model; [] if nobody can read it."""
    try:
        pairs = planned_run(run, read_run_config(run)).pairs
    except Exception:  # it may hold anything; who asks for the states of tasks is told
        return []
    models = [model for model, _ in pairs]
    pairs.sort(key=lambda pair: models.index(pair[0]))
    return [run / 'results' / model / f'{dataset}.json' for model, dataset in pairs]


def _of_trials(path: Path, sources: Sources) -> Result | None:
    """Return what trials say of their result, which can't be read; None if they don't either."""
    trials = path.with_name(path.stem + TRIALS_ENDING)
    try:
        told = {'benchmark': path.stem, **read_meta(trials), 'trials_file': trials.name}
        return Result.of({**told, 'schema': SCHEMA, 'metrics': {}})
    except ValueError as error:
        sources.faults.append(f'{trials}: {error}'.replace(f'{trials}: {trials}', str(trials)))
        return None


def _take_scores(files: Sequence[Path], given: Path, sources: Sources) -> None:
    """Add the results among files to the sources; other files are reported in one message."""
    others = []
    for path in files:
        beside = _is_file(path.with_name(path.stem + TRIALS_ENDING))
        meant = path == given or beside
        result = _read(path, sources, meant)
        if isinstance(result, Result):
            sources.results.append(_scored(path, given, result))
            continue
        if beside and (alone := _of_trials(path, sources)):
            sources.alone.append(_scored(path, given, alone))
        if result is None:
            continue
        if meant:
            sources.faults.append(
                f'{path}: not a result of this package; make it with gpassk score SAMPLES -o {path}'
            )
        else:
            others.append(path.relative_to(given).as_posix())
    if others:
        told = ', '.join(others[:MOST_NAMED]) + (', …' if len(others) > MOST_NAMED else '')
        sources.faults.append(f'{given}: these files are skipped, as they are not results: {told}')


def _scored(path: Path, given: Path, result: Result) -> ModelResult:
    """Return a result of ``gpassk score``, with the names of its model and data set."""
    try:
        time = f'{datetime.fromtimestamp(path.stat().st_mtime):%Y%m%d_%H%M%S}'
    except (OSError, OverflowError, ValueError):  # no file, or one of the year 100,000
        time = ''
    model, dataset = path.stem, result.benchmark
    if given.is_dir() and path.parent != given:  # gpassk score writes several as MODEL/DATA.json
        model, dataset = path.parent.relative_to(given).as_posix(), path.stem
    return ModelResult(result.model or model, dataset, result, path, time)


def _is_file(path: Path) -> bool:
    """Tell whether a path exists and is not a folder; a pipe counts as a file."""
    try:
        return path.exists() and not path.is_dir()
    except OSError:  # a name that is too long
        return False


def _read(path: Path, sources: Sources, meant: bool = True) -> Result | dict[str, Any] | None:
    """Return a JSON file, None if it can't be read; if not ``meant`` as a result, a list is {}."""
    try:
        if not meant and not isinstance(read_json(path), dict):
            return {}
        return read_result(path)
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and _is_file(
            path.with_name(path.stem + TRIALS_ENDING)
        ):
            return None  # it is one of those that are alone
        sources.faults.append(str(error))
        sources.unread[path] = str(error)
        return None
