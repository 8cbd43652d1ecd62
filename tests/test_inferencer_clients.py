"""OpenCompass's wrappers of APIs with a client library of their own: LMDeploy's and LiteLLM."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tiny import PAPER, run

from opencompass_gpassk.inference.request_loop import InferenceStoppedError


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
