"""Runs that are killed, stopped or changed, and resumed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from opencompass.models import HuggingFacewithChatTemplate
from opencompass.models.base import BaseModel
from scipy.stats import chi2
from tiny import CPU, Killed, Problems, Recorder, build, fail_on, kill_at, run, texts

import opencompass_gpassk
from opencompass_gpassk.inference.request_loop import InferenceStoppedError


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


def test_start_with_changed_settings_costs_nothing_that_was_saved(
    chat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: list[str]
) -> None:
    """A slip in the settings is warned of, and put right by a start with the former ones."""
    whole = run(chat, tmp_path, 'whole')
    for settings, call in (({}, 3), ({'max_out_len': 13}, 2)):
        with monkeypatch.context() as patch:
            kill_at(patch, chat, call)
            with pytest.raises(Killed):
                run(chat, tmp_path, 'part', **settings)
    (warning,) = said
    assert '10 saved responses' in warning
    assert str(tmp_path / 'tmp_part.jsonl') in warning
    recorder = Recorder(monkeypatch, chat)
    assert run(chat, tmp_path, 'part') == whole
    assert len(recorder.calls) == 1  # the batch that was killed
    assert '5 saved responses' in said[1]
    assert not (tmp_path / 'tmp_part.jsonl').exists()
    assert (tmp_path / 'unused_part.jsonl').read_bytes().count(b'\n') == 5


def test_saved_responses_get_the_gold_answer_of_today(tmp_path: Path) -> None:
    """One was corrected since they were saved; the texts stay, whatever they contain."""
    text = '}, "gold": "0", "record": {"prediction": "\\u2028"}}\n\u2028'
    drawn: list[str] = []

    class Own(BaseModel):
        def generate(self, inputs: list[str], max_out_len: int) -> list[str]:
            if len(drawn) == 8:
                raise Killed
            drawn.extend(inputs)
            return [text] * len(inputs)

    class Corrected(Problems):
        @staticmethod
        def load(problems: int = 4, replicas: int = 3) -> Dataset:
            rows = Problems.load(problems, replicas)
            return rows.map(lambda row: {'answer': row['answer'].replace('2', '1')})

    model = Own('own')
    with pytest.raises(Killed):
        run(model, tmp_path, batch_size=4)
    drawn.clear()
    records = run(model, tmp_path, batch_size=4, dataset=Corrected)
    assert len(drawn) == 4
    assert texts(records) == [text] * 12
    assert [one['gold'] for one in records] == ['0', '1', '4', '6'] * 3


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


def test_saved_progress_of_opencompass_is_not_taken(chat: Any, tmp_path: Path) -> None:
    """Rows that upstream's inferencer saved under the same name were drawn differently."""
    line = json.dumps({'idx': '0', 'prediction': 'theirs', 'origin_prompt': ''})
    (tmp_path / 'tmp_problems.jsonl').write_text(line + '\n')
    assert 'theirs' not in texts(run(chat, tmp_path))


def test_new_draws_beside_reused_ones_have_the_distribution_of_the_model(tmp_path: Path) -> None:
    """Batches of a raised n are others than at first; first tokens against the exact softmax."""
    path = Path(opencompass_gpassk.__file__).parent / 'demo/model'
    model = HuggingFacewithChatTemplate(str(path), model_kwargs=dict(CPU), max_seq_len=256)
    settings: dict[str, Any] = {
        'max_out_len': 1,
        'sampling': {'temperature': 1.5},
        'batch_size': 32,
        'problems': 3,
    }
    first = run(model, tmp_path, 'x-n40', replicas=40, **settings)
    both = run(model, tmp_path, 'x-n240', replicas=240, **settings)
    assert texts(both)[:120] == texts(first)
    for problem in range(3):
        entry = [{'role': 'user', 'content': f'what is {problem}+{problem}'}]
        ids = model.tokenizer.apply_chat_template(
            entry, add_generation_prompt=True, return_tensors='pt'
        )
        chances = (model.model(ids).logits[0, -1] / 1.5).softmax(-1).tolist()
        expected: Counter[str] = Counter()
        for token, chance in enumerate(chances):
            expected[model.tokenizer.decode([token], skip_special_tokens=True).strip()] += chance
        drawn = Counter(text.strip() for text in texts(both)[120 + problem :: 3])
        usual = [text for text, chance in expected.items() if 200 * chance >= 5]
        counts = [drawn[text] for text in usual] + [200 - sum(drawn[text] for text in usual)]
        means = [200 * expected[text] for text in usual]
        means.append(200 - sum(means))
        square = sum((n - m) ** 2 / m for n, m in zip(counts, means, strict=True) if m > 0.5)
        assert chi2.sf(square, max(len(usual), 1)) > 1e-3
