"""Files and runs of one model that are scored together: halves come to what the whole comes to."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from eval_task import COUNTS, OurSums, data_set, infer_in_shards, predict
from judge_server import JudgeServer, reply_body
from opencompass_here import TASKS_HERE, job_here, opencompass

import opencompass_gpassk.commands.run
from opencompass_gpassk.commands.main import main
from opencompass_gpassk.report.page.problems import read_responses
from opencompass_gpassk.samples.sample_files import read_samples
from opencompass_gpassk.samples.sampled_problems import joined
from opencompass_gpassk.trials import read_trials

PROBLEMS, N = 12, 6
Row = dict[str, Any]


def rows(*, ids: bool = True, keys: bool = True) -> list[Row]:
    """Twelve problems with six samples, of which some are right, and one is lost."""
    draw = random.Random(0)
    made: list[Row] = []
    for i in range(PROBLEMS):
        answers = [i if draw.random() < i / PROBLEMS else 100 + s for s in range(N)]
        texts = [f'Sample {s}: \\boxed{{{answer}}}' for s, answer in enumerate(answers)]
        samples: list[Any] = [
            {'text': text, 'tokens': 10 + s, 'truncated': False} for s, text in enumerate(texts)
        ]
        if i == 5:
            samples[2]['text'] = None
        for s, sample in enumerate(samples):
            sample |= {'key': f'{i}/{s}'} if keys else {}
        row = {'question': f'What is {i}?', 'answer': str(i), 'samples': samples}
        made.append(row | ({'id': f'p{i}'} if ids else {}))
    return made


def write(path: Path, made: list[Row]) -> str:
    path.write_text(''.join(json.dumps(row) + '\n' for row in made), 'utf-8')
    return str(path)


def scored(folder: Path, *sources: str, options: tuple[str, ...] = ()) -> Row:
    """The result; what was answered to a problem stands in any order."""
    output = folder / 'scored' / 'result.json'
    output.parent.mkdir(exist_ok=True)
    named = ['--dataset', 'sums', '--model', 'm', *options]
    assert main(['score', *sources, *named, '-k', '2', '4', '-o', str(output)]) == 0
    result: Row = json.loads(output.read_text('utf-8'))
    for row in result['details']:
        row['answers'].sort(key=str)
    return result


def by_problem(made: list[Row], draw: random.Random) -> list[list[Row]]:
    """Each problem in one half."""
    halves: list[list[Row]] = [[], []]
    for row in made:
        draw.choice(halves).append(row)
    return halves


def by_sample(made: list[Row], draw: random.Random) -> list[list[Row]]:
    """Each sample in one half, at least one of each problem in both; some are in both."""
    halves: list[list[Row]] = [[], []]
    for row in made:
        of_half = draw.sample(row['samples'], draw.randint(1, N - 1))
        others = [one for one in row['samples'] if one not in of_half]
        if all('key' in one for one in others):
            others += of_half[:1]
        for half, samples in zip(halves, (of_half, others), strict=True):
            half.append({**row, 'samples': samples})
    return halves


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('split', [by_problem, by_sample])
@pytest.mark.parametrize('keys', [True, False])
def test_halves_of_a_file_equal_the_whole(
    split: Callable[[list[Row], random.Random], list[list[Row]]],
    keys: bool,
    seed: int,
    tmp_path: Path,
) -> None:
    """Split at random by problem or by sample: metrics, intervals, warnings, signature."""
    whole = rows(keys=keys)
    halves = split(whole, random.Random(seed))
    files = [write(tmp_path / f'{i}.jsonl', half) for i, half in enumerate(halves)]
    expected = scored(tmp_path, write(tmp_path / 'whole.jsonl', whole))
    assert scored(tmp_path, *files) == expected
    assert scored(tmp_path, *reversed(files)) == expected


def test_problems_without_ids_are_known_by_their_text(tmp_path: Path) -> None:
    """Their places in two files say nothing; two problems of one text stay two."""
    whole = rows(ids=False)
    whole[1] |= {name: whole[0][name] for name in ('question', 'answer')}
    halves = [whole[:7], whole[7:]]
    files = [write(tmp_path / f'{i}.jsonl', half) for i, half in enumerate(halves)]
    expected = scored(tmp_path, write(tmp_path / 'whole.jsonl', whole))
    assert len(expected['details']) == PROBLEMS
    assert scored(tmp_path, *files) == expected
    again = write(tmp_path / 'again.jsonl', whole[:3])
    assert scored(tmp_path, *files, again) == expected


def test_samples_of_one_key_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever they are called; a lost one gives way; the number is told."""
    whole = rows()
    fewer = [{**row, 'samples': row['samples'][:4]} for row in whole]
    fewer[5]['samples'] = [{'text': 'found', 'key': '5/2'}]
    files = [write(tmp_path / 'a.jsonl', whole), write(tmp_path / 'b.jsonl', fewer)]
    result = scored(tmp_path, *files)
    assert result['counts']['trials'] == PROBLEMS * N
    assert result['counts']['lost'] == 0
    told = capsys.readouterr().err
    assert f'{4 * (PROBLEMS - 1) + 1} responses with the key of another one' in told
    assert f'joined: {files[0]}, {files[1]}' in told


