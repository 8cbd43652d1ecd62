"""Wrong answers that hold the gold answer: none of them may be called the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from compared_answers import compare
from every_case import every, named
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.answers.reader import read_answer
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.worker_pool import CheckResult, check_pairs

CASES = Path(__file__).parent / 'cases'
ATTACKS = json.loads((CASES / 'answers_attacks.json').read_text('utf-8'))
# Called right by mistake: a rule for these would cost more right responses than models write such.
GIVEN_UP = {
    'arithmetic-64',
    # A box, and then another value of its variable.
    'around 26',
    'around 28',
    'around 29',
    'around 31',
    'around 34',
    'bound-11',
    'boxes-4',
    'equation-12',
    'hard choice 19',
    'hard comparison 38',
    'hard hedge 15',
    'hard other quantity 2',
    'hard retraction 20',
    'hard wrong unit 29',
    'speaker 14',
    'speaker 15',
    'speaker 16',
    'speaker 6',
    'speaker 9',
    'hard attack 105',
    'hard attack 110',
    'hard attack 115',
    'hard attack 117',
    'hard half of it',
}
FRAMED = json.loads((CASES / 'answers_framed.json').read_text('utf-8'))


def reached(case: dict[str, str]) -> tuple[str, str]:
    """Return the gold answer, and the answer that is read in a response."""
    return case['gold'], read_answer(case['response']) or ''


@pytest.fixture(scope='module')
def results() -> dict[tuple[str, str], CheckResult]:
    """Return what the checker says of all cases."""
    return check_pairs([reached(case) for case in (*ATTACKS, *FRAMED)])


def test_cases_differ() -> None:
    """There are many of both kinds, each with a name and a response of its own."""
    assert len(ATTACKS) >= 150
    assert len(GIVEN_UP) <= 0.02 * len(ATTACKS)
    assert len(FRAMED) >= 80
    for cases in (ATTACKS, FRAMED):
        assert len({case['id'] for case in cases}) == len(cases)
        assert len({(case['gold'], case['response']) for case in cases}) == len(cases)


@every(ATTACKS, named)
def test_wrong_answers_are_not_the_same(
    case: dict[str, str], results: dict[tuple[str, str], CheckResult]
) -> None:
    """What is denied, doubted, changed, or one of several values is not the gold answer."""
    assert results[reached(case)].relation is not Relation.SAME or case['id'] in GIVEN_UP


@every(FRAMED, named)
def test_right_answers_in_a_frame_are_the_same(
    case: dict[str, str], results: dict[tuple[str, str], CheckResult]
) -> None:
    """The usual words around an answer don't change it."""
    assert results[reached(case)].relation is Relation.SAME


# Words that are no frame, of many kinds. The gold answers of the test hold none of them.
STRAYS = """
    not never no none neither nor except without unless but however wrong false incorrect mistaken
    maybe perhaps possibly probably likely unlikely roughly about around almost nearly approximately
    least most more less fewer greater smaller over under above below beyond within between
    minus plus negative half double twice triple squared cubed factorial reciprocal inverse opposite
    dozen hundred thousand million billion pairs tenths quarters halves thirds
    guess doubt think believe suppose assume claim say said told heard wish hope fear
    try tried test check verify reject deny refuse cancel ignore skip drop
    if when while until because although though since whether
    red green blue big heavy quick lazy silent broken open closed early late
    table river mountain engine window garden music cloud winter market doctor
    run walk jump sing eat sleep build carry follow listen travel remember
    first third last next previous another other same different
    and or xor versus against instead rather than also too either both
    of by from into onto upon toward against among during
    what which who whose why how where
    可能 大概 也许 大约 不是 并非 没有 除了 以外 错误 不对 否定 怀疑 猜测 假设 如果 虽然 但是
    至少 至多 超过 不足 以上 以下 左右 平方 立方 倒数 相反数 一半 两倍 阶乘 负 分之一
    百 千 万 亿 打 成 折 倍 山 河 火车 音乐 老师 红色 昨天 跑步 说 想 听 和 或 与 及 比
""".split()  # noqa: SIM905
GOLDS = ['7', '12', '\\frac{1}{2}', '2.5', '\\sqrt{3}', '3\\pi', '(1,2)', '0', 'x+1', 'B', '[0,1)']


@settings(max_examples=300)
@given(st.sampled_from(GOLDS), st.sampled_from(STRAYS), st.booleans(), st.sampled_from(['', ' ']))
def test_word_beside_the_answer(gold: str, word: str, before: bool, space: str) -> None:
    """A word that is no frame keeps an answer from being the same, on either side of it."""
    space = ' ' if word.isascii() else space
    said = f'{word}{space}{gold}' if before else f'{gold}{space}{word}'
    assert compare(gold, said)[0] is not Relation.SAME
    assert compare(gold, f'${gold}$ {word}')[0] is not Relation.SAME
    assert compare(gold, f'{gold} \\text{{ {word}}}')[0] is not Relation.SAME
    assert compare(gold, f'the {word} {gold}')[0] is not Relation.SAME


@settings(max_examples=200)
@given(
    st.sampled_from(GOLDS),
    st.integers(-99, 999),
    st.sampled_from([' ', ', ', '; ', ' and ', ' or ', '或', '和', ' = ', '、', ' but ', '/']),
    st.booleans(),
)
def test_second_number(gold: str, number: int, link: str, before: bool) -> None:
    """Another number beside the answer, whatever joins them, is another answer."""
    said = f'{number}{link}{gold}' if before else f'{gold}{link}{number}'
    if str(number) == gold or (link in '/ ' and (gold == '0' or number in (0, 1))):
        return
    assert compare(gold, said)[0] is not Relation.SAME


@given(st.sampled_from(GOLDS), st.integers(0xD800, 0xDFFF), st.booleans())
def test_lone_surrogate_beside_the_answer(gold: str, code: int, before: bool) -> None:
    """It stands for a character that got lost, which no rule knows."""
    said = chr(code) + gold if before else gold + chr(code)
    assert compare(gold, said)[0] is Relation.UNKNOWN
