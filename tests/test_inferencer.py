"""The inferencer on OpenCompass's HuggingFace wrappers, with a tiny random model."""

from __future__ import annotations

import copy
import json
import logging
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers.utils.logging as logging_of_transformers
from datasets import Dataset
from opencompass.models import HuggingFace, HuggingFaceBaseModel, HuggingFacewithChatTemplate
from tiny import PAPER, Problems, run, save_checkpoint

from opencompass_gpassk.inference.failures import InferenceStoppedError

CPU = {'device_map': 'cpu', 'torch_dtype': 'torch.float'}
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


def build(kind: type, checkpoint: Path, **settings: Any) -> Any:
    """Return one of OpenCompass's wrappers."""
    if kind is HuggingFace:
        settings = {'pad_token_id': 0, **settings}
    return kind(str(checkpoint), model_kwargs=dict(CPU), max_seq_len=256, **settings)


@pytest.fixture(scope='module')
def chat(checkpoint: Path) -> HuggingFacewithChatTemplate:
    """The wrapper that most configs name."""
    return build(HuggingFacewithChatTemplate, checkpoint)


def texts(records: list[dict[str, Any]]) -> list[str]:
    """Return the responses."""
    return [record['prediction'] for record in records]


class Recorder:
    """Notes the arguments of each call of transformers' generate."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, model: Any) -> None:
        self.calls: list[dict[str, Any]] = []
        generate = model.model.generate

        def recorded(*args: Any, **kwargs: Any) -> Any:
            self.calls.append(kwargs)
            return generate(*args, **kwargs)

        monkeypatch.setattr(model.model, 'generate', recorded)


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


def test_greedy_copies_are_equal_and_cause_no_warning(
    chat: Any, tmp_path: Path, said: list[str]
) -> None:
    """Greedy is greedy although the checkpoint's generation config samples with a penalty."""
    records = run(chat, tmp_path, sampling='greedy', batch_size=4)
    assert said == []
    first = texts(records)[:4]
    assert texts(records) == first * 3
    assert all(record['sampling'] == {'greedy': True} for record in records)
    ids = chat.tokenizer.apply_chat_template(
        [{'role': 'user', 'content': 'what is 0+0'}], add_generation_prompt=True
    )
    for _ in range(12):  # the definition, token by token
        logits = chat.model(torch.tensor([ids])).logits[0, -1]
        ids.append(int(logits.argmax()))
    assert chat.tokenizer.decode(ids[-12:]).split('</s>')[0] == first[0]


def test_samples_differ_between_replicas_and_repeat_between_runs(chat: Any, tmp_path: Path) -> None:
    """One run seed gives one set of samples; another seed gives another."""
    first = texts(run(chat, tmp_path, 'a'))
    assert len(set(first)) == len(first)
    torch.manual_seed(99)
    assert texts(run(chat, tmp_path, 'b')) == first
    assert not set(texts(run(chat, tmp_path, 'c', seed=1))) & set(first)


def test_draws_leave_torchs_generator_alone(chat: Any, tmp_path: Path) -> None:
    """The next data set of the task doesn't start from our seed."""
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    run(chat, tmp_path)
    assert torch.equal(torch.rand(3), expected)


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


class Killed(BaseException):
    """Stands for a kill in the middle of inference."""


