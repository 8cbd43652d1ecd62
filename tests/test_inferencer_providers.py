"""Which of OpenCompass's wrappers send the sampling protocol, and what their requests hold."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import sys
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import opencompass.models
import pytest
import requests
from chat_server import Server
from eval_task import OurSums, config, data_set, evaluate
from opencompass.models import DeepseekAPI, UniGPT
from opencompass.models.base import BaseModel
from opencompass.models.base_api import BaseAPIModel
from opencompass.tasks import OpenICLInferTask
from tiny import PAPER, run

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.inference.backend import UnknownBackend
from opencompass_gpassk.inference.choose_backend import backend_class
from opencompass_gpassk.inference.provider_wrappers import PROVIDERS, ProviderBackend

DOCS = Path(__file__).parents[1] / 'docs/settings.md'
UPSTREAM = 'opencompass.models.'
HTTP = (
    *('AI360GPT', 'ERNIEBot', 'BailingAPI', 'BlueLMAPI', 'Gemini', 'LightllmAPI', 'Rendu'),
    *('SenseTime', 'TeleChat', 'TeleChatStream', 'UniGPT', 'Yayi'),
)
SDK = ('ClaudeSDK', 'Qwen')
FIXED = {'Yayi': {'top_p': 1.0, 'top_k': -1, 'do_sample': True}}  # what the wrapper always sends
SAMPLING = {*PAPER, 'seed', 'do_sample'}


def taken(name: str) -> tuple[str, ...]:
    """Return what a provider's wrapper sends."""
    return next(one.names for key, one in PROVIDERS.items() if f'.{key}'.endswith(f'.{name}'))


def listed() -> dict[str, tuple[set[str], bool]]:
    """Return what the docs say of each wrapper: what it sends, and whether a test sees it."""
    found: dict[str, tuple[set[str], bool]] = {}
    table = DOCS.read_text('utf-8').partition('<!-- wrappers -->')[2].partition('\n\n')[0]
    for line in table.splitlines()[3:]:
        sent, *columns = line.strip('|').split('|')
        names = set(re.findall(r'`(\w+)`', sent))
        for column, seen in zip(columns, (True, False), strict=True):
            for wrapper in re.findall(r'`([\w.]+)`', column):
                assert wrapper not in found
                found[wrapper] = names, seen
    return found


def families(kind: type) -> Iterator[type]:
    """Yield all classes derived from one."""
    for one in kind.__subclasses__():
        yield one
        yield from families(one)


def test_the_docs_list_all_wrappers_of_the_installed_opencompass() -> None:
    """Each stands there once, with the parameters that its backend sends."""
    for module in pkgutil.walk_packages(opencompass.models.__path__, UPSTREAM):
        if not module.name.endswith('postprocessors'):
            importlib.import_module(module.name)
    expected = {}
    for wrapper in set(families(BaseModel)) - {BaseAPIModel}:
        if not wrapper.__module__.startswith(UPSTREAM):
            continue
        name = wrapper.__name__
        if name == 'Doubao':  # there are two
            name = f'{wrapper.__module__.rpartition(".")[2]}.{name}'
        backend = backend_class(wrapper)
        sent = {*PAPER, 'seed'}
        if backend is UnknownBackend:
            sent = set()
        elif backend is ProviderBackend:
            sent = set(taken(name)) - {'do_sample'}
        expected[name] = sent
    found = listed()
    assert {name: sent for name, (sent, _) in found.items()} == expected
    seen = {name for name, (_, by_test) in found.items() if by_test}
    assert seen & {key.rpartition('.')[2] for key in PROVIDERS} == {*HTTP, *SDK}


def build(name: str) -> Any:
    """Return one of OpenCompass's wrappers, with some text for each setting that it needs."""
    wrapper = getattr(opencompass.models, name)
    known = signature(wrapper).parameters
    settings: dict[str, Any] = {
        key: 'http://127.0.0.1:9'
        for key, one in known.items()
        if one.default is one.empty or key == 'key'
    }
    if 'key' in settings:
        settings['key'] = 'id&&secret'
    fast = {'query_per_second': 1000, 'rate_per_worker': 1000}
    settings |= {key: value for key, value in fast.items() if key in known}
    if 'generation_kwargs' in known:
        settings['generation_kwargs'] = {'temperature': 0.01, 'seed': 3, 'max_new_tokens': 9}
    if name == 'SenseTime':
        settings['parameters'] = {'stream': False, 'temperature': 0.01}
    return wrapper(**settings)


