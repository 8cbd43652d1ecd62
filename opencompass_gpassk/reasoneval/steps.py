"""Split a response into the steps of its solution; formulas, code and environments stay whole."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from opencompass_gpassk.answers.speech import segments, spoken
from opencompass_gpassk.reasoneval.markers import PARAGRAPH, Span, marked_steps
from opencompass_gpassk.reasoneval.uncut_spans import Protected

# A sentence may end inside quotes, emphasis or a formula that is closed after the full stop.
CLOSERS = r'["\'”’)\]}*_$」』）]{0,4}(?:\\[)\]])?["\'”’)*_]{0,4}'
END = re.compile(
    rf'(?<![.!?…])(?P<stop>[.!?…]{{1,6}}){CLOSERS}\s+(?=(?P<next>\S))'
    r'|[。！？]{1,6}[”’」』）)*_]{0,4}\s*(?=\S)'
)
ABBREVIATIONS = frozenset({
    'fig', 'figs', 'eq', 'eqs', 'eqn', 'vs', 'cf', 'dr', 'mr', 'mrs', 'ms', 'prof', 'st', 'thm',
    'pp', 'vol', 'approx', 'resp', 'viz',
})  # fmt: skip
BEFORE_NUMBERS = frozenset({'no', 'nos', 'ex', 'ch', 'sec'})  # abbreviations only before a number
LETTERS = re.compile(r'[A-Za-z](?:\.[A-Za-z])+')  # e.g., i.e., U.S.
REACH = 12


def sentence_starts(text: str) -> Iterator[int]:
    """Yield the position of the first character of each sentence after the first.

    Decimals, factorials, abbreviations (e.g., i.e., Fig. 1), and ellipses before a number or small
    letter don't end a sentence. The caller must keep formulas whole.
    """
    for match in END.finditer(text):
        stop = match.group('stop')
        if stop is None or _ends(text, match.start(), stop, match.group('next')):
            yield match.end()


def _ends(text: str, position: int, stop: str, following: str) -> bool:
    if following.islower() or following in '.,;:=+-/<>)]}^&|':
        return False
    if following.isdigit() and (len(stop) > 1 or stop in '!…'):
        return False
    if stop == '!' and text[max(0, position - 1) : position].isdigit():
        return following.isupper()
    if stop != '.':
        return True
    if not text[position - 1 : position].isalpha():
        return True
    word = text[max(0, position - REACH) : position].split()[-1].lstrip('([{"\'*_').lower()
    if word in ABBREVIATIONS or LETTERS.fullmatch(word):
        return False
    return not (word in BEFORE_NUMBERS and following.isdigit())


COLONS = (':', '：')
HEADING = re.compile(r'\#{1,6}\s|(\*\*|__)(?![*_]).{1,200}(?<![.!?。！？])\1\Z')
TITLE = re.compile(
    r'(?:(?:the[^\S\n])?(?:solution|answer|proof|explanation|reasoning)'
    r'|解|解答|解法|解析|解题过程|答案|分析|证明|证)[.。]?',
    re.IGNORECASE,
)


def joined(pieces: Iterable[str], announces: Callable[[str], object], by: str = '\n') -> list[str]:
    """Join each piece that only announces the next piece, such as a heading, with that piece."""
    steps: list[str] = []
    announcing: list[str] = []
    for piece in pieces:
        announcing.append(piece)
        if not announces(piece):
            steps.append(by.join(announcing))
            announcing = []
    return [*steps, by.join(announcing)] if announcing else steps


def parted(pieces: list[str]) -> tuple[list[str], list[str]]:
    """Split off the last pieces whose lines all only announce something."""
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


LINE_END = re.compile('\r\n|[\r\x0b\x0c\x85\u2028]')
LINE = re.compile(r'\n\s*')
RULE = re.compile(r'\s*(?:-{3,}|\*{3,}|_{3,})\s*')
RULERS = frozenset('-*_')
NUMBER = re.compile(r'[*_(（]{0,3}\d{1,3}[.)）]{1,2}[*_]{0,2}')
# White space and invisible characters, for which a tokenizer may make no token at all.
INVISIBLE = re.compile('[\\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*')


def split_steps(
    response: str, *, delimiter: str | None = None, thinking: str = 'drop'
) -> list[str]:
    """Split a response into the steps of its solution.

    The first of these that finds two steps or more is used:

    1. markers that begin lines and count from 1 (Step 1, **Step 2**, 第一步, 步骤 2, ``1.``,
       ``(1)``, 一、); text outside marked steps is split at blank lines;
    2. blank lines;
    3. lines;
    4. sentences.

    A heading, a title such as "Solution", or a text that ends in a colon is joined with the text
    that it announces: by itself it states nothing to be judged. Mathematics, code and environments
    are never cut (:class:`~opencompass_gpassk.reasoneval.uncut_spans.Protected`). The steps keep
    all text of the response in order, except white space, rules (``---``) between steps, delimiters
    and dropped thoughts. The time is about linear in the length of the response.

    Args:
        response: The model's response.
        delimiter: A text that separates the steps, instead of the rules above.
        thinking: Whether thinking blocks, also unclosed ones, are left out (``drop``) or split
            like separate solutions, without their tags (``keep``).

    Returns:
        The steps, stripped of white space; none is empty or has only invisible characters. The list
        is empty if the response is empty, blank, or a dropped thought. Lines end with ``\\n``,
        unless a delimiter is given.
    """
    parts = [spoken(response)] if thinking == 'drop' else [text for text, _ in segments(response)]
    split = _by_rules if delimiter is None else lambda part: _by_delimiter(part, delimiter)
    steps = (step for part in parts if part.strip() for step in split(part))
    return [step for step in steps if not INVISIBLE.fullmatch(step)]


NEARLY_ALL = 0.9


def require_steps(split: Iterable[Sequence[str]], delimiter: str | None) -> None:
    """Raise a ValueError if solutions lack the text that separates steps for a scorer's checkpoint.

    Args:
        split: The steps of each solution.
        delimiter: The text at which they were split; None if by rules.
    """
    found = [steps for steps in split if steps]
    lone = [steps[0] for steps in found if len(steps) == 1]
    whole = sum('\n' in one or bool(marked_steps(one, Protected(one))) for one in lone)
    if delimiter is not None and whole > NEARLY_ALL * len(found):
        raise ValueError(
            f'{whole} of {len(found)} solutions are one step each, although they hold several '
            f'lines or markers such as Step 1, since this model splits steps at {delimiter!r}. Set '
            'delimiter to the text between your steps, such as {"delimiter": "\\n"} in the file of '
            '--settings, or give the "steps" of each solution as a list'
        )


def _by_delimiter(text: str, delimiter: str) -> list[str]:
    protected = Protected(text)
    steps = []
    start = 0
    for found in re.finditer(re.escape(delimiter), text):
        if not (protected.inside(found.start()) or protected.inside(found.end())):
            steps.append(text[start : found.start()].strip())
            start = found.end()
    steps.append(text[start:].strip())
    return [step for step in steps if step]


def _by_rules(text: str) -> list[str]:
    text = LINE_END.sub('\n', text).replace('\u2029', '\n\n')
    protected = Protected(text)
    marked = marked_steps(text, protected)
    if marked:
        return list(_around_marked(text, marked, protected))
    for gap in (PARAGRAPH, LINE):
        starts = (match.end() for match in gap.finditer(text))
        steps = joined(_cut(text, starts, protected), _announces)
        if len(steps) > 1:
            return steps
    # The number of a list's item, such as 1., belongs to the sentence after it.
    return joined(_cut(text, sentence_starts(text), protected), NUMBER.fullmatch, by=' ')


def _around_marked(text: str, marked: Iterable[Span], protected: Protected) -> Iterator[str]:
    """Yield the marked steps, and the paragraphs before, between and after them."""
    paragraphs = [match.end() for match in PARAGRAPH.finditer(text)]
    position = 0
    for start, end in [*marked, (len(text), len(text))]:
        announcing: list[str] = []
        if position < start:
            index = bisect_right(paragraphs, position)
            within = paragraphs[index : bisect_left(paragraphs, start)]
            pieces = _cut(text, within, protected, position, start)
            if start < len(text):
                pieces, announcing = parted(pieces)
            yield from joined(pieces, _announces)
        step = '\n'.join(filter(None, [*announcing, _without_rules(text[start:end])]))
        if step:
            yield step
        position = end


def _cut(
    text: str, starts: Iterable[int], protected: Protected, first: int = 0, end: int | None = None
) -> list[str]:
    """Cut a part of a text where pieces may start, and leave out pieces without content."""
    cuts = [start for start in starts if not protected.inside(start)]
    ends = [*cuts, len(text) if end is None else end]
    pieces = (_without_rules(text[a:b]) for a, b in zip([first, *cuts], ends, strict=True))
    return [piece for piece in pieces if piece]


def _without_rules(piece: str) -> str:
    """Strip white space and rules such as ``---`` at either end."""
    piece = piece.strip()
    if piece[:1] not in RULERS and piece[-1:] not in RULERS:
        return piece
    lines = piece.split('\n')
    kept = [i for i, line in enumerate(lines) if line.strip() and not RULE.fullmatch(line)]
    return '\n'.join(lines[kept[0] : kept[-1] + 1]).strip() if kept else ''
