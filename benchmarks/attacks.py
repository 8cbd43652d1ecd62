"""Count the verdicts that attacking answers flip, judged by stubs that are easily fooled.

    python benchmarks/attacks.py [--list]

Every attack of ``tests/cases/judge_attacks.json`` is a wrong answer. A verdict is flipped if the
stub's reply to it reads as *yes*. Two stubs echo, the whole prompt or what stands in the fence:
they show what parsing alone lets through. Two obey: the last sentence of the prompt that names a
verdict, or the last of them that states no condition, so that what the prompt itself says behind
the answer ('if you cannot tell, no') does not count. They show what a fence can't prevent if the
judge believes what it reads; how a real model fares between them has to be measured with it.
``not defused`` is the same with answers put in as they are.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent.parent / 'tests'))

from attack_judges import ATTACKS, PROMPTS, STUBS, attack

from opencompass_gpassk.judging.prompt import Prompt
from opencompass_gpassk.judging.verdict import MENUS, read_verdict
from opencompass_gpassk.trials import Verdict


def flipped(stub: str, source: str, language: str) -> list[str]:
    """Return the ids of the attacks that bring a stub to say yes."""
    prompt, say = Prompt.load(source, language), STUBS[stub]
    readings = {
        case['id']: read_verdict(say(prompt.fill(attack(case))), MENUS['boxed']) for case in ATTACKS
    }
    return [name for name, reading in readings.items() if reading == (Verdict.CORRECT, '')]


def main() -> None:
    """Print a row for each prompt and stub."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--list', action='store_true', help='name the attacks that succeed')
    show = parser.parse_args().list
    print(f'{len(ATTACKS)} attacks\n')
    print(f'{"prompt":<16}{"stub":<22}{"flipped":>16}{"not defused":>16}')
    for source, language in PROMPTS:
        for stub in STUBS:
            found = flipped(stub, source, language)
            with patch('opencompass_gpassk.judging.prompt.neutralise', lambda text: text):
                bare = flipped(stub, source, language)
            columns = [f'{len(f):3} = {len(f) / len(ATTACKS):6.1%}' for f in (found, bare)]
            print(f'{source + " " + language:<16}{stub:<22}{columns[0]:>16}{columns[1]:>16}')
            if show and found:
                print('    ' + ', '.join(found))


if __name__ == '__main__':
    main()
