"""A process that judges: it opens a store on a signal, puts verdicts, and tells which stand."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.verdict_store import Record, StoredVerdict, VerdictStore
from opencompass_gpassk.trials import Verdict

JUDGE = JudgeIdentity('judge', 'Is {answer} {gold}?', {'temperature': 0.0})


def triple(number: int) -> Triple:
    """The triple of a number."""
    return Triple(f'{number} + 0 = ?', str(number), f'about {number}')


def put_human(store: VerdictStore, about: Triple, verdict: Verdict, note: str = '') -> None:
    """Keep a person's verdict, in place of an earlier one."""
    store.restore([Record(about, None, StoredVerdict(verdict, reply=note), time.time())])


def main(path: str, verdict: str, start: str, stop: str) -> None:
    """Put a verdict on each triple from start to stop; print who stands after each."""
    print('ready', flush=True)
    sys.stdin.readline()
    with VerdictStore(Path(path)) as store:
        for number in range(int(start), int(stop)):
            said = StoredVerdict(Verdict(verdict), reply=f'{verdict} ' * 50)
            stands = store.put(JUDGE, triple(number), said)
            print(number, stands.verdict.value, flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
