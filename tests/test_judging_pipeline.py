"""The pipeline: who settles what, what is asked once, what is kept, what stays unjudged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_judge import NO, YES, ScriptedJudge, candidates, right_if
from store_writer import put_human

from opencompass_gpassk.inference.server_replies import Failure, Reply
from opencompass_gpassk.judging.judge import Candidate, JudgeError
from opencompass_gpassk.judging.pipeline import Judged, Pipeline, require_coverage
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.trials import UNRECOGNISED, Verdict

LLM = JudgeSettings(mode='llm')
CASCADE = JudgeSettings()
SEVEN, LOTS = '\\foo{7}', '\\foo{9}'  # the rules can't tell
MARKS = {'correct': '+', 'incorrect': '-', 'unjudged': '?'}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VerdictStore]:
    """A store of its own for each test."""
    with VerdictStore(tmp_path / 'verdicts.sqlite') as opened:
        yield opened


def judged(
    settings: JudgeSettings,
    judge: ScriptedJudge | None,
    answers: list[Candidate],
    store: VerdictStore | None = None,
) -> tuple[str, Judged]:
    """The verdicts as + - ?, and the rest."""
    found = Pipeline(settings, store, judge=judge).run(answers)
    return ''.join(MARKS[one.verdict.value] for one in found.judgements), found


def test_equal_triples_are_asked_about_once() -> None:
    """Over replicas and problems; another question or gold answer is another triple."""
    judge = right_if('7')
    answers = [
        *candidates('7', '8', '7', '7', '8'),
        *candidates('7', '8', question='Else?'),
        *candidates('7', gold='9'),
        *candidates('7', '8'),
    ]
    verdicts, found = judged(LLM, judge, answers)
    assert verdicts == '+-++-+-++-'
    assert sorted(judge.asked) == ['7', '7', '7', '8', '8']
    assert (found.ledger.calls, found.ledger.saved['identity']) == (5, 5)


@pytest.mark.parametrize(
    ('settings', 'asked', 'verdicts'),
    [
        # By rule 7.0 is 7, 8 is not, and of unknown commands it can't be told.
        (LLM, ['7.0', '8', SEVEN, LOTS], '+-+-'),
        (JudgeSettings(recheck_different=True), ['8', SEVEN, LOTS], '+-+-'),
        (CASCADE, [SEVEN, LOTS], '+-+-'),
    ],
)
def test_each_mode_asks_about_what_it_says(
    settings: JudgeSettings, asked: list[str], verdicts: str
) -> None:
    """All; what the rules don't confirm; what the rules can't tell."""
    judge = right_if('7.0', SEVEN)
    assert judged(settings, judge, candidates('7.0', '8', SEVEN, LOTS))[0] == verdicts
    assert sorted(judge.asked) == sorted(asked)


def test_the_rule_alone_leaves_unjudged_what_it_cannot_tell() -> None:
    """Nobody is asked."""
    verdicts, found = judged(JudgeSettings(mode='rule'), None, candidates('7', '8', LOTS))
    assert verdicts == '+-?'
    assert {one.source for one in found.judgements} == {'rule'}


SILENT = Candidate('What?', '7', None, 'I think and think, up to 7, the end')


def test_the_judge_sees_the_end_of_a_response_without_a_recognised_answer() -> None:
    """Unless it shall count as wrong without a call. It is open then, and its end is kept."""
    judge = right_if('the end')
    verdicts, found = judged(JudgeSettings(tail_length=7), judge, [SILENT])
    assert (verdicts, judge.asked) == ('+', ['the end'])
    assert (found.judgements[0].answer, found.judgements[0].end) == (None, 'the end')
    for settings in (JudgeSettings(no_answer='incorrect'), JudgeSettings(mode='rule')):
        verdicts, found = judged(settings, judge := right_if(), [SILENT])
        assert (verdicts, judge.asked) == ('-', [])
        assert (found.judgements[0].source, found.judgements[0].end) == (
            UNRECOGNISED,
            SILENT.response,
        )
        assert found.ledger.saved['no answer'] == 1


@pytest.mark.parametrize(
    ('candidate', 'reason'),
    [
        (SILENT._replace(response='<think> </think>  '), 'empty'),
        (SILENT._replace(response='<think>it is 9</think>  '), 'thoughts only'),
        (SILENT._replace(truncated=True), 'cut off'),
        (SILENT._replace(response="I'm sorry, but I can't help with that."), 'refused'),
        (SILENT._replace(response='So we get 9 in total, as was to be shown'), 'value absent'),
    ],
)
def test_what_nobody_could_find_an_answer_in_is_settled(candidate: Candidate, reason: str) -> None:
    """No judge is asked, and it is not open."""
    for settings in (CASCADE, JudgeSettings(mode='rule')):
        verdicts, found = judged(settings, judge := right_if(), [candidate])
        assert (verdicts, judge.asked) == ('-', [])
        (one,) = found.judgements
        assert (one.reason, one.source, one.end) == (reason, 'rule', '')


def test_a_judge_that_finds_no_answer_at_the_end_calls_it_wrong(tmp_path: Path) -> None:
    """Of an answer it is a refusal to judge."""
    prompt = tmp_path / 'prompt.txt'
    prompt.write_text('{question} {gold} {answer}')
    settings = JudgeSettings(menu='compassverifier', prompt=str(prompt))
    invalid = ScriptedJudge(lambda answer, times: Reply('C', False, 9, 1))
    assert judged(settings, invalid, [SILENT, *candidates(LOTS)])[0] == '-?'


def test_a_tail_is_no_answer_of_its_own() -> None:
    """A response that ends in 42 and one whose answer is 42 are one triple, each with its own."""
    tail = JudgeSettings(no_answer='tail')
    told = Candidate('What?', '42', '42', '\\boxed{42}')
    ends = Candidate('What?', '42', None, '<think>or \\boxed{43}</think> 42')
    empty = Candidate('What?', '42', None, '<think> </think> ')
    for order in ([told, ends, empty], [empty, ends, told]):
        verdicts, found = judged(tail, judge := right_if(), order)
        assert sorted(verdicts) == ['+', '+', '-']
        assert judge.asked == []
        assert [one.answer for one in found.judgements] == [one.answer for one in order]


def test_the_judge_sees_the_answer_unless_asked_for_the_response() -> None:
    """Without its thoughts."""
    judge = right_if()
    answers = [Candidate('What?', '7', '8', '<think>secret</think>It is \\boxed{8}.')]
    judged(LLM, judge, answers)
    judged(JudgeSettings(mode='llm', candidate='response'), judge, answers)
    assert judge.asked == ['8', 'It is \\boxed{8}.']


def test_what_is_stored_is_not_paid_for_again(store: VerdictStore) -> None:
    """By the same judge; another model, prompt, menu or decoding is another judge."""
    judge = right_if('7')
    answers = candidates('7', '8', '9')
    first, _ = judged(LLM, judge, answers, store)
    again, found = judged(LLM, judge, [*answers, *candidates('10')], store)
    assert (first, again) == ('+--', '+---')
    assert (sorted(judge.asked[:3]), judge.asked[3:]) == (['7', '8', '9'], ['10'])
    assert found.ledger.saved['store'] == 3
    others = [
        (ScriptedJudge(judge.say, model='other'), LLM),
        (ScriptedJudge(judge.say, settings={'temperature': 0.7}), LLM),
        (ScriptedJudge(judge.say), JudgeSettings(mode='llm', prompt='opencompass')),
    ]
    for other, settings in others:
        assert judged(settings, other, answers, store)[0] == '+--'
        assert sorted(other.asked) == ['7', '8', '9']


def test_an_unreadable_reply_is_asked_for_once_more(store: VerdictStore) -> None:
    """Then the trial stays unjudged, and nobody pays for it again."""
    judge = ScriptedJudge(
        lambda answer, times: YES if answer == 'late' and times else Reply('The Answer is wrong')
    )
    answers = candidates('late', 'never')
    assert judged(LLM, judge, answers, store)[0] == '+?'
    assert sorted(judge.asked) == ['late', 'late', 'never', 'never']
    assert judged(LLM, judge, answers, store)[0] == '+?'
    assert len(judge.asked) == 4


def test_a_judge_that_no_reply_of_can_be_read_stops(store: VerdictStore) -> None:
    """Else a wrong prompt would leave all that the rules don't confirm unjudged, for good."""
    chatty = ScriptedJudge(lambda answer, times: Reply('Dear user,\n\x1b[2Jthe answer is right'))
    with pytest.raises(
        JudgeError, match=r"no reply could be read.*Dear user, .*right.*'boxed'"
    ) as told:
        judged(LLM, chatty, candidates(*map(str, range(100))), store)
    assert r'\boxed{yes} or \boxed{no}' in str(told.value)
    assert len(chatty.asked) == 2 * 16
    assert judged(LLM, up := right_if('7'), candidates('7', '8'), store)[0] == '+-'
    assert sorted(up.asked) == ['7', '8']


