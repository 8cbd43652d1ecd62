"""``gpassk gate``: exact bounds of every problem, a metric's interval, and the exit codes."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path

import numpy as np
import pytest
from stored_table import table_of, write_result

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.metrics.reliability import samples_needed, surely_at_least, surely_below
from opencompass_gpassk.results.read import find_results
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict


def at_least_so_many(n: int, c: int, rate: float) -> float:
    """P[at least c of n], by definition."""
    return sum(comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(c, n + 1))


@pytest.mark.parametrize('rate', [0.5, 0.8, 0.9])
def test_bounds_of_a_problem_are_exact(rate: float) -> None:
    """Clopper and Pearson: the bound is the rate at which the count has a chance of 5 %."""
    for n in range(1, 50):
        for c in range(n + 1):
            assert surely_at_least(rate, n, c) == (at_least_so_many(n, c, rate) <= 0.05)
            assert surely_below(rate, n, c) == (1 - at_least_so_many(n, c + 1, rate) < 0.05)


def test_how_many_samples_show_a_rate() -> None:
    """At 0.9, 29 of 29 or 45 of 46; one sample less does not."""
    assert (samples_needed(0.9), samples_needed(0.9, wrong=1)) == (29, 46)
    for rate in (0.3, 0.5, 0.8, 0.99):
        for wrong in (0, 1, 3):
            n = samples_needed(rate, wrong)
            assert at_least_so_many(n, n - wrong, rate) <= 0.05
            assert n == wrong + 1 or at_least_so_many(n - 1, n - 1 - wrong, rate) > 0.05


def gate(*words: object) -> int:
    """Run the command."""
    return main(['gate', *map(str, words)])


@pytest.mark.parametrize(
    ('marks', 'code', 'told'),
    [
        (['+' * 14] * 3, 0, '3 at least, 0 below, 0 undecided'),
        (['+' * 14, '+' * 13 + '-'], 3, '14 right of 14, or 21 of 22, would show it'),
        (['+' * 14, '+' * 7 + '-' * 7], 1, 'below at 5 % / 2: p1 (7 of 14)'),
        (['+' * 14, '+' * 13 + '?'], 3, '1 at least, 0 below, 1 undecided'),
        (['+' * 14, '+' * 13 + 'x'], 3, '1 at least, 0 below, 1 undecided'),
        (['+' * 14, '-' * 7 + '?' * 7], 1, 'p1 (7 of 14)'),
        (['+' * 14, '-' * 3 + '?' * 11], 3, 'undecided'),
        (['+' * 8] * 3, 3, 'would show it; n = 8 cannot'),
        # 8 of 14 has a chance of 4.4 % at 0.8: below by itself, but not as one of many.
        ([*['+' * 14] * 9, '+' * 8 + '-' * 6], 3, '9 at least, 1 below, 0 undecided'),
    ],
)
def test_every_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], marks: list[str], code: int, told: str
) -> None:
    """Shown, refuted or neither; a missing verdict and a lost response may be either."""
    write_result(tmp_path / 'r.json', table_of(marks), [2])
    assert gate(tmp_path / 'r.json', '--every-problem', 0.8) == code
    assert told in capsys.readouterr().out


def test_a_metric_is_at_least_so_much(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its interval: above, below, or across the bar."""
    rng = np.random.default_rng(0)
    marks = [''.join('-+'[int(x)] for x in rng.random(8) < rng.random()) for _ in range(60)]
    path = tmp_path / 'r.json'
    result = write_result(path, table_of(marks), [2])
    low, high = result['intervals_fixed']['G-Pass@2_1.0']
    for bar, code in ((low - 0.1, 0), (low + 0.1, 3), (high - 0.1, 3), (high + 0.1, 1)):
        assert gate(path, '--at-least', f'G-Pass@2_1.0 {bar}') == code
        assert gate(path, '--at-least', f'pass^2 {bar}') == code
        assert ('would decide it' in capsys.readouterr().out) is (code == 3)
    assert gate(path, '--at-least', 'pass^2 99') == 1
    assert f'interval on these problems {low:.1f} to {high:.1f}' in capsys.readouterr().out
    # One that is missed decides, whatever the other says.
    assert gate(path, '--at-least', 'pass^2 0', '--every-problem', 0.99) == 1
    assert gate(path, '--at-least', 'pass^2 0', '--every-problem', 0.0001) == 3


