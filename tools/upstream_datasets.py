"""Find which of OpenCompass's data set configs gain G-Pass@k, and write docs/upstream_datasets.md.

Usage: ``python -m tools.upstream_datasets [NAME ...]``: with names, such as ``gsm8k/gsm8k_gen``, it
prints what it finds about these and writes nothing.

Each config is loaded and upgraded, and a few rows of each of its kinds of data sets are judged by
the data set's own evaluator in a real evaluation task. The data can't be downloaded for this, so
rows are made: gold answers and responses in usual formats are tried until the evaluator calls right
responses correct and wrong ones incorrect. Configs are read in two processes, which are killed and
replaced if one takes too long.
"""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.connection
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

os.environ |= {
    **dict.fromkeys(('OC_JUDGE_MODEL', 'OC_JUDGE_API_KEY'), 'stub'),
    'OC_JUDGE_API_BASE': 'http://127.0.0.1:9/v1',
    **dict.fromkeys(('HF_HUB_OFFLINE', 'HF_DATASETS_OFFLINE', 'HF_EVALUATE_OFFLINE'), '1'),
}

import evaluate
from datasets import Dataset
from mmengine.config import ConfigDict
from opencompass.datasets.base import BaseDataset
from opencompass.models.base_api import BaseAPIModel
from opencompass.tasks import OpenICLEvalTask

from opencompass_gpassk.datasets.upgrade import APPLIED, CONFIGS, named_datasets, upgraded
from opencompass_gpassk.trials import Verdict, read_trials

PAGE = Path(__file__).parents[1] / 'docs/upstream_datasets.md'
HERE = 'tools.upstream_datasets'  # not __name__: this module is run, and then imported
WORKERS = 2
SECONDS = 12  # to search for the format of one kind of data set
PATIENCE = 90  # seconds for a whole config, which may hang


@dataclass(frozen=True)
class Rows:
    """Two problems: gold answers, texts of right answers, one that is half right, columns."""

    golds: tuple[Any, Any]
    answers: tuple[str, str]
    half: str
    columns: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


def _rows(a: str, b: str, half: str = 'perhaps', form: Any = lambda text: text) -> Rows:
    return Rows((form(a), form(b)), (a, b), half)


NUMBERS = ('7391', '2846', '7391 or 2846')
TEXTS = ('red apple pie', 'blue water bottle', 'red apple')
# The usual formats of gold answers.
FORMATS = {
    'number': _rows(*NUMBERS),
    'letter': _rows('A', 'B', 'A or B'),
    'text': _rows(*TEXTS),
    'list of texts': _rows(*TEXTS, lambda text: [text]),
    'list of letters': _rows('A', 'B', 'A or B', lambda text: [text]),
    'list of numbers': _rows(*NUMBERS, lambda text: [text]),
    'index of an option': Rows((0, 1), ('A', 'B'), 'A or B'),
    'integer': _rows(*NUMBERS, int),
    'boxed number': _rows(*NUMBERS, lambda text: f'So \\boxed{{{text}}}.'),
    'number after ####': _rows(*NUMBERS, lambda text: f'So.\n#### {text}'),
    'yes or no': _rows('yes', 'no'),
    'Yes or No': _rows('Yes', 'No'),
    'True or False': _rows('True', 'False'),
    'truth value': _rows('True', 'False', 'perhaps', lambda text: text == 'True'),
    'letter in brackets': _rows('(A)', '(B)', 'A or B'),
    'several letters': _rows('AC', 'BD', 'A'),
    'JSON': _rows('{"x": "7391"}', '{"x": "2846"}', '{}'),
    'list of lists': _rows(*TEXTS, lambda text: [[text]]),
    'object': _rows(*TEXTS, lambda text: {'answer': text}),
    'candidates': _rows(*TEXTS, lambda text: {'candidates': [text]}),
}
# The usual forms of responses; those that most evaluators read stand first.
USUAL = ('{a}', 'So the answer is {a}.', 'The answer is {a}.\n\nANSWER: {a}\n\\boxed{{{a}}}')
OTHERS = (
    *('ANSWER: {a}', 'The answer is ({a}).', 'So the answer is \\boxed{{{a}}}', '答案是{a}'),
    *('【答案】{a}<eoa>', '[[{a}]]', '<answer>{a}</answer>', '{{"answer": "{a}"}}', '```\n{a}\n```'),
    *('Final Answer: {a}', '[正确答案]{a}', '<ANSWER>{a}</ANSWER>', 'The correct answer is {a}'),
)
# What a judge says of right and of wrong responses.
REPLIES = (
    *(('A', 'B'), ('CORRECT', 'INCORRECT'), ('\\boxed{yes}', '\\boxed{no}'), ('yes', 'no')),
    *(('{"correct": true}', '{"correct": false}'), ('correct: yes', 'correct: no')),
    *(('[[A]]', '[[B]]'), ('Score: 1', 'Score: 0'), ('True', 'False'), ('1', '0')),
)


