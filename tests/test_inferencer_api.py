"""What OpenCompass's API wrappers send and make of the answer, against a local server."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import CHAT, Reply, Server, build
from tiny import PAPER, run

from opencompass_gpassk.inference import api_wrappers, openai_compatible


@pytest.mark.parametrize('name', [*CHAT, 'OpenAISDKResponse'])
def test_request_has_the_protocol_and_its_own_seed(
    name: str, server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """Fixed settings in the model's config don't win, others stay; the wrapper too."""
    own: dict[str, Any] = {'extra_body': {'seed': 1, 'top_k': 1, 'chat_template_kwargs': {'a': 1}}}
    if name != 'OpenAI':
        own['openai_extra_kwargs'] = {'seed': 4, 'top_p': 0.1, 'user': 'me', 'max_tokens': 3}
    model = build(name, server, checkpoint, temperature=0.01, **own)
    if name == 'OpenAISDKResponse':
        model.openai_extra_kwargs.pop('max_tokens')  # which that API doesn't have
    before = dict(model.__dict__)
    kept = copy.deepcopy((model.extra_body, getattr(model, 'openai_extra_kwargs', None)))
    records = run(model, tmp_path, 'sampled', batch_size=4)
    sampled = list(server.requests)
    assert len(sampled) == len({body['seed'] for body in sampled}) == 12
    assert len({record['prediction'] for record in records}) == 12
    for body in sampled:
        assert {key: body[key] for key in PAPER} == PAPER
    assert run(model, tmp_path, 'again', batch_size=1) == records
    server.requests.clear()
    greedy = run(model, tmp_path, 'greedy', sampling='greedy', batch_size=4)
    for body in server.requests:
        assert (body['temperature'], body['top_k'], body['repetition_penalty']) == (0.0, 1, 1.0)
        assert 'seed' not in body
    for body in sampled + server.requests:
        assert body['chat_template_kwargs'] == {'a': 1}
        assert body.get('max_tokens', body.get('max_output_tokens')) == 12
        assert name == 'OpenAI' or body['user'] == 'me'
    assert greedy[0]['sampling'] == {'greedy': True}
    now = dict(model.__dict__)
    assert now.pop('token_bucket') is before.pop('token_bucket')
    assert now == before
    assert (model.extra_body, getattr(model, 'openai_extra_kwargs', None)) == kept


@pytest.mark.parametrize(
    ('name', 'truncated', 'tokens'),
    [
        ('OpenAI', True, 17),
        ('OpenAISDK', True, 17),
        ('OpenAISDKStreaming', True, 17),
        ('OpenAISDKRollout', True, 17),
        ('OpenAISDKResponse', True, 17),
    ],
)
def test_truncation_is_told_where_the_wrapper_lets_it_be_seen(
    name: str,
    truncated: bool,
    tokens: int,
    server: Server,
    checkpoint: Path,
    tmp_path: Path,
) -> None:
    """What the API says of a response's end gets into the record."""
    finish = 'max_output_tokens' if name == 'OpenAISDKResponse' else 'length'
    server.reply = lambda body: (200, server.answer(body, finish))
    model = build(name, server, checkpoint)
    record = run(model, tmp_path)[0]
    assert (record['truncated'], record['num_tokens']) == (truncated, tokens)
    server.reply = lambda body: None
    assert run(model, tmp_path, 'other')[0]['truncated'] is False


