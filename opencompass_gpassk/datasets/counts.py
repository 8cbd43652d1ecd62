"""Are all problems of a data set there?"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from opencompass_gpassk.datasets.rows import Row

__all__ = ['check_counts']


def check_counts(
    title: str,
    expected: Mapping[str, int | None],
    rows: Mapping[str, Sequence[Row]],
    *,
    strict: bool = True,
) -> None:
    """Compare the number of problems of each part with what the data set is known to have.

    Args:
        title: The data set's name, for the message.
        expected: Problems of each part; None where that isn't known.
        rows: The parts' rows.
        strict: Raise rather than warn.

    Raises:
        ValueError: If a part has another number of problems, naming it and where it ends.
    """
    wrong = [
        f'{name} has {len(rows[name])} problems instead of {count}'
        + (f' (the last at {rows[name][-1].place})' if rows[name] else '')
        for name, count in expected.items()
        if count is not None and len(rows[name]) != count
    ]
    if not wrong:
        return
    message = f'{title}: {"; ".join(wrong)}'
    if strict:
        raise ValueError(
            f'{message}. Results would not compare with those of others; get the whole data, or '
            'set strict=False in the data set config to go on with a warning'
        )
    logging.getLogger(__name__).warning(message)