def test_unreadable_replies_of_a_judge_that_then_failed_are_asked_for_again(
    store: VerdictStore,
) -> None:
    """Nothing shows that it was a judge at all."""
    starting = ScriptedJudge(
        lambda answer, times: Reply('loading') if answer < '5' else Failure('unreachable', False)
    )
    _, found = judged(LLM, starting, candidates(*'123456789'), store)
    assert found.transient == {'unreadable reply of the judge': 4, 'unreachable': 5}
    assert judged(LLM, right_if('7'), candidates(*'123456789'), store)[0] == '------+--'


def test_some_unreadable_replies_are_the_answers_own_fault(store: VerdictStore) -> None:
    """Once a verdict came, in this run or an earlier one, they are kept as they are."""
    odd = ScriptedJudge(lambda answer, times: YES if answer == '99' else Reply('?'))
    assert judged(LLM, odd, candidates('99'), store)[0] == '+'
    many = candidates('99', *map(str, range(40)))
    assert judged(LLM, odd, many, store)[0] == '+' + '?' * 40
    more = candidates('99', *map(str, range(100, 140)))
    assert judged(LLM, odd, more, store)[0] == '+' + '?' * 40
    assert judged(LLM, right_if(), candidates('1', '99'), store)[0] == '?+'


def test_a_reply_that_was_cut_off_is_no_verdict() -> None:
    """What it said on the way may have been a thought."""
    judge = ScriptedJudge(lambda answer, times: Reply('\\boxed{yes}', truncated=True))
    verdicts, found = judged(LLM, judge, candidates('7'))
    assert verdicts == '?'
    assert 'max_tokens' in found.judgements[0].reason


