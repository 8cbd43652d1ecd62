"""Verdicts of a store as lines to read: one a verdict, or a table of what each judge said."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime

from opencompass_gpassk.hashing import text_hash
from opencompass_gpassk.judging.storage.contents import JudgeCount
from opencompass_gpassk.judging.storage.rows import Record
from opencompass_gpassk.text import one_line
from opencompass_gpassk.trials import Verdict

__all__ = ['count_lines', 'record_line']

SHOWN = 60  # characters of a text
COUNTED = [*(verdict.value for verdict in Verdict), 'prompt tokens', 'completion tokens']


def record_line(record: Record) -> str:
    """Return one line: verdict, time, judge, gold answer, answer, reason or note, question."""
    said = record.said
    time = datetime.fromtimestamp(record.created).strftime('%Y-%m-%d %H:%M')
    who, note = (record.judge.model, '') if record.judge else ('human', said.reply)
    texts = [f'gold {_short(record.triple.gold)}', f'answer {_short(record.triple.answer)}']
    texts += [_short(told)] if (told := said.reason or note) else []
    question = _short(record.triple.question)
    return '  '.join([f'{said.verdict.value:9}', time, _short(who), ' | '.join(texts), question])


def count_lines(counts: Iterable[JudgeCount]) -> list[str]:
    """Return a table with a row for each judge, and for people."""
    table = [['judge', 'prompt', *COUNTED, 'settings']]
    total = 0
    for one in counts:
        found = [one.verdicts.get(verdict, 0) for verdict in Verdict]
        total += sum(found)
        numbers = map(str, [*found, one.prompt_tokens, one.completion_tokens])
        if one.judge is None:
            table.append(['human', '', *numbers, ''])
        else:
            settings = json.dumps(dict(one.judge.settings), sort_keys=True)
            prompt = text_hash([one.judge.prompt])
            table.append([one_line(one.judge.model), prompt, *numbers, settings])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if name in COUNTED else cell.ljust(width)
            for name, cell, width in zip(table[0], row, widths, strict=True)
        ]
        lines.append('  '.join(cells).rstrip())
    return [*lines, f'{total} verdicts']


def _short(text: str) -> str:
    line = one_line(text[: 10 * SHOWN])
    return line if len(line) <= SHOWN else f'{line[: SHOWN - 1]}…'
