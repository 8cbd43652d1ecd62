"""What became of the tasks of a run: finished, failed and of what, or not done.

OpenCompass ends with exit code 0 and a ``-`` in its table whatever happens to its tasks; what
became of them is read from the files that they left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path

from opencompass_gpassk.logs import last_exception, read_log, tasks_named
from opencompass_gpassk.runs import Run

__all__ = ['ModelFolder', 'State', 'TaskState', 'task_states']


class State(str, Enum):
    """How far a model's work on a data set got."""

    FINISHED = 'finished'
    FAILED = 'failed'
    UNFINISHED = 'unfinished'
    NOT_STARTED = 'not started'


@dataclass(frozen=True)
class TaskState:
    """What became of one model on one data set.

    Attributes:
        model: The model's abbr.
        dataset: The data set's abbr.
        state: How far it got.
        stage: Where it stopped: ``inference`` or ``evaluation``; '' where it is finished.
        reason: The exception it died of, or what is missing.
        log: The log that tells so, relative to the run; '' if there is none.
    """

    model: str
    dataset: str
    state: State
    stage: str = ''
    reason: str = ''
    log: str = ''

    @property
    def name(self) -> str:
        """The model and the data set in one word."""
        return f'{self.model}/{self.dataset}'

    def __str__(self) -> str:
        stage = f' in {self.stage}' if self.stage else ''
        reason = f': {self.reason}' if self.reason else ''
        log = f' ({self.log})' if self.log else ''
        return f'{self.state.value}{stage}{reason}{log}'

    def as_dict(self) -> dict[str, str]:
        """Return the fields for JSON."""
        return {
            'model': self.model,
            'data_set': self.dataset,
            'state': self.state.value,
            'stage': self.stage,
            'reason': self.reason,
            'log': self.log,
        }


def task_states(run: Run) -> list[TaskState]:
    """Tell what became of each model's work on each data set, in the order of the config."""
    by_model: dict[str, list[str]] = {}
    for model, dataset in run.pairs:
        by_model.setdefault(model, []).append(dataset)
    return [
        state
        for model, datasets in by_model.items()
        for state in ModelFolder(run, model, datasets).states()
    ]