@pytest.mark.parametrize('cut', [True, False])
def test_a_verdict_among_the_thoughts_is_none_but_told(cut: bool, store: VerdictStore) -> None:
    """Some servers take a whole reply for thoughts; the message says where its text is."""
    judge = ScriptedJudge(
        lambda answer, times: YES if answer == '1' else Reply('', cut, thoughts='so \\boxed{yes}')
    )
    verdicts, found = judged(LLM, judge, candidates('1', '7'), store)
    assert verdicts == '+?'
    reason = found.judgements[1].reason
    assert 'reasoning_content' in reason
    assert ('max_tokens' in reason) == cut == ('boxed{yes}' not in reason)
    with pytest.raises(JudgeError, match=r'reasoning_content.*turn thoughts off'):
        judged(LLM, judge, candidates(*map(str, range(10, 40))))


def test_a_failure_that_may_pass_is_not_kept(store: VerdictStore) -> None:
    """The next run asks again, and about nothing else."""
    answers = candidates('7', '8', '8', '9')
    down = ScriptedJudge(
        lambda answer, _: Failure('overloaded', False, 'busy') if answer == '8' else NO
    )
    verdicts, found = judged(LLM, down, answers, store)
    assert verdicts == '-??-'
    assert found.transient == {'overloaded': 2}
    with pytest.raises(JudgeError, match=r'2 of 4 responses \(overloaded 2\).*busy; come back'):
        require_coverage(found, 4, 1.0, 'come back')
    require_coverage(found, 4, 0.5, 'come back')
    up = right_if('8')
    assert judged(LLM, up, answers, store)[0] == '-++-'
    assert up.asked == ['8']


def test_a_failure_that_lasts_blocks_no_run(store: VerdictStore) -> None:
    """It is the trial's reason, kept like a verdict."""
    refused = ScriptedJudge(
        lambda answer, _: NO if answer == '8' else Failure('too long', True, '9000 tokens')
    )
    verdicts, found = judged(LLM, refused, candidates('7', '8'), store)
    assert (verdicts, found.judgements[0].reason) == ('?-', 'too long: 9000 tokens')
    require_coverage(found, 2, 1.0, '')
    assert judged(LLM, up := right_if('7'), candidates('7', '8'), store)[0] == '?-'
    assert up.asked == []


