"""Metrics under true verdicts: what labels on some verdicts tell of the others."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.metrics.judge_error import (
    JudgedAnswers,
    LabelledOutcomes,
    true_verdicts,
)
from opencompass_gpassk.results.metric_values import MetricValues
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.true_verdicts import judge_error, planned_ranges
from opencompass_gpassk.trials import UNRECOGNISED, Problem, Trial, TrialTable, Verdict

C, W, U = Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED
PERFECT = {'rule: correct': (1000.0, 1e6, 1.0), 'rule: incorrect': (1000.0, 1e6, 0.0)}
# Of the right answers 1 % is called wrong, of the wrong ones none right.
ONE_PERCENT = {'rule: correct': (990.0, 1e6, 1.0), 'rule: incorrect': (1010.0, 1e6, 10 / 1010)}


def table(rows: list[str], source: str = 'rule') -> TrialTable:
    """A problem a row: each letter is a response with this answer, upper case if called right."""
    trials = [
        Trial(
            str(p),
            i,
            U if letter == '?' else C if letter.isupper() else W,
            source=source,
            answer=None if letter == '-' else letter.lower(),
            answer_class=-1 if letter == '-' else ord(letter.lower()),
        )
        for p, row in enumerate(rows)
        for i, letter in enumerate(row)
    ]
    return TrialTable([Problem(str(p)) for p in range(len(rows))], trials)


def estimated(rows: list[str], audit: dict[str, tuple[float, float, float]], k: int = 4) -> dict:  # type: ignore[type-arg]  # JSON
    """The field ``judge_error`` of a result."""
    values = MetricValues(table(rows), Protocol(len(rows[0]), k=(k,), groups=()))
    return judge_error(values, {'outcomes': audit, 'known': {}}, {f'G-Pass@{k}_1.0': (20.0, 60.0)})


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the draws; the tests' bounds are wide."""
    monkeypatch.setattr('opencompass_gpassk.results.true_verdicts.DRAWS', 100)


@pytest.mark.slow
@pytest.mark.parametrize(('faulty', 'rate'), [(1.0, 0.01), (0.02, 0.5)])
def test_errors_of_single_samples_are_put_right(faulty: float, rate: float) -> None:
    """Nine of ten problems are always solved; all different answers, some called wrong.

    The range holds the truth whether errors fall anywhere or befall few problems.
    """
    rng = np.random.default_rng(1)
    letters = [chr(ord('a') + i) for i in range(16)]
    rows = []
    for p in range(200):
        if p % 10:
            called = rng.random(16) >= rate * (rng.random() < faulty)
            rows.append(
                ''.join(x.upper() if y else x for x, y in zip(letters, called, strict=True))
            )
        else:
            rows.append(''.join(letters))
    values = MetricValues(table(rows), Protocol(16, k=(8,), groups=()))
    recorded = values.means(values.parts[''])['G-Pass@8_1.0']
    assert recorded < 89
    found = estimated(rows, ONE_PERCENT, 8)['metrics']['G-Pass@8_1.0']
    assert recorded < found['estimate'] < 91
    assert found['range'][0] <= 90 <= found['range'][1] + 0.5
    assert found['range'][1] - found['range'][0] < 12


def test_equal_answers_are_right_or_wrong_together() -> None:
    """With one label of ten against them, problems flip as wholes: c is 0 or n in every draw."""
    answers = JudgedAnswers(
        np.full((50, 1), 4),
        np.tile([0.0, 1.0], (50, 1, 1)),
        np.ones((50, 1), bool),
        np.zeros((50, 1), bool),
        np.array([False, True]),
    )
    labels = LabelledOutcomes(np.array([10.0, 50.0]), np.array([10.0, 10.0]), np.array([0.0, 0.9]))
    draws = np.array(list(true_verdicts(answers, labels.chances, 50)))
    assert draws.shape == (50, 50, 1)
    assert 0 < draws.mean() < 1


