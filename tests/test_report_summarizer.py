"""The summary in OpenCompass: its own table, ours, and what became of the rest."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from made_results import make_result
from made_runs import MadeRun
from mmengine.config import Config
from opencompass.registry import build_from_cfg

from opencompass_gpassk.runs.config import run_config

SAMPLED, GREEDY = 'sample-n8', 'sample-greedy-n1'


@pytest.fixture
def run(tmp_path: Path, no_metrics: None) -> MadeRun:
    """Return a run of two models on two of our data sets and one of OpenCompass's."""
    made = MadeRun(tmp_path / '20260101_000000', ['good', 'bad'], [SAMPLED, GREEDY, 'gsm8k'])
    counts = {'AMC_en': [8, 4], 'AMC_cn': [0, 8]}
    made.predictions('good', SAMPLED, GREEDY, 'gsm8k')
    made.result('good', SAMPLED, make_result(counts, 8, (2, 4), benchmark='sample'))
    made.result('good', GREEDY, make_result(counts, 1, greedy=True, benchmark='sample'))
    made.result('good', 'gsm8k', {'accuracy': 33.25, 'details': [1, 2], 'type': 'gen'})
    return made


def summarize(run: MadeRun, **settings: Any) -> Path:
    """Build the summarizer as OpenCompass builds it, run it, and return its folder."""
    config = Config.fromfile(run_config(run.folder))
    summarizer = dict(config['summarizer'], config=config, **settings)
    build_from_cfg(summarizer).summarize(time_str='T')
    return run.folder / 'summary'


def cells(folder: Path) -> dict[tuple[str, str], list[str]]:
    """Return OpenCompass's table: (data set, metric) → the models' cells."""
    with (folder / 'summary_T.csv').open(encoding='utf-8') as file:
        return {(row[0], row[2]): row[4:] for row in csv.reader(file)}


def test_both_summaries_are_written(run: MadeRun, capsys: pytest.CaptureFixture[str]) -> None:
    """OpenCompass's table has few metrics of ours and all of others; ours stand below it."""
    run.infer_log('bad', SAMPLED, [SAMPLED, GREEDY, 'gsm8k'], 'RuntimeError: no memory')
    folder = summarize(run)
    table = cells(folder)
    assert table['gsm8k', 'accuracy'] == ['33.25', 'failed']
    assert table[SAMPLED, 'accuracy'] == ['62.50', 'failed']
    assert [metric for dataset, metric in table if dataset == SAMPLED] == [
        'accuracy',
        *(f'{name}@{k}{tau}' for k in (2, 4) for name, tau in NAMES),
    ]
    out = capsys.readouterr().out
    assert 'sample: 4 problems, n = 8, k = 4' in out
    assert f'bad/{SAMPLED}: failed in inference: RuntimeError: no memory (logs/infer/bad' in out
    assert out == (folder / 'latest' / 'gpassk.txt').read_text('utf-8')
    assert max(map(len, (folder / 'summary_T.txt').read_text('utf-8').splitlines())) < 500
    assert sorted(path.name for path in folder.iterdir()) == [
        'latest',
        *(f'summary_T.{kind}' for kind in ('csv', 'md', 'txt')),
    ]
    assert sorted(path.name for path in (folder / 'latest').iterdir()) == [
        *(f'gpassk.{kind}' for kind in ('csv', 'json', 'md', 'tex', 'txt')),
        'report.html',
    ]
    assert [path.name for path in run.folder.parent.iterdir()] == [run.folder.name]


NAMES = (('pass', ''), ('G-Pass', '_1.0'), ('mG-Pass', ''))