@pytest.mark.parametrize('number', [3, 100])
@pytest.mark.parametrize(
    ('kind', 'words'),
    [
        ('refused', 'extra_body of judge. It says: refused: 400: temperature must be 1'),
        ('too long', 'lower max_tokens of judge'),
    ],
)
def test_a_judge_that_refuses_everything_stops(
    store: VerdictStore, kind: str, words: str, number: int
) -> None:
    """A setting is wrong, not the answers: nothing is kept as their own fault."""
    refusing = ScriptedJudge(lambda *_: Failure(kind, True, '400: temperature must be 1'))
    with pytest.raises(JudgeError, match=words):
        judged(LLM, refusing, candidates(*map(str, range(number))), store)
    assert len(refusing.asked) <= 16
    assert judged(LLM, right_if(), candidates(*map(str, range(3))), store)[0] == '---'


def test_a_person_outranks_everybody(store: VerdictStore) -> None:
    """Rule, store and judge; the verdict is marked."""
    judged(LLM, right_if('8', LOTS), candidates('8', LOTS), store)
    put_human(store, Triple('What?', '7', '7'), Verdict.INCORRECT)
    put_human(store, Triple('What?', '7', '8'), Verdict.INCORRECT)
    for settings in (CASCADE, LLM):
        verdicts, found = judged(settings, right_if(), candidates('7', '8', LOTS), store)
        assert verdicts == '--+'
        assert [one.source for one in found.judgements] == ['human', 'human', 'judge']
    assert judged(JudgeSettings(mode='rule'), None, candidates('7', '8'), store)[0] == '--'


def test_what_a_judge_said_before_it_failed_is_kept(store: VerdictStore) -> None:
    """An error of the judge ends the run, not the verdicts."""

    def say(answer: str, times: int) -> Reply:
        if len(judge.asked) == 2:
            raise JudgeError('no credit left')
        return NO

    judge = ScriptedJudge(say)
    with pytest.raises(JudgeError, match='no credit left'):
        judged(LLM, judge, candidates('7', '8', '9', '10'), store)
    assert judged(LLM, up := right_if(), candidates('7', '8', '9', '10'), store)[0] == '----'
    assert sorted(judge.asked + up.asked) == ['10', '7', '8', '9']


def test_the_prompt_is_in_the_language_of_the_problem() -> None:
    """As the data set says, else by the text."""
    judge = right_if()
    judged(
        LLM,
        judge,
        [
            Candidate('Wie viel?', '7', '8', language='cn'),
            Candidate('多少？', '7', '8'),
            Candidate('How many?', '7', '8'),
        ],
    )
    chinese = {'参考答案' in prompt: prompt for prompt in judge.prompts}
    assert sum('参考答案' in prompt for prompt in judge.prompts) == 2
    assert 'How many?' in chinese[False]


def test_the_signature_tells_settings_apart_that_verdicts_depend_on() -> None:
    """And no others."""
    signatures = [
        Pipeline(JudgeSettings(**fields), judge=right_if()).signature
        for fields in (
            {},
            {'timeout': 5.0, 'retries': 1},
            {'mode': 'llm'},
            {'candidate': 'response'},
            {'no_answer': 'incorrect'},
            {'recheck_different': True},
            {'prompt': 'opencompass'},
        )
    ]
    assert signatures[0] == signatures[1]
    assert len(set(signatures)) == 6
    assert signatures[0].startswith('cascade:scripted:')


def test_the_ledger_adds_up() -> None:
    """Every trial was saved by something or asked about; tokens have their price."""
    settings = JudgeSettings(price_per_mtok=[1.0, 10.0])
    answers = [*candidates('7', '7', '8', '8', LOTS), SILENT._replace(truncated=True)]
    _, found = judged(settings, right_if(), answers)
    ledger = found.ledger
    failed = Judgement(Verdict.UNJUDGED, reason='timeout', passing=True)
    assert require_coverage(Judged(8 * [failed], ledger), 10, 0.2, '') is None
    assert dict(ledger.saved) == {'no answer': 1, 'identity': 2, 'human': 0, 'rule': 2, 'store': 0}
    assert ledger.calls + ledger.saved.total() == len(answers)
    assert ledger.as_dict()['price'] == pytest.approx((100 * 1 + 5 * 10) / 1e6)


@given(st.lists(st.sampled_from(['1', '2', '3', None]), max_size=30), st.randoms())
def test_verdicts_follow_their_candidates(answers: list[str | None], random: Any) -> None:
    """In whatever order they stand."""
    once, _ = judged(LLM, right_if('2'), candidates(*answers))
    assert once == ''.join('+' if answer == '2' else '-' for answer in answers)
    order = list(range(len(answers)))
    random.shuffle(order)
    shuffled, _ = judged(LLM, right_if('2'), candidates(*(answers[i] for i in order)))
    assert shuffled == ''.join(once[i] for i in order)
