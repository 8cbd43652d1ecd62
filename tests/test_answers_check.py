"""Whether answers are compared as a careful reader would, and never the same where they differ."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from compared_answers import compare
from every_case import every, named
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import DATA, needs_data

from opencompass_gpassk.answers.check import (
    REASONS,
    canonical,
    canonical_quickly,
    compare_exactly,
    compare_quickly,
)
from opencompass_gpassk.answers.forms.number import parse_number
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.worker_pool import CheckResult, check_pairs

ROOT = Path(__file__).parent.parent
PAIRS = [
    case
    for name in ('answers_pairs', 'answers_hard')
    for case in json.loads((ROOT / f'tests/cases/{name}.json').read_text('utf-8'))
]
CLASSES = json.loads((ROOT / 'tests/cases/answers_classes.json').read_text('utf-8'))
ALLOWED = {
    'same': {'same'},
    'different': {'different'},
    'not same': {'different', 'unknown'},
    'not different': {'same', 'unknown'},
}

settings.register_profile('busy machine', deadline=None)
settings.load_profile('busy machine')


@pytest.fixture(scope='module')
def verdicts() -> dict[tuple[str, str], CheckResult]:
    """Return what the checker says of every pair of the cases."""
    return check_pairs([(case['gold'], case['answer']) for case in PAIRS])


@every(PAIRS, named)
def test_pairs(case: dict[str, str], verdicts: dict[tuple[str, str], CheckResult]) -> None:
    """A pair is the same, different or left open as the case allows."""
    verdict = verdicts[case['gold'], case['answer']]
    assert verdict.relation.value in ALLOWED[case['expected']], verdict


def test_cases_hold_both_kinds() -> None:
    """The cases have names of their own, many that are the same and more that aren't."""
    assert len({case['id'] for case in PAIRS}) == len(PAIRS)
    counts = Counter(case['expected'] for case in PAIRS)
    assert counts['same'] > 250
    assert counts['different'] + counts['not same'] > 300


@every(CLASSES, named)
def test_canonical_forms(case: dict[str, Any]) -> None:
    """Equivalent answers share a canonical form; others, and other classes, don't."""
    forms = {canonical(answer) for answer in case['equivalent']}
    assert len(forms) == 1
    assert forms.isdisjoint(canonical(answer) for answer in case['others'])


def test_reasons() -> None:
    """Each verdict has a reason: the form that was compared, or why the two were not."""
    assert compare('', '5') == (Relation.UNKNOWN, 'gold empty')
    assert compare('5', ' ') == (Relation.DIFFERENT, 'no answer')
    assert compare('5', '<b>6</b>') == (Relation.UNKNOWN, 'answer unparsable')
    assert compare('\\frac{', '5') == (Relation.UNKNOWN, 'gold unparsable')
    assert compare('5', '6' * 6000) == (Relation.UNKNOWN, 'answer too long')
    assert compare('5', '{' * 50 + '}' * 50) == (Relation.UNKNOWN, 'answer too deep')
    assert compare('1/2', ' 1/2') == (Relation.SAME, 'text')
    assert compare('1/2', '0.5') == (Relation.SAME, 'number')
    assert compare('1/2', '0.6') == (Relation.DIFFERENT, 'number')
    assert compare('1/2', 'half of it') == (Relation.UNKNOWN, 'words')
    assert compare('\\{1, 2\\}', '\\{2, 1\\}') == (Relation.SAME, 'sequence')


def test_reasons_are_of_a_closed_vocabulary(verdicts: dict[tuple[str, str], CheckResult]) -> None:
    """Whoever counts reasons knows them all."""
    found = {result.reason for result in verdicts.values()}
    assert found <= REASONS
    assert len(found) > 8


@pytest.mark.parametrize(
    ('gold', 'answer'),
    [
        ('x + 1', 'x+1'),
        ('3\\sqrt{2}', '3 \\sqrt {2}'),
        ('(1, 2)', '( 1,2 )'),
        ('\\sin x', '\\sin  x'),
        ('2x', '2 x'),
    ],
)
def test_exact_comparison_ignores_the_spaces_that_latex_ignores(gold: str, answer: str) -> None:
    """On both sides."""
    assert compare_exactly(gold, answer)[0] is Relation.SAME
    assert compare_exactly(answer, gold)[0] is Relation.SAME


@pytest.mark.parametrize(
    ('gold', 'answer'),
    [
        ('12', '1 2'),
        ('5\\text{ cm}', '5\\text{cm}'),
        ('a\\ b', 'ab'),
        ('\\pi r', '\\pir'),
        ('x+1', '1+x'),
        ('2', '2.0'),
        ('$2$', '2'),
        ('2', '\\text{2}'),
        ('A', 'a'),
        ('1,000', '1000'),
        ('1\\,000', '1000'),
    ],
)
def test_exact_comparison_ignores_nothing_else(gold: str, answer: str) -> None:
    """Other commands, other digits, spaces that are set: another text."""
    assert compare_exactly(gold, answer)[0] is Relation.DIFFERENT
    assert compare_exactly(answer, gold)[0] is Relation.DIFFERENT


