"""Record what users get from the package, and compare two recordings.

It shows that a change of the code changes no output. Record in the checkouts before and after the
change, then compare:

    python tools/record_outputs.py record FOLDER [--jobs livemath plan …]
    python tools/record_outputs.py compare FOLDER_A FOLDER_B

``record`` works on the checkout in the current folder. Its jobs are

- livemath, judge, rvbench, reasoneval: the configs of OpenCompass, on the demonstration model; the
  judge is the server of the tests;
- score, check: ``gpassk`` on the data in the folder ``GPASSK_TEST_DATA``;
- compare, plan, audit, rescore, verdicts: ``gpassk`` on the runs of livemath and judge, or on those
  of an earlier recording if these jobs aren't named; runs are in ``outputs/record_outputs``;
- rv: ``gpassk rv``.

A recording holds predictions, results, trials, tables, metrics (SVG), the printed text and the data
of report pages. Times, absolute paths and ports are replaced by TIME, CHECKOUT and the like. Logs,
progress bars, PNG files, and the markup, style and scripts of report pages are left out.

``compare`` prints a line for each difference and ends with 1 if there is one. Numbers in JSON may
differ by 1e-12, absolutely or relatively. Texts, keys and the order of keys must be equal.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

DATA = os.environ.get('GPASSK_TEST_DATA', '')
RUNS = Path('outputs/record_outputs')  # relative, as its length may decide where a text wraps
LIVEMATH, JUDGE = RUNS / 'livemath', RUNS / 'judge'
CONFIGS = {
    'livemath': 'configs/eval_livemath.py',
    'judge': 'configs/eval_livemath_judge.py',
    'rvbench': 'configs/eval_rvbench.py',
    'reasoneval': 'configs/eval_reasoneval.py',
}
COMMANDS = {  # the words behind `gpassk`; OUT is the job's own folder
    'score': ['score DATA/samples/qwen25math_math_100x8.jsonl -k 2 4 8 -o OUT/result.json'],
    'check': ['check DATA/equivalence/labelled_pairs.jsonl'],
    'compare': [
        'score OUT/a.jsonl -k 4 8 --dataset sample --model a -o OUT/a.json',
        'score OUT/b.jsonl -k 4 8 --dataset sample --model b -o OUT/b.json',
        'compare OUT/a.json OUT/b.json --all --json OUT/c.json --markdown OUT/c.md',
        f'compare {LIVEMATH} {JUDGE} --fail-if-worse mG-Pass@8',
    ],
    'plan': [f'plan {LIVEMATH}', f'plan {LIVEMATH} --json', 'plan --mean 0.4 --spread 0.4 -k 8'],
    'audit': [f'audit {LIVEMATH} -o OUT/audit', f'audit {LIVEMATH} --draw OUT/drawn.jsonl'],
    'rescore': ['rescore OUT -k 2 16 --tau 0.5 1.0'],
    'verdicts': [f'verdicts export {JUDGE} -o OUT/verdicts.jsonl'],
    'rv': ['rv list', 'rv show LampsInStep', 'rv generate --seed 7 -o OUT/rv.jsonl'],
}
KEPT = ('.csv', '.gz', '.html', '.json', '.jsonl', '.md', '.svg', '.tex', '.txt')
NOISE = re.compile(r'\d\d/\d\d \d\d:\d\d:\d\d - OpenCompass - |launch OpenICL|\d+%\|')
VARYING = {
    r'(?<!\d)20\d{6}_\d{6}(?!\d)': 'TIME',
    r'\b20\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?': 'TIME',
    r'(?<="created": )\d+\.\d+': '"TIME"',
    r'127\.0\.0\.1:\d+': 'HOST',
}
EMBEDDED = re.compile(r'<script type="application/json" id="([^"]+)">(.*?)</script>', re.DOTALL)
SHOWN = 20  # differences of a file


def record(folder: Path, jobs: list[str]) -> None:
    """Run jobs and write their outputs, normalised, to ``folder/<job>``."""
    for job in jobs:
        start, out = time.monotonic(), RUNS / job
        for stale in (out, folder / job):
            shutil.rmtree(stale, ignore_errors=True)
        if not DATA and 'DATA' in ''.join(COMMANDS.get(job, [])):
            tell(f'{job}: left out, GPASSK_TEST_DATA is not set')
            continue
        out.mkdir(parents=True)
        if job in CONFIGS:
            run_config(job, out)
        if job == 'compare':
            write_halves(out)
        if job == 'rescore':
            source = run_folder(LIVEMATH)
            shutil.copytree(source, out / source.name, ignore=shutil.ignore_patterns('summary'))
        for i, command in enumerate(COMMANDS.get(job, []), 1):
            words = command.replace('DATA', DATA).replace('OUT', str(out)).split()
            for work_dir in (LIVEMATH, JUDGE):
                if str(work_dir) in words:
                    run_folder(work_dir)
            if code := run_gpassk(words, out / f'printed_{i}.txt'):
                tell(f'{job}: gpassk {words[0]} ended with {code}')
        tell(f'{job}: {keep(out, folder / job)} files, {time.monotonic() - start:.1f} s')


def run_config(job: str, out: Path) -> None:
    """Run a config of OpenCompass; the recording ends if a task fails."""
    command = [str(Path(sys.executable).with_name('opencompass')), CONFIGS[job], '-w', str(out)]
    if job == 'judge':
        server = [sys.executable, 'tests/kit/judge_server.py']
        with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout
                url = process.stdout.readline().strip()
                run(command, out / 'printed.txt', OC_JUDGE_MODEL='stub', OC_JUDGE_API_BASE=url)
            finally:
                process.terminate()
    else:
        run(command, out / 'printed.txt')
    if run_gpassk(['status', str(out)], out / 'status.txt'):
        sys.exit(f'{job} failed, see {out}:\n{(out / "status.txt").read_text("utf-8")}')


def run_gpassk(words: list[str], printed: Path) -> int:
    """Run the checkout's ``gpassk``; the installed script may import another module."""
    files = [path for path in map(Path, ('setup.py', 'pyproject.toml')) if path.exists()]
    text = ''.join(path.read_text('utf-8') for path in files)
    module, name = re.findall(r'\bgpassk *= *[\'"]?([\w.]+):(\w+)', text)[0]
    code = f'import sys; from {module} import {name}; sys.exit({name}())'
    return run([sys.executable, '-c', code, *words], printed)


