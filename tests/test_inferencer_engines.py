"""The inferencer on OpenCompass's vLLM and LMDeploy wrappers, with stubbed engines."""

from __future__ import annotations

import copy
import hashlib
import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tiny import PAPER, run

OWN = {'temperature': 0, 'seed': 42, 'max_tokens': 3, 'n': 2, 'min_p': 0.1, 'skip_special': True}


def draw(prompt: str, seed: int | None) -> str:
    """Answer as an engine does: equal prompts and seeds have equal answers."""
    return hashlib.sha256(f'{prompt}{seed}'.encode()).hexdigest()[:9]


class SamplingParams:
    """vLLM's, as far as the wrappers use it."""

    def __init__(self, **given: Any) -> None:
        self.given = dict(given)
        self.seed = given.get('seed')

    def final(self) -> dict[str, Any]:
        return {**self.given, 'seed': self.seed}


class LLM:
    """vLLM's engine: answers by prompt and seed, the engine's own seed where none is given."""

    def __init__(self, path: str, **settings: Any) -> None:
        from transformers import AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(path)
        self.seed = settings.get('seed', 0)
        self.calls: list[list[dict[str, Any]]] = []
        self.failing = False

    def get_tokenizer(self) -> Any:
        return self.tokenizer

    def generate(self, prompts: list[Any], params: Any, **kwargs: Any) -> list[Any]:
        if self.failing:
            raise RuntimeError('engine is dead')
        each = params if isinstance(params, list) else [params] * len(prompts)
        assert len(each) == len(prompts)
        self.calls.append([one.final() for one in each])
        answers = []
        for prompt, one in zip(prompts, each, strict=True):
            text = prompt if isinstance(prompt, str) else prompt['prompt']
            seed = self.seed if one.seed is None else one.seed
            end = SimpleNamespace(
                text=draw(text, seed),
                token_ids=[1] * 7,
                finish_reason='length' if seed % 2 else 'stop',
            )
            answers.append(SimpleNamespace(prompt=text, outputs=[end]))
        return answers


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let OpenCompass's wrappers find a stub of vLLM, and of ray."""
    monkeypatch.setitem(
        sys.modules, 'ray', SimpleNamespace(is_initialized=lambda: False, shutdown=None)
    )
    for name in ('vllm', 'vllm_with_tf_above_v4_33'):
        module = importlib.import_module(f'opencompass.models.{name}')
        monkeypatch.setattr(module, 'LLM', LLM)
        monkeypatch.setattr(module, 'SamplingParams', SamplingParams)


def vllm_wrapper(name: str, checkpoint: Path, **settings: Any) -> Any:
    """Return one of OpenCompass's vLLM wrappers."""
    import opencompass.models

    return getattr(opencompass.models, name)(
        str(checkpoint), max_seq_len=256, model_kwargs={'seed': 7}, **settings
    )


@pytest.mark.parametrize('name', ['VLLM', 'VLLMwithChatTemplate'])
def test_vllm_gets_the_protocol_with_a_seed_for_each_request(
    name: str, vllm: None, checkpoint: Path, tmp_path: Path
) -> None:
    """Fixed seeds of engine and config don't make replicas equal; greedy is greedy."""
    model = vllm_wrapper(name, checkpoint, generation_kwargs=dict(OWN))
    before, own = dict(model.__dict__), copy.deepcopy(model.generation_kwargs)
    records = run(model, tmp_path, 'sampled', batch_size=12)
    (sampled,) = model.model.calls
    for call in sampled:
        assert {key: call[key] for key in PAPER} == PAPER
    assert len({call['seed'] for call in sampled}) == 12
    assert len({record['prediction'] for record in records}) == 12
    model.model.calls.clear()
    greedy = run(model, tmp_path, 'greedy', sampling='greedy', batch_size=12)
    for call in model.model.calls[0]:
        assert (call['temperature'], call['top_p'], call['repetition_penalty']) == (0.0, 1.0, 1.0)
        assert call['seed'] is None
    for call in sampled + model.model.calls[0]:
        assert call['max_tokens'] == 12
        assert call['skip_special'] is True
        assert not {'n', 'min_p'} & set(call)
    assert [r['prediction'] for r in greedy[:4]] * 3 == [r['prediction'] for r in greedy]
    assert model.__dict__ == before
    assert model.generation_kwargs == own
    # The three samples of a problem are drawn one after another, for the engine's prefix cache.
    by_problem = sorted(records, key=lambda record: record['problem_id'])
    for record, call in zip(by_problem, sampled, strict=True):
        assert record['num_tokens'] == 7
        assert record['truncated'] is bool(call['seed'] % 2)


def test_vllm_off_and_model_mode(vllm: None, checkpoint: Path, tmp_path: Path) -> None:
    """top_k 0 is vLLM's -1; 'model' keeps the config's parameters but its seed."""
    model = vllm_wrapper('VLLM', checkpoint, generation_kwargs={'temperature': 0.5, 'seed': 42})
    run(model, tmp_path, 'off', sampling={'temperature': 1.0})
    assert model.model.calls[0][0]['top_k'] == -1
    model.model.calls.clear()
    run(model, tmp_path, 'own', sampling='model', batch_size=12)
    (calls,) = model.model.calls
    assert {call['temperature'] for call in calls} == {0.5}
    assert len({call['seed'] for call in calls}) == 12


