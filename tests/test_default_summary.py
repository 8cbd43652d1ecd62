"""OpenCompass's own summarizer on a sweep with our data sets: what a neighbour's table shows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from made_results import make_result, make_version_result
from made_runs import MadeRun
from opencompass_here import opencompass

from opencompass_gpassk.results.metric import parse_metric

SAMPLED, GREEDY, VERSIONS = 'sample-n8', 'sample-greedy-n1', 'rvbench-n1'
ASKED = f"""
summarizer = dict(
    type='opencompass.summarizers.DefaultSummarizer',
    dataset_abbrs=[{SAMPLED!r}, [{SAMPLED!r}, 'G-Pass@4_1.0'], 'gsm8k', 'accuracies', 'stable'],
    summary_groups=[
        dict(name='accuracies', subsets=[{SAMPLED!r}, {GREEDY!r}, 'gsm8k']),
        dict(name='stable', subsets=[[{SAMPLED!r}, 'G-Pass@4_1.0'], [{GREEDY!r}, 'accuracy']]),
    ],
)
"""


@pytest.fixture
def run(tmp_path: Path) -> MadeRun:
    """A finished run of two models, of which one has too few samples for k = 4."""
    run = MadeRun(
        tmp_path / '20260101_000000', ['whole', 'lossy'], [SAMPLED, GREEDY, VERSIONS, 'gsm8k']
    )
    for model, sampled in (('whole', 8), ('lossy', 3)):
        counts = {'AMC_en': [3, 2], 'AMC_cn': [0, 3]}
        made = make_result(counts, 8, (2, 4, 8), sampled=sampled, benchmark='sample')
        run.result(model, SAMPLED, made)
        run.result(model, GREEDY, make_result({'AMC_en': [1, 0]}, 1, greedy=True))
        run.result(model, VERSIONS, make_version_result({'a': [1, 1, 0, 1], 'b': [0, 1, 0, 0]}))
        run.result(model, 'gsm8k', {'accuracy': 30.0})
    return run


def summarized(run: MadeRun, summarizer: str) -> dict[tuple[str, str], list[str]]:
    """(Data set, metric) → metrics of the two models, in the table that OpenCompass writes."""
    (config,) = (run.folder / 'configs').glob('*.py')
    text = config.read_text('utf-8').replace('summarizer = ', 'ours = ') + summarizer
    job = run.folder.parent / 'job.py'
    job.write_text(text, 'utf-8')
    opencompass(job.parent, job.name, '-m', 'viz', '-w', '.', '-r', run.folder.name)
    (table,) = (run.folder / 'summary').glob('*.csv')
    return {(row[0], row[2]): row[4:] for row in csv.reader(table.open(encoding='utf-8'))}


def test_the_table_has_our_headline_metrics(run: MadeRun) -> None:
    """Accuracy is averaged over sampled, greedy and plain sets, and each metric can be named."""
    rows = summarized(run, ASKED)
    assert rows[SAMPLED, 'accuracy'] == ['25.00', '66.67']
    assert rows[SAMPLED, 'G-Pass@4_1.0'] == ['0.00', 'nan']
    assert rows['accuracies', 'accuracy'] == ['35.00', '48.89']
    assert rows['stable', 'naive_average'][0] == '25.00'


@pytest.mark.slow
def test_all_that_it_lists_are_metrics(run: MadeRun) -> None:
    """At most thirty of a data set, `accuracy` first, the same for both models."""
    rows = summarized(run, "summarizer = dict(type='opencompass.summarizers.DefaultSummarizer')")
    for dataset in (SAMPLED, VERSIONS):
        names = [metric for name, metric in rows if name == dataset]
        assert names[0] == 'accuracy'
        assert 6 <= len(names) <= 30
        assert all(parse_metric(name) for name in names)
