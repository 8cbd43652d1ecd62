"""Responses without a recognised answer, from the text to the metrics: none is lost, none decides.

A server's replies miss a recognised answer in 5 % of cases, at random or mostly where they are
wrong. The truth must lie within the stated bounds, and a true judge must find it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from eval_task import OurSums, config, data_set, evaluate
from judge_server import JudgeServer, reply_body
from opencompass.tasks import OpenICLInferTask
from scripted_judge import ScriptedJudge, right_if

from opencompass_gpassk.compare.claims import leaderboard_claim
from opencompass_gpassk.compare.leaderboard import Leaderboard
from opencompass_gpassk.inference.openai_compatible import OpenAICompatible
from opencompass_gpassk.judging.judge import Judge
from opencompass_gpassk.judging.pipeline import Pipeline, candidates_of
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.responses import Response
from opencompass_gpassk.results.make_result import make_table
from opencompass_gpassk.results.metric_values import MetricValues, bounds
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.result import Entry, Result
from opencompass_gpassk.results.true_verdicts import judge_error
from opencompass_gpassk.trials import UNRECOGNISED, Problem, Verdict

PROBLEMS, N = 150, 8
PROTOCOL = Protocol(n=N, k=(4, N))
METRICS = ('accuracy', 'pass@4', 'G-Pass@8_0.5', 'G-Pass@8_1.0', 'mG-Pass@8')
PLAIN = 'The total is \\boxed{{{}}}.'
ODD = (
    'First I sort the objects by colour, and then I count the red ones.\n\nCounting the blue ones '
    'too, one by one, I arrive at {} of these objects. That is more than anybody had expected when '
    'the day began, and I stop here.'
)


def gold(problem: int) -> int:
    return 1000 + 7 * problem


def responses(seed: int, share: float, mostly_wrong: bool) -> list[Response]:
    """Return right and wrong responses, of which a share has no recognised answer."""
    rng = random.Random(seed)
    found = []
    for problem in range(PROBLEMS):
        rate = rng.betavariate(0.6, 0.4)
        for replica in range(N):
            right = rng.random() < rate
            odds = share * (1 if not mostly_wrong else 0.3 if right else 2.0)
            said = gold(problem) if right else gold(problem) + rng.choice([-2, 5, 11])
            text = (ODD if rng.random() < odds else PLAIN).format(said)
            found.append(Response(text=text, location='', identity=(str(problem), replica)))
    return found


def measured(given: list[Response], settings: JudgeSettings, judge: Judge | None) -> MetricValues:
    """Judge responses as an evaluator does."""
    problems = [Problem(str(i), 'How many are there?', str(gold(i))) for i in range(PROBLEMS)]
    judged = Pipeline(settings, judge=judge).run(candidates_of(problems, given))
    return MetricValues(make_table(problems, given, judged.judgements), PROTOCOL)


def true_judge() -> ScriptedJudge:
    """A judge that finds the gold answer where it stands in the text."""
    judge = right_if()
    yes, no = right_if('yes').say('yes', 0), judge.say('no', 0)
    golds = {str(gold(i)): i for i in range(PROBLEMS)}
    judge.say = lambda text, _: yes if any(word in golds for word in text.split()) else no
    return judge


@pytest.mark.slow
@pytest.mark.parametrize('mostly_wrong', [False, True])
def test_the_range_due_to_verdicts_holds_the_truth(mostly_wrong: bool) -> None:
    """Labels tell how many of the open responses are right."""
    truth = measured(responses(5, 0.0, mostly_wrong), JudgeSettings(mode='rule'), None)
    ruled = measured(responses(5, 0.05, mostly_wrong), JudgeSettings(mode='rule'), None)
    right: dict[str, list[bool]] = {}
    for one, true in zip(ruled.table.trials, truth.table.trials, strict=True):
        right.setdefault(one.outcome, []).append(true.verdict is Verdict.CORRECT)
    outcomes = {name: (len(of), len(of), sum(of) / len(of)) for name, of in right.items()}
    found = judge_error(ruled, {'outcomes': outcomes, 'known': {}}, {})['metrics']
    true_means, means = (values.means(values.parts['']) for values in (truth, ruled))
    for key in ('accuracy', 'G-Pass@8_1.0'):
        low, high = found[key]['range']
        assert low <= true_means[key] <= high
        assert abs(found[key]['estimate'] - true_means[key]) < abs(means[key] - true_means[key])


@pytest.mark.parametrize('mostly_wrong', [False, True])
def test_the_truth_is_within_the_bounds_and_a_true_judge_finds_it(mostly_wrong: bool) -> None:
    """No problem is lost, and what is not recognised counts as wrong until it is judged."""
    for seed in range(3):
        truth = measured(responses(seed, 0.0, mostly_wrong), JudgeSettings(mode='rule'), None)
        true = truth.means(truth.parts[''])
        given = responses(seed, 0.05, mostly_wrong)
        ruled = measured(given, JudgeSettings(mode='rule'), None)
        open_ones = [one for one in ruled.table.trials if one.source == UNRECOGNISED]
        assert 10 < len(open_ones) < 120
        stated, means = bounds(ruled), ruled.means(ruled.parts[''])
        judged = measured(given, JudgeSettings(), true_judge())
        found = judged.means(judged.parts[''])
        for key in METRICS:
            low, high = stated[key]
            assert low - 1e-9 <= means[key] <= true[key] + 1e-9 <= high + 2e-9, key
            assert found[key] == pytest.approx(true[key], abs=1), key
        assert ruled.trials.known.tolist() == [N] * PROBLEMS
        assert any(one.source == 'judge' for one in judged.table.trials)


REPLIES = {  # what a server makes of the answer {}
    'right': ('So \\boxed{{{}}}.', 'stop', {}),
    'thoughts': ('', 'stop', {'reasoning_content': 'I add 0, so \\boxed{{{}}}.'}),
    'musing': (None, 'stop', {'reasoning_content': 'What is asked? Let me think more.'}),
    'empty': ('', 'stop', {}),
    'cut off': ('First I look at it. Then adding zero leaves 1{}', 'length', {}),
    'filtered': ('', 'content_filter', {}),
    'refused': (None, 'stop', {'refusal': 'I can not help with that.'}),
    'declines': ("I'm sorry, but I can't help with that.", 'stop', {}),
}


@pytest.mark.parametrize(
    ('kinds', 'counts', 'bounds', 'warned', 'claim'),
    [
        (
            ['right', 'right', 'right', 'right', 'thoughts', 'musing', 'empty', 'cut off'],
            {'correct': 40, 'incorrect': 40, 'truncated': 10, 'thoughts_only': 20, 'empty': 10},
            [50.0, 62.5],
            ['37.5 % of responses say nothing (10 empty, 20 only thoughts)', '12.5 % of the resp'],
            '1 to 7 % of these 10 problems in all 4 attempts and 99 to 100 % in at least one',
        ),
        (
            ['thoughts'],
            {'correct': 0, 'incorrect': 80, 'unrecognised': 80, 'thoughts_only': 80},
            [0.0, 100.0],
            ['100.0 % of responses say nothing (0 empty, 80 only thoughts)', '--reasoning-parser'],
            '0 to 100 % of these 10 problems in all 4 attempts and 0 to 100 % in at least one',
        ),
        (
            ['right', 'right', 'right', 'right', 'right', 'right', 'filtered', 'refused'],
            {'correct': 60, 'unjudged': 20, 'lost': 20, 'filtered': 20, 'empty': 0},
            [75.0, 100.0],
            ['20 of 80 responses are lost (inference failed; the server or its content filter'],
            '21 to 100 % of these 10 problems in all 4 attempts and 100 % in at least one',
        ),
        (
            [*['right'] * 7, 'declines'],
            {'correct': 70, 'incorrect': 10, 'lost': 0, 'refused': 10, 'filtered': 0},
            [87.5, 87.5],
            ['12.5 % of responses refuse to answer'],
            '50 % of these 10 problems in all 4 attempts and 100 % in at least one',
        ),
    ],
)
def test_what_a_server_leaves_out_is_told_and_open(
    kinds: list[str],
    counts: dict[str, int],
    bounds: list[float],
    warned: list[str],
    claim: str,
    tmp_path: Path,
) -> None:
    """Replies of thoughts alone, empty, cut off or refused: metrics, counts, warnings, sentence."""
    asked: Counter[int] = Counter()

    def respond(body: dict[str, Any]) -> web.Response:
        i = int(re.findall(r'is (\d+) \+', body['messages'][-1]['content'])[0])
        text, finish, message = REPLIES[kinds[asked[i] % len(kinds)]]
        asked[i] += 1
        message = {name: said.format(i) for name, said in message.items()}
        return web.json_response(reply_body(text and text.format(i), 'p', finish, **message))

    with JudgeServer(respond=respond) as server:
        dataset = data_set(OurSums, k=[4])
        model = {'type': OpenAICompatible, 'path': 'm', 'api_base': server.url, 'max_out_len': 64}
        OpenICLInferTask(config(tmp_path, dataset, **model)).run()
        result = evaluate(tmp_path, dataset, **model)
    assert {name: result['counts'][name] for name in counts} == counts
    ends = result['bounds'].get('accuracy', [result['accuracy']] * 2)  # none if all is closed
    assert ends == pytest.approx(bounds)
    assert bounds[0] <= result['accuracy'] <= bounds[1]
    assert all(any(words in one for one in result['warnings']) for words in warned)
    told = leaderboard_claim([Entry('m', 'd', Result.of(result))], Leaderboard())
    assert told[0] == f'm solves {claim}'
