"""``OpenAICompatible`` against a server that misbehaves: what is sent, kept, repeated, given up."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from judge_server import JudgeServer, reply_body
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from scripted_judge import candidates
from tiny import PAPER, Problems, run, texts

from opencompass_gpassk.answers.speech import spoken
from opencompass_gpassk.formats import progress_bar
from opencompass_gpassk.inference import http_client as client
from opencompass_gpassk.inference.openai_compatible import OpenAICompatible
from opencompass_gpassk.inference.request_loop import InferenceStoppedError
from opencompass_gpassk.judging.pipeline import Pipeline
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.trials import Verdict

KEY = 'sk-0123456789abcdef'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts that nobody waits for, and no key but the tests' own."""
    monkeypatch.setattr(client, 'FIRST_BACKOFF', 0.01)
    monkeypatch.setattr(client, 'FIRST_REST', 0.01)
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)


def echo(prompt: str) -> str:
    return prompt


def seeded(body: dict[str, Any]) -> web.Response:
    """Answer with prompt and seed."""
    text = f'{body["messages"][-1]["content"]} by {body.get("seed")}'
    return web.json_response(reply_body(text))


def sent(server: JudgeServer) -> Counter[tuple[str, int]]:
    """How often each request was sent, by prompt and seed."""
    return Counter((body['messages'][-1]['content'], body['seed']) for body in server.bodies)


def test_request_has_the_protocol_and_its_own_seed(tmp_path: Path) -> None:
    """The config's own decoding doesn't win, other fields stay; a second run draws the same."""
    with JudgeServer(respond=seeded) as server:
        model = OpenAICompatible(
            'm', server.url, temperature=0.1, min_p=0.2, extra_body={'user': 'me', 'top_a': 1}
        )
        records = run(model, tmp_path, 'sampled')
        sampled = list(server.bodies)
        again = run(model, tmp_path, 'again', batch_size=1)
        server.bodies.clear()
        greedy = run(model, tmp_path, 'greedy', sampling='greedy')
    assert len({body['seed'] for body in sampled}) == len(set(texts(records))) == 12
    for body in sampled:
        assert {name: body[name] for name in PAPER} == PAPER
    assert again == records
    assert records[0]['sampling'] == PAPER
    assert records[0]['origin_prompt'] == [{'role': 'HUMAN', 'prompt': 'what is 0+0'}]
    for body in server.bodies:
        assert (body['temperature'], body['top_k'], body['repetition_penalty']) == (0.0, 1, 1.0)
        assert 'seed' not in body
    for body in [*sampled, *server.bodies]:
        assert (body['model'], body['max_tokens'], body['user']) == ('m', 12, 'me')
        assert not {'top_a', 'stream', 'n', 'stop'} & set(body)
        assert body['repeat_penalty'] == 1.0  # llama.cpp's name for repetition_penalty
        assert body['messages'][0]['role'] == 'user'
    assert {body['min_p'] for body in sampled} == {0.0}
    assert not any('min_p' in body for body in server.bodies)
    assert greedy[0]['sampling'] == {'greedy': True}


def test_the_models_own_sampling_is_sent_where_it_is_asked_for(tmp_path: Path) -> None:
    """With a seed of each request's own."""
    own = {'temperature': 0.6, 'top_p': 0.9, 'top_k': 20, 'min_p': 0.1, 'repetition_penalty': 1.1}
    with JudgeServer(respond=seeded) as server:
        records = run(OpenAICompatible('m', server.url, **own), tmp_path, sampling='model')
    for body in server.bodies:
        assert {name: body[name] for name in own} == own
    assert len({body['seed'] for body in server.bodies}) == 12
    assert records[0]['sampling'] == {'model': True}


def refusing(**words: str) -> Callable[[dict[str, Any]], web.Response | None]:
    """Answer 400 with these words to requests that have a field."""

    def respond(body: dict[str, Any]) -> web.Response | None:
        told = [words[name] for name in words if name in body]
        error = {'error': {'message': told[0]}} if told else {}
        return web.json_response(error, status=400) if told else None

    return respond


