"""Write the tables of ``docs/results.md`` from the package's declarations.

Usage: ``python -m tools.describe_results``
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from opencompass_gpassk.formats.decode import Typed
from opencompass_gpassk.results.metric import FAMILIES, SHARES, Family, Over
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.results.token_metrics import TOKENS
from opencompass_gpassk.trials import Problem, Trial

PAGE = Path(__file__).parents[1] / 'docs/results.md'
WORDS: dict[Any, str] = {
    str: 'text',
    int: 'whole number',
    float: 'number',
    Any: 'value',
    dict: 'object: name → {}',
    list: 'list: {}',
}
PLACES = {'k': 'K', 'tau': 'TAU', 'm': 'M', 'n': 'N'}


def described(page: str) -> str:
    """Return the page with new tables, each between two comments that name it."""
    tables = {
        'metrics': table(['metric', 'key', 'mean over', 'meaning'], _metrics()),
        'shares': table(['key', 'share of'], ([f'`{k}`', v] for k, v in SHARES.items())),
        'tokens': table(
            ['key', 'meaning'],
            ([f'`{k}`'.format(**PLACES), v.format(**PLACES)] for k, v in TOKENS.items()),
        ),
        'fields': table(['field', 'holds', 'meaning'], _fields(Result)),
        'problems': table(['field', 'meaning'], _arguments(Problem)),
        'trials': table(['field', 'meaning'], _arguments(Trial)),
    }
    return filled(page, tables)


def filled(page: str, tables: Mapping[str, str]) -> str:
    """Return a page with each table between the two comments that name its place."""
    for name, text in tables.items():
        place = re.compile(rf'(<!-- {name} -->\n).*?(<!-- end -->)', re.DOTALL)
        page, found = place.subn(lambda match, text=text: match[1] + text + match[2], page)  # type: ignore[misc]
        if found != 1:
            raise ValueError(f'the page has no place for the table {name}')
    return page


def _metrics() -> Iterator[list[str]]:
    for family in FAMILIES:
        heading, key, about = (
            text.format(**PLACES)
            for text in (family.heading or family.key, family.key, family.about)
        )
        yield [heading, f'`{key}`', _over(family.over), about + _direction(family)]


def _over(over: Over) -> str:
    return over.value.partition(',')[0]


def _direction(family: Family) -> str:
    told = '; never rises with τ' if family.falls_with_tau else ''
    told += '' if family.ranked else '; never ranked'
    return told + ('; lower is better' if family.lower_is_better else '')


def _arguments(record: type) -> Iterator[list[str]]:
    """Yield name and meaning of each field of a class, from its docstring."""
    text = re.split('(?:Args|Attributes):\n', inspect.cleandoc(record.__doc__ or ''))[-1]
    for name, about in re.findall(r'^    (\w+): (.*(?:\n        .*)*)', text, re.MULTILINE):
        yield [f'`{name}`', ' '.join(about.replace('``', '`').split()).rstrip('.')]


def _fields(record: type[Typed], path: str = '') -> Iterator[list[str]]:
    """Yield path, type and meaning of each field of a result, and of the objects in it."""
    types = {one.alias or name: one.annotation for name, one in record.model_fields.items()}
    for name, about in _arguments(record):
        key = name.strip('`')
        holds, below, inner = _held(types[key])
        yield [f'`{path}{key}`', holds, about]
        if inner:
            yield from _fields(inner, f'{path}{key}{below}.')


def _held(kind: Any) -> tuple[str, str, type[Typed] | None]:
    """Return a type in words, how paths name its elements, and the class of objects in it."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _held(parts[0])
    if origin in (dict, list):
        held, below, inner = _held(parts[-1])
        return WORDS[origin].format(held), ('.*' if origin is dict else '[]') + below, inner
    if origin in (Union, UnionType):
        held, below, inner = _held(parts[0])
        return f'{held} or null', below, inner
    if origin is Literal:
        return repr(parts[0]), '', None
    if kind in WORDS:
        return WORDS[kind], '', None
    return 'object', '', kind


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ['---'] * len(heads), *rows]
    return ''.join(f'| {" | ".join(map(str, line))} |\n' for line in lines)


def main() -> None:
    """Write the page."""
    PAGE.write_text(described(PAGE.read_text('utf-8')), 'utf-8')


if __name__ == '__main__':
    main()