def test_samples_without_keys_are_numbered_on(tmp_path: Path) -> None:
    """All count, unless the texts of all problems in their order are those of another file."""
    files = [write(tmp_path / f'{i}.jsonl', rows(keys=False)) for i in range(2)]
    once = joined([read_samples(file) for file in files])
    assert (once.n, len(once.responses)) == (N, PROBLEMS * N)
    assert '72 responses repeat those of another file' in once.stated.warnings[0]
    other = rows(keys=False)
    for row in other:
        row['samples'][0] = 'another draw'
    both = joined([read_samples(files[0]), read_samples(write(tmp_path / '2.jsonl', other))])
    assert both.n == 2 * N
    of_first = [one.identity for one in both.responses if one.identity and one.identity[0] == 'p0']
    assert of_first == [('p0', number) for number in range(2 * N)]


def test_conflicts_name_both_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One key with two texts; one id with two gold answers, or two questions."""
    first = write(tmp_path / 'a.jsonl', rows())
    changed = rows()
    changed[3]['samples'][2]['text'] = 'something else'
    named = ['--model', 'm']
    assert main(['score', first, write(tmp_path / 'b.jsonl', changed), *named]) == 1
    told = capsys.readouterr().err
    assert f'{first}#4/2 and {tmp_path}/b.jsonl#4/2 have the same key' in told
    for name in ('answer', 'question'):
        changed = rows()
        changed[3][name] = '77'
        assert main(['score', first, write(tmp_path / 'c.jsonl', changed), *named]) == 1
        told = capsys.readouterr().err
        assert f"problem 'p3' is not the same in {first}#4/0" in told
        assert f'{tmp_path}/c.jsonl#4/0' in told


def test_fewer_samples_of_some_problems_are_told(tmp_path: Path) -> None:
    """The halves of six problems are joined, those of the others are one."""
    whole = rows()
    halves = [
        [{**row, 'samples': row['samples'][:3]} for row in whole],
        [{**row, 'samples': row['samples'][3:]} for row in whole[:6]],
    ]
    files = [write(tmp_path / f'{i}.jsonl', half) for i, half in enumerate(halves)]
    warnings = ' '.join(scored(tmp_path, *files)['warnings'])
    assert '6 of 12 problems have fewer than 6 samples' in warnings


CONFIG = """models = [dict(abbr='demo', type='Model', path='p')]
datasets = [dict(abbr='sums_en', type='Data', path='p', n={n}, k=2)]
"""


def infer(run: Path, n: int = 8, workers: int = 1, seed: int = 0, **settings: Any) -> list[Path]:
    """A run of this package's inferencer, whose responses have keys."""
    asked = data_set(OurSums, n=n, **settings)
    asked['infer_cfg']['inferencer']['seed'] = seed
    (run / 'configs').mkdir(parents=True)
    (run / 'configs/20260101_000000.py').write_text(CONFIG.format(n=n), 'utf-8')
    return infer_in_shards(run, asked, workers)


