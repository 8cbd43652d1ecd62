"""``gpassk compare``: which results are meant, what is shown and written, and the exit code."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from made_sweep import GREEDY, SAMPLED, Sweep, add_result, make_sweep

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.formats.display import decimal_text
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.trials import read_trials, write_trials

HOSTILE = '<script>alert(1)</script>\x1b[2J\u202e\u2028| a |\n# head `x` [l](javascript:1)'


def run_at(folder: Path, models: Mapping[str, float], seed: int = 0, **more: Any) -> Path:
    """A run of 40 problems in a work dir."""
    make_sweep(folder / '20260101_000000', models, Sweep(**{'problems': 40, **more}), seed=seed)
    return folder


def result_path(work_dir: Path, model: str, dataset: str = SAMPLED) -> Path:
    """Where a run's result is."""
    return work_dir / f'20260101_000000/results/{model}/{dataset}.json'


def change(path: Path, signature: Mapping[str, Any] | None = None, **fields: Any) -> None:
    """Change fields of a result, and of its signature."""
    result = json.loads(path.read_text('utf-8'))
    result |= fields | {'signature': result['signature'] | dict(signature or {})}
    path.write_text(json.dumps(result), 'utf-8')


@pytest.fixture(scope='module')
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A model before and after a planted fall."""
    folder = tmp_path_factory.mktemp('runs')
    before = run_at(folder / 'before', {'m': 0.5})
    return before, run_at(folder / 'after', {'m': -2.5}, seed=1)


def test_differences_are_those_of_the_result_files(
    runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In JSON for every metric, in tables rounded; the greedy data set is compared, too."""
    file = tmp_path / 'c.json'
    assert main(['compare', *map(str, runs), '--json', str(file), '--all']) == 0
    document = json.loads(file.read_text('utf-8'))
    assert [one['data_set'] for one in document['data_sets']] == [SAMPLED, GREEDY]
    told = capsys.readouterr()
    assert f'comparing {GREEDY}' in told.err
    for one in document['data_sets']:
        a, b = (
            json.loads(result_path(run, 'm', one['data_set']).read_text('utf-8')) for run in runs
        )
        shown = {row['key']: row for row in one['differences']}
        assert 'accuracy' in shown or {'mG-Pass@4', 'en/G-Pass@2_1.0'} <= shown.keys()
        for key, row in shown.items():
            assert row['difference'] == pytest.approx(b['metrics'][key] - a['metrics'][key]), key
        counts = {row['problem_id']: row for row in one['changes']}
        for before, after in zip(a['details'], b['details'], strict=True):
            assert counts[before['problem_id']]['c'] == [before['c'], after['c']]
        assert one['gained'] + one['lost'] + one['unchanged'] == one['problems'] == 40
    row = next(row for row in document['data_sets'][0]['differences'] if row['key'] == 'mG-Pass@4')
    assert 'lmb-n8: B minus A on 40 problems' in told.out
    assert decimal_text(row['first'], 1) in told.out
    assert decimal_text(row['difference'], 1) in told.out
    assert 'en/mG-Pass@4' not in told.out and 'en/G-Pass@4_1.0' in told.out
    assert 'for problems like these' in told.out
    first = document['data_sets'][0]
    assert first['lost'] > 10
    assert 'problems lost, the 10 that changed most' in told.out


