"""The trials of a run as an audit sees them: with their model, their problem and its texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from opencompass_gpassk.judging.judge import Triple
from opencompass_gpassk.runs import find_run
from opencompass_gpassk.text import short_line
from opencompass_gpassk.trials import Problem, Trial, read_trials

__all__ = ['AuditTrial', 'RunTrials', 'clusters', 'read_run', 'trials_files']

ENDING = '.trials.jsonl.gz'
UNNAMED = 'samples'  # the model whose trials lie in no folder of its own
STRATA = ('split', 'language', 'level')  # of the problems' groups


@dataclass(frozen=True, slots=True)
class AuditTrial:
    """A trial with all that a source of verdicts asks of it.

    Attributes:
        model: Who answered.
        data_set: The data set's name.
        problem: What was asked.
        trial: What was answered, and what was said of it when it was scored.
    """

    model: str
    data_set: str
    problem: Problem
    trial: Trial

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """Model, data set, problem and replica."""
        return self.model, self.data_set, self.trial.problem_id, self.trial.replica

    @property
    def triple(self) -> Triple:
        """What a verdict is about."""
        return Triple(self.problem.question, self.problem.gold, self.trial.answer or '')

    @property
    def stratum(self) -> tuple[str, ...]:
        """Recorded verdict, data set, and the problem's split, language and level."""
        groups = self.problem.groups
        return self.trial.verdict.value, self.data_set, *(groups.get(name, '') for name in STRATA)


@dataclass(frozen=True)
class RunTrials:
    """The trials of a run.

    Attributes:
        folder: Where the run lies.
        by_model: Model → its trials on all its data sets.
    """

    folder: Path
    by_model: dict[str, list[AuditTrial]]


def clusters(trials: Sequence[AuditTrial]) -> list[int]:
    """Return a number for each trial, shared by the trials of a problem and of its translations.

    A run may have one problem in several data sets, as where it samples with two decoding settings:
    problems of one question are one, and so are those that a data set calls versions of another.
    """
    above: dict[tuple[str, ...], tuple[str, ...]] = {}  # a forest of names, rooted in itself

    def root(name: tuple[str, ...]) -> tuple[str, ...]:
        above.setdefault(name, name)
        while above[name] != name:
            above[name] = name = above[above[name]]
        return name

    names = []
    for one in trials:
        problem = one.problem
        name = one.data_set, problem.cluster or problem.problem_id
        if question := ' '.join(problem.question.split()):
            above[root((question,))] = root(name)
        names.append(name)
    numbers: dict[tuple[str, ...], int] = {}
    return [numbers.setdefault(root(name), len(numbers)) for name in names]


def read_run(
    path: Path,
    models: Collection[str] = (),
    data_sets: Collection[str] = (),
    *,
    report: Callable[[str], None] = print,
) -> RunTrials:
    """Read the trials of every model in a run.

    Args:
        path: A timestamp folder of OpenCompass, its work dir (the newest run is taken), another
            folder with a folder for each model, or one trials file.
        models: Those to read; by default all.
        data_sets: The same.
        report: Is told of each file that can't be read, if another can.

    Raises:
        ValueError: If there are none, or none can be read, naming them.
    """
    found: dict[str, list[AuditTrial]] = {}
    faults: list[str] = []
    folder, there = trials_files(path)
    for (model, data_set), file in there.items():
        if (models and model not in models) or (data_sets and data_set not in data_sets):
            continue
        try:
            table, _ = read_trials(file)
        except ValueError as error:
            faults.append(short_line(str(error)))
            continue
        problems = {problem.problem_id: problem for problem in table.problems}
        found.setdefault(model, []).extend(
            AuditTrial(model, data_set, problems[trial.problem_id], trial) for trial in table.trials
        )
    if faults and not found:
        raise ValueError('\n'.join(faults))
    for fault in faults:
        report(fault)
    if not found:
        names = ', '.join(f'{model} on {data_set}' for model, data_set in sorted(there))
        raise ValueError(f'{path}: no trials of the models and data sets asked for; it has {names}')
    return RunTrials(folder, found)


def trials_files(path: Path) -> tuple[Path, dict[tuple[str, str], Path]]:
    """Return a run's folder, and (model, data set) → file of the trials in it."""
    if path.is_file():
        run, known, model = path.resolve().parent.as_posix().rpartition('/results/')
        if known:
            return Path(run), {(model, _data_set(path)): path}
        return path.parent, {(UNNAMED, _data_set(path)): path}
    if not path.is_dir():
        raise ValueError(f'{path}: there is no such folder or file')
    try:
        folders = [find_run(path)]  # which the other commands take too
    except ValueError:  # runs that were moved without their configs, or no run at all
        folders = [path, *sorted(path.glob('*/'), reverse=True)]
    roots = [*((folder, folder / 'results') for folder in folders), (folders[0], folders[0])]
    for folder, root in roots:
        files = sorted(root.rglob(f'*{ENDING}'))
        if files:
            return folder, {(_model(file, root), _data_set(file)): file for file in files}
    raise ValueError(
        f'{folders[0]}: there are no trials in it; name a run of OpenCompass that GPassKEvaluator '
        f'has scored, or a file *{ENDING} such as gpassk score -o writes'
    )


def _model(file: Path, root: Path) -> str:
    folder = file.parent.relative_to(root).as_posix()  # a model's name may hold slashes
    return UNNAMED if folder == '.' else folder


def _data_set(file: Path) -> str:
    return file.name.removesuffix(ENDING)
