"""Rows for data frames, and the page that shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from stored_table import table_of, write_result

from opencompass_gpassk import metric_rows, trial_rows

PAGE = Path(__file__).parent.parent / 'docs/report.md'


def test_rows_are_frames_of_trials_and_metrics(tmp_path: Path) -> None:
    """A missing verdict is neither right nor wrong; metrics are those of the file."""
    result = write_result(tmp_path / 'm.json', table_of(['++-?', '+--x'] * 3), [2])
    trials = pd.DataFrame(trial_rows(tmp_path / 'm.json'))
    assert (
        trials.groupby('problem_id')['correct'].agg(['count', 'sum']).values.tolist()
        == [
            [3, 2],
            [3, 1],
        ]
        * 3
    )
    assert trials['verdict'].tolist()[2:4] == ['incorrect', 'unjudged']
    metrics = pd.DataFrame(metric_rows([tmp_path / 'm.json']))
    row = metrics.query("metric == 'G-Pass@k' and k == 2 and tau == 1").iloc[0]
    assert row['percent'] == pytest.approx(result['metrics']['G-Pass@2_1.0'])
    assert [row['low'], row['high']] == pytest.approx(result['intervals']['G-Pass@2_1.0'])
    assert (row['model'], row['questions']) == ('m', 6)


def test_a_field_named_like_a_column_stays(tmp_path: Path) -> None:
    """It gets a prefix; a file that can't be read is a warning."""
    table = table_of(['+-', '++'])
    for problem in table.problems:
        problem.groups['model'] = 'other'
    write_result(tmp_path / 'm.json', table, [2])
    (tmp_path / 'bad.json').write_text('{')
    with pytest.warns(UserWarning, match='bad'):
        rows = trial_rows(tmp_path)
    assert (rows[0]['model'], rows[0]['group model']) == ('m', 'other')


def test_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a reader would paste it, beside results with at least 32 samples."""
    (tmp_path / 'outputs/scored').mkdir(parents=True)
    write_result(tmp_path / 'outputs/scored/m.json', table_of(['+' * 20 + '-' * 12] * 3), [4])
    block = re.search(r'```python\n(.*?)```', PAGE.read_text('utf-8'), re.DOTALL)
    assert block is not None
    monkeypatch.chdir(tmp_path)
    exec(block[1], {})
    assert capsys.readouterr().out.count('m 32 ') == 1
