"""Audits: samples, and the sources that they compare."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from audit_trials import audit_trials, make_table
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_judge import ScriptedJudge
from store_writer import put_human

from opencompass_gpassk.inference.server_replies import Failure, Reply
from opencompass_gpassk.judging.audit_sample import (
    AuditTrial,
    Comparison,
    Sample,
    allocate,
    clusters,
    draw_sample,
    labelled_outcomes,
    opinions,
)
from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.verdict_store import StoredVerdict, VerdictStore
from opencompass_gpassk.report.tables.audit import blind_rows
from opencompass_gpassk.trials import UNRECOGNISED, Verdict

C, W, U = Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.integers(0, 200))
@settings(max_examples=150, deadline=None)
def test_allocation_is_nearly_proportional(sizes: list[int], more: int) -> None:
    """All are handed out, one each at least; strata that aren't tiny get their share, ±1."""
    total = len(sizes) + more
    counts = allocate(sizes, total)
    assert sum(counts) == min(total, sum(sizes))
    assert all(1 <= count <= size for count, size in zip(counts, sizes, strict=True))
    for a, b in product(range(len(sizes)), repeat=2):
        if counts[a] > 1 and counts[b] > 1:
            ratio = Fraction(counts[a] - 1, sizes[a]) - Fraction(counts[b] + 1, sizes[b])
            assert ratio <= 0
        if sizes[a] > sizes[b]:
            assert counts[a] >= counts[b]


def test_each_stratum_is_in_the_sample() -> None:
    """Counted by hand: verdict × source × data set × split × language × level."""
    trials = audit_trials(make_table()) + audit_trials(make_table(8), data_set='e')
    sample = draw_sample('m', trials, 60)
    present = [one for one in trials if one.trial.replica not in (5, 6)]
    strata = Counter(one.stratum for one in present)
    drawn = Counter(one.stratum for one in sample.trials)
    assert set(strata) == set(drawn)
    assert {len(key) for key in strata} == {6}
    assert sample.strata == len(strata)
    assert (sample.population, sample.no_answer, sample.lost) == (32 * 6, 32, 32)
    assert len({one.identity for one in sample.trials}) == 60
    assert sum(sample.weights) == pytest.approx(sample.population)
    for one, weight in zip(sample.trials, sample.weights, strict=True):
        assert weight == pytest.approx(strata[one.stratum] / drawn[one.stratum])


def test_the_ends_of_responses_without_a_recognised_answer_are_a_stratum(tmp_path: Path) -> None:
    """A labeller sees the end; for the rules it is wrong, and no text that they read."""
    table = make_table()
    for trial in table.trials[5::16]:
        trial.source, trial.end = UNRECOGNISED, f'… which gives {trial.problem_id}'
    sample = draw_sample('m', audit_trials(table), 60)
    assert (sample.population, sample.no_answer) == (24 * 6 + 12, 12)
    ends = [one for one in sample.trials if one.trial.source == UNRECOGNISED]
    assert ends
    rows = blind_rows([sample], 0)
    assert {one.trial.end for one in ends} <= {row['answer'] for row in rows}
    ruled = opinions('rule', ends, ends, tmp_path / 'none', print)
    assert {said.verdict for said in ruled.values()} == {W}
    assert {one.trial.outcome for one in ends} == {'unrecognised: incorrect'}


def test_more_strata_than_trials_are_merged() -> None:
    """Over level first; rare trials stay within reach, and the weights still add up."""
    trials = audit_trials(make_table())
    seen = set()
    for seed in range(200):
        sample = draw_sample('m', trials, 3, seed)
        assert len(sample.trials) == 3
        assert sum(sample.weights) == pytest.approx(sample.population)
        assert {one.trial.verdict for one in sample.trials} == {C, W, U}
        seen |= {one.identity for one in sample.trials}
    assert len(seen) > 110  # of 144, by chance 125
    assert draw_sample('m', trials, 2).strata == 1
    assert len(draw_sample('m', trials, 1000).trials) == 24 * 6
    assert draw_sample('m', [], 10).trials == []
    with pytest.raises(ValueError, match='trials is 0'):
        draw_sample('m', trials, 0)


def ask(
    name: str, trials: list[AuditTrial], store: Path = Path('none.sqlite')
) -> tuple[list[StoredVerdict], str]:
    """What a source says of trials that are the whole run, and what it tells the user."""
    told: list[str] = []
    said = opinions(name, trials, trials, store, told.append)
    return [said[one.identity] for one in trials], '\n'.join(told)


def compare(sample: Sample, second: list[StoredVerdict]) -> Comparison:
    """The recorded verdicts of a sample beside other ones."""
    return Comparison(sample, ask('recorded', sample.trials)[0], second)