@pytest.mark.parametrize(
    'words',
    [
        "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead",
        'Extra inputs are not permitted: max_tokens',
    ],
)
def test_a_length_goes_by_its_newer_name_where_the_older_one_is_refused(
    words: str, tmp_path: Path
) -> None:
    """Whatever the model is called; for a judge too."""
    with JudgeServer(lambda prompt: r'\boxed{yes}', respond=refusing(max_tokens=words)) as server:
        records = run(OpenAICompatible('any', server.url), tmp_path)
        settings = JudgeSettings(mode='llm', model='judge', api_base=server.url, max_tokens=9)
        judged = Pipeline(settings).run(candidates('candidate 1'))
        taken = [body for body in server.bodies if 'max_tokens' not in body]
    assert not any('lost' in record for record in records)
    assert [one.verdict for one in judged.judgements] == [Verdict.CORRECT]
    assert [body['max_completion_tokens'] for body in taken] == [12] * 12 + [9]


def test_a_length_that_is_too_large_is_no_other_name(tmp_path: Path) -> None:
    """The message says what to lower; nothing is asked at the server's own length."""
    words = 'Invalid max_tokens value, the valid range of max_tokens is [1, 8]'
    with (
        JudgeServer(echo, respond=refusing(max_tokens=words)) as server,
        pytest.raises(InferenceStoppedError, match='lower max_out_len'),
    ):
        run(OpenAICompatible('any', server.url), tmp_path)
    assert not any('max_completion_tokens' in body for body in server.bodies)


def test_a_server_that_refuses_what_no_protocol_names_is_asked_without(tmp_path: Path) -> None:
    """But a min_p of its own may hold, which the records say; a greedy response has none."""
    refuse = refusing(min_p='min_p is not supported', repeat_penalty='unknown repeat_penalty')
    with JudgeServer(echo, respond=refuse) as server:
        model = OpenAICompatible('m', server.url)
        records = run(model, tmp_path, replicas=30)
        greedy = run(model, tmp_path, 'greedy', sampling='greedy')
    assert {str(record['sampling']) for record in records} == {str(PAPER | {'not known': 'min_p'})}
    assert greedy[0]['sampling'] == {'greedy': True}
    with (
        JudgeServer(echo, respond=refuse) as server,
        pytest.raises(InferenceStoppedError, match='refuses the field min_p'),
    ):
        run(OpenAICompatible('m', server.url, min_p=0.1), tmp_path, 'own', sampling='model')


def test_stop_strings_of_a_data_set_are_sent_and_recorded(tmp_path: Path) -> None:
    """Beside those in the config of the model; where they are refused, the records say so."""
    stops = {'stopping_criteria': ['Problem:'], 'sampling': 'greedy'}
    with JudgeServer(echo) as server:
        model = OpenAICompatible('m', server.url, extra_body={'stop': '<end>'})
        records = run(model, tmp_path, **stops)
    assert [body['stop'] for body in server.bodies] == [['<end>', 'Problem:']] * 12
    assert records[0]['sampling'] == {'greedy': True, 'stop': 'Problem:'}
    with JudgeServer(echo, respond=refusing(stop="Unsupported parameter: 'stop'")) as server:
        with pytest.raises(InferenceStoppedError, match=re.escape("without=['stop']")):
            run(OpenAICompatible('m', server.url), tmp_path, 'refused', **stops)
        records = run(OpenAICompatible('m', server.url, without=['stop']), tmp_path, 'x', **stops)
    assert records[0]['sampling'] == {'greedy': True, 'not applied': 'stop'}


def test_all_are_asked_at_once_whatever_the_batch_size(tmp_path: Path) -> None:
    """Up to max_concurrency, at each of several servers."""
    with JudgeServer(echo, latency=0.2) as one, JudgeServer(echo, latency=0.2) as other:
        model = OpenAICompatible('m', [one.url, other.url], max_concurrency=6)
        records = run(model, tmp_path, batch_size=1)
    assert one.most_at_once == other.most_at_once == 6
    assert [record['prediction'] for record in records[:4]] == [
        f'what is {i}+{i}' for i in range(4)
    ]


