"""The package as a whole: light import, one version, a working command."""

from __future__ import annotations

import subprocess
import sys

import opencompass_gpassk
from opencompass_gpassk.commands.main import build_parser


def test_import_is_light() -> None:
    """Importing the package loads neither OpenCompass nor torch nor numpy."""
    code = (
        'import sys, opencompass_gpassk; '
        "print([m for m in ('opencompass', 'torch', 'numpy', 'transformers') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == '[]'


def test_command_prints_version(capsys) -> None:
    """`gpassk --version` prints the package's version."""
    try:
        build_parser().parse_args(['--version'])
    except SystemExit as stop:
        assert stop.code == 0
    assert opencompass_gpassk.__version__ in capsys.readouterr().out
