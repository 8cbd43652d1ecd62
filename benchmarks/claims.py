"""Simulate how often claims about two models are false, and how often they are found.

    python benchmarks/claims.py > benchmarks/claims-simulated.md

A claim is "on these problems" or "for problems like these" (docs/method.md).

Each cell draws the rates of P problems, then samples of both models, and repeats that. All numbers
are percent of the runs. By chance a rate of 5 % of 300 runs is 2.5 to 7.5 %. All parts together
take less than ten minutes of one CPU.

- nulls: both models are equally good, on these very problems, so that each claim is false. They
  have the same rates; or the same rates on other problems (swapped); or one average with another
  stability. "Drawn apart": two models of one population that solve other problems, so that only
  claims for problems like these are false. Those are said from 50 questions on.
- power: the second model is better by 0.4 (logit), and differs by chance on each problem.
- boards: twelve models. Any claim on a board of equal models is false; of unequal ones, the table
  has the share of the pairs that are told apart in the right order, and of boards with a wrong one.
- margins: "at most 3 points less stable". The second model fails a rare kind of problems, so that
  it is 3 points less stable in the population; or it is somewhat less stable everywhere.
- missing: verdicts are missing at random; or a third of the wrong answers of one or both models,
  or of the right answers of the loser. A claim stands if it survives what is missing.
- sets: four data sets in one test, and what any of four tests claims.
- copies: every second sample copies another one; or short answers are equal by themselves.
- plans: planned and delivered margins of error in points, from pilots of 30 problems with n = 16.
  A range holds a margin of error from 5 % below its lower to 15 % above its upper end.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import binom

from opencompass_gpassk.metrics.difference import (
    Steps,
    against_claim,
    averaged,
    low_with_rare_kind,
    paired_steps,
    two_lines,
)
from opencompass_gpassk.metrics.difference_plan import margin_ranges, plan_difference
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.independence import audit_independence

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Draw = Callable[[np.random.Generator, int], Numbers]

ACCURACY, MEAN, STRICT = Estimator('accuracy'), Estimator('mG-Pass', 8), Estimator('G-Pass', 8, 1.0)
NAMES = {ACCURACY: 'accuracy', MEAN: 'mG-Pass@8', STRICT: 'G-Pass@8_1.0'}
FLIPS, MARGIN = 999, 0.03
SHAPES: dict[str, Draw] = {
    'U': lambda rng, size: rng.beta(0.5, 0.4, size),
    'one peak': lambda rng, size: rng.beta(12, 8, size),
    'near 100 %': lambda rng, size: rng.beta(60, 1, size),
    'near 0 %': lambda rng, size: rng.beta(0.15, 3, size),
    'mostly solved': lambda rng, size: np.where(rng.random(size) < 0.9, 1.0, rng.beta(1, 4, size)),
}


def odds(rates: Numbers) -> Numbers:
    """Return logits of rates that may be 0 or 1."""
    return np.asarray(logit(np.clip(rates, 1e-9, 1 - 1e-9)))


def truth(estimator: Estimator, rates: Numbers) -> Numbers:
    """Return the true value of each problem."""
    k = estimator.k
    chances = binom.pmf(np.arange(k + 1), k, np.asarray(rates)[..., None])
    return np.asarray(chances @ estimator(k, np.arange(k + 1)))


def sampled(
    rng: np.random.Generator, rates: Sequence[Numbers], n: Any
) -> tuple[Integers, Integers]:
    """Return n and c of models with these rates, shape (models, P)."""
    p = np.stack(rates)
    samples = np.broadcast_to(np.asarray(n), p.shape).astype(np.int64)
    return samples, rng.binomial(samples, np.clip(p, 0, 1))


def tested(
    estimator: Estimator,
    n: Integers,
    c: Integers,
    clusters: Integers | None = None,
    planned: Integers | None = None,
) -> tuple[int, int]:
    """Return the signs of the claims on these problems and for problems like these."""
    steps = paired_steps(estimator, n, c, planned=planned)
    found = two_lines(steps, clusters, flips=FLIPS)
    return int(found.these.signs[0]), int(found.like_these.signs[0])


def table(title: str, headings: Sequence[str]) -> None:
    """Print the head of a table."""
    print(f'\n## {title}\n\n| ' + ' | '.join(headings) + ' |\n|' + '---|' * len(headings))


def row(names: Sequence[object], values: Any, digits: int = 1) -> None:
    """Print a row: its names, and numbers in percent."""
    cells = ['–' if np.isnan(one) else f'{100 * one:.{digits}f}' for one in np.asarray(values)]
    print('| ' + ' | '.join([*map(str, names), *cells]) + ' |', flush=True)


def same(rng: np.random.Generator, rates: Numbers, draw: Draw) -> Numbers:
    return rates


def swapped(rng: np.random.Generator, rates: Numbers, draw: Draw) -> Numbers:
    return rng.permutation(rates)


def drawn_apart(rng: np.random.Generator, rates: Numbers, draw: Draw) -> Numbers:
    return draw(rng, len(rates))


def steady(rng: np.random.Generator, rates: Numbers, draw: Draw) -> Numbers:
    return np.full(len(rates), rates.mean())


def nulls(runs: int) -> None:
    """False claims of equal models."""
    head = ('models', 'rates', 'problems', 'n', 'metric', 'these', 'like these')
    table('Equal models: false claims, %', head)
    kinds = [
        *((same, 'U', p, n) for p, n in [(30, (16, 16)), (30, (64, 64)), (134, (16, 16))]),
        *((same, 'U', p, (16, 48)) for p in (30, 134)),
        (same, 'U', 300, (4, 4)),
        *((same, shape, 60, (16, 16)) for shape in ('one peak', 'near 100 %', 'near 0 %')),
        *((same, shape, 500, (16, 16)) for shape in ('near 100 %', 'mostly solved')),
        *((swapped, shape, 60, (16, 16)) for shape in ('U', 'one peak', 'near 100 %')),
        (swapped, 'U', 60, (16, 48)),
        (steady, 'always or never', 60, (16, 16)),
        *((drawn_apart, shape, 60, (16, 16)) for shape in ('U', 'one peak')),
        (drawn_apart, 'near 100 %', 500, (16, 16)),
        (drawn_apart, 'U', 120, (16, 16)),  # 60 questions in two languages
    ]
    falls: list[list[float]] = [[], []]
    for kind, shape, problems, n in kinds:
        two = kind is drawn_apart and problems == 120
        clusters = np.tile(np.arange(60), 2) if two else None
        for estimator in (ACCURACY, MEAN, STRICT):
            if estimator.k > min(n) or (kind is steady and estimator is not ACCURACY):
                continue
            found = np.zeros((runs, 2))
            for seed in range(runs):
                rng = np.random.default_rng([1, problems, seed])
                draw = SHAPES.get(shape, lambda rng, size: (np.arange(size) < 0.6 * size) * 1.0)
                rates = draw(rng, problems // 2 if two else problems)
                other = kind(rng, rates, draw)
                if two:  # the second language is a little harder
                    rates, other = (np.r_[x, expit(odds(x) - 0.3)] for x in (rates, other))
                of = sampled(rng, [rates, other], np.array(n)[:, None])
                found[seed] = np.abs(tested(estimator, *of, clusters))
            mean = found.mean(axis=0)
            if kind is drawn_apart:
                mean[0] = np.nan
            if problems < (500 if 'near' in shape else 50):
                mean[1] = np.nan
            for line in (0, 1):
                falls[line] += [mean[line]] * bool(mean[line] >= 0)
            name = f'{kind.__name__.replace("_", " ")}{", two languages" * two}'
            row([name, shape, problems, ' and '.join(map(str, n)), NAMES[estimator]], mean)
    for line, of in zip(('on these problems', 'for problems like these'), falls, strict=True):
        over = np.array(of) > 0.06
        print(
            f'\n{line}: {over.sum()} of {len(of)} cells above 6 %, greatest {100 * max(of):.1f} %'
        )


def better(rng: np.random.Generator, rates: Numbers, skill: float = 0.4) -> Numbers:
    """Return the rates of a model that is better by a skill, and by chance on each problem."""
    return np.asarray(expit(odds(rates) + skill + 0.5 * rng.normal(size=rates.shape)))


def power(runs: int) -> None:
    """Claims found."""
    table(
        'A better model: claims, %',
        ('rates', 'problems', 'n', 'metric', 'these', 'like these'),
    )
    for shape, problems, n in [('U', 30, 64), ('U', 134, 16), ('one peak', 60, 16), ('U', 60, 8)]:
        for estimator in (ACCURACY, MEAN, STRICT):
            found = np.zeros((runs, 2))
            for seed in range(runs):
                rng = np.random.default_rng([2, problems, seed])
                rates = SHAPES[shape](rng, problems)
                of = sampled(rng, [rates, better(rng, rates)], n)
                found[seed] = np.array(tested(estimator, *of)) > 0
            mean = found.mean(axis=0)
            mean[1] = mean[1] if problems >= 50 else np.nan
            row([shape, problems, n, NAMES[estimator]], mean)


def boards(runs: int) -> None:
    """Boards of twelve models."""
    pairs = list(combinations(range(12), 2))
    table(
        'Boards of 12 models, G-Pass@8_1.0: boards with a false claim, and pairs told apart, %',
        (
            *('models', 'problems', 'n', 'false: these', 'false: like these'),
            *('found: these', 'found: like these'),
        ),
    )
    for kind, problems, n in [
        *((kind, 30, 64) for kind in ('same', 'swapped', 'unequal')),
        *((kind, 60, 16) for kind in ('same', 'swapped', 'unequal')),
    ]:
        found = np.zeros((runs, 4))
        for seed in range(runs):
            rng = np.random.default_rng([3, problems, seed])
            rates = SHAPES['U'](rng, problems)
            skills = np.linspace(-0.8, 0.8, 12) * (kind == 'unequal')
            of_model = {
                'same': lambda skill, rates=rates: rates,
                'swapped': lambda skill, rates=rates, rng=rng: rng.permutation(rates),
                'unequal': lambda skill, rates=rates, rng=rng: better(rng, rates, skill),
            }[kind]
            p = np.stack([of_model(skill) for skill in skills])
            steps = paired_steps(STRICT, *sampled(rng, list(p), n), pairs)
            family = two_lines(steps, flips=FLIPS)
            means = truth(STRICT, p).mean(axis=1)
            true = np.sign([round(means[b] - means[a], 12) for a, b in pairs])
            for place, sign in enumerate([family.these.signs, family.like_these.signs]):
                found[seed, place] = ((sign != 0) & (sign != true)).any()
                found[seed, 2 + place] = ((sign != 0) & (sign == true)).mean()
        mean = found.mean(axis=0)
        if kind == 'unequal':
            mean[1] = np.nan  # the order of the population is another question
        else:
            mean[2:] = np.nan
        if problems < 50:
            mean[[1, 3]] = np.nan
        row([kind, problems, n], mean)


def margins(runs: int) -> None:
    """Claims that a model is at most 3 points less stable, which it is not."""
    table(
        'At most 3 points less stable, although it is exactly so in the population: claims, %',
        (
            *('rates', 'what differs', 'problems', 'metric', 'these: false'),
            *('like these', 'like these, without allowance'),
        ),
    )
    for shape, kind, problems, estimator in [
        (shape, kind, problems, estimator)
        for estimator in (STRICT, ACCURACY)
        for shape in ('near 100 %', 'U', 'mostly solved')
        for kind in ('rare kind', 'everywhere')
        for problems in (60, 300)
    ]:
        many = SHAPES[shape](np.random.default_rng(0), 50_000)
        whole = truth(estimator, many).mean()
        shift = brentq(
            lambda by, of=(many, estimator, whole): (
                truth(of[1], expit(odds(of[0]) + by)).mean() - of[2] + MARGIN
            ),
            *(-20, 0),
        )
        found = np.zeros((runs, 3))
        for seed in range(runs):
            rng = np.random.default_rng([4, problems, seed])
            rates = SHAPES[shape](rng, problems)
            if kind == 'rare kind':
                other = np.where(rng.random(problems) < MARGIN / whole, 0.0, rates)
            else:
                other = expit(odds(rates) + shift)
            n, c = sampled(rng, [rates, other], 16)
            family = two_lines(paired_steps(estimator, n, c), flips=FLIPS)
            lost = (truth(estimator, other) - truth(estimator, rates)).mean()
            low = family.like_these.low[0]
            rare = low_with_rare_kind(low, estimator(n[0], c[0]).mean(), problems)
            found[seed] = (
                family.these.low[0] > -MARGIN >= lost,
                rare > -MARGIN,
                low > -MARGIN,
            )
        row([shape, kind, problems, NAMES[estimator]], found.mean(axis=0))


HIDDEN: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    # name → of the first and the second model, which share of right and of wrong ones is missing
    'none': ((0, 0), (0, 0)),
    '1 % of both': ((0.01, 0.01), (0.01, 0.01)),
    '3 % of both': ((0.03, 0.03), (0.03, 0.03)),
    "a third of the second's wrong": ((0, 0), (0, 1 / 3)),
    "a third of both's wrong": ((0, 1 / 3), (0, 1 / 3)),
    "a third of the first's right": ((1 / 3, 0), (0, 0)),
    "a tenth of the first's right": ((0.1, 0), (0, 0)),
}


def missing(runs: int) -> None:
    """Claims where verdicts are missing."""
    table(
        'Missing verdicts, 60 problems: false claims of equal models, and claims of a better, %',
        (
            *('missing', 'metric', 'n', 'false: like the rest', 'false: survives'),
            *('found: like the rest', 'found: survives'),
        ),
    )
    for estimator, n in [(STRICT, 8), (STRICT, 24), (ACCURACY, 8), (ACCURACY, 24)]:
        for name, shares in HIDDEN.items():
            found = np.zeros((2, runs, 2))
            for effect, seed in np.ndindex(2, runs):
                rng = np.random.default_rng([5, n, seed])
                rates = SHAPES['U'](rng, 60)
                other = better(rng, rates, 1.0) if effect else rates
                _, right = sampled(rng, [rates, other], n)
                of_right, of_wrong = np.array(shares).T[..., None]
                c = right - rng.binomial(right, np.broadcast_to(of_right, right.shape))
                wrong = n - right
                wrong = wrong - rng.binomial(wrong, np.broadcast_to(of_wrong, right.shape))
                known = c + wrong
                planned = np.full(known.shape, n)
                sign = tested(estimator, known, c, planned=planned)[0]
                worst = against_claim(planned, known, (sign + 1) // 2)
                stands = sign != 0 and tested(estimator, worst, c, planned=planned)[0] == sign
                found[effect, seed] = sign != 0, stands
            row([name, NAMES[estimator], n], found.mean(axis=1).ravel())


def sets(runs: int) -> None:
    """Four data sets in one test."""
    table(
        'Four data sets, G-Pass@8_1.0: claims, %',
        ('second model', 'one test: these', 'one test: like these', 'any of four: these'),
    )
    for skill in (None, 0.25):
        found = np.zeros((runs, 3))
        for seed in range(runs):
            rng = np.random.default_rng([6, seed])
            parts: list[Steps] = []
            alone = []
            for shape, problems in [('U', 30), ('one peak', 60), ('near 100 %', 134), ('U', 60)]:
                rates = SHAPES[shape](rng, problems)
                other = rates if skill is None else better(rng, rates, skill)
                of = sampled(rng, [rates, other], 16)
                parts.append(paired_steps(STRICT, *of))
                alone.append(tested(STRICT, *of)[0] != 0)
            steps, weights = averaged(parts)
            family = two_lines(steps, weights=weights, flips=FLIPS)
            signs = [abs(line.signs[0]) for line in (family.these, family.like_these)]
            found[seed] = *signs, any(alone)
        row(['equal' if skill is None else f'better by {skill}'], found.mean(axis=0))


def copies(runs: int) -> None:
    """Samples that copy others."""
    table(
        'Copies, 30 problems, G-Pass@8_1.0, equal models: %',
        ('samples', 'claims if samples are trusted', 'withheld', 'false claims'),
    )
    cases = {
        '16 responses': (16, True, 0.0),
        '8 responses, each twice': (8, True, 0.0),
        '16 one-letter answers': (16, False, 0.0),
        '16 at a low temperature, most equal': (16, True, 0.8),
    }
    for name, (drawn, long, equal) in cases.items():
        found = np.zeros((runs, 3))
        for seed in range(runs):
            rng = np.random.default_rng([7, seed])
            rates = SHAPES['U'](rng, 30)
            right = rng.random((2, 30, drawn)) < rates[:, None]
            text = np.arange(right.size).reshape(right.shape)
            usual = rng.random(right.shape) < equal  # one text of a problem's right answers
            problem = np.broadcast_to(np.arange(30)[:, None], (30, drawn))
            text = np.where(usual, -2 - 2 * problem - right, text)
            if not long:
                text = 2 * rng.integers(0, 4, right.shape) + right
            right, text = (np.tile(of, 16 // drawn) for of in (right, text))
            n, c = np.full((2, 30), 16), right.sum(axis=2)
            claim = tested(STRICT, n, c)[0] != 0
            audits = [
                audit_independence(
                    np.repeat(np.arange(30), 16),
                    np.tile(np.arange(16), 30),
                    of.reshape(-1),
                    np.full(480, 500 if long else 1),
                    np.zeros(480, bool),
                )
                for of in text
            ]
            withheld = any(audit.copies for audit in audits)
            found[seed] = claim, withheld, claim and not withheld
        row([name], found.mean(axis=0))


def plans(runs: int) -> None:
    """Planned and delivered margins of error."""
    table(
        'Margins of error in points (these, like these), and how often the range holds them, %',
        (
            *('rates', 'metric', 'problems', 'n', 'planned: these', 'planned: like these'),
            *('delivered: these', 'delivered: like these', 'held: these', 'held: like these'),
        ),
    )
    sizes = [(30, 64), (134, 16)]
    for shape in ('U', 'one peak', 'near 100 %'):
        for estimator in (ACCURACY, STRICT):
            times = max(runs // 20, 3)
            planned, held = np.zeros((2, times, 2, 2))
            ends = np.zeros((times, 2, 2, 2))
            delivered = np.zeros((2, 2))
            for seed in range(times):
                rng = np.random.default_rng([8, seed])
                for place, (problems, n) in enumerate(sizes):
                    rates = SHAPES[shape](rng, problems)
                    of = sampled(rng, [rates, better(rng, rates, 0.3)], n)
                    family = two_lines(paired_steps(estimator, *of), flips=FLIPS)
                    delivered[place] += [
                        (line.high - line.low)[0] / 2 / times
                        for line in (family.these, family.like_these)
                    ]
                rates = SHAPES[shape](rng, 30)
                pilot = sampled(rng, [rates, better(rng, rates, 0.3)], 16)
                plan = plan_difference(estimator, *pilot)
                planned[seed] = [plan.margins(*size) for size in sizes]
                ends[seed] = margin_ranges(estimator, *pilot, sizes)
            held = (0.95 * ends[:, :, 0] <= delivered) & (delivered <= 1.15 * ends[:, :, 1])
            for place, size in enumerate(sizes):
                of_size = np.r_[
                    np.median(planned[:, place], axis=0),
                    delivered[place],
                    held[:, place].mean(axis=0),
                ]
                row([shape, NAMES[estimator], *size], of_size)


PARTS = {
    part.__name__: part for part in (nulls, power, boards, margins, missing, sets, copies, plans)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('--part', nargs='+', choices=PARTS, default=list(PARTS))
    parser.add_argument('--runs', type=int, default=300, help='runs of a cell (default: 300)')
    args = parser.parse_args()
    print(f'# Simulated claims\n\n{(__doc__ or "").strip()}')
    for name in args.part:
        runs = args.runs if name not in ('boards', 'missing', 'margins') else args.runs // 4
        PARTS[name](runs)
        print(f'\n{runs} runs a cell.', flush=True)


if __name__ == '__main__':
    main()