# Expressions of rational numbers, with their values worked out here by fractions.
Valued = tuple[str, Fraction]


def _sum(parts: tuple[Valued, Valued]) -> Valued:
    (left, a), (right, b) = parts
    return f'({left})+({right})', a + b


def _product(parts: tuple[Valued, Valued]) -> Valued:
    (left, a), (right, b) = parts
    return f'({left})({right})', a * b


def _quotient(parts: tuple[Valued, Valued]) -> Valued:
    (left, a), (right, b) = parts
    return (f'\\frac{{{left}}}{{{right}}}', a / b) if b else (left, a)


def _square_root(part: Valued) -> Valued:
    return f'\\sqrt{{({part[0]})^2}}', abs(part[1])


LEAVES = st.one_of(
    st.integers(-30, 30).map(lambda n: (str(n), Fraction(n))),
    st.tuples(st.integers(-20, 20), st.integers(1, 9)).map(
        lambda p: (f'\\frac{{{p[0]}}}{{{p[1]}}}', Fraction(*p))
    ),
    st.integers(-400, 400).map(lambda n: (f'{n / 8}', Fraction(n, 8))),
)


def _wider(inner: st.SearchStrategy[Valued]) -> st.SearchStrategy[Valued]:
    pairs = st.tuples(inner, inner)
    makers: tuple[Callable[[Any], Valued], ...] = (_sum, _product, _quotient)
    return st.one_of(*(pairs.map(make) for make in makers), inner.map(_square_root))


EXPRESSIONS = st.recursive(LEAVES, _wider, max_leaves=4)


@settings(max_examples=80)
@given(EXPRESSIONS, EXPRESSIONS)
def test_rational_values_decide(first: Valued, second: Valued) -> None:
    """Rational expressions are the same if and only if their values are, in either order."""
    equal = first[1] == second[1]
    for gold, answer in ((first, second), (second, first)):
        relation = compare(gold[0], answer[0])[0]
        assert (relation is Relation.SAME) == equal or relation is Relation.UNKNOWN
        if 'frac' not in gold[0] + answer[0] and '.' not in gold[0] + answer[0]:
            assert relation is not Relation.UNKNOWN


@settings(max_examples=80)
@given(EXPRESSIONS, st.integers(-5, 5))
def test_value_is_found_however_it_is_written(expression: Valued, shift: int) -> None:
    """An expression is its own value, and is not the value next to it."""
    text, value = expression
    for gold in (str(value), f'\\frac{{{value.numerator}}}{{{value.denominator}}}', f'x = {value}'):
        assert compare(gold, text)[0] is Relation.SAME
        assert (compare(gold, f'{text} + {shift}')[0] is Relation.SAME) == (shift == 0)


@given(
    st.text('0123456789+-*/^_=<>(){}[]\\,.;: abxyABC%$!|√π°，。≤和或m\n', max_size=40),
)
def test_quick_comparison_is_reflexive(text: str) -> None:
    """Any text is itself unless it is blank; to the quick rules it is never anything else."""
    verdict = compare_quickly(text, text)
    assert verdict is None or verdict[0] is not Relation.DIFFERENT or not text.strip()
    spaced = compare_quickly(text, f' ${text}$ ')
    assert spaced is None or spaced[0] is not Relation.DIFFERENT or not text.strip()


TOKENS = (
    '{', '}', '(', ')', '[', ']', '\\{', '\\}', '1', '12', '3,', ',', '; ', ' ', '  ', '.', '%',
    '-', '+', 'x', 'x=', '=', '<', '\\le ', '\\pm ', 'a', 'A', 'and ', ' or ', '和', 'cm', ' m',
    '度', '^', '_', '\\frac', '\\frac{1}{2}', '\\sqrt', '√', '\\text{', '\\text{a}',
    '\\begin{pmatrix}', '&', '\\\\', '\\end{pmatrix}', '\\begin{cases}', '\\cup', '\\in',
    '\\infty', '$', '\\(', '\\boxed{', ':', '|', '1,000', '1 000', '1e5', '0.\\overline{', "'",
    'f(x)', '\x00', '\u2028', '\ud800', '<b>', '~',
)  # fmt: skip


@settings(max_examples=120)
@given(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=5), st.integers(1, 4900))
def test_any_text_is_taken_apart(tokens: list[str], length: int) -> None:
    """What runs in the caller's process never raises."""
    text = (''.join(tokens) * length)[:length]
    compare_quickly(text, text[::-1])
    compare_quickly(text[1:], text[:-1])
    canonical_quickly(text)


