"""The file of a trial table: what is written is read again, and damage is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from opencompass_gpassk.trials import (
    SCHEMA,
    Problem,
    Trial,
    TrialTable,
    Verdict,
    read_trials,
    write_trials,
)


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
        file.write('{"kind": "meta", "schema": "3"}\n{"kind": "trial", "verdict": "maybe"}\n')
    with pytest.raises(ValueError, match=r'x\.trials\.jsonl\.gz, line 2'):
        read_trials(path)
