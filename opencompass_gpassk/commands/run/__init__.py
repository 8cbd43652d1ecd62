"""``gpassk run``: from models and data to a table, in one command."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, add_numbers, note
from opencompass_gpassk.commands.configs import configs_folder
from opencompass_gpassk.commands.run.job import (
    WRITTEN_BY_US,
    JobSettings,
    dataset_configs,
    difference,
    draws,
    job_text,
    missing_data,
    sampling_of,
    split,
    work_folder,
)
from opencompass_gpassk.commands.run.server_check import served_models, try_requests
from opencompass_gpassk.formats.stored_files import (
    CONFIG_BYTES,
    appended,
    read_bytes,
    require_no_links,
    written_whole,
)
from opencompass_gpassk.inference.backend import UnknownBackend
from opencompass_gpassk.inference.http_client import read_addresses
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.runs.config import (
    N_OF_NAME,
    find_run,
    planned_run,
    read_literal_config,
    read_run_config,
    run_config,
)
from opencompass_gpassk.runs.running_job import LOG, lock, require_idle
from opencompass_gpassk.runs.task_states import (
    State,
    last_exception,
    read_log,
    task_states,
)
from opencompass_gpassk.runs.watch import watch

DESCRIPTION = """\
Sample the problems of data sets n times from models, judge the answers and print the table:

  gpassk run --model http://127.0.0.1:8000/v1 --data my.jsonl -n 16 -k 4,8
  gpassk run --model Qwen/Qwen2.5-7B-Instruct --data livemathbench math500-l5 gsm8k --greedy

It writes a config of OpenCompass, checks that the servers answer and the data load, and runs the
config with OpenCompass. The same command with --resume goes on after an interruption; without
--resume it begins a new run, in which every response is asked for again. With --resume, -n may be
raised or lowered: only the samples that are missing are asked for, and the table shows the results
of both. -k, --tau, --judge and --workers may change too. The exit code is 0 if all tasks are
finished, else 1.

