"""Grading prompts: their text, how it is filled, and how answers in it are made harmless.

A candidate's answer comes from the model under test, which profits from the judge's verdict.
Anything in it that might act as more than text in the judge's prompt is therefore made visible.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import NamedTuple


class Triple(NamedTuple):
    """Question, gold and answer of one verdict; equal triples are judged once for all models."""

    question: str
    gold: str
    answer: str


QUOTED = '┃ '  # marks each line of a text with several lines; not used in mathematics or by a menu
LINE_ENDS = re.compile(r'\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]')
# Invisible letters and marks, besides the format characters of Unicode's category Cf.
INVISIBLE = {
    *'\u034f\u115f\u1160\u2800\u3164\uffa0',
    *map(chr, range(0xFE00, 0xFE10)),  # variation selectors
    *map(chr, range(0xE0100, 0xE01F0)),
}
# Cyrillic and Greek letters that look like Latin ones, and the triangles of ◁think▷.
LOOKALIKES = dict(
    zip(
        'асԁеԍһіјкӏмпорԛѕтуѵԝхАВСЕНІЈКМОРЅТУХαεικνορτυχγΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡ◁▷',
        'acdeghijklmnopqstuvwxABCEHIJKMOPSTYXaeiknoptuxyABEZHIKMNOPTYXiag<>',
        strict=True,
    )
)
HARMLESS = {'<': '‹', '>': '›', '[': '‹', ']': '›'}
# A tag's name has two letters or more, or is the s of <s>: a<b>c is mathematics. A name is all
# Chinese or has none, since Chinese has no blanks between words, as in AB<CD或EF>GH.
NAME = (
    r'(?:[^\W\d\u3000-\u9fff]{2}[^\s<>()[\]{}|,;$\\^+*/\u3000-\u9fff]{0,60}'
    r'|[\u4e00-\u9fff]{2,20}|s)'
)
# Tokens of chats, thoughts and tools, and the fences of prompts. Only blanks are unlimited in
# number, and blanks belong to one bracket only, so that matching takes linear time.
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

    Usual answers stay as they are. Verdict commands become ``\framed``; signs of chat templates,
    thoughts and fences get harmless brackets; invisible characters are removed; each line of an
    answer of several lines is marked as quoted. The time is linear in the length of the answer.
    """
    text = _replaced(BOX, defuse(candidate), lambda box: '\\framed')
    lines = LINE_ENDS.split(text)
    return text if len(lines) == 1 else '\n'.join(QUOTED + line for line in lines)


def defuse(text: str) -> str:
    """Return a text with harmless signs of chat templates and without invisible characters.

    Lone surrogates, which servers reject, and private or unassigned characters become U+FFFD.
    """
    return _replaced(SIGNS, ''.join(map(_visible, text)), _bracketed)


def _bracketed(sign: str) -> str:
    return ''.join(HARMLESS.get(_plain(char), char) for char in sign)


def _replaced(pattern: re.Pattern[str], text: str, new: Callable[[str], str]) -> str:
    """Replace the matches of a pattern, also those in full-width or styled letters."""
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
    """Return the plain Latin form of a styled or foreign character, if it is a single character."""
    plain = unicodedata.normalize('NFKC', char)
    return LOOKALIKES.get(plain, plain) if len(plain) == 1 else char


BUILT_IN = ('default', 'opencompass')
FOLDER = Path(__file__).parent / 'prompts'
NAMES = {
    'question': ('question', 'problem'),
    'gold': ('gold', 'gold_answer', 'reference', 'reference_answer', 'standard_answer', 'obj_gold'),
    'answer': (
        *('answer', 'candidate', 'candidate_answer', 'llm_output', 'llm_response'),
        *('model_output', 'output', 'prediction', 'response'),
    ),
}
FIELD_OF = {name: field for field, names in NAMES.items() for name in names}
# Braces after a letter belong to a command, as in \\boxed{answer}.
PLACEHOLDER = re.compile(r'(?<![A-Za-z])\{(' + '|'.join(FIELD_OF) + r')\}')


@dataclass(frozen=True)
class Prompt:
    """A template with placeholders for a problem, its reference answer and a candidate's answer.

    Attributes:
        text: The template, with the placeholders ``{question}``, ``{gold}`` and ``{answer}``, or
            other projects' names for them. All other braces are text.
    """

    text: str

    @classmethod
    def load(cls, source: str, language: str) -> Prompt:
        """Return a template.

        Args:
            source: ``'default'`` for this package's prompt, ``'opencompass'`` for the installed
                OpenCompass's prompt for LiveMathBench, else the path of a file.
            language: ``'en'`` or ``'cn'``, which selects a version of the first two.

        Raises:
            ValueError: If a file can't be read, or has no placeholder for the reference answer or
                the candidate's answer.
        """
        if source == 'default':
            return cls((FOLDER / f'{language}.txt').read_text('utf-8'))
        return cls(_upstream(language) if source == 'opencompass' else _of_file(Path(source)))

    def fill(self, triple: Triple) -> str:
        """Return the prompt about one answer.

        All values are filled in one pass, so placeholders inside a value stay text. The candidate's
        answer is neutralised. Question and gold come from the data set: they keep their wording and
        boxes, but nothing in them can act as a turn of a chat.
        """
        values = {
            'question': defuse(triple.question),
            'gold': defuse(triple.gold),
            'answer': neutralise(triple.answer),
        }
        return PLACEHOLDER.sub(lambda place: values[FIELD_OF[place.group(1)]], self.text)


def _upstream(language: str) -> str:
    from opencompass.datasets.livemathbench import prompts

    written = prompts.JUDGE_PROMPT_CN if language == 'cn' else prompts.JUDGE_PROMPT_EN
    # It is written for str.format, which turns two braces into one.
    parts = Formatter().parse(written)
    return ''.join(text + (f'{{{field}}}' if field else '') for text, field, *_ in parts)


def _of_file(path: Path) -> str:
    try:
        text = path.read_bytes().decode('utf-8-sig')
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f'prompt of judge: {path} cannot be read as UTF-8 ({error}); give the path of a text '
            f'file, or one of {", ".join(map(repr, BUILT_IN))}'
        ) from None
    fields = {FIELD_OF[place.group(1)] for place in PLACEHOLDER.finditer(text)}
    for field, whose in (('gold', 'reference answer'), ('answer', "candidate's answer")):
        if field not in fields:
            raise ValueError(
                f'prompt of judge: {path} has no place for the {whose}; write {{{field}}} where it '
                "belongs ({gold} is the reference, {answer} the candidate's; other braces are text)"
            )
    return text.replace('\r\n', '\n')
