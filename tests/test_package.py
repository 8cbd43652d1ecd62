"""The package as a whole: light import, one version, a working command."""

from __future__ import annotations

import opencompass_gpassk
from opencompass_gpassk.commands.main import build_parser


def test_command_prints_version(capsys) -> None:
    """`gpassk --version` prints the package's version."""
    try:
        build_parser().parse_args(['--version'])
    except SystemExit as stop:
        assert stop.code == 0
    assert opencompass_gpassk.__version__ in capsys.readouterr().out