class MadeRows(BaseDataset):
    """Rows in place of a data set's own, which would have to be downloaded."""

    @staticmethod
    def load(columns: Mapping[str, Sequence[Any]]) -> Dataset:
        """Return the rows."""
        return Dataset.from_dict({name: list(column) for name, column in columns.items()})


class StubJudge(BaseAPIModel):
    """A judge for two problems: a prompt about a right response names one answer, not both."""

    def __init__(self, path: str, answers: Sequence[str], replies: Sequence[str]) -> None:
        super().__init__(path)
        self.answers, self.replies = answers, replies

    def generate(self, inputs: Sequence[Any], max_out_len: int = 0, **_: Any) -> list[str]:
        """Reply to each prompt."""
        named = (sum(answer in str(prompt) for answer in self.answers) for prompt in inputs)
        return [self.replies[0 if count == 1 else 1] for count in named]

    def get_token_len(self, prompt: str) -> int:
        """Count characters."""
        return len(prompt)


@dataclass(frozen=True)
class Attempt:
    """Made rows, forms of the responses and a judge's replies that are tried together."""

    rows: Rows
    forms: Sequence[str] = USUAL
    replies: tuple[str, str] = REPLIES[0]
    columns: tuple[str, ...] = ()  # which the evaluator turned out to read


@dataclass(frozen=True)
class Finding:
    """What was found about a kind of data set, or about a config: its outcome and why."""

    outcome: str
    why: str = ''
    attempt: Attempt | None = None


GAINS, IN_PART, CONTINUOUS = 'gains', 'gains in part', 'a score, no verdict'
SUBJECTIVE, NETWORK, DEPENDENCY = 'subjective', 'needs the network', 'needs a package'
UNREAD, SLOW, BROKEN, NOT_ASKED = 'not read', 'too slow', 'does not load', 'no responses'


def judge(dataset: Mapping[str, Any], attempt: Attempt) -> str:
    """Judge made rows by a data set's own evaluator; return the form that it reads, or ''.

    Of each problem there are a right, a wrong and a half right response. A form is read if the
    right responses are correct and the wrong ones incorrect.
    """
    rows, forms = attempt.rows, attempt.forms
    size = 2 * len(forms)
    columns = {name: [_value(name, i, rows) for i in range(size)] for name in attempt.columns}
    reader = dataset['reader_cfg']
    inputs = reader.get('input_columns') or []
    for name in inputs.split() if isinstance(inputs, str) else inputs:
        columns[name] = [_value(name, i, rows) for i in range(size)]
    if reader.get('output_column'):
        columns[reader['output_column']] = [rows.golds[i % 2] for i in range(size)]
    [made] = upgraded(_with_stub(dataset, attempt), n=3, k=1)
    made['problems'] = {
        'type': f'{HERE}.MadeRows',
        'abbr': made['problems'].get('abbr', 'made'),
        'columns': columns,
        'reader_cfg': {key: one for key, one in reader.items() if key not in APPLIED},
    }
    made['abbr'] = 'made'
    made['eval_cfg']['evaluator']['intervals'] = None
    records = {}
    for replica in range(3):
        for i in range(size):
            answer = (rows.answers[i % 2], rows.answers[1 - i % 2], rows.half)[replica]
            records[str(len(records))] = {
                'origin_prompt': f'Problem {i}',
                'prediction': forms[i // 2].replace('{a}', answer),
                'problem_id': str(i),
                'replica': replica,
            }
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder, 'predictions/model/made.json')
        predictions.parent.mkdir(parents=True)
        predictions.write_text(json.dumps(records))
        task = {'models': [{'abbr': 'model'}], 'datasets': [[made]], 'work_dir': folder}
        OpenICLEvalTask(ConfigDict(task)).run()
        table, _ = read_trials(Path(folder, 'results/model/made.trials.jsonl.gz'))
    said = {(one.problem_id, one.replica): one.verdict for one in table.trials}
    for number, form in enumerate(forms):
        problems = (str(2 * number), str(2 * number + 1))
        right = {said[problem, 0] for problem in problems}
        if right == {Verdict.CORRECT} and {said[p, 1] for p in problems} == {Verdict.INCORRECT}:
            return form
    return ''