def test_labelled_answers_are_as_labelled() -> None:
    """An answer called wrong by mistake is right in every draw, with all its responses."""
    values = MetricValues(table(['aaab', 'AAAb']), Protocol(4, k=(4,), groups=()))
    audit = {'outcomes': ONE_PERCENT, 'known': {stable_hash(['', '', 'a']): True}}
    found = judge_error(values, audit, {})['metrics']['accuracy']
    assert found['range'][0] == pytest.approx(75, abs=0.1)


def test_a_label_on_the_end_of_a_response_counts() -> None:
    """Without a recognised answer it counted as wrong; labels find each right."""
    open_ones = table(['A' * 16] * 30 + ['b' * 16] * 10)
    for trial in open_ones.trials[:480:16]:
        trial.verdict, trial.answer, trial.answer_class = W, None, -1
        trial.source, trial.end = UNRECOGNISED, f'the end of {trial.problem_id}'
    open_ones = TrialTable(open_ones.problems, open_ones.trials)
    values = MetricValues(open_ones, Protocol(16, k=(8,), groups=()))
    assert values.means(values.parts[''])['G-Pass@8_1.0'] == pytest.approx(37.5)
    known = {stable_hash(['', '', trial.end]): True for trial in open_ones.trials if trial.end}
    found = judge_error(values, {'outcomes': PERFECT, 'known': known}, {})
    assert found['metrics']['G-Pass@8_1.0']['estimate'] == pytest.approx(75)


@pytest.mark.parametrize('answered', [True, False])
@pytest.mark.parametrize('labelled', [True, False])
def test_labels_on_unjudged_responses_count(answered: bool, labelled: bool) -> None:
    """Of 24 the 8 unjudged ones are wrong by their labels, or by many labels on others."""
    given_table = table([*['AA??'] * 4, *['AAAA'] * 2])
    known = {}
    for i, trial in enumerate(given_table.trials):
        if trial.verdict is U:
            text = f'text {i}'
            trial.answer, trial.end = (text, '') if answered else (None, text)
            trial.answer_class = i if answered else -1
            known[stable_hash(['', '', text])] = False
    outcomes = {'rule: correct': (16.0, 1e4, 1.0), 'rule: unjudged': (8.0, 1e4, 0.0)}
    values = MetricValues(
        TrialTable(given_table.problems, given_table.trials), Protocol(4, k=(4,), groups=())
    )
    assert values.means(values.parts[''])['accuracy'] > 99
    audit = {'outcomes': outcomes, 'known': known if labelled else {}}
    found = judge_error(values, audit, {})['metrics']['accuracy']
    assert found['estimate'] == pytest.approx(100 * 16 / 24, abs=0.01 if labelled else 2)


def test_people_and_missing_answers_are_certain() -> None:
    """Verdicts of people stay, and a response without an answer stays wrong."""
    protocol = Protocol(4, k=(4,), groups=())
    bad = {'rule: correct': (100.0, 100.0, 0.5), 'rule: incorrect': (100.0, 100.0, 0.5)}
    bad |= {name.replace('rule', 'human'): row for name, row in bad.items()}
    for given_table in (table(['AAAA', 'abcd'], 'human'), table(['----', '----'])):
        values = MetricValues(given_table, protocol)
        recorded = values.means(values.parts[''])
        for key, value in judge_error(values, {'outcomes': bad, 'known': {}}, {})[
            'metrics'
        ].items():
            assert value['estimate'] == pytest.approx(recorded[key])
            assert value['range'] == pytest.approx([recorded[key]] * 2)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.sampled_from([0.005, 0.01]))
