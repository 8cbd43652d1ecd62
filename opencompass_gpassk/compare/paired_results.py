"""Pair the results of two models by data set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from opencompass_gpassk.formats.display import called
from opencompass_gpassk.results.read import ModelResult

Pair = tuple[ModelResult, ModelResult]


def chosen_models(
    first: Sequence[ModelResult],
    second: Sequence[ModelResult] | None,
    wanted: tuple[str | None, str | None],
) -> tuple[str, str]:
    """Return the two models to compare.

    Args:
        first: Results of A.
        second: Results of B, None if A holds both models.
        wanted: The models that the user named, None if not named.

    Raises:
        ValueError: If a model isn't there, or more than one could be meant.
    """
    of_a = list(dict.fromkeys(found.model for found in first))
    of_b = of_a if second is None else list(dict.fromkeys(found.model for found in second))
    for side, models, name in (('a', of_a, wanted[0]), ('b', of_b, wanted[1])):
        if name is not None and name not in models:
            raise ValueError(f'--model-{side} is {name}; choose from {", ".join(models)}')
    a, b = wanted
    if second is None:
        if len(of_a) == 1:
            raise ValueError(f'A has only the model {of_a[0]}; name another run to compare with')
        others = [name for name in of_a if name not in wanted]
        a = a or (others.pop(0) if others and len(of_a) == 2 else None)
        b = b or (others.pop(0) if others and len(of_a) == 2 else None)
    else:
        a = a or (of_a[0] if len(of_a) == 1 else b if b in of_a else None)
        b = b or (of_b[0] if len(of_b) == 1 else a if a in of_b else None)
        a = a or (b if b in of_a else None)
    for side, models, name in (('a', of_a, a), ('b', of_b, b)):
        if name is None:
            raise ValueError(
                f'there are several models; choose one with --model-{side}: {", ".join(models)}'
            )
    return str(a), str(b)


def pair_data_sets(
    first: Iterable[ModelResult], second: Iterable[ModelResult], data_sets: Collection[str] = ()
) -> tuple[list[Pair], list[ModelResult]]:
    """Pair the results of two models: by the data set's abbr, else by benchmark and n.

    The rest is paired by benchmark and by sampled or greedy decoding, if only one pair is possible.
    If each model has a single result, the two are a pair whatever their names.

    Args:
        first: Results of the first model.
        second: Results of the second model.
        data_sets: Abbrs of the data sets to compare, of either model; all if empty.

    Returns:
        The pairs, and the results without a partner.

    Raises:
        ValueError: If a data set isn't there, or nothing can be paired.
    """
    left, right = list(first), list(second)
    known = called(found.dataset for found in [*left, *right])
    wanted = {abbr for abbr, name in known.items() if {abbr, name} & {*data_sets}}
    for name in data_sets:
        if name not in {*known, *known.values()}:
            raise ValueError(
                f'--dataset {name} is in neither; choose from {", ".join(known.values())}'
            )
    pairs: list[Pair] = []
    for way in range(3):
        for key in dict.fromkeys(_names(found)[way] for found in left):
            ours, theirs = ([one for one in of if _names(one)[way] == key] for of in (left, right))
            if len(ours) == len(theirs) == 1:
                pairs.append((ours[0], theirs[0]))
                left.remove(ours[0])
                right.remove(theirs[0])
    if not pairs and len(left) == len(right) == 1:
        pairs.append((left.pop(), right.pop()))
    if data_sets:
        pairs = [pair for pair in pairs if {one.dataset for one in pair} & wanted]
    unpaired = [found for found in [*left, *right] if not data_sets or found.dataset in wanted]
    if not pairs:
        told = ', '.join(f'{one.model}/{one.dataset} ({one.result.benchmark})' for one in unpaired)
        raise ValueError(f'there are no results of the same benchmark to compare: {told}')
    return pairs, unpaired


def _names(found: ModelResult) -> tuple[tuple[object, ...], ...]:
    """Return the three names by which a result is paired, tried one after another."""
    benchmark, greedy = found.result.benchmark, found.result.greedy
    return (
        (found.dataset, benchmark),
        (benchmark, found.result.n, greedy),
        (benchmark, greedy),
    )
