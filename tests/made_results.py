"""Results with known counts, computed as the evaluator computes them, for tests of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opencompass_gpassk.results import Protocol, figures
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict


def make_result(
    correct: Mapping[str, Sequence[int]],
    n: int,
    k: Sequence[int] = (),
    *,
    benchmark: str = 'LiveMathBench-202412',
    greedy: bool = False,
    judged: int | None = None,
    warnings: Sequence[str] = (),
    **signature: Any,
) -> dict[str, Any]:
    """Return the result of problems of which so many of n samples are correct.

    Args:
        correct: ``split_language`` → c of each of its problems.
        n: Samples of each problem.
        k: The k of G-Pass@k.
        benchmark: The benchmark's name.
        greedy: The samples were decoded greedily.
        judged: How many samples of each problem are judged, all by default.
        warnings: The result's warnings.
        **signature: Further fields of the signature.
    """
    problems, trials = [], []
    for group, counts in correct.items():
        split, language = group.split('_')
        for index, c in enumerate(counts):
            name = f'{group}/{index}'
            problems.append(Problem(name, groups={'split': split, 'language': language}))
            for replica in range(n):
                verdict = Verdict.CORRECT if replica < c else Verdict.INCORRECT
                if replica >= (n if judged is None else judged):
                    verdict = Verdict.UNJUDGED
                trials.append(Trial(name, replica, verdict, answer='1', answer_class=replica >= c))
    protocol = Protocol(n=n, k=tuple(k) or (1,))
    sampling = {'greedy': True} if greedy else {'temperature': 1.0, 'top_p': 0.8}
    return {
        **figures(TrialTable(problems, trials), protocol),
        'benchmark': benchmark,
        'k': list(protocol.ks),
        'taus': list(protocol.taus),
        'signature': {
            'package': '0.1.0',
            'data': f'{benchmark}:1',
            'n': n,
            'sampling': sampling,
            'judge': 'rule',
            'prompt': '9c01aa52',
            **signature,
        },
        'warnings': list(warnings),
        'details': [],
    }
