"""``gpassk plan`` as it is run: on a pilot's file and folder, on assumptions, on nonsense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict, write_trials

COUNTS = (0, 0, 1, 3, 8, 8, 7, 8, 0, 2)  # of 8 samples; two neighbours are translations


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    """Return the trials file of ten problems in five clusters, and of one original."""
    problems = [Problem(f'p{i}', cluster=f'q{i // 2}', version='1') for i in range(len(COUNTS))]
    problems.append(Problem('first', cluster='q0', version='original'))
    trials = [
        Trial(problem.problem_id, i, Verdict.CORRECT if i < count else Verdict.INCORRECT)
        for problem, count in zip(problems, (*COUNTS, 8), strict=True)
        for i in range(8)
    ]
    path = tmp_path / 'results' / 'tiny\x1b[31m' / 'math.trials.jsonl.gz'
    path.parent.mkdir(parents=True)
    write_trials(path, TrialTable(problems, trials), {'k': [2, 4], 'signature': {'n': 8}})
    return path


def outlooks(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict[str, Any]]:
    """Run the command and return its JSON lines."""
    assert main(['plan', *map(str, arguments), '--json']) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_pilot_is_planned_from(pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its greatest k, its metrics without the originals, its clusters; a row for each n."""
    found = {one['metric']: one for one in outlooks(capsys, pilot, '--problems', 10, 40)}
    assert list(found) == ['accuracy', 'G-Pass@4_0.5', 'G-Pass@4_1.0', 'mG-Pass@4']
    accuracy = found['accuracy']
    assert accuracy['observed'] == pytest.approx(sum(COUNTS) / 80)
    assert accuracy['mean'] == pytest.approx(sum(COUNTS) / 80, abs=0.02)
    assert '10 problems, n = 8, 5 clusters' in accuracy['source']
    assert accuracy['design'] > 1
    rows = found['G-Pass@4_1.0']['rows']
    assert [row['n'] for row in rows] == [4, 8, 12, 16, 24, 32, None]
    shares = [row['within_share'] for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0
    for row in rows:
        (low, high), (lower, higher) = row['intervals']
        assert low < lower < higher < high
    assert found['G-Pass@4_1.0']['advised']['n'] == 12


def test_a_folder_and_its_table(pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder means the same file; names can't command the terminal."""
    folder = pilot.parent.parent.parent
    assert main(['plan', str(folder), '-k', '2', '-n', '8', '16', '--tau', '1']) == 0
    out = capsys.readouterr().out
    assert out.startswith('Conclusion for ')
    assert '\x1b' not in out
    assert 'on math: 10 problems' in out
    assert 'G-Pass@2_1.0' in out
    assert '16 = 8k' in out
    assert 'The authors of G-Pass@k advise n ≥ 3k = 6' in out
    assert 'clusters, which multiply the variance' in out


def test_the_conclusion_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    """The n that is enough for the neediest metric, and its intervals in the tables' units."""
    rates = ('--mean', '0.5', '--spread', '0.3', '-k', '4')
    found = outlooks(capsys, *rates, '--problems', '45,500')
    most = max(one['enough'] for one in found)
    neediest = next(one for one in found if one['enough'] == most)
    exact = outlooks(capsys, *rates, '--problems', '45', '500', '-n', most)
    (row,) = (one['rows'][0] for one in exact if one['metric'] == neediest['metric'])
    assert main(['plan', *rates, '--problems', '45,500']) == 0
    conclusion = capsys.readouterr().out.split('\n\n')[0]
    assert f'From n = {most} on' in conclusion
    assert neediest['metric'] in conclusion
    for low, high in row['intervals']:
        assert f'± {50 * (high - low):.1f} for' in conclusion


def test_assumed_rates(capsys: pytest.CaptureFixture[str]) -> None:
    """The Beta distribution of this mean and spread is the uniform one."""
    found = outlooks(capsys, '--mean', 0.5, '--spread', (1 / 12) ** 0.5, '-k', 4)
    assert all(one['observed'] is None for one in found)
    passes = {one['metric']: one['mean'] for one in found}
    assert passes['G-Pass@4_1.0'] == pytest.approx(1 / 5)  # E[p^4] of uniform rates
    assert passes['G-Pass@4_0.5'] == pytest.approx(3 / 5)  # 2, 3 or 4 right, all as likely


UNIFORM = ('--mean', '0.5', '--spread', '0.28867513')


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ([], 'name a pilot run, or give --mean and --spread'),
        (['--mean', '0.5'], 'name a pilot run'),
        (['--mean', '0.5', '--spread', '0.6'], 'spread is 0.6'),
        (['--mean', 'nan', '--spread', '0.1'], 'mean is nan'),
        ([*UNIFORM, '-k', '0'], 'k is 0'),
        ([*UNIFORM, '-n', '99999'], 'n is 99999'),
        ([*UNIFORM, '--problems', '0'], 'problems is 0'),
        ([*UNIFORM, '--level', '95'], 'level is 95'),
        ([*UNIFORM, '--tau', '1.5'], 'tau holds 1.5'),
        ([*UNIFORM, '-k', '16', '-n', '16', '8'], 'n is 8, but k is 16'),
        (['--looks', '32', '16'], 'looks are 32 16'),
        (['--looks', '16', '--level', '1'], 'level is 1'),
        (['--looks', '16', '32', '--mean', '0.5'], 'name a pilot run'),
        (['nowhere'], 'nowhere'),
        (['.', '--mean', '0.5'], 'give only one of them'),
    ],
)
def test_nonsense_is_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 and what to do, without a traceback."""
    assert main(['plan', *arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_pilot_that_nobody_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so."""
    path = tmp_path / 'a.trials.jsonl.gz'
    write_trials(
        path, TrialTable([Problem('p')], [Trial('p', 0, Verdict.UNJUDGED)]), {'signature': {'n': 8}}
    )
    assert main(['plan', str(path)]) == 1
    assert 'no judged trial' in capsys.readouterr().err


