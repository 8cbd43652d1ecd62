"""Settings of judges: from configs, files and the environment, never with a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.judging.pipeline import Pipeline
from opencompass_gpassk.judging.settings import JudgeSettings, configured, read_settings


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of whoever runs the tests plays no part."""
    for name in ('OC_JUDGE_MODEL', 'OC_JUDGE_API_BASE', 'OC_JUDGE_API_KEY', 'GPASSK_JUDGE'):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ('config', 'message'),
    [
        ('maybe', "mode of judge is 'maybe'; it should be 'rule', 'llm' or 'cascade'"),
        ({'modle': 'x'}, "no setting 'modle'"),
        ({'modell': 'x'}, "did you mean 'model'"),
        ({'api_key': 'sk-1'}, 'a key must not stand in a config'),
        ({'extra_body': {'auth': {'api_key': 'sk-1'}}}, "judge holds 'api_key'"),
        ({'model': {'type': 'OpenAISDK', 'key': 'sk-1'}}, "judge holds 'key'"),
        ({'model': {'type': 'OpenAISDK', 'key': ['ENV', 'sk-1']}}, "judge holds 'key'"),
        ({'api_key_env': 'sk-1'}, 'not the name of an environment variable'),
        ({'timeout': '5'}, 'timeout of judge is .5.; it should be a valid number'),
        ({'api_base': 3}, 'api_base of judge is 3; it should be a valid string'),
        ({'tail_length': 2.5}, 'tail_length of judge is 2.5'),
        (
            {'recheck_different': 'no'},
            'recheck_different of judge is .no.; it should be a valid boolean',
        ),
        ({'max_tokens': True}, 'max_tokens of judge is True'),
        ({'model': {'type': 'X'}}, 'model of judge is {.*; it should be a valid string'),
        ({'max_tokens': 0}, 'max_tokens of judge is 0'),
        ({'temperature': -1}, 'temperature of judge is -1'),
        ({'deadline': 0}, 'deadline of judge is 0'),
        ({'candidate': 'essay'}, "candidate of judge is 'essay'"),
        ({'menu': 'xverify'}, 'prompt=PATH'),
        ({'menu': 'numbers'}, "menu of judge is 'numbers'; it should be 'boxed', 'compa"),
        ({'undecided': 'incorrect'}, "undecided of judge is 'incorrect', but a judge is asked"),
        ({'mode': 'rule', 'undecided': 'wrong'}, "undecided of judge is 'wrong'; it should be"),
        ({'mode': 'rule', 'match': 'exact', 'undecided': 'incorrect'}, "match 'exact' decides"),
        ({'price_per_mtok': [1, 2, 3]}, r'price_per_mtok of judge is \[1, 2, 3\]'),
        (3, 'judge is 3; give settings such as'),
    ],
)
def test_a_wrong_setting_is_named(config: Any, message: str) -> None:
    """With what to do about it, and without the key."""
    with pytest.raises(ValueError, match=message) as error:
        JudgeSettings.of(config)
    assert 'sk-1' not in str(error.value)