def _value(column: str, i: int, rows: Rows) -> Any:
    if column in rows.columns:
        return rows.columns[column][i % 2]
    if column in GOLD_COLUMNS:
        return rows.golds[i % 2]
    return f'{column} {i}'


GOLD_COLUMNS = (
    *('answer', 'answers', 'target', 'gold', 'label', 'reference', 'references', 'solution'),
    'ground_truth',
)


def _with_stub(config: Any, attempt: Attempt) -> Any:
    """Return a config whose judge models are the stub."""
    if isinstance(config, Mapping):
        stub = {
            'type': f'{HERE}.StubJudge',
            'path': 'stub',
            'answers': attempt.rows.answers,
            'replies': attempt.replies,
            **dict.fromkeys(('max_out_len', 'batch_size'), 64),
        }
        return {
            key: {**stub, **{n: one[n] for n in ('pred_postprocessor',) if n in (one or {})}}
            if key == 'judge_cfg'
            else _with_stub(one, attempt)
            for key, one in config.items()
        }
    return [_with_stub(one, attempt) for one in config] if isinstance(config, list) else config


# An evaluator that lacks a column of the test set says so in one of these ways.
MISSING = re.compile(
    r"""KeyError\(['"]+([^'"]+)['"]+\)|KeyError: ['"]([^'"]+)['"]|Column ['"]?(\w+)['"]? """
    r"""(?:not in|doesn't exist)"""
)
REASONS = {
    NETWORK: r'ConnectionError|[Oo]ffline|Max retries|LocalEntryNotFound|URLError|[Cc]onnection '
    r"|couldn't connect|Couldn't reach|Couldn't find|not cached|download",
    DEPENDENCY: r'ModuleNotFoundError|ImportError|No module named|pip install',
    CONTINUOUS: 'does not say whether a single response is right',
}


def examine(dataset: Mapping[str, Any], hint: Attempt | None = None) -> Finding:
    """Find a format of rows in which a data set's evaluator gives right verdicts."""
    evaluator = dataset['eval_cfg']['evaluator']
    named = json.dumps(dataset['eval_cfg'], default=str)
    name = str(evaluator.get('type')).rpartition('.')[2]
    if name == 'LMEvaluator' or '.subjective.' in f'{dataset.get("type")} {evaluator.get("type")}':
        return Finding(SUBJECTIVE, name)
    plan = [Attempt(rows, replies=replies) for rows in list(FORMATS.values())[:1] for replies in REPLIES]
    if 'judge_cfg' not in named:
        plan = plan[:1]
    plan += [Attempt(rows) for rows in list(FORMATS.values())[1:]]
    plan += [Attempt(rows, OTHERS) for rows in FORMATS.values()]
    if hint:
        plan.insert(0, hint)
    columns: tuple[str, ...] = ()
    whys: list[str] = []
    end = time.monotonic() + SECONDS
    for attempt in plan:
        while time.monotonic() < end:
            tried = replace(attempt, columns=tuple(dict.fromkeys(attempt.columns + columns)))
            try:
                form = judge(dataset, tried)
            except BaseException as error:
                why = f'{type(error).__name__}: {error}'
                missing = MISSING.search(why)
                column = next(filter(None, missing.groups()), '') if missing else ''
                if column and column not in columns and len(columns) < 12:
                    columns += (column,)
                    continue
            else:
                if form:
                    return Finding(GAINS, name, replace(tried, forms=(form,)))
                why = 'no right response was correct while wrong ones were incorrect'
            whys.append(' '.join(why.split())[:300])
            break
        for outcome, pattern in REASONS.items():
            if sum(bool(re.search(pattern, why)) for why in whys) >= 3:
                return Finding(outcome, f'{name}: {whys[-1]}')
    most = Counter(whys).most_common(1)[0][0] if whys else ''
    return Finding(UNREAD if time.monotonic() < end else SLOW, f'{name}: {most}')


