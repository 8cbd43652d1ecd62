"""Where responses end, on OpenCompass's HuggingFace wrappers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from opencompass.models import HuggingFace, HuggingFaceBaseModel, HuggingFacewithChatTemplate
from tiny import Problems, Recorder, build, run


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
    records = run(model, tmp_path, max_out_len=64, replicas=6, dataset=UnequalProblems)
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
    records = run(model, tmp_path, 'scaled', max_out_len=64, replicas=6)
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
