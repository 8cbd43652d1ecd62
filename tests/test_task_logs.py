"""What a task contained and what it died of is read from its log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.runs.task_states import (
    HEAD,
    TAIL,
    last_exception,
    read_log,
    tasks_named,
)

CASES = json.loads((Path(__file__).parent / 'cases/logs.json').read_text('utf-8'))


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['id'])
def test_the_last_exception_is_found(case: dict[str, Any], tmp_path: Path) -> None:
    """The exception that ended a task is given on one line, nothing where there is none."""
    path = tmp_path / 'x.out'
    path.write_bytes(case['log'].encode())
    assert last_exception(read_log(path)) == case['expected']


def test_a_task_names_its_data_sets() -> None:
    """The data sets are those of the model asked for, shards by their own names."""
    log = (
        '11/21 06:00:00 - OpenCompass - INFO - Task [m/a-n4_0,m/b,mm/c]\n'
        '11/21 06:00:00 - OpenCompass - INFO - Start inferencing [m/a-n4_0]\n'
    )
    assert tasks_named(log, 'm') == ['a-n4_0', 'b']
    assert tasks_named('nothing', 'm') == []


def test_a_huge_log_is_read_at_both_ends(tmp_path: Path) -> None:
    """What a task contains stands first, and what it died of last."""
    path = tmp_path / 'x.out'
    middle = b'\xff' + b'x' * (HEAD + TAIL)
    path.write_bytes(b'first\n' + middle + b'\nlast\n')
    text = read_log(path)
    assert text.startswith('first\n')
    assert text.endswith('\nlast\n')
    assert len(text) < len(middle) + 10
