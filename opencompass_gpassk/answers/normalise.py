"""Normalise the spelling of answers: characters, spacing, LaTeX synonyms."""

from __future__ import annotations

import re
import unicodedata

from opencompass_gpassk.answers.braces import without_boxes

CHARACTERS = str.maketrans(
    {
        'π': r'\pi ', '∞': r'\infty ', '×': r'\times ', '·': r'\cdot ', '⋅': r'\cdot ',
        '÷': '/', '≤': r'\le ', '≥': r'\ge ', '≠': r'\ne ', '∪': r'\cup ', '∩': r'\cap ',
        '∈': r'\in ', '±': r'\pm ', '°': r'^{\circ}', '−': '-', '–': '-', '∶': ':', '。': '.',
        '、': ',', '【': '[', '】': ']', '〈': '(', '〉': ')', '⩽': r'\le ', '⩾': r'\ge ',
        '≦': r'\le ', '≧': r'\ge ', '≈': r'\approx ', '∅': r'\emptyset ', '℃': r'^{\circ}C',
        '′': "'", '’': "'", '∠': r'\angle ', '△': r'\triangle ', '√': r'\sqrt', '∧': r'\wedge ',
        'α': r'\alpha ', 'β': r'\beta ', 'γ': r'\gamma ', 'δ': r'\delta ', 'ε': r'\varepsilon ',
        'η': r'\eta ', 'θ': r'\theta ', 'κ': r'\kappa ', 'λ': r'\lambda ', 'μ': r'\mu ',
        'ν': r'\nu ', 'ξ': r'\xi ', 'ρ': r'\rho ', 'σ': r'\sigma ', 'τ': r'\tau ', 'φ': r'\varphi ',
        'χ': r'\chi ', 'ψ': r'\psi ', 'ω': r'\omega ', 'Γ': r'\Gamma ', 'Δ': r'\Delta ',
        'Λ': r'\Lambda ', 'Σ': r'\Sigma ', 'Φ': r'\Phi ', 'Ψ': r'\Psi ', 'Ω': r'\Omega ',
        '⁄': '/', '∫': r'\int ', '∑': r'\sum ',
        'ℝ': r'\mathbb{R}', '\u00a0': ' ', '\u200b': '', '\ufeff': '',
    }
)  # fmt: skip
# Command → what it is written as.
SYNONYMS = {
    'cdot ': 'times ast', 'le ': 'leq leqslant', 'ge ': 'geq geqslant', 'ne ': 'neq',
    'ldots ': 'ldots cdots dots dotsb dotsc', 'emptyset ': 'varnothing emptyset',
    'frac': 'dfrac tfrac cfrac', 'binom': 'dbinom tbinom', 'log_{10}': 'lg',
    '{': 'lbrace', '}': 'rbrace',
}  # fmt: skip
SPELLINGS = {old: f'\\{new}' for new, olds in SYNONYMS.items() for old in olds.split()} | {
    'lt': '<', 'gt': '>', 'colon': ':', 'lbrack': '[', 'rbrack': ']', 'langle': '(',
    'rangle': ')', 'degree': r'^{\circ}', 'displaystyle': ' ', 'textstyle': ' ', 'limits': ' ',
    'nolimits': ' ', 'boldsymbol': ' ', 'bm': ' ',
}  # fmt: skip
COMMAND = re.compile(rf'\\({"|".join(SPELLINGS)})(?![a-zA-Z])')


def _as_matrix(rows: re.Match[str]) -> str:
    """Return a list of rows as a matrix."""
    lines = [row.replace(',', ' & ') for row in re.findall(r'\[([^][]*)\]', rows[1])]
    return f'\\begin{{pmatrix}}{ROW_END.join(lines)}\\end{{pmatrix}}'


