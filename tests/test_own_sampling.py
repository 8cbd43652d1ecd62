"""Two models that differ only in sampling: under the protocol, by their configs, greedily."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from opencompass_here import TASKS_HERE, opencompass

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.compare.comparability import copied_samples
from opencompass_gpassk.inference.backend import replaced_settings
from opencompass_gpassk.inference.sampling import PAPER, Sampling
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

CONFIG = """
from mmengine.config import read_base

with read_base():
    from .configs.datasets.livemathbench.livemathbench_gpassk_gen import (
        livemathbench_gpassk_datasets,
    )
    from .configs.models.demo import models as demo_models
    from .configs.summarizers.gpassk import summarizer

datasets = []
for name, sampling in dict(protocol=None, own='model', greedy='greedy').items():
    one = dict(livemathbench_gpassk_datasets[0], abbr=name)
    one['eval_cfg'] = dict(evaluator=dict(one['eval_cfg']['evaluator'], benchmark=f'by-{name}'))
    if sampling:
        inferencer = dict(one['infer_cfg']['inferencer'], sampling=sampling)
        one['infer_cfg'] = dict(one['infer_cfg'], inferencer=inferencer)
    datasets.append(one)
models = [
    dict(demo_models[0], abbr=f't{t}', generation_kwargs=dict(do_sample=True, temperature=t))
    for t in (0.5, 1.5)
]
work_dir = 'outputs'
"""
UNUSED = "the model's own sampling is not used: temperature={} in its config"
COPIES = '100.0 % of the responses of {} and {} are equal word for word'


@pytest.fixture(scope='module')
def sweep(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The run of the two models on three data sets, n = 4 each, and what OpenCompass printed."""
    folder = tmp_path_factory.mktemp('sweep')
    (folder / 'configs').symlink_to(Path(__file__).resolve().parents[1] / 'configs')
    (folder / 'sweep.py').write_text(CONFIG, 'utf-8')
    settings = {'GPASSK_N': '4', 'GPASSK_K': '2', 'GPASSK_LANGUAGES': 'en', 'GPASSK_LIMIT': '12'}
    with pytest.MonkeyPatch.context() as here:
        here.setattr('opencompass_gpassk.report.summarizer.write_charts', lambda *_, **__: [])
        told = opencompass(folder, 'sweep.py', TASKS_HERE, settings=settings)
    (run,) = (folder / 'outputs').iterdir()
    return run, told


def stored(run: Path, kind: str, name: str) -> list[Any]:
    """The predictions or results of both models on a data set."""
    return [json.loads((run / kind / f't{t}/{name}.json').read_text()) for t in (0.5, 1.5)]


def test_a_model_s_own_sampling_is_named_first_where_it_is_replaced(
    sweep: tuple[Path, str],
) -> None:
    """In records, results, table and page; the signature tells only what drew the responses."""
    run, told = sweep
    page = (run / 'summary/latest/report.html').read_text('utf-8').replace('&#39;', "'")
    table = (run / 'summary/latest/gpassk.md').read_text('utf-8')
    assert re.search(r'Check:\s+! by-protocol: t0.5: ' + UNUSED.format(0.5)[:30], told)
    ours = zip((0.5, 1.5), stored(run, 'predictions', 'protocol'), strict=True)
    for (t, records), result in zip(ours, stored(run, 'results', 'protocol'), strict=True):
        assert records['0']['sampling'] == {**PAPER, 'replaced': f'temperature={t}'}
        assert result['signature']['sampling'] == PAPER
        assert result['warnings'][0].startswith(UNUSED.format(t))
        assert "sampling='model'" in result['warnings'][0]
        assert table.index(UNUSED.format(t)) < table.index(COPIES.format('t0.5', 't1.5'))
    assert f't0.5: {UNUSED.format(0.5)}' in page