def run(command: list[str], printed: Path, **variables: str) -> int:
    """Run a command on the checkout's package and write its output to a file, without logs."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(('GPASSK_', 'OC_JUDGE_'))}
    env |= {'PYTHONPATH': str(Path.cwd()), **variables}
    done = subprocess.run(command, env=env, capture_output=True, encoding='utf-8')
    lines = [*done.stdout.rstrip().split('\n'), *re.split(r'\s*[\r\n]\s*', done.stderr.strip())]
    kept = [line.rstrip() for line in lines if not NOISE.search(line)]
    printed.write_text('\n'.join([*kept, f'exit code {done.returncode}\n']), 'utf-8')
    return done.returncode


def run_folder(work_dir: Path) -> Path:
    """Return the newest run of a work dir."""
    runs = sorted(work_dir.glob('2*_*'))
    if not runs:
        sys.exit(f'{work_dir} holds no run: record {work_dir.name} first')
    return runs[-1]


def write_halves(out: Path) -> None:
    """Write livemath's samples as if by two models, a and b, for ``gpassk score``."""
    predictions = run_folder(LIVEMATH) / 'predictions/gpassk-demo/sample-n16.json'
    rows: dict[str, dict[str, dict[str, Any]]] = {'a': {}, 'b': {}}
    for one in json.loads(predictions.read_bytes()).values():
        problem = {
            'id': one['problem_id'],
            'question': one['origin_prompt'][0]['prompt'],
            'answer': one['gold'],
            'split': one['problem_id'].split('_')[0],
            'samples': [],
        }
        half = rows['a' if one['replica'] < 8 else 'b']
        half.setdefault(one['problem_id'], problem)['samples'].append(one['prediction'])
    for name, half in rows.items():
        (out / f'{name}.jsonl').write_text('\n'.join(map(json.dumps, half.values())), 'utf-8')