def test_length_and_thoughts_are_kept_apart_from_the_answer(tmp_path: Path) -> None:
    """Also where the response ends in the middle of the thoughts."""

    def respond(body: dict[str, Any]) -> web.Response:
        if '0+0' in str(body['messages']):
            message = reply_body('', 'p', 'length', reasoning_content=r'so \boxed{1}, or')
            message['usage']['completion_tokens'] = 12
        elif '1+1' in str(body['messages']):
            message = reply_body(r'\boxed{2}', 'p', 'stop', reasoning=r'so \boxed{1}')
        else:
            message = reply_body('4', 'p', None)
            del message['usage']
        return web.json_response(message)

    with JudgeServer(respond=respond) as server:
        records = run(OpenAICompatible('m', server.url), tmp_path)
    assert [spoken(text) for text in texts(records[:3])] == ['', r'\boxed{2}', '4']
    assert records[1]['prediction'] == r'so \boxed{1}</think>\boxed{2}'
    assert [record['truncated'] for record in records[:3]] == [True, False, None]
    assert [record['num_tokens'] for record in records[:3]] == [12, 1, None]


def test_a_request_is_repeated_only_after_it_failed_and_with_its_own_seed(tmp_path: Path) -> None:
    """Faults of all kinds that pass cost no response."""
    faults = dict.fromkeys(('429', '500', '503', 'reset', 'truncate', 'cut', 'no choices'), 0.06)
    with JudgeServer(echo, faults=faults) as server:
        records = run(OpenAICompatible('m', server.url), tmp_path, replicas=40)
    assert not any('lost' in record for record in records)
    assert len(sent(server)) == 160
    assert server.calls > 180
    assert sum(server.judged.values()) in range(160, 175)  # some replies were cut on their way


def test_a_response_that_the_server_broke_off_is_asked_for_again(tmp_path: Path) -> None:
    """So engines end what they were writing when they are shut down."""
    first = iter(range(3))

    def respond(body: dict[str, Any]) -> web.Response:
        if next(first, None) is not None:
            return web.json_response(reply_body('what', 'p', 'abort'))
        return seeded(body)

    with JudgeServer(respond=respond) as server:
        records = run(OpenAICompatible('m', server.url), tmp_path)
    assert server.calls == 15
    assert 'what' not in texts(records)


def test_a_slow_response_is_never_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter responses would take the place of longer ones."""
    monkeypatch.setattr(client, 'SLOW', 0.05)
    slow = iter([1.3])
    with JudgeServer(echo, latency=lambda: next(slow, 0.01)) as server:
        run(OpenAICompatible('m', server.url), tmp_path)
    assert server.calls == 12


def test_a_server_that_died_is_told_by_the_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For how long, and how it fails; until it gives up."""
    monkeypatch.setattr(client, 'SILENCE', 0.2)
    monkeypatch.setattr(progress_bar, 'LOG_INTERVAL', 0.1)
    alive = iter(range(3))

    def respond(body: dict[str, Any]) -> web.Response:
        if next(alive, None) is None:
            raise web.HTTPServiceUnavailable
        return seeded(body)

    with JudgeServer(respond=respond) as server, pytest.raises(InferenceStoppedError):
        run(OpenAICompatible('m', server.url, give_up_after=1.5), tmp_path)
    assert re.search(r'3/12 .*no reply for=1 s \(\w+\)', capsys.readouterr().err)


BAD = [
    {'choices': {}},
    reply_body(None),
    reply_body('', tool_calls=[{'function': {'name': 'f', 'arguments': '{}'}}]),
    reply_body('x', content=[{'type': 'image'}]),
]


def bad_for(words: str, bodies: list[Any]) -> Callable[[dict[str, Any]], web.Response | None]:
    """Answer prompts that hold some words with bodies that hold no reply, in turn."""
    turn = cycle(bodies)
    return lambda body: web.json_response(next(turn)) if words in str(body) else None


