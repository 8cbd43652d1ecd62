"""From responses to the stored result: counts as they are, warnings where something is off."""

from __future__ import annotations

from typing import Any

import pytest
from made_results import as_result, bounds

from opencompass_gpassk.answers.reader import read_answer
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.judging.rules import judge_answers
from opencompass_gpassk.responses import Response
from opencompass_gpassk.results.make_result import audit_responses, make_result, make_table
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.results.warnings import result_warnings
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

COUNTS = [4, 3, 4, 3, 3, 6, 3, 3, 2, 1]
N = 8


def respond(counts: list[int], n: int = N, **fields: Any) -> list[Response]:
    """Responses, replica by replica, of which so many to each problem are right.

    Which replicas are right differs from problem to problem, so that no replica can stand for
    another.
    """
    return [
        Response(
            text=f'Draw {replica}: \\boxed{{{i if (replica + 3 * i) % n < c else 100 + replica}}}',
            location=f'f#{replica}/{i}',
            identity=(str(i), replica),
            **fields,
        )
        for replica in range(n)
        for i, c in enumerate(counts)
    ]


def score(responses: list[Response], n: int = N, k: tuple[int, ...] = (2,)) -> dict[str, Any]:
    """The result of responses to ten problems whose answers are 0, 1, …"""
    table = table_of(responses)
    return make_result(
        table,
        Protocol(n=n, k=k),
        responses,
        benchmark='b',
        data_version='1',
        judge='rule',
        prompt='p',
    ).as_json()


def table_of(responses: list[Response]) -> TrialTable:
    """The trial table under the rule judge."""
    present = [r for r in responses if not r.lost]
    golds = [r.identity[0] for r in present if r.identity]
    answers = [read_answer(r.text) or '' for r in present]
    judgements = list(judge_answers(list(zip(golds, answers, strict=True))))
    problems = [Problem(str(i), gold=str(i)) for i in range(len(COUNTS))]
    return make_table(problems, responses, judgements)


def test_counts_of_each_problem_come_out_as_themselves() -> None:
    """No replica borrows another's verdicts, which once made every threshold the same."""
    result = score(respond(COUNTS))
    assert [row['c'] for row in result['details']] == COUNTS
    assert result['pass@2'] > result['G-Pass@2_1.0'] + 30


def test_the_signature_says_how_the_metrics_came_about() -> None:
    """Data, n, k, sampling, judge and prompt; k ascending."""
    sampling = {'temperature': 1.0, 'top_p': 0.8}
    signature = score(respond(COUNTS, sampling=sampling), k=(4, 2))['signature']
    assert signature['sampling'] == sampling
    assert (signature['data'], signature['n'], signature['k']) == ('b:1', 8, [2, 4])
    assert (signature['judge'], signature['prompt']) == ('rule', 'p')


@pytest.mark.parametrize(
    ('change', 'warning'),
    [
        ({'k': (4,)}, 'n = 8 is less than 3k = 12'),
        ({'lost': 3}, '3 of 80 responses are lost'),
        ({'lost': 72}, '2 of 10 problems have fewer than k = 2 responses, or none with a verdict'),
        ({'truncated': 1}, '1.2 % of the responses are cut off; raise max_out_len'),
        (
            {'truncated': 2, 'num_tokens': 512},
            '2.5 % of the responses are cut off after 511 to 512 tokens',
        ),
        ({'copies': True}, '100% of the problems got 8 identical responses'),
        ({'mixed': True}, '2 different sampling settings'),
        ({'not_known': 'top_k'}, 'sampling not known: top_k'),
    ],
)
def test_what_is_off_is_told(change: dict[str, Any], warning: str) -> None:
    """Each fault of a run has its warning."""
    responses = respond(COUNTS)
    for index, response in enumerate(responses):
        values = dict(vars(response))
        if index < change.get('lost', 0):
            values.update(text='', lost='timeout')
        values['truncated'] = index < change.get('truncated', 0)
        if tokens := change.get('num_tokens'):
            values['num_tokens'] = tokens - index
        if change.get('copies'):
            values['text'] = 'always \\boxed{1}'
        if change.get('mixed'):
            values['sampling'] = {'temperature': index % 2}
        if 'not_known' in change:
            values['sampling'] = {'not known': change['not_known']}
        responses[index] = Response(**values)
    result = score(responses, k=change.get('k', (2,)))
    assert any(warning in found for found in result['warnings']), result['warnings']


def test_a_clean_run_has_no_warnings() -> None:
    """Otherwise nobody reads them."""
    assert score(respond(COUNTS))['warnings'] == []


def test_a_lost_response_is_unjudged_and_keeps_its_reason() -> None:
    """It leaves its problem with fewer samples, and is not wrong."""
    responses = respond(COUNTS)
    responses[0] = Response('', 'f#0', ('0', 0), lost='HTTP 500')
    trial = table_of(responses).trials[0]
    assert (trial.verdict, trial.reason, trial.lost) == (Verdict.UNJUDGED, 'HTTP 500', True)


def test_copies_are_looked_for_among_the_responses_as_the_model_gave_them() -> None:
    """Cut down to their answers, responses are equal without being copies."""
    cut = [
        Response('B', '', (str(i), r), record={'prediction': f'{r}: so it is B'})
        for i in range(20)
        for r in range(4)
    ]
    assert audit_responses(cut).identical == 0


def test_lost_responses_have_no_sampling_settings() -> None:
    """A gap is no second setting."""
    responses = respond(COUNTS, sampling={'temperature': 1.0})
    responses[0] = Response('', '', ('0', 0), lost='no prediction was found')
    result = score(responses)
    assert result['signature']['sampling'] == {'temperature': 1.0}
    assert not any('sampling settings' in warning for warning in result['warnings'])


def test_a_response_without_identity_is_refused() -> None:
    """Nobody could say which problem it answers."""
    with pytest.raises(ValueError, match='f#9'):
        audit_responses([Response('x', 'f#9')])


def test_text_hashes_tell_texts_and_their_borders_apart() -> None:
    """Lone surrogates, which models do emit, are hashed too."""
    hashes = {text_hash(texts) for texts in (['ab', 'c'], ['a', 'bc'], ['abc'], ['\ud800'])}
    assert len(hashes) == 4


def test_many_responses_without_an_answer_are_told() -> None:
    """They count as wrong, which may be a matter of format."""
    problems = [Problem('a', gold='1')]
    trials = [
        Trial('a', i, Verdict.INCORRECT, 'unrecognised' if i else 'rule', None if i else '2')
        for i in range(4)
    ]
    protocol = Protocol(n=4, k=(2,))
    table = TrialTable(problems, trials)
    result = as_result(table, protocol, benchmark='b', greedy=False)
    result['bounds'] = bounds(table, protocol)
    told = result_warnings(protocol, Result.of(result), audit_responses([]), [])
    assert any(
        one.startswith('3 of 4 verdicts are missing')
        and 'G-Pass@2_1.0 lies between 0.0 and 50.0' in one
        for one in told
    )
    for thoughts, warned in ((4, False), (5, True)):
        result['counts'] |= {'trials': 1000, 'empty': 5, 'thoughts_only': thoughts}
        told = result_warnings(protocol, Result.of(result), audit_responses([]), [])
        assert any('say nothing' in one for one in told) is warned
