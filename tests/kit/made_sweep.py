"""A sweep in OpenCompass's layout, with responses, trials and results, for tests of the report."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from made_runs import MadeRun

from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.responses import Response
from opencompass_gpassk.results.make_result import make_result, store
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

SAMPLED, GREEDY = 'lmb-n8', 'lmb-greedy'
SPLITS = ('CNMO', 'CCEE', 'AMC', 'WLPMC')


@dataclass
class Sweep:
    """How a sweep is made.

    Attributes:
        problems: How many; every two are translations of one another.
        n: Samples of each problem.
        k: The k of G-Pass@k.
        benchmark: The benchmark's name.
        question: Index of the problem → its text.
        respond: What a response holds besides its answer.
        wrong: Answer of a wrong response, by its number.
    """

    problems: int = 12
    n: int = 8
    k: Sequence[int] = (2, 4)
    benchmark: str = 'LiveMathBench-202412'
    question: Callable[[int], str] = 'What is $\\frac{{{0}}}{{1}} + 1$?'.format
    respond: Callable[[random.Random], str] = lambda rng: 'We add one and are done.'
    wrong: Callable[[int], str] = '{}'.format

    def asked(self) -> list[Problem]:
        """Return the problems."""
        return [
            Problem(
                f'{SPLITS[i // 2 % 4]}_{("en", "cn")[i % 2]}/{i // 2}',
                self.question(i // 2),
                f'${i // 2 + 1}$',
                {'split': SPLITS[i // 2 % 4], 'language': ('en', 'cn')[i % 2]},
                f'{i // 2}',
                language=('en', 'cn')[i % 2],
            )
            for i in range(self.problems)
        ]


def make_sweep(
    folder: Path, models: Mapping[str, float], sweep: Sweep | None = None, *, seed: int = 0
) -> MadeRun:
    """Make a finished run: each model samples each problem, and answers it greedily.

    Args:
        folder: The timestamp folder.
        models: Name → ability: the higher, the more problems are solved more often.
        sweep: What is asked.
        seed: Of the responses.
    """
    sweep = sweep or Sweep()
    run = MadeRun(folder, list(models), [SAMPLED, GREEDY])
    for model, ability in models.items():
        for dataset, n in ((SAMPLED, sweep.n), (GREEDY, 1)):
            rng = random.Random(f'{seed}/{model}/{dataset}')
            add_result(run.folder, model, dataset, ability, sweep, n, rng)
    return run


def add_result(
    folder: Path,
    model: str,
    dataset: str,
    ability: float,
    sweep: Sweep,
    n: int,
    rng: random.Random,
    unjudged: int = 0,
) -> dict[str, Any]:
    """Leave the predictions, the trials and the result of a model on a data set."""
    problems, records, trials, responses = sweep.asked(), {}, [], []
    for number, problem in enumerate(problems):
        hard = random.Random(f'difficulty {number // 2}').gauss(0, 3)
        chance = 1 / (1 + np.exp(hard - ability))
        right = str(number // 2 + 1)
        for replica in range(n):
            answer = right if rng.random() < chance else sweep.wrong(rng.randint(90, 95))
            key = str(len(records))
            records[key] = {
                'prediction': f'{sweep.respond(rng)} So it is $\\boxed{{{answer}}}$.',
                'problem_id': problem.problem_id,
                'replica': replica,
            }
            verdict = Verdict.CORRECT if answer == right else Verdict.INCORRECT
            if len(trials) < unjudged:
                verdict = Verdict.UNJUDGED
            place = f'predictions/{model}/{dataset}.json#{key}'
            trials.append(
                Trial(
                    problem.problem_id,
                    replica,
                    verdict,
                    answer=answer,
                    answer_class=hash_of(answer),
                    response=place,
                )
            )
            sampling = {'greedy': True} if n == 1 else {'temperature': 1.0, 'top_p': 0.8}
            identity = (problem.problem_id, replica)
            responses.append(
                Response(records[key]['prediction'], place, identity, sampling=sampling)
            )
    write_json(folder / f'predictions/{model}/{dataset}.json', records)
    table = TrialTable(problems, trials)
    result = make_result(
        table,
        Protocol(n=n, k=tuple(sweep.k)) if n > 1 else Protocol(n=1),
        responses,
        benchmark=sweep.benchmark,
        data_version='1:abcdef',
        judge='rule',
        prompt='9c01aa52',
        judging={'mode': 'rule', 'match': 'value', 'unjudged': {}},
    )
    path = folder / f'results/{model}/{dataset}.json'
    made = store(path.with_name(f'{dataset}.trials.jsonl.gz'), table, result).as_json()
    write_json(path, without_nan(made))
    return made


def hash_of(answer: str) -> int:
    """Return a class for an answer."""
    return int.from_bytes(answer.encode('utf-8', 'replace')[-6:], 'big')


def write_json(path: Path, value: Any) -> None:
    """Write JSON, making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), 'utf-8')