def test_it_works_when_everything_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With no result at all, the summary names each failure."""
    run = MadeRun(tmp_path / '20260101_000000', ['bad'], [SAMPLED, 'gsm8k'])
    run.infer_log('bad', SAMPLED, [SAMPLED, 'gsm8k'], 'RuntimeError: no memory')
    folder = summarize(run)
    assert cells(folder) == {
        ('dataset', 'metric'): ['bad'],
        (SAMPLED, '-'): ['failed'],
        ('gsm8k', '-'): ['failed'],
    }
    assert capsys.readouterr().out.count('RuntimeError: no memory') == 2
    document = json.loads((folder / 'latest' / 'gpassk.json').read_text())
    assert document['results'] == []
    assert {task['reason'] for task in document['tasks']} == {'RuntimeError: no memory'}


def test_the_end_of_a_job_is_short(run: MadeRun, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict, the table at the greatest k, three warnings, one or two commands, one path."""
    told = [f'warning {i}' for i in range(5)]
    counts = {'AMC_en': [8, 4], 'AMC_cn': [0, 8]}
    made = make_result(counts, 8, (2, 4), benchmark='sample', warnings=told)
    run.result('good', SAMPLED, made)
    for name in (SAMPLED, GREEDY, 'gsm8k'):
        run.predictions('bad', name)
    run.result('bad', SAMPLED, make_result(counts, 8, (2, 4), benchmark='sample'))
    run.result('bad', GREEDY, make_result(counts, 1, greedy=True, benchmark='sample'))
    run.result('bad', 'gsm8k', {'accuracy': 5.0})
    folder = summarize(run)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 40
    assert 'sample: 4 problems, n = 8, k = 4' in lines
    assert not [line for line in lines if 'k = 2' in line or 'by split' in line]
    assert next(line for line in lines if 'gsm8k' in line).split()[-2:] == ['33.25', '5.00']
    warned = [line for line in lines if line.startswith('  ! ')]
    assert len(warned) == 3
    assert 'warning 0' in warned[0]
    assert any(line.endswith(' more') for line in lines)
    assert [line.split()[:2] for line in lines[lines.index('Next:') + 1 : -1]] == [
        ['gpassk', 'compare'],
        ['gpassk', 'plan'],
    ]
    assert lines[-1] == f'Every k, threshold and group: {folder}/latest/report.html'


def test_models_may_have_other_metrics(run: MadeRun) -> None:
    """Where OpenCompass asserts equal keys, the metric that one model lacks is a dash, like NaN."""
    few = make_result({'AMC_en': [3]}, 8, (2, 4), benchmark='sample', sampled=3)
    run.result('good', SAMPLED, few)
    run.predictions('bad', SAMPLED, GREEDY, 'gsm8k')
    run.result('bad', SAMPLED, make_result({'AMC_en': [8]}, 8, (2,), benchmark='sample'))
    run.result('bad', GREEDY, {'accuracy': 5.0, 'other': 1})
    run.result('bad', 'gsm8k', '{"accuracy": 3')
    table = cells(summarize(run))
    assert table[SAMPLED, 'pass@2'] == ['100.00', '100.00']
    assert table[SAMPLED, 'pass@4'] == ['–', '–']
    assert table[GREEDY, 'accuracy'] == ['75.00', '5.00']
    assert table['gsm8k', 'accuracy'] == ['33.25', 'failed']


def test_chosen_metrics_and_groups_are_kept(run: MadeRun) -> None:
    """A user's list of metrics and summary groups work as in OpenCompass."""
    groups = [{'name': 'mean', 'subsets': [[GREEDY, 'accuracy'], ['gsm8k', 'accuracy']]}]
    wanted = [[SAMPLED, 'AMC-en/G-Pass@4_0.5'], 'mean']
    table = cells(summarize(run, dataset_abbrs=wanted, summary_groups=groups))
    assert list(table)[1:] == [(SAMPLED, 'AMC-en/G-Pass@4_0.5'), ('mean', 'naive_average')]
    assert table['mean', 'naive_average'][0] == f'{(75 + 33.25) / 2:.2f}'


def test_a_fault_of_the_first_summary_does_not_cost_the_second(
    run: MadeRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Our tables are there though OpenCompass's table can't be made."""
    monkeypatch.setattr('opencompass.summarizers.default.get_prompt_hash', lambda config: 1 / 0)
    folder = summarize(run)
    assert 'sample: 4 problems, n = 8, k = 4' in capsys.readouterr().out
    assert (folder / 'latest' / 'gpassk.md').exists()


def test_opencompass_finds_it(
    run: MadeRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``opencompass CONFIG -m viz -r`` shows the tables of an old run, again and again."""
    from opencompass.cli.main import main

    monkeypatch.chdir(run.folder.parent)
    config = next((run.folder / 'configs').glob('*.py'))
    command = ['opencompass', str(config), '-w', str(run.folder.parent), '-m', 'viz', '-r']
    for _ in range(2):
        monkeypatch.setattr(sys, 'argv', command)
        main()
        assert 'sample: 4 problems, n = 8, k = 4' in capsys.readouterr().out
    assert (run.folder / 'summary' / 'latest' / 'gpassk.json').exists()
