"""Wrong gold answers are found by what models agree on, and right ones are not accused."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.compare.weaker_groups import weaker_groups
from opencompass_gpassk.report import suspects as report_suspects
from opencompass_gpassk.report.suspects import Answer, suspect_golds
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


def suspects(answers: dict[str, list[Answer]], solved: str = '') -> list[str]:
    """The other answer to a problem, if its gold answer is suspect, beside 20 others.

    These are solved by the models whose names are given, or by all.
    """
    others: dict[str, list[Answer]] = {
        model: [('1', 8, not solved or model in solved)] for model in answers
    }
    found = suspect_golds([answers, *[others] * 20])
    return [found[0].answer] if 0 in found else []


def test_a_gold_is_doubted_only_with_good_reason() -> None:
    """Most models that solve the rest must agree, the gold answer must be rare, samples many."""
    agree: list[Answer] = [('7', 11, False), ('1', 1, True), ('6', 2, False)]
    other: list[Answer] = [('8', 14, False)]
    assert suspects({'a': agree, 'b': agree}) == ['7']
    assert suspects({'a': agree}) == []  # one model needs nearly all samples
    assert suspects({'a': [('7', 8, False)]}) == ['7']
    assert suspects({'a': [('7', 3, False)]}) == []
    assert suspects({'a': agree, 'b': agree, 'c': [('1', 8, True)]}) == []
    assert suspects({'a': agree, 'b': other}) == []
    assert suspects({'a': agree, 'b': other, 'c': other}) == ['8']
    assert suspects({'a': agree, 'b': other, 'c': other}, solved='a') == []
    assert suspects({'a': other, 'b': agree, 'c': agree}, solved='a') == ['8']
    assert suspects({'a': other, 'b': other}, solved='none') == []
    assert suspects({'a': [('1/2', 8, False)], 'b': [('0.5', 8, False)]}) == ['1/2']
    assert suspects({'a': [(None, 8, False)]}) == []


def test_only_answers_that_can_count_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading takes time: not those of weak models, nor where half of the samples are right."""
    read: list[str] = []
    monkeypatch.setattr(report_suspects, 'canonical_quickly', lambda text: read.append(text))
    weak: list[Answer] = [(f'{i}', 1, False) for i in range(8)]
    strong: list[Answer] = [('gold', 6, True), ('other', 2, False)]
    assert suspect_golds([{'weak': weak, 'strong': strong}] * 20) == {}
    assert not read


def made_board(rng: random.Random, abilities: list[float]) -> tuple[list[Any], set[int]]:
    """120 problems, of which four have a wrong gold answer and a third a tempting mistake."""
    planted = {*rng.sample(range(120), 4)}
    problems = []
    for place in range(120):
        hard, tempting = rng.gauss(0, 2.4), rng.random() < 0.3
        gold = 'g' if place in planted else 't'
        of_problem = {}
        for model, ability in enumerate(abilities):
            chance = 1 / (1 + math.exp(hard - ability))
            wrong = 'w' if tempting else f'{rng.randrange(6)}'
            given = Counter(
                't' if rng.random() < chance else wrong if rng.random() < 0.7 else f'{i}'
                for i in range(16)
            )
            of_problem[model] = [(text, n, text == gold) for text, n in given.items()]
        problems.append(of_problem)
    return problems, planted


@pytest.mark.parametrize(
    ('abilities', 'found'),
    [
        ([1.5, 2, 3], 0.5),
        ([2.5, 2, -0.5, -1, -1.5], 0.5),
        ([2, -1, -1.5], 0.3),
        ([-1.5, -1, -1], 0),
    ],
    ids=['strong', 'strong and weak', 'one strong', 'weak'],
)
def test_half_of_those_listed_are_planted(abilities: list[float], found: float) -> None:
    """On ten boards, whatever mistakes weak models share; where all are weak nothing is listed."""
    right = wrong = 0
    for seed in range(10):
        problems, planted = made_board(random.Random(seed), abilities)
        listed = {*suspect_golds(problems)}
        right, wrong = right + len(listed & planted), wrong + len(listed - planted)
    assert right >= wrong
    assert right >= 40 * found
    assert found or not wrong


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
