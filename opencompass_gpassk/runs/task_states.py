"""The states of a run's tasks: finished, failed with a reason, or not done.

OpenCompass ends with exit code 0 and a ``-`` in its table even if its tasks fail, so the states are
read from the files that the tasks wrote.
"""

from __future__ import annotations

import os
import re
import reprlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.display import called, counted, one_line
from opencompass_gpassk.formats.stored_files import appended, open_regular, read_object
from opencompass_gpassk.runs.config import Run, planned_run, read_run_config, run_config
from opencompass_gpassk.runs.predictions import (
    Gaps,
    Row,
    find_gaps,
    prediction_parts,
    replicas,
    rows_in,
    shard_numbers,
)
from opencompass_gpassk.runs.running_job import is_running
from opencompass_gpassk.runs.slurm_queue import in_queue
from opencompass_gpassk.runs.task_progress import read_progress

HEAD, TAIL = 1 << 20, 4 << 20  # bytes read at the beginning and end of a huge log
LONGEST = 400  # characters of a message

TRACEBACK = 'Traceback (most recent call last):'
RANK = re.compile(r'^\[rank\d+\]: ?')
EXCEPTION = re.compile(r'^(?:[\w<>]+\.)*([A-Za-z_]\w*)(?::(?: (.*)|$)|$)')
# The end of a message of several lines: another log line, a blank line, a chained traceback.
END_OF_MESSAGE = re.compile(
    r'^(\s*$|\d\d/\d\d \d\d:\d\d:\d\d - |Traceback |The above exc|During ha)'
)
# Deaths without a traceback, as the interpreter or the shell reports them.
SUDDEN = re.compile(
    r'^(Fatal Python error: .*|Killed|Terminated|Aborted.*|Segmentation fault.*|Bus error.*'
    r'|.*\(core dumped\)|.*: (?:command )?not found|.*: error: .*)$'
)
# What a wrapper of OpenCompass says of an engine that is missing or that it doesn't know: vLLM from
# 0.33 on comes without ray, LMDeploy from 0.18 on without this client.
NO_ENGINE = re.compile(
    r"ModuleNotFoundError: No module named '(ray|vllm|lmdeploy)\b"
    r"|ImportError: cannot import name 'APIClient'|AssertionError: Please install VLLM"
)
SERVE_IT = (
    'OpenCompass does not know this release of the engine, or it is missing: serve the model in '
    'an environment of the engine (vllm serve, lmdeploy serve api_server) and give its URL to '
    'gpassk run --model'
)
REMEDIES = {
    NO_ENGINE: SERVE_IT,
    re.compile('NotImplementedError: Unsupported inferencer type'): (
        'OpenICLInferConcurrentTask knows no inferencer of this package: set '
        "infer['runner']['task'] = dict(type=OpenICLInferTask) in the config"
    ),
}
BY_SCANCEL = 'cancelled with scancel'  # the last line of the log of such a task
# torchrun's own exception doesn't describe the process that failed.
LAUNCHERS = ('ChildFailedError',)


def read_log(path: Path) -> str:
    """Return a log's text; if it is huge, its beginning and end.

    Raises:
        FileNotFoundError: If the log doesn't exist.
        ValueError: If it isn't a regular file, or can't be opened.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(HEAD + TAIL)
        if size > HEAD + TAIL:
            file.seek(size - TAIL)
            data = data[:HEAD] + b'\n' + file.read(TAIL)
    return data.decode('utf-8', 'replace').replace('\r', '\n')


def tasks_named(log: str, model: str) -> list[str]:
    """Return the data sets that a log's tasks contain for a model; shards have their own names.

    OpenCompass writes ``Task [model/dataset,model/dataset_0]`` when a task starts.
    """
    names: dict[str, None] = {}
    for line in log.split('\n'):
        listed = line.partition('Task [')[2].rstrip(' \t')
        for name in listed[:-1].split(',') if listed.endswith(']') else []:
            if name.startswith(f'{model}/'):
                names.setdefault(name[len(model) + 1 :])
    return list(names)


def last_exception(log: str) -> str | None:
    """Return the last exception in a log as ``Type: message``; None if there is none."""
    lines = [RANK.sub('', line) for line in log.rstrip().split('\n')]
    if lines[-1] == BY_SCANCEL:
        return BY_SCANCEL
    found = [
        exception
        for index, line in enumerate(lines)
        if TRACEBACK in line and (exception := _exception_after(lines, index))
    ]
    telling = [text for text in found if not text.startswith(LAUNCHERS)] or found
    if telling:
        remedies = [
            f' ({told})' for pattern, told in REMEDIES.items() if pattern.match(telling[-1])
        ]
        return telling[-1] + ''.join(remedies)
    sudden = [line.strip() for line in lines if SUDDEN.match(line.strip())]
    return sudden[-1][:LONGEST] if sudden else None


def tell_end(log: Path, told: str) -> None:
    """Add to a task's log how it ended, as a line of its own."""
    with appended(log) as file:
        file.write(f'\n{told}\n'.encode())


