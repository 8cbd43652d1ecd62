"""The sampling protocol on OpenCompass's HuggingFace wrappers, with a tiny random model."""

from __future__ import annotations

import copy
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers.utils.logging as logging_of_transformers
from datasets import Dataset
from opencompass.models import HuggingFace, HuggingFaceBaseModel, HuggingFacewithChatTemplate
from opencompass.models.base import BaseModel
from tiny import PAPER, Problems, Recorder, build, run, save_checkpoint, texts

OWN_SETTINGS = {'do_sample': True, 'temperature': 0.1, 'num_beams': 2, 'max_new_tokens': 3}


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint whose generation config asks for sampling and a penalty, as Qwen's do."""
    return save_checkpoint(
        tmp_path_factory.mktemp('checkpoint'),
        do_sample=True,
        temperature=0.6,
        top_k=20,
        top_p=0.95,
        repetition_penalty=1.3,
    )


@pytest.mark.parametrize('kind', [HuggingFacewithChatTemplate, HuggingFaceBaseModel, HuggingFace])
def test_engine_gets_the_protocol_and_the_wrapper_stays_as_it_was(
    kind: type, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sampled and greedy reach transformers, whatever the model's config says of decoding."""
    own = {**OWN_SETTINGS, 'eos_token_id': 2}
    model = build(kind, checkpoint, generation_kwargs=own)
    before, engine = dict(model.__dict__), model.model
    settings = copy.deepcopy(model.generation_kwargs)
    recorder = Recorder(monkeypatch, model)
    run(model, tmp_path, 'sampled')
    sampled, recorder.calls = recorder.calls, []
    run(model, tmp_path, 'greedy', sampling='greedy')
    for call in sampled:
        assert {name: call[name] for name in PAPER} == PAPER
        assert call['do_sample'] is True
    for call in recorder.calls:
        assert call['do_sample'] is False
        assert call['repetition_penalty'] == 1.0
    for call in sampled + recorder.calls:
        assert call['max_new_tokens'] == 12
        assert call.get('num_beams', 1) == 1
        assert call['eos_token_id'] == 2
    assert model.__dict__ == before
    assert model.model is engine
    assert model.generation_kwargs == settings


def test_model_mode_leaves_the_config_alone_but_for_the_length(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sampling='model' hands on the config's own parameters."""
    model = build(HuggingFacewithChatTemplate, checkpoint, generation_kwargs=dict(OWN_SETTINGS))
    recorder = Recorder(monkeypatch, model)
    records = run(model, tmp_path, sampling='model')
    call = recorder.calls[0]
    assert (call['temperature'], call['num_beams'], call['max_new_tokens']) == (0.1, 2, 12)
    assert 'top_p' not in call
    assert records[0]['sampling'] == {'model': True}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What transformers warns of; it does so once a process unless made to forget."""
    messages: list[str] = []
    handler = logging.Handler(logging.WARNING)
    monkeypatch.setattr(handler, 'emit', lambda entry: messages.append(entry.getMessage()))
    logger = logging.getLogger('transformers')
    monkeypatch.setattr(logger, 'handlers', [handler])
    logging_of_transformers.warning_once.cache_clear()
    return messages


def test_samples_differ_between_replicas_and_repeat_between_runs(chat: Any, tmp_path: Path) -> None:
    """One run seed gives one set of samples; another seed gives another."""
    first = texts(run(chat, tmp_path, 'a'))
    assert len(set(first)) == len(first)
    torch.manual_seed(99)
    assert texts(run(chat, tmp_path, 'b')) == first
    assert not set(texts(run(chat, tmp_path, 'c', seed=1))) & set(first)


def test_shards_never_repeat_each_other(chat: Any, tmp_path: Path) -> None:
    """Replicas of one problem that fall into different shards get different samples."""
    shards = [
        run(chat, tmp_path, f'x_{i}', test_range=f'[{4 * i}:{4 * i + 4}]', batch_size=4)
        for i in range(3)
    ]
    responses = [text for shard in shards for text in texts(shard)]
    assert len(set(responses)) == 12
    assert [(r['problem_id'], r['replica']) for shard in shards for r in shard] == [
        (f'p/{i}', replica) for replica in range(3) for i in range(4)
    ]
    whole = run(chat, tmp_path, 'whole', batch_size=4)
    assert texts(whole) == responses  # the same batches, so the same samples


def test_unknown_wrapper_gets_one_warning_and_no_problem_twice_in_a_batch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a wrapper may give one seed to a batch; its responses still get to their rows."""
    from opencompass.models.base import BaseModel

    seen: list[list[str]] = []
    said: list[str] = []

    class Own(BaseModel):
        def generate(self, inputs: list[str], max_out_len: int) -> list[str]:
            seen.append(list(inputs))
            return [f'{text}!' for text in inputs]

    import opencompass_gpassk.inference.inferencer as module

    class Logger:
        def warning(self, text: str) -> None:
            said.append(text)

        info = staticmethod(lambda text: None)

    monkeypatch.setattr(module, 'get_logger', Logger)
    records = run(Own('own'), tmp_path, batch_size=8)
    assert len(said) == 1
    assert 'Own' in said[0]
    assert all(len(set(batch)) == len(batch) for batch in seen)
    assert [r['prediction'] for r in records] == [
        f'what is {i}+{i}!' for _ in range(3) for i in range(4)
    ]
    assert records[0]['sampling'] == {'not applied': ', '.join(PAPER)}
    ended = run(Own('own'), tmp_path, 'ended', stopping_criteria=['4'])
    assert ended[0]['sampling'] == {'not applied': ', '.join([*PAPER, 'stop'])}


def test_each_row_is_asked_in_its_own_words(tmp_path: Path) -> None:
    """Also if the words differ from sample to sample of a problem."""

    class Worded(Problems):
        @staticmethod
        def load(problems: int = 4, replicas: int = 3) -> Dataset:
            rows = Problems.load(problems, replicas)
            words = ['please, ', '', '']
            return rows.map(lambda row: {'prompt': words[row['replica']] + row['prompt']})

    class Own(BaseModel):
        def generate(self, inputs: list[str], max_out_len: int) -> list[str]:
            return list(inputs)

    records = run(Own('own'), tmp_path, dataset=Worded)
    asked = [f'what is {i}+{i}' for i in range(4)]
    assert texts(records) == [f'please, {one}' for one in asked] + asked + asked
    in_template = run(Own('own'), tmp_path, 'named', template='{prompt} ({replica})')
    assert texts(in_template) == [f'{one} ({i})' for i in range(3) for one in asked]


def test_record_fields(chat: Any, tmp_path: Path) -> None:
    """A record says what was asked, answered, expected, and how it was drawn."""
    record = run(chat, tmp_path)[5]
    assert list(record) == [
        'origin_prompt',
        'prediction',
        'gold',
        'problem_id',
        'replica',
        'truncated',
        'num_tokens',
        'sampling',
        'key',
        'model',
    ]
    assert record['origin_prompt'] == [{'role': 'HUMAN', 'prompt': 'what is 1+1\n'}]
    assert (record['problem_id'], record['replica'], record['gold']) == ('p/1', 1, '2')
    assert record['sampling'] == PAPER


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'sampling': 'random'}, 'sampling'),
        ({'sampling': {'temperature': 0}}, 'greater than 0'),
        ({'sampling': {'temprature': 1}}, 'temprature'),
        ({'sampling': {'top_p': 0}}, 'top_p'),
        ({'sampling': {'top_k': -1}}, 'top_k'),
        ({'sampling': {'top_k': True}}, 'top_k'),
        ({'max_out_len': None}, 'max_out_len'),
        ({'multiround': True}, 'multiround'),
    ],
)
def test_bad_settings_name_themselves(
    settings: dict[str, Any], message: str, chat: Any, tmp_path: Path
) -> None:
    """A bad setting is an error before the first draw."""
    with pytest.raises(ValueError, match=message):
        run(chat, tmp_path, **settings)