def test_models_that_are_copies_of_one_another_are_named(
    sweep: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """In table, page and comparison; not where each samples as its config says."""
    run, _ = sweep
    page = (run / 'summary/latest/report.html').read_text('utf-8')
    assert COPIES.format('t0.5', 't1.5') in page
    assert main(['compare', str(run), '--dataset', 'protocol']) == 0
    shown = re.sub(r'\s+', ' ', capsys.readouterr().out)
    assert COPIES.format('A', 'B') in shown
    assert f'A: {UNUSED.format(0.5)}' in shown
    assert main(['compare', str(run), '--dataset', 'own']) == 0
    assert not {'copies', 'not used'} & set(re.findall('copies|not used', capsys.readouterr().out))
    for result in stored(run, 'results', 'own'):
        assert not any('own sampling' in warning for warning in result['warnings'])


def test_greedy_samples_are_the_greedy_row(sweep: tuple[Path, str]) -> None:
    """Whatever n says: no G-Pass@k and no rank by it, and a warning with few problems too."""
    run, told = sweep
    for result in stored(run, 'results', 'greedy'):
        assert (result['signature']['n'], result['k']) == (4, [])
        assert not any('Pass' in key for key in result['metrics'])
        assert any('n = 4 greedy responses' in warning for warning in result['warnings'])
        assert not any('own sampling' in warning for warning in result['warnings'])
    of_greedy = told[told.index('by-greedy') :].split('Check:')[0]
    assert 'Greedy' in of_greedy and 'G-Pass' not in of_greedy


@pytest.mark.parametrize(
    ('config', 'sampling', 'expected'),
    [
        ({'generation_kwargs': {'do_sample': True, 'temperature': 0.6}}, PAPER, 'temperature=0.6'),
        ({'temperature': 1, 'extra_body': {'top_k': 20}}, PAPER, 'top_k=20'),
        ({'gen_config': {'num_beams': 1, 'presence_penalty': 1}}, PAPER, 'presence_penalty=1'),
        ({'generation_kwargs': {'temperature': 0.6, 'n': 4, 'seed': 1}}, 'model', ''),
        ({'generation_kwargs': {'temperature': 0.6, 'num_beams': 2}}, 'greedy', 'num_beams=2'),
        ({'temperature': '0.5'}, PAPER, 'temperature=0.5'),
        ({'pred_postprocessor': {'temperature': 0.3}, 'top_k': -1}, {'top_k': 0}, ''),
        # Configs that decode greedily.
        ({'generation_kwargs': {'do_sample': False, 'temperature': 0.6}}, PAPER, ''),
        ({'gen_config': {'top_k': 1, 'temperature': 1e-6, 'top_p': 0.9}}, PAPER, ''),
        ({'temperature': 0.0, 'repetition_penalty': 1.1}, PAPER, 'repetition_penalty=1.1'),
        ({'temperature': None, 'max_out_len': 9, 'path': 'x'}, PAPER, ''),
    ],
)
def test_settings_that_a_protocol_replaces(config: Any, sampling: Any, expected: str) -> None:
    """Those of sampling, anywhere in a config, but for greedy decoding and what changes nothing."""
    assert replaced_settings(config, Sampling.of(sampling)) == expected


@pytest.mark.parametrize('n', [1, 4, 16])
@pytest.mark.parametrize('sure', [0.0, 0.5, 0.9, 0.99])
def test_short_answers_of_different_seeds_are_no_copies(n: int, sure: float) -> None:
    """Two models, or two seeds, may agree nearly always; copies agree sample by sample."""
    rng = random.Random(f'{n} {sure}')
    problems = [Problem(f'{i}') for i in range(40)]

    def answers() -> TrialTable:
        texts = ('sure' if rng.random() < sure else f'{rng.randrange(99)}' for _ in range(40 * n))
        return TrialTable(
            problems,
            [
                Trial(f'{i // n}', i % n, Verdict.CORRECT, text_hash=text)
                for i, text in enumerate(texts)
            ],
        )

    for _ in range(20):
        assert copied_samples({}, {'a': answers(), 'b': answers()}) == {}
    one = answers()
    if n > 1 and sure < 0.99:
        assert COPIES.format('a', 'b') in copied_samples({}, {'a': one, 'b': one})[frozenset('ab')]
