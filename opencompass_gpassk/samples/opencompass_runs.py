"""Responses recorded in a run of OpenCompass, to data sets that ``n`` repeated."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opencompass_gpassk.responses import Response
from opencompass_gpassk.runs.config import Run, planned_run, read_run_config
from opencompass_gpassk.runs.predictions import (
    Gaps,
    IncompletePredictionsError,
    by_file,
    find_gaps,
    model_name,
    prediction_parts,
    read_predictions,
    replicas,
    shard_numbers,
)
from opencompass_gpassk.samples.log_files import Stated
from opencompass_gpassk.samples.sampled_problems import SampledProblems, final_gold
from opencompass_gpassk.trials import Problem

REMEDY = (
    'run the inference to its end with opencompass CONFIG -r. If it has ended, these are leftovers '
    'to delete, or data sets whose names end in _<number>: rename those files'
)


@dataclass(frozen=True)
class Recorded:
    """The recorded predictions of one model on one data set in a run.

    Attributes:
        run: The timestamp folder.
        folder: ``predictions/<model>`` in it.
        name: The data set's abbreviation.
        others: The model's other data sets.
        planned: Samples of each problem that the run's config asked for; 0 if unknown.
    """

    run: Path
    folder: Path
    name: str
    others: frozenset[str] = frozenset()
    planned: int = 0

    @property
    def model(self) -> str:
        """The model's name, which may contain slashes."""
        return model_name(self.folder)


def recorded_data_sets(folder: Path) -> list[Recorded]:
    """Return all recorded predictions of a run of OpenCompass, finished or not.

    Args:
        folder: A timestamp folder, or a work dir, whose newest run with predictions is taken.

    Raises:
        ValueError: If there are no predictions.
    """
    for run in [folder, *sorted(folder.glob('*/'), reverse=True)]:
        found = [
            Recorded(run, model, name, frozenset(names) - {name}, samples.get(name, 0))
            for model, planned, samples in _models(run)
            for names in [_data_sets(model, planned)]
            for name in names
        ]
        if found:
            return found
    raise ValueError(
        f'{folder}: there are no predictions in it; name a timestamp folder of OpenCompass'
    )


def read_data_set(recorded: Recorded, min_coverage: float = 1.0) -> SampledProblems:
    """Read the responses of a model to a data set in a run of OpenCompass.

    Responses by this package's inferencer say their problem and replica. Those that the run's
    config asked for and that are missing count as lost, and of two to one request the first counts.
    Other responses are distinguished by prompt and gold answer, which don't depend on shards or a
    ``test_range``; samples are numbered in the order of the files.

    Args:
        recorded: The predictions.
        min_coverage: Least share, in [0, 1], of the planned responses that must be there.

    Raises:
        IncompletePredictionsError: If the inference of a part hasn't ended, or fewer responses are
            there; it names what is missing.
        ValueError: If a record isn't generated text, or lacks its prompt.
    """
    try:
        files = read_predictions(recorded.folder, recorded.name, recorded.others)
    except FileNotFoundError as error:
        raise IncompletePredictionsError(
            f'{recorded.model}, {recorded.name}: the inference has not ended; {REMEDY}'
        ) from error
    responses = files.responses
    held = by_file(responses)
    named = bool(responses) and all(response.identity for response in responses)
    gaps = find_gaps(held, replicas(held, recorded.planned)) if named else Gaps(0, [], [])
    told = f'{gaps}{files.unfinished_parts}' if gaps.missing or gaps.twice else ''
    if gaps.coverage < min_coverage:
        raise IncompletePredictionsError(
            f'{recorded.model}, {recorded.name}: {told}; {gaps.remedy}. Or lower --min-coverage to '
            'accept the gap'
        )
    if files.missing and not gaps.planned:
        unfinished = f', unfinished {", ".join(files.unfinished)}' if files.unfinished else ''
        raise IncompletePredictionsError(
            f'{recorded.model}, {recorded.name}: missing {", ".join(files.missing)}{unfinished}; '
            f'{REMEDY}'
        )
    if named:
        first = {response.identity: response for response in reversed(responses)}
        responses = [one for one in responses if first[one.identity] is one]
        identities = [response.identity or ('', 0) for response in responses]
    else:
        identities = _identities(responses)
    problems: dict[str, Problem] = {}
    for (problem_id, _), response in zip(identities, responses, strict=True):
        if problem_id not in problems:
            gold = response.record.get('gold')
            golds = gold if isinstance(gold, list) else [] if gold is None else [gold]
            final = final_gold([str(one) for one in golds])
            problems[problem_id] = Problem(problem_id, response.prompt, final)
    identified = [
        replace(response, identity=identity)
        for response, identity in zip(responses, identities, strict=True)
    ]
    identified += [
        Response('', '', identity, lost='no prediction was found') for identity in gaps.missing
    ]
    sampling = sorted({str(one.sampling) for one in responses if one.sampling})
    drawn = {'model': files.model, 'sampling': ' and '.join(sampling)}
    # A prompt stored as text contains the model's template; a prompt stored as turns does not.
    turns = all(isinstance(one.record.get('origin_prompt'), list) for one in responses)
    return SampledProblems(
        recorded.name,
        list(problems.values()),
        identified,
        recorded.model,
        prompts=turns,
        planned=recorded.planned if named else 0,
        gaps=told,
        missing=len(gaps.missing),
        named=named,
        recorded=True,
        path=str(recorded.run),
        stated=Stated(protocol={name: value for name, value in drawn.items() if value}),
    )


