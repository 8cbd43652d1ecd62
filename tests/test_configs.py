"""Every config loads as OpenCompass loads it, can be dumped and read back, and is found by name."""

from __future__ import annotations

import argparse
import ast
import importlib
import re
from pathlib import Path
from typing import Any

import opencompass
import pytest
from mmengine.config import Config
from opencompass.models.base import LMTemplateParser
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.registry import ICL_EVALUATORS, ICL_INFERENCERS
from opencompass.utils.build import build_dataset_from_cfg

from opencompass_gpassk.commands import configs

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'configs'
DATASETS = sorted((FOLDER / 'datasets').glob('*/*.py'))
MODEL_FILES = sorted((FOLDER / 'models').glob('*.py'))
JOBS = sorted(FOLDER.glob('eval_*.py'))
PAPER = {'temperature': 1.0, 'top_p': 0.8, 'top_k': 50, 'repetition_penalty': 1.0}
VARIABLES = (
    *('VERSION', 'LANGUAGES', 'N', 'K', 'DATA', 'JUDGE', 'MATCH', 'RV_SEED', 'RV_PER_GROUP'),
    *('STEP_MODEL', 'STEP_GPUS', 'LIMIT', 'TEMPERATURE', 'MAX_OUT_LEN'),
)
KEY = 'sk-not-to-be-written'
NAMES = ('livemathbench', 'math500_l5', 'aime2024', 'aime2025', 'aime2024_45', 'rvbench', 'custom')
FEW_SHOT = 'rvbench/rvbench_4shot_gpassk_greedy_gen.py'


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of whoever runs the tests plays no part."""
    for name in VARIABLES:
        monkeypatch.delenv(f'GPASSK_{name}', raising=False)
    monkeypatch.setenv('OC_JUDGE_MODEL', 'judge-72b')
    monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://a/v1,http://b/v1')
    monkeypatch.setenv('OC_JUDGE_API_KEY', KEY)


def load(path: Path) -> Config:
    return Config.fromfile(str(path), format_python_code=False)


def dumped(config: Config, folder: Path) -> Config:
    """What a task reads: types are dotted names there, and imported names are gone."""
    config.dump(str(folder / 'dump.py'))
    return load(folder / 'dump.py')


def data_sets(path: Path) -> list[dict[str, Any]]:
    """The data sets of a config."""
    config = load(path)
    (name,) = (key for key in config if key.endswith('_datasets'))
    return [dict(found) for found in config[name]]


def dataset(path: Path) -> dict[str, Any]:
    """The only data set of a config."""
    (found,) = data_sets(path)
    return found


def test_each_data_set_has_a_sampled_and_a_greedy_config() -> None:
    """Their names follow OpenCompass's."""
    assert {path.relative_to(FOLDER / 'datasets').as_posix() for path in DATASETS} == {
        FEW_SHOT,
        *(f'{name}/{name}_gpassk_{kind}gen.py' for name in NAMES for kind in ('', 'greedy_')),
    }


@pytest.mark.parametrize('path', [*DATASETS, *MODEL_FILES, *JOBS], ids=lambda path: path.stem)
def test_a_config_survives_being_dumped(path: Path, tmp_path: Path) -> None:
    """Tasks read the dump of what was loaded: it must be the same, and hold no module."""
    config = load(path)
    again = dumped(config, tmp_path)
    text = (tmp_path / 'dump.py').read_text()
    assert set(again) >= {key for key in config if key.endswith('datasets') or key == 'models'}
    assert dumped(again, tmp_path).to_dict() == again.to_dict()
    assert not re.search('<(module|function|class|Lazy)', text)


