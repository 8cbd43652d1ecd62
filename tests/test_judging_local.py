"""A judge that runs in process: any model config of OpenCompass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Server
from opencompass.models import HuggingFacewithChatTemplate, OpenAISDK
from opencompass.models.base import BaseModel
from tiny import CPU

from opencompass_gpassk.inference import http_client as client
from opencompass_gpassk.inference.http_client import Failure, Reply
from opencompass_gpassk.judging.judge import JudgeError, Ledger
from opencompass_gpassk.judging.local_judge import LocalJudge


class OutOfMemoryError(RuntimeError):
    """As torch calls it."""


class Scripted(BaseModel):
    """A judge model that agrees, with prompts of its own that it chokes on."""

    built = 0
    batches: list[list[str]]

    def __init__(self, path: str = '', fits: int = 99, broken: bool = False, **rest: Any) -> None:
        super().__init__(path, max_seq_len=200, tokenizer_only=True)
        self.fits, self.broken = fits, broken
        Scripted.built += 1
        Scripted.batches = []

    def generate(self, inputs: list[str], max_out_len: int, **settings: Any) -> list[str]:
        """Reply to prompts, or raise."""
        self.batches.append(list(inputs))
        if len(inputs) > self.fits:
            raise OutOfMemoryError('CUDA out of memory')
        if self.broken or any('bad' in prompt for prompt in inputs):
            raise RuntimeError('probability tensor contains inf, key sk-secret-1')
        if any('huge' in prompt for prompt in inputs):
            raise ValueError('prompt is longer than the max_seq_len')
        return [f'{prompt}: \\boxed{{yes}}' for prompt in inputs]

    def get_token_len(self, prompt: str) -> int:
        """Count characters."""
        return len(prompt)


class Unbuilt(Scripted):
    """A model whose engine runs only on GPUs."""

    def __init__(self, **rest: Any) -> None:
        raise RuntimeError('no device')


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds the model of another."""
    monkeypatch.setattr(LocalJudge, '_loaded', None)


def ask(
    judge: LocalJudge, prompts: list[str], repeat: tuple[str, ...] = ()
) -> tuple[dict[str, list[Reply | Failure]], Ledger]:
    """Return all outcomes of each prompt; those of ``repeat`` are asked for twice."""
    ledger, found = Ledger(), {prompt: [] for prompt in prompts}

    def receive(key: str, outcome: Reply | Failure) -> bool:
        found[key].append(outcome)
        return key in repeat and len(found[key]) == 1

    judge.ask(((prompt, prompt) for prompt in prompts), receive, ledger)
    return found, ledger


def scripted(**settings: Any) -> LocalJudge:
    """A judge with a scripted model."""
    batch_size = settings.pop('batch_size', 4)
    return LocalJudge({'type': Scripted, 'path': 'a/b/c', **settings}, batch_size=batch_size)


def test_replies_come_batch_by_batch_and_jobs_are_taken_when_there_is_room() -> None:
    """A kill costs one batch of verdicts; braces in prompts are text."""
    events: list[str] = []

    def jobs() -> Iterator[tuple[str, str]]:
        for i in range(10):
            events.append(f'take {i}')
            yield str(i), f'{{x}} {i}'

    def receive(key: str, outcome: Reply | Failure) -> bool:
        assert isinstance(outcome, Reply)
        assert outcome.text == f'{{x}} {key}: \\boxed{{yes}}'
        assert outcome.prompt_tokens == 5
        events.append(f'got {key}')
        return False

    ledger = Ledger()
    scripted().ask(jobs(), receive, ledger)
    batches = ([0, 1, 2, 3], [4, 5, 6, 7], [8, 9])
    assert events == [f'{w} {i}' for batch in batches for w in ('take', 'got') for i in batch]
    assert (ledger.calls, ledger.retries, ledger.prompt_tokens) == (10, 0, 50)


def test_data_sets_that_one_model_judges_load_it_once() -> None:
    """Another config is another model."""
    before = Scripted.built
    for settings in ({}, {'batch_size': 2}, {'fits': 3}, {'fits': 3}):
        ask(scripted(**settings), ['a'])
    assert Scripted.built == before + 2


