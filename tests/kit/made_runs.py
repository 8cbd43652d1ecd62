"""Runs in OpenCompass's layout, made by hand, for tests of what is read from them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TRACEBACK = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n'


class MadeRun:
    """A timestamp folder.

    Args:
        folder: Where it is made.
        models: Abbrs of the models.
        datasets: Abbrs of the data sets.
        more: Further lines of the config.
    """

    def __init__(
        self, folder: Path, models: Sequence[str], datasets: Sequence[str], more: str = ''
    ) -> None:
        self.folder = folder
        self.clock = 1_700_000_000
        lines = [
            f'models = [{", ".join(self._model(abbr) for abbr in models)}]',
            f'datasets = [{", ".join(self._dataset(abbr) for abbr in datasets)}]',
            "summarizer = dict(type='opencompass_gpassk.summarizer.GPassKSummarizer')",
            f'work_dir = {str(folder)!r}',
            more,
        ]
        self._write('configs/20260101_000000_1.py', '\n'.join(lines) + '\n')

    def predictions(self, model: str, *names: str) -> None:
        """Leave finished prediction files."""
        for name in names:
            self._write(f'predictions/{model}/{name}.json', '{}')

    def progress(self, model: str, name: str) -> None:
        """Leave the progress of an unfinished inference."""
        self._write(f'predictions/{model}/tmp_{name}.jsonl', '{}\n')

    def result(self, model: str, name: str, result: dict[str, Any] | str) -> None:
        """Leave a result; a text is written as it stands."""
        text = result if isinstance(result, str) else json.dumps(result)
        self._write(f'results/{model}/{name}.json', text)

    def infer_log(
        self, model: str, name: str, contains: Sequence[str] = (), error: str = ''
    ) -> None:
        """Leave the log of an infer task, named after its first data set."""
        tasks = ','.join(f'{model}/{dataset}' for dataset in contains)
        task = f'01/01 00:00:00 - OpenCompass - INFO - Task [{tasks}]\n' if tasks else ''
        self._write(f'logs/infer/{model}/{name}.out', task + (error and TRACEBACK + error + '\n'))

    def eval_log(self, model: str, name: str, error: str = '') -> None:
        """Leave the log of an eval task."""
        self._write(f'logs/eval/{model}/{name}.out', error and TRACEBACK + error + '\n')

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, 'utf-8')
        self.clock += 1  # each file is newer than the one before it
        os.utime(path, (self.clock, self.clock))

    @staticmethod
    def _model(abbr: str) -> str:
        return f"dict(abbr={abbr!r}, type='Model', path='p')"

    @staticmethod
    def _dataset(abbr: str) -> str:
        return (
            f"dict(abbr={abbr!r}, type='Data', path='p', "
            "reader_cfg=dict(input_columns=['q'], output_column='a'), "
            "infer_cfg=dict(prompt_template=dict(type='T', template='{q}'), "
            "retriever=dict(type='R'), inferencer=dict(type='x.GPassKGenInferencer')), "
            "eval_cfg=dict(evaluator=dict(type='E')))"
        )