def check(name: str, sent: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
    """Compare requests and records of sampled responses with what a wrapper is listed to send."""
    names = taken(name)
    assert len(sent) == len(records) == 2
    for body in sent:
        fields = {
            key: value for key, value in body.items() if key in SAMPLING and value is not None
        }
        assert fields.pop('seed', None) == body.get('seed')
        expected = {key: PAPER.get(key, True) for key in names if key != 'seed'}
        assert fields == FIXED.get(name, {}) | expected
    assert len({body.get('seed') for body in sent}) == (2 if 'seed' in names else 1)
    missing = ', '.join(key for key in PAPER if key not in names)
    for record in records:
        assert record['prediction'] == '7'
        assert record['sampling'] == {key: PAPER[key] for key in PAPER if key in names} | (
            {'not known': 'min_p'} | ({'not applied': missing} if missing else {})
        )


@pytest.mark.parametrize('name', HTTP)
def test_requests_of_providers_hold_the_protocol(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It replaces the settings of the config and the wrapper's defaults; others stay."""
    sent: list[dict[str, Any]] = []
    choices = [{'message': {'content': '7'}, 'delta': {'content': '7'}}]
    answer: dict[str, Any] = {
        'choices': choices,
        'data': {'choices': choices},
        'generated_text': ['7'],
        'access_token': 'token',
        'candidates': [{'content': {'parts': [{'text': '7'}]}}],
        'result': {'choices': choices} if name == 'UniGPT' else '7',
    }
    if name == 'SenseTime':
        answer['data'] = {'choices': [{'message': '7'}]}

    def request(session: Any, method: str, url: str, **given: Any) -> requests.Response:
        body = given.get('json') or json.loads(given.get('data') or '{}')
        inner = body.get('parameters') or body.get('generationConfig') or {}
        renamed = {'topP': 'top_p', 'topK': 'top_k'}
        if body:
            sent.append({renamed.get(k, k): v for k, v in {**body, **inner}.items()})
        response = requests.Response()
        response.status_code, response.encoding = 200, 'utf-8'
        response.headers['X-Request-Id'] = '1'
        text = json.dumps(answer)
        response._content_consumed = True  # type: ignore[attr-defined]  # as if it was read
        response._content = (f'data: {text}\n\n' if name == 'TeleChatStream' else text).encode()
        return response

    monkeypatch.setattr(requests.Session, 'request', request)
    model = build(name)
    check(name, sent, run(model, tmp_path, problems=1, replicas=2))
    if hasattr(model, 'generation_kwargs') and not hasattr(model, 'temperature'):
        assert name == 'SenseTime' or all(body['max_new_tokens'] == 9 for body in sent)
    sent.clear()
    record = run(model, tmp_path, 'greedy', problems=1, replicas=1, sampling='greedy')[0]
    assert sent[0]['temperature'] == 0
    assert record['sampling'] == {'greedy': True}


@pytest.mark.parametrize('name', SDK)
def test_calls_of_sdks_hold_the_protocol(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ClaudeSDK's own temperature is 0: its samples would be copies."""
    sent: list[dict[str, Any]] = []

    def call(**given: Any) -> Any:
        sent.append(given)
        text = SimpleNamespace(type='text', text='7')
        return SimpleNamespace(content=[text], status_code=200, output={'text': '7'})

    fake = ModuleType('fake')
    fake.Generation = SimpleNamespace(call=call)  # type: ignore[attr-defined]
    client = SimpleNamespace(messages=SimpleNamespace(create=call))
    fake.Anthropic = lambda **settings: client  # type: ignore[attr-defined]
    for module in ('anthropic', 'dashscope'):
        monkeypatch.setitem(sys.modules, module, fake)
    check(name, sent, run(build(name), tmp_path, problems=1, replicas=2))


def test_a_class_of_ones_own_is_known_if_it_asks_as_opencompass_does() -> None:
    """With another request, nobody knows what it sends."""
    named = type('Named', (UniGPT,), {'__init__': lambda self: None})
    other = type('Other', (UniGPT,), {'_generate': lambda self, text, max_out_len: ''})
    assert backend_class(named) is ProviderBackend
    assert backend_class(other) is UnknownBackend


RUN = """models = [dict(abbr='demo', type='Model', path='p')]
datasets = [dict(abbr='sums_en', type='Data', path='p', n=4, k=4)]
summarizer = dict(type='opencompass_gpassk.summarizer.GPassKSummarizer')
"""


def test_what_was_not_applied_is_told_first(
    tmp_path: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """DeepseekAPI sends no temperature: four copies have no loss, and every reader is warned."""
    server.reply = lambda body: (200, server.answer(body, text=r'\boxed{1}'))
    dataset = data_set(OurSums, n=4, k=4, problems=3)
    provider = {'type': DeepseekAPI, 'path': 'deepseek-chat', 'key': 'k', 'url': server.url}
    run = tmp_path / '20260101_000000'
    OpenICLInferTask(config(run, dataset, **provider, query_per_second=1000)).run()
    assert not any('temperature' in body for body in server.requests)
    result = evaluate(run, dataset)
    assert result['stability gap@4'] == 0
    told = 'sampling not applied: temperature, top_p, top_k, repetition_penalty;'
    assert result['warnings'][0].startswith(told)
    (run / 'configs').mkdir()
    (run / 'configs/20260101_000000.py').write_text(RUN, 'utf-8')
    page = tmp_path / 'report.html'
    assert main(['report', str(run), '-o', str(page)]) == 0
    text = page.read_text('utf-8')
    assert told in text