def run_result(folder: Path, *runs: Path, options: tuple[str, ...] = ()) -> Row:
    """The result of runs that are scored together, without what names the run."""
    return scored(folder, *map(str, runs), options=options)


def test_shards_of_a_run_on_two_machines_equal_the_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has two of three shards: what one lacks, the other has."""
    whole, first, second = (tmp_path / name for name in ('whole', 'first', 'second'))
    files = infer(whole, workers=3)
    for run, lacking in ((first, files[0]), (second, files[2])):
        shutil.copytree(whole, run)
        (run / lacking.relative_to(whole)).unlink()
    expected = run_result(tmp_path, whole)
    capsys.readouterr()
    assert run_result(tmp_path, first, second) == expected
    assert '27 responses with the key of another one' in capsys.readouterr().err
    assert run_result(tmp_path, second, first) == expected
    trials = read_trials(tmp_path / 'scored/result.trials.jsonl.gz')[0].trials
    faults: list[str] = []
    shown = read_responses(trials, None, tmp_path / 'scored', faults)  # as the page reads them
    assert (len(shown), faults) == (80, [])


def test_two_texts_of_one_draw_are_a_conflict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both records are named."""
    (first,) = infer(tmp_path / 'a')
    shutil.copytree(tmp_path / 'a', tmp_path / 'b')
    second = tmp_path / 'b' / first.relative_to(tmp_path / 'a')
    second.write_text(first.read_text().replace('Draw 3 of 0', 'Another'))
    assert main(['score', str(tmp_path / 'a'), str(tmp_path / 'b')]) == 1
    told = capsys.readouterr().err
    assert 'have the same key' in told
    assert str(first) in told and str(second) in told


def test_what_no_run_has_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As an error, unless less coverage is enough; then as a warning."""
    first, second = tmp_path / 'first', tmp_path / 'second'
    files = infer(first, workers=4)
    shutil.copytree(first, second)
    for run, lacking in ((first, (1, 2)), (second, (2, 3))):
        for number in lacking:
            (run / files[number].relative_to(first)).unlink()
    assert main(['score', str(first), str(second)]) == 1
    told = '20 of 80 responses are missing, to 10 problems'
    said = capsys.readouterr().err
    assert told in said and '--min-coverage' in said
    result = run_result(tmp_path, first, second, options=('--min-coverage', '0.7'))
    assert told in result['warnings'][0]
    assert (result['signature']['n'], result['counts']['lost']) == (8, 20)


def test_runs_of_some_problems_and_some_samples_are_joined(tmp_path: Path) -> None:
    """Half of the problems with all samples, and all problems with half of the samples."""
    infer(tmp_path / 'whole')
    infer(tmp_path / 'problems', problems=5)
    infer(tmp_path / 'samples', n=4)
    infer(tmp_path / 'more', n=8)
    expected = run_result(tmp_path, tmp_path / 'whole')
    assert [row['c'] for row in expected['details']] == COUNTS
    runs = [tmp_path / name for name in ('problems', 'samples', 'more')]
    assert run_result(tmp_path, *runs) == expected
    uneven = run_result(tmp_path, *runs[:2])
    assert [row['n'] for row in uneven['details']] == [8] * 5 + [4] * 5


def test_runs_with_other_seeds_drew_other_samples(tmp_path: Path) -> None:
    """All count; what one of them lacks, the other does not fill."""
    infer(tmp_path / 'a')
    files = infer(tmp_path / 'b', workers=4, seed=1)
    both = run_result(tmp_path, tmp_path / 'a', tmp_path / 'b')
    assert [(row['n'], row['c']) for row in both['details']] == [(16, 2 * c) for c in COUNTS]
    files[1].unlink()
    assert main(['score', str(tmp_path / 'a'), str(tmp_path / 'b')]) == 1
    fewer = run_result(tmp_path, tmp_path / 'a', tmp_path / 'b', options=('--min-coverage', '0.8'))
    assert (fewer['signature']['n'], fewer['counts']['lost']) == (16, 20)


def test_runs_of_opencompass_are_joined_by_prompt(tmp_path: Path) -> None:
    """Without keys, all samples count; a copy of a run does not."""

    def other(row: int, record: dict[str, Any]) -> dict[str, Any]:
        return {**record, 'prediction': f'Again: {record["prediction"]}'}

    predict(tmp_path / 'a', data_set(OurSums), ours=False)
    predict(tmp_path / 'b', data_set(OurSums), ours=False, change=other)
    shutil.copytree(tmp_path / 'a', tmp_path / 'copy')
    copied = run_result(tmp_path, tmp_path / 'a', tmp_path / 'copy')
    assert [(row['n'], row['c']) for row in copied['details']] == [(8, c) for c in COUNTS]
    result = run_result(tmp_path, tmp_path / 'a', tmp_path / 'b')
    assert result['signature']['n'] == 16
    assert [row['c'] for row in result['details']] == [2 * c for c in COUNTS]


def test_runs_of_models_with_other_configs_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They may be one model under two paths, or two models under one name: the user says so."""
    infer(tmp_path / 'a', n=4)
    shutil.copytree(tmp_path / 'a', tmp_path / 'b')
    (path,) = (tmp_path / 'b/predictions/demo').glob('*.json')
    path.write_text(path.read_text().replace('"model": "', '"model": "/elsewhere/'))
    runs = tmp_path / 'a', tmp_path / 'b'
    assert main(['score', *map(str, runs), '--model', 'm', '--dataset', 'd']) == 1
    assert 'differ in model' in capsys.readouterr().err
    result = run_result(tmp_path, *runs, options=('--join-anyway',))
    assert 'differ in model' in result['warnings'][0]


