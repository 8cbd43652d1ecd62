"""Stratified samples of the trials of a run, to compare what two sources say of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.judging.audit_sources import AuditTrial, Opinion, clusters
from opencompass_gpassk.metrics.agreement import Agreement, compare_verdicts
from opencompass_gpassk.trials import Verdict

__all__ = ['Comparison', 'Sample', 'allocate', 'draw_sample']


@dataclass(frozen=True)
class Sample:
    """Trials drawn from one model's.

    Attributes:
        model: Whose they are.
        trials: They.
        weights: How many trials each stands for: those of its stratum divided by those drawn.
        population: How many trials they were drawn from.
        strata: In how many strata.
        no_answer: Trials that were left out, since they give no answer.
        lost: Trials that were left out, since there is no response.
    """

    model: str
    trials: list[AuditTrial]
    weights: list[float]
    population: int
    strata: int
    no_answer: int
    lost: int


def draw_sample(model: str, trials: Iterable[AuditTrial], size: int, seed: int = 0) -> Sample:
    """Draw a stratified sample of one model's trials.

    Strata are recorded verdict × data set × split × language × level. Each is given trials in
    proportion to its own (:func:`allocate`), and none is left out: where there are more strata
    than ``size``, they are merged over level, then language, and so on. Since small strata get
    more than their share, each trial has a weight, with which sums over the sample estimate those
    over the run without bias (Horvitz and Thompson, JASA 47 (1952), 663-685).

    The strata don't depend on the sources that are compared: all comparisons under one seed are
    of the same trials. Names and seed alone decide which, in every process; a larger sample holds
    nearly all of a smaller one. Trials that give no answer are left out: no source is asked.

    Args:
        model: The model's name.
        trials: Its trials.
        size: How many to draw; all if there are fewer.
        seed: Another seed draws others.
    """
    every = list(trials)
    present = [one for one in every if not one.trial.lost and one.trial.answer is not None]
    lost = sum(one.trial.lost for one in every)
    strata = _strata(present, size)
    counts = allocate([len(members) for members in strata.values()], size)
    drawn: list[AuditTrial] = []
    weights: list[float] = []
    for (key, members), count in zip(strata.items(), counts, strict=True):
        rng = random.Random(stable_hash([model, seed, key]))
        order = sorted(members, key=lambda one: one.identity)
        ranks = sorted((rng.random(), i) for i in range(len(order)))
        drawn += [order[i] for _, i in ranks[:count]]
        weights += [len(members) / count] * count
    return Sample(
        model, drawn, weights, len(present), len(strata), len(every) - len(present) - lost, lost
    )


def allocate(sizes: Sequence[int], total: int) -> list[int]:
    """Share ``total`` draws among strata of given sizes, each at least 1.

    At least one each, the rest in proportion by largest remainders; ties go to the larger stratum,
    then to the earlier one.

    Raises:
        ValueError: If a size isn't above 0, or there are more strata than draws.

    >>> allocate([70, 25, 4, 1], 10)
    [6, 2, 1, 1]
    """
    if any(size < 1 for size in sizes) or total < len(sizes):
        raise ValueError(
            f'total is {total} and sizes are {list(sizes)}; each stratum needs a trial and a draw'
        )
    if total >= sum(sizes):
        return list(sizes)
    counts = [0] * len(sizes)
    rest = list(range(len(sizes)))
    while True:
        left, whole = total - sum(counts), sum(sizes[i] for i in rest)
        small = [i for i in rest if left * sizes[i] < whole]  # entitled to less than one
        if not small:
            break
        for i in small:
            counts[i] = 1
        rest = [i for i in rest if not counts[i]]
    for i in rest:
        counts[i] = left * sizes[i] // whole
    ranked = sorted(rest, key=lambda i: (-(left * sizes[i] % whole), -sizes[i], i))
    for i in ranked[: total - sum(counts)]:
        counts[i] += 1
    return counts


def _strata(trials: Sequence[AuditTrial], size: int) -> dict[tuple[str, ...], list[AuditTrial]]:
    """Return the strata in their order, the finest of which there are not more than ``size``."""
    if size < 1:
        raise ValueError(f'trials is {size}; draw at least 1')
    depth = max((len(one.stratum) for one in trials), default=0)
    while len({one.stratum[:depth] for one in trials}) > size:
        depth -= 1
    strata: dict[tuple[str, ...], list[AuditTrial]] = {}
    for one in trials:
        strata.setdefault(one.stratum[:depth], []).append(one)
    return dict(sorted(strata.items()))


@dataclass(frozen=True)
class Comparison:
    """A sample with what two sources say of it.

    Attributes:
        sample: The trials.
        first: What the first source says of each.
        second: What the second says.
        level: Coverage of the intervals.
    """

    sample: Sample
    first: list[Opinion]
    second: list[Opinion]
    level: float = 0.95

    @cached_property
    def agreement(self) -> Agreement:
        """How far they agree, as an estimate for the run that the sample was drawn from.

        Each trial is weighted by its stratum. The intervals allow for trials of one problem, and
        of its translations, being alike: often they are one answer, of which a source says one
        thing. They make no use of the stratification, nor of the run being finite, either of
        which could only make them narrower.
        """
        return compare_verdicts(
            [one.verdict for one in self.first],
            [one.verdict for one in self.second],
            weights=self.sample.weights,
            clusters=clusters(self.sample.trials),
            level=self.level,
        )

    def disagreements(self) -> Iterator[tuple[AuditTrial, Opinion, Opinion]]:
        """Yield the trials that both judged differently."""
        for trial, first, second in zip(self.sample.trials, self.first, self.second, strict=True):
            said = {first.verdict, second.verdict}
            if len(said) == 2 and Verdict.UNJUDGED not in said:
                yield trial, first, second
