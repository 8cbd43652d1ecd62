"""Mathematics in texts: LaTeX between dollars becomes trees of MathML that a page builds safely.

A tree is ``[element, attributes, children]``; a child is a tree or a text. Only elements and
attributes of a short list are allowed, since ``latex2mathml`` passes on any markup in a text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

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


def segments(text: str) -> list[Any]:
    """Return the parts of a text: texts, and ``{'tex': LaTeX, 'tree': MathML}``.

    Dollars around other texts, and formulas that can't be converted, remain text.
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
    """Return LaTeX as a tree of MathML; None if it is too long or can't be converted."""
    if len(latex) > LONGEST_FORMULA or not latex.strip():
        return None
    try:
        from latex2mathml.converter import convert
    except ImportError:
        return None
    try:
        mathml = convert(latex, display='block' if display else 'inline')
        return _tree(ElementTree.fromstring(mathml), 0)
    except Exception:  # the parser may raise anything if it isn't LaTeX
        return None


def _tree(element: ElementTree.Element, depth: int) -> list[Any]:
    name = element.tag.rpartition('}')[2]
    if name not in ELEMENTS or depth > DEEPEST:
        raise ValueError(f'{name!r} is not an allowed MathML element')
    attributes = {
        key: value
        for key, value in element.attrib.items()
        if key in ATTRIBUTES and ATTRIBUTES[key].fullmatch(value)
    }
    children: list[Any] = [element.text] if element.text and element.text.strip() else []
    children += [_tree(child, depth + 1) for child in element]
    return [name, attributes, children]
