"""Time sampling from an API, side by side with OpenCompass's OpenAISDK on the same stub.

    python benchmarks/inference_api.py [--responses 11424] [--part 960]

The stub is ``tests/kit/judge_server.py`` in a separate process: each response is 2 kB and takes
500 ms.
``OpenAICompatible`` goes through ``GPassKGenInferencer``, which saves each response, ``OpenAISDK``
through OpenCompass's own inferencer; what is timed begins with the prompts and ends with the
prediction file. Each row is measured in a fresh process after its imports. ``OpenAISDK`` is
measured on a part of the responses and extrapolated: as OpenCompass's example configs have it (16
requests a second, 64 at once), and with 256 at once and its rate limit taken out. The ideal time is
the number of responses times the latency, divided by 256, the requests at once. CPU each is that of
the client's process, per response.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

ROOT = Path(__file__).parent.parent
LATENCY, AT_ONCE, SAMPLES = 0.5, 256, 48
PROMPT = 'What is {number} + {number}? ' + 2000 * '.'  # which the stub echoes
CHAT = {
    'round': [
        {'role': 'HUMAN', 'api_role': 'HUMAN'},
        {'role': 'BOT', 'api_role': 'BOT', 'generate': True},
    ]
}


@contextmanager
def stub() -> Iterator[str]:
    """Serve a model that echoes its prompts, and yield its URL."""
    command = [sys.executable, str(ROOT / 'tests/kit/judge_server.py'), '--verdict', 'echo']
    command += ['--latency', str(LATENCY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield next(iter(process.stdout or ())).strip()
        finally:
            process.terminate()


def build(name: str, url: str, folder: Path) -> Any:
    """Return one of the models that are compared."""
    if name == 'ours':
        from opencompass_gpassk.inference.openai_compatible import OpenAICompatible

        return OpenAICompatible('stub', url)
    from judging_peer import word_tokenizer
    from opencompass.models import OpenAISDK

    limits = {'query_per_second': 16, 'max_workers': 64}
    if name == 'freed':
        patch('opencompass.models.base_api.TokenBucket.get_token', lambda self: None).start()
        limits = {'max_workers': AT_ONCE}
    return OpenAISDK(
        path='stub',
        key='none',
        openai_api_base=url,
        meta_template=CHAT,
        tokenizer_path=str(word_tokenizer(folder / 'tokenizer')),
        max_seq_len=16384,
        retry=3,
        **limits,
    )


class Task:
    """Stands for OpenCompass's task, which says what model is asked."""

    dataset_cfg: ClassVar[dict[str, Any]] = {}
    model_cfg: ClassVar[dict[str, Any]] = {'path': 'stub'}

    def infer(self, inferencer: Any, *args: Any, **settings: Any) -> None:
        """Call the inferencer, which finds this object on the stack."""
        inferencer.inference(*args, **settings)


def draw(name: str, url: str, responses: int) -> tuple[float, float, int, dict[str, Any]]:
    """Draw responses; return seconds, seconds of CPU, lost responses, and the stub's counts."""
    from datasets import Dataset
    from opencompass.datasets.base import BaseDataset
    from opencompass.openicl.icl_inferencer import GenInferencer
    from opencompass.openicl.icl_prompt_template import PromptTemplate
    from opencompass.openicl.icl_retriever import ZeroRetriever

    from opencompass_gpassk.inference.inferencer import GPassKGenInferencer

    class Problems(BaseDataset):
        @staticmethod
        def load() -> Dataset:
            rows = [
                {
                    'problem_id': f'p/{index // SAMPLES}',
                    'replica': index % SAMPLES,
                    'prompt': PROMPT.format(number=index // SAMPLES),
                    'answer': '',
                }
                for index in range(responses)
            ]
            return Dataset.from_list(rows)

    logging.disable(logging.WARNING)
    rows = Problems(reader_cfg={'input_columns': ['prompt'], 'output_column': 'answer'})
    template = PromptTemplate({'round': [{'role': 'HUMAN', 'prompt': '{prompt}'}]})
    with tempfile.TemporaryDirectory() as folder:
        model = build(name, url, Path(folder))
        at_once = 64 if name == 'example' else AT_ONCE
        kind = GPassKGenInferencer if name == 'ours' else GenInferencer
        inferencer = kind(model, max_out_len=8192, batch_size=at_once)
        start, before = time.perf_counter(), time.process_time()
        Task().infer(
            inferencer,
            ZeroRetriever(rows),
            prompt_template=template,
            output_json_filepath=folder,
            output_json_filename='problems.json',
        )
        seconds, cpu = time.perf_counter() - start, time.process_time() - before
        records = json.loads((Path(folder) / 'problems.json').read_text()).values()
    with urllib.request.urlopen(url.replace('/v1', '/count')) as response:
        lost = sum(not record['prediction'] for record in records)
        return seconds, cpu, lost, json.load(response)


def main() -> None:
    """Run all and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--responses', type=int, default=11424)
    parser.add_argument('--part', type=int, default=960, help='responses for OpenAISDK')
    options = parser.parse_args()
    total = options.responses
    ideal = total * LATENCY / AT_ONCE
    cpus = len(os.sched_getaffinity(0))
    print(f'{cpus} CPUs, load {os.getloadavg()[0]:.2f}; {total} responses, ideal {ideal:.1f} s')
    columns = ('measured', 'time', 'for all', '/ ideal', 'CPU each', 'calls', 'at once', 'lost')
    print(f'{"":34}' + ''.join(f'{column:>14}' for column in columns))
    found = {}
    for name, title, count in (
        ('ours', 'OpenAICompatible', total),
        ('freed', 'OpenAISDK, no rate limit, 256', options.part),
        ('example', 'OpenAISDK, example config', options.part),
    ):
        with stub() as url, ProcessPoolExecutor(1, mp_context=get_context('spawn')) as pool:
            seconds, cpu, lost, counts = pool.submit(draw, name, url, count).result()
        found[name] = seconds * total / count
        cells = (count, f'{seconds:.1f} s', f'{found[name]:.1f} s', f'{found[name] / ideal:.2f}')
        cells += (f'{1000 * cpu / count:.2f} ms', counts['calls'], counts['most_at_once'], lost)
        print(f'  {title:<32}' + ''.join(f'{cell:>14}' for cell in cells), flush=True)
    word = 'reached' if found['ours'] <= 1.3 * ideal else 'MISSED'
    print(f'  times the ideal: {found["ours"] / ideal:.2f} (goal ≤ 1.3) {word}')
    for name in ('freed', 'example'):
        print(f'  OpenAISDK, {name}: {found[name] / found["ours"]:.1f} times as long')


if __name__ == '__main__':
    main()
