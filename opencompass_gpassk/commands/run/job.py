"""The OpenCompass config of a job: its models and data sets as plain dicts with dotted types."""

from __future__ import annotations

import os
import pprint
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mmengine.config import Config

from opencompass_gpassk.commands.configs import configs_folder
from opencompass_gpassk.datasets.data_files import FORMATS
from opencompass_gpassk.datasets.settings import abbr_of
from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.judging.settings import configured, read_settings
from opencompass_gpassk.runs.config import N_OF_NAME, require_literal
from opencompass_gpassk.rv.question import is_executed

# Name of a data set → folder of its configs, and the environment variables that select it there.
OURS: dict[str, tuple[str, dict[str, str]]] = {
    'sample': ('livemathbench', {'GPASSK_VERSION': 'sample'}),
    'livemathbench': ('livemathbench', {'GPASSK_VERSION': '202412'}),
    'math500-l5': ('math500_l5', {}),
    'aime2024': ('aime2024', {}),
    'aime2024-45': ('aime2024_45', {}),
    'aime2025': ('aime2025', {}),
    'rvbench-math': ('rvbench', {}),
    'rvbench-leetcode': ('rvbench', {}),
}
LONGEST_NAME = 32  # characters of models or data sets in the name of a work dir
SHOWN = 60  # characters of a value in a message
LOCAL_SHARDS = 8  # of a data set that a local engine answers: as many workers may share it later
FEWEST_ROWS = 16  # of a shard; OpenCompass's own default


@dataclass(frozen=True)
class JobSettings:
    """How the problems of all data sets of a job are sampled and judged.

    Attributes:
        n: Samples of each problem.
        k: The k of pass@k and G-Pass@k.
        greedy: Whether each problem is also answered greedily, once.
        sampling: Sampling parameters that replace those of arXiv 2412.13147.
        max_out_len: Greatest number of tokens of a response; None for the data sets' own.
        limit: Only so many problems of each data set; None for all.
        taus: Thresholds; None for the evaluator's own.
        judge: A mode or a JSON file of settings; None for the data sets' own.

    Raises:
        ValueError: If a number is out of its range.
    """

    n: int
    k: Sequence[int]
    greedy: bool = False
    sampling: Mapping[str, float] | None = None
    max_out_len: int | None = None
    limit: int | None = None
    taus: Sequence[float] | None = None
    judge: str | None = None

    def __post_init__(self) -> None:
        if not all(1 <= k <= self.n for k in self.k):
            raise ValueError(
                f'-k is {", ".join(map(str, self.k))}, but -n is {self.n}; every k is from 1 to n, '
                f'and three times the largest k, -n {3 * max(self.k)}, is advised'
            )
        if not all(0 <= tau <= 1 for tau in self.taus or ()):
            raise ValueError(f'--tau is {self.taus}; thresholds are from 0 to 1')
        Sampling.of({**(self.sampling or {})})


def dataset_configs(name: str, job: JobSettings) -> list[dict[str, Any]]:
    """Return the configs of what one ``--data`` names, the greedy ones first.

    Args:
        name: A name in :data:`OURS`, with ``:version`` for LiveMathBench; a file of problems, or
            of questions in Python; or the name of a data set config of OpenCompass.
        job: How the problems are sampled and judged.

    Raises:
        ValueError: If there is no such data set, or a setting is wrong.
    """
    judge: Any = None
    if job.judge:
        settings = read_settings(job.judge)
        with environment(GPASSK_JUDGE=settings.mode):
            judge = configured(**{**settings.as_dict(), 'mode': settings.mode})
    family, _, version = name.partition(':')
    known = Path(name).suffix in FORMATS or is_executed(name)
    is_file = family not in OURS and (known or Path(name).is_file())
    if is_file:  # whose name may have a colon
        family, version = name, ''
    if version and family in OURS and family != 'livemathbench':
        raise ValueError(f'--data {name}: only livemathbench has versions; name {family} alone')
    if is_file and not Path(name).is_file():
        raise ValueError(f'--data {name}: there is no such file')
    with environment(
        GPASSK_N=job.n,
        GPASSK_K=','.join(map(str, job.k)),
        GPASSK_LIMIT=job.limit,
        GPASSK_MAX_OUT_LEN=job.max_out_len,
    ):
        if is_executed(name):
            found = _own_questions(Path(name), greedy=job.greedy)
        elif family in OURS or is_file:
            found = _ours(family, version, greedy=job.greedy)
        else:
            from opencompass_gpassk import upgraded

            found = upgraded(name, job.n, job.k, greedy=job.greedy)
    for dataset in found:
        if (sampling := sampling_of(dataset)) != 'greedy':
            sampling.update(job.sampling or {})
        evaluator = dataset['eval_cfg']['evaluator']
        if job.taus:
            evaluator['taus'] = list(job.taus)
        if judge:
            evaluator['judge'] = judge
    return found


