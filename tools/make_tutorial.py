"""Run the commands of ``docs/tutorial.md`` and write their outputs, and the claim, into the page.

Usage: ``python -m tools.make_tutorial``

The folder ``docs/tutorial`` has the responses that a server replays in place of a model.
A block of commands runs if the comment ``run`` is above it. Below the comment ``show`` the page has
what it prints.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from opencompass_gpassk.compare.claims import p_text

ROOT = Path(__file__).parents[1]
PAGE = ROOT / 'docs/tutorial.md'
PORT = '8765'

BLOCK = re.compile(
    r'(?P<before><!-- run -->\n```bash\n(?P<command>.*?)```\n(?P<shown>\n<!-- show -->\n)?)'
    r'(?(shown)```\n.*?```\n)',
    re.DOTALL,
)
TIME = re.compile(r'\b20\d{6}_\d{6}\b')  # the name of a run
CLAIM = re.compile(r'(<!-- claim -->\n).*?(<!-- end -->)', re.DOTALL)


def regenerated(page: str) -> str:
    """Return the page with new outputs and a new claim.

    Raises:
        subprocess.CalledProcessError: If a command fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shown in ('docs', 'tools'):
            (folder / shown).symlink_to(ROOT / shown)
        page = BLOCK.sub(lambda block: _with_output(block, folder), page)
        claim = _claim(folder)
    return CLAIM.sub(lambda place: place[1] + claim + place[2], page)


def _with_output(block: re.Match[str], folder: Path) -> str:
    ours = ('GPASSK_', 'OC_JUDGE_')
    environment = {name: one for name, one in os.environ.items() if not name.startswith(ours)}
    environment['PATH'] = f'{Path(sys.executable).parent}:{environment["PATH"]}'
    with socket.socket() as one:  # the page's port may be in use
        one.bind(('127.0.0.1', 0))
        command = block['command'].replace(PORT, str(one.getsockname()[1]))
    # OpenCompass runs its tasks in its own process, instead of starting one for each.
    command = command.replace(' --work-dir measured\n', ' --work-dir measured -- --debug\n')
    done = subprocess.run(
        ['bash', '-euo', 'pipefail', '-c', command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        encoding='utf-8',
        check=True,
    )
    if not block['shown']:
        return block[0]
    shown = TIME.sub('20260101_000000', done.stdout).replace(f'{folder}/', '').strip()
    return f'{block["before"]}```\n{shown}\n```\n'


def _claim(folder: Path) -> str:
    """Return the last section, from the files that the commands wrote."""
    (compared,) = json.loads((folder / 'compared.json').read_text('utf-8'))['data_sets']
    found = {row['key']: row for row in compared['differences'] if not row['group']}
    every, some = found['G-Pass@8_1.0'], found['pass@8']
    cool, hot = (_under_true_verdicts(folder, f't{t}') for t in (0.5, 1.5))
    labels = len((folder / 'labels.jsonl').read_text('utf-8').splitlines())
    text = f"""
        **On these 24 problems the model is more stable at temperature 0.5 than at 1.5.** It solves
        {every['first']:.1f} % of them in all of 8 attempts, against {every['second']:.1f} %. The
        difference is {-every['difference']:.1f} points, with a 95 % interval from
        {-every['these']['high']:.1f} to {-every['these']['low']:.1f} and
        p {p_text(every['these']['p_value'])}. This was the primary metric, the only one that was
        tested.

        **Nothing is claimed of problems like these.** {compared['claims'][-1]}.

        **Nothing is claimed of pass@8.** It was not tested. Its interval on these problems goes
        from {-some['these']['high']:.1f} to {-some['these']['low']:.1f} points, so that the model
        is not shown to be equally good either.

        **The verdicts are good enough.** With labels for {labels} different answers, the
        estimate of G-Pass@8_1.0 under true verdicts is {cool} at 0.5, and {hot} at 1.5.

        **Still uncertain:** interval and p-value of the difference take the recorded verdicts as
        true. Here the ranges due to verdicts are much narrower than the difference.
    """
    points = (f'- {" ".join(point.split())}' for point in text.split('\n\n'))
    filled = (
        textwrap.fill(one, 108, subsequent_indent='  ', break_on_hyphens=False) for one in points
    )
    return '\n'.join(filled) + '\n'


def _under_true_verdicts(folder: Path, model: str) -> str:
    (path,) = folder.glob(f'measured/*/results/{model}/*.json')
    result: dict[str, Any] = json.loads(path.read_text('utf-8'))
    found = result['judge_error']['metrics']['G-Pass@8_1.0']
    verdicts, both = ('{:.1f} to {:.1f}'.format(*found[of]) for of in ('range', 'with_sampling'))
    return f'{found["estimate"]:.1f} % (verdicts: {verdicts}; and sampling: {both})'


def main() -> None:
    """Write the page."""
    PAGE.write_text(regenerated(PAGE.read_text('utf-8')), 'utf-8')


if __name__ == '__main__':
    main()
