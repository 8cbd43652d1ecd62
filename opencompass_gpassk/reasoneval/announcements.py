"""Pieces of a response that only announce what follows: by themselves they are no steps."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ['joined', 'parted']

COLONS = (':', '：')
HEADING = re.compile(r'\#{1,6}\s|(\*\*|__)(?![*_]).{1,200}(?<![.!?。！？])\1\Z')
TITLE = re.compile(
    r'(?:(?:the[^\S\n])?(?:solution|answer|proof|explanation|reasoning)'
    r'|解|解答|解法|解析|解题过程|答案|分析|证明|证)[.。]?',
    re.IGNORECASE,
)


def joined(pieces: Iterable[str]) -> list[str]:
    """Join each piece that only announces the next with it."""
    steps: list[str] = []
    announcing: list[str] = []
    for piece in pieces:
        if _announces(piece):
            announcing.append(piece)
        elif announcing:
            steps.append('\n'.join([*announcing, piece]))
            announcing = []
        else:
            steps.append(piece)
    if announcing:
        steps.append('\n'.join(announcing))
    return steps


def parted(pieces: list[str]) -> tuple[list[str], list[str]]:
    """Part the last pieces, as far as each of their lines only announces, from those before."""
    first = len(pieces)
    while first and all(
        _announces(line.strip()) for line in pieces[first - 1].split('\n') if line.strip()
    ):
        first -= 1
    return pieces[:first], pieces[first:]


def _announces(piece: str) -> bool:
    if piece.rstrip('*_').endswith(COLONS):
        return True
    if '\n' in piece:
        return False
    return bool((piece[0] in '#*_' and HEADING.match(piece)) or TITLE.fullmatch(piece))
