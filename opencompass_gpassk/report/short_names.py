"""Names that are shortened where there is little room, and can be told apart still."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ['told_apart']


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """Return names of at most so many characters, cut in the middle, that differ if these do.

    Names of models differ in their ends, as do versions, or the data sets behind them.
    """
    short = [_without_middle(name, most) for name in names]
    of_short: dict[str, list[str]] = {}
    for name, one in zip(names, short, strict=True):
        if name not in of_short.setdefault(one, []):
            of_short[one].append(name)
    numbers = {n: i for same in of_short.values() if len(same) > 1 for i, n in enumerate(same, 1)}
    return [
        f'{_without_middle(name, most - 5)} ({numbers[name]})' if name in numbers else one
        for name, one in zip(names, short, strict=True)
    ]


def _without_middle(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    end = most // 2
    return f'{name[: most - 1 - end]}…{name[len(name) - end :]}'