def test_sensitivity_is_the_expected_metric(counts: list[int], rate: float) -> None:
    """Each sample's verdict is wrong by itself: against the sum over all patterns of errors."""
    rows = ['A' * c + 'b' * (6 - c) for c in counts]
    told = judge_error(MetricValues(table(rows), Protocol(6, k=(3,), groups=())), {}, {})
    assert told['sensitivity']['metric'] == 'G-Pass@3_1.0'

    def expected(of: str) -> float:
        total = 0.0
        for c in counts:
            right = [i < c for i in range(6)]
            for errors in product((False, True), repeat=6):
                if any(e and (r != (of == 'right')) for e, r in zip(errors, right, strict=True)):
                    continue
                number = c if of == 'right' else 6 - c
                chance = rate ** sum(errors) * (1 - rate) ** (number - sum(errors))
                called = sum(r != e for r, e in zip(right, errors, strict=True))
                total += chance * float(Fraction(comb(called, 3), comb(6, 3)))
        return 100 * total / len(counts)

    rates = told['sensitivity']['rates']
    assert rates['right answers called wrong'][f'{100 * rate:g}'] == pytest.approx(
        expected('right')
    )
    assert rates['wrong answers called right'][f'{100 * rate:g}'] == pytest.approx(
        expected('wrong')
    )


def test_error_rates_by_hand() -> None:
    """Of 100 called right 90 are, of 100 called wrong 10 are right: a tenth of each is wrong."""
    of = LabelledOutcomes(np.array([100.0, 100.0]), np.array([50.0, 50.0]), np.array([0.9, 0.1]))
    rates = of.error_rates(np.array([True, False]))
    assert rates[:, 0] == pytest.approx([0.1, 0.1])
    assert (rates[:, 1] < rates[:, 0]).all() and (rates[:, 0] < rates[:, 2]).all()
    none = LabelledOutcomes(np.full(3, 9.0), np.full(3, 9.0), np.array([1.0, 0.0, 0.0]))
    low_of_none = none.error_rates(np.array([True, False, False]))[:, :2]
    assert (
        low_of_none.tolist() == [[0.0, 0.0]] * 2
    )  # two outcomes that may be an error, and none is
    only_right = LabelledOutcomes(np.array([9.0]), np.array([9.0]), np.array([1.0]))
    assert np.isnan(only_right.error_rates(np.array([True]))).all()
    unlabelled = LabelledOutcomes(np.array([9.0, 9.0]), np.zeros(2), np.zeros(2))
    assert np.isnan(unlabelled.error_rates(np.array([True, False]))).all()


def test_more_labels_make_the_range_narrower() -> None:
    """A plan for a run whose answers all differ."""
    rng = np.random.default_rng(0)
    rows = [
        ''.join(chr(97 + i).upper() if rng.random() < p % 5 / 4 else chr(97 + i) for i in range(8))
        for p in range(60)
    ]
    values = MetricValues(table(rows), Protocol(8, k=(4,), groups=()))
    widths = [high - low for low, high in planned_ranges(values, (20, 400), {}).values()]
    assert 0 < widths[1] < widths[0] / 2