gpassk configs --list shows this package's data sets; tools/upstream_datasets.md lists those of
OpenCompass.
"""
MODEL = """URL of an OpenAI-compatible server (URL#NAME if it serves several models; a key is
read from OPENAI_API_KEY); a folder or a model of the hub, such as Qwen/Qwen2.5-7B-Instruct; the
name of a model config of OpenCompass; a config file; or demo, a tiny model for trying things out"""
DATA = """sample, livemathbench (or with a version, livemathbench:202412-hard), math500-l5,
aime2024, aime2024-45, aime2025, rvbench-math, rvbench-leetcode; a file of your own problems (JSON
lines, JSON, CSV or Parquet with question and answer), or of questions in Python
(docs/rvbench.md); or the name of a data set config of OpenCompass, such as gsm8k"""
USUAL_LENGTH = 8192  # tokens of a response, if neither data set nor user says it
GRACE = 10.0  # seconds for processes to end


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(
        subparsers,
        'run',
        told,
        DESCRIPTION,
        run,
    )
    several: dict[str, Any] = {'nargs': '+', 'action': 'extend', 'required': True}
    parser.add_argument('--model', metavar='MODEL', help=MODEL, **several)
    parser.add_argument('--data', metavar='DATA', help=DATA, **several)
    parser.add_argument(
        '-n',
        type=positive_integer,
        default=os.environ.get('GPASSK_N') or '16',
        help='samples of each problem (default: GPASSK_N, else 16)',
    )
    add_numbers(parser, '-k', int, 'k of G-Pass@k (default: GPASSK_K, else 4 8)')
    add_numbers(parser, '--tau', float, 'thresholds (default: 0 .25 .5 .75 1)')
    parser.add_argument(
        '--greedy',
        action=argparse.BooleanOptionalAction,
        default=False,
        help='also answer each problem greedily, once, for the greedy accuracy (default: no)',
    )
    parser.add_argument('--temperature', type=float, help='of the samples, above 0 (default: 1.0)')
    parser.add_argument('--top-p', type=float, help='of the samples (default: 0.8)')
    parser.add_argument('--top-k', type=int, help='of the samples, 0 for all tokens (default: 50)')
    parser.add_argument(
        '--max-out-len',
        type=positive_integer,
        default=os.environ.get('GPASSK_MAX_OUT_LEN') or None,
        metavar='TOKENS',
        help='greatest length of a response (default: 8192, or what the server has room for)',
    )
    parser.add_argument(
        '--without',
        nargs='+',
        default=[],
        metavar='FIELD',
        help='sampling fields that are not sent, since the server refuses them, such as top_k; '
        'the server then chooses, and the signature of the results says so',
    )
    parser.add_argument(
        '--unsampled',
        action='store_true',
        help='also measure models whose wrapper in OpenCompass sends no sampling parameters; the '
        'first warning of results, tables and page says so',
    )
    parser.add_argument(
        '--limit',
        type=positive_integer,
        metavar='N',
        help='only the first N questions, each with its versions and translations',
    )
    parser.add_argument(
        '--columns',
        nargs='+',
        action='extend',
        default=[],
        metavar='FIELD=COLUMN',
        help='names of columns in files of your own, such as question=problem_text answer=solution',
    )
    parser.add_argument(
        '--judge',
        metavar='JUDGE',
        help='rule, llm (a model judges every answer), cascade (a model judges the answers that '
        'the rules do not confirm), or a JSON file of settings; the model is set by OC_JUDGE_MODEL '
        'and OC_JUDGE_API_BASE, and its key by OC_JUDGE_API_KEY (default: rule, or the own '
        'evaluator of a data set of OpenCompass)',
    )
    parser.add_argument(
        '--backend',
        choices=('hf', 'vllm', 'lmdeploy'),
        default='hf',
        help='what runs a folder or a model of the hub (default: hf, which is transformers)',
    )
    parser.add_argument(
        '--work-dir',
        type=Path,
        metavar='DIR',
        help='folder of this job alone; the config is written beside it as DIR.py (default: a '
        'folder in outputs/run, named after models, data and settings)',
    )
    parser.add_argument(
        '--workers',
        type=positive_integer,
        help='tasks that run at once, such as one per GPU (default: 1)',
    )
    parser.add_argument('--slurm', metavar='PARTITION', help='run the tasks with Slurm')
    parser.add_argument(
        '--resume', action='store_true', help='go on with the newest run of the same job'
    )
    parser.add_argument(
        '--dry-run',
        action='store_true',
        help='check all but the servers, and write the config only',
    )
    parser.add_argument(
        'opencompass', nargs='*', metavar='-- OPTIONS', help='further options of opencompass'
    )


def positive_integer(text: str) -> int:
    """Return a number of at least 1; argparse shows this function's name if it isn't one."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def run(args: argparse.Namespace) -> int:
    """Write the config of a job, check what it needs, and run it."""
    # Whether the job runs is told at once: what follows loads OpenCompass and asks servers.
    config = None if args.work_dir else _config(args)
    work_dir = work_folder(config) if config else args.work_dir.expanduser().absolute()
    require_idle(work_dir)
    config = config or _config(args)
    path = work_dir.with_name(f'{work_dir.name}.py')
    if path.is_file() and not read_bytes(path, CONFIG_BYTES).startswith(WRITTEN_BY_US):
        raise ValueError(
            f'{path} would be the config of this job, and is a file of yours; choose another '
            '--work-dir'
        )
    workers, shards = args.workers or 1, split(config['models'], args.workers or 1)
    if path.is_file() and work_dir.is_dir():  # else nothing was run with it
        before = read_literal_config(path)
        if told := difference(draws(before), draws(config)):
            raise ValueError(
                f'{path} is the config of another job: {told}. Choose another --work-dir, or leave '
                'this setting as it was. With --resume, -n, -k, --tau, --judge, --workers and the '
                'address of a server may change'
            )
    not_known: dict[str, list[str]] | None = None
    if args.resume and (resumed := _resumed(work_dir)):
        folder, run_before, finished = resumed
        args.opencompass += ['-r', folder.name]
        former = run_before['infer']['partitioner']
        workers = args.workers or former['num_worker']
        shards = {name: former[name] for name in ('num_split', 'min_task_size')}
        # One signature for all samples of a job.
        not_known = {one['abbr']: one.get('not_known', []) for one in run_before['models']}
        # Results of another n stay in the table.
        asked = {one['abbr'] for one in config['datasets']}
        others = [one for one in run_before['datasets'] if one['abbr'] in finished - asked]
        files = {N_OF_NAME.sub('', one['abbr']): one.get('path') for one in config['datasets']}
        for one in others:  # a file may have been moved
            if path_now := files.get(N_OF_NAME.sub('', one['abbr'])):
                one['path'] = path_now
        config = {**config, 'datasets': [*others, *config['datasets']]}
    if work_dir.is_dir() and not args.resume and not args.dry_run:
        print(
            'This job was run before. A new run begins, and asks for everything again; to go on '
            'with the earlier one, or to see its table, add --resume',
            file=sys.stderr,
        )
    if not args.unsampled:
        check_sampling(config)
    print('Checking data and servers …', file=sys.stderr)
    load_data(config['datasets'])
    _check(config, not_known, ask=not args.dry_run)
    text = job_text(config, work_dir, workers=workers, partition=args.slurm, shards=shards)
    require_idle(work_dir)  # another start may have been as far
    with written_whole(path) as part:
        part.write_text(text, 'utf-8')
    print(f'Config: {path}', flush=True)
    return 0 if args.dry_run else _opencompass(path, work_dir, args)


