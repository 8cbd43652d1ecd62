"""Find which of OpenCompass's data set configs gain G-Pass@k, and write tools/upstream_datasets.md.

Usage: ``python -m tools.upstream_datasets [NAME ...]``. With names, such as ``gsm8k/gsm8k_gen``, it
prints what it finds about these and writes nothing.

Each config is loaded and upgraded. Of each kind of data sets, an evaluator with its postprocessors,
a few rows are judged by this evaluator in OpenCompass's evaluation task. The data can't be
downloaded for this, so rows are made: the formats of ``upstream_formats.json`` are tried until the
evaluator calls right responses correct and wrong ones incorrect. Each config is examined in a
process of its own, since it may hang.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any, NamedTuple

# Before OpenCompass is imported: some configs ask who the judge is; nothing may be downloaded.
os.environ |= {
    **dict.fromkeys(('OC_JUDGE_MODEL', 'OC_JUDGE_API_KEY'), 'stub'),
    'OC_JUDGE_API_BASE': 'http://127.0.0.1:9/v1',
    **dict.fromkeys(('HF_HUB_OFFLINE', 'HF_DATASETS_OFFLINE', 'HF_EVALUATE_OFFLINE'), '1'),
}

import opencompass
from datasets import Dataset
from mmengine.config import ConfigDict
from opencompass.datasets.base import BaseDataset
from opencompass.models.base_api import BaseAPIModel
from opencompass.openicl.icl_evaluator import LMEvaluator
from opencompass.registry import ICL_EVALUATORS
from opencompass.tasks import OpenICLEvalTask

from opencompass_gpassk.datasets.upgrade import APPLIED, CONFIGS, named_datasets, upgraded
from opencompass_gpassk.judging import rules
from opencompass_gpassk.trials import Verdict, read_trials
from tools.describe_results import filled, table

HERE = 'tools.upstream_datasets'  # not __name__: this module is run, and then imported
PAGE = Path(__file__).parents[1] / 'tools/upstream_datasets.md'
TRIED = json.loads(Path(__file__).with_name('upstream_formats.json').read_text('utf-8'))
FORMATS = TRIED['formats']
TWO_TEXTS = FORMATS['list of two texts']
GOLD_COLUMNS = ('answer', 'answers', 'target', 'gold', 'label', 'reference', 'solution')
PROCESSES = 2
SECONDS = 5.0  # of a processor, to search for the format of one kind of data sets
PATIENCE = 300.0  # seconds for a whole config

GAINS, IN_PART, MARK, SUBJECTIVE = 'gains', 'gains in part', 'a mark', 'subjective'
NETWORK, PACKAGE, UNREAD = 'needs the network', 'needs a package', 'not read'
ENDED, BROKEN, NOT_ASKED = 'ended', 'does not load', 'no responses'
OUTCOMES = {
    GAINS: 'right responses are judged correct and wrong ones incorrect, in all its data sets',
    IN_PART: 'so in some of its data sets, not in others',
    MARK: 'the evaluator gives a response a mark between wrong and right, such as ROUGE, F1 or '
    'recall, or gives one metric for all responses together',
    SUBJECTIVE: 'a judge model compares models or gives marks, and no response is right',
    NETWORK: 'the evaluator downloads something when it judges, so it could not be tried here',
    PACKAGE: 'the evaluator needs a package that OpenCompass does not install',
    UNREAD: 'the evaluator called no made row right, or all, or ended in an error: it reads '
    'a format that was not tried, and may work with its own data',
    ENDED: 'its process hung or died',
    BROKEN: 'OpenCompass itself cannot read the config',
    NOT_ASKED: 'it measures perplexity, asks in conversations or through agents, or holds no data '
    'sets',
}
TOLD = (MARK, SUBJECTIVE, UNREAD)  # outcomes that say enough, so that no message is shown
REASONS = {
    NETWORK: r'[Oo]ffline|Max retries|LocalEntryNotFound|URLError|Connect(?:ion)?Error|not cached|'
    "[Cc]onnection refused|CodeEvalService|[Cc]ouldn't (?:connect|reach|find)",
    PACKAGE: 'ModuleNotFoundError|ImportError|No module named|pip install',
    MARK: 'does not say whether a single response is right',
}
# How an evaluator says that it lacks a column of the test set.
MISSING = re.compile(r"""Column ["']?(\w+)["']? not in|KeyError(?:\(|: )["']+([\w .-]+)["']""")


