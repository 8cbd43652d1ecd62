"""The package as a whole: light import, one version, a working command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import setuptools
import yaml

import opencompass_gpassk
from opencompass_gpassk.commands.main import build_parser

ROOT = Path(__file__).parents[1]


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
import shlex
import sys
from opencompass_gpassk.commands.main import main
for line in (
    'score a.jsonl -k 2 --model a -o a.json', 'score b.jsonl -k 2 --model b -o b.json',
    'check pairs.jsonl', 'compare a.json b.json', 'audit a.json', 'plan a.json',
    'report a.json b.json -o page.html', 'gate a.json --at-least "accuracy 0"',
):
    assert main(shlex.split(line)) == 0, line
print({'opencompass', 'mmengine', 'torch', 'transformers', 'datasets'} & set(sys.modules))
"""
    done = python(code, tmp_path)
    assert done.stdout.endswith('set()\n'), done.stdout + done.stderr


@pytest.mark.parametrize('line', ['run --model demo', 'fetch sample', 'rescore outputs'])
def test_without_opencompass_a_command_says_how_to_install_it(line: str, tmp_path: Path) -> None:
    """In one line, with exit code 1."""
    code = f"""
import sys
for name in ('mmengine', 'opencompass', 'torch'):
    sys.modules[name] = None  # as if it were not installed
from opencompass_gpassk.commands.main import main
sys.exit(main({line.split()}))
"""
    done = python(code, tmp_path)
    assert done.returncode == 1
    assert done.stderr.count('\n') == 1
    assert 'pip install opencompass-gpassk' in done.stderr


def test_windows_is_told_of_wsl(tmp_path: Path) -> None:
    """Before anything is imported that Windows lacks."""
    code = """
import sys
sys.platform = 'win32'
for name in ('fcntl', 'resource'):
    sys.modules[name] = None
import opencompass_gpassk.commands.main
"""
    done = python(code, tmp_path)
    assert done.returncode == 2
    assert done.stderr == 'gpassk runs on Linux or macOS; on Windows use WSL\n'


def packaged(address: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what setup.py says of the package, with an address of the repository."""
    told: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, 'setup', told.update)
    file = ROOT / 'setup.py'
    code, places = re.subn('^ADDRESS = .*$', f'ADDRESS = {address!r}', file.read_text(), flags=re.M)
    assert places == 1
    exec(compile(code, file, 'exec'), {'__file__': str(file), '__name__': 'setup'})
    return told


def test_links_of_the_readme_work_on_a_package_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """They lead to this version's files in the repository; pictures are the files themselves."""
    there = 'https://example.org/owner/name'
    version = f'v{opencompass_gpassk.__version__}'
    told = packaged(there, monkeypatch)
    links = re.findall(r'(!?)\[[^]]*\]\(([^)\s]+)\)', told['long_description'])
    assert ('!', f'{there}/raw/{version}/docs/strip.png') in links
    assert ('', f'{there}/blob/{version}/docs/tutorial.md') in links
    assert all(link.startswith(('https://', '#')) for _, link in links)
    assert there in told['project_urls'].values()


def test_workflows_run_the_promised_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Python; and each workflow runs files of ``.ci`` that are there."""
    promised = re.findall(r'Python :: (\d\.\d+)', str(packaged('', monkeypatch)['classifiers']))
    folder = ROOT / '.github/workflows'
    workflows = {path.stem: yaml.safe_load(path.read_text()) for path in folder.iterdir()}
    assert workflows['ci']['jobs']['main-job']['strategy']['matrix']['python'] == promised
    for workflow in workflows.values():
        steps = [step for job in workflow['jobs'].values() for step in job['steps']]
        programs = {step['run'].split()[0] for step in steps if 'run' in step}
        assert programs
        assert all((ROOT / program).stat().st_mode & 0o100 for program in programs)


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a new process, in a folder."""
    return subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, cwd=folder, timeout=120
    )