@pytest.mark.parametrize(
    'text',
    [
        '\\{x|' * 22 + '1' + '\\}' * 21,
        'x\\ne1and \\{x|' * 39 + '1' + '\\}\\cup ' * 39,
        '万' * 1000,
        '一亿' * 500,
        '(' * 39 + '1,2' + ')' * 39,
    ],
    ids=['builders', 'unions', 'ten thousands', 'hundred millions', 'pairs'],
)
def test_nests_and_floods_end(text: str) -> None:
    """What runs in the caller's process ends, however often a part is repeated in another."""
    for gold, answer in (('7', text), (text, '7')):
        verdict = compare_quickly(gold, answer)
        assert verdict is None or verdict[0] is not Relation.SAME
    canonical_quickly(text)


@pytest.mark.parametrize(
    'text', ['9' * 4990, '1e999', '-1e-999', '0.' + '\\overline{' + '37' * 490]
)
def test_long_numbers_have_a_canonical_form(text: str) -> None:
    """Numbers longer than Python prints by default are read and written all the same."""
    text += '}' * text.count('{')
    assert canonical(text) == canonical(f' {text} ') != canonical(f'{text}1')


def test_numbers_are_exact() -> None:
    """Numbers are read to their last digit: 2^100 is not 2^100 - 1, and 0.1 is a tenth."""
    number = parse_number('0.1')
    assert number
    assert number.number == Fraction(1, 10)
    assert compare(str(2**100), str(2**100 - 1))[0] is Relation.DIFFERENT
    assert compare('2^{100}', str(2**100))[0] is Relation.SAME
    assert compare('2^{100}', str(2**100 - 1))[0] is Relation.DIFFERENT


# Pairs that their authors call the same, though the answer says more than the gold answer or
# something false, is rounded too far, or is another value: what it ends in. The rules of
# docs/checking.md call none of these the same.
OVERSTATED = (
    '10 which is 1,000.99m²', '5+5+1 = 7 =11$', '1/3 \\approx 11$', '1/3\\approx1.3$',
    '$z = 3+3 = 2$', '\\approx 3.01$', '[1,+\\infty)', 'Sphere 3 hours ago',
    '\\text{ any text}', '79 g de cire.', '300分钟内被放完。', '$(0.6,2.6667]$',
    '= \\frac{10}{9}', '1 + \\frac{1}{\\mathrm{e}}$', '7.1 \\cdot 10^{35}', '0.002, 5.234',
    '0.33\\\\0.2 \\end{pmatrix}$', '0.6054', 'x + \\sqrt2I', 'a-b=\\sqrt3 \\end{cases}',
)  # fmt: skip
UNEQUAL = {
    *(('2.0001', '2'), ('0.75', '75')),
    # Chains that don't hold.
    ('$x = 11$', 'x = 5+5+1 = 7 =11'),
    ('$x = 1/3$', 'x = 5+5+1 = 1/3'),
    ('$z = 1 + 1 = 2$', 'z = 3+3 = 2'),
}


@needs_data
def test_recall_of_labelled_pairs() -> None:
    """At least 88 % of the pairs that authors of checkers call the same are found to be.

    The pairs that the rules forbid are left out, and none of them is the same.
    """
    from opencompass_gpassk.answers.reader import read_answer

    path = Path(str(DATA)) / 'equivalence/labelled_pairs.jsonl'
    rows = [json.loads(line) for line in path.read_text('utf-8').split('\n') if line]
    rows = [row for row in rows if row['label'] and not row.get('conflict')]
    found = [(row['gold'], read_answer(row['prediction']) or '') for row in rows]
    results = check_pairs(found)
    same = {pair for pair in found if results[pair].relation is Relation.SAME}
    forbidden = [p for p in found if p in UNEQUAL or p[1].strip().endswith(OVERSTATED)]
    usual = [pair for pair in found if pair not in forbidden]
    assert len(usual) > 420
    assert sum(pair in same for pair in usual) / len(usual) >= 0.88
    assert not [pair for pair in forbidden if pair in same]


def _benchmark() -> ModuleType:
    path = ROOT / 'benchmarks/false_positives.py'
    spec = importlib.util.spec_from_file_location('false_positives', path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_data
def test_unequal_gold_answers_are_not_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most one in a thousand pairs of unequal gold answers of three benchmarks is the same."""
    benchmark = _benchmark()
    monkeypatch.setattr(benchmark, 'NEIGHBOURS', 2)
    monkeypatch.setattr(benchmark, 'RANDOM_PAIRS', 500)
    pairs = benchmark.draw_pairs(benchmark.gold_answers(Path(str(DATA))))
    results = check_pairs(pairs)
    same = [pair for pair in pairs if results[pair].relation is Relation.SAME]
    assert len(pairs) >= 2000
    assert len(same) / len(pairs) <= 0.001, same
