"""OpenCompass's own summarizer on a sweep with our data sets: what a neighbour's table shows."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

from made_results import make_result, make_version_result
from made_runs import MadeRun

from opencompass_gpassk.results.figures import parse_figure

SAMPLED, GREEDY, VERSIONS = 'sample-n8', 'sample-greedy-n1', 'rvbench-n1'
SUMMARIZER = f"""
summarizer = dict(
    type='opencompass.summarizers.DefaultSummarizer',
    dataset_abbrs=[{SAMPLED!r}, [{SAMPLED!r}, 'G-Pass@4_1.0'], 'gsm8k', 'accuracies', 'stable'],
    summary_groups=[
        dict(name='accuracies', subsets=[{SAMPLED!r}, {GREEDY!r}, 'gsm8k']),
        dict(name='stable', subsets=[[{SAMPLED!r}, 'G-Pass@4_1.0'], [{GREEDY!r}, 'accuracy']]),
    ],
)
"""


def test_the_table_has_our_headline_figures(tmp_path: Path) -> None:
    """Two models, one with lost responses: accuracy is averaged, and each figure can be named."""
    run = MadeRun(
        tmp_path / '20260101_000000', ['whole', 'lossy'], [SAMPLED, GREEDY, VERSIONS, 'gsm8k']
    )
    for model, judged in (('whole', 8), ('lossy', 3)):
        counts = {'AMC_en': [3, 2], 'AMC_cn': [0, 3]}
        made = make_result(counts, 8, (2, 4, 8), judged=judged, benchmark='sample')
        run.result(model, SAMPLED, made)
        run.result(model, GREEDY, make_result({'AMC_en': [1, 0]}, 1, greedy=True))
        run.result(model, VERSIONS, make_version_result({'a': [1, 1, 0, 1], 'b': [0, 1, 0, 0]}))
        run.result(model, 'gsm8k', {'accuracy': 30.0})
    (config,) = (run.folder / 'configs').glob('*.py')
    text = config.read_text('utf-8').replace('summarizer = ', 'ours = ') + SUMMARIZER
    (tmp_path / 'job.py').write_text(text, 'utf-8')
    command = [Path(sys.executable).with_name('opencompass'), 'job.py', '-m', 'viz']
    command += ['-w', '.', '-r', run.folder.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    (table,) = (run.folder / 'summary').glob('*.csv')
    rows = {(row[0], row[2]): row[4:] for row in csv.reader(table.open(encoding='utf-8'))}
    assert rows[SAMPLED, 'accuracy'] == ['25.00', '66.67']
    assert rows[SAMPLED, 'G-Pass@4_1.0'] == ['0.00', 'nan']
    assert rows['accuracies', 'accuracy'] == ['35.00', '48.89']
    assert rows['stable', 'naive_average'][0] == '25.00'
    (listing,) = (run.folder / 'summary').glob('*.txt')
    for model in ('whole', 'lossy'):
        raw = listing.read_text('utf-8').split(f'Model: {model}\n')[1].split('Model: ')[0]
        told = dict(line.split(': ', 1) for line in raw.splitlines() if ': {' in line)
        for dataset in (SAMPLED, VERSIONS):
            names = list(eval(told[dataset], {'nan': float('nan')}))  # a dictionary of numbers
            assert names[0] == 'accuracy'
            assert len(names) <= 30
            assert all(parse_figure(name) for name in names)
