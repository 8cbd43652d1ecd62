"""What several tests of the inferencer share: a checkpoint, wrappers, a server, the warnings."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from chat_server import Server
    from opencompass.models import HuggingFacewithChatTemplate


# Tests run side by side, and so do the jobs that they start: more threads only cost time.
for name in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ.setdefault(name, '1')

# Tables are as wide as in a file, whatever terminal the tests run in.
os.environ.pop('COLUMNS', None)

# Machines are busy: no test may fail because it took long.
settings.register_profile('busy', deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile('busy')


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files first that take longest, so that no process ends long before another."""
    longest = ('test_end_to_end', 'test_command_rescore', 'test_slurm')
    items.sort(key=lambda item: not any(name in item.nodeid for name in longest))


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of its own for each test."""
    from chat_server import Server

    one = Server()
    yield one
    one.close()


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of a tiny model, for its tokenizer above all."""
    from tiny import save_checkpoint

    return save_checkpoint(tmp_path_factory.mktemp('checkpoint'))


@pytest.fixture(scope='module')
def chat(checkpoint: Path) -> HuggingFacewithChatTemplate:
    """The wrapper that most configs name."""
    from opencompass.models import HuggingFacewithChatTemplate
    from tiny import build

    return build(HuggingFacewithChatTemplate, checkpoint)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the inferencer warns of."""
    import opencompass_gpassk.inference.inferencer

    messages: list[str] = []
    logger = SimpleNamespace(warning=messages.append, info=lambda text: None)
    monkeypatch.setattr(opencompass_gpassk.inference.inferencer, 'get_logger', lambda: logger)
    return messages


@pytest.fixture
def no_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write summaries without metrics, whose drawing takes most of the time and has its tests."""
    monkeypatch.setattr(
        'opencompass_gpassk.report.summarizer.write_charts', lambda *args, **settings: []
    )
