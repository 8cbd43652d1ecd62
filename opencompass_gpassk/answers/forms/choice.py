"""Choices: the letter of an option, alone, named as one, or before the option's own text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from opencompass_gpassk.answers.braces import split_top
from opencompass_gpassk.answers.forms.expression import Expression
from opencompass_gpassk.answers.forms.form import Form, Parse, compare
from opencompass_gpassk.answers.forms.sequence import LIST, Sequence
from opencompass_gpassk.answers.forms.text import Text
from opencompass_gpassk.answers.reader import is_sure
from opencompass_gpassk.answers.sameness import Relation

# The letter of a choice alone: A, (A), [A], A., (A):
ALONE = re.compile(r'(?:\[\[|[(\[])?\s*([A-J])\s*(?:\]\]|[)\]])?[.:]?')
# A choice before its content: (A) 5, B. 5, C: 5, \\text{(D) } 5; and a choice named as such.
LEAD = re.compile(
    r'(?:\(([A-J])\)|\\text\{\s?\(([A-J])\)\s?\}|([A-J])(?:[.)]|:\s)|([A-J])\s(?=\(.*\)$))\s*(\S.*)',
    re.DOTALL,
)
NAMED = re.compile(r'(?:[Oo]ption|[Cc]hoice|选项?|選項?)\s?\(?([A-J])\)?')
LETTER = re.compile(r'(?<![a-zA-Z\\_])[A-J](?![a-zA-Z])')
LETTERS = re.compile(r'[A-J]{2,10}|[abcfghj]')


@dataclass(frozen=True, kw_only=True)
class Choice(Form):
    """One or several letters of options.

    Attributes:
        letters: In the order in which they were read.
        content: The option's own text behind the letter, if it was read.
    """

    letters: str
    content: Form | None = None

    @classmethod
    def read(cls, text: str, parse: Parse) -> Choice | None:
        """Read a letter alone, named as a choice, or before its own text, which is a value."""
        found = ALONE.fullmatch(text) or NAMED.fullmatch(text)
        if found:
            return cls(text=text, letters=found[1])
        several = [ALONE.fullmatch(piece) for piece in split_top(text, LIST)]
        if all(several):
            return cls(text=text, letters=''.join(one[1] for one in several if one))
        lead = LEAD.fullmatch(text)
        if not lead or LETTER.search(lead[5]):  # A. 1 B. 6
            return None
        content = parse(lead[5])
        listed = isinstance(content, Sequence) and not content.is_ordered()
        if listed or (isinstance(content, Text) and not is_sure(lead[5])):
            return None
        return cls(text=text, letters=next(filter(None, lead.groups())), content=content)

    @classmethod
    def of(cls, form: Form) -> Choice | None:
        """Return a small letter, or letters in a row, AC, as choices."""
        if isinstance(form, Expression) and LETTERS.fullmatch(form.text):
            return cls(text=form.text, letters=form.text.upper())
        return form if isinstance(form, cls) else None

    def canonical(self) -> str:
        """Return the letters."""
        return ''.join(sorted(self.letters))

    def compare(self, answer: Choice) -> Relation:
        """Compare the letters; a gold answer of several out of order may be a ranking."""
        if sorted(self.letters) != sorted(answer.letters):
            return Relation.DIFFERENT
        ranked = self.letters not in (answer.letters, ''.join(sorted(self.letters)))
        contents = self.content and answer.content and compare(self.content, answer.content)
        doubtful = ranked or contents is Relation.DIFFERENT
        return Relation.UNKNOWN if doubtful else Relation.SAME
