"""Memory and CPU time of what is done with the folder of a big run.

    python benchmarks/run_folder.py [--stages evaluation rescore …] [--part 100] [--keep FOLDER]

A run of one model is made: 1,000 problems, 128 samples of each, responses of 8,000 characters (1.07
GB) that end with an easy answer. The second run has 200 problems, 32 samples and responses of
30,000 characters, in `<think>` up to the last line. Each stage is a process of its own:

evaluation  OpenCompass's evaluation task, as it is started in a job
rescore     gpassk rescore of the result
status      gpassk status
inference   a finished inference that is killed before it wrote its prediction file, and resumed
thinking    the evaluation of the second run, whose model's config removes thoughts
page        gpassk report of 20 results like the first

Printed are the peak of the largest process in GiB, the CPU time of all processes in seconds, and
the elapsed time. Bounds: evaluation and rescore 2 GiB and 240 s of CPU; thinking 1.5 GiB; status 5
s; inference 20 s; page 1 GiB.
"""

from __future__ import annotations

import argparse
import json
import os
import pprint
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mmengine.config import Config

from opencompass_gpassk.commands.run.job import Protocol, dataset_configs

STAGES = ('evaluation', 'rescore', 'status', 'inference', 'thinking', 'page')
BIG, THINKING = (1000, 128, 8_000), (200, 32, 30_000)  # problems, samples, characters
COPIES = 20
MODEL = 'big'
PIECES = (
    'so the sum is', 'we now divide both sides by', 'let $x$ be the number of', 'and therefore',
    'it follows from the first line that', 'which is not possible, since', 'the remainder of',
    'wait, check the case of', 'Next, we add', 'times the height of the triangle, that is',
)  # fmt: skip
GPASSK = 'import sys; from opencompass_gpassk.commands.main import main; sys.exit(main())'
# Saves the responses in a prediction file as an inference that is killed does.
SAVE = """
import os, sys
from pathlib import Path
from opencompass_gpassk.formats.stored_files import read_members
from opencompass_gpassk.inference.progress_files import Progress
def save(self):
    for request, (_, record) in zip(self.requests, read_members(Path(sys.argv[2]))):
        self.append([(request, record)])
    raise SystemExit
Progress.restore = save
os.fsync = lambda file: None
"""
DRAW = """
import sys
from mmengine.config import Config
from opencompass.tasks import OpenICLInferTask
from opencompass.models.base import BaseModel
class Silent(BaseModel):
    is_api = False
    def __init__(self):
        super().__init__('big', tokenizer_only=True)
OpenICLInferTask(Config.fromfile(sys.argv[1])).run(Silent(), 'big')
"""


def text_of(rng: random.Random, length: int, answer: int, *, thinking: bool) -> str:
    """Return a response of so many characters that ends with a boxed answer."""
    begin, end = ('<think>', '</think>') if thinking else ('', '')
    parts: list[str] = []
    while length > 0:
        parts.append(f'{rng.choice(PIECES)} ${rng.randrange(9999)}$' + '\n' * rng.randrange(2))
        length -= len(parts[-1]) + 1
    return f'{begin}{" ".join(parts)}{end}\nThe answer is $\\boxed{{{answer}}}$.'


def make_run(folder: Path, size: tuple[int, int, int], *, thinking: bool) -> Path:
    """Write problems, config and predictions of a run; return its folder."""
    problems, samples, length = size
    folder.mkdir(parents=True)
    rows = [
        {'id': f'p{i}', 'question': f'What is {i} + 1?', 'answer': i + 1} for i in range(problems)
    ]
    file = folder / 'sums.jsonl'
    file.write_text(''.join(f'{json.dumps(row)}\n' for row in rows))
    (dataset,) = dataset_configs(str(file), Protocol(samples, [8]))
    dataset['infer_cfg']['inferencer']['sampling'] = 'model'
    model: dict[str, Any] = {'abbr': MODEL, 'type': 'opencompass.models.OpenAISDK', 'path': MODEL}
    if thinking:
        kind = 'opencompass.utils.text_postprocessors.extract_non_reasoning_content'
        model['pred_postprocessor'] = {'type': kind}
    run = folder / '20260101_000000'
    write_config(run / 'configs/20260101_000000_1.py', models=[model], datasets=[dataset])
    write_config(folder / 'task.py', models=[model], datasets=[[dataset]], work_dir=str(run))
    rng = random.Random(f'{size}')
    path = run / f'predictions/{MODEL}/{dataset["abbr"]}.json'
    path.parent.mkdir(parents=True)
    with path.open('w') as out:
        for index in range(problems * samples):
            replica, problem = divmod(index, problems)
            answer = problem + 1 + (rng.random() < problem / problems)
            record = {
                'origin_prompt': f'{rows[problem]["question"]} Reason step by step. ' * 4,
                'prediction': text_of(rng, length, answer, thinking=thinking),
                'gold': str(problem + 1),
                'problem_id': f'p{problem}',
                'replica': replica,
                'truncated': False,
                'num_tokens': length // 4,
                'sampling': {'model': True},
            }
            out.write(f'{"," if index else "{"}\n{json.dumps(str(index))}: {json.dumps(record)}')
        out.write('\n}\n')
    return run