def test_replies_that_cannot_be_read_are_lost_alone_and_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the server replies to nothing else any more; what it replies after that counts."""
    monkeypatch.setattr(client, 'LONGEST_BACKOFF', 0.01)
    monkeypatch.setattr(client, 'LONGEST_REST', 0.01)
    odd = {**reply_body('odd'), 'usage': [1]}

    def respond(body: dict[str, Any]) -> web.Response | None:
        return web.json_response(odd) if '1+1' in str(body) else bad(body)

    bad = bad_for('2+2', BAD)
    with JudgeServer(echo, respond=respond) as server:
        records = run(OpenAICompatible('m', server.url), tmp_path)
        again = run(OpenAICompatible('m', server.url, give_up_after=20.0), tmp_path)
        asked = server.calls
        server.respond = lambda body: None
        whole = run(OpenAICompatible('m', server.url), tmp_path)
        assert server.calls == asked + 3
    for some in (records, again):
        lost = [record for record in some if 'lost' in record]
        assert [record['problem_id'] for record in lost] == ['p/2'] * 3
        assert all(record['lost'].startswith('bad reply') for record in lost)
    assert texts(records)[1] == 'odd'
    assert not any('lost' in record for record in whole)


def test_a_response_that_takes_too_long_twice_is_lost(tmp_path: Path) -> None:
    """With the same seed it would take as long again."""
    with JudgeServer(echo) as server:
        server.respond = lambda body: setattr(
            server, 'always', 'hang' if '2+2' in str(body) else ''
        )
        records = run(OpenAICompatible('m', server.url, timeout=0.5), tmp_path)
    assert [record['problem_id'] for record in records if 'lost' in record] == ['p/2'] * 3
    assert server.calls == 15


@pytest.mark.parametrize(
    ('fault', 'told'),
    [
        ('key', 'asks for a key; put it into the environment variable OPENAI_API_KEY'),
        ('model', "knows no model 'm'"),
        ('quota', 'quota is used up'),
    ],
)
def test_what_no_request_can_pass_ends_the_run(fault: str, told: str, tmp_path: Path) -> None:
    """At once, with the remedy, and without a prediction file."""
    with (
        JudgeServer(always=fault) as server,
        pytest.raises(InferenceStoppedError, match=re.escape(told)),
    ):
        run(OpenAICompatible('m', server.url), tmp_path, replicas=100)
    assert server.calls < 40
    assert not (tmp_path / 'problems.json').exists()


def test_a_refused_field_ends_the_run_until_it_is_left_out(tmp_path: Path, said: list[str]) -> None:
    """The message names the setting that goes on without it, and the records say so."""

    def respond(body: dict[str, Any]) -> web.Response | None:
        if 'top_k' not in body:
            return None
        words = 'Unrecognized request argument supplied: top_k'
        return web.json_response({'error': {'message': words}}, status=400)

    with JudgeServer(echo, respond=respond) as server:
        model = OpenAICompatible('m', server.url)
        run(model, tmp_path, 'plain', sampling='model')  # which the server takes
        with pytest.raises(InferenceStoppedError, match=re.escape("without=['top_k']")):
            run(model, tmp_path, replicas=50)
        assert server.calls < 12 + 100
        records = run(OpenAICompatible('m', server.url, without=['top_k']), tmp_path)
    kept = {name: PAPER[name] for name in PAPER if name != 'top_k'}
    assert records[0]['sampling'] == kept | {'not applied': 'top_k'}
    assert ['top_k' in text for text in said] == [True]


def test_a_server_that_goes_away_loses_nothing(tmp_path: Path) -> None:
    """The run ends, what came is saved, what didn't is not called lost; a resume asks for that."""
    with JudgeServer(echo, dies_after=6) as server:
        model = OpenAICompatible('m', server.url, max_concurrency=1, give_up_after=0.3)
        with pytest.raises(InferenceStoppedError, match=r'no reply for 0\.3 s.*resume'):
            run(model, tmp_path)
    saved = (tmp_path / 'tmp_problems.jsonl').read_text()
    assert (saved.count('"prediction"'), saved.count('"lost"')) == (6, 0)
    with JudgeServer(echo) as server:
        records = run(OpenAICompatible('m', server.url), tmp_path)
        assert server.calls == 6
    assert len(records) == 12