def test_vllm_in_process_is_not_asked_without_seeds(
    vllm: None, checkpoint: Path, tmp_path: Path
) -> None:
    """Its engine begins with the same random numbers at every start."""
    with pytest.raises(ValueError, match='same seed'):
        run(vllm_wrapper('VLLM', checkpoint), tmp_path, sampling={**PAPER, 'seeded': False})


def test_vllm_that_cuts_prompts_keeps_the_prompt(
    vllm: None, checkpoint: Path, tmp_path: Path
) -> None:
    """mode='mid' keeps max_seq_len - max_out_len tokens, which must not be negative."""
    model = vllm_wrapper('VLLM', checkpoint, mode='mid')
    model.max_seq_len = 40
    records = run(model, tmp_path, max_out_len=8192)
    assert {call['max_tokens'] for calls in model.model.calls for call in calls} == {29}
    assert not any('lost' in record for record in records)


@dataclass
class GenerationConfig:
    """LMDeploy's, as far as the wrappers use it."""

    max_new_tokens: int = 512
    min_new_tokens: int | None = None
    do_sample: bool = False
    top_p: float = 1.0
    top_k: int = 50
    temperature: float = 0.8
    repetition_penalty: float = 1.0
    random_seed: int | None = None
    stop_words: list[str] | None = field(default=None)


class Pipe:
    """LMDeploy's pipeline."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.calls: list[list[Any]] = []

    def __call__(self, prompts: list[str], gen_config: Any, do_preprocess: bool) -> list[Any]:
        each = gen_config if isinstance(gen_config, list) else [gen_config] * len(prompts)
        self.calls.append([copy.copy(one) for one in each])
        answers = []
        for prompt, one in zip(prompts, each, strict=True):
            text = draw(prompt, one.random_seed)
            answers.append(
                SimpleNamespace(
                    text=text,
                    token_ids=self.tokenizer.encode(text, add_special_tokens=False),
                    input_token_len=5,
                    generate_token_len=9,
                    finish_reason='length' if 'x' in prompt else 'stop',
                )
            )
        return answers


@pytest.fixture
def lmdeploy(monkeypatch: pytest.MonkeyPatch, checkpoint: Path) -> Any:
    """Let OpenCompass's wrappers find a stub of LMDeploy."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    module = ModuleType('lmdeploy')
    module.version_info = (0, 7, 0)
    module.GenerationConfig = GenerationConfig
    module.TurbomindEngineConfig = module.PytorchEngineConfig = SimpleNamespace
    module.pipeline = lambda *args, **kwargs: Pipe(tokenizer)
    monkeypatch.setitem(sys.modules, 'lmdeploy', module)
    return module


@pytest.mark.parametrize('name', ['TurboMindModel', 'TurboMindModelwithChatTemplate'])
def test_lmdeploy_gets_the_protocol_with_a_seed_for_each_request(
    name: str, lmdeploy: Any, checkpoint: Path, tmp_path: Path
) -> None:
    """The wrappers overrule gen_config with greedy, or with top_k 40: not here."""
    import opencompass.models

    own = {'top_k': 1, 'temperature': 0.01, 'random_seed': 42, 'max_new_tokens': 3}
    model = getattr(opencompass.models, name)(
        str(checkpoint), max_seq_len=256, gen_config=dict(own)
    )
    before = dict(model.__dict__)
    records = run(model, tmp_path, 'sampled', batch_size=12)
    (sampled,) = model.pipe.calls
    for config in sampled:
        assert {key: getattr(config, key) for key in PAPER} == PAPER
        assert config.do_sample is True
    assert len({config.random_seed for config in sampled}) == 12
    assert len({record['prediction'] for record in records}) == 12
    model.pipe.calls.clear()
    greedy = run(model, tmp_path, 'greedy', sampling='greedy', batch_size=12)
    for config in model.pipe.calls[0]:
        assert config.do_sample is False
        assert config.repetition_penalty == 1.0
    assert {c.max_new_tokens for c in sampled + model.pipe.calls[0]} == {12}
    assert greedy[0]['sampling'] == {'greedy': True}
    assert all(r['truncated'] is False and r['num_tokens'] == 9 for r in records)
    assert model.__dict__ == before
    assert model.gen_config == own


def test_lmdeploy_refusing_a_prompt_is_a_lost_trial(
    lmdeploy: Any, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine answers a prompt longer than its session with nothing, which is no response."""
    from opencompass.models import TurboMindModelwithChatTemplate

    model = TurboMindModelwithChatTemplate(str(checkpoint), max_seq_len=256)
    answer = Pipe.__call__

    def refusing(pipe: Pipe, prompts: list[str], *args: Any, **kwargs: Any) -> list[Any]:
        answers = answer(pipe, prompts, *args, **kwargs)
        for prompt, one in zip(prompts, answers, strict=True):
            if '2+2' in prompt:
                one.text, one.generate_token_len, one.finish_reason = '', 0, 'length'
        return answers

    monkeypatch.setattr(Pipe, '__call__', refusing)
    records = run(model, tmp_path)
    assert {r['problem_id'] for r in records if 'session_len' in r.get('lost', '')} == {'p/2'}
    assert sum('lost' in r for r in records) == 3
