"""OpenCompass's evaluation with a judge over HTTP: paid once, resumed, never silently wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from eval_task import COUNTS, N, OurSums, counts, data_set, evaluate, predict, respond
from judge_server import JudgeServer
from made_results import board_of

from opencompass_gpassk.answers.reader import read_answer
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.report.tables.benchmark import benchmark_tables
from opencompass_gpassk.report.tables.table import to_text

DISTINCT = len({(i, read_answer(respond(i, r))) for i in range(len(COUNTS)) for r in range(N)})
KEY = 'sk-never-to-be-written'


@pytest.fixture
def judge() -> Iterator[JudgeServer]:
    """A server that judges by comparing texts."""
    with JudgeServer() as server:
        yield server


def sums(server: JudgeServer, *, abbr: str = 'sums_en', **settings: Any) -> dict[str, Any]:
    """The ten problems, judged over HTTP."""
    asked = {'mode': 'llm', 'model': 'judge', 'api_base': server.url, 'retries': 1, 'timeout': 10.0}
    judged = {'type': GPassKEvaluator, 'judge': {**asked, **settings}}
    return data_set(OurSums, abbr=abbr, evaluator=judged)


def prepared(work_dir: Path, dataset: dict[str, Any]) -> dict[str, Any]:
    predict(work_dir, dataset)
    return dataset


def answer_on(text: str, status: int, error: dict[str, str]) -> Any:
    """Answer prompts that hold a text with an error."""

    def respond(body: dict[str, Any]) -> web.Response | None:
        if text in body['messages'][0]['content']:
            return web.json_response({'error': error}, status=status)
        return None

    return respond


def test_each_distinct_answer_is_asked_about_once(tmp_path: Path, judge: JudgeServer) -> None:
    """The result is as by rule; the ledger says what it cost."""
    found = evaluate(tmp_path, prepared(tmp_path, sums(judge)))
    assert counts(found) == COUNTS
    assert judge.calls == DISTINCT < N * len(COUNTS)
    ledger = found['judging']['ledger']
    assert (ledger['calls'], ledger['saved']['identity']) == (DISTINCT, 80 - DISTINCT)
    assert ledger['prompt_tokens'] > 0
    assert found['coverage'] == 100
    assert found['signature']['judge'].startswith('llm:judge:')
    assert {a['source'] for row in found['details'] for a in row['answers']} == {'judge'}


def test_an_outage_ends_the_task_and_costs_no_verdict(tmp_path: Path, judge: JudgeServer) -> None:
    """The error says how to go on; the next start asks about the rest alone."""
    dataset = prepared(tmp_path, sums(judge, max_concurrency=2, give_up_after=2.0))
    judge.respond = answer_on('103', 503, {'message': 'busy'})
    with pytest.raises(JudgeError, match=r'overloaded.*opencompass CONFIG -r'):
        evaluate(tmp_path, dataset)
    assert not (tmp_path / 'results/demo/sums_en.json').exists()
    paid = dict(judge.judged)
    assert paid
    judge.respond = lambda body: None
    assert counts(evaluate(tmp_path, dataset)) == COUNTS
    assert {prompt: judge.judged[prompt] for prompt in paid} == dict.fromkeys(paid, 1)


def test_a_gap_may_be_accepted(tmp_path: Path, judge: JudgeServer) -> None:
    """Coverage and bounds tell how much it matters."""
    dataset = sums(judge)
    dataset['eval_cfg']['evaluator']['min_coverage'] = 0.5
    judge.respond = answer_on('103', 503, {'message': 'busy'})
    found = evaluate(tmp_path, prepared(tmp_path, dataset))
    missing = found['counts']['unjudged']
    assert 0 < missing < 10
    assert found['coverage'] == pytest.approx(100 * (1 - missing / 80))
    low, high = found['bounds']['accuracy']
    assert (low, high) == (pytest.approx(40.0), pytest.approx(100 * (32 + missing) / 80))
    summary = ' '.join(
        ''.join(map(to_text, benchmark_tables(board_of({'demo': {'sums_en': found}})))).split()
    )
    assert f'{missing} of 80 verdicts are missing' in summary


def test_a_judge_that_gives_no_verdict_makes_no_result(tmp_path: Path, judge: JudgeServer) -> None:
    """However few it was asked about; what it said is kept, and it is not asked again."""
    judge.judge = lambda prompt: 'I like both.'
    asked = sums(judge)['eval_cfg']['evaluator']
    dataset = data_set(OurSums, n=2, problems=1, evaluator=asked)
    predict(tmp_path, dataset)
    for _ in range(2):
        with pytest.raises(JudgeError, match='no verdict that can be read'):
            evaluate(tmp_path, dataset)
    assert not (tmp_path / 'results/demo/sums_en.json').exists()
    assert judge.calls == 2  # the one answer, and once more since it was not read
    with VerdictStore(tmp_path / 'verdicts.sqlite', read_only=True) as store:
        assert len(list(store.records())) == 1


def test_a_refused_key_is_told_at_once(
    tmp_path: Path, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the variable's name, and never with the key."""
    judge.key = 'another'
    monkeypatch.setenv('OC_JUDGE_API_KEY', KEY)
    with pytest.raises(JudgeError, match='OC_JUDGE_API_KEY') as error:
        evaluate(tmp_path, prepared(tmp_path, sums(judge, max_concurrency=1)))
    assert KEY not in str(error.value)
    assert judge.calls == 1
