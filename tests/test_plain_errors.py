"""Errors of users in configs: the message alone on a terminal, all of it in a log."""

from __future__ import annotations

import sys

import pytest

from opencompass_gpassk.datasets.settings import livemathbench


@pytest.mark.parametrize('terminal', [False, True])
def test_a_wrong_setting_is_its_message_on_a_terminal(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other errors keep their traceback."""
    monkeypatch.setenv('GPASSK_N', 'abc')
    monkeypatch.setattr(sys, 'excepthook', sys.__excepthook__)
    monkeypatch.setattr(sys.stderr, 'isatty', lambda: terminal)
    with pytest.raises(ValueError, match='GPASSK_N') as raised:
        livemathbench()
    sys.excepthook(raised.type, raised.value, raised.tb)
    told = capsys.readouterr().err.splitlines()
    assert told[-1] == "ValueError: GPASSK_N is 'abc'; positive integers are needed"
    assert (len(told) == 1) is terminal
    sys.excepthook(KeyError, KeyError('x'), raised.tb)
    assert 'Traceback' in capsys.readouterr().err
