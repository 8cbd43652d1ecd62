"""OpenCompass's data sets, upgraded: configs, problems, and a job."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from mmengine.config import Config
from opencompass.configs.datasets.gsm8k.gsm8k_gen_1d7fe4 import gsm8k_datasets
from opencompass.datasets import CustomDataset
from opencompass.registry import LOAD_DATASET
from opencompass_here import TASKS_HERE, opencompass

from opencompass_gpassk import upgraded
from opencompass_gpassk.trials import Verdict, read_trials


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's own."""
    for name in [name for name in os.environ if name.startswith('GPASSK_')]:
        monkeypatch.delenv(name)


def problems(folder: Path, size: int = 6, **reader: Any) -> dict[str, Any]:
    """A data set of OpenCompass's own class, with a file of its own."""
    rows = [{'question': f'What is ${i}+{i}$?', 'answer': str(2 * i)} for i in range(size)]
    path = folder / 'sums.jsonl'
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    config = copy.deepcopy(gsm8k_datasets[0])
    reader = {'input_columns': ['question'], 'output_column': 'answer', **reader}
    return {
        'abbr': 'sums',
        'type': CustomDataset,
        'path': str(path),
        'local_mode': True,
        'reader_cfg': reader,
        'infer_cfg': config['infer_cfg'],
        'eval_cfg': {**config['eval_cfg'], 'dataset_postprocessor': {'type': str}},
    }


