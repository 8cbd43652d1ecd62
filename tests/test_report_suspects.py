"""Wrong gold answers are found by what models agree on, and right ones are not accused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.metrics.weakest_group import weakest_group
from opencompass_gpassk.report.suspects import doubtful_gold

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


def groups_of(rng: np.random.Generator, weak: float) -> tuple[int, float]:
    """The test of 120 problems in four subjects, two of each cluster, one subject weaker."""
    subject = np.repeat(np.arange(4), 30)
    clusters = np.repeat(np.arange(60), 2)
    chance = np.repeat(rng.beta(0.5, 0.5, 60), 2)
    values = np.where(subject == 2, chance * weak, chance)
    return weakest_group(values, clusters, [subject == i for i in range(4)])


def test_the_weakest_group_is_marked_where_it_is_weaker() -> None:
    """Rarely by chance, mostly where a subject is solved far less; not where nothing differs."""
    rng = np.random.default_rng(0)
    by_chance = [groups_of(rng, 1.0)[1] <= 0.05 for _ in range(400)]
    assert np.mean(by_chance) <= 0.06
    found = [groups_of(rng, 0.1) for _ in range(100)]
    assert np.mean([place == 2 and p <= 0.05 for place, p in found]) >= 0.8
    same = np.ones(40)
    halves = [np.arange(40) < 20, np.arange(40) >= 20]
    assert np.isnan(weakest_group(same, np.arange(40), halves)[1])
    few = [np.arange(40) < 4, np.arange(40) >= 4]
    assert np.isnan(weakest_group(np.arange(40.0), np.arange(40), few)[1])


def test_languages_of_one_question_are_compared_within_it() -> None:
    """A small difference in every question shows, though questions differ far more."""
    rng = np.random.default_rng(1)
    question = np.repeat(rng.random(40), 2)
    language = np.tile([0, 1], 40)
    values = question - 0.05 * language
    place, p_value = weakest_group(
        values, np.repeat(np.arange(40), 2), [language == 0, language == 1]
    )
    assert place == 1 and p_value < 0.001
