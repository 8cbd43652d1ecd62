"""Stratified samples of a run's trials, on which two sources of verdicts are compared."""

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
    """A sample of one model's trials.

    Attributes:
        model: The model's name.
        trials: The drawn trials.
        weights: How many trials each stands for: the size of its stratum / the trials drawn there.
        population: Number of trials that the sample was drawn from.
        strata: Number of strata.
        no_answer: Number of trials left out because they give no answer.
        lost: Number of trials left out because they have no response.
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

    Strata are recorded verdict × data set × split × language × level. Each stratum gets draws in
    proportion to its size, and at least one (:func:`allocate`). If there are more strata than
    ``size``, they are merged over level, then language, and so on. Small strata get more than their
    share, so each trial has a weight: weighted sums over the sample estimate sums over the run
    without bias (Horvitz and Thompson, JASA 47 (1952), 663-685).

    The strata don't depend on the compared sources, so all comparisons with one seed use the same
    trials. Only names and the seed decide the draw, in every process; a larger sample contains
    nearly all of a smaller one. Trials without an answer are left out: no source judges them.

    Args:
        model: The model's name.
        trials: Its trials.
        size: Number of trials to draw; all trials if there are fewer.
        seed: Another seed draws other trials.
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
    """Share ``total`` draws among strata of given sizes (at least 1 each).

    Each stratum gets at least one draw; the rest is proportional, by largest remainders. Ties go to
    the larger stratum, then to the earlier one.

    Raises:
        ValueError: If a size is below 1, or there are more strata than draws.

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
    """Return the finest strata that number at most ``size``, in a fixed order."""
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
    """A sample with the verdicts of two sources.

    Attributes:
        sample: The trials.
        first: The first source's opinion of each trial.
        second: The second source's opinion of each trial.
        level: Coverage of the intervals.
    """

    sample: Sample
    first: list[Opinion]
    second: list[Opinion]
    level: float = 0.95

    @cached_property
    def agreement(self) -> Agreement:
        """The agreement of both sources, estimated for the run that the sample was drawn from.

        Each trial is weighted by its stratum. The intervals treat the trials of a problem and its
        translations as correlated: often they give the same answer, which gets the same verdict.
        The intervals ignore the stratification and the finite size of the run; both could only
        make them narrower.
        """
        return compare_verdicts(
            [one.verdict for one in self.first],
            [one.verdict for one in self.second],
            weights=self.sample.weights,
            clusters=clusters(self.sample.trials),
            level=self.level,
        )

    def disagreements(self) -> Iterator[tuple[AuditTrial, Opinion, Opinion]]:
        """Yield the trials that both sources judged, with different verdicts."""
        for trial, first, second in zip(self.sample.trials, self.first, self.second, strict=True):
            said = {first.verdict, second.verdict}
            if len(said) == 2 and Verdict.UNJUDGED not in said:
                yield trial, first, second