@pytest.mark.parametrize('name', [*CHAT, 'OpenAISDKResponse'])
def test_stop_strings_are_sent_or_recorded_as_not_applied(
    name: str, server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """The newer API of OpenAI has none."""
    model = build(name, server, checkpoint)
    records = run(model, tmp_path, sampling='greedy', stopping_criteria=['Problem:'])
    stops = {str(body.get('stop')) for body in server.requests}
    if name == 'OpenAISDKResponse':
        assert (stops, records[0]['sampling']['not applied']) == ({'None'}, 'stop')
    else:
        assert (stops, records[0]['sampling']['stop']) == ({"['Problem:']"}, 'Problem:')


def refuse(*names: str) -> Callable[[dict[str, Any]], Reply | None]:
    """Return a reply that refuses parameters as OpenAI's endpoint does."""

    def reply(body: dict[str, Any]) -> Reply | None:
        for name in names:
            if name in body:
                text = f'Unrecognized request argument supplied: {name}'
                return 400, {'error': {'message': text, 'type': 'invalid_request_error'}}
        return None

    return reply


@pytest.mark.parametrize('name', CHAT)
def test_parameters_that_an_api_refuses_are_left_out_with_a_note(
    name: str, server: Server, checkpoint: Path, tmp_path: Path, said: list[str]
) -> None:
    """One note a parameter, no lost trial, and the record says what was applied."""
    server.reply = refuse('top_k', 'repetition_penalty')
    records = run(build(name, server, checkpoint), tmp_path, batch_size=4)
    assert not any('lost' in record for record in records)
    assert records[-1]['sampling'] == {
        'temperature': 1.0,
        'top_p': 0.8,
        'not applied': 'top_k, repetition_penalty',
    }
    assert len(said) == 2
    assert all(any(word in text for text in said) for word in ('top_k', 'repetition_penalty'))


def test_model_that_refuses_a_temperature_is_not_called_greedy(
    server: Server, checkpoint: Path, tmp_path: Path, said: list[str]
) -> None:
    """Reasoning models have a temperature of their own."""
    server.reply = refuse('temperature')
    model = build('OpenAISDK', server, checkpoint)
    records = run(model, tmp_path, sampling='greedy')
    assert records[-1]['sampling'] == {'not applied': 'greedy'}
    assert 'NOT' in said[0]


@pytest.mark.parametrize(
    ('path', 'sent'), [('gpt-4o', {'temperature', 'top_p', 'seed'}), ('o3-mini', {'seed'})]
)
def test_openais_own_endpoint_is_known(
    path: str,
    sent: set[str],
    server: Server,
    checkpoint: Path,
    tmp_path: Path,
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it doesn't know isn't sent in the first place."""
    monkeypatch.setattr(openai_compatible, 'OFFICIAL', ('127.0.0.1',))
    model = build('OpenAISDK', server, checkpoint)
    model.path = path
    run(model, tmp_path)
    assert {name for body in server.requests for name in body if name in {*PAPER, 'seed'}} == sent
    assert len(said) == len({*PAPER, 'seed', 'min_p'} - sent)


def test_a_key_without_quota_leaves_the_work_to_the_others(
    server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """As OpenCompass's wrapper does; only the last one ends the run."""
    spent = {'error': {'code': 'insufficient_quota', 'message': 'You exceeded your quota'}}
    server.reply = lambda body: (429, spent) if server.keys[-1] == 'Bearer key-a' else None
    records = run(build('OpenAI', server, checkpoint, key=['key-a', 'key-b']), tmp_path)
    assert not any('lost' in record for record in records)


def test_requests_run_beside_each_other(server: Server, checkpoint: Path, tmp_path: Path) -> None:
    """As many as the wrapper has workers: four of them meet here."""
    meeting = threading.Barrier(4, timeout=20)

    def reply(body: dict[str, Any]) -> None:
        meeting.wait()

    server.reply = reply
    records = run(build('OpenAISDK', server, checkpoint, max_workers=4), tmp_path, batch_size=1)
    assert not any('lost' in record for record in records)


@pytest.mark.parametrize('name', ['OpenAI', 'OpenAISDK'])
def test_max_seq_len_shortens_responses(
    name: str, server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """A data set may ask for more tokens than the model has room for, as the wrappers allow."""
    run(build(name, server, checkpoint), tmp_path, max_out_len=8192)
    assert all(3000 < body['max_tokens'] < 4096 for body in server.requests)


@pytest.mark.parametrize(
    ('name', 'setting'),
    [
        ('OpenAI', {'url': '{}?api-version=1'}),
        ('OpenAI', {'orgs': ['mine']}),
        ('OpenAISDK', {'http_client_cfg': {'verify': False}}),
    ],
)
def test_a_wrapper_with_http_settings_of_its_own_asks_by_itself(
    name: str, setting: dict[str, Any], server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """Such as Azure's address: our client doesn't know them, and existing configs go on working."""
    model = build(name, server, checkpoint)
    for key, value in setting.items():
        setattr(model, key, value.format(model.url) if key == 'url' else value)
    records = run(model, tmp_path)
    assert not any('lost' in record for record in records)
    assert len({body['seed'] for body in server.requests}) == 12
    for body in server.requests:
        assert {key: body[key] for key in PAPER} == PAPER
    assert {record['truncated'] for record in records} == {None if name == 'OpenAI' else False}


def test_a_wrapper_that_would_ask_for_ever_is_stopped(
    server: Server, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenCompass's plain one repeats every request that is refused."""
    monkeypatch.setattr(api_wrappers, 'LONGEST_PAUSE', 0.0)
    server.reply = lambda body: (400, {'error': 'no'}) if '2+2' in str(body) else None
    model = build('OpenAI', server, checkpoint)
    model.orgs = ['mine']
    records = run(model, tmp_path)
    assert {record['problem_id'] for record in records if 'lost' in record} == {'p/2'}
