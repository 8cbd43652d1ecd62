"""Gold answers in a second file, for responses that were saved without them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.jsonlines import at_place, fields_of
from opencompass_gpassk.formats.tables import unread_rows
from opencompass_gpassk.samples.log_files import Fields, gold_answers, renamed

# Marks of a turn in chat templates: <|im_start|>, <start_of_turn>, [INST].
TEMPLATE = re.compile(r'<\|\w+\|>|<start_of_turn>|\[INST\]')


class GoldFile:
    """The rows of a file with gold answers, by a field that rows of responses have too.

    Args:
        path: The file: JSON lines, JSON, CSV or Parquet, with ``answer``, and perhaps ``question``,
            ``id`` and groups.
        on: The field of the responses and that of the file, as ``prompt=prompt``.
        columns: Field → its name in the file.

    Raises:
        ValueError: If a row lacks the field or an answer, or two rows of one value differ.
    """

    def __init__(self, path: str, on: str, columns: Mapping[str, str]) -> None:
        self.path = path
        self.field, _, own = on.partition('=')
        self.own = own
        self.rows: dict[str, Fields] = {}
        for row in unread_rows(path):
            with at_place(row.place):
                fields = row.read()
                fields |= renamed(fields, columns)
                if not isinstance(value := fields.get(own), str | int):
                    raise ValueError(f'field {own}, of --on, is missing; {fields_of(fields)}')
                gold_answers(fields, 'answer')
                if self.rows.setdefault(str(value).strip(), fields) != fields:
                    told = short_line(str(value), 60)
                    raise ValueError(f'field {own}: a second row has {told!r}; leave one out')

    def of(self, fields: Fields, row: Fields) -> Fields:
        """Return a row of responses with question, gold answer, id and groups of this file.

        Args:
            fields: The row as its file holds it, with the field that both files have.
            row: The row as it is scored.
        """
        value = fields.get(self.field, row.get(self.field))
        if not isinstance(value, str | int):
            raise ValueError(f'field {self.field}, of --on, is missing; {fields_of(fields)}')
        if (found := self.rows.get(str(value).strip())) is None:
            told = short_line(str(value), 60)
            hint = ''
            if TEMPLATE.search(str(value)):
                hint = (
                    '; this prompt holds a chat template, which the gold file lacks: join by an id '
                    'instead, such as --on id=id'
                )
            raise ValueError(f'{self.path} has no row with {self.own} = {told!r}{hint}')
        row = row | {name: one for name, one in found.items() if name not in ('sample', 'samples')}
        return row if row.get('question') else {'id': str(value), **row}