def test_the_estimate_is_unbiased() -> None:
    """Over many seeds the mean of the agreement is that of the whole run, small strata and all."""
    trials = audit_trials(make_table(16))

    def rate(size: int, seed: int) -> float:
        sample = draw_sample('m', trials, size, seed)
        other = [StoredVerdict(C if int(one.trial.problem_id) % 3 else W) for one in sample.trials]
        return compare(sample, other).agreement.rate

    whole = rate(10**6, 0)
    found = [rate(25, seed) for seed in range(150)]
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - whole) < 3 * error < 0.04


def test_disagreements_are_between_two_that_judged() -> None:
    """What one of them left unjudged is counted, not listed."""
    trials = audit_trials(make_table())
    sample = draw_sample('m', trials, 60)
    found = compare(sample, [StoredVerdict(W)] * 60)
    right = sum(one.trial.verdict is C for one in sample.trials)
    assert len(list(found.disagreements())) == right == found.agreement.confusion[0, 1]
    assert found.agreement.unjudged == (sum(one.trial.verdict is U for one in sample.trials), 0)


def test_the_rule_judges_anew() -> None:
    """It says what the answers are, whatever was recorded."""
    table = make_table(4, say=lambda problem, replica: W if replica % 2 else C)
    table.trials[0].verdict = W
    drawn = [one for one in audit_trials(table) if one.trial.answer is not None]
    assert [one.verdict for one in ask('recorded', drawn)[0]][:2] == [W, W]
    assert [one.verdict for one in ask('rule', drawn)[0]][:2] == [C, W]


def test_a_source_without_a_verdict_is_an_error(tmp_path: Path) -> None:
    """There is nothing to compare, and the reason is told."""
    trials = audit_trials(make_table(2, n=2, say=lambda problem, replica: U))
    trials[0].trial.reason = 'nobody judged'
    told = r'recorded: none of the 4 sampled trials is judged, .*: nobody judged'
    with pytest.raises(ValueError, match=told):
        ask('recorded', trials)


def write_rows(path: Path, *rows: Any) -> str:
    """A file of lines, JSON where they aren't texts."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text('\n'.join(lines) + '\n', 'utf-8')
    return str(path)


def test_labels_are_about_texts(tmp_path: Path) -> None:
    """They count wherever these occur; empty labels are passed over."""
    trials = [one for one in audit_trials(make_table(4)) if one.trial.answer is not None]
    texts = trials[0].triple._asdict()
    path = write_rows(
        tmp_path / 'l.jsonl',
        {**texts, 'human': True},
        '',
        {**trials[-1].triple._asdict(), 'verdict': ' Incorrect '},
        {'question': 'q\u2028\ud800', 'gold': 'g', 'answer': 'a', 'label': 'false'},
        {**texts, 'gold': 'other', 'human': None},
        {**texts, 'gold': 'other', 'human': '', 'verdict': 'correct'},
    )
    said, told = ask(path, trials)
    wanted = {trials[0].triple: C, trials[-1].triple: W}
    assert [one.verdict for one in said] == [wanted.get(one.triple, U) for one in trials]
    assert sum(one.triple == trials[0].triple for one in trials) > 1
    assert '1 labels match no answer of the sample, and 1 of these match none' in told


@pytest.mark.parametrize(
    ('row', 'told'),
    [
        ('{"question": ', 'not JSON'),
        ('[1]', 'a row is an object'),
        ({'question': 'q', 'gold': 'g', 'answer': 'a'}, 'no field human or verdict or label'),
        ({'question': 'q', 'gold': 'g', 'answer': 'a', 'human': 'maybe'}, 'human is "maybe"'),
        ({'question': 'q', 'gold': 'g', 'answer': 'a', 'human': 1}, 'human is 1;'),
        ({'question': 'q', 'gold': 'g', 'human': True}, 'answer is missing'),
        ({'question': 'q', 'gold': 'g', 'answer': 'b', 'human': False}, 'line 1 says correct'),
    ],
)
def test_bad_labels_name_their_line(row: Any, told: str, tmp_path: Path) -> None:
    """File, line, what is wrong."""
    good = {'question': 'q', 'gold': 'g', 'answer': 'b', 'human': True}
    with pytest.raises(ValueError, match=rf'l\.jsonl, line 2: .*{told}'):
        ask(write_rows(tmp_path / 'l.jsonl', good, row), [])


def test_a_problem_of_two_data_sets_is_one_cluster() -> None:
    """So are its translations; problems without questions are told apart by data set."""
    table = make_table(8)
    same = [*audit_trials(table), *audit_trials(table, data_set='sample-greedy-n1')]
    numbers = clusters(same).tolist()
    assert len(set(numbers)) == 4  # of two problems each
    assert numbers[: len(numbers) // 2] == numbers[len(numbers) // 2 :]
    for problem in range(8):
        table.problems[problem] = replace(table.problems[problem], question='')
    silent = [*audit_trials(table), *audit_trials(table, data_set='sample-greedy-n1')]
    assert len(set(clusters(silent).tolist())) == 8


def test_a_file_without_labels_is_refused(tmp_path: Path) -> None:
    """Nothing filled in is said with the remedy."""
    row = {'question': 'q', 'gold': 'g', 'answer': 'a', 'human': ''}
    with pytest.raises(ValueError, match='no row of it is labelled; fill in'):
        ask(write_rows(tmp_path / 'l.jsonl', row), [])


def stub_judge(*, failing: bool = False) -> ScriptedJudge:
    """One that says yes to answers that aren't negative; it may fail on the first prompt."""

    def say(answer: str, times: int) -> Reply | Failure:
        if failing and not judge.asked:
            return Failure('overloaded', permanent=False)
        word = 'no' if answer.startswith('-') else 'yes'
        return Reply(f'I think \\boxed{{{word}}}')

    judge = ScriptedJudge(say, model='stub')
    return judge


