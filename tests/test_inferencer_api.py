"""The inferencer on OpenCompass's API wrappers, against a local server."""

from __future__ import annotations

import copy
import hashlib
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import opencompass.models
import pytest
from tiny import PAPER, run, save_checkpoint

import opencompass_gpassk.inferencer
from opencompass_gpassk.inference import api
from opencompass_gpassk.inference.failures import InferenceStoppedError

CHAT = ['OpenAI', 'OpenAISDK', 'OpenAISDKStreaming', 'OpenAISDKRollout']
Reply = tuple[int, dict[str, Any]]


class Server:
    """An OpenAI-compatible server that answers by prompt and seed.

    Attributes:
        requests: The bodies it got.
        keys: The keys it was shown.
        reply: May answer differently; gets the body, returns None or (status, body).
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.reply: Callable[[dict[str, Any]], Reply | None] = lambda body: None
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                server.requests.append(body)
                server.keys.append(self.headers['Authorization'])
                status, answer = server.reply(body) or (200, server.answer(body))
                self.send_response(status)
                if body.get('stream') and status == 200:
                    self.send_header('Content-Type', 'text/event-stream')
                    parts = [json.dumps(part) for part in server.parts(answer)]
                    text = ''.join(f'data: {part}\n\n' for part in [*parts, '[DONE]'])
                else:
                    self.send_header('Content-Type', 'application/json')
                    text = json.dumps(answer)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self._http.server_address[1]}/v1/'
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    @staticmethod
    def answer(body: dict[str, Any], finish: str = 'stop', text: str | None = None) -> Any:
        if text is None:
            asked = body.get('messages') or body.get('input')
            text = hashlib.sha256(f'{asked}{body.get("seed")}'.encode()).hexdigest()[:9]
        if 'input' in body:
            return {
                'id': 'r',
                'object': 'response',
                'created_at': 0,
                'model': 'm',
                'status': 'completed' if finish == 'stop' else 'incomplete',
                'incomplete_details': None if finish == 'stop' else {'reason': finish},
                'output': [
                    {
                        'id': 'o',
                        'type': 'message',
                        'role': 'assistant',
                        'status': 'completed',
                        'content': [{'type': 'output_text', 'text': text, 'annotations': []}],
                    }
                ],
                'usage': {'input_tokens': 1, 'output_tokens': 17, 'total_tokens': 18},
            }
        message = {'role': 'assistant', 'content': text}
        return {
            'id': 'c',
            'object': 'chat.completion',
            'created': 0,
            'model': 'm',
            'choices': [{'index': 0, 'finish_reason': finish, 'message': message}],
            'usage': {'prompt_tokens': 1, 'completion_tokens': 17, 'total_tokens': 18},
        }

    @staticmethod
    def parts(answer: Any) -> list[Any]:
        choice = answer['choices'][0]
        chunk = {**answer, 'object': 'chat.completion.chunk'}
        chunk.pop('usage')
        return [
            {**chunk, 'choices': [{'index': 0, 'delta': choice['message'], 'finish_reason': None}]},
            {
                **chunk,
                'choices': [{'index': 0, 'delta': {}, 'finish_reason': choice['finish_reason']}],
            },
        ]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of its own for each test."""
    one = Server()
    yield one
    one.close()


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint for its tokenizer, which the wrappers ask for."""
    return save_checkpoint(tmp_path_factory.mktemp('checkpoint'))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the inferencer warns of."""
    messages: list[str] = []
    logger = SimpleNamespace(warning=messages.append, info=lambda text: None)
    monkeypatch.setattr(opencompass_gpassk.inferencer, 'get_logger', lambda: logger)
    return messages


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between attempts, which nobody waits for."""
    seconds: list[float] = []
    monkeypatch.setattr(api, 'time', SimpleNamespace(sleep=seconds.append))
    return seconds


def build(name: str, server: Server, checkpoint: Path, **settings: Any) -> Any:
    """Return one of OpenCompass's wrappers, pointed at the server."""
    base = server.url + 'chat/completions' if name == 'OpenAI' else server.url
    model = getattr(opencompass.models, name)(
        path='some-model',
        key=settings.pop('key', 'none'),
        openai_api_base=base,
        tokenizer_path=str(checkpoint),
        query_per_second=10000,
        max_seq_len=4096,
        **settings,
    )
    if hasattr(model, 'openai_client'):
        model.openai_client.max_retries = 0
    return model


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
        ('OpenAISDKStreaming', True, None),
        ('OpenAISDKRollout', True, 17),
        ('OpenAISDKResponse', True, 17),
    ],
)
def test_truncation_is_told_where_the_wrapper_lets_it_be_seen(
    name: str,
    truncated: bool | None,
    tokens: int | None,
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


def test_response_that_is_all_hidden_thinking_is_truncated_not_lost(
    server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """The wrapper takes it for a failure; it is an answer that ran into the limit."""
    server.reply = lambda body: (200, server.answer(body, 'length', ''))
    record = run(build('OpenAISDK', server, checkpoint), tmp_path)[0]
    assert 'lost' not in record
    assert (record['prediction'], record['truncated'], record['num_tokens']) == ('', True, 17)


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
    assert records[-1]['sampling'] == {'temperature': 1.0, 'top_p': 0.8}
    assert len(said) == 2
    assert all(any(word in text for text in said) for word in ('top_k', 'repetition_penalty'))


def test_model_that_refuses_a_temperature_is_not_called_greedy(
    server: Server, checkpoint: Path, tmp_path: Path, said: list[str]
) -> None:
    """Reasoning models have a temperature of their own."""
    server.reply = refuse('temperature')
    model = build('OpenAISDK', server, checkpoint)
    records = run(model, tmp_path, sampling='greedy')
    assert records[-1]['sampling'] == {'model': True}
    assert 'NOT' in said[0]


@pytest.mark.parametrize(
    ('path', 'sent'), [('gpt-4o', {'temperature', 'top_p', 'seed'}), ('o3-mini', {'seed'})]
)
def test_openais_own_endpoint_is_known(
    path: str, sent: set[str], server: Server, checkpoint: Path, tmp_path: Path, said: list[str]
) -> None:
    """What it doesn't know isn't sent in the first place."""
    model = build('OpenAISDK', server, checkpoint)
    model.openai_api_base, model.path = 'https://api.openai.com/v1', path
    run(model, tmp_path)
    assert {name for body in server.requests for name in body if name in {*PAPER, 'seed'}} == sent
    assert len(said) == len({*PAPER, 'seed'} - sent)


@pytest.mark.parametrize('name', [*CHAT, 'OpenAISDKResponse'])
def test_request_that_fails_for_good_is_a_lost_trial(
    name: str, server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """Also with OpenCompass's plain HTTP wrapper, which would try for ever."""

    def reply(body: dict[str, Any]) -> Reply | None:
        if '2+2' in str(body):
            return 400, {'error': {'message': 'The prompt is against the rules', 'code': 'x'}}
        return None

    server.reply = reply
    records = run(build(name, server, checkpoint), tmp_path, batch_size=4)
    lost = [record for record in records if 'lost' in record]
    assert [record['problem_id'] for record in lost] == ['p/2'] * 3
    assert all('against the rules' in r['lost'] and r['prediction'] == '' for r in lost)


@pytest.mark.parametrize('name', CHAT)
def test_wrong_key_stops_the_run(
    name: str, server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """The error says what the API said, and not all rows are tried."""
    server.reply = lambda body: (401, {'error': {'message': 'Incorrect API key', 'code': 'k'}})
    model = build(name, server, checkpoint)
    with pytest.raises(InferenceStoppedError, match='Incorrect API key'):
        run(model, tmp_path, replicas=100, batch_size=4, max_failures=6)
    # 6 failures, 3 that were under way with them, 4 that were begun since; 2 attempts each.
    assert len(server.requests) <= 2 * (6 + 3 + 4)
    assert not (tmp_path / 'problems.json').exists()


def test_busy_server_is_waited_for(
    server: Server, checkpoint: Path, tmp_path: Path, pauses: list[float]
) -> None:
    """The plain HTTP wrapper hammers a busy server without a pause."""
    answers = [503] * 5

    def reply(body: dict[str, Any]) -> Reply | None:
        return (answers.pop(), {'error': 'busy'}) if answers else None

    server.reply = reply
    records = run(build('OpenAI', server, checkpoint), tmp_path, batch_size=1)
    assert not any('lost' in record for record in records)
    assert pauses == [2.0, 4.0, 8.0, 16.0]


def test_lost_requests_are_tried_again_at_the_end(
    server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """An outage in the middle of a run costs no trials."""
    count = [0]

    def reply(body: dict[str, Any]) -> Reply | None:
        count[0] += 1
        return (500, {'error': 'down'}) if 4 < count[0] <= 10 else None

    server.reply = reply
    model = build('OpenAISDK', server, checkpoint)
    records = run(model, tmp_path, batch_size=1)
    assert not any('lost' in record for record in records)
    server.reply = lambda body: None
    assert run(model, tmp_path, 'whole') == records


def test_keys_are_still_taken_in_turn(server: Server, checkpoint: Path, tmp_path: Path) -> None:
    """A copy of the wrapper for each request must not always start with the same key."""
    run(build('OpenAI', server, checkpoint, key=['a', 'b', 'c']), tmp_path)
    assert sorted(server.keys.count(f'Bearer {key}') for key in 'abc') == [4, 4, 4]


def test_requests_run_beside_each_other(server: Server, checkpoint: Path, tmp_path: Path) -> None:
    """batch_size requests are under way at once: four of them meet here."""
    meeting = threading.Barrier(4, timeout=20)

    def reply(body: dict[str, Any]) -> None:
        meeting.wait()

    server.reply = reply
    records = run(build('OpenAISDK', server, checkpoint, max_workers=9), tmp_path, batch_size=4)
    assert not any('lost' in record for record in records)


def test_resumed_requests_are_the_missing_ones(
    server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """What is saved isn't asked, and paid for, again."""
    model = build('OpenAISDK', server, checkpoint)
    whole = run(model, tmp_path, 'whole')
    server.requests.clear()
    server.reply = lambda body: (
        (401, {'error': {'message': 'quota'}}) if len(server.requests) > 5 else None
    )
    with pytest.raises(InferenceStoppedError):
        run(model, tmp_path, 'part', batch_size=1, max_failures=2)
    server.requests.clear()
    server.reply = lambda body: None
    assert run(model, tmp_path, 'part', batch_size=3) == whole
    assert len(server.requests) == 7


class Client:
    """LMDeploy's API client; the real one puts what it doesn't name into ``kwargs``."""

    def __init__(self, address: str, key: str | None) -> None:
        self.calls: list[dict[str, Any]] = []
        self.broken = False

    def completions_v1(
        self,
        model: str,
        prompt: str,
        temperature: float = 0.7,
        max_tokens: int = 16,
        max_completion_tokens: int = 16,
        top_p: float = 1.0,
        top_k: int = 40,
        repetition_penalty: float = 1.0,
        session_id: int = -1,
        **kwargs: Any,
    ) -> Iterator[Any]:
        self.calls.append({**locals(), **kwargs})
        if self.broken:
            yield {'object': 'error', 'message': 'The session_id is occupied.'}
            return
        text = hashlib.sha256(f'{prompt}{kwargs.get("seed")}'.encode()).hexdigest()[:9]
        yield {
            'choices': [{'text': text, 'finish_reason': 'length'}],
            'usage': {'completion_tokens': 12},
        }


@pytest.fixture
def turbomind(monkeypatch: pytest.MonkeyPatch) -> Any:
    """OpenCompass's wrapper of LMDeploy's server with a stub of LMDeploy's client."""
    for name in ('lmdeploy', 'lmdeploy.serve', 'lmdeploy.serve.openai'):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    module = ModuleType('lmdeploy.serve.openai.api_client')
    module.APIClient = Client
    monkeypatch.setitem(sys.modules, module.__name__, module)
    from opencompass.models.turbomind_api import TurboMindAPIModel

    return TurboMindAPIModel(
        model_name='m', gen_config={'random_seed': 42, 'top_k': 1, 'ignore_eos': True}
    )


def test_lmdeploys_server_gets_the_protocol(
    turbomind: Any, tmp_path: Path, said: list[str]
) -> None:
    """Each request has its seed, though whether LMDeploy's client hands it on isn't certain."""
    before, own = dict(turbomind.__dict__), dict(turbomind.gen_config)
    records = run(turbomind, tmp_path, 'sampled', batch_size=3)
    sampled = list(turbomind.chatbot.calls)
    for call in sampled:
        assert {key: call[key] for key in PAPER} == PAPER
        assert call['ignore_eos'] is True
    assert len({call['random_seed'] for call in sampled}) == 12
    assert len({call['seed'] for call in sampled}) == 12
    assert [text for text in said if 'seed' in text] == said[:1]
    assert {(r['truncated'], r['num_tokens']) for r in records} == {(True, 12)}
    turbomind.chatbot.calls.clear()
    run(turbomind, tmp_path, 'greedy', sampling='greedy')
    for call in turbomind.chatbot.calls:
        assert (call['temperature'], call['top_k'], call['repetition_penalty']) == (0.0, 1, 1.0)
        assert 'random_seed' not in call
    assert {c['max_tokens'] for c in sampled + turbomind.chatbot.calls} == {12}
    assert turbomind.__dict__ == before
    assert turbomind.gen_config == own


def test_error_of_lmdeploys_server_is_a_reason(turbomind: Any, tmp_path: Path) -> None:
    """The client hands errors on as if they were answers."""
    turbomind.chatbot.broken = True
    with pytest.raises(InferenceStoppedError, match='session_id is occupied'):
        run(turbomind, tmp_path)


def test_litellm_gets_the_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM's wrapper takes parameters as extra_body and drops what a provider lacks."""
    calls: list[dict[str, Any]] = []

    def completion(**query: Any) -> Any:
        calls.append(query)
        return SimpleNamespace(choices=[SimpleNamespace(message={'content': 'x'})])

    monkeypatch.setitem(sys.modules, 'litellm', SimpleNamespace(completion=completion))
    from opencompass.models.litellm_api import LiteLLMAPI

    model = LiteLLMAPI('p/m', temperature=0.2, extra_body={'seed': 1, 'a': 2}, query_per_second=99)
    before = dict(model.__dict__)
    run(model, tmp_path)
    assert len({call['seed'] for call in calls}) == 12
    for call in calls:
        assert {key: call[key] for key in PAPER} == PAPER
        assert (call['a'], call['max_tokens']) == (2, 12)
    assert model.__dict__ == before
