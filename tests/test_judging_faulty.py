"""Two thousand trials on two judges that fail in every way, one of which dies: none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from judge_server import JudgeServer

from opencompass_gpassk.inference import http_client as client
from opencompass_gpassk.judging.judge import Candidate
from opencompass_gpassk.judging.pipeline import Pipeline
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.trials import Verdict

TRIALS = 2000
KINDS = ('429', '500', '503', 'reset', 'truncate', 'empty', 'not json')
FAULTS = {kind: 0.3 / len(KINDS) for kind in KINDS} | {'hang': 0.03}


@pytest.mark.slow
def test_thirty_percent_of_faults_cost_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every trial is judged, none wrong, what hangs is not waited for, and none is asked again."""
    monkeypatch.setattr(client, 'FIRST_BACKOFF', 0.01)
    monkeypatch.setattr(client, 'LONGEST_BACKOFF', 0.1)
    monkeypatch.setattr(client, 'SLOW', 0.3)
    monkeypatch.setattr(client, 'FIRST_REST', 0.01)
    monkeypatch.setattr(client, 'LONGEST_REST', 0.02)
    candidates = [
        Candidate(f'What is {i} + 0?', str(i), str(i if i % 3 else i + 1)) for i in range(TRIALS)
    ]
    with (
        JudgeServer(faults=FAULTS, seed=1, retry_after='0.002') as one,
        JudgeServer(faults=FAULTS, seed=2, retry_after='0.002', dies_after=700) as other,
        VerdictStore(tmp_path / 'verdicts.sqlite') as store,
    ):
        settings = JudgeSettings(mode='llm', model='judge', api_base=[one.url, other.url])
        found = Pipeline(settings, store).run(candidates)
        right = [judgement.verdict is Verdict.CORRECT for judgement in found.judgements]
        assert right == [bool(i % 3) for i in range(TRIALS)]
        assert all(judgement.verdict is not Verdict.UNJUDGED for judgement in found.judgements)
        assert other.calls >= 700  # it did die
        assert found.ledger.failures.total() > 0.2 * TRIALS
        calls = one.calls + other.calls
        # Twice is judged only what was lost on its way back: cut off.
        assert (one.judged + other.judged).total() <= TRIALS + 100
        again = Pipeline(settings, store).run(candidates)
        assert again.judgements == found.judgements
        assert one.calls + other.calls == calls