def test_missing_verdicts_may_move_a_metric_across_the_bar(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It passes only if its interval is above the bar with all of them wrong."""
    path = tmp_path / 'r.json'
    write_result(path, table_of(['+' * 8] * 40 + ['++++????'] * 20), [2])
    for bar, code in ((65, 0), (73, 3), (80, 3)):
        assert gate(path, '--at-least', f'G-Pass@2_1.0 {bar}') == code
    told = capsys.readouterr().out
    assert 'if all missing verdicts are wrong; the missing verdicts decide' in told
    assert told.endswith('Decision: undecided (exit code 3)\n')


def test_the_greatest_bar_cannot_be_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All samples may be right, but the interval begins below 100."""
    path = tmp_path / 'r.json'
    write_result(path, table_of(['+' * 8] * 20), [4])
    assert gate(path, '--at-least', 'pass^4 100') == 3
    assert 'as near is the bar' in capsys.readouterr().out


def test_a_metric_that_should_be_low_is_at_most_so_much(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its interval for questions like these; the other option is refused by name."""
    problems = [
        Problem(f'{q}/{v}', cluster=str(q), version=str(v) if v else 'original')
        for q in range(80)
        for v in range(4)
    ]
    trials = [
        Trial(one.problem_id, 0, Verdict.INCORRECT if i % 16 in (1, 2, 3) else Verdict.CORRECT)
        for i, one in enumerate(problems)
    ]
    path = tmp_path / 'r.json'
    result = write_result(path, TrialTable(problems, trials), [1])
    assert result['metrics']['OOR'] == pytest.approx(25.0)
    low, high = result['intervals']['OOR']
    for bar, code in ((high + 0.1, 0), (high - 0.1, 3), (low - 0.1, 1)):
        assert gate(path, '--at-most', f'OOR {bar}') == code
    assert gate(path, '--at-least', 'OOR 5') == 2
    assert 'OOR: less of it is better; give --at-most' in capsys.readouterr().err


def test_every_result_of_a_folder_must_pass(tmp_path: Path) -> None:
    """What can't be read might miss the bar."""
    for name in 'ab':
        write_result(tmp_path / f'{name}.json', table_of(['+' * 14] * 3), [2])
    assert gate(tmp_path, '--every-problem', 0.8) == 0
    write_result(tmp_path / 'c.json', table_of(['-' * 14] * 3), [2])
    assert gate(tmp_path, '--every-problem', 0.8) == 1
    (tmp_path / 'c.json').write_text('{')
    assert gate(tmp_path, '--every-problem', 0.8) == 2


def test_the_folder_of_a_model_means_that_model(tmp_path: Path) -> None:
    """The other models of its run are not asked about."""
    for model, mark in (('good', '+'), ('bad', '-')):
        folder = tmp_path / '20260101_000000/results' / model
        folder.mkdir(parents=True)
        write_result(folder / 'exam.json', table_of([mark * 14] * 3), [2])
    run = tmp_path / '20260101_000000'
    (run / 'configs').mkdir()
    (run / 'configs/job.py').write_text('models = []\ndatasets = []\n')
    assert gate(run, '--every-problem', 0.8) == 1
    assert gate(run / 'results/good', '--every-problem', 0.8) == 0
    assert gate(run / 'results/bad/../good', '--every-problem', 0.8) == 0
    assert gate(run / 'results/bad', '--every-problem', 0.8) == 1
    assert gate(run / 'results/good/..', '--every-problem', 0.8) == 1
    every = find_results([run / 'results/good', run, run / 'results/bad/exam.json']).results
    assert sorted(one.model for one in every) == ['bad', 'good']


def test_what_cannot_be_trusted_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A result that contradicts its trials, and misuse, are neither 0 nor 1."""
    path = tmp_path / 'r.json'
    result = write_result(path, table_of(['+' * 14] * 3), [2])
    assert result['reliable'] == {'0.9': {'at_least': 0, 'below': 0, 'unclear': 3}}
    for words, told in (
        ((), 'nothing is asked'),
        (('--every-problem', 1), 'between 0 and 1'),
        (('--at-least', 'pass^2'), 'write a metric and its bar'),
        (('--at-least', 'pass^2 nan'), 'write a metric and its bar'),
        (('--at-least', 'pass^3 5'), 'its k are 2, and n is 14: gpassk score '),
        (('--at-least', 'nothing 5'), 'metric is'),
    ):
        assert gate(path, *words) == 2
        assert told in capsys.readouterr().err
    result['details'][0]['c'] -= 1
    path.write_text(json.dumps(result), 'utf-8')
    assert gate(path, '--every-problem', 0.8) == 2
    assert 'c = 13, in the trials n = 14, c = 14' in capsys.readouterr().out
