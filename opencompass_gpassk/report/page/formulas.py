"""Mathematics in texts: LaTeX between dollars becomes MathML.

Only elements and attributes of a short list are allowed, since ``latex2mathml`` passes on any
markup in a text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from xml.etree import ElementTree

from markupsafe import Markup, escape

LONGEST_FORMULA = 600  # characters of one formula; a longer one stays LaTeX
MOST = 80  # formulas of one text
DEEPEST = 40
# As in Pandoc, dollars with a blank just inside them, or a digit after them, are prices. A bracket
# that contains another opening one was never closed.
FORMULA = re.compile(
    r'\$\$(?P<double>[^$]+)\$\$|\\\[(?P<square>(?:[^\\]|\\[^][])+)\\\]'
    r'|\\\((?P<round>(?:[^\\]|\\[^()])+)\\\)'
    r'|(?<!\\)\$(?=\S)(?P<single>(?:[^$\\]|\\.)+)(?<!\s)\$(?!\d)',
    re.DOTALL,
)
ELEMENTS = frozenset(
    {
        *('math', 'menclose', 'mfrac', 'mi', 'mn', 'mo', 'mover', 'mpadded', 'mroot'),
        *('mrow', 'ms', 'mspace', 'msqrt', 'mstyle', 'msub', 'msubsup', 'msup', 'mtable', 'mtd'),
        *('mtext', 'mtr', 'munder', 'munderover'),
    }
)
ATTRIBUTES = {
    **dict.fromkeys(
        ('accent', 'accentunder', 'displaystyle', 'fence', 'largeop', 'movablelimits', 'separator'),
        re.compile('true|false'),
    ),
    **dict.fromkeys(('stretchy', 'symmetric'), re.compile('true|false')),
    **dict.fromkeys(
        ('lspace', 'rspace', 'width', 'linethickness', 'minsize', 'maxsize'),
        re.compile(r'-?[0-2]?(\.\d+)?(em|ex|pt|px)?'),
    ),
    'display': re.compile('block|inline'),
    'form': re.compile('prefix|infix|postfix'),
    'mathvariant': re.compile('[a-z-]+'),
    'columnalign': re.compile('[a-z ]+'),
    'notation': re.compile('[a-z ]+'),
    'scriptlevel': re.compile('[+-]?[0-2]'),
}


BARE = re.compile(r'\\[a-zA-Z]|[\^_]')  # signs of LaTeX in an answer without dollars


def with_mathematics(text: str, *, bare: bool = False) -> Markup:
    """Return a text as HTML, its formulas as MathML, with their LaTeX beside it for the reader.

    Dollars around other texts, and formulas that can't be converted, remain text.

    Args:
        text: The text.
        bare: Whether the text may be a formula without dollars, as answers are.
    """
    parts: list[str] = []
    end = 0
    for count, match in enumerate(FORMULA.finditer(text)):
        latex = next(group for group in match.groups() if group is not None)
        display = match.lastgroup in ('double', 'square')
        found = to_mathml(latex, display) if count < MOST else None
        if found is None:
            continue
        parts += [escape(text[end : match.start()]), _both(found, match[0])]
        end = match.end()
    if bare and not end and BARE.search(text) and (found := to_mathml(text, False)):
        return _both(found, text)
    return Markup('').join([*parts, escape(text[end:])])


def _both(mathml: Markup, latex: str) -> Markup:
    return Markup('<span class=f>{}<code>{}</code></span>').format(mathml, latex)


@lru_cache(maxsize=4096)
def to_mathml(latex: str, display: bool) -> Markup | None:
    """Return LaTeX as MathML; None if it is too long or can't be converted."""
    if len(latex) > LONGEST_FORMULA or not latex.strip():
        return None
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return None
    try:
        mathml = convert(latex, display='block' if display else 'inline')
        return _markup(ElementTree.fromstring(mathml), 0)
    except Exception:  # the parser may raise anything if it isn't LaTeX
        return None


def _markup(element: ElementTree.Element, depth: int) -> Markup:
    name = element.tag.rpartition('}')[2]
    if name not in ELEMENTS or depth > DEEPEST:
        raise ValueError(f'{name!r} is not an allowed MathML element')
    attributes = Markup('').join(
        Markup(' {}="{}"').format(key, value)
        for key, value in element.attrib.items()
        if key in ATTRIBUTES and ATTRIBUTES[key].fullmatch(value)
    )
    inside = [escape(element.text)] if element.text and element.text.strip() else []
    inside += [_markup(child, depth + 1) for child in element]
    return Markup('<{}{}>{}</{}>').format(name, attributes, Markup('').join(inside), name)
