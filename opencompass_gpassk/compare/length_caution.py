"""Length of responses in a comparison: is a model more stable at several times the tokens?"""

from __future__ import annotations

import math

from opencompass_gpassk.compare.claims import LONGEST_NAME, SIDES
from opencompass_gpassk.compare.differences import Difference
from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.results.metric import G_PASS
from opencompass_gpassk.results.result import Result
from opencompass_gpassk.results.token_metrics import MEAN, PER_SOLVED

SEVERAL = 2.0  # times as many tokens


def length_caution(
    a: Result, b: Result, claimed: Difference, level: float, names: tuple[str, str] = SIDES
) -> str:
    """Return a sentence if the more stable model's responses are several times as long; else ''.

    Each model's tokens are those of its own tokenizer.

    Args:
        a: The first result.
        b: The second result.
        claimed: Their difference in the primary metric, on which a claim is made.
        level: Confidence level of the claim.
        names: Of both models.
    """
    worse, better = zip((short_line(name, LONGEST_NAME) for name in names), (a, b), strict=True)
    if claimed.claim(level) == 'worse':
        better, worse = worse, better
    (long, short), (cost, other) = (
        [one.tokens.metrics.get(key, math.nan) for _, one in (better, worse)]
        for key in (MEAN, PER_SOLVED.format(k=claimed.metric.k))
    )
    if claimed.metric.family is not G_PASS or not long >= SEVERAL * short > 0:
        return ''
    told = (
        f'{better[0]} is more stable with {long / short:.1f} times as many tokens: a mean response '
        f'has {long:,.0f}, one of {worse[0]} {short:,.0f}'
    )
    costs = f'; per problem solved every time: {cost:,.0f} and {other:,.0f}'
    return told if math.isnan(cost + other) else told + costs
