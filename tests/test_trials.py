"""The trial table: counts, votes, and its file."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from opencompass_gpassk.metrics.majority_vote import majority_vote
from opencompass_gpassk.trials import (
    SCHEMA,
    Problem,
    Trial,
    TrialTable,
    Verdict,
    read_trials,
    write_trials,
)

VERDICTS = {'+': Verdict.CORRECT, '-': Verdict.INCORRECT, '?': Verdict.UNJUDGED}


def make_table(**problems: str) -> TrialTable:
    """Build a table from strings such as ``a='0+ 1- 1- x-'``: answer class (x: none), verdict."""
    trials = [
        Trial(
            name,
            replica,
            VERDICTS[mark[1]],
            answer=None if mark[0] == 'x' else mark[0],
            answer_class=-1 if mark[0] == 'x' else int(mark[0]),
        )
        for name, marks in problems.items()
        for replica, mark in enumerate(marks.split())
    ]
    return TrialTable([Problem(name) for name in problems], trials)


def vote_of(table: TrialTable) -> np.ndarray:
    """The majority votes of a table's problems."""
    arrays = (table.problem_index, table.answer_class, table.correct, table.judged)
    return majority_vote(*arrays, np.full(len(table.problems), np.nan))


def test_counts_leave_out_unjudged_trials() -> None:
    """An unjudged trial is in neither n nor c."""
    n, c = make_table(a='0+ 1- 2? 0+', b='0- 0-', c='0? 0?').counts()
    assert n.tolist() == [3, 2, 0]
    assert c.tolist() == [2, 0, 0]


@pytest.mark.parametrize(
    ('marks', 'vote'),
    [
        ('0+ 0+ 1- 2-', 1.0),
        ('0+ 1- 1- 2-', 0.0),
        ('0+ 0+ 1- 1-', 0.5),
        ('0+ 1- 2-', 1 / 3),
        ('x- x- x- 0+', 1.0),
        ('x- x-', 0.0),
        ('0+ 1? 1?', np.nan),
        ('0+ 0? 1-', 1.0),
        ('0+ 0+ 0+ 0- 0- 1- 1- 1- 1-', 0.6),
        ('0+ 0- 1- 1-', 0.25),
        ('0+ 0? 0- 1-', 0.5),
        ('0? x?', np.nan),
    ],
)
def test_majority_vote(marks: str, vote: float) -> None:
    """Equivalent answers vote together, ties are split, no answer doesn't vote.

    An answer that was judged right and wrong counts as the share of its verdicts that are right.
    """
    np.testing.assert_allclose(vote_of(make_table(a=marks, other='0+')), [vote, 1.0])


def test_an_answer_without_a_verdict_is_right_by_its_chance() -> None:
    """The chance is that of the problem's missing verdicts."""
    table = make_table(a='0+ 1? 1?', b='0+ 0+ 1?')
    arrays = (table.problem_index, table.answer_class, table.correct, table.judged)
    assert majority_vote(*arrays, np.array([0.25, 0.25])).tolist() == [0.25, 1.0]


def test_table_of_nothing() -> None:
    """A table without trials has counts of zero and undefined votes."""
    table = TrialTable([Problem('a')], [])
    assert [x.tolist() for x in table.counts()] == [[0], [0]]
    assert np.isnan(vote_of(table)).all()


def test_faults_are_named() -> None:
    """Repeated ids, repeated replicas and unknown problems are refused by name."""
    with pytest.raises(ValueError, match=r"problem_id 'a' occurs twice"):
        TrialTable([Problem('a'), Problem('a')], [])
    with pytest.raises(ValueError, match=r"'b', which is unknown"):
        TrialTable([Problem('a')], [Trial('b', 0, Verdict.CORRECT)])
    with pytest.raises(ValueError, match='replica 0 twice'):
        TrialTable([Problem('a')], [Trial('a', 0, Verdict.CORRECT)] * 2)


def test_no_majority_where_right_responses_have_no_answer() -> None:
    """As with programs: nobody voted, which is undefined; without right ones it is wrong."""
    right = TrialTable(
        [Problem('0'), Problem('1')],
        [Trial('0', 0, Verdict.CORRECT), Trial('1', 0, Verdict.INCORRECT)],
    )
    assert np.isnan(vote_of(right)).all()
    wrong = TrialTable([Problem('0')], [Trial('0', 0, Verdict.INCORRECT)])
    assert vote_of(wrong).tolist() == [0.0]


def test_file_round_trip(tmp_path: Path) -> None:
    """What is written is read again, hostile text included."""
    problems = [Problem('a', 'q\u2028\ud800', '$1$', {'split': 'AMC'}, cluster='a'), Problem('b')]
    trials = [
        Trial('a', 0, Verdict.CORRECT, answer='<script>\x85', answer_class=0, truncated=False),
        Trial('a', 1, Verdict.UNJUDGED, source='judge', reason='timeout', values={'validity': 0.5}),
        Trial('b', 0, Verdict.UNJUDGED, lost=True, response='p.json#3'),
    ]
    path = tmp_path / 'x.trials.jsonl.gz'
    write_trials(path, TrialTable(problems, trials), {'n': 2})
    table, meta = read_trials(path)
    assert table.problems == problems
    assert table.trials == trials
    assert meta == {'schema': SCHEMA, 'n': 2}
    assert list(tmp_path.iterdir()) == [path]


def test_damaged_file_names_its_line(tmp_path: Path) -> None:
    """A bad line is an error that names the file and the line."""
    path = tmp_path / 'x.trials.jsonl.gz'
    with gzip.open(path, 'wt') as file:
        file.write('{"kind": "meta", "schema": "4"}\n{"kind": "trial", "verdict": "maybe"}\n')
    with pytest.raises(ValueError, match=r'x\.trials\.jsonl\.gz, line 2'):
        read_trials(path)
