"""The trials of a run as an audit sees them: with their model, their problem and its texts."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from opencompass_gpassk.judging.judge import Triple
from opencompass_gpassk.trials import Problem, Trial
from opencompass_gpassk.trials_file import read_trials

__all__ = ['AuditTrial', 'RunTrials', 'read_run']

ENDING = '.trials.jsonl.gz'
UNNAMED = 'samples'  # the model whose trials lie in no folder of its own
STRATA = ('split', 'language', 'level')  # of the problems' groups


@dataclass(frozen=True)
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
    def identity(self) -> tuple[str, str, str, str, int]:
        """Model, data set, problem, version and replica."""
        trial = self.trial
        return self.model, self.data_set, trial.problem_id, trial.version, trial.replica

    @property
    def triple(self) -> Triple:
        """What a verdict is about."""
        return Triple(self.problem.question, self.problem.gold, self.trial.answer or '')

    @property
    def stratum(self) -> tuple[str, ...]:
        """Recorded verdict, data set, and the problem's split, language and level."""
        groups = self.problem.groups
        return self.trial.verdict.value, self.data_set, *(groups.get(name, '') for name in STRATA)

    @property
    def cluster(self) -> tuple[str, str]:
        """Shared by the trials of a problem and of its translations."""
        return self.data_set, self.problem.cluster or self.problem.problem_id


@dataclass(frozen=True)
class RunTrials:
    """The trials of a run.

    Attributes:
        folder: Where the run lies.
        by_model: Model → its trials on all its data sets.
    """

    folder: Path
    by_model: dict[str, list[AuditTrial]]


def read_run(
    path: Path, models: Collection[str] = (), data_sets: Collection[str] = ()
) -> RunTrials:
    """Read the trials of every model in a run.

    Args:
        path: A timestamp folder of OpenCompass, its work dir (the newest run with trials is
            taken), another folder with a folder for each model, or one trials file.
        models: Those to read; by default all.
        data_sets: The same.

    Raises:
        ValueError: If there are none, or a file can't be read, naming it.
    """
    found: dict[str, list[AuditTrial]] = {}
    folder, there = _trials_files(path)
    for (model, data_set), file in there.items():
        if (models and model not in models) or (data_sets and data_set not in data_sets):
            continue
        try:
            table, _ = read_trials(file)
        except (EOFError, zlib.error) as error:
            raise ValueError(f'{file}: damaged gzip file: {error}; score the run again') from error
        problems = {problem.problem_id: problem for problem in table.problems}
        found.setdefault(model, []).extend(
            AuditTrial(model, data_set, problems[trial.problem_id], trial) for trial in table.trials
        )
    if not found:
        names = ', '.join(f'{model} on {data_set}' for model, data_set in sorted(there))
        raise ValueError(f'{path}: no trials of the models and data sets asked for; it has {names}')
    return RunTrials(folder, found)


def _trials_files(path: Path) -> tuple[Path, dict[tuple[str, str], Path]]:
    """Return a run's folder, and (model, data set) → file of the trials in it."""
    if path.is_file():
        run, known, model = path.resolve().parent.as_posix().rpartition('/results/')
        if known:
            return Path(run), {(model, _data_set(path)): path}
        return path.parent, {(UNNAMED, _data_set(path)): path}
    if not path.is_dir():
        raise ValueError(f'{path}: there is no such folder or file')
    runs = [path, *sorted(path.glob('*/'), reverse=True)]
    for folder, root in [*((run, run / 'results') for run in runs), (path, path)]:
        files = sorted(root.rglob(f'*{ENDING}'))
        if files:
            return folder, {(_model(file, root), _data_set(file)): file for file in files}
    raise ValueError(
        f'{path}: there are no trials in it; name a run of OpenCompass that GPassKEvaluator has '
        f'scored, or a file *{ENDING} such as gpassk score -o writes'
    )


def _model(file: Path, root: Path) -> str:
    folder = file.parent.relative_to(root).as_posix()  # a model's name may hold slashes
    return UNNAMED if folder == '.' else folder


def _data_set(file: Path) -> str:
    return file.name.removesuffix(ENDING)