WORDED, WORDED_END = r'\s?(?:\\text\s?\{)?\s?', r'\s?\}?[.。]?\s?$'  # words alone, in text or not
# Replacements, applied one after another to every answer.
REPLACEMENTS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r',\s?\\!\s?', ','),
        (r'\\begin\{cases\}|[ ;]{0,3}\\end\{cases\}|(?<!\\)\\!', ''),
        (r'\\text\s?\{\s?\}', ' '),
        (r'\\m?(?:left|right|[bB]ig+[lr]?)(?![a-zA-Z])\s?\.?(?=\s|[|()\[\]{}\\.]|$)', ''),
        (r'(?<!\\)\\(?:[,;:> ]|q?quad(?![a-zA-Z])|enspace(?![a-zA-Z]))|(?<=\S)~|&nbsp;', ' '),
        (r'\\not\s?=', r'\\ne '),
        (r'\s*\\(?:blacksquare|square|Box|qed|checkmark|surd|hfill)\s*$', ''),
        (r'<sub>([^<>]*)</sub>', r'_{\1}'),
        (r'<sup>([^<>]*)</sup>', r'^{\1}'),
        (r'\.\.\.|…+|\\cdot\s?\\cdot\s?\\cdot', r'\\ldots '),
        (r'\\frac\s(?=\w)', r'\\frac'),
        (r'\\overline\s?\{([A-Z]{2})\}', r'\1'),
        (r'\\(?:mathrm|text)\s?\{\s?([eid])\s?\}', r' \1 '),
        (r'\\text\s?\{\s?([\u4e00-\u9fff]+)\s?\}', r'\1'),
        (r'\\(?:mathbf|bf)\s?\{\s?([ijk])\s?\}', r'\\vec{\1}'),
        (r'\\(?:textbf|textit|textrm|textnormal|mbox|hbox|mathrm|mathbf|mathit|mathsf|rm)\s?\{',
         r'\\text{'),
        (r'<=', r'\\le '),
        (r'>=', r'\\ge '),
        (r'!=', r'\\ne '),
        (r'\^\s?\{?\s?\\circ\s?\}?', r'^{\\circ}'),
        (r'\\%', '%'),
        # what there is none of, in words
        (rf'^{WORDED}(?:(?i:no (?:real )?solutions?)|无解|无实数?[解根]){WORDED_END}',
         r'\\emptyset '),
        (rf'^{WORDED}(?:(?i:does not exist|undefined|dne)|不存在){WORDED_END}', 'DNE'),
        (rf'^{WORDED}(?:(?i:infinitely many(?: solutions)?)|无穷多个?){WORDED_END}', r'\\infty '),
        (r'^(?:(?:negative|minus)\s|负)(?=[1-9])', '-'),
        (r'\\text\{\s*(?:per ?cent|pct|percentage(?: points?)?)\s*\}'
         r'|(?<=[\d}$])\s?(?:per ?cent|pct|percentage(?: points?)?)(?![a-z])',
         '%'),
        (r'(?<=\d)\{,\}(?=\d{3}(?!\d))', ''),
        (r'(?<=\d),(?=\d{3}(?:,\d{3})*\s?(?:[mb]illion|thousand|[万亿]))', ''),
        (r'^(\d{1,3}(?:\.\d{3})+),(\d\d)(?!\d)',
         lambda found: f'{found[1].replace(".", "")}.{found[2]}'),
        (r'(\.\d*[1-9])0{7,}\d{1,2}$', r'\1'),  # of a binary fraction: 0.30000000000000004
        (r'\b0[xX][\da-fA-F]+$', lambda found: found[0].lower()),
        (r'^\(?([a-j])\)$', lambda found: found[1].upper()),
        # lists of another language: [(1, 2), (3, 4)]; rows of a matrix
        (r'^\[\s?(\([^][]*\))\s?\]$', r'\1'),
        (r'^\[\s?(\[[^][]*\](?:,\s?\[[^][]*\])+)\s?\]$', _as_matrix),
        (r'\{,\}', ','),
        (r'\+\s?\\infty', r'\\infty'),
        (r'(?<![a-zA-Z\\])inf(?:inity|ty)?(?![a-zA-Z])', r'\\infty '),
        (r'(?<![a-zA-Z])\\?sqrt\s?\(([^()]{0,200})\)', r'\\sqrt{\1}'),
        (r'根号\s?(?:下\s?)?(\d+|[a-zA-Z]|\([^()]{0,200}\))', r'\\sqrt{\1}'),
        (r'(?<![a-zA-Z\\])\\?exp\s?(?:\(([^()]{1,200})\)|\{([^{}]{1,200})\})',
         lambda found: f'e^{{{found[1] or found[2]}}}'),
        (r'\{\s?([a-zA-Z])\s?\}(?=[_^])|(?<=_)\{\s?(\w)\s?\}', r'\1\2'),
        (r'\^\{\\circ\}\s?\\text\s?\{\s?([CF])\s?\}', r'^{\\circ}\1'),
        (r'(?<![a-zA-Z\\])(sqrt|pi|sin|cos|tan|log|ln|alpha|beta|gamma|delta|theta|lambda|mu|sigma|omega)'
         r'(?![a-zA-Z])', r'\\\1'),
        (r'\{\s?(\w+)\s?\\choose\s(\w+)\s?\}', r'\\binom{\1}{\2}'),
        # thousands in a calculation, not two elements of a list: 1,234/2
        (r'(?<![^-+*/=\s])([1-9]\d{0,2}),(\d{3})(?=\s?[-+*/^])', r'\1\2'),
        # where a function is defined: y = 2x (x > 0)
        (r',\s?(?:其中|\\text\{\s?where\s?\}|where)(?=\s?\w+\s?(?:[<>]|\\[lgn]e))', ', '),
        (r'^([^=<>]+=[^<>=]*?)\s?,?\s?\((\w[^()=]*(?:\\[lgn]e|[<>])[^()=]*)\)$', r'\1, \2'),
        # what it is about: 11/12 (about 0.917)
        (r'^([^()]{1,200}?)\s?\((?:\\approx|about|approximately|约为?)\s?(-?[\d.]+)\)$',
         r'\1\\approx \2'),
        # one value in two spellings: 0.375, or equivalently 3/8
        (r',?\s?(?<![a-zA-Z])or,? (?:equivalently|simply|in other words),?', ' or '),
        (r'\\text\{\s?([A-J])\.\s?\}', r'\1. '),
        # times of day: 3:30 p.m. is 15:30
        (r'(?<![\d:])(0?\d|1[0-2])[:.]([0-5]\d)\s?(?:\\text\s?\{\s?([aApP])\.?\s?[mM]\.?\s?\}'
         r'|([aApP])\.?\s?[mM](?![a-zA-Z])\.?)',
         lambda found: f'{int(found[1]) % 12 + 12 * ((found[3] or found[4]) in "pP")}:{found[2]}'),
        (r'(?<![\d:])0(?=\d:[0-5]\d(?![\d:]))', ''),
        (r'\*\*', '^'),
        (r'(?<=[\w)}])\s?\*\s?(?=[\w(\\{])', r'\\cdot '),
        (r'(?<!\\)\\\\(?=(?:frac|sqrt|text|pi|left|infty|le|ge|cup|begin|end|cdot|boxed|in|circ|pm)(?![a-zA-Z]))',
         r'\\'),
    )
]  # fmt: skip
# A root sign and its content: a number, a letter or a pair of brackets.
ROOT = re.compile(r'√\s?(\d+(?:\.\d+)?|[a-zA-Z]|\([^()]{0,200}\))')
SCRIPTS = re.compile(r'[⁰¹²³⁴-⁹⁺⁻]+|[₀-₉₊₋]+')
CIRCLED_NEXT = re.compile(r'(?<=[①-⑳])\s?(?=[①-⑳])')
# \frac, \text and \times whose first letter was read as that of an escape.
MISREAD = re.compile(r'\x0c(?=rac)|\t(?=ext\{|frac|imes)')
MATH_WRAP = re.compile(r'\$\$?|(?<!\\)\\[][()]')
CASES, ROW_END = re.compile(r'\\begin\{cases\}(.*?)\\end\{cases\}'), '\\\\'
ESCAPED_TWICE = re.compile(r'\\\\(?=[a-zA-Z])')
DOLLAR = re.compile(r'\\\$|(?<![\w\\])(?:C|CA|A|AU|US|HK|NZ|S)\\?\$(?=\s?\d)')
SPACE = re.compile(r'\s+')
BOLD_END = re.compile(r'(?<![\^_*])\*+$')
# Meaningless spaces: not between two letters, not between two digits, not after a comma.
IDLE_SPACE = re.compile(r'(?<![\w,])\s|\s(?!\w)|(?<=\d)\s(?=[^\W\d])|(?<=[^\W\d])\s(?=\d)')