def test_single_results_may_be_named_by_relative_paths(
    runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result in a run is found wherever the command is typed."""
    monkeypatch.chdir(runs[0].parent)
    paths = [str(result_path(run, 'm').relative_to(runs[0].parent)) for run in runs]
    assert main(['compare', *paths]) == 0
    assert 'B is less stable than A' in capsys.readouterr().out


def test_the_decision_comes_last(
    runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """After a few lines, without groups and other thresholds."""
    assert main(['compare', *map(str, runs), '--dataset', SAMPLED]) == 0
    told = capsys.readouterr().out
    assert 'en/G-Pass@4_1.0' not in told and 'G-Pass@4_0.5' not in told and GREEDY not in told
    lines = told.splitlines()
    assert len(lines) <= 22 and lines[-2].startswith('On these 40 problems B is less stable')


def test_a_fall_fails_a_build(runs: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """A planted one, by the exit code; the other way round, and between equals, it is 0."""
    before, after = map(str, runs)
    check = ['--dataset', SAMPLED, '--fail-if-worse', 'mG-Pass@4', 'accuracy']
    assert main(['compare', before, after, *check]) == 1
    assert f'mG-Pass@4 on {SAMPLED}: WORSE, -' in capsys.readouterr().out
    assert main(['compare', after, before, *check]) == 0
    assert main(['compare', before, before, *check]) == 0
    told = capsys.readouterr().out
    assert f'mG-Pass@4 on {SAMPLED}: not significantly worse, +0.0 points, p 1.000' in told
    assert main(['compare', before, after]) == 0  # nobody asked


def test_the_exit_code_outlives_a_reader(runs: tuple[Path, Path]) -> None:
    """As head leaves; 1 would say that a metric fell."""
    arguments = [
        'compare',
        *map(str, runs[::-1]),
        '--dataset',
        SAMPLED,
        '--fail-if-worse',
        'accuracy',
    ]
    process = subprocess.Popen(
        [
            sys.executable,
            '-m',
            'opencompass_gpassk.commands.main',
            *arguments,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, 'OMP_NUM_THREADS': '1'},
    )
    assert process.stdout
    process.stdout.close()
    assert process.wait(60) == 0


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--fail-if-worse', 'G-Pass@99'], 'G-Pass@99: not both have it; choose from '),
        (['--model-b', 'other'], '--model-b is other; choose from m'),
        (['--dataset', 'none'], '--dataset none is in neither; choose from lmb-n8, lmb-greedy'),
        (['--level', '2'], 'the level is 2.0'),
        (['--level', '0.9999999'], 'the level is 0.9999999'),
        (['--json', '/nowhere/x.json'], 'there is no folder /nowhere'),
    ],
)
def test_errors_are_no_falls(
    runs: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    """The exit code is 2, and the message says what there is."""
    assert main(['compare', *map(str, runs), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_whatever_goes_wrong_is_no_fall(
    runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python's own exit code of an exception would be 1."""
    monkeypatch.setattr(Result, 'of', lambda stored: 1 / 0)
    assert main(['compare', *map(str, runs)]) == 2
    assert 'ZeroDivisionError' in capsys.readouterr().err


def test_two_models_of_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are the two there are, or those that are named; of three somebody has to choose."""
    two = run_at(tmp_path / 'two', {'m': 0.5, 'other': 0.2}, problems=6)
    assert main(['compare', str(two)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith('A: m, ')
    assert lines[1].startswith('B: other, ')
    assert main(['compare', str(two), '--model-a', 'other']) == 0
    assert capsys.readouterr().out.startswith('A: other, ')
    three = run_at(tmp_path / 'three', {'m': 0.5, 'other': 0.2, 'third': 0}, problems=6)
    assert main(['compare', str(three)]) == 2
    assert 'choose one with --model-a: m, other, third' in capsys.readouterr().err
    assert main(['compare', str(three), '--model-a', 'third', '--model-b', 'm']) == 0
    assert main(['compare', str(two), str(three), '--model-a', 'm']) == 0  # m in both
    one = run_at(tmp_path / 'one', {'m': 0.5}, problems=6)
    assert main(['compare', str(one), str(three)]) == 0
    capsys.readouterr()
    assert main(['compare', str(one)]) == 2
    assert 'A has only the model m' in capsys.readouterr().err


def test_results_that_were_scored_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of gpassk score -o, of whatever name; a missing file of trials is told."""
    for name, right in (('a', 3), ('b', 1)):
        rows = [
            {'question': f'{i} + 1 = ?', 'answer': str(i + 1)}
            | {'samples': [f'Try {i * j}: \\boxed{{{i + (j < right)}}}' for j in range(4)]}
            for i in range(1, 13)
        ]
        samples = tmp_path / f'{name}.jsonl'
        samples.write_text('\n'.join(map(json.dumps, rows)), 'utf-8')
        assert main(['score', str(samples), '-o', str(tmp_path / f'{name}.json')]) == 0
    both = [str(tmp_path / f'{name}.json') for name in 'ab']
    capsys.readouterr()
    assert main(['compare', *both, '--fail-if-worse', 'accuracy']) == 1
    told = capsys.readouterr().out
    assert re.search(r'average@4 +75\.0 +25\.0 +-50\.0', told)
    assert 'NOT COMPARABLE' not in told  # the data are the same, but for the file's name
    (tmp_path / 'c.jsonl').write_text(json.dumps(rows[0] | {'answer': '9'}), 'utf-8')
    assert main(['score', str(tmp_path / 'c.jsonl'), '-o', str(tmp_path / 'c.json')]) == 0
    other = json.loads((tmp_path / 'c.json').read_text('utf-8'))['signature']
    change(tmp_path / 'b.json', {'data': other['data']})
    assert main(['compare', *both]) == 0
    assert 'NOT COMPARABLE: different versions of the data: a:' in capsys.readouterr().out
    (tmp_path / 'b.trials.jsonl.gz').unlink()
    assert main(['compare', *both, '--fail-if-worse', 'accuracy']) == 2
    assert 'b.trials.jsonl.gz: not readable' in capsys.readouterr().err


def test_what_is_not_comparable_is_said_loudly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another judge, another prompt, other data; sampling may be what is compared."""
    a = run_at(tmp_path / 'a', {'m': 0.5}, problems=6)
    b = run_at(tmp_path / 'b', {'m': 0.5}, problems=6)
    signature = {'judge': 'llm:big', 'prompt': '00000000', 'data': 'LiveMathBench-202412:2'}
    change(
        result_path(b, 'm'),
        signature | {'sampling': {'temperature': 0.3}},
        counts={'problems': 6, 'trials': 48, 'unjudged': 2, 'lost': 1, 'truncated': 0},
    )
    assert main(['compare', str(a), str(b), '--dataset', SAMPLED]) == 0
    told = ' '.join(capsys.readouterr().out.split())
    assert 'NOT COMPARABLE: ' in told
    assert 'different judges: rule and llm:big' in told
    assert 'different prompts: 9c01aa52 and 00000000' in told
    assert 'different versions of the data' in told
    assert 'B has 2 missing verdicts: 1 unjudged, 1 lost' in told
    assert ' is more stable than ' not in told and ' is less stable than ' not in told
    found = tmp_path / 'found.json'
    chosen = ['--dataset', SAMPLED, '--fail-if-worse', 'accuracy', '--json', str(found)]
    assert main(['compare', str(a), str(b), *chosen]) == 2
    (of_set,) = json.loads(found.read_text())['data_sets']
    lines = [one[of] for one in of_set['differences'] for of in ('these', 'like_these')]
    assert {one['p_value'] for one in lines} == {None} and of_set['claims'] == []
    assert 'lmb-n8: different versions of the data' in capsys.readouterr().err
    assert 'sampling: A temperature=1.0, top_p=0.8, B temperature=0.3' in told


def test_what_is_not_checked_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A data set without the metric that was named."""
    for model, ability in (('a', 3.0), ('b', -1.0)):
        for n in (4, 1):
            sweep = Sweep(problems=40, n=n)
            add_result(tmp_path / model, model, f'd{n}', ability, sweep, n, random.Random(n))
    sides = ['compare', str(tmp_path / 'a'), str(tmp_path / 'b')]
    assert main([*sides, '--fail-if-worse', 'G-Pass@4_1.0']) == 1
    assert (
        '--fail-if-worse G-Pass@4_1.0: d1 lacks it, and is not checked' in capsys.readouterr().err
    )


def test_several_data_sets_are_told_as_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their mean is one test; a name is no escape of the terminal."""
    for model, ability in (('a', 3.0), ('b', -1.0)):
        for name in ('d', 'e\x1b[2J'):
            sweep = Sweep(problems=40, benchmark=name)
            add_result(tmp_path / model, model, name, ability, sweep, 8, random.Random(name))
    file = tmp_path / 'c.json'
    sides = [str(tmp_path / name) for name in 'ab']
    assert main(['compare', *sides, '--json', str(file)]) == 0
    document = json.loads(file.read_text())
    found = [one['differences'] for one in document['data_sets']]
    points = [one['difference'] for of in found for one in of if one['tests']]
    assert document['mean']['difference'] == pytest.approx(sum(points) / 2)
    told = ' '.join(capsys.readouterr().out.split())
    assert 'e\ufffd[2J:' in told and '\x1b' not in told
    assert 'Mean of 2 data sets: B is less stable than A in G-Pass@4_1.0: -' in told


def test_data_sets_of_other_names_are_paired(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By benchmark and n, else by benchmark, which is said; k is what both can tell."""
    a = run_at(tmp_path / 'a', {'m': 0.5}, problems=6)
    b = tmp_path / 'b'
    more = Sweep(problems=6, n=16, k=(4, 8))
    add_result(b / '20260101_000000', 'm', 'renamed', 0.5, more, 16, random.Random(0))
    assert main(['compare', str(a), str(b)]) == 0
    told = capsys.readouterr().out
    assert 'lmb-n8 and renamed: B minus A on 6 problems' in told
    assert 'NOT COMPARABLE' not in told
    assert 'G-Pass@4_1.0' in told
    assert 'G-Pass@8' not in told
    assert 'not compared: m, lmb-greedy' in told
    # A data set that B lacks might hide that it is worse.
    assert main(['compare', str(a), str(b), '--fail-if-worse', 'accuracy']) == 2
    assert 'B has no result for lmb-greedy' in capsys.readouterr().err


def test_problems_that_b_lacks_might_hide_a_fall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They have to be allowed to be missing; those that A lacks are nobody's loss."""
    a, b = (run_at(tmp_path / name, {'m': 0.5}, problems=n) for name, n in (('a', 40), ('b', 30)))
    check = ['--dataset', SAMPLED, '--fail-if-worse', 'accuracy']
    assert main(['compare', str(a), str(b), *check]) == 2
    assert '10 problems of A on lmb-n8, such as ' in capsys.readouterr().err
    assert main(['compare', str(a), str(b), *check, '--allow-missing']) == 0
    assert main(['compare', str(b), str(a), *check]) == 0


def test_problems_of_one_run_alone_are_counted_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """B was asked half of them; a benchmark of other problems can't be compared."""
    a = run_at(tmp_path / 'a', {'m': 0.5}, problems=12)
    b = run_at(tmp_path / 'b', {'m': 0.5}, problems=6)
    assert main(['compare', str(a), str(b)]) == 0
    told = capsys.readouterr().out
    assert 'B minus A on 6 problems' in told
    assert 'left out: 6 problems, not in B: WLPMC_en/3, WLPMC_cn/3, CNMO_en/4' in told
    other = run_at(tmp_path / 'other', {'m': 0.5}, problems=6, benchmark='another')
    assert main(['compare', str(a), str(other)]) == 2
    assert 'no results of the same benchmark' in capsys.readouterr().err


def test_damaged_trials_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut off, not gzip, not named, or of a protocol that can't be."""
    a = run_at(tmp_path / 'a', {'m': 0.5}, problems=6)
    b = run_at(tmp_path / 'b', {'m': 0.5}, problems=6)
    trials = result_path(b, 'm').with_name(f'{SAMPLED}.trials.jsonl.gz')
    whole = trials.read_bytes()
    arguments = ['compare', str(a), str(b), '--dataset', SAMPLED]
    for content in (whole[: len(whole) // 2], b'{}', gzip.compress(b'[]\n'), b''):
        trials.write_bytes(content)
        assert main(arguments) == 2
        assert trials.name in capsys.readouterr().err
    trials.write_bytes(whole)
    change(result_path(b, 'm'), k=[99])
    assert main(arguments) == 2
    assert 'k is 99' in capsys.readouterr().err
    change(result_path(b, 'm'), k=[2], trials_file='../../x')
    assert main(arguments) == 2
    assert 'it names no file of trials' in capsys.readouterr().err


def test_hostile_texts_stay_in_their_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids, questions, groups and abbrs with markup, control characters, and a megabyte."""
    a = run_at(tmp_path / 'a', {'m': 2.0}, problems=8)
    b = run_at(tmp_path / 'b', {'m': -3.0}, problems=8)
    for run in (a, b):
        path = result_path(run, 'm').with_name(f'{SAMPLED}.trials.jsonl.gz')
        table, meta = read_trials(path)
        for problem in table.problems:
            object.__setattr__(problem, 'question', HOSTILE + 'x' * 1_000_000)
            object.__setattr__(
                problem, 'groups', {'split': f'{problem.cluster}{HOSTILE}{"x" * 100_000}'}
            )
            object.__setattr__(problem, 'problem_id', problem.problem_id + HOSTILE)
        for trial in table.trials:
            trial.problem_id += HOSTILE
        write_trials(path, table, meta)
        judge = {'judge': run.name + HOSTILE + 'x' * 500}
        change(result_path(run, 'm'), judge, groups={'x': {'split': 'x', 'problems': 1}})
    arguments = ['compare', str(a), str(b), '--dataset', SAMPLED, '--all']
    assert main([*arguments, '--json', str(tmp_path / 'c.json')]) == 0
    told = capsys.readouterr().out
    assert 'problems lost' in told
    assert not set('\x1b\u202e\u2028') & {*told}
    assert len(told) < 50_000
    json.loads((tmp_path / 'c.json').read_text('utf-8'))


@pytest.mark.parametrize(
    ('skill', 'points', 'code', 'told'),
    [(2.0, '30', 0, 'shown'), (2.0, '0.1', 3, 'undecided'), (-4.0, '5', 1, 'more than that')],
)
def test_a_cheaper_model_must_be_shown_to_be_as_stable(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    skill: float,
    points: str,
    code: int,
    told: str,
) -> None:
    """Shown, undecided, or less stable: the interval's place beside the margin decides."""
    a = run_at(tmp_path / 'a', {'m': 2.0}, problems=40)
    b = run_at(tmp_path / 'b', {'m': skill}, problems=40, seed=1)
    compared = ['compare', str(a), str(b), '--dataset', SAMPLED]
    assert main([*compared, '--fail-unless-as-stable', points]) == code
    assert told in capsys.readouterr().out
    assert main([*compared, '--margin', points]) == 0
    assert f'B is at most {points} points less stable than A' in capsys.readouterr().out
    change(result_path(b, 'm'), {'judge': 'llm:another'})
    assert main([*compared, '--fail-unless-as-stable', points]) == 2
    assert 'lmb-n8: different judges' in capsys.readouterr().err
    for wrong, remedy in (('-1', 'give points above 0'), ('0.03', 'give --margin 3')):
        assert main([*compared, '--margin', wrong]) == 2
        assert remedy in capsys.readouterr().err
