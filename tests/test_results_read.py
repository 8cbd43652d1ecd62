"""Every command reads results at a path alike, and a bad file costs itself alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from audit_trials import make_table, write_table
from made_results import result_of
from made_sweep import Sweep, make_sweep

from opencompass_gpassk.results.read import (
    ModelResult,
    chosen,
    find_results,
    one_of_each,
    results_at,
    without_texts,
)
from opencompass_gpassk.trials import write_trials


def models(path: Path) -> dict[str, int]:
    """Names of the results at a path, with their numbers of trials."""
    return {one.name: len(one.table()) for one in results_at(path, print, alone=True)}


def test_trials_without_a_result_are_found(tmp_path: Path) -> None:
    """In a work dir, a timestamp folder, another folder, a file; models with slashes."""
    run = write_table(tmp_path, 'org/a', 'd')
    write_table(tmp_path, 'b', 'e', make_table(2))
    (tmp_path / '20270101_000000').mkdir()
    for path in (tmp_path, run, run / 'results'):
        assert models(path) == {'org/a on d': 192, 'b on e': 16}
    file = run / 'results/org/a/d.trials.jsonl.gz'
    assert models(file) == {'org/a on d': 192}
    (result,) = results_at(file, print, alone=True)
    assert result.run == run
    with pytest.raises(ValueError, match='no readable result'):
        results_at(run, print)
    assert not find_results([run]).results
    file.with_name('d.json').write_text('{}')
    assert models(file.with_name('d.json')) == {'org/a on d': 192}
    alone = file.rename(tmp_path / 'alone.trials.jsonl.gz')
    assert models(alone) == {'alone on alone': 192}
    with pytest.raises(ValueError, match='there is neither a run'):
        results_at(tmp_path / '20270101_000000', print)
    (tmp_path / '20270101_000000' / 'configs').mkdir()  # now it is the newest run
    with pytest.raises(ValueError, match='20270101_000000: it has no readable result'):
        results_at(tmp_path, print, alone=True)
    alone.write_bytes(alone.read_bytes()[:-20])
    (result,) = results_at(alone, print, alone=True)
    with pytest.raises(ValueError, match=r'alone.*damaged gzip'):
        result.table()


def test_models_keep_the_order_of_the_config(tmp_path: Path) -> None:
    """The first is A of a comparison, whatever its name."""
    models = {'b': 0.5, 'c': 0.5, 'a': 0.5}
    run = make_sweep(tmp_path / '20260101_000000', models, Sweep(problems=4))
    found = [one.model for one in results_at(run.folder, print)]
    assert list(dict.fromkeys(found)) == [*models]


def test_models_and_data_sets_are_chosen(tmp_path: Path) -> None:
    """What is not there is an error that names what is."""
    results = [
        ModelResult(*name, result_of({}, 4), tmp_path)
        for name in (('a', 'd'), ('a', 'e'), ('b', 'd'))
    ]
    assert chosen(results, [], []) == results
    assert [one.name for one in chosen(results, ['a'], ['d'])] == ['a on d']
    with pytest.raises(ValueError, match='there are a on d, a on e, b on d'):
        chosen(results, ['c'], [])


def test_samples_that_are_measured_twice_are_not_pooled(tmp_path: Path) -> None:
    """The result with the most samples is meant; greedy answers are another measurement."""

    def result(dataset: str, n: int, benchmark: str = 'b', **sampling: Any) -> ModelResult:
        signature = {'n': n, 'sampling': sampling}
        made = result_of({}, n, benchmark=benchmark, signature=signature)
        return ModelResult('m', dataset, made, tmp_path)

    few, many = result('few', 16), result('many', 32)
    greedy, other = result('greedy', 1, greedy=True), result('other', 4, 'c')
    told: list[str] = []
    assert one_of_each([few, many, greedy, other], told.append) == [many, greedy, other]
    assert one_of_each([many, few], told.append) == [many]
    assert len(told) == 2
    assert all('m on few is left out' in line and '--dataset' in line for line in told)


def test_the_newest_result_of_a_data_set_is_meant(tmp_path: Path) -> None:
    """If a folder holds several, as of runs without their configs; the others are named."""
    for time in ('20260101_000000', '20260102_000000'):
        write_table(tmp_path / 'x', 'm', 'd').rename(tmp_path / time)
    told: list[str] = []
    (found,) = results_at(tmp_path, told.append, alone=True)
    assert found.time == '20260102_000000'
    (left_out,) = (line for line in told if 'is left out' in line)
    assert left_out.startswith(f'{tmp_path}/20260101_000000')


def test_trials_are_read_from_beside_the_result(tmp_path: Path) -> None:
    """A damaged file, a missing one or a path elsewhere is an error that names the file."""
    made = make_table(4)
    write_trials(tmp_path / 'x.trials.jsonl.gz', made, {})
    (tmp_path / 'bad.gz').write_bytes(b'\x1f\x8b nothing')

    def named(name: str, folder: Path = tmp_path) -> ModelResult:
        return ModelResult('m', 'd', result_of({}, 4, trials_file=name), folder / 'x.json')

    found = named('x.trials.jsonl.gz')
    for table in (found.table(), without_texts(found.table())):
        assert [n.tolist() for n in table.counts()] == [n.tolist() for n in made.counts()]
    assert all(trial.answer is None for trial in without_texts(found.table()).trials)
    for name in ('bad.gz', 'missing.gz'):
        with pytest.raises(ValueError, match=name):
            named(name).table()
    for name in ('', '../x.trials.jsonl.gz'):
        with pytest.raises(ValueError, match=r'x\.json: it names no file of trials'):
            named(name, tmp_path / 'inner').table()
    (tmp_path / 'empty.json').write_text(json.dumps({}))
    write_trials(tmp_path / 'empty.gz', make_table(0), {})
    with pytest.raises(ValueError, match='holds no problems'):
        named('empty.gz').table()
