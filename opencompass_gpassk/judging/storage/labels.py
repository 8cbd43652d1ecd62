"""What a person says of an answer in a row of JSON: one table for audits and for imports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opencompass_gpassk.trials import Verdict

__all__ = ['LABEL_FIELDS', 'read_label']

LABEL_FIELDS = ('human', 'verdict', 'label')
WORDS = {
    'true': Verdict.CORRECT,
    'correct': Verdict.CORRECT,
    'false': Verdict.INCORRECT,
    'incorrect': Verdict.INCORRECT,
    'unjudged': Verdict.UNJUDGED,
}


def read_label(row: Mapping[str, Any]) -> Verdict | None:
    """Return a row's label, None where it isn't filled in.

    The label is the first of ``human``, ``verdict`` and ``label`` that is there: true, false,
    ``"correct"``, ``"incorrect"``, or ``"unjudged"`` where the person can't tell.

    Raises:
        ValueError: If there is no such field, or it holds something else, with remedy.
    """
    name = next((name for name in LABEL_FIELDS if name in row), None)
    if name is None:
        raise ValueError(f'no field {" or ".join(LABEL_FIELDS)}; it holds the label')
    label = row[name]
    if label is None or (isinstance(label, str) and not label.strip()):
        return None
    if not isinstance(label, (bool, str)) or str(label).strip().lower() not in WORDS:
        raise ValueError(
            f'field {name} is {json.dumps(label)[:60]}; give true or false, "correct" or '
            '"incorrect", or "unjudged"'
        )
    return WORDS[str(label).strip().lower()]
