"""A run folder that somebody sent: nothing in it runs, and no key goes where it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer
from sent_run import SentRun

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.judging.judge import JudgeError, Ledger, make_judge
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.reasoneval.settings import recorded_reasoning

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('no_metrics')]

JUDGED = {'mode': 'cascade', 'model': 'stub'}
TOUCH = 'touch ran'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SentRun:
    """The run, with nothing in the environment that names a judge."""
    monkeypatch.chdir(tmp_path)
    for name in ('MODEL', 'API_BASE', 'API_KEY'):
        monkeypatch.delenv(f'OC_JUDGE_{name}', raising=False)
    run = SentRun(tmp_path / 'outputs/20260101_000000')
    run.evaluate()
    return run


def place(monkeypatch: pytest.MonkeyPatch, server: JudgeServer, model: str = 'stub') -> None:
    """Name a judge in the environment."""
    monkeypatch.setenv('OC_JUDGE_MODEL', model)
    monkeypatch.setenv('OC_JUDGE_API_BASE', server.url)


def judged_elsewhere(run: SentRun, server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Score the run with a judge whose place is gone from the environment afterwards."""
    with monkeypatch.context() as here:
        place(here, server)
        assert main(['rescore', str(run.folder), '--judge', 'cascade']) == 0


def test_no_command_runs_what_a_folder_holds(run: SentRun, tmp_path: Path) -> None:
    """A line that was appended to the config, which is Python."""
    assert main(['rescore', str(run.folder)]) == 0
    run.write(f'\nopen({str(tmp_path / "ran")!r}, "w").close()\n')
    for name in ('status', 'score', 'rescore', 'report', 'compare', 'audit', 'plan'):
        main([name, str(run.folder)])
        assert not (tmp_path / 'ran').exists(), name
    main(['rescore', str(run.folder), '--judge', 'rule'])
    main(['reasoneval', 'run', str(run.folder), '--model', 'demo'])
    assert not (tmp_path / 'ran').exists()


@pytest.mark.parametrize(
    'fields',
    [
        {'judging': {'mode': 'llm', 'settings': {'type': 'subprocess.getoutput', 'cmd': TOUCH}}},
        {'judging': {'mode': 'evaluator', 'settings': {'type': 'subprocess.getoutput'}}},
        {'reasoning': {'settings': {'type': 'subprocess.getoutput', 'options': {'cmd': TOUCH}}}},
        {'reasoning': {'settings': {'model': 'attacker/model'}}},
        *(
            {'evaluation': {'postprocessors': {place: {'type': 'subprocess.getoutput'}}}}
            for place in ('model', 'data set', 'evaluator')
        ),
    ],
)
def test_a_result_makes_nothing_but_known_classes(run: SentRun, fields: dict[str, Any]) -> None:
    """OpenCompass's registries import whatever a type says, and call it."""
    run.change_result(**fields)
    main(['rescore', str(run.folder)])
    assert not Path('ran').exists()


def test_a_config_decides_no_verdict_and_no_metric(run: SentRun) -> None:
    """Its evaluator is neither imported nor compared, and its data are not loaded."""
    before = run.result()
    attack = {'type': 'antigravity.Flight', 'cmd': TOUCH}
    run.dataset |= {'type': 'subprocess.getoutput', 'n': 9, 'cmd': TOUCH}
    run.dataset['eval_cfg'] = {'evaluator': {**run.evaluator, 'judge': attack, 'taus': [0.3]}}
    run.model['pred_postprocessor'] = attack
    run.write()
    assert main(['rescore', str(run.folder)]) == 0
    assert run.result() == before
    assert 'antigravity' not in sys.modules
    assert not Path('ran').exists()