def _exception_after(lines: list[str], traceback: int) -> str | None:
    """Return the exception at the end of the traceback that starts at a line."""
    for index in range(traceback + 1, len(lines)):
        line = lines[index]
        if TRACEBACK in line:
            return None
        if line[:1] in ('', ' ', '\t') or not (match := EXCEPTION.match(line)):
            continue
        name, message = match.groups()
        parts = [message or '']
        for more in lines[index + 1 : index + 20]:
            if END_OF_MESSAGE.match(more) or len(' '.join(parts)) > LONGEST:
                break
            parts.append(more)
        text = ' '.join(' '.join(parts).split())
        text = f'{name}: {text}' if text else name
        return text if len(text) <= LONGEST else f'{text[: LONGEST - 1]}…'
    return None


MOST_NAMED = 5  # missing parts named in a message
STATES_LONGEST = 1000  # characters of an evaluator's error


class State(str, Enum):
    """How far a model's work on a data set got."""

    FINISHED = 'finished'
    FAILED = 'failed'
    UNFINISHED = 'unfinished'
    NOT_STARTED = 'not started'


@dataclass(frozen=True)
class TaskState:
    """The state of one model's work on one data set.

    Attributes:
        model: The model's abbr.
        dataset: The data set's abbr.
        state: How far it got.
        stage: Where it is or stopped: ``inference`` or ``evaluation``; '' if it is finished.
        reason: The exception that ended it, how far it is, or what is missing.
        log: The log that shows the reason, relative to the run; '' if there is none.
        parts: Missing shard → how far it is, or its saved responses, reason and log if it died.
        at_work: Whether a task, or a job of Slurm, is at work on it.
    """

    model: str
    dataset: str
    state: State
    stage: str = ''
    reason: str = ''
    log: str = ''
    parts: Mapping[str, str] = field(default_factory=dict)
    at_work: bool = False

    @property
    def name(self) -> str:
        """Model and data set as one name."""
        return f'{self.model}/{self.dataset}'

    def __str__(self) -> str:
        stage = f' in {self.stage}' if self.stage else ''
        reason = f': {self.reason}' if self.reason else ''
        log = f' ({self.log})' if self.log else ''
        return f'{self.state.value}{stage}{reason}{log}'

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON."""
        return {
            'model': self.model,
            'data_set': self.dataset,
            'state': self.state.value,
            'stage': self.stage,
            'reason': self.reason,
            'log': self.log,
            'parts': {**self.parts},
        }


def state_lines(
    states: Sequence[TaskState], marks: Mapping[str, str | None] | None = None
) -> list[str]:
    """Return a line for each state, and one for each of its parts.

    Args:
        states: The states.
        marks: Name of a task → what is wrong with its result.
    """
    names = called(state.dataset for state in states)
    titles = [one_line(f'{state.model}/{names[state.dataset]}') for state in states]
    width = max(map(len, titles), default=0)
    lines = []
    for title, state in zip(titles, states, strict=True):
        mark = f', BUT {mark}' if (mark := (marks or {}).get(state.name)) else ''
        lines.append(f'{title:{width}}  {one_line(f"{state}{mark}")}')
        lines += [f'  {one_line(f"{part}: {told}")}' for part, told in state.parts.items()]
    return lines


def task_states(run: Run) -> list[TaskState]:
    """Return the state of each model's work on each data set, in the order of the config."""
    by_model: dict[str, list[str]] = {}
    for model, dataset in run.pairs:
        by_model.setdefault(model, []).append(dataset)
    return [
        folder.state(dataset)
        for model, datasets in by_model.items()
        for folder in [ModelFolder(run, model, datasets)]
        for dataset in datasets
    ]


