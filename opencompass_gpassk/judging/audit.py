"""Stratified samples of the trials of a run, to compare what two sources say of them."""

from __future__ import annotations

import random
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.judging.judge import Triple
from opencompass_gpassk.trials import Problem, Trial
from opencompass_gpassk.trials_file import read_trials

__all__ = ['AuditTrial', 'Sample', 'allocate', 'draw_sample', 'read_run']

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
class Sample:
    """Trials drawn from one model's.

    Attributes:
        model: Whose they are.
        trials: They.
        weights: How many trials each stands for: those of its stratum divided by those drawn.
        population: How many trials they were drawn from.
        strata: In how many strata.
        no_answer: Trials that were left out, since they give no answer.
        lost: Trials that were left out, since there is no response.
    """

    model: str
    trials: list[AuditTrial]
    weights: list[float]
    population: int
    strata: int
    no_answer: int
    lost: int


def read_run(
    path: Path, models: Collection[str] = (), data_sets: Collection[str] = ()
) -> dict[str, list[AuditTrial]]:
    """Return the trials of every model in a run.

    Args:
        path: A timestamp folder of OpenCompass, its work dir (the newest run with trials is
            taken), another folder with a folder for each model, or one trials file.
        models: Those to read; by default all.
        data_sets: The same.

    Raises:
        ValueError: If there are none, or a file can't be read, naming it.
    """
    found: dict[str, list[AuditTrial]] = {}
    there = _trials_files(path)
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
    return found


def draw_sample(model: str, trials: Iterable[AuditTrial], size: int, seed: int = 0) -> Sample:
    """Draw a stratified sample of one model's trials.

    Strata are recorded verdict × data set × split × language × level. Each is given trials in
    proportion to its own (:func:`allocate`), and none is left out: where there are more strata
    than ``size``, they are merged over level, then language, and so on. Since small strata get
    more than their share, each trial has a weight, with which sums over the sample estimate those
    over the run without bias (Horvitz and Thompson, JASA 47 (1952), 663-685).

    The strata don't depend on the sources that are compared: all comparisons under one seed are
    of the same trials. Names and seed alone decide which, in every process; a larger sample holds
    nearly all of a smaller one. Trials that give no answer are left out: no source is asked.

    Args:
        model: The model's name.
        trials: Its trials.
        size: How many to draw; all if there are fewer.
        seed: Another seed draws others.
    """
    every = list(trials)
    present = [one for one in every if not one.trial.lost and one.trial.answer is not None]
    lost = sum(one.trial.lost for one in every)
    strata = _strata(present, size)
    counts = allocate([len(members) for members in strata.values()], size)
    drawn: list[AuditTrial] = []
    weights: list[float] = []
    for (key, members), count in zip(strata.items(), counts, strict=True):
        rng = random.Random(stable_hash([model, seed, key]))
        order = sorted(members, key=lambda one: one.identity)
        ranks = sorted((rng.random(), i) for i in range(len(order)))
        drawn += [order[i] for _, i in ranks[:count]]
        weights += [len(members) / count] * count
    return Sample(
        model, drawn, weights, len(present), len(strata), len(every) - len(present) - lost, lost
    )


def allocate(sizes: Sequence[int], total: int) -> list[int]:
    """Share ``total`` draws among strata of given sizes, each at least 1.

    At least one each, the rest in proportion by largest remainders; ties go to the larger stratum,
    then to the earlier one.

    Raises:
        ValueError: If a size isn't above 0, or there are more strata than draws.

    >>> allocate([70, 25, 4, 1], 10)
    [6, 2, 1, 1]
    """
    if any(size < 1 for size in sizes) or total < len(sizes):
        raise ValueError(
            f'total is {total} and sizes are {list(sizes)}; each stratum needs a trial and a draw'
        )
    if total >= sum(sizes):
        return list(sizes)
    counts = [0] * len(sizes)
    rest = list(range(len(sizes)))
    while True:
        left, whole = total - sum(counts), sum(sizes[i] for i in rest)
        small = [i for i in rest if left * sizes[i] < whole]  # entitled to less than one
        if not small:
            break
        for i in small:
            counts[i] = 1
        rest = [i for i in rest if not counts[i]]
    for i in rest:
        counts[i] = left * sizes[i] // whole
    ranked = sorted(rest, key=lambda i: (-(left * sizes[i] % whole), -sizes[i], i))
    for i in ranked[: total - sum(counts)]:
        counts[i] += 1
    return counts


def _strata(trials: Sequence[AuditTrial], size: int) -> dict[tuple[str, ...], list[AuditTrial]]:
    """Return the strata in their order, the finest of which there are not more than ``size``."""
    if size < 1:
        raise ValueError(f'trials is {size}; draw at least 1')
    depth = 2 + len(STRATA)
    while len({one.stratum[:depth] for one in trials}) > size:
        depth -= 1
    strata: dict[tuple[str, ...], list[AuditTrial]] = {}
    for one in trials:
        strata.setdefault(one.stratum[:depth], []).append(one)
    return dict(sorted(strata.items()))


def _trials_files(path: Path) -> dict[tuple[str, str], Path]:
    """Return (model, data set) → file of the trials in a run."""
    if path.is_file():
        _, known, model = path.resolve().parent.as_posix().rpartition('/results/')
        return {(model if known else UNNAMED, _data_set(path)): path}
    if not path.is_dir():
        raise ValueError(f'{path}: there is no such folder or file')
    runs = [path, *sorted(path.glob('*/'), reverse=True)]
    for root in [*(run / 'results' for run in runs), path]:
        files = sorted(root.rglob(f'*{ENDING}'))
        if files:
            return {(_model(file, root), _data_set(file)): file for file in files}
    raise ValueError(
        f'{path}: there are no trials in it; name a run of OpenCompass that GPassKEvaluator has '
        f'scored, or a file *{ENDING} such as gpassk score -o writes'
    )


def _model(file: Path, root: Path) -> str:
    folder = file.parent.relative_to(root).as_posix()  # a model's name may hold slashes
    return UNNAMED if folder == '.' else folder


def _data_set(file: Path) -> str:
    return file.name.removesuffix(ENDING)
