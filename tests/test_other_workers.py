"""A run that is resumed with another number of workers: OpenCompass makes other shards of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from eval_task import (
    COUNTS,
    Answerer,
    OurSums,
    config,
    data_set,
    evaluate,
    infer_in_shards,
    logged,
)
from opencompass.tasks import OpenICLInferTask

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
    shutil.rmtree(run / 'logs')
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


def test_rows_that_two_sets_of_shards_hold_are_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first half is kept; the second and third thirds take what it holds of them."""
    run = tmp_path / '20260101_000000'
    resume(run, 2, 3)
    assert sum(Answerer.asked.values()) == 40  # those that were lost, and no other
    with logged() as messages:
        result = evaluate(run, data_set(OurSums))
    assert [row['n'] for row in result['details']] == [8] * len(COUNTS)
    assert 'twice' not in ' '.join(messages)
    main(['status', str(run)])
    assert 'twice' not in capsys.readouterr().out


# Workers of two inferences of 80 rows, saved by the first (the last shards are lost), and asked.
@pytest.mark.parametrize(
    ('before', 'lost', 'after', 'asked'),
    [(1, 0, 3, 0), (3, 1, 1, 26), (6, 2, 4, 32), (2, 1, 5, 40), (5, 5, 2, 80)],
)
def test_shards_of_another_number_take_what_is_saved(
    before: int, lost: int, after: int, asked: int, tmp_path: Path
) -> None:
    """Under the names of another n, which OpenCompass does not take for the former ones."""
    (tmp_path / 'configs').mkdir()
    first = {**data_set(OurSums), 'abbr': 'sums-n8', 'n': 8}
    files = infer_in_shards(tmp_path, first, before)
    for path in files[len(files) - lost :]:
        path.unlink()
    second = {**first, 'abbr': 'sums'}
    infer_in_shards(tmp_path, second, after)
    assert sum(Answerer.asked.values()) == asked
    assert not list((tmp_path / 'predictions/demo').glob('*.jsonl'))


def test_a_higher_and_a_lower_n(tmp_path: Path) -> None:
    """Of 16 and 48 samples the first are the same; a problem that was edited is asked anew."""

    def asked(n: int, **changed: Any) -> int:
        dataset = {**data_set(OurSums, n=n, k=2, **changed), 'abbr': f'sums-{len(changed)}-n{n}'}
        dataset['abbr'] = f'sums-{"abcdef" if changed else "012345"}-n{n}'
        Answerer.asked.clear()
        OpenICLInferTask(config(tmp_path, dataset)).run()
        return sum(Answerer.asked.values())

    assert [asked(16), asked(48), asked(8), asked(4, problems=9)] == [160, 320, 0, 0]
    texts = [
        [one['prediction'] for one in json.loads(path.read_text()).values()]
        for n in (8, 16, 48)
        for path in [tmp_path / f'predictions/demo/sums-012345-n{n}.json']
    ]
    assert texts[2][:160] == texts[1] and texts[1][:80] == texts[0]