class ModelFolder:
    """What one model left in a run.

    Args:
        run: The run.
        model: The model's abbr.
        datasets: Abbrs of its data sets in the order of the config, which is that of the tasks.
    """

    def __init__(self, run: Run, model: str, datasets: Sequence[str]) -> None:
        self.run = run.folder
        self.shared_evaluation = run.shared_evaluation
        self.model = model
        self.datasets = list(datasets)

    def states(self) -> list[TaskState]:
        """Return the state of each data set."""
        return [self._state(dataset) for dataset in self.datasets]

    def _state(self, dataset: str) -> TaskState:
        error = self._result_error(dataset)
        missing, present = self._parts(dataset)
        infer_log = self._infer_log(missing) if missing else None
        eval_log = self._eval_log(dataset)
        if error is None and not (missing and present):
            return TaskState(self.model, dataset, State.FINISHED)
        if error:
            return self._make(dataset, State.FAILED, 'evaluation', error)
        if exception := self._exception(infer_log):
            return self._make(dataset, State.FAILED, 'inference', exception, infer_log)
        # An evaluation that is older than the inference failed in an earlier start of the run.
        if (exception := self._exception(eval_log)) and not _newer(infer_log, eval_log):
            return self._make(dataset, State.FAILED, 'evaluation', exception, eval_log)
        if missing and not (infer_log or present or self._progress(dataset)):
            return self._make(dataset, State.NOT_STARTED)
        if missing:
            reason = f'{", ".join(missing)} missing; interrupted or still running'
            return self._make(dataset, State.UNFINISHED, 'inference', reason, infer_log)
        reason = 'interrupted or still running' if eval_log else 'not started'
        return self._make(dataset, State.UNFINISHED, 'evaluation', reason, eval_log)

    def _make(
        self, dataset: str, state: State, stage: str = '', reason: str = '', log: Path | None = None
    ) -> TaskState:
        name = log.relative_to(self.run).as_posix() if log else ''
        return TaskState(self.model, dataset, state, stage, reason, name)

    def _exception(self, log: Path | None) -> str | None:
        return last_exception(self._text(log)) if log else None

    def _result_error(self, dataset: str) -> str | None:
        """Return None if there is a result, '' if there is no file, else what is wrong with it."""
        path = self.run / 'results' / self.model / f'{dataset}.json'
        try:
            result = json.loads(path.read_bytes())
        except FileNotFoundError:
            return ''
        except (OSError, ValueError) as error:
            return f'{path.name} is damaged, delete it and resume the run: {error}'
        if isinstance(result, Mapping) and 'error' in result:
            return str(result['error']) or 'the evaluator reports an error'
        return None

    def _parts(self, dataset: str) -> tuple[list[str], list[str]]:
        """Return the names of the missing and of the present parts of a data set's predictions.

        A part is the whole data set or a shard of it. Which shards there should be is known from
        the others' numbers, from progress files and from the tasks that the logs name.
        """
        folder = self.run / 'predictions' / self.model
        if (folder / f'{dataset}.json').exists():
            return [], [dataset]
        present = {
            int(path.stem.rpartition('_')[2])
            for path in folder.glob('*.json')
            if self._is_shard(path.stem, dataset)
        }
        named = {name for names in self._infer_logs.values() for name in names}
        named |= {log.stem for log in self._infer_logs}
        expected = present | {
            int(name.rpartition('_')[2])
            for name in named | self._progress(dataset)
            if self._is_shard(name, dataset)
        }
        shards = range(max(expected, default=-1) + 1)
        missing = [f'{dataset}_{i}' for i in shards if i not in present]
        return missing or ([] if present else [dataset]), [
            f'{dataset}_{i}' for i in sorted(present)
        ]

    def _progress(self, dataset: str) -> set[str]:
        """Return the parts of which an interrupted inference left its progress."""
        folder = self.run / 'predictions' / self.model
        names = {path.name.split('.json')[0].removeprefix('tmp_') for path in folder.glob('tmp_*')}
        return {name for name in names if name == dataset or self._is_shard(name, dataset)}

    def _is_shard(self, name: str, dataset: str) -> bool:
        if name in self.datasets:
            return False
        return re.fullmatch(re.escape(dataset) + r'_\d+', name) is not None

    @cached_property
    def _infer_logs(self) -> dict[Path, list[str]]:
        """Infer log → the data sets and shards its task contained, the newest log first."""
        logs = (self.run / 'logs' / 'infer' / self.model).glob('*.out')
        newest = sorted(logs, key=lambda log: log.stat().st_mtime_ns, reverse=True)
        return {log: tasks_named(self._text(log), self.model) for log in newest}

    def _infer_log(self, parts: Sequence[str]) -> Path | None:
        """Return the newest log of a task that contained one of the parts."""
        for log, names in self._infer_logs.items():
            if any(part in names or part == log.stem for part in parts):
                return log
        # A task that died before it said what it contains, such as one that can't be imported.
        silent = [log for log, names in self._infer_logs.items() if not names]
        return next((log for log in silent if self._exception(log)), None)

    def _eval_log(self, dataset: str) -> Path | None:
        """Return the log of the task that evaluated a data set.

        A task of several takes them in the order of the config and is named after its first.
        """
        folder = self.run / 'logs' / 'eval' / self.model
        earlier = self.datasets[: self.datasets.index(dataset)] if self.shared_evaluation else []
        for name in (dataset, *reversed(earlier)):
            log = folder / f'{name}.out'
            if log.exists():
                return log
        return None

    def _text(self, log: Path) -> str:
        if log not in self._texts:
            self._texts[log] = read_log(log)
        return self._texts[log]

    @cached_property
    def _texts(self) -> dict[Path, str]:
        return {}


def _newer(log: Path | None, other: Path | None) -> bool:
    return bool(log and other and log.stat().st_mtime_ns > other.stat().st_mtime_ns)
