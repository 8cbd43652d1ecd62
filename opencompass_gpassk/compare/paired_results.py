"""The input of a comparison: the results of two models, paired by data set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opencompass_gpassk.results.contradictions import contradiction
from opencompass_gpassk.results.join_results import is_greedy, sample_count, stored_protocol
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.stored_results import Found, find_results
from opencompass_gpassk.runs.config import find_run
from opencompass_gpassk.trials import TrialTable, read_trials

Pair = tuple[Found, Found]
Name = tuple[object, ...]


@dataclass(frozen=True)
class ReadResult:
    """A result with its trials.

    Attributes:
        found: The result and its path.
        table: Its trials.
        protocol: The protocol that it was measured with.
        contradiction: How the result and the trials contradict each other, '' if they agree.
    """

    found: Found
    table: TrialTable
    protocol: Protocol
    contradiction: str


def results_at(path: Path, report: Callable[[str], None]) -> list[Found]:
    """Return the results at a path: of a run, of the newest run in a work dir, or of files.

    Args:
        path: A work dir, a timestamp folder, or a file or folder of ``gpassk score -o``.
        report: Takes a message on each file that can't be read.

    Raises:
        ValueError: If no result can be read.
    """
    try:
        run = find_run(path)
    except ValueError:
        run = path
    sources = find_results([run])
    for fault in sources.faults:
        report(fault)
    if not sources.results:
        told = f': {sources.faults[0]}' if sources.faults else ''
        raise ValueError(f'{run}: it has no readable result of this package{told}')
    return sources.results


def chosen_models(
    first: Sequence[Found], second: Sequence[Found] | None, wanted: tuple[str | None, str | None]
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
    first: Iterable[Found], second: Iterable[Found], data_sets: Collection[str] = ()
) -> tuple[list[Pair], list[Found]]:
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
    known = list(dict.fromkeys(found.dataset for found in [*left, *right]))
    for name in data_sets:
        if name not in known:
            raise ValueError(f'--dataset {name} is in neither; choose from {", ".join(known)}')
    pairs: list[Pair] = []
    for named in (_abbr, _benchmark_and_n, _benchmark, _whatever):
        if named is _whatever and pairs:
            break
        for key in dict.fromkeys(map(named, left)):
            ours = [found for found in left if named(found) == key]
            theirs = [found for found in right if named(found) == key]
            if len(ours) == len(theirs) == 1:
                pairs.append((ours[0], theirs[0]))
                left.remove(ours[0])
                right.remove(theirs[0])
    if data_sets:
        pairs = [pair for pair in pairs if {one.dataset for one in pair} & set(data_sets)]
    unpaired = [found for found in [*left, *right] if not data_sets or found.dataset in data_sets]
    if not pairs:
        told = ', '.join(
            f'{one.model}/{one.dataset} ({one.result["benchmark"]})' for one in unpaired
        )
        raise ValueError(f'there are no results of the same benchmark to compare: {told}')
    return pairs, unpaired


def read_side(found: Found) -> ReadResult:
    """Read the trials of a result.

    Raises:
        ValueError: If they can't be read, or the result's protocol is invalid.
    """
    remedy = 'make the result again with gpassk rescore or gpassk score -o'
    if found.trials is None:
        raise ValueError(f'{found.path}: it names no file of trials; {remedy}')
    table, _ = read_trials(found.trials)
    if not table.problems:
        raise ValueError(f'{found.trials}: it holds no problems; {remedy}')
    try:
        protocol = stored_protocol(found.result)
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f'{found.path}: its settings are invalid: {error}; {remedy}') from error
    return ReadResult(found, table, protocol, contradiction(found.result, table))


def _abbr(found: Found) -> Name:
    return (found.dataset, found.result['benchmark'])


def _benchmark_and_n(found: Found) -> Name:
    return (found.result['benchmark'], sample_count(found.result), is_greedy(found.result))


def _benchmark(found: Found) -> Name:
    return (found.result['benchmark'], is_greedy(found.result))


def _whatever(found: Found) -> Name:
    return ()
