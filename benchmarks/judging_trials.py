"""Trials for benchmarks of judging: problems, many samples of each, and their answers."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from statistics import median

from opencompass_gpassk.judging.judge import Candidate

RIGHT = 'frac', 'dfrac', 'tfrac'  # ways to write a fraction, the most frequent first


def spread(problems: int, samples: int, seed: str) -> list[Candidate]:
    """Draw samples of a model that solves some problems always, some never and some at times.

    A problem's share of right answers comes from Beta(0.4, 0.4), which is U-shaped; a right answer
    is written in one of three ways. Of a problem's 2 to 24 wrong answers the i-th is drawn 1/i as
    often as the first. Of the responses that are wrong a twentieth give no answer.
    """
    rng = random.Random(seed)
    candidates = []
    for problem in range(problems):
        share, wrong = rng.betavariate(0.4, 0.4), range(1, rng.randint(2, 24) + 1)
        for _ in range(samples):
            if rng.random() < share:
                answer = fraction(problem, 0, rng.choices(RIGHT, (8, 3, 1))[0])
            elif rng.random() < 0.05:
                answer = None
            else:
                answer = fraction(problem, rng.choices(wrong, [1 / i for i in wrong])[0])
            candidates.append(Candidate(question(problem), fraction(problem, 0), answer))
    return candidates


def repeated(trials: int, distinct: int, seed: str) -> list[Candidate]:
    """Return trials with that many distinct triples, ten per problem; all texts are different."""
    rng = random.Random(seed)
    numbers = list(range(distinct)) + [rng.randrange(distinct) for _ in range(trials - distinct)]
    rng.shuffle(numbers)
    return [
        Candidate(question(n // 10), fraction(n // 10, 0), fraction(n // 10, n % 10))
        for n in numbers
    ]


def question(problem: int) -> str:
    """Return a problem as long as those of competitions often are."""
    return (
        f'Problem {problem}. A bag holds {problem + 3} red balls and {problem + 5} blue ones. '
        'Balls are taken out one after the other, each as likely as any other that is left, and '
        'none is put back. Let $X$ be the number of balls that have been taken out when all balls '
        'left in the bag have the same colour. Find the expected value of $X$ and write it as a '
        'fraction in lowest terms.'
    )


def fraction(problem: int, number: int, command: str = 'frac') -> str:
    """Return an answer to a problem; number 0 is the right one."""
    return f'\\{command}{{{7 * problem + 2 * number + 1}}}{{{2 * problem + 6}}}'


def is_right(candidate: Candidate) -> bool:
    """Tell whether a trial is right."""
    answer = candidate.answer or ''
    return answer.replace('dfrac', 'frac').replace('tfrac', 'frac') == candidate.gold


def distinct(candidates: Sequence[Candidate]) -> set[Candidate]:
    """Return one candidate for each triple to be judged."""
    return {one for one in candidates if one.answer is not None}


def described(candidates: Sequence[Candidate]) -> str:
    """Return a text on the distribution of the answers."""
    samples = Counter(one.question for one in candidates)
    right = Counter(one.question for one in candidates if is_right(one))
    answers = Counter(one.question for one in distinct(candidates))
    always = sum(right[name] == count for name, count in samples.items())
    never = sum(right[name] == 0 for name in samples)
    silent = sum(one.answer is None for one in candidates)
    return (
        f'{len(samples)} problems: {always} always solved, {never} never, '
        f'{len(samples) - always - never} sometimes; median {median(answers.values()):g} distinct '
        f'answers per problem, at most {max(answers.values())}; {silent} trials without an answer'
    )
