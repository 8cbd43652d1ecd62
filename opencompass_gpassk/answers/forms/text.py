"""Words: the same after articles and punctuation, or the same side of a closed pair."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opencompass_gpassk.answers.braces import ENVIRONMENT, TEXT_COMMAND, split_top
from opencompass_gpassk.answers.forms.form import FUNCTIONS, Form, Parse, is_name
from opencompass_gpassk.answers.forms.number import Number
from opencompass_gpassk.answers.forms.sequence import DESCRIBED, LIST
from opencompass_gpassk.answers.relation import Relation
from opencompass_gpassk.answers.units import WORDLISTS, either, split_unit

__all__ = ['Text']

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
PUNCTUATION = re.compile(r'(?:(?!(?<=\d)[.,:](?=\d))[\s.,;:"“”‘’、，。；：$])+')
ARTICLE = re.compile(r'\b(?:[Tt]he|[Aa]n|a(?=\s+\w)|(?<!\w )A(?=\s+\w))\b')
CLOCK = re.compile(r'\d\s*[ap]\.?m\.?\s*$', re.IGNORECASE)
# Words that may stand for a number.
QUANTITY = re.compile(
    r'\d|\\|none|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty\b'
    r'|hundred|half|third|quarter|thousand|million|billion|dozen|once|double|twice|both|single'
    r'|pair|infinit'
    r'|[零〇一二三四五六七八九十百千万亿两双半倍无]'
    r'|[^\x00-\x7f\u3000-\u9fff\uff00-\uffef]'  # such as ½ and ∞, but not Chinese
)
# Truth values; 0 and 1 count as such.
TRUTH = re.compile(r'\b(?:yes|no|true|false)\b|[是否对正错真假]')
OF_ARGUMENT = re.compile(r'\b[a-z]\s?\([a-z]\)|\b[a-z]\b')
NOT_THERE = re.compile(r'\b(?:is|does|do) not (?:possible|exist)\b')
SUCH = re.compile(r'\bsuch \w+')
GAP = re.compile(r'(?<!\d) | (?!\d)')  # a space, but not one between two digits
# Pair and side, such as ('parity', '+') → a pattern of the words of it, and of those beside them.
SIDES = {
    (name[5:-1], name[-1]): (
        re.compile(either(found, whole=True)),
        re.compile(
            either(WORDLISTS['beside a pole'] + WORDLISTS.get(f'beside {name}', []), whole=True)
        ),
    )
    for name, found in WORDLISTS.items()
    if name.startswith('pole ')
}


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
        return cls(text=text, words=_words(text))

    def canonical(self) -> str:
        """Return the words."""
        return self.words

    def excludes(self, answer: Form) -> bool:
        """Tell whether the answer is a number, and no word here may stand for one."""
        number = isinstance(answer, Number)
        return number and not QUANTITY.search(self.words) and not TRUTH.search(self.words)

    def compare(self, answer: Text) -> Relation:
        """Compare words; of two names or nouns that differ it is unknown whether they are one."""
        if GAP.sub('', self.words) == GAP.sub('', answer.words):
            return Relation.SAME
        first, second = _side(self.words), _side(answer.words)
        arguments = [set(OF_ARGUMENT.findall(text)) for text in (self.words, answer.words)]
        if not first or not second or first[0] != second[0] or arguments[0] > arguments[1]:
            return Relation.UNKNOWN
        if all(arguments) and arguments[0] != arguments[1]:  # f is odd, g is odd
            return Relation.UNKNOWN
        return Relation.SAME if first == second else Relation.DIFFERENT


def _side(words: str) -> tuple[str, str] | None:
    """Return the closed pair and the side of it that a sentence takes; None if there is no one."""
    found = []
    words = NOT_THERE.sub(' impossible ', SUCH.sub(' ', OF_ARGUMENT.sub(' ', words)))
    for side, (pole, beside) in SIDES.items():
        said = pole.search(words)
        if not said or (len(said[0]) == 1 and said[0] != words.strip()):  # 对 in 对数
            continue
        rest = words[: said.start()] + ' ' + words[said.end() :]
        opposite = SIDES[side[0], '-' if side[1] == '+' else '+'][0]
        if (
            not pole.search(rest)
            and not opposite.search(rest)
            and not beside.sub(' ', rest).strip()
        ):
            found.append(side)
    return found[0] if len(found) == 1 else None


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
