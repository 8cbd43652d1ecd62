"""Wrong gold answers are found by what models agree on, and right ones are not accused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.compare.weaker_groups import weaker_groups
from opencompass_gpassk.report.suspects import doubtful_gold
from opencompass_gpassk.results.metric import G_PASS
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

PLANTED = (17, 120, 255)


@pytest.mark.parametrize('models', [1, 4])
def test_planted_wrong_golds_are_listed(
    models: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All three of 300 problems; hard problems with a common mistake are not.

    The models write the same value in different ways.
    """
    rng = random.Random(models)
    (tmp_path / 'out').mkdir()
    for model in range(models):
        rows = []
        for number in range(300):
            gold = number + 2
            hard = number % 10 == 3
            samples = []
            for _ in range(8):
                right = rng.random() < (0.2 if hard else 0.9)
                wrong = 2 * gold if rng.random() < 0.6 else rng.randint(1000, 9999)
                answer = gold if right else wrong
                written = f'\\frac{{{2 * answer}}}{{2}}' if model % 2 else f'{answer}'
                samples.append(f'So it is $\\boxed{{{written}}}$.')
            claimed = gold + 1 if number in PLANTED else gold
            rows.append({'id': f'p{number}', 'question': f'{number} + 2', 'answer': f'{claimed}'})
            rows[-1]['samples'] = samples
        path = tmp_path / f'm{model}.jsonl'
        path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
        out = tmp_path / 'out' / f'm{model}.json'
        assert main(['score', str(path), '-k', '2', '-o', str(out), '--dataset', 'sums']) == 0
    capsys.readouterr()
    assert main(['report', str(tmp_path / 'out'), '--suspects']) == 0
    *listed, last = capsys.readouterr().out.splitlines()
    named = {int(line.partition(':')[0][1:]) for line in listed}
    assert {*PLANTED} <= named
    assert len(named) <= len(PLANTED) + 3
    assert f'{len(named)} of 300' in last
    for line in listed:
        number = int(line.partition(':')[0][1:])
        if number in PLANTED:
            assert f'gold {number + 3};' in line
            assert not (tmp_path / 'report.html').exists()


def test_a_gold_is_doubted_only_with_good_reason() -> None:
    """Not where most models give it, where models disagree, or where samples are few."""
    agree = [('7', 11, False), ('1', 1, True), ('6', 2, False)]
    assert doubtful_gold({'a': agree, 'b': agree}) is not None
    assert doubtful_gold({'a': agree}) is None  # one model needs nearly all samples
    assert doubtful_gold({'a': [('7', 8, False)]}) is not None
    assert doubtful_gold({'a': [('7', 3, False)]}) is None
    gold = [('1', 8, True)]
    assert doubtful_gold({'a': agree, 'b': agree, 'c': gold}) is None
    assert doubtful_gold({'a': [('7', 6, False)], 'b': [('8', 6, False)]}) is not None
    assert doubtful_gold({'a': [('7', 5, False), ('6', 3, False)], 'b': [('8', 8, True)]}) is None
    found = doubtful_gold({'a': [('1/2', 8, False)], 'b': [('0.5', 8, False)]})
    assert found and found.models == ('a', 'b') and found.times == 16
    assert doubtful_gold({'a': [(None, 8, False)]}) is None


def weaker(rng: np.random.Generator, weak: float) -> set[str]:
    """The groups of 120 problems in four subjects, of which one is solved less often."""
    problems = [Problem(f'p{i}', groups={'subject': 'abcd'[i // 30]}) for i in range(120)]
    rates = rng.beta(0.5, 0.5, 120) * np.where(np.arange(120) // 30 == 2, weak, 1.0)
    trials = [
        Trial(one.problem_id, i, Verdict.CORRECT if rng.random() < rate else Verdict.INCORRECT)
        for one, rate in zip(problems, rates, strict=True)
        for i in range(8)
    ]
    groups = {label: {'subject': label} for label in 'abcd'}
    table = TrialTable(problems, trials)
    unread, found = weaker_groups([(None, groups), (table, groups)], G_PASS(k=4, tau=1.0))
    assert unread == set()
    return found


def test_a_group_is_marked_where_it_is_weaker_than_the_rest() -> None:
    """Mostly where a subject is solved far less often on these problems; never without a rest."""
    rng = np.random.default_rng(0)
    assert np.mean(['c' in weaker(rng, 0.1) for _ in range(25)]) >= 0.8
    alone = TrialTable([Problem('p', groups={'subject': 'a'})], [Trial('p', 0, Verdict.INCORRECT)])
    assert weaker_groups([(alone, {'a': {'subject': 'a'}})], G_PASS(k=1, tau=1.0)) == [set()]
