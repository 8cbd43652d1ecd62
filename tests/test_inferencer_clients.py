"""OpenCompass's wrappers of APIs with a client library of their own: LMDeploy's and LiteLLM."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from chat_server import Server
from opencompass.models import OpenAISDK
from tiny import PAPER, run


class Client:
    """LMDeploy's API client, of which only the key is needed."""

    def __init__(self, address: str, key: str | None) -> None:
        self.headers = {'Authorization': f'Bearer {key}'} if key else {}


@pytest.fixture
def turbomind(server: Server, monkeypatch: pytest.MonkeyPatch) -> Any:
    """OpenCompass's wrapper of LMDeploy's server with a stub of LMDeploy's client."""
    for name in ('lmdeploy', 'lmdeploy.serve', 'lmdeploy.serve.openai'):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    module = ModuleType('lmdeploy.serve.openai.api_client')
    module.APIClient = Client
    monkeypatch.setitem(sys.modules, module.__name__, module)
    from opencompass.models.turbomind_api import TurboMindAPIModel

    return TurboMindAPIModel(
        model_name='m',
        api_addr=server.url.removesuffix('/v1/'),
        api_key='sk-turbo',
        end_str='<end>',
        gen_config={'random_seed': 42, 'top_k': 1, 'ignore_eos': True},
    )


def completion(body: dict[str, Any]) -> Any:
    """Continue a text, as LMDeploy's server does without chat."""
    text = hashlib.sha256(f'{body["prompt"]}{body.get("seed")}'.encode()).hexdigest()[:9]
    choice = {'text': f'{text}<end> and so on', 'finish_reason': 'length'}
    usage = {'completion_tokens': 12}
    return 200, {'object': 'text_completion', 'choices': [choice], 'usage': usage}


def test_lmdeploys_server_gets_the_protocol(turbomind: Any, server: Server, tmp_path: Path) -> None:
    """Each request has its seed, and other settings of the wrapper stay."""
    server.reply = completion
    before, own = dict(turbomind.__dict__), dict(turbomind.gen_config)
    records = run(turbomind, tmp_path, 'sampled', batch_size=3)
    sampled = list(server.requests)
    for body in sampled:
        assert {key: body[key] for key in PAPER} == PAPER
        assert body['ignore_eos'] is True
    assert len({body['seed'] for body in sampled}) == len({r['prediction'] for r in records}) == 12
    assert {(r['truncated'], r['num_tokens'], len(r['prediction'])) for r in records} == {
        (True, 12, 9)
    }
    assert set(server.keys) == {'Bearer sk-turbo'}
    server.requests.clear()
    run(turbomind, tmp_path, 'greedy', sampling='greedy')
    for body in server.requests:
        assert (body['temperature'], body['top_k'], body['repetition_penalty']) == (0.0, 1, 1.0)
        assert not {'seed', 'random_seed'} & set(body)
    assert {body['max_tokens'] for body in sampled + server.requests} == {12}
    assert turbomind.__dict__ == before
    assert turbomind.gen_config == own


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


class Proxied(OpenAISDK):
    """A class of a user's own, which asks in its own way."""

    def _generate(self, input: Any, max_out_len: int, temperature: float) -> str:
        return json.dumps({**self.extra_body, 'temperature': self.temperature})


def test_a_class_of_ones_own_asks_in_its_own_way(
    server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """It is derived from one of OpenCompass's, and gets the protocol through its settings."""
    model = Proxied('m', key='none', openai_api_base=server.url, tokenizer_path=str(checkpoint))
    sent = [json.loads(record['prediction']) for record in run(model, tmp_path)]
    assert not server.requests
    assert len({one['seed'] for one in sent}) == 12
    for one in sent:
        assert {key: one[key] for key in PAPER} == PAPER
