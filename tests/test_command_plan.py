"""``gpassk plan`` as it is run: on one pilot, on two, with a target, on nonsense."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from made_sweep import SAMPLED, Sweep, add_result
from stored_table import table_of, write_result

from opencompass_gpassk import compare_results
from opencompass_gpassk.commands.main import main


@pytest.fixture(scope='module')
def pilots(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two models on 40 problems, 8 samples each."""
    folder = tmp_path_factory.mktemp('pilots')
    for model, ability in (('a', 0.5), ('b', 0.0)):
        sweep = Sweep(problems=40)
        add_result(folder / model, model, SAMPLED, ability, sweep, 8, random.Random(model))
    return folder / 'a', folder / 'b'


def facts(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Run the command and return what its JSON says of the data set."""
    assert main(['plan', *map(str, arguments), '--json']) == 0
    (found,) = json.loads(capsys.readouterr().out)['data_sets']
    return dict(found)


def test_more_samples_narrow_both_lines_and_more_problems_the_second(
    pilots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """The second is never the narrower one; the ranges hold the margins."""
    found = facts(capsys, *pilots, '-n', 4, 8, 64, '--problems', 40, 400)
    assert (found['metric'], found['problems'], found['two_pilots']) == ('G-Pass@4_1.0', 40, True)
    rows = {(one['n'], one['problems']): one for one in found['margins']}
    for n, problems in rows:
        one = rows[n, problems]
        assert 0 < one['these'] <= one['like_these']
        low, high = one['like_these_range']
        assert low * 0.8 <= one['like_these'] <= high * 1.2
    for line in ('these', 'like_these'):
        assert rows[4, 40][line] > rows[8, 40][line] > rows[64, 40][line]
    assert rows[8, 400]['like_these'] < 0.5 * rows[8, 40]['like_these']


def test_a_target_is_told_with_its_cost(
    pilots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """In samples that both models lack, beside those of the pilots; out of reach is said."""
    found = facts(capsys, *pilots, '--target', 2)
    these = found['on_these']
    assert these['problems'] == 40 and these['n'] > 8
    assert these['samples'] == 2 * 40 * (these['n'] - 8)
    others = found['for_others']
    assert others['samples'] == 2 * others['problems'] * others['n'] - 2 * 40 * min(others['n'], 8)
    power = facts(capsys, *pilots, '--power', 80, '--difference', 5)
    assert power['target'] == pytest.approx(3.5, abs=0.01)
    assert main(['plan', *map(str, pilots), '--target', '0.0001']) == 0
    assert 'out of reach' in capsys.readouterr().out


def test_few_lines_are_printed(
    pilots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is assumed of the other model is said where there is one pilot."""
    assert main(['plan', str(pilots[0]), '--target', '3']) == 0
    lines = capsys.readouterr().out.rstrip().splitlines()
    assert len(lines) <= 13 and lines[0].startswith('a on lmb-n8: 40 problems, n = 8')
    assert lines[1].startswith('Assumed of the other model: ')
    assert main(['plan', *map(str, pilots)]) == 0
    lines = capsys.readouterr().out.rstrip().splitlines()
    assert len(lines) <= 10 and not any(line.startswith('Assumed') for line in lines)


@pytest.mark.parametrize(
    ('arguments', 'told'),
    [
        (['--metric', 'G-Pass@16_1.0'], 'sample at least 16 responses'),
        (['--metric', 'G-Pass'], 'metric is'),
        (['--metric', 'majority vote'], 'no metric that right samples tell'),
        (['-n', '2'], '-n 2 is less than k = 4'),
        (['--target', '0'], 'give points above 0'),
        (['--target', '3', '--power', '80'], 'give --target, or --power and --difference'),
        (['--power', '50'], 'give --power above 50'),
        (['--model-a', 'x'], 'there is no sampled result of x'),
    ],
)
def test_nonsense_is_named(
    pilots: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    """With what to give instead."""
    assert main(['plan', str(pilots[0]), *arguments]) == 1
    assert told in capsys.readouterr().err


def test_one_answer_of_each_problem_is_no_pilot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A greedy result says nothing of samples."""
    add_result(tmp_path, 'm', 'greedy', 0.5, Sweep(problems=40, n=1), 1, random.Random(1))
    assert main(['plan', str(tmp_path)]) == 1
    assert 'there is no sampled result' in capsys.readouterr().err


def test_a_plan_agrees_with_the_comparison_of_its_pilots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two models far apart: with the pilots' samples the margin is about that of compare."""
    for model, ability in (('a', 2.5), ('b', -1.5)):
        sweep = Sweep(problems=60)
        add_result(tmp_path / model, model, SAMPLED, ability, sweep, 16, random.Random(model))
    sides = [tmp_path / 'a', tmp_path / 'b']
    found = facts(capsys, *sides, '-n', 16, '--problems', 60, '--target', 20)
    compared = compare_results(*(next((side / 'results').rglob('*.json')) for side in sides))
    assert compared.primary
    low, high, _, _ = compared.primary.these
    assert found['margins'][0]['these'] == pytest.approx((high - low) / 2, rel=0.15)
    assert found['for_others']['problems'] >= 50  # a test for problems like these needs them


def test_a_pilot_without_variance_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is right nowhere says nothing of how the metric varies."""
    write_result(tmp_path / 'r.json', table_of(['----'] * 8), [2])
    assert main(['plan', str(tmp_path / 'r.json')]) == 1
    assert 'the same on all problems' in capsys.readouterr().err
