"""A response: the text of a model, and what a prediction file or a log tells of it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import Any

from opencompass_gpassk.trials import Verdict

Identity = tuple[str, int]  # problem_id and replica

UTF8 = ('utf-8', 'surrogatepass')
SHORT = 200  # characters that are not worth packing


class Packed:
    """A field with a text that is kept compressed, since big runs have a gigabyte of responses."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return None  # the default of the field
        kept = instance.__dict__[self.name]
        return zlib.decompress(kept).decode(*UTF8) if isinstance(kept, bytes) else kept

    def __set__(self, instance: Any, text: str | None) -> None:
        kept: Any = text
        if text is not None and len(text) > SHORT:
            kept = zlib.compress(text.encode(*UTF8), 1)
        instance.__dict__[self.name] = kept


@dataclass(frozen=True)
class Response:
    """One response to one problem, as a file holds it.

    Attributes:
        text: The response, postprocessed if OpenCompass was told to; '' if it is lost.
        value: What postprocessing made of it if that is no text, such as a tuple or a number, for
            the data set's own evaluator; else None.
        location: File and key of the record, ``file#key``.
        identity: (problem_id, replica); None in files of OpenCompass's own inferencers.
        lost: Why there is no response, '' if there is one.
        truncated: Whether it reached the length limit; None if unknown.
        num_tokens: Its length in tokens; None if unknown.
        sampling: The parameters that were applied; None if unknown.
        record: The fields of the record that are told nowhere else: prompt, gold answer.
        is_answer: Whether postprocessing has reduced the text to the answer.
        unprocessed: The response before postprocessing; None if that left it as it was.
        key: The key of the request that it answers; '' if unknown.
        own_id: The id that another tool gave it; '' if none did.
        prompt_tokens: Length of the prompt in tokens; None if unknown.
        other_verdict: The verdict in another tool's log; None if there is none.
        other_source: Who gave it, such as ``lm-eval: exact_match``.
    """

    text: Packed = Packed()
    location: str = ''
    identity: Identity | None = None
    value: Any = None
    lost: str = ''
    truncated: bool | None = None
    num_tokens: int | None = None
    sampling: dict[str, Any] | None = None
    record: dict[str, Any] = field(default_factory=dict, repr=False)
    is_answer: bool = False
    unprocessed: Packed = Packed()
    key: str = ''
    own_id: str = ''
    prompt_tokens: int | None = None
    other_verdict: Verdict | None = None
    other_source: str = ''

    @property
    def raw(self) -> str:
        """The model's response before postprocessing."""
        whole: str | None = self.unprocessed
        return self.record.get('prediction', self.text) if whole is None else whole

    @property
    def prompt(self) -> str:
        """The prompt, '' if the record doesn't hold it; some backends end it with a line break."""
        prompt = self.record.get('origin_prompt') or ''
        if isinstance(prompt, list):
            turns = [
                t.get('prompt') or t.get('content') if isinstance(t, dict) else t for t in prompt
            ]
            prompt = '\n'.join(str(turn) for turn in turns if turn)
        return str(prompt).rstrip()