def loaded(config: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that OpenCompass's tasks get."""
    parts = {key: one for key, one in config.items() if key not in ('infer_cfg', 'eval_cfg')}
    return list(LOAD_DATASET.build(parts).test)


def test_configs_are_plain_and_the_given_ones_unchanged(tmp_path: Path) -> None:
    """Names in place of classes, so that a config can be dumped; nothing is shared."""
    given = problems(tmp_path)
    before = repr(given)
    greedy, sampled = upgraded(given, n=8, k=[8, 4], greedy=True, limit=3)
    assert json.loads(json.dumps([greedy, sampled])) == [greedy, sampled]
    assert (sampled['abbr'], sampled['n'], sampled['k']) == ('sums-first3-n8', 8, [4, 8])
    assert (greedy['abbr'], greedy['n'], greedy['k']) == ('sums-first3-greedy-n1', 1, 1)
    assert greedy['infer_cfg']['inferencer']['sampling'] == 'greedy'
    assert sampled['infer_cfg']['inferencer']['sampling']['temperature'] == 1.0
    assert sampled['infer_cfg']['inferencer']['max_out_len'] == 512, "the data set's own"
    evaluator = sampled['eval_cfg']['evaluator']
    assert evaluator['judge'] == {'type': 'opencompass.datasets.gsm8k.Gsm8kEvaluator'}
    assert evaluator['benchmark'] == greedy['eval_cfg']['evaluator']['benchmark'] == 'sums-first3'
    sampled['infer_cfg']['prompt_template'].clear()
    assert greedy['infer_cfg']['prompt_template']
    assert repr(given) == before


def test_one_sample_is_not_called_greedy(tmp_path: Path) -> None:
    """Under one abbr, OpenCompass would take the responses of one for those of the other."""
    greedy, sampled = upgraded(problems(tmp_path), n=1, k=1, greedy=True)
    assert (greedy['abbr'], sampled['abbr']) == ('sums-greedy-n1', 'sums-n1')


def test_the_model_s_own_sampling_on_request(tmp_path: Path) -> None:
    """Of the samples; greedy copies stay greedy, and a protocol that is none is refused at once."""
    sampling = [
        one['infer_cfg']['inferencer']['sampling']
        for given in ('model', {'temperature': 0.7})
        for one in upgraded(problems(tmp_path), greedy=True, sampling=given)
    ]
    assert sampling == ['greedy', 'model', 'greedy', {'temperature': 0.7}]
    with pytest.raises(ValueError, match="mode of sampling is 'models'"):
        upgraded(problems(tmp_path), sampling='models')


def test_another_judge_and_one_that_needs_gpus(tmp_path: Path) -> None:
    """A judge by name replaces the data set's own; a model inside one gets its GPUs."""
    [by_rule] = upgraded(problems(tmp_path), judge='rule')
    assert by_rule['eval_cfg']['evaluator']['judge'] == 'rule'
    given = problems(tmp_path)
    given['eval_cfg']['evaluator'] = {'type': 'X', 'judge_cfg': {'run_cfg': {'num_gpus': 2}}}
    assert upgraded(given)[0]['eval_cfg']['num_gpus'] == 2


def test_limits_and_ranges_select_problems_not_rows(tmp_path: Path) -> None:
    """OpenCompass repeats first: its range takes rows of the first replica only."""
    [config] = upgraded(problems(tmp_path, test_range='[1:]'), n=3, k=2, limit=2)
    rows = loaded(config)
    assert [row['answer'] for row in rows] == ['2', '4'] * 3
    assert [row['idx'] for row in rows] == [rows[0]['idx'], rows[1]['idx']] * 3
    config['reader_cfg']['test_range'] = '[2:4]'  # a partitioner's second part of three
    assert [row['answer'] for row in loaded(config)] == ['2', '4']
    [more] = upgraded(problems(tmp_path), n=2, k=1, limit=99)
    assert len(loaded(more)) == 12


def test_names_of_opencompass_are_found(tmp_path: Path) -> None:
    """With and without `_gen`; an unknown one is answered with the nearest."""
    assert upgraded('gsm8k') == upgraded('gsm8k_gen') == upgraded('gsm8k/gsm8k_gen')
    with pytest.raises(ValueError, match="no data set config 'gsm8kk'; did you mean gsm8k"):
        upgraded('gsm8kk')
    with pytest.raises(ValueError, match='PMMEval/mgsm_gen, mgsm/mgsm_gen; choose one'):
        upgraded('mgsm')
    with pytest.raises(ValueError, match='its inferencer is PPLInferencer'):
        upgraded('mmlu_ppl')
    with pytest.raises(ValueError, match='n is 4; every k'):
        upgraded(problems(tmp_path), n=4)
    with pytest.raises(ValueError, match='limit is 0'):
        upgraded(problems(tmp_path), limit=0)


def test_a_config_may_call_it_in_two_ways(tmp_path: Path) -> None:
    """Of a list that it imports, and by name; both survive a dump."""
    (tmp_path / 'imported.py').write_text(
        'from mmengine.config import read_base\n'
        'from opencompass_gpassk import upgrade\n'
        'with read_base():\n'
        '    from opencompass.configs.datasets.gsm8k.gsm8k_gen_1d7fe4 import gsm8k_datasets\n'
        'datasets = upgrade.build()(gsm8k_datasets, n=8, k=[4, 8], greedy=True)\n'
    )
    (tmp_path / 'named.py').write_text(
        "datasets = __import__('opencompass_gpassk').upgraded(\n"
        "    'gsm8k_gen_1d7fe4', n=8, k=[4, 8], greedy=True\n"
        ')\n'
    )
    read = []
    for name in ('imported', 'named'):
        Config.fromfile(tmp_path / f'{name}.py', format_python_code=False).dump(
            tmp_path / f'{name}_dumped.py'
        )
        dumped = Config.fromfile(tmp_path / f'{name}_dumped.py', format_python_code=False)
        read.append([one.to_dict() for one in dumped.datasets])
    assert read[0] == read[1] == upgraded(gsm8k_datasets, n=8, k=[4, 8], greedy=True)


@pytest.mark.slow
def test_the_command_judges_by_the_data_sets_own_evaluator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In two shards: every problem is sampled n times, and each verdict is the evaluator's."""
    data = tmp_path / 'data/gsm8k'
    data.mkdir(parents=True)
    rows = [{'question': f'Compute ${i}+{2 * i}$.', 'answer': f'#### {3 * i}'} for i in range(1, 8)]
    for split in ('train', 'test'):
        (data / f'{split}.jsonl').write_text(''.join(json.dumps(row) + '\n' for row in rows))
    (tmp_path / 'job.py').write_text(
        'from mmengine.config import read_base\n'
        'from opencompass_gpassk import upgrade\n'
        'with read_base():\n'
        '    from opencompass.configs.datasets.gsm8k.gsm8k_0shot_gen_a58960 import gsm8k_datasets\n'
        '    from opencompass_gpassk.configs.models.demo import models\n'
        '    from opencompass_gpassk.configs.summarizers.gpassk import summarizer\n'
        'datasets = upgrade.build()(gsm8k_datasets, n=4, k=[2], limit=5, max_out_len=64)\n'
        "work_dir = 'outputs'\n"
    )
    monkeypatch.setenv('COMPASS_DATA_CACHE', str(tmp_path))
    screen = opencompass(tmp_path, 'job.py', '--max-num-workers', '2', TASKS_HERE)
    assert 'gsm8k-first5: 5 problems, n = 4, k = 2' in screen
    [file] = tmp_path.glob('outputs/*/results/*/gsm8k-first5-n4.trials.jsonl.gz')
    table, _ = read_trials(file)
    assert len(table.problems) == 5
    assert sorted((one.problem_id, one.replica) for one in table.trials) == [
        (str(i), replica) for i in range(5) for replica in range(4)
    ]
    assert {one.source for one in table.trials} == {'Gsm8kEvaluator'}
    assert all(one.verdict is not Verdict.UNJUDGED for one in table.trials)


@pytest.mark.slow
def test_the_table_of_configs_tells_the_kinds_apart() -> None:
    """Numbers, options, lists, an LLM judge, a score without verdicts, no responses at all."""
    with patch.dict(os.environ):  # the tool sets some when it is imported
        from tools.upstream_datasets import GAINS, examine_all
    names = {
        'gsm8k/gsm8k_gen': GAINS,
        'ceval/ceval_gen': GAINS,
        'triviaqa/triviaqa_gen': GAINS,
        'gsm8k/gsm8k_cascade_eval_rawprompt_gen_36fce7': GAINS,
        'Xsum/Xsum_gen': 'a mark',
        'mmlu/mmlu_ppl': 'no responses',
    }
    found = dict(examine_all(list(names)))
    assert {name: {one.outcome for one in found[name].values()} for name in names} == {
        name: {outcome} for name, outcome in names.items()
    }