def _resumed(work_dir: Path) -> tuple[Path, Mapping[str, Any], set[str]] | None:
    """Return the run to go on with, its config, and the data sets that are finished in it.

    None if the job has no run yet, or if OpenCompass died before it had begun one.
    """
    try:
        folder = find_run(work_dir)
        run_config(folder)
    except ValueError:
        print(
            f'There is no run in {work_dir} to go on with; a new one begins. (With another model, '
            'data set or sampling setting it is another job.)',
            file=sys.stderr,
        )
        return None
    require_no_links(folder)  # OpenCompass would write its logs through them
    config = read_run_config(folder)
    states = task_states(planned_run(folder, config))
    undone = {one.dataset for one in states if one.state is not State.FINISHED}
    return folder, config, {one.dataset for one in states} - undone


def _config(args: argparse.Namespace) -> dict[str, Any]:
    """Return models, data sets and summarizer of the job that the options describe."""
    from mmengine.config import Config

    from opencompass_gpassk.commands.run.models import model_configs

    sampling = {'temperature': args.temperature, 'top_p': args.top_p, 'top_k': args.top_k}
    usual = os.environ.get('GPASSK_K', '').replace(',', ' ').split()
    settings = JobSettings(
        n=args.n,
        k=args.k or [*map(int, usual)] or [k for k in (4, 8) if k <= args.n] or [args.n],
        greedy=args.greedy,
        sampling={name: one for name, one in sampling.items() if one is not None},
        max_out_len=args.max_out_len,
        limit=args.limit,
        taus=args.tau,
        judge=args.judge,
    )
    datasets = [one for name in args.data for one in dataset_configs(name, settings)]
    if args.columns:
        _map_columns(datasets, args.columns)
    models = [
        config
        for name in args.model
        for config in model_configs(
            name,
            args.backend,
            slurm=args.slurm is not None,
            without=args.without,
            ask=not args.dry_run,
        )
    ]
    if args.without and not any('api_base' in one for one in models):
        raise ValueError('--without is for models behind a URL, and there is none')
    for kind, configs in (('--model', models), ('--data', datasets)):
        abbrs = [one['abbr'] for one in configs]
        if twice := [abbr for abbr in abbrs if abbrs.count(abbr) > 1]:
            raise ValueError(f'{kind}: two of them are called {twice[0]}; measure them in two jobs')
    for one in models:
        kind = str(one['type']).rpartition('.')[2]
        if kind.startswith('OpenAI') and kind != 'OpenAICompatible' and 'tokenizer_path' not in one:
            note(
                f'{one["abbr"]}: {kind} loads a tokenizer from the hub, and without a network it '
                'tries for minutes; set tokenizer_path in its config to a folder with one, or give '
                'the URL as --model'
            )
    _fit(models, datasets, args.max_out_len)
    summarizer = Config.fromfile(configs_folder() / 'summarizers/gpassk.py').to_dict()
    return {'models': models, 'datasets': datasets, 'summarizer': summarizer['summarizer']}