class MadeRows(BaseDataset):
    """Rows in place of a data set's own."""

    @staticmethod
    def load(columns: Mapping[str, Sequence[Any]]) -> Dataset:
        """Return the rows."""
        return Dataset.from_dict({name: list(column) for name, column in columns.items()})


class StubJudge(BaseAPIModel):
    """A judge of two problems: a prompt about a right response names one answer, not both."""

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


class Attempt(NamedTuple):
    """A format of gold answers, a judge's replies, and columns beside those of the reader."""

    rows: Mapping[str, Any]
    replies: Sequence[str] = TRIED['replies'][0]
    columns: tuple[str, ...] = ()


class Finding(NamedTuple):
    """What was found about a kind of data sets or a config, and why."""

    outcome: str
    why: str = ''


def judge(dataset: Mapping[str, Any], attempt: Attempt) -> bool:
    """Judge made rows by a data set's own evaluator; tell whether it reads one of the forms.

    For each form there are two problems; each gets a right, a wrong and a half right response.
    """
    rows, forms = attempt.rows, TRIED['forms']
    size = 2 * len(forms)
    reader = dataset['reader_cfg']
    inputs = reader.get('input_columns') or []
    golds = [rows['golds'][i % 2] for i in range(size)]
    columns = {
        name: golds if name in GOLD_COLUMNS else [f'{name} {i}' for i in range(size)]
        for name in [*(inputs.split() if isinstance(inputs, str) else inputs), *attempt.columns]
    }
    if reader.get('output_column'):
        columns[reader['output_column']] = golds
    [made] = upgraded(_with_stub(dataset, attempt), n=3, k=1)
    made['abbr'] = 'made'
    made['problems'] = {
        'type': f'{HERE}.MadeRows',
        'abbr': made['problems'].get('abbr', 'made'),
        'columns': columns,
        'reader_cfg': {key: one for key, one in reader.items() if key not in APPLIED},
    }
    made['eval_cfg']['evaluator']['intervals'] = None
    records: dict[str, dict[str, Any]] = {}
    for answers in (rows['answers'], rows['answers'][::-1], [rows['half']] * 2):
        for i in range(size):
            records[str(len(records))] = {
                'origin_prompt': f'Problem {i}',
                'prediction': forms[i // 2].replace('{a}', answers[i % 2]),
                'gold': golds[i],
            }
    with tempfile.TemporaryDirectory() as folder:
        predictions = Path(folder, 'predictions/model/made.json')
        predictions.parent.mkdir(parents=True)
        predictions.write_text(json.dumps(records))
        task = {'models': [{'abbr': 'model'}], 'datasets': [[made]], 'work_dir': folder}
        OpenICLEvalTask(ConfigDict(task)).run()
        table, _ = read_trials(Path(folder, 'results/model/made.trials.jsonl.gz'))
    said = {(int(one.problem_id), one.replica): one.verdict for one in table.trials}
    expected = [Verdict.CORRECT, Verdict.CORRECT, Verdict.INCORRECT, Verdict.INCORRECT]
    return any(
        [said[i, 0], said[i + 1, 0], said[i, 1], said[i + 1, 1]] == expected
        for i in range(0, size, 2)
    )


def _with_stub(config: Any, attempt: Attempt) -> Any:
    """Return a config whose judge models are the stub."""
    if isinstance(config, list):
        return [_with_stub(one, attempt) for one in config]
    if not isinstance(config, Mapping):
        return config
    changed = {key: _with_stub(one, attempt) for key, one in config.items()}
    if 'judge_cfg' in config:
        changed['judge_cfg'] = {
            'type': f'{HERE}.StubJudge',
            'path': 'stub',
            'answers': attempt.rows['answers'],
            'replies': attempt.replies,
            **dict.fromkeys(('max_out_len', 'batch_size'), 64),
        }
    return changed


def examine(dataset: dict[str, Any]) -> Finding:
    """Find a format of rows of which a data set's evaluator gives the expected verdicts.

    The search ends when three attempts in a row fail for one of the ``REASONS``.
    """
    evaluator = dataset['eval_cfg']['evaluator']
    name = str(evaluator.get('type')).rpartition('.')[2]
    with suppress(Exception):  # not every evaluator can be found
        if issubclass(ICL_EVALUATORS.get(evaluator['type']), LMEvaluator):
            return Finding(SUBJECTIVE, name)
    if name == 'GenericLLMEvaluator':
        evaluator.setdefault('judge_cfg', {})  # two configs leave it to their user
    plan = [Attempt(rows) for rows in FORMATS.values()]
    if 'judge_cfg' in json.dumps(dataset['eval_cfg'], default=str):
        plan = [Attempt(FORMATS['number'], replies=replies) for replies in TRIED['replies']] + plan
    if name in TRIED['own']:
        plan.insert(0, Attempt(TRIED['own'][name]))
    columns: tuple[str, ...] = ()
    whys: list[str] = []
    end = time.process_time() + SECONDS
    while plan and time.process_time() < end and not _hopeless(whys):
        attempt = plan.pop(0)
        attempt = attempt._replace(columns=tuple(dict.fromkeys(attempt.columns + columns)))
        try:
            if judge(dataset, attempt):
                return Finding(GAINS, name)
        except BaseException as error:  # an evaluator may raise anything, SystemExit too
            why = ' '.join(f'{type(error).__name__}: {error}'.split())
            found = MISSING.search(why)
            missing = next(filter(None, found.groups()), '') if found else ''
            if missing and missing not in columns and len(columns) < 12:
                columns += (missing,)
                plan.insert(0, attempt)
                continue
            whys.append(why)
            if attempt.rows is TWO_TEXTS and _reason(why) == MARK:
                break  # for one of two texts it gives half the mark
        else:
            whys.append('no right response was correct while wrong ones were incorrect')
    whys = whys or ['the search took too long']
    why = whys[-1] if _reason(whys[-1]) != UNREAD else Counter(whys).most_common(1)[0][0]
    return Finding(_reason(why), f'{name}: {why}')


def _hopeless(whys: Sequence[str]) -> bool:
    return len(whys) > 2 and all(_reason(why) != UNREAD for why in whys[-3:])


def _reason(why: str) -> str:
    return next((one for one, pattern in REASONS.items() if re.search(pattern, why)), UNREAD)


def kind_of(dataset: Mapping[str, Any]) -> str:
    """Return the evaluator of a data set with all its parts, and what is done to its texts."""

    def types(config: Any, name: str = '') -> Any:
        if isinstance(config, Mapping) and 'postprocessor' not in name and name != 'dataset_cfg':
            return {key: one for key in config if (one := types(config[key], key))}
        return config if name == 'type' or 'postprocessor' in name else None

    kind = [types(dataset['eval_cfg']), dataset['reader_cfg'].get('output_column')]
    return json.dumps(kind, default=str)


def examine_config(name: str, known: Mapping[str, Finding]) -> dict[str, Finding]:
    """Return the finding on each kind of data sets in a config; ``known`` are those of others."""
    try:
        datasets = named_datasets(name)
    except BaseException as error:  # a config may do anything
        return {'': Finding(BROKEN, f'config: {type(error).__name__}: {error}')}
    found: dict[str, Finding] = {}
    for dataset in datasets:
        infer = dataset.get('infer_cfg') or {}
        if not str((infer.get('inferencer') or {}).get('type')).endswith('.GenInferencer'):
            continue
        if not (dataset.get('eval_cfg') or {}).get('evaluator'):
            found['none'] = Finding(UNREAD, 'none: the data set has no evaluator')
            continue
        kind = kind_of(dataset)
        if kind not in found:
            upgraded(dataset)
            found[kind] = known.get(kind) or examine(dataset)
    return found or {'': Finding(NOT_ASKED)}


def examine_all(names: Sequence[str]) -> Iterator[tuple[str, dict[str, Finding]]]:
    """Yield each config with the findings on its kinds of data sets, as they come."""
    known: dict[str, Finding] = {}
    with ThreadPoolExecutor(PROCESSES) as pool:
        waiting = {pool.submit(_examined_apart, name, known): name for name in names}
        for done in as_completed(waiting):
            known |= {kind: one for kind, one in done.result().items() if kind}
            yield waiting[done], done.result()


def _examined_apart(name: str, known: Mapping[str, Finding]) -> dict[str, Finding]:
    """Examine a config in a process of its own, which is killed with all that it has started."""
    fork = get_context('fork')
    ours, theirs = fork.Pipe()
    process = fork.Process(target=_examine_here, args=(name, dict(known), theirs))
    process.start()
    theirs.close()
    found = {'': Finding(ENDED, f'config: it took more than {PATIENCE:.0f} s')}
    try:
        if ours.poll(PATIENCE):
            found = ours.recv()
    except EOFError:
        found = {'': Finding(ENDED, 'config: its process died')}
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # type: ignore[arg-type]  # it has started
    process.kill()  # if it has no group of its own yet
    process.join()
    return found


def _examine_here(name: str, known: Mapping[str, Finding], answer: connection.Connection) -> None:
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):  # evaluators print, and some ask
        os.dup2(nowhere, number)
    # Which wrong answers are alike is of no interest here, and takes most of the time.
    rules.canonical_forms = lambda answers, **_: {answer: answer for answer in answers}
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # evaluators may write where they are
        answer.send(examine_config(name, known))


