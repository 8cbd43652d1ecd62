"""Results with scores of reasoning, computed as the evaluator computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from made_results import as_result

from opencompass_gpassk.results.judged_trials import JudgedTrials
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.reasoning_summary import reasoning_summary
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

# Is the answer right, and the validity and redundancy of its reasoning; None without scores.
Sample = tuple[bool, float | None, float | None]
Samples = Mapping[str, Sequence[Sequence[Sample]]]

THRESHOLD = 0.25
SCORER = 'GAIR/ReasonEval-7B'


def make_reasoned(
    samples: Samples,
    k: Sequence[int] = (),
    *,
    threshold: float = THRESHOLD,
    refusals: Mapping[str, int] | None = None,
    scorer: str = SCORER,
    settings: str = '1a2b3c4d',
    benchmark: str = 'LiveMathBench-202412',
    greedy: bool = False,
) -> dict[str, Any]:
    """Return the result of problems whose samples are given one by one.

    A right solution has 4 steps, a wrong one 6.

    Args:
        samples: ``split_language`` → problems → their samples.
        k: The k of G-Pass@k.
        threshold: Of sound reasoning.
        refusals: Why there are no scores, and how often.
        scorer: Who scored.
        settings: What stands for the settings in the signature.
        benchmark: The benchmark's name.
        greedy: The samples were decoded greedily.
    """
    problems, trials = [], []
    for group, of_group in samples.items():
        split, language = group.split('_')
        for index, one in enumerate(of_group):
            name = f'{group}/{index}'
            problems.append(Problem(name, groups={'split': split, 'language': language}))
            trials += [_trial(name, replica, *sample) for replica, sample in enumerate(one)]
    table = TrialTable(problems, trials)
    n = len(trials) // len(problems)
    protocol = Protocol(n=n, k=tuple(k) or (1,), sound=threshold)
    result = as_result(table, protocol, benchmark=benchmark, greedy=greedy)
    every = np.ones(len(trials), dtype=bool)
    result['reasoning'] = {
        'scorer': scorer,
        'settings': {},
        'threshold': threshold,
        'validity_by': 'min',
        'redundancy_by': 'max',
        **reasoning_summary(JudgedTrials.recorded(table), every, threshold),
        'refusals': dict(refusals or {}),
    }
    result['signature']['reasoning'] = f'{scorer}:{settings}'
    return result


def _trial(
    name: str, replica: int, right: bool, validity: float | None, redundancy: float | None
) -> Trial:
    steps = 4.0 if right else 6.0
    values = {'validity': validity, 'redundancy': redundancy, 'steps': steps, 'tokens': 30 * steps}
    return Trial(
        name,
        replica,
        Verdict.CORRECT if right else Verdict.INCORRECT,
        values={key: value for key, value in values.items() if value is not None},
    )


def make_unjudged(values: Sequence[tuple[float | None, float | None]]) -> dict[str, Any]:
    """Return what an evaluator of reasoning alone makes of one response a problem."""
    made = make_reasoned({'AMC_en': [[(False, *value)] for value in values]}, greedy=True)
    kept = ('validity', 'redundancy', 'scored')
    result = {
        name: value
        for name, value in made.items()
        if name in ('schema', 'benchmark', 'signature', 'reasoning', 'groups', 'warnings')
    }
    metrics = made['metrics'].items()
    result['metrics'] = {name: one for name, one in metrics if name.split('/')[-1] in kept}
    result['signature']['judge'] = 'none'
    result['counts'] = {'problems': len(values), 'trials': len(values), 'lost': 0, 'truncated': 0}
    del result['reasoning']['sound']
    for of_part in ('boxes', 'lengths'):
        for found in result['reasoning'][of_part].values():
            found.pop('right')
            found.pop('wrong')
    return result