def test_files_and_runs_are_not_joined(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor all models or data sets of a run."""
    infer(tmp_path / 'run')
    file = write(tmp_path / 'a.jsonl', rows())
    named = ['--model', 'm', '--dataset', 'd']
    assert main(['score', file, str(tmp_path / 'run'), *named]) == 1
    assert 'are not joined' in capsys.readouterr().err
    path = tmp_path / 'run/predictions/demo'
    shutil.copytree(path, path.with_name('other'))
    assert main(['score', str(tmp_path / 'run'), *named]) == 1
    assert 'would join several models' in capsys.readouterr().err


@pytest.mark.slow
def test_prediction_files_of_two_runs_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the docs say: a run of the whole data takes them, and nothing is asked for again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opencompass_gpassk.commands.run, '_opencompass', job_here)
    for folder, made in (('here', rows()[:2]), ('there', rows()[2:4]), ('all', rows()[:4])):
        Path(folder).mkdir()
        write(Path(folder, 'exam.jsonl'), [{**row, 'samples': []} for row in made])

    def respond(body: dict[str, Any]) -> web.Response:
        return web.json_response(reply_body(f'\\boxed{{{body["seed"] % 4}}}'))

    with JudgeServer(respond=respond) as server:

        def job(folder: str, *more: str) -> list[str]:
            data = ['--data', f'{folder}/exam.jsonl', '--work-dir', f'runs/{folder}']
            return ['run', '--model', server.url, '-n', '4', '-k', '2', *data, *more]

        assert main(job('here')) == main(job('there')) == 0
        assert main(job('all', '--dry-run')) == 0
        (model,) = {path.name for path in Path('runs').glob('*/*/predictions/*')}
        whole = Path('runs/all/20260101_000000/predictions', model)
        whole.mkdir(parents=True)
        for path in Path('runs').glob(f'here/*/predictions/{model}/*'):
            shutil.copy(path, whole)
        for path in Path('runs').glob(f'there/*/predictions/{model}/*'):
            shutil.copy(path, whole / f'unused_{path.stem}_1.json')
        asked = server.calls
        opencompass(tmp_path, 'runs/all.py', TASKS_HERE, '-r')
        assert server.calls == asked
    (made,) = (whole.parents[1] / 'results' / model).glob('*.json')
    result = json.loads(made.read_text('utf-8'))
    joined_ = run_result(tmp_path, Path('runs/here'), Path('runs/there'))
    assert [(row['problem_id'], row['n'], row['c']) for row in result['details']] == [
        (row['problem_id'], row['n'], row['c']) for row in joined_['details']
    ]