def kill_at(monkeypatch: pytest.MonkeyPatch, model: Any, call: int) -> None:
    """Let the process die in the given call of generate."""
    generate, calls = model.model.generate, []

    def dying(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise Killed
        return generate(*args, **kwargs)

    monkeypatch.setattr(model.model, 'generate', dying)


def test_resumed_run_ends_as_an_uninterrupted_one(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill after two of three batches, a torn last line, and the end is the same."""
    whole = run(chat, tmp_path, 'whole')
    with monkeypatch.context() as patch:
        kill_at(patch, chat, 3)
        with pytest.raises(Killed):
            run(chat, tmp_path, 'part')
    saved = tmp_path / 'tmp_part.jsonl'
    assert not (tmp_path / 'part.json').exists()
    assert saved.read_bytes().count(b'\n') == 10
    saved.write_bytes(saved.read_bytes()[:-20])
    recorder = Recorder(monkeypatch, chat)
    assert run(chat, tmp_path, 'part') == whole
    assert len(recorder.calls) == 2  # the batch of the torn line, and the one that was killed
    assert not saved.exists()


@pytest.mark.parametrize('change', [{'seed': 3}, {'sampling': 'greedy'}, {'max_out_len': 5}])
def test_saved_rows_of_another_protocol_are_drawn_anew(
    change: dict[str, Any], chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was drawn under other settings is not mixed in."""
    with monkeypatch.context() as patch:
        kill_at(patch, chat, 3)
        with pytest.raises(Killed):
            run(chat, tmp_path, 'part')
    assert run(chat, tmp_path, 'part', **change) == run(chat, tmp_path, 'whole', **change)


def test_truncation_and_length_are_known(chat: Any, tmp_path: Path) -> None:
    """A response without an end token ran into the limit, and its tokens are counted."""
    records = run(chat, tmp_path, replicas=8)
    flags = {record['truncated'] for record in records}
    assert flags == {True, False}
    for record in records:
        spoken = len(chat.tokenizer.encode(record['prediction'], add_special_tokens=False))
        if record['truncated']:
            assert (record['num_tokens'], spoken) == (12, 12)
        else:
            assert record['num_tokens'] == spoken + 1  # the end token


class UnequalProblems(Problems):
    """The first problem is too long for a model of 60 positions."""

    @staticmethod
    def load(problems: int = 4, replicas: int = 3) -> Dataset:
        rows = Problems.load(problems, replicas)
        longer = 'what is 1+1, and again, and again, and again, and once more, and again'
        return rows.map(lambda row: {'prompt': longer} if row['problem_id'] == 'p/0' else {})


@pytest.mark.parametrize('kind', [HuggingFacewithChatTemplate, HuggingFaceBaseModel, HuggingFace])
def test_responses_end_where_the_model_has_no_more_positions(
    kind: type, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that is too long, or ends early, costs the others of its batch nothing."""
    model = build(kind, checkpoint, **({'batch_padding': True} if kind is HuggingFace else {}))
    monkeypatch.setattr(model.model.config, 'max_position_embeddings', 60)
    recorder = Recorder(monkeypatch, model)
    records = run(model, tmp_path, max_out_len=64, replicas=12, dataset=UnequalProblems)
    prompts = [
        int(length) for call in recorder.calls for length in call['attention_mask'].sum(dim=1)
    ]
    assert max(prompts) > 60 > min(prompts)
    longest = 60 - min(prompts)
    lengths = {'long': [], 'short': []}
    for record, prompt in zip(records, prompts, strict=True):
        lengths['long' if prompt > 60 else 'short'].append(record['num_tokens'])
        spoken = len(model.tokenizer.encode(record['prediction'], add_special_tokens=False))
        assert spoken <= record['num_tokens']  # special tokens are not spoken
    assert set(lengths['long']) == {1}
    assert max(lengths['short']) == longest
    monkeypatch.setattr(model.model.config, 'rope_scaling', {'factor': 4.0})
    records = run(model, tmp_path, 'scaled', max_out_len=64, replicas=12)
    assert max(record['num_tokens'] for record in records) == 64


def test_stop_word_ends_a_response(chat: Any, tmp_path: Path) -> None:
    """A response cut at a stop word is not truncated, and its length ends there."""
    records = run(chat, tmp_path, replicas=4, stopping_criteria=['e', '1', '7', 'z'])
    cut = [r for r in records if not r['truncated']]
    assert cut
    assert not any(set(r['prediction']) & set('e17z') for r in records)
    for record in cut:
        spoken = len(chat.tokenizer.encode(record['prediction'], add_special_tokens=False))
        assert record['num_tokens'] == spoken + 1


def fail_on(monkeypatch: pytest.MonkeyPatch, model: Any, bad: Any, error: Exception) -> list[int]:
    """Let generate fail on batches for which ``bad(input_ids)``; note all batch sizes."""
    generate, sizes = model.model.generate, []

    def failing(*args: Any, **kwargs: Any) -> Any:
        sizes.append(len(kwargs['input_ids']))
        if bad(kwargs['input_ids']):
            raise error
        return generate(*args, **kwargs)

    monkeypatch.setattr(model.model, 'generate', failing)
    return sizes


def test_one_bad_prompt_is_a_lost_trial(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch is halved until the culprit stands alone; it keeps its reason."""
    before = dict(chat.__dict__)
    two = chat.tokenizer.encode('2', add_special_tokens=False)[0]
    fail_on(monkeypatch, chat, lambda ids: bool((ids == two).any()), RuntimeError('bad\nprompt'))
    records = run(chat, tmp_path)
    lost = [record for record in records if 'lost' in record]
    assert {record['problem_id'] for record in lost} == {'p/2'}
    assert len(lost) == 3
    assert all(r['lost'] == 'RuntimeError: bad prompt' and r['prediction'] == '' for r in lost)
    assert chat.__dict__ == before


def test_batch_too_large_for_memory_gets_through_in_parts(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of memory costs no trial as long as single rows fit."""
    sizes = fail_on(
        monkeypatch, chat, lambda ids: len(ids) > 2, torch.cuda.OutOfMemoryError('CUDA')
    )
    records = run(chat, tmp_path, batch_size=4)
    assert not any('lost' in record for record in records)
    assert sizes == [4, 2, 2] * 3


def test_unreachable_model_stops_the_run_and_can_be_resumed(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty failures one after another end the task; what was drawn before is kept."""
    whole = run(chat, tmp_path, 'whole', replicas=10)
    with monkeypatch.context() as patch:
        calls: list[int] = []

        def gone(ids: Any) -> bool:
            calls.append(1)
            return len(calls) > 2

        fail_on(patch, chat, gone, ConnectionError('gone'))
        with pytest.raises(InferenceStoppedError, match=r'20 requests .* gone.*-r'):
            run(chat, tmp_path, 'part', replicas=10)
    assert not (tmp_path / 'part.json').exists()
    assert run(chat, tmp_path, 'part', replicas=10) == whole


def test_prompts_that_always_fail_do_not_keep_a_resumed_run_from_its_end(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 30 replicas of a bad prompt most are lost when the kill comes, and fail again after it."""
    two = chat.tokenizer.encode('2', add_special_tokens=False)[0]

    def bad(ids: Any) -> bool:
        return bool((ids == two).any())

    fail_on(monkeypatch, chat, bad, ValueError('too long'))
    settings: dict[str, Any] = {'replicas': 30, 'batch_size': 1, 'max_failures': 4}
    with monkeypatch.context() as patch:
        kill_at(patch, chat, 110)
        with pytest.raises(Killed):
            run(chat, tmp_path, **settings)
    records = run(chat, tmp_path, **settings)
    assert [r['problem_id'] for r in records if 'lost' in r] == ['p/2'] * 30
    assert [r['replica'] for r in records] == [i // 4 for i in range(120)]


def test_no_prediction_file_where_all_requests_failed(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of nothing but lost trials would keep -r from trying again."""
    fail_on(monkeypatch, chat, lambda ids: True, ValueError('no'))
    with pytest.raises(InferenceStoppedError, match='all 4 requests failed'):
        run(chat, tmp_path, replicas=1)
    assert not (tmp_path / 'problems.json').exists()


def test_old_wrapper_with_less_room_than_the_protocol_asks(
    checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenCompass cuts prompts to max_seq_len - max_out_len tokens, here a negative number."""
    model = build(HuggingFace, checkpoint)
    model.max_seq_len = 40
    recorder = Recorder(monkeypatch, model)
    run(model, tmp_path, max_out_len=200)
    for call in recorder.calls:
        assert call['input_ids'].shape[1] == len('what is 0+0')
        assert call['max_new_tokens'] == 40 - len('what is 0+0')


class Strange(HuggingFacewithChatTemplate):
    """A text of all sorts instead of a model's."""

    TEXT = 'a\u2028b\u0085c\ud800 \u4e2d \x1c end'

    def generate(self, inputs: list[Any], max_out_len: int, **kwargs: Any) -> list[str]:
        """Return the text."""
        return [self.TEXT] * len(inputs)


def test_line_separators_and_lone_surrogates_survive(checkpoint: Path, tmp_path: Path) -> None:
    """No character of a response can tear the saved progress or the prediction file."""
    model = build(Strange, checkpoint)
    assert texts(run(model, tmp_path)) == [Strange.TEXT] * 12
    assert (tmp_path / 'problems.json').read_bytes().isascii()


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

    import opencompass_gpassk.inferencer as module

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
    assert records[0]['sampling'] == {'model': True}


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
    ]
    assert record['origin_prompt'] == [{'role': 'HUMAN', 'prompt': 'what is 1+1\n'}]
    assert (record['problem_id'], record['replica'], record['gold']) == ('p/1', 1, '2')
    assert record['sampling'] == PAPER


def test_response_lengths_on_request(chat: Any, tmp_path: Path) -> None:
    """OpenCompass's --dump-res-length goes on working."""
    record = run(chat, tmp_path, dump_res_length=True)[0]
    assert record['res_length'] == record['num_tokens']
    assert record['all_input_length'] > len('what is 0+0')


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'sampling': 'random'}, 'sampling'),
        ({'sampling': {'temperature': 0}}, 'greedy'),
        ({'sampling': {'temprature': 1}}, 'temprature'),
        ({'sampling': {'top_p': 0}}, 'top_p'),
        ({'sampling': {'top_k': -1}}, 'top_k'),
        ({'sampling': {'top_k': True}}, 'top_k'),
        ({'max_out_len': None}, 'max_out_len'),
        ({'seed': 1.5}, 'seed'),
        ({'max_failures': 0}, 'max_failures'),
        ({'multiround': True}, 'multiround'),
    ],
)
def test_bad_settings_name_themselves(
    settings: dict[str, Any], message: str, chat: Any, tmp_path: Path
) -> None:
    """A bad setting is an error before the first draw."""
    with pytest.raises(ValueError, match=message):
        run(chat, tmp_path, **settings)


def test_saved_progress_of_opencompass_is_not_taken(chat: Any, tmp_path: Path) -> None:
    """Rows that upstream's inferencer saved under the same name were drawn differently."""
    line = json.dumps({'idx': '0', 'prediction': 'theirs', 'origin_prompt': ''})
    (tmp_path / 'tmp_problems.jsonl').write_text(line + '\n')
    assert 'theirs' not in texts(run(chat, tmp_path))


def test_rows_of_the_fixture() -> None:
    """The data set of these tests has the replicas it says."""
    rows = Problems(reader_cfg={'input_columns': ['prompt'], 'output_column': 'answer'}).test
    assert rows['replica'] == [0] * 4 + [1] * 4 + [2] * 4
