"""Words: the same after articles and punctuation, or both a yes or a no."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opencompass_gpassk.answers.braces import ENVIRONMENT, TEXT_COMMAND, split_top
from opencompass_gpassk.answers.forms.form import FUNCTIONS, Form, Parse, is_name
from opencompass_gpassk.answers.forms.sequence import DESCRIBED, LIST
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.units import WORDLISTS, split_unit

# Three letters or more that aren't a command, a short English word, or a letter of another script
# except Greek.
WORD = re.compile(
    r'(?<![\\a-zA-Z{^_\d])(?<!\\cdot )(?:[a-zA-Z]{3,}(?![a-zA-Z}^_])'
    r'|(?i:so|is|it|we|of|if|no|as|at|by|be|an|on|my|he)(?![a-zA-Z]))'
    r'|[^\W\d_a-zA-Z\u0370-\u03ff]'
)
LETTER = re.compile(r'(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])')
WORD_BANG = re.compile(r'([^\W\d_]{3})!+(?=\s|$)')  # an exclamation, not a factorial
# Punctuation, which says nothing; a point, comma or colon between digits is kept: 1.5 is not 15.
PUNCTUATION = re.compile(r'(?:(?!(?<=\d)[.,:](?=\d))[\s.,;:"“”‘’、，。；：$\[\]])+')
ARTICLE = re.compile(r'\b(?:[Tt]he|[Aa]n|a(?=\s+\w)|(?<!\w )A(?=\s+\w))\b')
CLOCK = re.compile(r'\d\s*[ap]\.?m\.?\s*$', re.IGNORECASE)
GAP = re.compile(r'(?<!\d) | (?!\d)')  # a space, but not one between two digits
# What says that a statement holds, and that it doesn't.
TRUTH = dict.fromkeys(WORDLISTS['truth +'], True) | dict.fromkeys(WORDLISTS['truth -'], False)


@dataclass(frozen=True, kw_only=True)
class Text(Form):
    """An answer in words.

    Attributes:
        words: The words in lower case without punctuation and articles.
    """

    words: str

    @classmethod
    def read(cls, text: str, _: Parse) -> Text | None:
        """Read a text with a word that is no command, function, name or unit."""
        sides, equals, last = text.rpartition('=')
        bare = sides + equals + split_unit(last)[0]
        clock = CLOCK.search(TEXT_COMMAND.sub(r'\1', text))
        if '\\operatorname' in text or not (clock or _has_words(bare)):
            return None
        return cls(text=text, words=_words(_unnamed(text)))

    def canonical(self) -> str:
        """Return the words."""
        return self.words

    def compare(self, answer: Text) -> Relation:
        """Compare words; of those that differ only yes and no are known to."""
        if GAP.sub('', self.words) == GAP.sub('', answer.words):
            return Relation.SAME
        first, second = TRUTH.get(self.words), TRUTH.get(answer.words)
        if first is None or second is None:
            return Relation.UNKNOWN
        return Relation.SAME if first == second else Relation.DIFFERENT


def _words(text: str) -> str:
    text = ARTICLE.sub(' ', PUNCTUATION.sub(' ', TEXT_COMMAND.sub(r' \1 ', text)))
    return ' '.join(WORD_BANG.sub(r'\1', text.lower()).split())


def _unnamed(text: str) -> str:
    """Return a text without the name of its value: width = 4."""
    name, equals, value = text.partition('=')
    return value if equals and is_name(name.strip()) else text


def _has_words(text: str) -> bool:
    pieces = split_top(ENVIRONMENT.sub(' ', text), LIST)
    if len(pieces) > 1:
        pieces = [DESCRIBED.sub(' ', piece) for piece in pieces]
    bare = ' '.join(_unnamed(piece) for piece in pieces)
    bare = TEXT_COMMAND.sub(lambda m: f' {m[1]} ', bare)
    alone = set(LETTER.findall(bare))
    found = [
        word
        for word in WORD.findall(LIST.sub(' ', bare))
        if word.lower() not in FUNCTIONS
        and not alone.issuperset(word)  # a + b + abc
        and not (word.isupper() and word.isascii() and len(word) < 6)
    ]
    return bool(found or text.lower() == 'no')