def _ours(name: str, version: str, *, greedy: bool) -> list[dict[str, Any]]:
    """Return data sets of this package, or one of a file, as their configs define them."""
    folder, chosen = OURS.get(name, ('custom', {'GPASSK_DATA': name}))
    if version:
        chosen = {'GPASSK_VERSION': version}
    found = []
    with environment(**chosen):
        for kind in ('_greedy', '') if greedy else ('',):
            path = configs_folder() / f'datasets/{folder}/{folder}_gpassk{kind}_gen.py'
            try:
                found += Config.fromfile(path).to_dict()[f'{folder}_gpassk{kind}_datasets']
            except ValueError as error:
                raise ValueError(f'--data {name}: {error}') from error
    source = name.removeprefix('rvbench-')
    return [one for one in found if one.get('source', source) == source]


def _own_questions(file: Path, *, greedy: bool) -> list[dict[str, Any]]:
    """Return RV-Bench's data sets with the user's own questions, which are in Python."""
    found = _ours('rvbench-math', '', greedy=greedy)
    for one in found:
        abbr = one['abbr'].replace('RV-MATH', abbr_of(file), 1)
        one.update(abbr=abbr, path=str(file.absolute()))
    return found


def sampling_of(dataset: Mapping[str, Any]) -> Any:
    """Return the sampling protocol in the config of a data set."""
    return dataset['infer_cfg']['inferencer']['sampling']


def missing_data(dataset: Mapping[str, Any], error: Exception) -> str:
    """Return what OpenCompass could not get, and the ways out; '' if this is another error.

    Args:
        dataset: The config of a data set that does not load.
        error: What its class has raised; for data that are out of reach, OpenCompass raises errors
            of the system or the network, and of its downloads.
    """
    from opencompass.utils.datasets_info import DATASETS_MAPPING

    if 'problems' not in dataset or not isinstance(error, (OSError, AssertionError, RuntimeError)):
        return ''
    path = str(dataset['problems'].get('path', 'its data'))
    local = DATASETS_MAPPING.get(path, {}).get('local', path).removeprefix('./')
    there = f', so that there is DIR/{local},' if local.startswith('data/') else ''
    return (
        f'\nOpenCompass could not get {path}. Go online; or unpack the data archive of '
        f"OpenCompass's releases under DIR/data{there} and set "
        'COMPASS_DATA_CACHE=DIR; or give --data a file of your own, with question and answer'
    )


