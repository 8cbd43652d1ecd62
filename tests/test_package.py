"""The package as a whole: light import, one version, a working command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import opencompass_gpassk
from opencompass_gpassk.commands.main import build_parser


def test_command_prints_version(capsys) -> None:
    """`gpassk --version` prints the package's version."""
    try:
        build_parser().parse_args(['--version'])
    except SystemExit as stop:
        assert stop.code == 0
    assert opencompass_gpassk.__version__ in capsys.readouterr().out


def test_commands_about_results_load_no_engine(tmp_path: Path) -> None:
    """Scoring, comparing and reporting start without OpenCompass, torch and transformers."""
    for model, wrong in (('a', 3), ('b', 4)):
        rows = [
            {
                'question': f'How much is {i} + 1?',
                'answer': f'{i + 1}',
                'samples': [f'\\boxed{{{i + (i * j % wrong > 0)}}}' for j in range(4)],
            }
            for i in range(6)
        ]
        text = '\n'.join(json.dumps(row) for row in rows)
        (tmp_path / f'{model}.jsonl').write_text(text)
    (tmp_path / 'pairs.jsonl').write_text('{"gold": "1/2", "prediction": "0.5"}\n')
    code = """
import sys
from opencompass_gpassk.commands.main import main
for line in (
    'score a.jsonl -k 2 --model a -o a.json', 'score b.jsonl -k 2 --model b -o b.json',
    'check pairs.jsonl', 'compare a.json b.json', 'audit a.json', 'plan a.json',
    'report a.json b.json -o page.html',
):
    assert main(line.split()) == 0, line
print({'opencompass', 'torch', 'transformers', 'datasets'} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert done.stdout.endswith('set()\n'), done.stdout + done.stderr