@pytest.mark.parametrize('path', DATASETS, ids=lambda path: path.stem)
def test_the_protocol_is_the_papers_or_greedy(path: Path) -> None:
    """The abbreviation holds version and n; greedy data sets have one sample."""
    for found in data_sets(path):
        inferencer = found['infer_cfg']['inferencer']
        assert inferencer['max_out_len'] == 8192
        assert str(found['abbr']).endswith(f'-n{found["n"]}')
        if 'greedy' in path.stem:
            assert (found['n'], found['k'], inferencer['sampling']) == (1, 1, 'greedy')
            assert str(found['abbr']).endswith('-greedy-n1')
        else:
            assert dict(inferencer['sampling']) == PAPER
            few = path.parent.name in ('livemathbench', 'rvbench', 'custom')
            assert (found['n'], found['k']) == ((16, [4, 8]) if few else (48, [4, 8, 16]))


@pytest.mark.filterwarnings('ignore::DeprecationWarning')  # escapes in configs of OpenCompass
def test_no_config_of_opencompass_binds_our_names() -> None:
    """Of two data sets of one name, a config that reads both would lose one without a message."""
    taken = set()
    for path in (Path(opencompass.__file__).parent / 'configs').rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text('utf-8'))):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                taken.add(node.id)
    ours = {key for path in [*DATASETS, FOLDER / 'datasets/protocol.py'] for key in load(path)}
    imported = {'GPassKEvaluator', 'GPassKGenInferencer', 'PromptTemplate', 'ZeroRetriever'}
    assert len(taken) > 1000
    assert not (ours - imported) & taken
    assert all('_gpassk_' in key for key in ours if key.endswith('_datasets'))


