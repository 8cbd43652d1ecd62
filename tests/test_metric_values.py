"""Metrics of a trial table: their keys, groups, and what is undefined."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from math import comb

import pytest
from made_results import metrics

from opencompass_gpassk.results.groups import group_members
from opencompass_gpassk.results.make_result import problem_rows
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict


def table(counts: list[int], n: int, groups: list[dict[str, str]] | None = None) -> TrialTable:
    """Problems of which so many of n trials are right."""
    problems = [
        Problem(str(i), gold='g', groups=groups[i] if groups else {}) for i in range(len(counts))
    ]
    trials = [
        Trial(
            str(i),
            replica,
            Verdict.CORRECT if replica < c else Verdict.INCORRECT,
            answer='g' if replica < c else 'w',
            answer_class=0 if replica < c else 1,
        )
        for i, c in enumerate(counts)
        for replica in range(n)
    ]
    return TrialTable(problems, trials)


def tail(n: int, c: int, k: int, least: int) -> Fraction:
    """P[at least so many of k drawn from n are among the c], by definition."""
    ways = sum(comb(c, j) * comb(n - c, k - j) for j in range(least, k + 1) if k - j <= n - c)
    return Fraction(ways, comb(n, k))


COUNTS = [4, 3, 4, 3, 3, 6, 3, 3, 2, 1]


def test_metrics_are_means_of_exact_values() -> None:
    """Each metric of ten problems equals the mean of fractions, in percent."""
    found = metrics(table(COUNTS, 8), Protocol(n=8, k=(2, 4)))
    for k in (2, 4):
        for tau in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)):
            least = max(math.ceil(tau * k), 1)
            mean = sum(tail(8, c, k, least) for c in COUNTS) / len(COUNTS)
            assert found[f'G-Pass@{k}_{float(tau)}'] == pytest.approx(float(100 * mean), abs=1e-10)
        terms = [tail(8, c, k, i) for c in COUNTS for i in range(k // 2 + 1, k + 1)]
        expected = float(100 * Fraction(2, k) * sum(terms) / len(COUNTS))
        assert found[f'mG-Pass@{k}'] == pytest.approx(expected, abs=1e-10)
        assert found[f'pass@{k}'] == found[f'G-Pass@{k}_0.0']
    assert found['accuracy'] == pytest.approx(100 * sum(COUNTS) / 80)
    assert found['coverage'] == 100.0


def test_a_greedy_table_has_an_accuracy_and_no_stability() -> None:
    """n = 1: OpenCompass's plain key, no pass@k."""
    found = metrics(table([1, 0, 1], 1), Protocol(n=1, k=(1,)))
    assert found['accuracy'] == pytest.approx(200 / 3)
    assert not [key for key in found if '@' in key or 'vote' in key]


def test_a_missing_verdict_is_filled_by_what_is_known_of_its_problem() -> None:
    """It is neither right nor wrong: of a problem that is always right it is nearly right."""
    whole = table([4, 0] * 10, 4)
    for trial in (whole.trials[0], whole.trials[4]):
        trial.verdict = Verdict.UNJUDGED
    found = metrics(TrialTable(whole.problems, whole.trials), Protocol(n=4, k=(2, 4)))
    assert 49.9 < found['G-Pass@4_1.0'] < found['accuracy'] + 0.1 < 50.1
    assert found['pass@4'] < 50.1
    assert found['coverage'] == pytest.approx(100 * 78 / 80)


def test_shares_are_of_the_trials_they_can_be_told_of() -> None:
    """No answer: of the responses there are; truncated: of those whose end is known."""
    trials = [
        Trial('0', 0, Verdict.UNJUDGED, lost=True),
        Trial('0', 1, Verdict.CORRECT, answer='g', answer_class=0, truncated=True),
        Trial('0', 2, Verdict.INCORRECT, truncated=False),
        Trial('0', 3, Verdict.INCORRECT, answer='w', answer_class=1),
    ]
    found = metrics(TrialTable([Problem('0')], trials), Protocol(n=4, k=(2,)))
    assert found['no answer'] == pytest.approx(100 / 3)
    assert found['truncated'] == 50.0
    assert found['coverage'] == 75.0
    unknown = metrics(table([2], 4), Protocol(n=4, k=(2,)))
    assert math.isnan(float(str(unknown['truncated'])))


def test_groups_that_tell_nothing_new_are_left_out() -> None:
    """A single language makes no language group, and splits are not listed twice."""
    groups = [{'split': split, 'language': 'en', 'level': '3'} for split in ('A', 'A', 'B')]
    members = group_members(
        table([1, 2, 3], 4, groups).problems, [('split', 'language'), ('split',), ('language',)]
    )
    assert {label: rows for label, (_, rows) in members.items()} == {'A-en': [0, 1], 'B-en': [2]}


@pytest.mark.parametrize(('level', 'label'), [('5', 'level 5'), ('Level 5', 'Level 5')])
def test_a_bare_level_is_labelled(level: str, label: str) -> None:
    """The number 5 alone would say nothing."""
    groups = [{'level': level}, {'level': 'x'}]
    assert label in group_members(table([1, 1], 2, groups).problems, [('level',)])


def test_group_metrics_are_those_of_the_group_alone() -> None:
    """A group's metric equals the whole metric of a table of its problems."""
    groups = [{'split': 'A'}, {'split': 'B'}, {'split': 'A'}]
    protocol = Protocol(n=4, k=(2,))
    found = metrics(table([1, 4, 3], 4, groups), protocol)
    alone = metrics(table([1, 3], 4), protocol)
    for key in ('accuracy', 'G-Pass@2_1.0', 'majority vote'):
        assert found[f'A/{key}'] == alone[key]


def test_problem_rows_hold_answers_with_counts_and_are_json() -> None:
    """Per problem n, c and the distinct answers, most frequent first."""
    row = problem_rows(table([1], 4))[0]
    assert (row['n'], row['c']) == (4, 1)
    assert [(a['answer'], a['count'], a['verdict']) for a in row['answers']] == [  # type: ignore[attr-defined]
        ('w', 3, 'incorrect'),
        ('g', 1, 'correct'),
    ]
    json.dumps(row)