@dataclass
class ModelFolder:
    """The files of one model in a run.

    Attributes:
        run: The run.
        model: The model's abbr.
        datasets: Abbrs of its data sets.
    """

    run: Run
    model: str
    datasets: Sequence[str]
    _exceptions: dict[Path, str | None] = field(default_factory=dict)

    def state(self, dataset: str) -> TaskState:
        """Return the state of a data set."""
        try:
            return self._found(dataset)
        except OSError as error:  # for example because a folder's name is too long
            reason = f'its files are not readable: {error.strerror}'
            return self._make(dataset, State.FAILED, reason=reason)

    def _found(self, dataset: str) -> TaskState:
        error = self._result_error(dataset)
        missing, present = self._parts(dataset)
        infer_log = self._infer_log(missing) if missing else None
        place = self.run.folder / 'logs' / 'eval' / self.model / f'{dataset}.out'
        eval_log = place if place.exists() else None
        gaps = self._gaps(dataset, [] if missing else present)
        if gaps.coverage < self.run.min_coverage.get(dataset, 1.0):
            reason = f'{gaps}; {gaps.remedy}'
            return self._make(dataset, State.UNFINISHED, 'inference', reason, infer_log)
        if error is None and not (missing and present):
            return self._make(dataset, State.FINISHED, reason=str(gaps))
        if error:
            return self._make(dataset, State.FAILED, 'evaluation', error)
        stage, log = ('inference', infer_log) if missing else ('evaluation', eval_log)
        found = {part: self._told(stage, part, log) for part in missing or [dataset]}
        told = {part: text for part, (text, _) in found.items() if text}
        at_work = any(working for _, working in found.values())
        whole = told.pop(dataset, '')
        if (exception := self._exception(infer_log)) and not at_work:
            return self._make(dataset, State.FAILED, 'inference', exception, infer_log, told)
        # An evaluation log older than the inference is from an earlier start of the run.
        began = infer_log.stat().st_mtime_ns if infer_log else 0
        exception = self._exception(eval_log) if eval_log and not at_work else None
        if exception and eval_log and eval_log.stat().st_mtime_ns >= began:
            return self._make(dataset, State.FAILED, 'evaluation', exception, eval_log)
        begun = self._predictions[1].keys() & {dataset, *missing}
        if missing and not (infer_log or present or begun or whole or told):
            return self._make(dataset, State.NOT_STARTED)
        at_work_or_not = 'running' if self._since else 'interrupted or still running'
        reason = at_work_or_not if log or missing else 'not started'
        if missing:
            more = f' and {len(missing) - MOST_NAMED} more' if len(missing) > MOST_NAMED else ''
            reason = f'{", ".join(missing[:MOST_NAMED])}{more} missing; {reason}'
        state = self._make(dataset, State.UNFINISHED, stage, whole or reason, log, told)
        return replace(state, at_work=at_work)

    def _make(
        self,
        dataset: str,
        state: State,
        stage: str = '',
        reason: str = '',
        log: Path | None = None,
        parts: Mapping[str, str] | None = None,
    ) -> TaskState:
        name = log.relative_to(self.run.folder).as_posix() if log else ''
        return TaskState(self.model, dataset, state, stage, reason, name, parts or {})

    def _told(self, stage: str, part: str, log: Path | None) -> tuple[str, bool]:
        """Return how far a data set or shard is, or how it died, and whether it is at work."""
        place = self.run.folder / 'logs' / 'progress' / self.model / f'{part}.json'
        told, at_work = read_progress(place, stage)
        log = self._infer_logs.get(part) if stage == 'inference' else log
        died = self._exception(log) or ''
        # A traceback may have been caught; a task that was killed could not write that it ended.
        killed = died == BY_SCANCEL or SUDDEN.match(died)
        if at_work and not killed:
            return told, True
        if queued := in_queue().get(f'{self.model}/{part}'):  # also of one that was cancelled
            return queued, True
        if log and died:
            saved = counted(self._saved(part), 'response')
            return f'{saved} saved; {died} ({log.relative_to(self.run.folder).as_posix()})', False
        return told, False

    def _exception(self, log: Path | None) -> str | None:
        """Return the last exception in a log of this start, or why the log can't be read."""
        if log is None or log.stat().st_mtime < self._since:
            return None
        if log not in self._exceptions:
            try:
                self._exceptions[log] = last_exception(read_log(log))
            except ValueError as error:
                self._exceptions[log] = str(error)
        return self._exceptions[log]

    @cached_property
    def _since(self) -> float:
        """When the running job was begun; 0 if none is known to run."""
        running = is_running(self.run.folder.absolute().parent)
        return run_config(self.run.folder).stat().st_mtime if running else 0.0

    def _saved(self, part: str) -> int:
        """Return how many responses an unfinished part has in its file, a line each."""
        file = self.run.folder / 'predictions' / self.model / f'tmp_{part}.jsonl'
        with suppress(ValueError, OSError), open_regular(file) as lines:
            return sum(block.count(b'\n') for block in iter(lambda: lines.read(HEAD), b''))
        return 0

    def _result_error(self, dataset: str) -> str | None:
        """Return None if there is a result, '' if there is no file, else the result's error."""
        try:
            result = read_object(self.run.folder / 'results' / self.model / f'{dataset}.json')
        except FileNotFoundError:
            return ''
        except ValueError as error:
            return str(error)
        if 'error' not in result:
            return None
        told = result['error']
        told = told if isinstance(told, str) else reprlib.repr(told)
        return told[:STATES_LONGEST] or 'the evaluator reports an error'

    def _parts(self, dataset: str) -> tuple[list[str], list[str]]:
        """Return the names of the missing and of the present parts of a data set's predictions.

        A part is the whole data set or a shard. The expected shards are known from the numbers of
        the others, from files of progress, from Slurm's queue and from the tasks named in logs.
        """
        done = self._predictions[0]
        if dataset in done:
            return [], [dataset]
        numbers = shard_numbers(dataset, self._numbered[dataset], self.datasets)
        shards = [f'{dataset}_{i}' for i in range(max(numbers, default=-1) + 1)]
        present = [shard for shard in shards if shard in done]
        missing = [shard for shard in shards if shard not in done]
        return missing or ([] if present else [dataset]), present

    def _gaps(self, dataset: str, shards: Sequence[str]) -> Gaps:
        """Return what the shards of a data set lack of the n samples of each problem, or repeat.

        Another number of workers than before makes other shards under the same names. Shards by
        OpenCompass's own inferencer don't tell their problems.
        """
        n = self.run.samples.get(dataset)
        held: dict[str, list[Row]] = {}
        if n and shards != [dataset]:
            paths = [self.run.folder / 'predictions' / self.model / f'{one}.json' for one in shards]
            with suppress(ValueError):  # the evaluation tells of it
                held = {path.stem: rows_in(path, path.stat().st_mtime_ns) for path in paths}
        return find_gaps(held, replicas(held, n or 0))

    @cached_property
    def _predictions(self) -> tuple[set[str], dict[str, str]]:
        return prediction_parts(self.run.folder / 'predictions' / self.model)

    @cached_property
    def _numbered(self) -> dict[str, set[str]]:
        """Name without its number → names of predictions and tasks that may be its shards."""
        found: dict[str, set[str]] = defaultdict(set)
        done, begun = self._predictions
        told = (self.run.folder / 'logs' / 'progress' / self.model).glob('*.json')
        queued = (name.removeprefix(f'{self.model}/') for name in in_queue())
        for name in (*done, *begun, *self._infer_logs, *(one.stem for one in told), *queued):
            found[name.rpartition('_')[0]].add(name)
        return found

    @cached_property
    def _infer_logs(self) -> dict[str, Path]:
        """Data set or shard → the newest log of a task that contained it.

        The name '' has the newest one of a task that died before it named its parts, for example
        in an import.
        """
        found: dict[str, Path] = {}
        logs = (self.run.folder / 'logs' / 'infer' / self.model).glob('*.out')
        there = [log for log in logs if log.exists()]  # a link may be broken
        for log in sorted(there, key=lambda log: log.stat().st_mtime_ns, reverse=True):
            try:
                names = tasks_named(read_log(log), self.model)
            except ValueError:  # it is named after its first part
                names = [log.stem]
            unnamed = [''] if not names and self._exception(log) else []
            for name in (*names, *unnamed, log.stem):
                found.setdefault(name, log)
        return found

    def _infer_log(self, parts: Sequence[str]) -> Path | None:
        """Return the newest log of a task that contained one of the parts."""
        logs = [self._infer_logs[part] for part in parts if part in self._infer_logs]
        newest = max(logs, key=lambda log: log.stat().st_mtime_ns, default=None)
        return newest or self._infer_logs.get('')


def states_of_results(run: Path, report: Callable[[str], None]) -> dict[Path, TaskState]:
    """Return the state of each task in a run's config, by the path of its result.

    Args:
        run: The timestamp folder.
        report: Takes a message if they are not known.
    """
    try:
        states = task_states(planned_run(run, read_run_config(run)))
    except Exception as error:  # configs and logs may contain anything
        report(f'{run}: its tasks are not known: {error}')
        return {}
    return {run / 'results' / one.model / f'{one.dataset}.json': one for one in states}


def unfinished(runs: Iterable[Path | None], report: Callable[[str], None]) -> dict[Path, str]:
    """Return the states of tasks that are not finished, in words, by the path of the result.

    Args:
        runs: Timestamp folders; None stands for results that no task made.
        report: Takes a message for each run whose tasks are not known.
    """
    states: dict[Path, TaskState] = {}
    for run in filter(None, dict.fromkeys(runs)):
        states |= states_of_results(run, report)
    return {path: str(one) for path, one in states.items() if one.state is not State.FINISHED}
