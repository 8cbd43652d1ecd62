"""Mathematics in a text: LaTeX between dollars as trees of MathML that a page can build safely.

A tree is ``[element, attributes, children]``, a child is a tree or a text. Elements and attributes
are taken from a short list, since ``latex2mathml`` passes on markup that a text holds.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

__all__ = ['segments', 'to_tree']

LONGEST = 600  # characters of one formula; a longer one stays LaTeX
MOST = 80  # formulas of one text
DEEPEST = 40
# As Pandoc has it, no blank stands inside of the dollars, and no digit behind them: those are
# prices. A bracket that opens another one was never closed.
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


def segments(text: str) -> list[Any]:
    """Return the parts of a text: texts, and ``{'tex': LaTeX, 'tree': MathML}``.

    What is no mathematics, or can't be converted, remains text with its dollars.
    """
    parts: list[Any] = []
    end = 0
    for count, match in enumerate(FORMULA.finditer(text)):
        latex = next(group for group in match.groups() if group is not None)
        display = match.lastgroup in ('double', 'square')
        tree = to_tree(latex, display) if count < MOST else None
        if tree is None:
            continue
        if match.start() > end:
            parts.append(text[end : match.start()])
        parts.append({'tex': latex.strip(), 'tree': tree})
        end = match.end()
    return [*parts, text[end:]] if end < len(text) else parts


@lru_cache(maxsize=4096)
def to_tree(latex: str, display: bool) -> list[Any] | None:
    """Return LaTeX as a tree of MathML; None where it is too long or nobody can read it."""
    if len(latex) > LONGEST or not latex.strip():
        return None
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return None
    try:
        mathml = convert(latex, display='block' if display else 'inline')
        return _tree(ElementTree.fromstring(mathml), 0)
    except Exception:  # whatever a parser does with what isn't LaTeX
        return None


def _tree(element: ElementTree.Element, depth: int) -> list[Any]:
    name = element.tag.rpartition('}')[2]
    if name not in ELEMENTS or depth > DEEPEST:
        raise ValueError(f'{name!r} is no element of mathematics that the page shows')
    attributes = {
        key: value
        for key, value in element.attrib.items()
        if key in ATTRIBUTES and ATTRIBUTES[key].fullmatch(value)
    }
    children: list[Any] = [element.text] if element.text and element.text.strip() else []
    children += [_tree(child, depth + 1) for child in element]
    return [name, attributes, children]