def keep(source: Path, target: Path) -> int:
    """Write the files that users look at, normalised; return how many."""
    files = (path for path in sorted(source.rglob('*')) if path.suffix in KEPT)
    paths = [path for path in files if 'logs' not in path.relative_to(source).parts]
    for path in paths:
        name, content = path.relative_to(source).as_posix(), path.read_bytes()
        if path.suffix == '.gz':
            name, content = name.removesuffix('.gz'), gzip.decompress(content)
        text = content.decode('utf-8')
        if path.suffix == '.html':
            name, text = f'{name}.json', json.dumps(page_data(text))
        if name.endswith('.json'):
            text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
        if name == 'verdicts.jsonl':  # in the order in which the judge replied
            text = '\n'.join(sorted(text.split('\n')))
        place = target / normalised(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(normalised(text), 'utf-8')
    return len(paths)


def page_data(page: str) -> dict[str, Any]:
    """Return the JSON documents in a report page, unpacked."""
    found = {name: json.loads(text) for name, text in EMBEDDED.findall(page)}
    if not found:
        tell('a report page is left out: it holds no JSON where this script looks')
    return {name: unpacked(value) for name, value in found.items()}


def unpacked(value: Any) -> Any:
    """Return a list with its compressed JSON texts unpacked, and all else unchanged."""
    if isinstance(value, list):
        return [unpacked(part) for part in value]
    try:
        return json.loads(zlib.decompress(base64.b64decode(value)))
    except (TypeError, ValueError, zlib.error):
        return value


def normalised(text: str) -> str:
    """Replace texts that differ between two runs of the same code."""
    for folder, name in ((DATA, 'DATA'), (sys.prefix, 'PYTHON'), (str(Path.cwd()), 'CHECKOUT')):
        text = text.replace(folder, name) if folder else text
    for pattern, name in VARYING.items():
        text = re.sub(pattern, name, text)
    return text


def compare(folders: tuple[Path, Path]) -> int:
    """Print the differences of two recordings; return 1 if there are any, else 0."""
    names = [{p.relative_to(f).as_posix() for p in f.rglob('*') if p.is_file()} for f in folders]
    every, different = sorted(names[0] | names[1]), 0
    for name in every:
        missing = [
            folder for folder, there in zip(folders, names, strict=True) if name not in there
        ]
        if missing:
            lines = [f'not in {missing[0]}']
        else:
            lines = list(differences(*(contents(folder / name) for folder in folders)))
        different += bool(lines)
        for line in lines[:SHOWN]:
            print(f'{name}: {line}')
        if len(lines) > SHOWN:
            print(f'{name}: {len(lines) - SHOWN} more differences')
    tell(f'{different} of {len(every)} files differ')
    return int(different > 0 or not every)


def contents(path: Path) -> Any:
    """Return a file's JSON, or its lines by number; lines of .jsonl are parsed too."""
    text = path.read_text('utf-8')
    if path.suffix == '.json':
        return json.loads(text)
    return {
        f'line {i}': json.loads(line) if line and path.suffix == '.jsonl' else line
        for i, line in enumerate(text.split('\n'), 1)
    }


def differences(old: Any, new: Any, path: str = '') -> Iterator[str]:
    """Yield ``path: old → new`` for each difference; ``...`` stands for a missing value."""
    if isinstance(old, dict) and isinstance(new, dict):
        orders = [key for key in old if key in new], [key for key in new if key in old]
        if orders[0] != orders[1]:
            yield f'{path or "file"}: order of keys: {shown(*orders)}'
        for key in old | new:
            where = f'{path}.{key}' if path else key
            yield from differences(old.get(key, ...), new.get(key, ...), where)
    elif isinstance(old, list) and isinstance(new, list):
        for i, pair in enumerate(zip_longest(old, new, fillvalue=...)):
            yield from differences(*pair, f'{path}[{i}]')
    elif {type(old), type(new)} <= {int, float}:
        both_nan = math.isnan(old) and math.isnan(new)
        if not both_nan and not math.isclose(old, new, rel_tol=1e-12, abs_tol=1e-12):
            yield f'{path}: {old!r} → {new!r}'
    elif type(old) is not type(new) or old != new:
        yield f'{path}: {shown(old, new)}'


def shown(old: Any, new: Any) -> str:
    """Return ``old → new``; long texts are cut to the part where they begin to differ."""
    texts = ['nothing' if value is ... else repr(value) for value in (old, new)]
    same = next((i for i, (a, b) in enumerate(zip_longest(*texts)) if a != b), 0)
    parts = [text if len(text) <= 80 else f'…{text[max(same - 20, 0) :][:80]}…' for text in texts]
    return ' → '.join(parts)


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    actions = parser.add_subparsers(dest='action', required=True)
    recorder = actions.add_parser('record')
    recorder.add_argument('folder', type=Path)
    jobs = [*CONFIGS, *COMMANDS]
    recorder.add_argument('--jobs', nargs='+', choices=jobs, default=jobs, metavar='JOB')
    comparer = actions.add_parser('compare')
    comparer.add_argument('folders', type=Path, nargs=2)
    args = parser.parse_args()
    if args.action == 'compare':
        return compare(tuple(args.folders))
    record(args.folder, args.jobs)
    return 0


if __name__ == '__main__':
    sys.exit(main())