def test_one_answer_of_each_problem_is_no_pilot(
    pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside others it is passed over, alone it is an error; a pilot of n < k is told to be short.

    A file of several responses of each problem that nobody judged is told of.
    """
    problems = [Problem(f'p{i}') for i in range(10)]
    trials = [Trial(one.problem_id, 0, Verdict.CORRECT) for one in problems]
    greedy = pilot.with_name('a-greedy.trials.jsonl.gz')
    write_trials(greedy, TrialTable(problems, trials), {'signature': {'n': 8}})
    folder = pilot.parent.parent.parent
    assert main(['plan', str(folder), '-k', '16', '-n', '16', '--tau', '1']) == 0
    told = capsys.readouterr()
    assert told.err == ''
    assert 'a-greedy' not in told.out
    assert 'n = 8 < k = 16' in told.out
    unjudged = [Trial('p0', i, Verdict.UNJUDGED) for i in (0, 1)]
    failed = pilot.with_name('failed.trials.jsonl.gz')
    write_trials(failed, TrialTable(problems[:1], unjudged), {'signature': {'n': 8}})
    assert main(['plan', str(folder), '-k', '16', '-n', '16', '--tau', '1']) == 0
    assert 'failed.trials.jsonl.gz: it has no judged trial' in capsys.readouterr().err
    failed.unlink()
    assert main(['plan', str(greedy)]) == 1
    assert 'take a pilot of n = 2 or more' in capsys.readouterr().err
    write_trials(pilot, TrialTable(problems, trials), {'signature': {'n': 8}})
    assert main(['plan', str(folder)]) == 1
    told = capsys.readouterr()
    assert told.err.count('one judged response of each problem') == 2


@pytest.mark.parametrize(
    ('rates', 'told', 'lacks'),
    [
        (['--mean', repr(1 - 1e-15), '--spread', '1e-9'], 'Sampling causes', 'nan'),
        (['--mean', '0.5', '--spread', '0.0001'], 'Even at n = 256 sampling', 'at any n'),
        (['--mean', '0.5', '--spread', '0.3'], 'for a population of problems like these', 'any n'),
    ],
)
def test_what_is_said_of_samples_is_true(
    rates: list[str],
    told: str,
    lacks: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And JSON has no word for NaN."""
    for module in ('metrics.sample_size', 'results.plan'):
        monkeypatch.setattr(f'opencompass_gpassk.{module}.MOST_SAMPLES', 256)
    arguments = ['plan', *rates, '-k', '4', '-n', '4', '--tau', '1']
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert told in ' '.join(out.split())
    assert lacks not in out
    assert main([*arguments, '--json']) == 0
    out = capsys.readouterr().out
    assert 'NaN' not in out
    for line in out.splitlines():
        for low, high in json.loads(line)['rows'][0]['intervals']:
            assert low < high


def test_looks_are_planned(pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Alone, or with the interval to expect at each; the levels are for the chosen confidence."""
    assert main(['plan', '--looks', '16', '32', '48']) == 0
    told = capsys.readouterr().out
    assert [told.split().count(one) for one in ('0.00069', '0.016', '0.034')] == [1, 1, 1]
    looks, *metrics = outlooks(capsys, pilot, '--looks', 8, 16, '--level', 0.9)
    assert [one['n'] for one in looks['looks']] == [8, 16]
    assert sum(one['level'] for one in looks['looks']) == pytest.approx(0.1)
    assert [row['n'] for row in metrics[0]['rows']] == [8, 16, None]


def test_a_target_tells_the_cheapest_problems_and_samples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """So many problems make the interval so narrow, and one fewer doesn't."""
    asked = ['plan', '--mean', '0.4', '--spread', '0.4', '--target', 'G-Pass@8_1.0 ±2']
    assert main([*asked, '--json']) == 0
    (found,) = map(json.loads, capsys.readouterr().out.splitlines())
    costs = dict(found['costs'])
    assert min(costs, key=lambda n: n * costs[n]) == 8
    numbers = [str(costs[8]), str(costs[8] - 1)]
    usual = ['plan', '--mean', '0.4', '--spread', '0.4', '-k', '8', '-n', '8', '--tau', '1']
    assert main([*usual, '--json', '--problems', *numbers]) == 0
    of = {row['metric']: row for row in map(json.loads, capsys.readouterr().out.splitlines())}
    (enough, short) = (high - low for low, high in of['G-Pass@8_1.0']['rows'][0]['intervals'])
    assert enough <= 0.04 < short
    assert main(asked) == 0
    assert f'{8 * costs[8]:,}: {costs[8]:,} problems, n = 8' in capsys.readouterr().out
    for wrong in ('G-Pass@8_1.0', 'G-Pass@8_1.0 ±0', 'nothing ±2', 'majority vote ±2'):
        assert main([*asked[:-1], wrong]) == 1
        assert wrong.partition(' ±')[0] in capsys.readouterr().err
