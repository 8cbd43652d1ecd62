"""A run that is resumed with another number of workers: OpenCompass makes other shards of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eval_task import COUNTS, Answerer, OurSums, data_set, evaluate, infer_in_shards, logged

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.runs.predictions import IncompletePredictionsError

NAME = 'sums_en'
CONFIG = f"""models = [dict(abbr='demo', type='Model', path='p')]
datasets = [dict(abbr={NAME!r}, type='Data', path='p', n=8, k=2)]
summarizer = dict(type='opencompass_gpassk.summarizer.GPassKSummarizer')
"""


def resume(run: Path, before: int, after: int) -> None:
    """Infer the eighty rows with some workers, lose the last shard, and go on with others."""
    (run / 'configs').mkdir(parents=True)
    (run / 'configs/20260101_000000.py').write_text(CONFIG, 'utf-8')
    infer_in_shards(run, data_set(OurSums), before)[-1].unlink()
    infer_in_shards(run, data_set(OurSums), after)


def test_rows_that_nobody_asks_for_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both shards of two exist by name, so the rows of the lost third are never asked."""
    run = tmp_path / '20260101_000000'
    resume(run, 3, 2)
    assert not Answerer.asked
    told = '26 of 80 responses are missing, to 10 problems, such as'
    with pytest.raises(IncompletePredictionsError, match=told) as error:
        evaluate(run, data_set(OurSums))
    assert 'workers as it began with, 3 by its files' in str(error.value)
    assert main(['status', str(run)]) == 1
    said = ' '.join(capsys.readouterr().out.split())
    assert told in said
    assert 'opencompass CONFIG -r' in said
    out = tmp_path / 'scored.json'
    assert main(['score', str(run), '-k', '2', '-o', str(out)]) == 1
    assert told in capsys.readouterr().err

    accepted = data_set(OurSums, evaluator={'type': GPassKEvaluator, 'min_coverage': 0.6})
    result = evaluate(run, accepted)
    assert (result['signature']['n'], result['counts']['lost']) == (8, 26)
    assert main(['score', str(run), '-k', '2', '-o', str(out), '--min-coverage', '0.6']) == 0
    assert told in capsys.readouterr().out
    scored = json.loads(out.read_text('utf-8'))
    assert (scored['signature']['n'], scored['counts']['lost']) == (8, 26)
    assert told in scored['warnings'][0]


def test_rows_that_are_there_twice_count_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first half is kept, and the second and third thirds are asked: thirteen rows again."""
    run = tmp_path / '20260101_000000'
    resume(run, 2, 3)
    with logged() as messages:
        result = evaluate(run, data_set(OurSums))
    assert [row['n'] for row in result['details']] == [8] * len(COUNTS)
    told = '13 responses are there twice, to 10 problems, such as'
    assert told in ' '.join(messages)
    main(['status', str(run)])
    assert told in ' '.join(capsys.readouterr().out.split())
    assert main(['score', str(run), '-k', '2', '-o', str(tmp_path / 'scored.json')]) == 0
    assert told in capsys.readouterr().out
