"""Grading prompts: where their text comes from, and how it is filled."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

from opencompass_gpassk.judging.defusing import defuse, neutralise
from opencompass_gpassk.judging.judge import Triple

__all__ = ['BUILT_IN', 'Prompt', 'language_of']

BUILT_IN = ('default', 'opencompass')
FOLDER = Path(__file__).parent / 'prompts'
NAMES = {
    'question': ('question', 'problem'),
    'gold': ('gold', 'gold_answer', 'reference', 'reference_answer', 'standard_answer', 'obj_gold'),
    'answer': (
        'answer',
        'candidate',
        'candidate_answer',
        'llm_output',
        'llm_response',
        'model_output',
        'output',
        'prediction',
        'response',
    ),
}
FIELD_OF = {name: field for field, names in NAMES.items() for name in names}
# Behind a letter braces are those of a command, as in \\boxed{answer}.
PLACEHOLDER = re.compile(r'(?<![A-Za-z])\{(' + '|'.join(FIELD_OF) + r')\}')
HAN = re.compile('[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]')
CHINESE = ('cn', 'zh', 'chinese')


@dataclass(frozen=True)
class Prompt:
    """A template with places for a problem, its reference answer and a candidate's answer.

    Attributes:
        text: The template, which names the places ``{question}``, ``{gold}`` and ``{answer}`` or
            as other projects do. All other braces are text.
    """

    text: str

    @classmethod
    def load(cls, source: str, language: str) -> Prompt:
        """Return a template.

        Args:
            source: ``'default'`` for this package's own, ``'opencompass'`` for the one that the
                installed OpenCompass has for LiveMathBench, else the path of a file.
            language: ``'en'`` or ``'cn'``, in which the first two exist; a file serves both.

        Raises:
            ValueError: If a file can't be read, or has no place for the reference answer or for
                the candidate's.
        """
        if source == 'default':
            return cls((FOLDER / f'{language}.txt').read_text('utf-8'))
        return cls(_upstream(language) if source == 'opencompass' else _of_file(Path(source)))

    def fill(self, triple: Triple) -> str:
        """Return the prompt about one answer.

        Values go in in one pass, so that nothing in one of them is filled again. The candidate's
        answer is neutralised; question and gold, which are the data set's, keep their wording and
        their boxes, but nothing in them can act as a turn of a chat.
        """
        values = {
            'question': defuse(triple.question),
            'gold': defuse(triple.gold),
            'answer': neutralise(triple.answer),
        }
        return PLACEHOLDER.sub(lambda place: values[FIELD_OF[place.group(1)]], self.text)


def language_of(question: str, language: str = '') -> str:
    """Return the language of the prompt for a question: ``'cn'`` or ``'en'``.

    Args:
        question: Is Chinese if it holds Han characters.
        language: The data set's, which comes first where it is one of the two.
    """
    named = language.strip().lower()
    if named.startswith(CHINESE):
        return 'cn'
    if named.startswith('en'):
        return 'en'
    return 'cn' if HAN.search(question) else 'en'


def _upstream(language: str) -> str:
    from opencompass.datasets.livemathbench import prompts

    written = prompts.JUDGE_PROMPT_CN if language == 'cn' else prompts.JUDGE_PROMPT_EN
    # It is written for str.format, which makes one brace of two.
    parts = Formatter().parse(written)
    return ''.join(text + (f'{{{field}}}' if field else '') for text, field, *_ in parts)


def _of_file(path: Path) -> str:
    try:
        text = path.read_bytes().decode('utf-8-sig')
    except OSError as error:
        raise ValueError(
            f'prompt of judge: {path} cannot be read ({error.strerror}); give the path of a text '
            f'file, or one of {", ".join(map(repr, BUILT_IN))}'
        ) from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f'prompt of judge: {path} is not UTF-8 (byte {error.start + 1}); save it as UTF-8'
        ) from None
    fields = {FIELD_OF[place.group(1)] for place in PLACEHOLDER.finditer(text)}
    for field, whose in (('gold', 'reference answer'), ('answer', "candidate's answer")):
        if field not in fields:
            raise ValueError(
                f'prompt of judge: {path} has no place for the {whose}; write {{{field}}} where it '
                "belongs ({gold} is the reference, {answer} the candidate's; other braces are text)"
            )
    return text.replace('\r\n', '\n')
