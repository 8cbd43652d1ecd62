"""Which judge settings name."""

from __future__ import annotations

from collections.abc import Mapping

from opencompass_gpassk.judging.judge import Judge, RecordedJudge, ServedJudge
from opencompass_gpassk.judging.local_judge import LocalJudge
from opencompass_gpassk.judging.prompt import BUILT_IN
from opencompass_gpassk.judging.settings import JudgeSettings


def make_judge(settings: JudgeSettings) -> Judge:
    """Return the judge that settings name.

    Raises:
        ValueError: If they name no judge.
    """
    if settings.recorded:
        custom = bool(settings.extra_body) or settings.prompt not in BUILT_IN
        return RecordedJudge(settings.model_name, settings.decoding, custom=custom)
    if isinstance(settings.model, Mapping):
        return LocalJudge(
            settings.model, max_tokens=settings.max_tokens, batch_size=settings.batch_size
        )
    return ServedJudge(settings)