def test_a_summary_is_made_by_known_classes(run: SentRun, tmp_path: Path) -> None:
    """Neither by one of the config's, nor by arguments that OpenCompass evaluates or posts to."""
    attack = f'__import__("subprocess").getoutput("touch {tmp_path / "ran"}")'
    group = {'name': 'all', 'subsets': ['sample-n2'], 'transforms': {'sample-n2': attack}}
    with JudgeServer() as server:
        for kind in (
            'subprocess.getoutput',
            'opencompass_gpassk.report.summarizer.GPassKSummarizer',
        ):
            run.further = {
                'summarizer': {'type': kind, 'cmd': attack, 'summary_groups': [group]},
                'lark_bot_url': server.url,
            }
            run.write()
            assert main(['rescore', str(run.folder)]) == 0
        assert server.calls == 0
    assert not (tmp_path / 'ran').exists()
    assert (run.folder / 'summary' / 'latest' / 'gpassk.md').exists()


@pytest.mark.parametrize(
    'name', ['results', 'summary', 'verdicts.sqlite', 'verdicts.sqlite.lock', 'step_scores.sqlite']
)
def test_nothing_is_written_through_a_link(run: SentRun, tmp_path: Path, name: str) -> None:
    """One that leads out of the run."""
    elsewhere, there = tmp_path / 'elsewhere', run.folder / name
    if there.exists():
        there.rename(elsewhere)
    else:
        elsewhere.mkdir()
    there.symlink_to(elsewhere / 'file' if '.' in name else elsewhere)
    before = {one: one.read_bytes() for one in elsewhere.rglob('*') if one.is_file()}
    assert main(['reasoneval', 'run', str(run.folder), '--model', 'demo']) == 1
    assert before == {one: one.read_bytes() for one in elsewhere.rglob('*') if one.is_file()}


def test_no_module_of_the_folder_is_imported(run: SentRun) -> None:
    """Also where the user stands in it."""
    for name in ('matplotlib', 'tabulate', 'sympy', 'opencompass_gpassk'):
        (run.folder / f'{name}.py').write_text('open("ran", "w").close()\n')
    for command in (['rescore', '.'], ['score', '.'], ['audit', '.']):
        done = subprocess.run([Path(sys.executable).with_name('gpassk'), *command], cwd=run.folder)
        assert done.returncode == 0
        assert not (run.folder / 'ran').exists()


