"""``gpassk run``: what it asks before it starts, the config it writes, and one job to its end."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.error import URLError

import psutil
import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_server import JudgeServer, reply_body
from mmengine.config import Config
from opencompass.registry import PARTITIONERS, RUNNERS
from opencompass.utils import build_model_from_cfg
from opencompass_here import job_here

import opencompass_gpassk.commands.run
from opencompass_gpassk.commands.main import main
from opencompass_gpassk.commands.run.job import job_text
from opencompass_gpassk.runs.task_states import TaskState

KEY = 'sk-0123456789abcdef'
INNOCENT = 'math_gen'  # a data set whose prompt has {{
Tried = list[Path]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and no settings in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in os.environ:
        if name.startswith(('GPASSK_', 'OC_JUDGE_', 'OPENAI_')):
            monkeypatch.delenv(name)
    rows = [{'question': f'{i} + {i} = ?', 'answer': str(2 * i)} for i in range(1, 5)]
    Path('sums.jsonl').write_text(''.join(json.dumps(row) + '\n' for row in rows))


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    """A server of one model, called judge, whose answers depend on the seed."""
    with JudgeServer(respond=adds) as one:
        yield one


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> Tried:
    """The configs with which OpenCompass would have been started."""
    started: Tried = []
    monkeypatch.setattr(
        opencompass_gpassk.commands.run,
        '_opencompass',
        lambda path, *others: started.append(path) or 0,
    )
    return started


def adds(body: dict[str, Any]) -> web.Response:
    """Answer 2 + 2 = ? rightly if the seed is even."""
    number = body['messages'][-1]['content'].partition(' +')[0].rpartition(' ')[2].strip()
    right = 2 * int(number) if number.isdigit() else 0
    return web.json_response(reply_body(rf'\boxed{{{right + body.get("seed", 0) % 2}}}'))


def is_trial(body: dict[str, Any]) -> bool:
    """Tell whether a request tries the server before the job."""
    return body['max_tokens'] == 2 or 'ten words' in body['messages'][-1]['content']


def written(*options: str) -> Config:
    """Return the config that a dry run writes, as OpenCompass reads it; its data may be missing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opencompass_gpassk.commands.run, 'load_data', lambda datasets: None)
        assert main(['run', *options, '--dry-run']) == 0
    (path,) = Path('outputs/run').glob('*.py')
    return Config.fromfile(path, format_python_code=False)


