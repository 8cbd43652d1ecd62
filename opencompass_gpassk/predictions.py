"""OpenCompass's prediction files: one response a record, in one file or in shards.

``predictions/<model>/<data set>.json`` holds records keyed ``0``, ``1``, …; a sharded run leaves
``<data set>_0.json``, ``<data set>_1.json``, … Our inferencer adds to each record which problem and
replica it answers, so that no missing shard can shift a response to another problem.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ['PredictionFiles', 'Response', 'read_predictions']


@dataclass(frozen=True)
class Response:
    """One record of a prediction file.

    Attributes:
        text: The response, postprocessed where OpenCompass was told to; '' where it is lost.
        location: Where it stands, ``file#key``.
        identity: (problem_id, replica), None in files of OpenCompass's own inferencers.
        lost: Why there is no response, '' if there is one.
        truncated: It ran into the length limit; None where nobody knows.
        num_tokens: Its length in tokens, None where nobody knows.
        sampling: The parameters that were applied, None where nobody knows.
        record: The whole record, for evaluators that ask for more.
    """

    text: str
    location: str
    identity: tuple[str, int] | None = None
    lost: str = ''
    truncated: bool | None = None
    num_tokens: int | None = None
    sampling: dict[str, Any] | None = None
    record: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def raw(self) -> str:
        """The response as the model gave it."""
        return self.record.get('prediction', self.text)

    @property
    def prompt(self) -> str:
        """What the model was asked, '' where the record doesn't say."""
        prompt = self.record.get('origin_prompt') or ''
        if isinstance(prompt, list):
            turns = [
                t.get('prompt') or t.get('content') if isinstance(t, dict) else t for t in prompt
            ]
            return '\n'.join(str(turn) for turn in turns if turn)
        return str(prompt)


@dataclass(frozen=True)
class PredictionFiles:
    """The responses of one model to one data set.

    Attributes:
        responses: In the order of the files.
        contiguous: How many of them OpenCompass hands to an evaluator: it stops at the first
            missing shard.
        missing: Names of the shards that are missing between others.
        unfinished: Names of progress files that an interrupted inference left.
    """

    responses: list[Response]
    contiguous: int
    missing: list[str]
    unfinished: list[str]


def read_predictions(folder: Path, name: str) -> PredictionFiles:
    """Read the responses to the data set ``name`` below ``predictions/<model>``.

    Raises:
        FileNotFoundError: If there is neither a whole file nor a shard.
        ValueError: If a file isn't what OpenCompass writes, naming file and record.
    """
    whole = folder / f'{name}.json'
    shards = {} if whole.exists() else _numbered(folder, name, '', '.json')
    if not whole.exists() and not shards:
        raise FileNotFoundError(
            f'no predictions: neither {whole} nor {folder / f"{name}_0.json"} exists; '
            'run the inference first (opencompass CONFIG -r resumes it)'
        )
    responses: list[Response] = []
    contiguous = 0
    for number, path in shards.items() or [(0, whole)]:
        rows = list(_responses(path))
        responses += rows
        if all(earlier in shards for earlier in range(number)) or not shards:
            contiguous += len(rows)
    return PredictionFiles(
        responses=responses,
        contiguous=contiguous,
        missing=[f'{name}_{i}.json' for i in range(max(shards, default=-1)) if i not in shards],
        unfinished=[p.name for p in _numbered(folder, name, 'tmp_', '.jsonl').values()],
    )


def _numbered(folder: Path, name: str, prefix: str, suffix: str) -> dict[int, Path]:
    pattern = re.compile(re.escape(f'{prefix}{name}') + r'(?:_(\d+))?' + re.escape(suffix))
    found = {}
    for path in folder.glob(f'{prefix}*{suffix}'):
        match = pattern.fullmatch(path.name)
        if match:
            found[int(match.group(1) or 0)] = path
    return dict(sorted(found.items()))


def _responses(path: Path) -> Iterator[Response]:
    try:
        records = json.loads(path.read_text(encoding='utf-8', errors='surrogatepass'))
        rows = [(str(i), records[str(i)]) for i in range(len(records))]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f'{path}: not a prediction file of OpenCompass ({error!r}); '
            'delete it and run the inference again with -r'
        ) from error
    for key, record in rows:
        text = record.get('prediction') if isinstance(record, dict) else None
        if not isinstance(text, str):
            raise ValueError(
                f'{path}, record {key!r}: field prediction is {type(text).__name__}, not one text; '
                'repeat problems with n in the data set, not with num_return_sequences'
            )
        identity = None
        if 'problem_id' in record and 'replica' in record:
            identity = (str(record['problem_id']), int(record['replica']))
        yield Response(
            text=text,
            location=f'{path.parent.parent.name}/{path.parent.name}/{path.name}#{key}',
            identity=identity,
            lost=str(record.get('lost') or ''),
            truncated=record.get('truncated'),
            num_tokens=record.get('num_tokens'),
            sampling=record.get('sampling'),
            record=record,
        )
