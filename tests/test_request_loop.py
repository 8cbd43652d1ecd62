"""Requests that fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from tiny import fail_on, run

from opencompass_gpassk.inference.request_loop import InferenceStoppedError


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


def test_no_prediction_file_where_all_requests_failed(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of nothing but lost trials would keep -r from trying again."""
    fail_on(monkeypatch, chat, lambda ids: True, ValueError('no'))
    with pytest.raises(InferenceStoppedError, match='all 4 requests failed'):
        run(chat, tmp_path, replicas=1)
    assert not (tmp_path / 'problems.json').exists()
