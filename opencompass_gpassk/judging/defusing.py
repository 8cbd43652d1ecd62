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
# Words in angle or square brackets that tokenizers or readers of replies take for more than text:
# turns of a chat, thoughts, and the fences of prompts.
WORDS = (
    r's|bos|eos|sop|eop|eod|pad|unk|eo[ahm]|think|thinking|thought|reasoning|reflection|answer'
    r'|(?:start|end)_of_(?:turn|text|message)|_?(?:system|user|assistant|human|bot|model|tool)'
    r'|tool_(?:call|response)s?|tools|function_calls?|instructions?|reserved_\d{1,4}'
    r'|questions?|references?|candidates?|gold|prompt|judge?ment|verdict'
)
NAMES = (
    r'INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|g?MASK|BOS|EOS|CLS|SEP'
    r'|UNUSED_TOKEN_\d{1,4}|\|(?:ai|[a-z_]{4,30})\|'
)
GAP = r'\s{0,3}/?\s{0,3}'
SIGNS = re.compile(
    rf'<{GAP}(?:{WORDS}){GAP}>'
    rf'|<\|{GAP}[a-z_][\w▁-]{{1,60}}\s{{0,3}}\|>'
    rf'|<<{GAP}SYS\s{{0,3}}>>'
    rf'|◁{GAP}think\s{{0,3}}▷'
    rf'|\[{GAP}(?:{NAMES})\s{{0,3}}\]',
    re.IGNORECASE,
)
BOX = re.compile(r'[\\∖⧵⧹]\s{0,3}(?:boxed|f(?:rame|color)?box|colorbox)', re.IGNORECASE)


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

    Lone surrogates, which no server takes, become U+FFFD.
    """
    return _replaced(SIGNS, ''.join(map(_visible, text)), lambda sign: f'‹{sign[1:-1]}›')


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
    if category == 'Cs':
        return '\ufffd'
    kept = char == '\t' or LINE_ENDS.match(char)
    hidden = category in ('Cc', 'Cf') and not kept
    return '' if hidden or char in INVISIBLE else char


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    """Return the plain form of a styled character, where that is one character too."""
    plain = unicodedata.normalize('NFKC', char)
    return plain if len(plain) == 1 else char