def test_the_key_is_read_from_the_environment_and_shown_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a server sends it back, as thought or text."""
    monkeypatch.setenv('MY_KEY', KEY)
    page = reply_body(f'{KEY} is it', thought='', reasoning_content=f'it is {KEY}')
    with JudgeServer(key=KEY, respond=lambda body: web.json_response(page)) as server:
        run(OpenAICompatible('m', server.url, api_key_env='MY_KEY'), tmp_path)
    assert server.headers['Authorization'] == f'Bearer {KEY}'
    assert KEY not in (tmp_path / 'problems.json').read_text()


@pytest.mark.parametrize(
    ('settings', 'told'),
    [
        ({'api_base': KEY}, 'api_base is no URL'),
        ({'api_key_env': KEY}, 'api_key_env of m is no name'),
        ({'extra_body': {'stream': True}}, "sets 'stream'"),
        ({'extra_body': {'n': 4}}, "sets 'n'"),
        ({'extra_body': {'token': KEY}}, 'holds the key in OPENAI_API_KEY'),
        ({'extra_body': {'a': {1, 2}}}, 'does not fit into JSON'),
        ({'without': ['topk']}, "did you mean 'top_k'"),
        ({'max_concurrency': 0}, 'max_concurrency of m is 0'),
    ],
)
def test_a_wrong_setting_is_an_error_without_the_key(
    settings: dict[str, Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is asked."""
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    with pytest.raises(ValueError, match=re.escape(told)) as error:
        OpenAICompatible('m', **{'api_base': 'http://127.0.0.1:1/v1', **settings})
    assert KEY not in str(error.value)


def upstream(model: OpenAICompatible, folder: Path) -> list[str]:
    """Run OpenCompass's own inferencer."""
    rows = Problems(reader_cfg={'input_columns': ['prompt'], 'output_column': 'answer'})
    inferencer = GenInferencer(model, max_out_len=9, batch_size=5)
    return inferencer.inference(
        ZeroRetriever(rows),
        prompt_template=PromptTemplate(
            {
                'begin': [{'role': 'SYSTEM', 'fallback_role': 'HUMAN', 'prompt': 'Be brief.'}],
                'round': [
                    {'role': 'HUMAN', 'prompt': 'what is 1'},
                    {'role': 'BOT', 'prompt': '1'},
                    {'role': 'HUMAN', 'prompt': '{prompt}'},
                ],
            }
        ),
        output_json_filepath=str(folder),
        output_json_filename='x.json',
    )


def test_opencompasss_own_inferencer_works_with_it(tmp_path: Path) -> None:
    """Chat messages with their roles, the model's own sampling, responses in the rows' order."""
    drawn = iter([0.05, 0.0] * 100)
    with JudgeServer(echo, latency=lambda: next(drawn)) as server:
        found = upstream(OpenAICompatible('m', server.url, temperature=0.7, top_k=20), tmp_path)
    assert found == 3 * [f'what is {i}+{i}' for i in range(4)]
    saved = json.loads((tmp_path / 'x.json').read_text())
    assert [saved[str(i)]['prediction'] for i in range(12)] == found
    assert server.calls == 12
    for body in server.bodies:
        assert [one['role'] for one in body['messages']] == ['system', 'user', 'assistant', 'user']
        assert (body['temperature'], body['top_k'], body['max_tokens']) == (0.7, 20, 9)
        assert not {'seed', 'top_p', 'min_p'} & set(body)


def test_opencompasss_own_inferencer_gets_an_empty_text_for_a_refused_prompt(
    tmp_path: Path,
) -> None:
    """It can't say lost; but a server that refuses all ends the run."""

    def respond(body: dict[str, Any]) -> web.Response | None:
        if '2+2' not in str(body['messages']):
            return None
        return web.json_response({'error': {'message': 'against the rules'}}, status=400)

    with JudgeServer(echo, respond=respond) as server:
        found = upstream(OpenAICompatible('m', server.url), tmp_path)
    assert found == 3 * ['what is 0+0', 'what is 1+1', '', 'what is 3+3']
    with (
        JudgeServer(always='filter') as server,
        pytest.raises(InferenceStoppedError, match='answers no prompt'),
    ):
        upstream(OpenAICompatible('m', server.url), tmp_path)