def summed(found: Mapping[str, Finding]) -> str:
    """Return the outcome for a config, given the findings on its kinds of data sets."""
    outcomes = Counter(one.outcome for one in found.values())
    if GAINS in outcomes and len(outcomes) > 1:
        return IN_PART
    return outcomes.most_common(1)[0][0]


def tables(record: Mapping[str, Mapping[str, Finding]]) -> dict[str, str]:
    """Return the tables of the page: outcomes, folders and reasons, counted by configs."""
    sums = {name: summed(found) for name, found in record.items()}
    counts = Counter(sums.values())
    asking = len(sums) - counts[NOT_ASKED] - counts[BROKEN]
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    for name, outcome in sums.items():
        if outcome not in (NOT_ASKED, BROKEN):
            folders[name.partition('/')[0]][outcome] += 1
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for found in record.values():
        told = {(one.outcome, one.why.partition(': ')[0]): one.why for one in found.values()}
        for (outcome, name), why in told.items():
            if outcome not in (GAINS, NOT_ASKED):
                reasons[outcome, name].append(_shortened(why.partition(': ')[2]))
    return {
        'found': f'Of the {len(sums):,} data set configs of OpenCompass '
        f'{opencompass.__version__}, {asking:,} ask for single responses. **{counts[GAINS]:,} of '
        f'these ({counts[GAINS] / asking:.0%}) gain G-Pass@k.**\n',
        'outcomes': table(
            ['outcome', 'configs', 'meaning'],
            ((one, counts[one], meaning) for one, meaning in OUTCOMES.items()),
        ),
        'folders': table(
            ['folder', 'configs', 'gain', 'others'],
            ((folder, c.total(), c[GAINS], _listed(c)) for folder, c in sorted(folders.items())),
        ),
        'reasons': reasons_table((*key, len(whys), whys[0]) for key, whys in reasons.items()),
    }