def test_a_key_goes_nowhere_that_a_file_says(
    run: SentRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither to a server that a result names, nor from a variable that it names."""
    monkeypatch.setenv('MY_CLOUD_SECRET', 'sk-of-mine-123456')
    assert main(['rescore', str(run.folder)]) == 0
    with JudgeServer() as theirs, JudgeServer() as ours:
        place_said = {'api_base': theirs.url, 'api_key_env': 'MY_CLOUD_SECRET'}
        run.change_result(judging={'mode': 'cascade', 'settings': {**JUDGED, **place_said}})
        for command in (['rescore'], ['rescore', '--judge', 'llm'], ['rescore', '--tau', '1']):
            assert main([command[0], str(run.folder), *command[1:]]) == 1
        error = capsys.readouterr().err
        assert '1 verdicts of stub are not in the store' in error
        assert 'OC_JUDGE_MODEL=stub and OC_JUDGE_API_BASE' in error
        assert main(['reasoneval', 'run', str(run.folder), '--model', 'demo']) == 1
        place(monkeypatch, ours)
        assert main(['rescore', str(run.folder)]) == 0
        assert theirs.calls == 0
        assert ours.calls > 0
        assert 'sk-of-mine' not in json.dumps(dict(ours.headers))


def test_what_is_sent_is_nothing_that_a_file_says(
    run: SentRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A file of a prompt is not read, and fields of a request are not sent."""
    secret = tmp_path / 'secret.txt'
    secret.write_text('the password, {gold}, {answer}')
    assert main(['rescore', str(run.folder)]) == 0
    with JudgeServer() as server:
        place(monkeypatch, server)
        for more in ({'prompt': str(secret)}, {'extra_body': {'tools': ['shell']}}):
            run.change_result(judging={'mode': 'cascade', 'settings': {**JUDGED, **more}})
            assert main(['rescore', str(run.folder)]) == 1
        assert server.calls == 0
        settings = {**JUDGED, 'mode': 'rule', 'prompt': str(secret)}
        run.change_result(judging={'mode': 'rule', 'settings': settings})
        main(['rescore', str(run.folder), '--judge', 'llm'])
        assert 'the password' not in json.dumps(list(server.bodies))


def test_a_judged_run_is_rescored_where_its_judge_is(
    run: SentRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where no judge is named at all, if every verdict is in the store: nobody is asked."""
    with JudgeServer() as server:
        judged_elsewhere(run, server, monkeypatch)
        calls, before = server.calls, run.result()
        assert calls > 0
        assert main(['rescore', str(run.folder), '--tau', '1']) == 0
        assert run.result()['signature']['judge'] == before['signature']['judge']
        assert run.result()['judging']['ledger']['saved']['store'] == calls
        with monkeypatch.context() as here:
            place(here, server)
            assert main(['rescore', str(run.folder), '--tau', '0.5', '1']) == 0
        with monkeypatch.context() as here:
            place(here, server, model='another')  # at which this judge is not to be had
            assert main(['rescore', str(run.folder)]) == 0
        assert server.calls == calls
        (run.folder / 'verdicts.sqlite').unlink()
        assert main(['rescore', str(run.folder)]) == 1
        place(monkeypatch, server)
        assert main(['rescore', str(run.folder)]) == 0
        assert server.calls == 2 * calls


def test_verdicts_under_a_prompt_of_ones_own_are_found(
    run: SentRun, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By the signature; the file of the prompt, and what was sent besides, are not needed."""
    prompt = tmp_path / 'prompt.txt'
    prompt.write_text('Is {answer} the same as {gold}?')
    with JudgeServer(lambda text: r'\boxed{yes}') as server:
        settings = {'model': 'stub', 'api_base': server.url, 'prompt': str(prompt)}
        (tmp_path / 'judge.json').write_text(json.dumps({**settings, 'extra_body': {'seed': 1}}))
        assert main(['rescore', str(run.folder), '--judge', 'judge.json']) == 0
        calls, before = server.calls, run.result()
        prompt.unlink()
        for _ in range(2):  # the second time from what the first one recorded
            assert main(['rescore', str(run.folder), '--tau', '1']) == 0
            assert run.result()['signature']['judge'] == before['signature']['judge']
        assert server.calls == calls == 1


def test_no_model_of_steps_is_loaded_on_the_word_of_a_file(
    run: SentRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But that of the demonstration, and one that the environment names."""
    assert main(['reasoneval', 'run', str(run.folder), '--model', 'demo']) == 0
    assert main(['rescore', str(run.folder), '--tau', '1']) == 0
    recorded = run.result()['reasoning']
    assert recorded['settings'] == {'model': 'demo'}
    kwargs = {'dtype': 'float32', 'trust_remote_code': True}
    theirs = {'model': 'attacker/model', 'model_kwargs': kwargs}
    run.change_result(reasoning={**recorded, 'settings': theirs})
    assert main(['rescore', str(run.folder)]) == 1
    assert 'GPASSK_STEP_MODEL=attacker/model' in capsys.readouterr().err
    monkeypatch.setenv('GPASSK_STEP_MODEL', 'attacker/model')
    theirs['model_kwargs'] = {**kwargs, 'attn_implementation': 'attacker/kernel'}
    assert recorded_reasoning(theirs)['model_kwargs'] == {'dtype': 'float32'}


def test_a_judge_of_steps_is_asked_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the user says nothing, scores are those of the store."""
    judge = {'mode': 'llm', 'model': 'a', 'api_base': 'http://theirs/v1', 'max_tokens': 64}
    monkeypatch.delenv('OC_JUDGE_MODEL', raising=False)
    monkeypatch.delenv('OC_JUDGE_API_BASE', raising=False)
    found = recorded_reasoning({'judge': {**judge, 'api_key_env': 'MY_SECRET'}})['judge']
    assert {'api_base', 'api_key_env'}.isdisjoint(found)
    with pytest.raises(JudgeError, match='1 verdicts of a are not in the store'):
        make_judge(JudgeSettings.of(found)).ask([('key', 'prompt')], lambda *_: False, Ledger())
    monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://ours/v1')
    found = recorded_reasoning({'judge': judge})['judge']
    assert JudgeSettings.of(found).endpoints == ['http://ours/v1']