def _map_columns(datasets: Sequence[dict[str, Any]], pairs: Sequence[str]) -> None:
    """Set the names of columns in the configs of files."""
    columns = dict(pair.partition('=')[::2] for pair in pairs)
    files = [one for one in datasets if str(one['type']).endswith('.CustomProblems')]
    if not files:
        raise ValueError('--columns is for files of your own, and no --data is a file')
    for one in files:
        one['columns'] = columns


def _fit(
    models: Sequence[Mapping[str, Any]], datasets: Sequence[dict[str, Any]], asked: int | None
) -> None:
    """Shorten responses to what the servers have room for, where no length is asked for."""
    rooms = [one['max_seq_len'] for one in models if one.get('api_base') and one.get('max_seq_len')]
    if not rooms:
        return
    room = min(rooms)
    if asked and asked >= room:
        raise ValueError(
            f'--max-out-len is {asked}, but the server has room for {room} tokens of prompt and '
            f'response together; give --max-out-len {room * 3 // 4} or less, or serve the model '
            'with a longer context'
        )
    inferencers = [one['infer_cfg']['inferencer'] for one in datasets]
    long = [one for one in inferencers if one.get('max_out_len', USUAL_LENGTH) > room * 3 // 4]
    if long and not asked:
        for one in long:
            one['max_out_len'] = room * 3 // 4
        print(
            f'Responses are limited to {room * 3 // 4} tokens: the server has room for {room} of '
            'prompt and response together',
            file=sys.stderr,
        )


def check_sampling(config: Mapping[str, Any]) -> None:
    """Refuse models whose wrapper is unknown, or can't be told how to sample.

    Raises:
        ValueError: If there is one; the message says how to measure it.
    """
    from opencompass.registry import MODELS

    from opencompass_gpassk.inference.choose_backend import BACKENDS, backend_class

    for model in config['models']:
        kind = model['type']
        if str(kind).rpartition('.')[2] in BACKENDS:
            continue  # looking others up imports every engine
        wrapper = kind if isinstance(kind, type) else MODELS.get(kind)
        name = f'--model {model.get("abbr", model.get("path"))}'
        if wrapper is None:
            raise ValueError(
                f'{name}: there is no class {kind} in the installed OpenCompass; serve the model '
                'and give --model URL#NAME'
            )
        if backend_class(wrapper) is UnknownBackend:
            raise ValueError(
                f'{name}: {wrapper.__name__} sends no sampling parameters, or takes them in an '
                'unknown way, so its samples may be copies of one another. If the API is '
                'OpenAI-compatible, give its URL as --model URL#NAME; with --unsampled the model '
                'is measured all the same, with a warning'
            )


def load_data(datasets: Sequence[Mapping[str, Any]]) -> None:
    """Load the data.

    Raises:
        ValueError: If a data set doesn't load.
    """
    from datasets import disable_progress_bars
    from opencompass.utils import build_dataset_from_cfg, get_logger

    disable_progress_bars()
    get_logger().setLevel('WARNING')
    for dataset in datasets:
        try:
            build_dataset_from_cfg(dataset)
        except Exception as error:  # data sets of OpenCompass may raise anything
            kind = '' if isinstance(error, ValueError) else f'{type(error).__name__}: '
            ways_out = missing_data(dataset, error)
            raise ValueError(f'{dataset["abbr"]} does not load: {kind}{error}{ways_out}') from error


def _check(
    config: Mapping[str, Any], not_known: Mapping[str, list[str]] | None, *, ask: bool
) -> None:
    """Check the addresses of models and judges, ask the servers, note what they may not apply.

    Args:
        config: The job.
        not_known: Model → the parameters that the job's earlier start did not see applied; None if
            it is the first.
        ask: Whether servers are asked.

    Raises:
        ValueError: If the job would fail.
    """
    judges = [one['eval_cfg']['evaluator'].get('judge') for one in config['datasets']]
    judges = [one for one in judges if isinstance(one, Mapping) and one.get('api_base')]
    models = [one for one in config['models'] if str(one['type']).endswith('.OpenAICompatible')]
    for one in (*judges, *models):
        read_addresses(one.get('api_base', ''))
    for one in models:
        if not_known and not_known[one['abbr']]:
            one['not_known'] = not_known[one['abbr']]
    if not ask:
        return
    for one in {repr(judge): judge for judge in judges}.values():
        served_models(one['api_base'], one.get('api_key_env', 'OC_JUDGE_API_KEY'), one['model'])
    protocols = dict.fromkeys(
        replace(
            Sampling.of(sampling_of(one)),
            stop=tuple(one['infer_cfg']['inferencer'].get('stopping_criteria') or ()),
        )
        for one in config['datasets']
    )
    for model in models:
        if unsure := try_requests(model, protocols, effects=not_known is None):
            model['not_known'] = unsure
            note(
                f'{model["path"]}: whether the server applies {", ".join(unsure)} is not known. '
                'It accepts them, but nothing shows that they have an effect; results say so'
            )


def _opencompass(path: Path, work_dir: Path, args: argparse.Namespace) -> int:
    """Run OpenCompass, show its progress and the summary; return the exit code."""
    work_dir.mkdir(parents=True, exist_ok=True)
    screen = work_dir / LOG
    command = [sys.executable, '-m', 'opencompass.cli.main', str(path), *args.opencompass]
    with appended(screen) as log:
        # As standard input, the log is open in all processes of the job, and so locked until the
        # last one ends, even if this one was killed.
        lock(log, work_dir)
        print(f'Log of OpenCompass: {screen}', flush=True)
        process = subprocess.Popen(command, stdin=log, stdout=log, stderr=subprocess.STDOUT)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            watch(work_dir, lambda _: process.poll() is None)
            process.wait()
        except KeyboardInterrupt:
            _end(process.pid)
            print(
                f'\nInterrupted. Go on with the same command and --resume, or: '
                f'opencompass {path} -r',
                file=sys.stderr,
            )
            return 130
    if process.returncode:
        reason = last_exception(read_log(screen)) or f'exit code {process.returncode}'
        raise ValueError(f'OpenCompass ended with an error: {reason}; see {screen}')
    folder = find_run(work_dir)
    summary = folder / 'summary/latest/gpassk.txt'
    if summary.is_file():
        print(summary.read_text('utf-8'), end='')
    states = task_states(planned_run(folder, read_run_config(folder)))
    undone = sum(one.state is not State.FINISHED for one in states)
    if undone:
        print(
            f'\n{undone} of {len(states)} tasks are not finished; gpassk status {folder} says why. '
            'Go on with the same command and --resume',
            file=sys.stderr,
        )
    return 1 if undone else 0


def _end(pid: int) -> None:
    """End a process and all that it started."""
    import psutil

    with suppress(psutil.NoSuchProcess):
        first = psutil.Process(pid)
        processes = [first, *first.children(recursive=True)]
        for one in processes:
            with suppress(psutil.NoSuchProcess):
                one.terminate()
        for one in psutil.wait_procs(processes, timeout=GRACE)[1]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
