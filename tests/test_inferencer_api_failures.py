"""API requests that fail, for a while or for good, against a local server."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from chat_server import CHAT, Reply, Server, build
from tiny import run

from opencompass_gpassk.inference import http_client as client
from opencompass_gpassk.inference.backend import HELD_BACK
from opencompass_gpassk.inference.request_loop import InferenceStoppedError


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between attempts that nobody waits for."""
    monkeypatch.setattr(client, 'FIRST_BACKOFF', 0.01)
    monkeypatch.setattr(client, 'FIRST_REST', 0.01)


@pytest.mark.parametrize('name', [*CHAT, 'OpenAISDKResponse'])
def test_request_that_fails_for_good_is_a_lost_trial(
    name: str, server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """Also with OpenCompass's plain HTTP wrapper, which would try for ever."""

    def reply(body: dict[str, Any]) -> Reply | None:
        if '2+2' in str(body):
            return 400, {'error': {'message': 'The prompt is against the rules', 'code': 'x'}}
        return (200, server.answer(body, 'content_filter')) if '3+3' in str(body) else None

    server.reply = reply
    records = run(build(name, server, checkpoint), tmp_path, batch_size=4)
    lost = [record for record in records if 'lost' in record]
    assert [record['problem_id'] for record in lost] == ['p/2', 'p/3'] * 3
    assert all('against the rules' in record['lost'] for record in lost[::2])
    assert {record['lost'] for record in lost[1::2]} == {HELD_BACK}
    assert not any(record['prediction'] for record in lost)


@pytest.mark.parametrize('name', CHAT)
def test_wrong_key_stops_the_run(
    name: str, server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """The error says so, and not all rows are tried."""
    server.reply = lambda body: (401, {'error': {'message': 'Incorrect API key', 'code': 'k'}})
    model = build(name, server, checkpoint, max_workers=4)
    with pytest.raises(InferenceStoppedError, match='refuses the key'):
        run(model, tmp_path, replicas=100)
    assert len(server.requests) < 40
    assert not (tmp_path / 'problems.json').exists()


def test_requests_under_way_when_a_run_stops_are_saved(
    server: Server, checkpoint: Path, tmp_path: Path
) -> None:
    """They are paid for; none is begun after the stop."""
    release, first = threading.Event(), threading.Semaphore()

    def reply(body: dict[str, Any]) -> Reply | None:
        if first.acquire(blocking=False):
            release.wait(20)
            return None
        threading.Timer(0.5, release.set).start()
        return 401, {'error': {'message': 'no such key'}}

    server.reply = reply
    model = build('OpenAISDK', server, checkpoint, max_workers=2)
    with pytest.raises(InferenceStoppedError):
        run(model, tmp_path)
    assert len(server.requests) == 2
    server.requests.clear()
    server.reply = lambda body: None
    run(model, tmp_path)
    assert len(server.requests) == 11