@pytest.mark.parametrize(
    ('environment', 'expected'),
    [
        ({'N': '6'}, ('sample-n6', 'sample', 6, [4], None)),
        ({'N': '3'}, ('sample-n3', 'sample', 3, [3], None)),
        ({'N': '9', 'K': '3, 1'}, ('sample-n9', 'sample', 9, [1, 3], None)),
        ({'LANGUAGES': 'en'}, ('sample-en-n16', 'sample', 16, [4, 8], None)),
        ({'VERSION': '202412'}, ('LiveMathBench-202412-n48', '202412', 48, [4, 8, 16], None)),
        (
            {'VERSION': '202412-hard', 'DATA': str(ROOT), 'LANGUAGES': 'en,cn'},
            ('LiveMathBench-202412-hard-n48', '202412-hard', 48, [4, 8, 16], str(ROOT)),
        ),
        (
            {'VERSION': '202505', 'LANGUAGES': 'en', 'DATA': '.'},
            ('LiveMathBench-202505-n48', '202505', 48, [4, 8, 16], str(Path.cwd())),
        ),
        ({'DATA': str(ROOT)}, ('sample-n16', 'sample', 16, [4, 8], None)),
    ],
)
def test_the_environment_sets_version_and_protocol(
    environment: dict[str, str],
    expected: tuple[object, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What an abbreviation says is what is loaded."""
    for name, value in environment.items():
        monkeypatch.setenv(f'GPASSK_{name}', value)
    found = dataset(FOLDER / 'datasets/livemathbench/livemathbench_gpassk_gen.py')
    assert tuple(found[name] for name in ('abbr', 'version', 'n', 'k', 'path')) == expected


@pytest.mark.parametrize(
    ('environment', 'message'),
    [
        ({'VERSION': '2024'}, "GPASSK_VERSION is '2024'; choose one of sample"),
        ({'N': 'many'}, "GPASSK_N is 'many'"),
        ({'N': '0'}, "GPASSK_N is '0'"),
        ({'N': '²'}, "GPASSK_N is '²'"),
        ({'K': '4;8'}, "GPASSK_K is '4;8'"),
        ({'K': '4,'}, "GPASSK_K is '4,'"),
        ({'K': '4,32'}, "GPASSK_K is '4,32', but there are only 16.*GPASSK_N to 96"),
        ({'LIMIT': '0'}, "GPASSK_LIMIT is '0'"),
        ({'MAX_OUT_LEN': '8k'}, "GPASSK_MAX_OUT_LEN is '8k'"),
        ({'TEMPERATURE': '0'}, "GPASSK_TEMPERATURE is '0': .* greater than 0"),
        ({'TEMPERATURE': 'inf'}, "GPASSK_TEMPERATURE is 'inf'"),
        ({'LANGUAGES': 'zh'}, "GPASSK_LANGUAGES is 'zh'"),
        ({'VERSION': '202412', 'DATA': '/no/such'}, "GPASSK_DATA is '/no/such'"),
    ],
)
def test_nonsense_in_the_environment_is_named(
    environment: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable, its value, and what to do."""
    for name, value in environment.items():
        monkeypatch.setenv(f'GPASSK_{name}', value)
    with pytest.raises(ValueError, match=message):
        load(FOLDER / 'datasets/livemathbench/livemathbench_gpassk_gen.py')


@pytest.mark.parametrize('path', DATASETS, ids=lambda path: path.stem)
def test_a_sweep_sets_problems_length_and_temperature(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every data set; the abbreviation holds the limit, and greedy stays greedy."""
    for name, value in {'LIMIT': '7', 'MAX_OUT_LEN': '99', 'TEMPERATURE': '0.6'}.items():
        monkeypatch.setenv(f'GPASSK_{name}', value)
    for found in data_sets(path):
        inferencer = found['infer_cfg']['inferencer']
        assert (found['limit'], inferencer['max_out_len']) == (7, 99)
        assert '-first7-' in found['abbr']
        if 'greedy' in path.stem:
            assert inferencer['sampling'] == 'greedy'
        else:
            assert dict(inferencer['sampling']) == {**PAPER, 'temperature': 0.6}


def test_a_changed_file_has_another_abbreviation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenCompass keeps sizes and responses by it; it is fit for a file's name."""
    path = FOLDER / 'datasets/custom/custom_gpassk_gen.py'
    file = tmp_path / 'my contest.jsonl'
    monkeypatch.setenv('GPASSK_DATA', str(file))
    abbrs = []
    for answer in '12':
        file.write_text(f'{{"question": "x", "answer": "{answer}"}}')
        found = dataset(path)
        assert found['path'] == str(file)
        assert re.fullmatch('my-contest-[0-9a-f]{6}-n16', found['abbr'])
        abbrs.append(found['abbr'])
    assert len(set(abbrs)) == 2
    monkeypatch.setenv('GPASSK_DATA', str(tmp_path))
    with pytest.raises(ValueError, match='the file of your own problems is needed'):
        dataset(path)


def test_the_versions_of_rv_bench_are_chosen_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What differs from the default is in the abbreviation, under which OpenCompass keeps sizes."""
    monkeypatch.setenv('GPASSK_RV_SEED', '7')
    monkeypatch.setenv('GPASSK_RV_PER_GROUP', '3')
    few_shot, _ = data_sets(FOLDER / 'datasets' / FEW_SHOT)
    assert few_shot['abbr'] == 'RV-MATH-4shot-seed7-pergroup3-greedy-n1'
    assert (few_shot['seed'], few_shot['per_group']) == (7, 3)
    monkeypatch.setenv('GPASSK_RV_SEED', 'x')
    with pytest.raises(ValueError, match="GPASSK_RV_SEED is 'x'"):
        data_sets(FOLDER / 'datasets' / FEW_SHOT)


@pytest.mark.parametrize('source', ['math', 'leetcode'])
def test_rv_bench_shows_four_examples_and_compares_texts(source: str, tmp_path: Path) -> None:
    """As turns after a system prompt; a model that doesn't chat reads one text."""
    (config,) = (
        one
        for one in dumped(
            load(FOLDER / 'datasets' / FEW_SHOT), tmp_path
        ).rvbench_4shot_gpassk_datasets
        if one.source == source
    )
    assert config.eval_cfg.evaluator.judge == {'mode': 'rule', 'match': 'exact'}
    assert config.infer_cfg.inferencer.stopping_criteria == ['Problem:']
    row = build_dataset_from_cfg({**config, 'limit': 1}).test[0]
    template = PromptTemplate(template=config.infer_cfg.prompt_template.template.to_dict())
    prompt = template.generate_item(row)
    turns = [turn for turn in prompt if 'role' in turn]
    assert [turn['role'] for turn in turns] == ['SYSTEM', *['HUMAN', 'BOT'] * 4, 'HUMAN']
    assert turns[-1]['prompt'] == f'Problem:\n{row["question"]}\n\nSolution:'
    assert len({turn['prompt'] for turn in turns}) == 10
    text = LMTemplateParser().parse_template(prompt, 'gen')
    assert text.count('The final answer is $') == 4
    assert text.count('Problem:\n') == text.count('Solution:\n') + 1 == 5


def test_aime_of_45_is_called_so_only_with_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder without such a file gives the 30, and the name says it."""
    path = FOLDER / 'datasets/aime2024_45/aime2024_45_gpassk_gen.py'
    monkeypatch.setenv('GPASSK_DATA', str(tmp_path))
    assert (dataset(path)['abbr'], dataset(path)['path']) == ('AIME2024-30-n48', str(tmp_path))
    (tmp_path / 'aime').mkdir()
    file = tmp_path / 'aime/AIME2024_45.csv'
    file.write_text('')
    assert (dataset(path)['abbr'], dataset(path)['path']) == ('AIME2024-45-n48', str(file))
    monkeypatch.setenv('GPASSK_DATA', str(file))
    assert dataset(path)['path'] == str(file)


@pytest.mark.parametrize('path', MODEL_FILES, ids=lambda path: path.stem)
def test_models_are_wrappers_of_opencompass_without_a_key(path: Path, tmp_path: Path) -> None:
    """A config is stored beside the results: no key may stand in it."""
    for model in dumped(load(path), tmp_path).models:
        module, name = model.type.rsplit('.', 1)
        assert isinstance(getattr(importlib.import_module(module), name), type)
        assert model.get('key', 'ENV') == 'ENV'


JOB_NAMES = [
    *('eval_livemath', 'eval_mix', 'eval_paper', 'eval_reasoneval', 'eval_rvbench'),
    'eval_rvbench_full',
]


@pytest.mark.parametrize('name', JOB_NAMES)
def test_jobs_name_version_and_samples(name: str, tmp_path: Path) -> None:
    """Greedy and sampled columns come from one model config; folders of jobs are apart."""
    config = dumped(load(FOLDER / f'{name}.py'), tmp_path)
    abbrs = [each.abbr for each in config.datasets]
    assert (
        abbrs
        == {
            'eval_livemath': ['sample-greedy-n1', 'sample-n16'],
            'eval_mix': ['math-500-greedy-n1', 'math-500-n16', 'sample-greedy-n1', 'sample-n16'],
            'eval_paper': [
                f'{benchmark}-{kind}'
                for benchmark in ('LiveMathBench-202412', 'MATH500-L5', 'AIME2024-30')
                for kind in ('greedy-n1', 'n48')
            ],
            'eval_reasoneval': ['sample-greedy-n1', 'sample-n16'],
            'eval_rvbench': [
                f'RV-{source}-subset-{kind}'
                for kind in ('greedy-n1', 'n8')
                for source in ('MATH', 'LEETCODE')
            ],
            'eval_rvbench_full': [
                f'RV-{source}-{kind}'
                for kind in ('4shot-greedy-n1', 'greedy-n1', 'n16')
                for source in ('MATH', 'LEETCODE')
            ],
        }[name]
    )
    assert config.work_dir == f'outputs/{name.removeprefix("eval_")}'
    assert config.summarizer.type == 'opencompass_gpassk.summarizer.GPassKSummarizer'


def test_rvbench_in_chinese_keeps_the_papers_examples_in_english(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The full job runs in both languages; worked examples are never followed by Chinese."""
    monkeypatch.setenv('GPASSK_LANGUAGES', 'cn,en')
    found = {one.abbr: one for one in load(FOLDER / 'eval_rvbench_full.py').datasets}
    for abbr, languages in (
        ('RV-MATH-4shot-greedy-n1', {'en'}),
        ('RV-MATH-cn+en-greedy-n1', {'cn', 'en'}),
    ):
        assert set(build_dataset_from_cfg(found[abbr]).test['language']) == languages


def test_an_upgraded_data_set_keeps_its_own_evaluator_as_judge(tmp_path: Path) -> None:
    """One call makes OpenCompass's MATH-500 a data set that is sampled."""
    greedy, upgraded = dumped(load(FOLDER / 'eval_mix.py'), tmp_path).datasets[:2]
    assert (greedy.n, greedy.infer_cfg.inferencer.sampling) == (1, 'greedy')
    assert greedy.eval_cfg == upgraded.eval_cfg  # and with it the benchmark
    assert (upgraded.n, upgraded.k) == (16, [4, 8])
    kind = 'opencompass_gpassk.inferencer.GPassKGenInferencer'
    assert upgraded.infer_cfg.inferencer.type == kind
    assert upgraded.eval_cfg.evaluator.judge.type.endswith('.MATHVerifyEvaluator')


def test_the_command_prints_the_folder(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for --config-dir; --list shows what is there."""
    assert configs.run(argparse.Namespace(list=False)) == 0
    assert capsys.readouterr().out == f'{configs.configs_folder()}\n'
    assert (configs.configs_folder() / 'summarizers/gpassk.py').is_file()
    assert configs.run(argparse.Namespace(list=True)) == 0
    listed = capsys.readouterr().out.splitlines()
    assert 'datasets/livemathbench/livemathbench_gpassk_gen.py' in listed


def test_an_installation_without_configs_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder and the remedy are in the message."""
    monkeypatch.setattr(configs, '__file__', str(tmp_path / 'package/commands/configs.py'))
    with pytest.raises(ValueError, match=r'no configs in .*package/configs; install'):
        configs.configs_folder()


def test_other_sweeps_read_configs_from_the_package(tmp_path: Path) -> None:
    """By the package's name, from a config anywhere, as they read OpenCompass's own."""
    (tmp_path / 'mine.py').write_text(
        'from mmengine.config import read_base\n'
        'with read_base():\n'
        '    from opencompass.configs.datasets.gsm8k.gsm8k_gen import gsm8k_datasets\n'
        '    from opencompass_gpassk.configs.datasets.math500_l5.math500_l5_gpassk_gen import (\n'
        '        math500_l5_gpassk_datasets,\n'
        '    )\n'
        'datasets = [*gsm8k_datasets, *math500_l5_gpassk_datasets]\n'
    )
    read = dumped(load(tmp_path / 'mine.py'), tmp_path)
    assert [each.abbr for each in read.datasets] == ['gsm8k', 'MATH500-L5-n48']


def test_the_config_for_data_of_ones_own_is_complete(tmp_path: Path) -> None:
    """That of docs/data.md, with the path of a file that is there."""
    page = (ROOT / 'docs/data.md').read_text('utf-8')
    (text,) = re.findall(r'^```python\n(.*?)^```', page, re.DOTALL | re.MULTILINE)
    file = tmp_path / 'mine.csv'
    file.write_text('problem_text,solution\nWhat is the opposite of left?,right\n')
    (tmp_path / 'mine.py').write_text(text.replace('/data/mine.csv', str(file)))
    config = dumped(load(tmp_path / 'mine.py'), tmp_path)
    (dataset,) = config.datasets
    test = build_dataset_from_cfg(dataset).test
    assert (len(test), test[0]['answer'], test[0]['benchmark']) == (16, 'right', 'mine')
    assert ICL_EVALUATORS.get(dataset.eval_cfg.evaluator.type) is not None
    assert ICL_INFERENCERS.get(dataset.infer_cfg.inferencer.type) is not None
    assert (len(config.models), config.work_dir) == (1, 'outputs/mine')
    assert config.summarizer.type == 'opencompass_gpassk.summarizer.GPassKSummarizer'


def test_a_judge_is_chosen_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all our data sets, or by a job of its own; its key stands in no dumped config."""
    named = {'model': 'judge-72b', 'api_base': ['http://a/v1', 'http://b/v1']}
    assert data_sets(DATASETS[0])[0]['eval_cfg']['evaluator']['judge'] == 'rule'
    job = dumped(load(FOLDER / 'eval_livemath_judge.py'), tmp_path)
    for one in job['datasets']:
        assert one['eval_cfg']['evaluator']['judge'] == {'mode': 'cascade', **named}
    monkeypatch.setenv('GPASSK_JUDGE', 'llm')
    for one in data_sets(DATASETS[0]):
        assert one['eval_cfg']['evaluator']['judge'] == {'mode': 'llm', **named}
    assert KEY not in (tmp_path / 'dump.py').read_text()


def test_the_papers_protocol_has_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With OpenCompass's prompt; without an address it is refused, unless rules are asked for."""
    path = FOLDER / 'eval_paper.py'
    judge = {'mode': 'llm', 'prompt': 'opencompass', 'model': 'judge-72b'}
    judge |= {'api_base': ['http://a/v1', 'http://b/v1']}
    judges = [one.eval_cfg.evaluator.judge for one in dumped(load(path), tmp_path).datasets]
    assert judges == [judge] * 6
    monkeypatch.delenv('OC_JUDGE_API_BASE')
    with pytest.raises(ValueError, match=r'no endpoint is named; set .*OC_JUDGE_API_BASE'):
        load(path)
    monkeypatch.setenv('GPASSK_JUDGE', 'rule')
    assert {one.eval_cfg.evaluator.judge for one in load(path).datasets} == {'rule'}


def test_reasoning_is_scored_by_the_demonstration_or_whom_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default on no GPU; another model runs on those given, in half precision."""
    job = FOLDER / 'eval_reasoneval.py'
    for one in dumped(load(job), tmp_path)['datasets']:
        reasoning = one['eval_cfg']['evaluator']['reasoning']
        assert (reasoning, one['eval_cfg']['num_gpus']) == ({'model': 'demo'}, 0)
    monkeypatch.setenv('GPASSK_STEP_MODEL', 'GAIR/ReasonEval-7B')
    monkeypatch.setenv('GPASSK_STEP_GPUS', '2')
    for one in dumped(load(job), tmp_path)['datasets']:
        assert one['eval_cfg']['num_gpus'] == 2
        assert one['eval_cfg']['evaluator']['reasoning'] == {
            'model': 'GAIR/ReasonEval-7B',
            'model_kwargs': {'dtype': 'bfloat16', 'device_map': 'auto'},
        }


@pytest.mark.parametrize(
    ('name', 'value', 'message'),
    [
        ('STEP_GPUS', 'many', "GPASSK_STEP_GPUS is 'many'"),
        ('STEP_GPUS', '-1', "GPASSK_STEP_GPUS is '-1'"),
        ('STEP_GPUS', '²', "GPASSK_STEP_GPUS is '²'"),
        ('STEP_MODEL', './no/such', "GPASSK_STEP_MODEL is './no/such'.*ReasonEval-7B"),
    ],
)
def test_nonsense_about_the_step_classifier_is_named(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the config is read, before anything is inferred."""
    monkeypatch.setenv(f'GPASSK_{name}', value)
    with pytest.raises(ValueError, match=message):
        load(FOLDER / 'eval_reasoneval.py')


def test_a_folder_of_a_step_classifier_is_named_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tasks may run elsewhere."""
    (tmp_path / 'mine').mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('GPASSK_STEP_MODEL', 'mine')
    config = load(FOLDER / 'eval_reasoneval.py')
    assert config.datasets[0].eval_cfg.evaluator.reasoning.model == str(tmp_path / 'mine')