def _models(run: Path) -> list[tuple[Path, set[str], Mapping[str, int]]]:
    """Return folder, planned data sets and their n of each model that has predictions in a run."""
    root = run / 'predictions'
    files = [*root.rglob('*.json'), *root.rglob('tmp_*.jsonl')]
    models = sorted({path.parent for path in files} - {root})
    try:
        plan = planned_run(run, read_run_config(run)) if models else Run(run, [])
    except ValueError:  # no config, or one that can't be read
        plan = Run(run, [])
    return [
        (model, {name for of, name in plan.pairs if of == model_name(model)}, plan.samples)
        for model in models
    ]


def _data_sets(model: Path, planned: Collection[str]) -> list[str]:
    """Return the names of a model's data sets, including those with only some shards.

    The run's config names the data sets. Without it, or if a later start of the run changed it,
    shards are recognised by their numbers: see ``shard_numbers``.
    """
    done, begun = prediction_parts(model)
    stems = done | {stem for stem in begun if stem in planned or not _is_leftover(stem, done)}
    names = set(planned) & stems
    bases = {stem.rpartition('_')[0] for stem in stems} - done
    for base in sorted(set(planned) & bases) + sorted(bases.difference(planned)):
        numbers = shard_numbers(base, stems, planned)
        # A single file whose number isn't 0 is a data set of its own.
        if base and numbers and (base in planned or numbers[0] == 0 or len(numbers) > 1):
            names.add(base)
            stems = stems.difference(f'{base}_{number}' for number in numbers)
    return sorted(names | stems)


def _is_leftover(stem: str, done: Collection[str]) -> bool:
    """Tell whether this is an unfinished shard of a data set that was later inferred as a whole."""
    base = stem.rpartition('_')[0]
    return stem not in done and base in done and bool(shard_numbers(base, [stem]))


def _identities(responses: Sequence[Response]) -> list[tuple[str, int]]:
    """Return (problem_id, replica) of responses that hold their prompt and gold answer.

    Two problems of a data set may have the same text: a prompt that occurs m times as often as most
    is taken for m problems. Their responses alternate, since OpenCompass repeats whole data sets.
    """
    asked = []
    for response in responses:
        if not response.prompt:
            raise ValueError(
                f'{response.location}: the record holds no origin_prompt, so its problem is '
                'unknown; only generated responses can be scored again'
            )
        asked.append((response.prompt, str(response.record.get('gold'))))
    counts = Counter(asked)
    usual = min(statistics.multimode(counts.values()), default=1)
    twins = {key: count // usual if count % usual == 0 else 1 for key, count in counts.items()}
    first = dict(zip(counts, itertools.accumulate(twins.values(), initial=0), strict=False))
    seen: Counter[tuple[str, str]] = Counter()
    identities = []
    for key in asked:
        replica, twin = divmod(seen[key], twins[key])
        seen[key] += 1
        identities.append((str(first[key] + twin), replica))
    return identities
