"""Trials files made by hand, for the tests of audits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from opencompass_gpassk.judging.audit_sample import AuditTrial
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict, write_trials

GROUPS = [('AMC', 'en', '1'), ('AMC', 'cn', '1'), ('WLPMC', 'en', '2'), ('WLPMC', 'cn', '')]

Say = Callable[[int, int], Verdict]


def usual(problem: int, replica: int) -> Verdict:
    """Mostly right, sometimes wrong, seldom unjudged."""
    if (problem * 7 + replica) % 29 == 0:
        return Verdict.UNJUDGED
    return Verdict.INCORRECT if (problem + replica) % 4 == 0 else Verdict.CORRECT


def make_table(problems: int = 24, n: int = 8, say: Say = usual) -> TrialTable:
    """A table whose answers are right where they are ``i``, wrong where they are ``-i - 1``.

    Of each problem, replica 5 gives no answer and 6 is lost.
    """
    rows = [
        Problem(
            str(i),
            f'{i} = ?',
            str(i),
            dict(zip(('split', 'language', 'level'), GROUPS[i % 4], strict=True)),
            cluster=f'c{i // 2}',
        )
        for i in range(problems)
    ]
    trials = []
    for i in range(problems):
        for s in range(n):
            verdict = say(i, s)
            answer = str(i) if verdict is Verdict.CORRECT else str(-i - 1)
            if s == 5:
                trials.append(Trial(str(i), s, Verdict.INCORRECT))
            elif s == 6:
                trials.append(Trial(str(i), s, Verdict.UNJUDGED, source='', lost=True))
            else:
                where = f'predictions/m/d.json#{i * n + s}'
                trials.append(Trial(str(i), s, verdict, answer=answer, response=where))
    return TrialTable(rows, trials)


def write_table(work_dir: Path, model: str, data_set: str, table: TrialTable | None = None) -> Path:
    """Write a table where a run of OpenCompass has it; return the timestamp folder."""
    run = work_dir / '20260101_000000'
    path = run / 'results' / model / f'{data_set}.trials.jsonl.gz'
    path.parent.mkdir(parents=True, exist_ok=True)
    write_trials(path, table or make_table(), {'signature': {'n': 4}})
    return run


def audit_trials(table: TrialTable, model: str = 'm', data_set: str = 'd') -> list[AuditTrial]:
    """The trials of a table as an audit sees them."""
    problems = {problem.problem_id: problem for problem in table.problems}
    return [AuditTrial(model, data_set, problems[t.problem_id], t) for t in table.trials]