def test_a_judge_is_asked_once_about_each_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words are kept; what failed is unjudged, and asked again; people aren't heard."""
    trials = [one for one in audit_trials(make_table(6)) if one.trial.answer is not None]
    triples = list(dict.fromkeys(one.triple for one in trials))
    path = tmp_path / 'v.sqlite'
    with VerdictStore(path) as store:
        put_human(store, triples[0], W if triples[0].answer >= '0' else C)
    judge = stub_judge(failing=True)
    monkeypatch.setattr(
        'opencompass_gpassk.judging.audit_sample.make_judge', lambda settings: judge
    )
    said, told = ask('judge', trials, path)
    assert f'judge: {len(triples)} calls' in told
    assert len(judge.prompts) == len(triples)
    unjudged = [one.triple for one, opinion in zip(trials, said, strict=True) if opinion.reason]
    assert len(set(unjudged)) == 1
    judge = stub_judge()
    said, told = ask('judge', trials, path)
    assert 'judge: 1 calls' in told
    for one, opinion in zip(trials, said, strict=True):
        assert opinion.verdict is (W if one.triple.answer.startswith('-') else C)
        assert opinion.reply.startswith('I think')


def test_verdicts_are_looked_up(tmp_path: Path) -> None:
    """By the judge's name; the last of several counts; unknown judges are told."""
    trials = [one for one in audit_trials(make_table(2)) if one.trial.answer is not None]
    triple, path = trials[0].triple, tmp_path / 'v.sqlite'
    with pytest.raises(ValueError, match='there is no verdict store'):
        ask('store:a', trials, path)
    with VerdictStore(path) as store:
        store.put(JudgeIdentity('a', 'old'), triple, StoredVerdict(C, reply='old'))
        with pytest.raises(ValueError, match="no verdict of 'b' in it; it holds those of a"):
            ask('store:b', trials, path)
        store.put(JudgeIdentity('b', 'p'), triple, StoredVerdict(U, 'too long'))
        put_human(store, triple, W)
        said, _ = ask('store:a', trials, path)
        assert said[0] == StoredVerdict(C, '', 'old')
        store.put(JudgeIdentity('a', 'new'), triple, StoredVerdict(W, reply='new'))
        store.put(JudgeIdentity('a', 'unreadable'), triple, StoredVerdict(U, reply='newer'))
        said, _ = ask('store:a', trials, path)
        assert said[0] == StoredVerdict(W, '', 'new')
        said, _ = ask('human', trials, path)
        assert said[0].verdict is W
        assert said[-1] == StoredVerdict(U, 'not in the verdict store')
        store.put(JudgeIdentity('m\x1b[2J', 'p'), triple, StoredVerdict(C))
        with pytest.raises(ValueError, match='those of a, b, m\ufffd'):
            ask('store:c', trials, path)


def test_labels_that_agree_are_all_of_them() -> None:
    """The share that says "right" is 1 whatever the weights; a share above 1 is no audit."""
    trials = audit_trials(make_table(2, say=lambda *_: Verdict.CORRECT))
    found = labelled_outcomes(
        (one, 1 + 5 / 7, Verdict.CORRECT) for one in trials if one.trial.answer
    )
    assert found['rule: correct'][2] == 1


def test_an_unjudged_outcome_counts_if_it_is_labelled() -> None:
    """Without a label nothing is known of the unjudged ones."""
    trials = audit_trials(make_table(2, say=lambda *_: Verdict.UNJUDGED))
    given = [(one, 1.0, Verdict.UNJUDGED) for one in trials if one.trial.answer]
    assert labelled_outcomes(given) == {}
    given[0] = given[0][0], 1.0, Verdict.INCORRECT
    assert labelled_outcomes(given) == {'rule: unjudged': (float(len(given)), 1.0, 0.0)}