def test_an_audit_is_used_for_the_judge_s_next_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rates are told, its results get estimates, and so do later ones with the same store."""
    monkeypatch.setenv('GPASSK_VERDICT_STORE', str(tmp_path / 'verdicts.sqlite'))
    rows = [
        {
            'problem': str(p),
            'answer': str(p),
            'samples': [f'\\boxed{{{p + (i > p % 6)}}}' for i in range(6)],
        }
        for p in range(20)
    ]
    samples = tmp_path / 'samples.jsonl'
    samples.write_text('\n'.join(map(json.dumps, rows)))
    score = ['score', str(samples), '-k', '4', '-o']
    assert main([*score, str(tmp_path / 'a.json'), '--all']) == 0
    assert 'independent errors of verdicts would change G-Pass@4_1.0' in capsys.readouterr().out
    assert main(['audit', str(tmp_path / 'a.json'), '--plan']) == 0
    planned = capsys.readouterr().out
    assert 'all labelled' in planned and not re.search(r'(?<!\d)0\.0(?!\d)', planned)
    labels = tmp_path / 'labels.jsonl'
    assert main(['audit', str(tmp_path / 'a.json'), '--draw', str(labels)]) == 0
    told = [json.loads(line) for line in labels.read_text().splitlines()]
    for row in told:
        row['human'] = 'correct' if row['gold'] in row['answer'] else 'incorrect'
    labels.write_text('\n'.join(map(json.dumps, told)))
    assert 'metrics' not in json.loads((tmp_path / 'a.json').read_text())['judge_error']
    assert main(['audit', str(tmp_path / 'a.json'), 'recorded', str(labels)]) == 0
    shown = capsys.readouterr().out
    assert 'right answers called wrong, %' in shown
    assert 'metrics under true verdicts' in shown
    assert main([*score, str(tmp_path / 'b.json'), '--all']) == 0
    assert 'metrics under true verdicts' in capsys.readouterr().out
    first, second = (
        json.loads((tmp_path / name).read_text())['judge_error'] for name in ('a.json', 'b.json')
    )
    assert first == second
    low, high = first['metrics']['G-Pass@4_1.0']['range']
    assert low <= first['metrics']['G-Pass@4_1.0']['estimate'] <= high


@pytest.mark.slow
def test_without_labels_on_verdicts_nothing_is_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """People's own verdicts tell nothing of a judge; labels of one kind leave an error unknown."""
    store = tmp_path / 'verdicts.sqlite'
    monkeypatch.setenv('GPASSK_VERDICT_STORE', str(store))
    samples, labels, result = (tmp_path / name for name in ('s.jsonl', 'l.jsonl', 'a.json'))
    rows = [
        {
            'problem': f'{p} = ?',
            'answer': str(p),
            'samples': [f'\\boxed{{{p + i}}}' for i in (0, 1)],
        }
        for p in range(8)
    ]
    samples.write_text('\n'.join(map(json.dumps, rows)))
    score = ['score', str(samples), '-k', '2', '-o', str(result)]
    assert main(score) == 0
    assert main(['audit', str(result), '--draw', str(labels)]) == 0
    told = [json.loads(line) for line in labels.read_text().splitlines()]
    wrong = [{**row, 'human': 'incorrect'} for row in told if row['answer'] != row['gold']]
    labels.write_text('\n'.join(map(json.dumps, wrong)))
    assert main(['verdicts', 'import', str(labels), '--store', str(store)]) == 0
    result.unlink()
    assert main(score) == 0  # now with people's verdicts
    before = result.read_bytes(), store.read_bytes()
    capsys.readouterr()
    assert main(['audit', str(result), 'recorded', 'human']) == 0
    shown = capsys.readouterr()
    assert 'no labels: nothing was estimated' in shown.err
    assert 'metrics under true verdicts' not in shown.out
    assert (result.read_bytes(), store.read_bytes()) == before
    monkeypatch.setenv('GPASSK_VERDICT_STORE', str(tmp_path / 'other.sqlite'))
    result.unlink()
    assert main(score) == 0
    assert main(['audit', str(result), 'recorded', str(labels)]) == 0
    shown = capsys.readouterr()
    assert 'no labelled answer is right' in shown.err
    assert 'no labelled answer is wrong' not in shown.err
    assert 'metrics under true verdicts' in shown.out
    assert 'metrics' in json.loads(result.read_text())['judge_error']
    # A store without the audit takes it back.
    other, new, exported = (
        str(tmp_path / name) for name in ('other.sqlite', 'new.sqlite', 'export.jsonl')
    )
    assert main(['verdicts', 'import', str(labels), '--store', other]) == 0
    assert main(['verdicts', 'export', other, '-o', exported]) == 0
    assert main(['verdicts', 'import', exported, '--store', new]) == 0
    for path, estimated in ((other, True), (new, False)):
        monkeypatch.setenv('GPASSK_VERDICT_STORE', path)
        result.unlink()
        assert main(score) == 0
        assert ('metrics' in json.loads(result.read_text())['judge_error']) == estimated