def normalise(text: str) -> str:
    """Return an answer in its normal spelling, without boxes, in time linear in the text."""
    text = MISREAD.sub(lambda found: '\\f' if found[0] == '\f' else '\\t', text)
    text = ROOT.sub(r'\\sqrt{\1}', text)
    text = unicodedata.normalize('NFC', text).translate(CHARACTERS)
    if not text.isascii():
        text = SCRIPTS.sub(_as_script, CIRCLED_NEXT.sub(',', text))
        text = ''.join(_plain(char) for char in text)
    text = BOLD_END.sub('', without_boxes(text).strip().lstrip('*'))
    text = DOLLAR.sub('USD ', text)
    text = SPACE.sub(' ', MATH_WRAP.sub(' ', text))  # no pattern below sees a run of spaces
    if '\\begin' not in text:
        text = ESCAPED_TWICE.sub(r'\\', text)
    elif text.count('\\begin{cases}') > 1:  # the solutions of a system, one by one
        text = CASES.sub(lambda found: f'({found[1].replace(ROW_END, ",")})', text)
    elif '\\begin{cases}' in text:
        text = text.replace(ROW_END, ';')
    text = COMMAND.sub(lambda found: SPELLINGS[found[1]], text)
    for pattern, replacement in REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return _trimmed(SPACE.sub(' ', text))


def unspaced(text: str) -> str:
    """Return a text without meaningless spaces; those of 1 2 and x y stay."""
    return IDLE_SPACE.sub('', text)


def _as_script(match: re.Match[str]) -> str:
    """Return digits that are written above or below the line as a power or an index."""
    plain = unicodedata.normalize('NFKC', match[0]).replace('−', '-')
    above = unicodedata.decomposition(match[0][0]).startswith('<super>')
    braced = plain if len(plain) == 1 else f'{{{plain}}}'
    return f'^{braced}' if above else f'_{braced}'


def _plain(char: str) -> str:
    """Return a digit in a circle, a fraction in one character or a wide character as usual ones."""
    kind = unicodedata.decomposition(char).partition(' ')[0]
    if kind not in ('<circle>', '<fraction>', '<wide>'):
        return char
    plain = unicodedata.normalize('NFKC', char)
    above, slash, below = plain.partition('⁄')
    return f'\\frac{{{above}}}{{{below}}}' if slash else plain


def _trimmed(text: str) -> str:
    previous = None
    while previous != text:
        previous = text
        text = BOLD_END.sub('', text.strip().lstrip('*')).strip()
        if text.endswith(('.', ',', ';', ':')) and not text.endswith('\\,'):
            text = text[:-1]
        if text.endswith('\\') and not text.endswith('\\\\'):
            text = text[:-1]
    return text