def test_a_reply_that_is_rejected_is_asked_for_again() -> None:
    """Also the very last one."""
    found, ledger = ask(scripted(), ['a', 'b', 'c', 'd', 'e'], repeat=('b', 'e'))
    assert {prompt: len(outcomes) for prompt, outcomes in found.items()} == {
        'a': 1, 'b': 2, 'c': 1, 'd': 1, 'e': 2,
    }  # fmt: skip
    assert (ledger.calls, ledger.retries) == (7, 2)


def test_a_prompt_that_fails_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused for good, without the keys; one that is too long says so."""
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-other-2, sk-secret-1')
    found, ledger = ask(scripted(), ['a', 'bad', 'c', 'huge', 'e' * 200, 'f'])
    outcomes = {prompt: outcome for prompt, (outcome,) in found.items()}
    kinds = {p: o.kind if isinstance(o, Failure) else 'reply' for p, o in outcomes.items()}
    assert kinds == {
        'a': 'reply', 'bad': 'refused', 'c': 'reply', 'huge': 'too long', 'e' * 200: 'too long',
        'f': 'reply',
    }  # fmt: skip
    assert all(o.permanent for o in outcomes.values() if isinstance(o, Failure))
    assert 'inf, key [key]' in outcomes['bad'].detail
    assert '200 tokens' in outcomes['e' * 200].detail
    assert ledger.failures == {'refused': 1, 'too long': 1}


def test_a_model_that_fails_whatever_it_is_asked_is_an_error() -> None:
    """No prompt is blamed for it."""
    received: list[Any] = []
    with pytest.raises(JudgeError, match=r'judge: b/c fails on every prompt: .* tensor'):
        scripted(broken=True).ask(
            [('1', 'a'), ('2', 'b')], lambda *said: bool(received.append(said)), Ledger()
        )
    assert received == []


def test_a_batch_that_needs_too_much_memory_is_asked_in_parts() -> None:
    """All its prompts are judged all the same."""
    found, _ = ask(scripted(fits=2, batch_size=8), [f'p{i}' for i in range(20)])
    assert all(isinstance(o, Reply) for (o,) in found.values())


def test_no_memory_for_a_single_prompt_is_a_failure_that_may_pass() -> None:
    """Whoever holds the memory may let it go."""
    found, _ = ask(scripted(fits=0), ['a'])
    assert found['a'] == [Failure('overloaded', False, 'OutOfMemoryError: CUDA out of memory')]


def test_no_model_is_built_for_nothing() -> None:
    """Where the store knows all verdicts, none is needed."""
    before = Scripted.built
    judge = scripted()
    judge.ask([], lambda *said: False, Ledger())
    assert Scripted.built == before
    ask(judge, ['a'])
    ask(judge, ['b'])
    assert Scripted.built == before + 1


def test_what_tells_two_judges_apart() -> None:
    """The name is short; the config counts without what changes no reply, and without keys."""
    one = scripted(key='sk-1', run_cfg={'num_gpus': 0})
    assert one.model == 'b/c'
    assert scripted(abbr='judge').model == 'judge'
    assert one.settings == scripted(key='sk-2', batch_size=9, abbr='x').settings
    assert 'sk-1' not in str(one.settings)
    assert one.settings != scripted(path='other/b/c').settings
    assert one.settings != scripted(max_out_len=7).settings
    assert scripted(max_out_len=7).settings['max_tokens'] == 7
    with pytest.raises(ValueError, match='model of judge is a config without type'):
        LocalJudge({'path': 'x'})


def test_a_checkpoint_judges_greedily(checkpoint: Path) -> None:
    """Whatever its config says of sampling; prompts beyond its positions are too long."""
    config = {
        'type': HuggingFacewithChatTemplate,
        'path': str(checkpoint),
        'model_kwargs': dict(CPU),
        'max_seq_len': 256,
        'generation_kwargs': {'do_sample': True, 'temperature': 5.0},
        'run_cfg': {'num_gpus': 0},
    }
    judge = LocalJudge(config, max_tokens=6, batch_size=2)
    prompts = ['what is 1+1', 'what is 2+2', 'what is 3+3', 'x' * 300]
    found, ledger = ask(judge, prompts, repeat=('what is 1+1',))
    first, again = found['what is 1+1']
    assert isinstance(first, Reply)
    assert first == again
    assert first.completion_tokens == 6
    assert first.truncated
    (long,) = found['x' * 300]
    assert isinstance(long, Failure)
    assert (long.kind, long.permanent) == ('too long', True)
    assert (ledger.calls, ledger.completion_tokens) == (4, 24)


def test_a_model_that_can_not_be_built_is_an_error(tmp_path: Path) -> None:
    """It names the model."""
    config = {'type': HuggingFacewithChatTemplate, 'path': str(tmp_path / 'none')}
    with pytest.raises(JudgeError, match=r'judge: the model .*/none can not be built: '):
        ask(LocalJudge(config), ['a'])


@pytest.mark.parametrize(
    ('config', 'told'),
    [
        (
            {'type': Scripted, 'run_cfg': {'num_gpus': 2}},
            r'num_gpus of .* is 2, .*num_gpus=2',
        ),
        ({'type': Unbuilt}, 'can not be built: RuntimeError: no device.* sees no GPU.*num_gpus=1'),
    ],
)
def test_a_model_that_needs_a_gpu_says_where_to_ask_for_one(
    config: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its config asks for one, or its engine can't be built without."""
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '')
    with pytest.raises((ValueError, JudgeError), match=told):
        ask(LocalJudge(config), ['a'])