def refused(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Return the message with which a job ends before it starts."""
    assert main(['run', *options]) == 1
    assert not Path('outputs').exists()
    return capsys.readouterr().err


def parts(config: Config) -> list[list[str]]:
    """Return the data sets of each inference task, as OpenCompass cuts them up."""
    partitioner = PARTITIONERS.build({**config.infer.partitioner, 'out_dir': 'none'})
    return [[one.abbr for one in task.datasets[0]] for task in partitioner(config)]


def test_the_config_is_one_of_opencompass() -> None:
    """Plain, with its runner, outside its work dir; OpenCompass cuts it into tasks."""
    config = written('--model', 'demo', '--data', 'sums.jsonl', '-n', '16', '--workers', '2')
    (model,) = config.models
    assert (model.abbr, model.type) == (
        'gpassk-demo',
        'opencompass.models.HuggingFacewithChatTemplate',
    )
    (dataset,) = config.datasets
    assert (dataset.n, dataset.k) == (16, [4, 8])
    assert parts(config) == [[dataset.abbr]]  # 64 rows are one batch
    assert RUNNERS.build(config.infer.runner).max_num_workers == 2
    assert Path(f'{config.work_dir}.py').is_file()


@pytest.mark.parametrize(('batch', 'shards'), [(256, 2), (64, 8), (8, 8)])
def test_shards_of_local_engines_are_for_more_workers_than_there_are(
    batch: int, shards: int
) -> None:
    """480 rows at 256 at once are two batches, whoever draws them."""
    rows = [{'question': f'{i} + 0 = ?', 'answer': str(i)} for i in range(30)]
    Path('thirty.jsonl').write_text(''.join(json.dumps(row) + '\n' for row in rows))
    kind = 'opencompass.models.VLLM'
    Path('local.py').write_text(
        f"models = [dict(abbr='a', type='{kind}', path='x', batch_size={batch})]"
    )
    config = written('--model', 'local.py', '--data', 'thirty.jsonl', '-n', '16')
    assert sum(map(len, parts(config))) == shards


def test_a_server_may_move(capsys: pytest.CaptureFixture[str]) -> None:
    """A job goes on with the same model at another address, as after a new job of Slurm."""
    same = ('--data', 'sample', '--work-dir', 'outputs/run/w')
    written('--model', 'http://127.0.0.1:9/v1#m', *same)
    Path('outputs/run/w').mkdir()  # as a run does
    config = written('--model', 'http://127.0.0.1:10/v1#m', *same)
    assert config.models[0].api_base == 'http://127.0.0.1:10/v1'
    other = ('--model', 'http://127.0.0.1:10/v1#other', *same)
    assert main(['run', *other, '--dry-run']) == 1
    assert 'another job' in capsys.readouterr().err


def test_slurm_stands_in_the_config() -> None:
    """OpenCompass's own option would replace what the config says of tasks."""
    config = written('--model', 'org/name', '--data', 'sample', '--slurm', 'debug', '--workers=4')
    for stage in (config.infer, config.eval):
        runner = RUNNERS.build(stage.runner)
        assert (type(runner).__name__, runner.partition) == ('GPassKSlurmRunner', 'debug')
    assert config.models[0].run_cfg.num_gpus == 1


def test_options_reach_all_data_sets() -> None:
    """The sampled ones and the greedy ones, of this package, of a file and of OpenCompass."""
    Path('judge.json').write_text('{"mode": "rule", "undecided": "incorrect"}')
    config = written(
        *('--model', 'demo', '--data', 'sample', 'livemathbench:202412-hard', 'rvbench-math'),
        *('--data', 'sums.jsonl', 'gsm8k', '-n', '6', '-k', '2,3', '--tau', '0.5', '1', '--greedy'),
        *('--temperature', '0.6', '--top-p', '0.9', '--top-k', '20', '--max-out-len', '100'),
        *('--limit', '3', '--judge', 'judge.json'),
    )
    sampled, greedy = [], []
    for one in config.datasets:
        (greedy if one.infer_cfg.inferencer.sampling == 'greedy' else sampled).append(one)
        assert (one.limit, one.infer_cfg.inferencer.max_out_len) == (3, 100)
        assert one.eval_cfg.evaluator.judge == {'mode': 'rule', 'undecided': 'incorrect'}
        assert one.eval_cfg.evaluator.taus == [0.5, 1.0]
        assert 'first3' in one.abbr
    assert len(sampled) == len(greedy) == 5
    for one in sampled:
        assert (one.n, one.k) == (6, [2, 3])
        assert one.infer_cfg.inferencer.sampling == {
            'temperature': 0.6,
            'top_p': 0.9,
            'top_k': 20,
            'repetition_penalty': 1.0,
        }
    assert [one.n for one in greedy] == [1] * 5


def test_the_environment_sets_what_no_option_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does for the configs of the data sets."""
    for name, value in {'N': '6', 'K': '2,3', 'LIMIT': '2', 'MAX_OUT_LEN': '50'}.items():
        monkeypatch.setenv(f'GPASSK_{name}', value)
    for one in written('--model', 'demo', '--data', 'sample', 'gsm8k', '-n', '4').datasets:
        assert (one.n, one.k, one.limit) == (4, [2, 3], 2)
        assert one.infer_cfg.inferencer.max_out_len == 50


def test_models_of_all_kinds(server: JudgeServer) -> None:
    """A server, a folder, the hub, a config of OpenCompass by its name, and a file of one's own."""
    Path('mine.py').write_text("models = [dict(abbr='mine', type='OpenAI', path='x')]")
    Path('checkpoint').mkdir()
    Path('hf_qwen2_5_7b_instruct').mkdir()  # the name means the config; the folder is ./NAME
    named = (f'{server.url}#judge', 'checkpoint', 'org/name', 'hf_qwen2_5_7b_instruct', 'mine.py')
    config = written('--model', *named, '--data', 'sample')
    assert [one.abbr for one in config.models] == [
        *('judge', 'checkpoint-hf', 'name-hf', 'qwen2.5-7b-instruct-hf', 'mine'),
    ]
    assert config.models[0].api_base == server.url
    assert config.models[1].path == str(Path('checkpoint').resolve())


@pytest.mark.parametrize(
    ('options', 'told'),
    [
        (['--model', 'http://127.0.0.1:9/v1', '--data', 'sample'], '127.0.0.1:9 does not answer'),
        (['--model', 'hf_qwen2_5_7b_instruc', '--data', 'sample'], 'hf_qwen2_5_7b_instruct'),
        (['--model', 'no.py', '--data', 'sample'], 'no.py: there is no such file'),
        (['--model', 'demo', '--data', 'sample', '-n', '4', '-k', '4,8'], '-n 24'),
        (['--model', 'demo', '--data', 'sample', '--tau', '2'], 'from 0 to 1'),
        (['--model', 'demo', '--data', 'sample', '--top-p', '2'], 'top_p'),
        (['--model', 'demo', '--data', 'no.jsonl'], 'no.jsonl: there is no such file'),
        (['--model', 'demo', '--data', 'bad.csv'], 'bad.csv, line 2: field answer'),
        (['--model', 'demo', '--data', 'sample', '--columns', 'answer=x'], 'no --data is a file'),
        (['--model', 'demo', '--data', 'sums.jsonl', '--columns', 'frage=x'], 'question, answer'),
        (
            ['--model', 'demo', '--data', 'sums.jsonl', '--columns', 'answer=x'],
            'field x is missing',
        ),
        (['--model', 'demo', '--data', 'livemathbench:1999'], '202412-hard'),
        (['--model', 'demo', 'demo', '--data', 'sample'], 'gpassk-demo'),
        (['--model', 'demo', '--data', 'sample', '--judge', 'llm'], 'OC_JUDGE_MODEL'),
        (['--model', 'http://me:secret@host/v1', '--data', 'sample'], 'is no URL'),
        (['--model', 'http://me:secret@host/v1#m', '--data', 'sample'], 'is no URL'),
        (['--model', 'http://host/v1?key=secret#m', '--data', 'sample'], 'is no URL'),
        (['--model', 'served.py', '--data', 'sample'], 'is no URL'),
        (['--model', 'demo', '--data', 'gbk.jsonl'], 'gbk.jsonl'),
        (['--model', 'demo', '--data', 'utf16.jsonl'], 'utf16.jsonl'),
    ],
)
def test_what_cannot_work_ends_before_anything_is_written(
    options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a message that names the remedy; in a dry run too, but for servers and engines."""
    Path('bad.csv').write_text('question,answer\n1 + 1 = ?,\n')
    for code in ('gbk', 'utf16'):
        Path(f'{code}.jsonl').write_text('{"question": "1 加 1 = ?", "answer": "2"}\n', code)
    kind = 'opencompass_gpassk.inference.OpenAICompatible'
    served = {'abbr': 'm', 'type': kind, 'path': 'm', 'api_base': 'http://me:secret@host/v1'}
    Path('served.py').write_text(f'models = [{served}]')
    for dry in ([], ['--dry-run'])[: 1 if 'does not answer' in told or 'serve' in told else 2]:
        message = refused(capsys, *options, *dry)
        assert told in message
        assert 'secret' not in message


def test_a_model_that_cannot_be_told_how_to_sample_is_refused(
    tried: Tried, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its samples may be copies; it is measured if that is asked for."""
    model = "dict(abbr='mine', type='opencompass.models.{}', path='x', url='http://host')"
    for name in ('DeepseekAPI', 'UniGPT'):
        Path(f'{name}.py').write_text(f'models = [{model.format(name)}]')
    message = refused(capsys, '--model', 'DeepseekAPI.py', '--data', 'sample')
    assert 'DeepseekAPI' in message
    assert '--unsampled' in message
    assert main(['run', '--model', 'UniGPT.py', '--data', 'sample']) == 0
    assert main(['run', '--unsampled', '--model', 'DeepseekAPI.py', '--data', 'sample']) == 0
    assert len(tried) == 2


def test_columns_of_a_file_may_have_other_names(tried: Tried) -> None:
    """They are named on the command line, for the files alone."""
    Path('mine.csv').write_text('problem_text,solution\n1 + 1 = ?,2\n')
    columns = ('--columns', 'question=problem_text', '--columns', 'answer=solution')
    assert main(['run', '--model', 'demo', '--data', 'sample', 'mine.csv', *columns]) == 0
    sample, mine = Config.fromfile(tried[0]).datasets
    assert mine.columns == {'question': 'problem_text', 'answer': 'solution'}
    assert 'columns' not in sample


def test_data_of_opencompass_that_cannot_be_downloaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what was wanted and where else it may come from."""

    def offline(*others: object, **settings: object) -> None:
        raise URLError('no network')

    monkeypatch.setattr('opencompass.utils.datasets.download_dataset', offline)
    job = ('--model', 'demo', '--data', 'gsm8k')
    message = refused(capsys, *job)
    for told in (
        'no network',
        'opencompass/gsm8k',
        'DIR/data/gsm8k',
        'COMPASS_DATA_CACHE',
        'file of',
    ):
        assert told in message


def test_an_unknown_option_shows_the_usage_of_its_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not that of gpassk, which has no options."""
    with pytest.raises(SystemExit) as ended:
        main(['run', '--model', 'demo', '--data', 'sample', '--colums', 'a=b'])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert '--colums' in told
    assert 'usage: gpassk run' in told


def test_the_server_knows_its_models(
    server: JudgeServer, tried: Tried, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its only one need not be named; of several, and of unknown ones, the names are told."""
    data = ('--data', 'sums.jsonl')
    assert 'it has judge' in refused(capsys, '--model', f'{server.url}#other', *data)
    server.models.append({'id': 'larger/one'})
    assert 'judge, larger/one' in refused(capsys, '--model', server.url, *data)
    assert main(['run', '--model', f'{server.url}#larger/one', *data]) == 0
    assert Config.fromfile(tried[0]).models[0].abbr == 'one'


@pytest.mark.parametrize(
    'name',
    [
        '{{$MY_SECRET:x}}',
        '{{$A:open("ran","w")|None|0}}',
        '{{ $A:',
        'x{{ fileDirname }}',
        '{{_base_.x',
    ],
)
def test_an_id_that_a_config_would_replace_ends_the_job(
    name: str, server: JudgeServer, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """In one line: on the way into a config it would show the environment, or run as code."""
    monkeypatch.setenv('MY_SECRET', KEY)
    server.models[:] = [{'id': name}]
    message = refused(capsys, '--model', server.url, '--data', 'sums.jsonl')
    assert 'the model id' in message and name in message and message.count('\n') == 1
    assert not server.bodies and {path.name for path in Path().iterdir()} == {'sums.jsonl'}


@pytest.mark.parametrize('place', ['file', 'column', 'judge', 'key', 'work dir'])
def test_nothing_that_a_config_would_replace_comes_into_it(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of files and columns, settings of a judge, and keys, which aren't escaped."""
    evil = '{{$A:x}}'
    options = {'--model': 'demo', '--data': 'sums.jsonl'}
    body: dict[str, Any] = {"': open('ran', 'w'), '": 1} if place == 'key' else {'note': evil}
    judge = {'mode': 'llm', 'model': 'm', 'api_base': 'http://127.0.0.1:9/v1', 'extra_body': body}
    if place == 'file':
        Path('sums.jsonl').rename(f'{evil}.jsonl')
        options['--data'] = f'{evil}.jsonl'
    elif place == 'column':
        Path('sums.jsonl').write_text(json.dumps({evil: '1 + 1 = ?', 'answer': '2'}))
        options['--columns'] = f'question={evil}'
    elif place == 'work dir':
        options['--work-dir'] = evil
    else:
        Path('judge.json').write_text(json.dumps(judge))
        options['--judge'] = 'judge.json'
    message = refused(capsys, *(part for pair in options.items() for part in pair), '--dry-run')
    assert 'a key is' in message if place == 'key' else 'begins with {{$' in message
    assert not list(Path().glob('**/*.py'))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(['{{', '}}', '$A', ':', 'x', "'", '"', ' ', '\\', '\n']), max_size=12)
    | st.lists(st.sampled_from(['{{', '}}', ' ', "'", 'fileDirname', '_base_', '.x']), max_size=8)
)
def test_what_is_let_through_comes_back(pieces: list[str]) -> None:
    """From the config that is written, and from the one that OpenCompass makes of it."""
    text = ''.join(pieces)
    models = [{'path': text, 'nested': {'text': [text], 'last': text * 3}}]
    try:
        written = job_text({'models': models}, Path('/w'), workers=1, partition=None, shards={})
    except ValueError:
        return
    for number in range(2):
        Path(f'{number}.py').write_text(written)
        config = Config.fromfile(f'{number}.py')
        assert config.to_dict()['models'] == models
        written = config.pretty_text


def test_braces_that_mean_nothing_are_kept() -> None:
    """Prompts of some data sets of OpenCompass have them."""
    config = written('--model', 'demo', '--data', INNOCENT)
    assert '{{' in config.pretty_text
    config.dump('again.py')
    assert Config.fromfile('again.py').to_dict() == config.to_dict()


@pytest.mark.parametrize('name', ['..', '.', '/', '../..', '../models/x.gguf', 'a b/c;d'])
def test_an_id_leads_nowhere(name: str, server: JudgeServer) -> None:
    """Its name in paths is one of a file inside the run."""
    server.models[:] = [{'id': name}]
    (model,) = written('--model', server.url, '--data', 'sums.jsonl').models
    assert model.path == name
    assert model.abbr == {'../models/x.gguf': 'x.gguf', 'a b/c;d': 'c-d'}.get(name, 'model')


@pytest.mark.parametrize(
    ('models', 'told'),
    [
        ([{'id': None}, {'id': [1]}, 'judge'], 'lists no models'),
        ([{'id': 'x' * 201}], 'not 1 to 200 printable ASCII'),
        ([{'id': 'a\x1b[31m'}], 'not 1 to 200 printable ASCII'),
        ([{'id': ''}], 'not 1 to 200 printable ASCII'),
        ([{'id': f'm{n}'} for n in range(500)], 'm19 and 480 more'),
    ],
)
def test_a_list_that_names_no_model_of_ours(
    models: list[Any], told: str, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told, shortly."""
    server.models[:] = models
    message = refused(capsys, '--model', server.url, '--data', 'sums.jsonl')
    assert told in message and len(message) < 700


@pytest.mark.parametrize('length', [-5, 0, 255, True, 4096.0, '4096', [1]])
def test_a_length_of_context_that_is_none(length: Any, server: JudgeServer) -> None:
    """It is ignored."""
    server.models[0]['max_model_len'] = length
    config = written('--model', server.url, '--data', 'sums.jsonl')
    assert 'max_seq_len' not in config.models[0]
    assert config.datasets[0].infer_cfg.inferencer.max_out_len == 8192


def test_refused_fields_are_named_at_once_and_can_be_left_out(
    server: JudgeServer, tried: Tried, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is found with a request of two tokens under the job's own protocol."""

    def respond(body: dict[str, Any]) -> web.Response | None:
        bad = [name for name in ('top_k', 'repetition_penalty') if name in body]
        if not bad:
            return None
        words = f'Unrecognized request argument supplied: {bad[0]}'
        return web.json_response({'error': {'message': words}}, status=400)

    server.respond = respond
    job = ('--model', server.url, '--data', 'sums.jsonl', '--temperature', '0.5')
    fields = ['top_k', 'repetition_penalty']
    told = refused(capsys, *job)
    assert set(told.partition('--without ')[2].split()) == set(fields)
    assert '--without' in refused(capsys, *job, '--without', 'top_k')
    server.bodies.clear()
    assert main(['run', *job, '--without', *fields]) == 0
    body = server.bodies[0]
    assert (body['max_tokens'], body['temperature'], body['top_p']) == (2, 0.5, 0.8)
    assert Config.fromfile(tried[0]).models[0].without == fields


def sampling_server(applied: str, refused: str = '') -> Callable[[dict[str, Any]], web.Response]:
    """Answer as a model that applies some parameters, refuses some, and ignores the others."""

    def respond(body: dict[str, Any]) -> web.Response:
        if bad := [name for name in refused.split() if name in body]:
            return web.json_response({'error': {'message': f'unknown {bad[0]}'}}, status=400)
        one_way = {
            'temperature': body['temperature'] == 0,
            'top_p': body['top_p'] < 0.01,
            'top_k': body.get('top_k') == 1,
            'min_p': body.get('min_p') == 1,
        }
        text = 'likeliest' if any(one_way[n] for n in one_way if n in applied) else body.get('seed')
        changed = any(body.get(name, 1) > 1 for name in PENALTIES if name in applied)
        return web.json_response(reply_body(f'{text} {"penalised" * changed}'))

    return respond


PENALTIES = ('repetition_penalty', 'repeat_penalty')
NAMES = ['temperature', 'top_p', 'top_k', 'min_p']


@pytest.mark.parametrize(
    ('applied', 'refused_too', 'not_known'),
    [
        ('temperature top_p top_k min_p repetition_penalty', '', []),
        ('temperature top_p top_k min_p repeat_penalty', '', []),  # as llama.cpp
        ('temperature top_p top_k repetition_penalty', 'min_p repeat_penalty', []),
        ('temperature top_p', 'max_tokens', ['top_k', 'min_p', 'repetition_penalty']),
        ('', '', [*NAMES, 'repetition_penalty']),
    ],
)
def test_what_a_server_is_not_seen_to_apply_is_not_known(
    applied: str,
    refused_too: str,
    not_known: list[str],
    server: JudgeServer,
    tried: Tried,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It may accept a parameter and ignore it; a few tokens under narrow values show that."""
    server.respond = sampling_server(applied, refused_too)
    job = ('--model', server.url, '--data', 'sums.jsonl')
    assert main(['run', *job]) == 0
    assert Config.fromfile(tried[0]).models[0].get('not_known', []) == not_known
    assert ('is not known' in capsys.readouterr().err) == bool(not_known)
    assert server.calls <= 12
    # A job that goes on keeps what was found, and tries no more than that the server replies.
    configs = tried[0].with_suffix('') / '20260101_000000/configs'
    configs.mkdir(parents=True)
    shutil.copy(tried[0], configs / '20260101_000000_1.py')
    server.bodies.clear()
    assert main(['run', *job, '--resume']) == 0
    (model,) = Config.fromfile(tried[1]).models
    assert ([*model.not_known] if 'not_known' in model else []) == not_known
    assert all(body.get('max_tokens', 2) == 2 for body in server.bodies)
    build_model_from_cfg(model)


def test_a_key_is_asked_for_and_written_nowhere(
    tried: Tried, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stands in the environment alone."""
    with JudgeServer(key=KEY, respond=lambda body: None) as server:
        job = ('--model', server.url, '--data', 'sums.jsonl')
        assert 'OPENAI_API_KEY' in refused(capsys, *job)
        monkeypatch.setenv('OPENAI_API_KEY', KEY)
        assert main(['run', *job]) == 0
    assert KEY not in tried[0].read_text()


class Listless(JudgeServer):
    """It answers, but lists its models to nobody."""

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({'error': {'message': 'not permitted'}}, status=403)


def test_a_key_that_may_not_list_models_may_ask_one(
    tried: Tried, capsys: pytest.CaptureFixture[str]
) -> None:
    """The short request tells whether it may; without a name there is no model to ask."""
    with Listless(respond=adds) as server:
        job = ('--data', 'sums.jsonl', '--model')
        assert 'OPENAI_API_KEY' in refused(capsys, *job, server.url)
        assert main(['run', *job, f'{server.url}#judge']) == 0
    assert len(tried) == 1


def test_responses_fit_into_the_context_of_the_server(
    server: JudgeServer, tried: Tried, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server refuses what is longer, prompt by prompt."""
    server.models[0]['max_model_len'] = 2048
    job = ('--model', server.url, '--data', 'sums.jsonl')
    assert '1536' in refused(capsys, *job, '--max-out-len', '2048')
    assert main(['run', *job]) == 0
    assert 'limited to 1536 tokens' in capsys.readouterr().err
    assert Config.fromfile(tried[0]).datasets[0].infer_cfg.inferencer.max_out_len == 1536


def test_a_dry_run_writes_the_config_of_the_run(server: JudgeServer, tried: Tried) -> None:
    """It is the same job, so that the run takes it up; and it needs no server."""
    server.models[0]['max_model_len'] = 2048
    name = server.models[0]['id']
    job = ('--model', f'{server.url}#{name}', '--data', 'sums.jsonl', '--work-dir', 'mine')
    assert main(['run', *job, '--dry-run']) == 0
    assert main(['run', *job]) == 0
    assert tried == [Path('mine.py').absolute()]
    assert len(written('--model', 'http://127.0.0.1:9/v1#any', '--data', 'sums.jsonl').models) == 1


def test_the_judge_is_asked_too(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hours of inference would come before its first request."""
    monkeypatch.setenv('OC_JUDGE_MODEL', 'judge')
    monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://127.0.0.1:9/v1')
    job = ('--model', server.url, '--data', 'sums.jsonl', '--judge', 'cascade')
    assert '127.0.0.1:9 does not answer' in refused(capsys, *job)


def test_each_job_has_a_work_dir_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """The same settings find it again; others don't get it."""
    job = ('--model', 'demo', '--data', 'sums.jsonl')
    same = ((), (), ('--workers', '2'), ('-n', '48', '-k', '2', '--tau', '1'), ('--judge', 'rule'))
    for more in (*same, ('--temperature', '0.5')):
        assert main(['run', *job, *more, '--dry-run']) == 0
    assert len(list(Path('outputs/run').glob('*.py'))) == 2
    named = (*job, '--work-dir', 'mine', '--dry-run')
    assert main(['run', *named]) == 0
    assert Path('mine.py').is_file()
    assert main(['run', *named, '--limit', '3']) == 0  # what was only written reserves nothing
    Path('mine').mkdir()
    assert main(['run', *named, '--limit', '3', '-n', '48']) == 0
    assert main(['run', *named, '--limit', '2']) == 1
    told = capsys.readouterr().err
    assert 'limit was 3, and is 2' in told
    assert 'Choose another --work-dir' in told


def test_a_job_without_a_run_begins_with_resume_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script may always pass it; a run that died before its config was there is none."""
    started: list[list[str]] = []
    monkeypatch.setattr(
        opencompass_gpassk.commands.run,
        '_opencompass',
        lambda path, work_dir, args: started.append(args.opencompass) or 0,
    )
    job = ['run', '--model', 'demo', '--data', 'sums.jsonl', '--work-dir', 'w', '--resume']
    assert main(job) == 0
    Path('w/20260101_000000/configs').mkdir(parents=True)
    assert main(job) == 0
    Path('w/20250101_000000/configs').mkdir(parents=True)
    Path('w/20250101_000000/configs/a.py').write_text(Path('w.py').read_text())
    assert main(job) == 0
    assert started == [[], [], ['-r', '20250101_000000']]


def test_a_job_finds_its_work_dir_where_its_data_moved() -> None:
    """The content of a file counts, not its path."""
    job = ('--model', 'demo', '--data', 'sums.jsonl')
    name = Path(written(*job).work_dir).name
    Path('moved').mkdir()
    Path('sums.jsonl').rename('moved/sums.jsonl')
    job = ('--model', 'demo', '--data', 'moved/sums.jsonl')
    assert Path(written(*job).work_dir).name == name
    Path('moved/sums.jsonl').write_text('{"question": "1 + 1 = ?", "answer": "2"}\n')
    assert main(['run', *job, '--dry-run']) == 0
    assert len(list(Path('outputs/run').glob('*.py'))) == 2


@pytest.mark.slow
def test_a_job_is_interrupted_and_resumed(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All its processes end, the number of workers stays, and no response is drawn twice."""
    watch = opencompass_gpassk.commands.run.watch
    job = ['run', '--model', server.url, '--data', 'sums.jsonl', '-n', '6', '-k', '2', '--resume']
    server.respond = lambda body: adds(body) if is_trial(body) or before(16) else None
    server.latency = 60.0  # of all others

    def before(calls: int) -> bool:
        return server.calls <= calls

    def interrupted(folder: Path, alive: Callable[[Sequence[TaskState]], bool]) -> None:
        while before(16) and alive([]):
            time.sleep(0.05)
        assert main(job) == 1
        told = capsys.readouterr().err
        assert 'still running' in told
        assert all(map(psutil.pid_exists, map(int, told.partition('kill ')[2].split())))
        assert 'kill ' in told
        raise KeyboardInterrupt

    monkeypatch.setattr(opencompass_gpassk.commands.run, 'watch', interrupted)
    assert main(job[:-1]) == 130
    assert '--resume' in capsys.readouterr().err
    (run,) = Path('outputs/run').glob('*/*/')
    (saved,) = (run / 'predictions/judge').glob('tmp_*.jsonl')
    before_it = saved.read_text().count('"prediction"')
    server.respond = adds
    server.bodies.clear()
    monkeypatch.setattr(opencompass_gpassk.commands.run, 'watch', watch)
    # With --debug, OpenCompass runs its tasks in its own process.
    assert main([*job, '--workers', '2', '--', '--debug']) == 0
    (path,) = (run / 'predictions/judge').glob('*.json')
    assert len(json.loads(path.read_text())) == 24
    assert sum(not is_trial(body) for body in server.bodies) == 24 - before_it < 24
    assert (run / 'summary').is_dir()


@pytest.mark.slow
def test_more_samples_are_asked_for_alone(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Even if all was moved. The table shows both n, and the result remembers the look."""
    job = ['run', '--model', server.url, '--data', 'sums.jsonl', '-k', '2', '-n']
    asked = []

    monkeypatch.setattr(opencompass_gpassk.commands.run, '_opencompass', job_here)
    for more in (['4'], ['12', '--resume'], ['3', '--resume', '--workers', '2']):
        server.bodies.clear()
        monkeypatch.chdir(Path.cwd().rename(tmp_path.with_name(f'{tmp_path.name}-n{more[0]}')))
        assert main([*job, *more]) == 0
        asked.append(sum(not is_trial(body) for body in server.bodies))
    assert asked == [16, 32, 0]
    (run,) = Path('outputs/run').glob('*/*/')
    results = {
        one['signature']['n']: one
        for path in (run / 'results/judge').glob('*.json')
        for one in [json.loads(path.read_text())]
    }
    assert {n: one.get('looks') for n, one in results.items()} == {3: None, 4: None, 12: [4]}
    table = (run / 'summary/latest/gpassk.txt').read_text()
    assert 'n = 3 or 4 or 12' in table