def kind_of(dataset: Mapping[str, Any]) -> str:
    """Return what data sets have in common whose rows are judged in the same way."""

    def types(config: Any, name: str = '') -> Any:
        if isinstance(config, Mapping) and name != 'dataset_cfg':
            named = {key: types(one, key) for key, one in config.items()}
            return {key: one for key, one in named.items() if one}
        if isinstance(config, list):
            return [kind for one in config if (kind := types(one))]
        return str(config) if name == 'type' else None

    return json.dumps([types(dataset['eval_cfg']), bool(dataset['reader_cfg'].get('output_column'))])


def examine_config(name: str, hints: Mapping[str, Finding]) -> dict[str, Finding]:
    """Examine each kind of data sets in a config; ``hints`` are findings of other configs."""
    try:
        datasets = named_datasets(name)
    except BaseException as error:  # a config may do anything
        return {'': Finding(BROKEN, f'{type(error).__name__}: {error}')}
    found: dict[str, Finding] = {}
    for dataset in datasets:
        infer = dataset.get('infer_cfg') or {}
        if not str((infer.get('inferencer') or {}).get('type')).endswith('.GenInferencer'):
            continue
        if 'evaluator' not in (dataset.get('eval_cfg') or {}):
            found['none'] = Finding(UNREAD, 'no evaluator')
            continue
        kind = kind_of(dataset)
        hint = hints.get(kind)
        if kind not in found:
            gains = not hint or hint.outcome == GAINS
            found[kind] = examine(dataset, hint and hint.attempt) if gains else hint
    return found or {'': Finding(NOT_ASKED)}


@dataclass
class Worker:
    """A process that examines configs, one after the other."""

    process: Any
    pipe: Any
    name: str = ''
    since: float = 0.0

    @classmethod
    def started(cls) -> Worker:
        """Return a new one, with all that this process has loaded."""
        fork = multiprocessing.get_context('fork')
        ours, theirs = fork.Pipe()
        process = fork.Process(target=_work, args=(theirs,))
        process.start()
        theirs.close()
        return cls(process, ours)

    def end(self) -> None:
        """Kill it and the processes that evaluators have left."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.join()


def _work(pipe: Any) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):  # what evaluators print, and ask
        os.dup2(nowhere, number)
    while True:
        pipe.send(examine_config(*pipe.recv()))


def examine_all(names: Sequence[str]) -> Iterator[tuple[str, dict[str, Finding]]]:
    """Examine configs in processes of their own; yield each with the findings on its kinds."""
    waiting, hints = list(reversed(names)), {}
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # evaluators may write where they are
        workers = [Worker.started() for _ in range(min(WORKERS, len(names)))]
        while workers:
            for worker in [one for one in workers if not one.name]:
                if not waiting:
                    worker.end()
                    workers.remove(worker)
                    continue
                worker.name, worker.since = waiting.pop(), time.monotonic()
                worker.pipe.send((worker.name, hints))
            ready = multiprocessing.connection.wait([one.pipe for one in workers], 1)
            for place, worker in enumerate(workers):
                found = None
                if worker.pipe in ready:
                    try:
                        found = worker.pipe.recv()
                    except EOFError:
                        found = {'': Finding(BROKEN, 'its process died')}
                elif time.monotonic() > worker.since + PATIENCE:
                    found = {'': Finding(SLOW, f'more than {PATIENCE} seconds')}
                if found:
                    hints |= {kind: one for kind, one in found.items() if kind}
                    yield worker.name, found
                    worker.name = ''
                    if '' in found and found[''].outcome != NOT_ASKED:
                        worker.end()
                        workers[place] = Worker.started()


def main(names: Sequence[str]) -> None:
    """Examine the named configs, or all and write the page."""
    files = sorted(path for path in CONFIGS.rglob('*.py') if path.stem != '__init__')
    every = [path.relative_to(CONFIGS).with_suffix('').as_posix() for path in files]
    start = time.monotonic()
    record = {}
    for name, found in examine_all(names or every):
        record[name] = found
        for finding in found.values():
            print(f'{name}: {finding.outcome}: {finding.why[:150]}', flush=True)
    print(time.monotonic() - start)
    import pickle
    pickle.dump(record, open('/tmp/w19u/x/record.pkl', 'wb'))


if __name__ == '__main__':
    main(sys.argv[1:])