@pytest.fixture
def api(server: Server, checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> LocalJudge:
    """A judge behind the test server; its key is one of the environment."""
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-secret-2')
    monkeypatch.setattr(client, 'FIRST_BACKOFF', 0.01)
    config = {
        'type': OpenAISDK,
        'path': 'judge',
        'openai_api_base': server.url,
        'tokenizer_path': str(checkpoint),
        'query_per_second': 100,
        'retry': 1,
        'temperature': 0.7,
    }
    judge = LocalJudge(config, max_tokens=16, batch_size=2)
    asking = judge._built().model.client
    asking.give_up_after, asking.retries = 1.0, 2
    return judge


def test_a_model_behind_an_api_works_too(server: Server, api: LocalJudge) -> None:
    """Requests run beside each other, greedily; one that fails may pass, be too long or refused."""
    said = {
        'down': (500, 'try later, sk-secret-2'),
        'huge': (400, "This model's maximum context length is 16 tokens"),
        'odd': (400, 'not with me'),
    }

    def reply(body: dict[str, Any]) -> Any:
        asked = next((one for one in said if one in str(body['messages'])), None)
        return asked and (said[asked][0], {'error': {'message': said[asked][1]}})

    server.reply = reply
    found, ledger = ask(api, ['a', 'down', 'b', 'huge', 'odd', 'c'])
    kinds = {p: o.kind if isinstance(o, Failure) else 'reply' for p, (o,) in found.items()}
    assert kinds == {
        'a': 'reply', 'b': 'reply', 'c': 'reply', 'down': 'unreachable', 'huge': 'too long',
        'odd': 'refused',
    }  # fmt: skip
    (down,) = found['down']
    assert isinstance(down, Failure)
    assert not down.permanent
    assert 'sk-secret-2' not in down.detail
    assert ledger.completion_tokens == 3 * 17
    assert {body['temperature'] for body in server.requests} == {0.0}


@pytest.mark.parametrize(
    ('status', 'message', 'told'),
    [
        (401, 'Incorrect API key provided', 'judge: judge: .* refuses the key'),
        (500, 'down', r'judge: judge: no reply for 1 s; .* down'),
        (400, 'no such parameter', 'judge: judge fails on every prompt: '),
    ],
)
def test_an_api_that_never_replies_is_an_error(
    server: Server, api: LocalJudge, status: int, message: str, told: str
) -> None:
    """It is not asked about everything."""
    server.reply = lambda body: (status, {'error': {'message': message}})
    with pytest.raises(JudgeError, match=told):
        ask(api, [f'p{i}' for i in range(4000)])
    assert len(server.requests) < 2000


def test_a_model_that_died_is_not_asked_by_the_next_data_set() -> None:
    """It is built anew."""
    before = Scripted.built
    for _ in range(2):
        with pytest.raises(JudgeError):
            ask(scripted(broken=True), ['a'])
    assert Scripted.built == before + 2