def test_the_environment_names_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several endpoints are separated by commas; a config outranks it."""
    settings = JudgeSettings.of('cascade')
    with pytest.raises(ValueError, match=r'OC_JUDGE_MODEL.*OC_JUDGE_API_BASE'):
        _ = settings.model_name
    with pytest.raises(ValueError, match='OC_JUDGE_API_BASE'):
        _ = settings.endpoints
    monkeypatch.setenv('OC_JUDGE_MODEL', 'judge-72b')
    monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://a/v1, http://b/v1')
    monkeypatch.setenv('OC_JUDGE_API_KEY', 'sk-1')
    assert settings.model_name == 'judge-72b'
    assert settings.endpoints == ['http://a/v1', 'http://b/v1']
    told = settings.resolved()
    assert told == {'model': 'judge-72b', 'api_base': 'http://a/v1, http://b/v1'}
    assert JudgeSettings.of(told).endpoints == settings.endpoints
    own = JudgeSettings.of({'model': 'mine', 'api_base': 'http://c/v1', 'api_key_env': 'MY_KEY'})
    assert (own.model_name, own.endpoints) == ('mine', ['http://c/v1'])


def test_configs_are_set_up_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """By rule unless GPASSK_JUDGE says otherwise; a judge that isn't named is an error at once."""
    assert configured() == 'rule'
    monkeypatch.setenv('GPASSK_JUDGE', 'llm')
    with pytest.raises(ValueError, match='OC_JUDGE_MODEL'):
        configured()
    monkeypatch.setenv('OC_JUDGE_MODEL', 'judge-72b')
    monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://a/v1')
    assert configured() == {'mode': 'llm', 'model': 'judge-72b', 'api_base': ['http://a/v1']}
    told = configured('cascade', max_tokens=64)
    assert told == {
        'mode': 'llm',  # the environment outranks the config's mode
        'max_tokens': 64,
        'model': 'judge-72b',
        'api_base': ['http://a/v1'],
    }
    for settings, message in (
        ({'max_token': 64}, "did you mean 'max_tokens'"),
        ({'prompt': 'opencompas'}, 'opencompas cannot be read'),
        ({'api_base': 'http://me:secret@a/v1'}, 'api_base is no URL'),
    ):
        with pytest.raises(ValueError, match=message) as error:
            configured(**settings)
        assert 'secret' not in str(error.value)
    monkeypatch.setenv('GPASSK_MATCH', 'exact')
    with pytest.raises(ValueError, match="'exact', but in mode 'llm'"):
        configured()
    monkeypatch.setenv('GPASSK_JUDGE', 'rule')
    assert configured() == {'mode': 'rule', 'match': 'exact'}
    assert read_settings('rule').match == 'exact'
    with pytest.raises(ValueError, match="match 'exact' decides"):
        configured(undecided='incorrect')
    monkeypatch.setenv('GPASSK_MATCH', 'loose')
    with pytest.raises(ValueError, match="GPASSK_MATCH is 'loose'"):
        configured()
    monkeypatch.delenv('GPASSK_MATCH')
    monkeypatch.setenv('GPASSK_JUDGE', 'oracle')
    with pytest.raises(ValueError, match="GPASSK_JUDGE is 'oracle'"):
        configured()


def test_equal_settings_are_one_judge() -> None:
    """However a number is written."""
    assert JudgeSettings.of({'temperature': 0, 'timeout': 600}) == JudgeSettings()
    assert repr(JudgeSettings.of({'temperature': 0}).temperature) == '0.0'


@pytest.mark.parametrize(
    ('config', 'signature'),
    [
        ({'mode': 'rule', 'match': 'exact'}, 'rule:exact'),
        ({'model': 'm', 'api_base': 'http://h/v1'}, 'cascade:m:4e427af7'),
        (
            {'mode': 'llm', 'model': 'm', 'api_base': 'http://h/v1', 'extra_body': {'seed': 0}},
            'llm:m:c8b2716b',
        ),
    ],
)
def test_stored_verdicts_are_found_again(config: dict[str, Any], signature: str) -> None:
    """The names of judges, under which verdicts are stored, and their settings stay."""
    settings = JudgeSettings.of(config)
    assert Pipeline(settings).signature == signature
    assert settings.as_dict() == config


def test_settings_are_read_from_a_file(tmp_path: Path) -> None:
    """Errors name it."""
    path = tmp_path / 'judge.json'
    path.write_text(json.dumps({'model': 'm', 'price_per_mtok': [0.5, 2]}))
    assert read_settings(str(path)) == JudgeSettings(model='m', price_per_mtok=[0.5, 2])
    assert JudgeSettings.of(read_settings(str(path)).as_dict()) == read_settings(str(path))
    assert read_settings('llm') == JudgeSettings(mode='llm')
    for text, message in (('{', 'line 1'), ('[]', 'dictionary'), ('{"x": 1}', "'x'")):
        path.write_text(text)
        with pytest.raises(ValueError, match=rf'judge\.json: .*{message}'):
            read_settings(str(path))
    with pytest.raises(ValueError, match='neither rule, llm, cascade nor a JSON file'):
        read_settings('none.json')
