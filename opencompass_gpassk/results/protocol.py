"""The protocol of a measurement: samples, k, thresholds, breakdowns."""

from __future__ import annotations

from dataclasses import dataclass, field

ADVISED = 3  # n ≥ 3k, by the authors of arXiv 2412.13147
NOBODY = 'none'  # the judge in the signature of a result without verdicts
DEFAULT_TAUS = (0.0, 0.25, 0.5, 0.75, 1.0)
DEFAULT_GROUPS = (('split', 'language'), ('split',), ('language',), ('level',), ('subject',))


@dataclass(frozen=True)
class Protocol:
    """The protocol of a measurement.

    Args:
        n: Samples of each problem, at least 1.
        k: The k of pass@k and G-Pass@k, each from 1 to n; ignored if n is 1.
        taus: The thresholds τ of G-Pass@k, each in [0, 1].
        groups: Breakdowns; each is a tuple of the problems' group fields.
        complete: Share of a question's versions that must be right for complete understanding.
        collapsed: Greatest share of right versions at which understanding has collapsed.
        sound: Least validity of sound reasoning, in [0, 1]; None if no reasoning is scored, or
            answers have no verdicts.
        judged: Whether answers have verdicts. If not, only the reasoning is measured.

    Raises:
        ValueError: If a setting is out of its range.
    """

    n: int
    k: tuple[int, ...] = ()
    taus: tuple[float, ...] = DEFAULT_TAUS
    groups: tuple[tuple[str, ...], ...] = field(default=DEFAULT_GROUPS)
    complete: float = 0.8
    collapsed: float = 0.2
    sound: float | None = None
    judged: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.n, int) or self.n < 1:
            raise ValueError(f'n is {self.n!r}; a problem needs at least 1 sample')
        for k in self.k:
            if not isinstance(k, int) or not 1 <= k <= self.n:
                raise ValueError(f'k is {k!r} and n is {self.n}; choose each k from 1 to n')
        for tau in self.taus:
            if not 0 <= tau <= 1:
                raise ValueError(f'taus holds {tau}; a threshold τ is a share from 0 to 1')
        if not 0 <= self.collapsed < self.complete <= 1:
            raise ValueError(
                f'collapsed is {self.collapsed}, complete is {self.complete}; they are shares from '
                '0 to 1, and complete is the greater'
            )
        if self.sound is not None and not 0 <= self.sound <= 1:
            raise ValueError(
                f'sound is {self.sound}; a threshold of validity is a share from 0 to 1'
            )

    @property
    def ks(self) -> tuple[int, ...]:
        """The k that are reported, ascending; none without verdicts or repeated samples."""
        return tuple(sorted(set(self.k))) if self.n > 1 and self.judged else ()
