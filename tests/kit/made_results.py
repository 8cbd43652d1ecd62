"""Results with known counts, computed as the evaluator computes them, for tests of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opencompass_gpassk.report.board import Board
from opencompass_gpassk.results.make_result import table_metrics
from opencompass_gpassk.results.metric_values import MetricValues
from opencompass_gpassk.results.metric_values import bounds as metric_bounds
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.trials import SCHEMA, Problem, Trial, TrialTable, Verdict


def make_result(
    correct: Mapping[str, Sequence[int]],
    n: int,
    k: Sequence[int] = (),
    *,
    benchmark: str = 'LiveMathBench-202412',
    greedy: bool = False,
    sampled: int | None = None,
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
        sampled: How many samples each problem has, n by default.
        warnings: The result's warnings.
        **signature: Further fields of the signature.
    """
    problems, trials = [], []
    for group, counts in correct.items():
        split, language = group.split('_')
        for index, c in enumerate(counts):
            name = f'{group}/{index}'
            problems.append(Problem(name, groups={'split': split, 'language': language}))
            for replica in range(n if sampled is None else sampled):
                verdict = Verdict.CORRECT if replica < c else Verdict.INCORRECT
                trials.append(Trial(name, replica, verdict, answer='1', answer_class=replica >= c))
    made = as_result(
        TrialTable(problems, trials),
        Protocol(n=n, k=tuple(k) or (1,)),
        benchmark=benchmark,
        greedy=greedy,
        **signature,
    )
    return made | {'warnings': list(warnings)}


def make_version_result(
    groups: Mapping[str, Sequence[int | None]],
    n: int = 1,
    k: Sequence[int] = (),
    *,
    benchmark: str = 'RV-MATH',
    greedy: bool = False,
) -> dict[str, Any]:
    """Return the result of questions in versions: c of the original (None: not asked), then theirs.

    Questions whose name begins with a are of subject algebra, the others of geometry.
    """
    problems, trials = [], []
    for name, counts in groups.items():
        subject = 'algebra' if name.startswith('a') else 'geometry'
        for number, c in enumerate(counts):
            if c is None:
                continue
            version = str(number) if number else 'original'
            problems.append(
                Problem(
                    f'{name}/{version}', cluster=name, version=version, groups={'subject': subject}
                )
            )
            trials += [
                Trial(f'{name}/{version}', i, Verdict.CORRECT if i < c else Verdict.INCORRECT)
                for i in range(n)
            ]
    protocol = Protocol(n=n, k=tuple(k) or (1,))
    return as_result(TrialTable(problems, trials), protocol, benchmark=benchmark, greedy=greedy)


def metrics(table: TrialTable, protocol: Protocol) -> dict[str, Any]:
    """Return what a result says of a table, its metrics and shares beside its fields."""
    return flat(table_metrics(MetricValues(table, protocol)))


def flat(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result with all metrics and shares at the top level."""
    return {**result, **result['metrics'], **(result.get('shares') or {})}


def bounds(table: TrialTable, protocol: Protocol) -> dict[str, list[float]]:
    """Return the bounds of a table's metrics."""
    return metric_bounds(MetricValues(table, protocol))


def as_result(
    table: TrialTable, protocol: Protocol, *, benchmark: str, greedy: bool, **signature: Any
) -> dict[str, Any]:
    """Return the result of a table, as the evaluator stores it."""
    sampling = {'greedy': True} if greedy else {'temperature': 1.0, 'top_p': 0.8}
    made = {
        **table_metrics(MetricValues(table, protocol)),
        'schema': SCHEMA,
        'benchmark': benchmark,
        'k': list(protocol.ks),
        'taus': list(protocol.taus),
        'signature': {
            'package': '0.1.0',
            'data': f'{benchmark}:1',
            'n': protocol.n,
            'sampling': sampling,
            'judge': 'rule',
            'prompt': '9c01aa52',
            **signature,
        },
        'warnings': [],
        'details': [],
    }
    return Result.of(made).as_json()


def typed(results: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Result]]:
    """Return model → data set → result, of their JSON."""
    return {
        model: {name: Result.of(one) for name, one in of_model.items()}
        for model, of_model in results.items()
    }


def result_of(metrics: Mapping[str, float], n: int, **fields: Any) -> Result:
    """Return a result with these metrics."""
    made = {'schema': SCHEMA, 'benchmark': 'b', 'metrics': metrics, 'signature': {'n': n}}
    return Result.of(made | fields)


def board_of(results: Mapping[str, Mapping[str, Any]], *rest: Any, **named: Any) -> Board:
    """Return the board of results, of their JSON."""
    return Board(typed(results), *rest, **named)
