"""Metrics of questions in versions: over the versions, of their groups, against their originals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from made_results import bounds, flat, make_version_result, metrics

from opencompass_gpassk.results.groups import find_groups
from opencompass_gpassk.results.metric_intervals import IntervalSettings, metric_intervals
from opencompass_gpassk.results.metric_values import MetricValues
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

# The original, then five versions: understood, remembered, half understood.
GREEDY = {
    'angles': [1, 1, 1, 1, 1, 1],
    'areas': [1, 0, 0, 1, 0, 0],
    'b': [1, 1, 1, 0, 0, 1],
    'c': [0, 1, 1, 1, 1, 1],
}


def test_a_greedy_run_has_the_metrics_of_the_paper() -> None:
    """Acc, GA@5, CR, OOR and the shares of understanding, by hand."""
    found = flat(make_version_result(GREEDY))
    assert found['accuracy'] == pytest.approx(100 * Fraction(14, 20))
    assert found['original/accuracy'] == found['SP accuracy'] == 75.0
    assert found['SP-RV drop'] == pytest.approx(5.0)
    assert (found['GA@5'], found['CR'], found['OOR']) == (50.0, 25.0, 25.0)
    assert found['complete understanding'] == pytest.approx(100 / 3)
    assert found['partial understanding'] == pytest.approx(100 / 3)
    assert found['collapsed understanding'] == pytest.approx(100 / 3)
    assert found['understanding'] == pytest.approx(100 * Fraction(1, 2))  # 1, 0.5 and 0
    assert found['RV accuracy (original right)'] == pytest.approx(100 * Fraction(9, 15))
    assert found['G-Pass over 5 versions_0.5'] == 75.0
    assert found['G-Pass over 5 versions_1.0'] == found['GA@5']
    assert not [name for name in found if name.startswith(('pooled', 'variance'))]
    assert found['algebra/GA@5'] == 50.0
    assert found['algebra/OOR'] == 50.0
    assert found['geometry/SP-RV drop'] == pytest.approx(50 - 80)
    assert found['counts']['problems'] == 20
    assert found['groups']['original'] == {'version': 'original', 'problems': 4}
    assert found['versions'] == {
        'per_group': 5,
        'groups': 4,
        'incomplete': 0,
        'originals': 4,
        'excluded': {'GA@5': 0, 'CR': 0, 'OOR': 0, 'SP accuracy': 0},
        'unsolved': {'': 0, 'algebra': 0, 'geometry': 0},
        'complete': 0.8,
        'collapsed': 0.2,
    }


def test_samples_give_what_one_of_each_gives_on_average() -> None:
    """Two versions, 4 samples each: products of the shares, and two kinds of variance."""
    found = flat(make_version_result({'q': [2, 4, 2]}, 4, (2,)))
    assert found['accuracy'] == 75.0
    assert found['GA@2'] == 50.0
    assert found['CR'] == 25.0  # at least ceil(0.8 * 2) = 2 versions, and the original
    assert found['OOR'] == pytest.approx(
        100 * Fraction(1, 2) * Fraction(1, 2)
    )  # at most one version
    assert found['G-Pass over 2 versions_0.5'] == 100.0
    assert found['pooled G-Pass@2_1.0'] == pytest.approx(100 * Fraction(6 * 5, 8 * 7))
    within = Fraction(1, 2) * Fraction(4, 3) * Fraction(1, 4)
    between = Fraction(1, 8) - Fraction(1, 2) * Fraction(1, 4) / 3
    assert found['variance between samples'] == pytest.approx(float(100 * within))
    assert found['variance between versions'] == pytest.approx(float(100 * between))


def test_without_originals_what_needs_them_is_undefined() -> None:
    """CR, OOR and the drop are NaN; GA is not."""
    found = flat(make_version_result({'q': [None, 1, 1], 'r': [None, 1, 0]}))
    assert found['GA@2'] == 50.0
    assert found['versions']['originals'] == 0
    for name in ('CR', 'OOR', 'SP accuracy', 'SP-RV drop', 'complete understanding'):
        assert math.isnan(found[name])


def test_questions_that_lack_versions_are_left_out_and_counted() -> None:
    """As where only a part of the rows was asked; their accuracy counts all the same."""
    found = flat(make_version_result({'q': [1, 1, 1], 'r': [1, 0]}))
    assert found['accuracy'] == pytest.approx(200 / 3)
    assert found['GA@2'] == found['SP accuracy'] == 100.0
    assert found['versions']['incomplete'] == 1


def test_translations_make_no_interval_narrower() -> None:
    """A question that is asked in two languages, with the same answers, is one question."""

    def ends(languages: tuple[str, ...]) -> dict[str, list[float]]:
        problems, trials = [], []
        for question, language, version in product(range(30), languages, range(6)):
            name = f'{question}/{version}/{language}'
            number = str(version or 'original')
            problems.append(Problem(name, cluster=f'{question}', version=number, language=language))
            right = question * (version + 2) % 7 < 4
            trials.append(Trial(name, 0, Verdict.CORRECT if right else Verdict.INCORRECT))
        values = MetricValues(TrialTable(problems, trials), Protocol(n=1, k=(1,)))
        found: dict[str, list[float]] = metric_intervals(values, IntervalSettings())['intervals']
        return {name: found[name] for name in ('CR', 'OOR', 'SP-RV drop', 'understanding')}

    one, both = ends(('en',)), ends(('cn', 'en'))
    for name in one:
        assert one[name] == pytest.approx(both[name]), name


def test_keys_depend_on_the_data_set_alone() -> None:
    """A model none of whose responses is judged has the same keys."""
    problems = [
        Problem(f'{name}/{v}', cluster=name, version=v, groups={'subject': name})
        for name in 'ab'
        for v in ('original', '1', '2')
    ]
    protocol = Protocol(n=2, k=(2,))

    def table(verdict: Verdict) -> TrialTable:
        trials = [Trial(p.problem_id, i, verdict, answer='1') for p in problems for i in (0, 1)]
        return TrialTable(problems, trials)

    right, none = (metrics(table(v), protocol) for v in (Verdict.CORRECT, Verdict.UNJUDGED))
    assert right.keys() == none.keys()
    assert math.isnan(float(str(none['GA@2'])))


def test_bounds_hold_what_grows_with_right_responses() -> None:
    """GA and CR lie between two metrics; OOR may go either way and has no bounds."""
    problems = [Problem(f'q/{v}', cluster='q', version=v) for v in ('original', '1', '2')]
    verdicts = (Verdict.CORRECT, Verdict.CORRECT, Verdict.UNJUDGED)
    trials = [Trial(p.problem_id, 0, v) for p, v in zip(problems, verdicts, strict=True)]
    found = bounds(TrialTable(problems, trials), Protocol(n=1))
    assert found['accuracy'] == [50.0, 100.0]
    assert found['GA@2'] == found['CR'] == [0.0, 100.0]
    assert found['SP accuracy'] == [100.0, 100.0]
    assert not {'OOR', 'SP-RV drop', 'understanding score'} & found.keys()


def test_plain_problems_beside_versions_are_no_originals() -> None:
    """They count for the accuracy, and no metric of originals is about them."""
    made = make_version_result({'q': [1, 1, 1]})
    problems = [Problem(f'q/{v}', cluster='q', version=v) for v in ('original', '1', '2')]
    problems.append(Problem('plain'))
    trials = [Trial(p.problem_id, 0, Verdict.CORRECT) for p in problems[:3]]
    trials.append(Trial('plain', 0, Verdict.INCORRECT))
    found = metrics(TrialTable(problems, trials), Protocol(n=1))
    assert found['accuracy'] == pytest.approx(200 / 3)
    assert (found['GA@2'], found['original/accuracy']) == (made['GA@2'], 100.0)
    assert found['groups']['original']['problems'] == 1  # type: ignore[index]


def test_a_version_that_occurs_twice_is_an_error() -> None:
    """It would make a larger group of the question."""
    twice = [Problem(str(i), cluster='q', version='1') for i in range(2)]
    with pytest.raises(ValueError, match="question 'q' has version '1' twice"):
        find_groups(twice)


def test_thresholds_that_tell_nothing_apart_are_an_error_before_anything_is_judged() -> None:
    """Both are 2 of 5 versions; a table without any trial tells it."""
    problems = [Problem(f'q/{v}', cluster='q', version=v) for v in '12345']
    with pytest.raises(ValueError, match='collapsed'):
        metrics(TrialTable(problems, []), Protocol(n=1, complete=0.4, collapsed=0.3))


def test_questions_without_a_verdict_are_counted() -> None:
    """GA of the others is shown, and of how many it isn't."""
    problems = [Problem(f'{q}/{v}', cluster=q, version=v) for q in 'ab' for v in '12']
    trials = [Trial(p.problem_id, 0, Verdict.CORRECT) for p in problems]
    trials[0].verdict = Verdict.UNJUDGED
    found = metrics(TrialTable(problems, trials), Protocol(n=1))
    assert found['GA@2'] == 100.0
    assert found['versions']['excluded']['GA@2'] == 1  # type: ignore[index]


@pytest.mark.parametrize(('complete', 'collapsed'), [(0.2, 0.8), (0.5, 0.5), (1.2, 0.2)])
def test_thresholds_out_of_order_are_refused(complete: float, collapsed: float) -> None:
    """A question can't be understood and not at once."""
    with pytest.raises(ValueError, match='complete is'):
        Protocol(n=1, complete=complete, collapsed=collapsed)
