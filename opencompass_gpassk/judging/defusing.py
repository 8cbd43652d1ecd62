"""Text of others inside a judge's prompt: what might act as more than text is made visible.

A candidate's answer comes from the model under test, which is rewarded for what the judge says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

__all__ = ['defuse', 'neutralise']

QUOTED = '┃ '  # before each line of what has several; no sign of mathematics, and of no menu
LINE_ENDS = re.compile(r'\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]')
# Letters and marks that show nothing, besides the format characters of Unicode's category Cf.
INVISIBLE = {
    *'\u034f\u115f\u1160\u2800\u3164\uffa0',
    *map(chr, range(0xFE00, 0xFE10)),  # variation selectors
    *map(chr, range(0xE0100, 0xE01F0)),
}
# Cyrillic and Greek letters that are drawn as Latin ones, and the triangles of ◁think▷.
LOOKALIKES = dict(
    zip(
        'асԁеԍһіјкӏмпорԛѕтуѵԝхАВСЕНІЈКМОРЅТУХαεικνορτυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡ◁▷',
        'acdeghijklmnopqstuvwxABCEHIJKMOPSTYXaeiknoptuxyABEZHIKMNOPTYXiag<>',
        strict=True,
    )
)
HARMLESS = {'<': '‹', '>': '›', '[': '‹', ']': '›'}
# The name of a tag has two letters or more, or is the s of <s>: a<b>c is mathematics. It is Chinese
# as a whole or not at all: Chinese has no blanks between words, as in AB<CD或EF>GH.
NAME = (
    r'(?:[^\W\d\u3000-\u9fff]{2}[^\s<>()[\]{}|,;$\\^+*/\u3000-\u9fff]{0,60}'
    r'|[\u4e00-\u9fff]{2,20}|s)'
)
# Tokens of chats, thoughts and tools, and the fences of prompts. Only blanks may be any number, and
# those behind one bracket are none behind another: the time taken is linear.
SIGNS = re.compile(
    rf'<\|?\s*{NAME}\s*\|?>'  # <name>, <|name|>, <|name>, <name|>
    rf'|<\s*{NAME}\s[^<>]{{0,200}}=\s{{0,9}}["\'][^<>]{{0,200}}>'  # <name x="1">
    rf'|<\|?\s*/\s*{NAME}(?:[^<>]{{0,200}}>)?'  # </name …>, or without its end
    r'|<\s*(?:question|reference|candidate|answer|system|user|assistant|think)(?:[^<>]{0,200}>)?'
    r'|\[\|\s*[a-z_]{2,30}\s*\|\]'  # [|name|]
    r'|(?-i:\[(?:\s*/)?\s*[a-z]?[A-Z][A-Z_]{2,40}\d{0,4}\s*\])'  # [NAME], [/NAME], [gNAME]
    r'|\](?:~!?[a-z]|![a-z]~)[][]|\[[a-z]~\[|\]<\][a-z]{3,30}\[>\[',  # ]~b], ]~!b[, ]!p~[, [e~[
    re.IGNORECASE,
)
BOXES = ('boxed', 'fbox', 'framebox', 'fcolorbox', 'colorbox')
BOX = re.compile(r'[\\∖⧵⧹]\s*(?:' + '|'.join(map(r'\s*'.join, BOXES)) + ')', re.IGNORECASE)


def neutralise(candidate: str) -> str:
    r"""Return a candidate's answer as text that can't be taken for a verdict or for the prompt.

    What an answer usually holds stays as it is. Verdict commands become ``\framed``, signs of chat
    templates, thoughts and fences get harmless brackets, what can't be seen is left out, and of an
    answer of several lines each is marked as quoted. Linear in the length of the answer.
    """
    text = _replaced(BOX, defuse(candidate), lambda box: '\\framed')
    lines = LINE_ENDS.split(text)
    return text if len(lines) == 1 else '\n'.join(QUOTED + line for line in lines)


def defuse(text: str) -> str:
    """Return a text without signs of chat templates and without what can't be seen.

    Lone surrogates, which no server takes, and private or unassigned characters become U+FFFD.
    """
    return _replaced(SIGNS, ''.join(map(_visible, text)), _bracketed)


def _bracketed(sign: str) -> str:
    return ''.join(HARMLESS.get(_plain(char), char) for char in sign)


def _replaced(pattern: re.Pattern[str], text: str, new: Callable[[str], str]) -> str:
    """Replace what a pattern finds, also where it is written in full-width or styled letters."""
    found, position = [], 0
    for match in pattern.finditer(text if text.isascii() else ''.join(map(_plain, text))):
        found += [text[position : match.start()], new(text[match.start() : match.end()])]
        position = match.end()
    return ''.join([*found, text[position:]])


@lru_cache(maxsize=4096)
def _visible(char: str) -> str:
    category = unicodedata.category(char)
    if category in ('Cs', 'Co', 'Cn'):
        return '\ufffd'
    kept = char == '\t' or LINE_ENDS.match(char)
    hidden = category in ('Cc', 'Cf') and not kept
    return '' if hidden or char in INVISIBLE else char


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    """Return the plain Latin form of a styled or foreign character, if it is one character too."""
    plain = unicodedata.normalize('NFKC', char)
    return LOOKALIKES.get(plain, plain) if len(plain) == 1 else char