def write_config(path: Path, **values: Any) -> None:
    """Write a config as OpenCompass does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shown = (f'{name} = {pprint.pformat(one, sort_dicts=False)}\n' for name, one in values.items())
    path.write_text(''.join(shown))


def measured(*command: object, **environment: str) -> tuple[float, float, float]:
    """Run a command; return GiB of its largest process, its CPU seconds, and the seconds."""
    start = time.perf_counter()
    with tempfile.TemporaryFile('w+') as output:
        process = subprocess.Popen(
            [sys.executable, *map(str, command)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, 'OMP_NUM_THREADS': '1', **environment},
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            output.seek(0)
            print(output.read()[-3000:], file=sys.stderr)
    return usage.ru_maxrss / 2**20, usage.ru_utime + usage.ru_stime, seconds


def evaluated(run: Path) -> tuple[float, float, float]:
    """Evaluate a run as a job does."""
    return measured('-m', 'opencompass.tasks.openicl_eval', run.parent / 'task.py')


def resumed(run: Path) -> tuple[float, float, float]:
    """Leave all responses as a killed inference saved them, and resume it."""
    folder = run.parent / 'resumed' / run.name
    shutil.rmtree(folder, ignore_errors=True)
    task = Config.fromfile(run.parent / 'task.py').to_dict()
    write_config(run.parent / 'infer.py', **{**task, 'work_dir': str(folder)})
    (path,) = (run / 'predictions' / MODEL).glob('*.json')
    measured('-c', SAVE + DRAW, run.parent / 'infer.py', path)
    found = measured('-c', DRAW, run.parent / 'infer.py')
    if not (folder / 'predictions' / MODEL / path.name).is_file():
        raise SystemExit('the inference did not end')
    return found


def main() -> None:
    """Print a line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--stages', nargs='+', choices=STAGES, default=STAGES)
    parser.add_argument('--part', type=int, default=1, help='a 100th of the problems is 100')
    parser.add_argument('--keep', type=Path, help='folder of the runs, made if they are not there')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = (args.keep or Path(temporary)).absolute()
        made = {}
        for name, (problems, *size) in (('big', BIG), ('thinking', THINKING)):
            made[name] = root / name / '20260101_000000'
            if not made[name].is_dir():
                make_run(root / name, (problems // args.part, *size), thinking=name == 'thinking')
        run = made['big']
        print(f'{"stage":12} {"GiB":>6} {"CPU s":>7} {"s":>7}', flush=True)
        for stage in args.stages:
            if stage in ('evaluation', 'thinking'):
                of = made['thinking' if stage == 'thinking' else 'big']
                shutil.rmtree(of / 'results', ignore_errors=True)
                found = evaluated(of)
            elif stage == 'inference':
                found = resumed(run)
            elif stage == 'page':
                copied(run, root / 'copies')
                page = root / 'page.html'
                found = measured('-c', GPASSK, 'report', root / 'copies', '-o', page)
            else:
                found = measured('-c', GPASSK, stage, run)
            print(f'{stage:12} {found[0]:6.2f} {found[1]:7.1f} {found[2]:7.1f}', flush=True)


def copied(run: Path, folder: Path) -> None:
    """Put copies of a result side by side, each of a model of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    for number in range(COPIES):
        shutil.copytree(run / 'results' / MODEL, folder / 'results' / f'model{number:02}')


if __name__ == '__main__':
    main()
