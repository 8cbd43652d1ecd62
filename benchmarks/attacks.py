"""Count the verdicts that attacking answers flip, judged by stubs that are easily fooled.

    python benchmarks/attacks.py [--list] [--times] [--rows N]

Every attack of ``tests/cases/judge_attacks.json`` is a wrong answer. A verdict is flipped if the
stub's reply to it reads as *yes*. Two stubs echo the whole prompt, or the text in the fence: they
show what parsing alone lets through. Two stubs obey the last sentence of the prompt that names a
verdict, or the last such sentence without a condition, so that the prompt's own text after the
answer ('if you cannot tell, no') does not count. They show what a fence can't prevent if the judge
believes what it reads. Real models lie between them and must be measured.
``not defused`` is the same with answers inserted unchanged.

``--times`` reads and defuses long, repetitive texts instead. For each reader it prints the text
that took longest, and how much longer a text twice as long took: 2 if the time is linear.

``--rows N`` checks N hostile answers of each kind instead, and prints seconds and reasons: numbers
too large to compute, and integrals that no time limit allows, of one problem and of many.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parent.parent / 'tests/kit'))

from attack_judges import ATTACKS, PROMPTS, STUBS, attack
from long_texts import BAIT

from opencompass_gpassk.answers.reader import read_answer
from opencompass_gpassk.answers.worker_pool import check_pairs
from opencompass_gpassk.judging.prompt import Prompt, neutralise
from opencompass_gpassk.judging.verdict import MENUS, read_verdict
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.step_judge import read_steps
from opencompass_gpassk.reasoneval.steps import split_steps
from opencompass_gpassk.report.page.formulas import with_mathematics
from opencompass_gpassk.trials import Verdict

READERS: dict[str, Callable[[str], Any]] = {
    'neutralise': neutralise,
    'read_answer': read_answer,
    'split_steps': split_steps,
    'read_steps': lambda text: read_steps(text, ErrorKind.REDUNDANT, 5),
    'with_mathematics': with_mathematics,
    **{f'read_verdict {m}': lambda text, m=m: read_verdict(text, MENUS[m]) for m in MENUS},
}
SIZE = 250_000  # characters


def flipped(stub: str, source: str, language: str) -> list[str]:
    """Return the ids of the attacks that make a stub reply yes."""
    prompt, say = Prompt.load(source, language), STUBS[stub]
    readings = {
        case['id']: read_verdict(say(prompt.fill(attack(case))), MENUS['boxed']) for case in ATTACKS
    }
    return [name for name, reading in readings.items() if reading == (Verdict.CORRECT, '')]


def seconds(reader: Callable[[str], Any], text: str) -> float:
    """Return the processor time that a reader takes."""
    start = time.process_time()
    reader(text)
    return time.process_time() - start


def print_times() -> None:
    """Print a row for each reader."""
    print(f'{"reader":<30}{"repeats":<26}{SIZE:>12,}{2 * SIZE:>12,}{"times":>8}')
    for name, reader in READERS.items():
        texts = [(bait * (SIZE // len(bait)), end) for bait in BAIT for end in ('', '}' * SIZE)]
        _, text, end = max((seconds(reader, text + end), text, end) for text, end in texts)
        once, twice = seconds(reader, text + end), seconds(reader, text * 2 + end * 2)
        repeated = ascii(text[:20] + end[:1])
        print(f'{name:<30}{repeated:<26}{once:>10.2f} s{twice:>10.2f} s{twice / once:>8.1f}')


HOSTILE: dict[str, Callable[[int], tuple[str, str]]] = {
    'powers': lambda i: ('5', f'\\boxed{{3^{{{100_000_000 + i}}}+1}}'),
    'nested powers': lambda i: ('5', f'9^{{9^{{9+{i}}}}}'),
    'integrals, one problem': lambda i: ('5', f'\\int\\frac{{x^7+{i}}}{{x^{{11}}+x^3+7}}dx'),
    'integrals, many problems': lambda i: (str(i), '\\int\\frac{x^7+1}{x^{11}+x^3+7}dx'),
}


def print_rows(number: int) -> None:
    """Print a row for each kind of hostile answer."""
    for kind, pair in HOSTILE.items():
        start = time.monotonic()
        results = check_pairs([pair(i) for i in range(number)]).values()
        seconds = time.monotonic() - start
        reasons = Counter(f'{one.relation.value}: {one.reason}' for one in results)
        print(f'{kind:<26}{number:>8,} rows{seconds:>8.1f} s  {dict(reasons)}', flush=True)


def main() -> None:
    """Print a row for each prompt and stub, or for each reader."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--list', action='store_true', help='name the attacks that succeed')
    parser.add_argument('--times', action='store_true', help='time the reading of long texts')
    parser.add_argument('--rows', type=int, help='time the checking of so many hostile answers')
    arguments = parser.parse_args()
    if arguments.rows:
        print_rows(arguments.rows)
        return
    if arguments.times:
        print_times()
        return
    show = arguments.list
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
