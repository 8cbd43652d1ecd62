"""Verdicts as JSON lines: the exports and imports of a store, and people's labels."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from opencompass_gpassk.formats.decode import Count, Text, Typed, decode
from opencompass_gpassk.formats.jsonlines import (
    at_line,
    input_name,
    numbered_lines,
    parse_row,
    row_line,
)
from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.verdict_store import LATEST, Record, StoredVerdict
from opencompass_gpassk.trials import Verdict

LABEL_FIELDS = ('human', 'verdict', 'label')
WORDS = {
    'true': Verdict.CORRECT,
    'correct': Verdict.CORRECT,
    'false': Verdict.INCORRECT,
    'incorrect': Verdict.INCORRECT,
    'unjudged': Verdict.UNJUDGED,
}


def read_label(row: Mapping[str, Any]) -> Verdict | None:
    """Return a row's label; None if it isn't filled in.

    The label is in the first field of ``human``, ``verdict`` and ``label`` that exists: true,
    false, ``"correct"``, ``"incorrect"``, or ``"unjudged"`` if the person can't tell.

    Raises:
        ValueError: If no such field exists or its value is another; it names the remedy.
    """
    name = next((name for name in LABEL_FIELDS if name in row), None)
    if name is None:
        raise ValueError(f'no field {" or ".join(LABEL_FIELDS)}; give the label in one of them')
    label = row[name]
    if label is None or (isinstance(label, str) and not label.strip()):
        return None
    if not isinstance(label, (bool, str)) or str(label).strip().lower() not in WORDS:
        raise ValueError(
            f'field {name} is {json.dumps(label)[:60]}; give true or false, "correct" or '
            '"incorrect", or "unjudged"'
        )
    return WORDS[str(label).strip().lower()]


JUDGE_FIELDS = ('model', 'prompt', 'settings')


@dataclass
class VerdictRows:
    """The rows of a file of verdicts.

    Attributes:
        records: The verdicts.
        empty: Number of rows without a person's verdict: left empty, or the person couldn't tell.
        bad: Number of malformed rows, which were left out.
    """

    records: list[Record] = field(default_factory=list)
    empty: int = 0
    bad: int = 0


def verdict_line(record: Record) -> str:
    """Return a record as a line of JSON, from which it is restored exactly."""
    said = record.said
    row: dict[str, Any] = {**record.triple._asdict(), 'verdict': said.verdict.value}
    if record.judge is None:
        row |= {'note': said.reply}
    else:
        row |= {
            'reason': said.reason,
            'reply': said.reply,
            'prompt_tokens': said.prompt_tokens,
            'completion_tokens': said.completion_tokens,
            'model': record.judge.model,
            'prompt': record.judge.prompt,
            'settings': dict(record.judge.settings),
        }
    return row_line(row | {'created': record.created})


def read_verdict_rows(
    path: str, *, skip_bad: bool | None = None, report: Callable[[str], None] | None = None
) -> VerdictRows:
    """Read verdicts from JSON lines.

    A row with ``model``, ``prompt`` and ``settings`` is that judge's verdict. Any other row is a
    person's: ``question``, ``gold``, ``answer`` and a label
    (:func:`~opencompass_gpassk.judging.verdict_files.read_label`). A file without rows is allowed:
    an audit without disagreements writes one.

    Args:
        path: A file, gzipped or not, or ``-`` for standard input.
        skip_bad: Leave malformed rows out and go on; None if the command has no such option.
        report: Takes a message on each row left out.

    Raises:
        ValueError: If a row is malformed, with file, line, field and remedy; if two rows
            contradict each other; or if no row is usable.
    """
    found = VerdictRows()

    def left_out(message: str) -> None:
        found.bad += 1
        if report:
            report(message)

    seen: dict[tuple[str | None, Triple], tuple[int, StoredVerdict]] = {}
    for number, line in numbered_lines(path):
        with at_line(path, number, skip_bad=skip_bad, report=left_out):
            record = _record(parse_row(line))
            if record is None:
                found.empty += 1
                continue
            key = (record.judge.digest if record.judge else None, record.triple)
            first, said = seen.setdefault(key, (number, record.said))
            if said.verdict is not record.said.verdict:
                raise ValueError(
                    f'field verdict is {record.said.verdict.value}, but line {first} says '
                    f'{said.verdict.value} of the same question, gold and answer; leave one out'
                )
            found.records.append(record)
    if found.bad and not found.records and not found.empty:
        raise ValueError(
            f'{input_name(path)}: there is no usable row; see gpassk verdicts import --help for '
            'the format'
        )
    return found


def _digits(given: Any) -> Any:
    """Return a number as a text: in a triple it means its digits."""
    return str(given) if type(given) in (int, float) else given


Spelled = Annotated[Text, BeforeValidator(_digits)]


class _Row(Typed):
    question: Spelled
    gold: Spelled
    answer: Spelled
    created: Annotated[float, Field(ge=0, lt=LATEST, default_factory=time.time)]

    @property
    def triple(self) -> Triple:
        return Triple(self.question, self.gold, self.answer)


class _OfPerson(_Row):
    note: Text = ''


class _OfJudge(_Row):
    model: Text
    prompt: Text
    settings: dict[str, Any]
    verdict: Literal['correct', 'incorrect', 'unjudged']
    reason: Text = ''
    reply: Text = ''
    prompt_tokens: Count = 0
    completion_tokens: Count = 0


def _record(row: dict[str, Any]) -> Record | None:
    """Return the record in a row; None if a person left its label empty."""
    if 'human' in row or not any(name in row for name in JUDGE_FIELDS):
        of_person = decode(_OfPerson, row)
        label = read_label(row)
        if label is None or label is Verdict.UNJUDGED:
            return None
        if not of_person.answer.strip():
            raise ValueError(
                'answer is empty: a response without a final answer is wrong by rule, '
                "whatever its label; leave the row's label empty"
            )
        said = StoredVerdict(label, reply=of_person.note)
        return Record(of_person.triple, None, said, of_person.created)
    of_judge = decode(_OfJudge, row)
    said = StoredVerdict(
        Verdict(of_judge.verdict),
        of_judge.reason,
        of_judge.reply,
        of_judge.prompt_tokens,
        of_judge.completion_tokens,
    )
    judge = JudgeIdentity(of_judge.model, of_judge.prompt, of_judge.settings)
    return Record(of_judge.triple, judge, said, of_judge.created)