@contextmanager
def environment(**variables: object) -> Iterator[None]:
    """Set environment variables, which the configs of data sets read; None leaves one as it is."""
    before = dict(os.environ)
    os.environ.update({name: str(one) for name, one in variables.items() if one is not None})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def lasting(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what stays the same in a job that is asked for more samples, or judged otherwise.

    A data set's n, k and evaluation are left out: with them, no other problem and no other response
    would be asked for. So is the place of a file of the user: its name has the hash of its content.
    """
    datasets = {}
    for one in config['datasets']:
        left_out = ['n', 'k', 'eval_cfg', 'abbr']
        if Path(str(one.get('path'))).is_absolute():
            left_out.append('path')
        kept = {name: value for name, value in one.items() if name not in left_out}
        abbr = N_OF_NAME.sub('', one['abbr'])
        datasets[abbr] = {**kept, 'abbr': abbr}
    return {'models': [*config['models']], 'datasets': [*datasets.values()]}


def draws(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a job that goes on may not change: :func:`lasting`, but nothing of servers."""
    models = [
        {name: value for name, value in one.items() if name not in ('api_base', 'not_known')}
        for one in config['models']
    ]
    return {**lasting(config), 'models': models}


def difference(before: Any, now: Any, place: str = '') -> str:
    """Return the first field in which two configs differ, and both values; '' if they are equal."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        pairs = {f'{place}.{key}': (before.get(key), now.get(key)) for key in {**before, **now}}
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = {f'{place}[{i}]': pair for i, pair in enumerate(zip(before, now, strict=True))}
    else:
        same = before == now
        told = (short_line(repr(one), SHOWN) for one in (before, now))
        return '' if same else f'{place.removeprefix(".")} was {next(told)}, and is {next(told)}'
    return next(filter(None, (difference(*pair, name) for name, pair in pairs.items())), '')


def work_folder(config: Mapping[str, Any]) -> Path:
    """Return the default work dir of a job, which is the same whenever its settings are.

    It doesn't depend on what :func:`lasting` leaves out.
    """
    models = '+'.join(one['abbr'] for one in config['models'])[:LONGEST_NAME]
    sampled = (one['abbr'] for one in config['datasets'] if sampling_of(one) != 'greedy')
    data_sets = '+'.join(N_OF_NAME.sub('', one) for one in sampled)[:LONGEST_NAME]
    hashed = stable_hash(lasting(config) | {'summarizer': config['summarizer']})[:6]
    name = re.sub(r'[^\w.+-]+', '-', f'{models}_{data_sets}_{hashed}')
    return Path('outputs/run', name).absolute()


def split(models: Sequence[Mapping[str, Any]], workers: int) -> dict[str, int]:
    """Return how a new job's data sets are split into shards, whoever works on them later.

    Samples of a local engine come in batches. Shards are no smaller than a batch, so that batches
    don't shrink.
    """
    from opencompass_gpassk.inference.choose_backend import BACKENDS  # loads OpenCompass

    kinds = [BACKENDS.get(str(model['type']).rpartition('.')[2]) for model in models]
    if not any(kind and not kind.concurrent for kind in kinds):
        return {'num_split': workers, 'min_task_size': FEWEST_ROWS}
    batch = max(model.get('batch_size', 1) for model in models)
    return {'num_split': LOCAL_SHARDS, 'min_task_size': max(batch, FEWEST_ROWS)}


def job_text(
    config: Mapping[str, Any],
    work_dir: Path,
    *,
    workers: int,
    partition: str | None,
    shards: Mapping[str, int],
) -> str:
    """Return the text of a job's config.

    Args:
        config: Models, data sets and summarizer.
        work_dir: The work dir of this job alone.
        workers: How many tasks run at once.
        partition: The Slurm partition; None for this machine.
        shards: How data sets are split, as by :func:`split`. It must stay the same in a run.

    Raises:
        ValueError: If OpenCompass would read something else than what is written.
    """
    runner: dict[str, Any] = {
        'type': 'opencompass.runners.LocalRunner',
        'max_num_workers': workers,
    }
    if partition:
        runner |= {
            'type': 'opencompass_gpassk.runs.slurm.GPassKSlurmRunner',
            'partition': partition,
        }
    stages = {
        'infer': {
            # Sizes of data sets are counted anew: OpenCompass stores them under the abbr alone.
            'partitioner': {
                'type': 'opencompass.partitioners.NumWorkerPartitioner',
                'num_worker': workers,
                **shards,
                'dataset_size_path': '',
            },
            'runner': {**runner, 'task': {'type': 'opencompass.tasks.OpenICLInferTask'}},
        },
        'eval': {
            'partitioner': {'type': 'opencompass.partitioners.NaivePartitioner'},
            'runner': {**runner, 'task': {'type': 'opencompass.tasks.OpenICLEvalTask'}},
        },
    }
    values = {**config, 'work_dir': str(work_dir), **stages}
    for name, one in values.items():
        require_literal(one, name)
    shown = (pprint.pformat(one, width=100, sort_dicts=False) for one in values.values())
    return HEAD + ''.join(f'{name} = {one}\n' for name, one in zip(values, shown, strict=True))


WRITTEN_BY_US = b'# Written by gpassk run.'
HEAD = """\
# Written by gpassk run. To start the job, or to go on after it was interrupted:
#     opencompass THIS_FILE
#     opencompass THIS_FILE -r
# Keep this file out of its work dir.

"""