def reasons_table(rows: Iterable[tuple[str, str, int, str]]) -> str:
    """Return the table of evaluators that share an outcome and a reason, most configs first.

    Args:
        rows: Outcome, evaluator, number of configs and message of each.
    """
    shared: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for outcome, name, count, why in rows:
        shared[outcome, '' if outcome in TOLD else why].append((count, name))
    order = list(OUTCOMES)
    return table(
        ['outcome', 'message', 'evaluators, with their configs'],
        (
            (outcome, why, ', '.join(f'{name} {count}' for count, name in sorted(found)[::-1]))
            for (outcome, why), found in sorted(
                shared.items(), key=lambda one: (order.index(one[0][0]), -max(one[1])[0])
            )
        ),
    )


def _listed(counts: Mapping[str, int]) -> str:
    return '; '.join(f'{one}: {counts[one]}' for one in OUTCOMES if counts[one] and one != GAINS)


def _shortened(why: str) -> str:
    """Return a reason without what every message says, and without paths of this machine."""
    why = re.sub(r'.*?the evaluator failed: |^\w+Error: judge: \w+ |; use an evaluator.*', '', why)
    why = re.sub(r'\S*/site-packages/|/tmp/\S*', '', why)
    return re.sub(r'[|`<>]', ' ', why)[:120]


def main(names: Sequence[str]) -> None:
    """Examine the named configs and print what was found; or all, and write the page."""
    files = (path.relative_to(CONFIGS) for path in CONFIGS.rglob('*.py'))
    every = sorted(path.with_suffix('').as_posix() for path in files if path.stem != '__init__')
    record = {}
    for name, found in examine_all(names or every):
        record[name] = found
        print(f'{len(record)}/{len(names or every)} {name}: {summed(found)}', flush=True)
        for finding in found.values() if names else ():
            print(f'  {finding.outcome}: {finding.why}')
    if not names:
        PAGE.write_text(filled(PAGE.read_text('utf-8'), tables(record)), 'utf-8')


if __name__ == '__main__':
    main(sys.argv[1:])
