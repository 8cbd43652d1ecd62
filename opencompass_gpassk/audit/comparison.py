"""What two sources of verdicts say of one sample, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from opencompass_gpassk.audit.draw import Sample
from opencompass_gpassk.audit.sources import Opinion, Source
from opencompass_gpassk.audit.trials import AuditTrial, clusters
from opencompass_gpassk.metrics.agreement import Agreement, compare_verdicts
from opencompass_gpassk.trials import Verdict

__all__ = ['Comparison', 'compare']


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


def compare(sample: Sample, first: Source, second: Source, level: float = 0.95) -> Comparison:
    """Ask two sources about a sample."""
    return Comparison(sample, first(sample.trials), second(sample.trials), level)
