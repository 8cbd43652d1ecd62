"""OpenCompass's prediction files: one response per record, in one file or in shards.

``predictions/<model>/<data set>.json`` holds records keyed ``0``, ``1``, …; a sharded run writes
``<data set>_0.json``, ``<data set>_1.json``, … Our inferencer adds problem and replica to each
record, so that a missing shard can't shift a response to another problem.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.stored_files import read_members
from opencompass_gpassk.responses import Identity, Response

Row = tuple[Identity, str]  # of a prediction file, with the key of its request, '' if unknown

LONGEST_GAP = 7
NoneType = type(None)
# The fields that our inferencer adds to a record, and their types.
FIELDS: dict[str, tuple[type, ...]] = {
    'problem_id': (str, int),
    'replica': (int,),
    'lost': (str, NoneType),
    'truncated': (bool, NoneType),
    'num_tokens': (int, float, NoneType),
    'sampling': (dict, NoneType),
    'key': (str, NoneType),
    'model': (str, NoneType),
}
SLICE = 100  # records that are postprocessed at once


Processed = tuple[Any, bool]  # a response after postprocessing, and whether that is only an answer
Process = Callable[[list[str]], Iterable[Processed]]


@dataclass(frozen=True)
class PredictionFiles:
    """The responses of one model to one data set.

    Attributes:
        responses: The responses, in the order of the files.
        missing: Names of the missing shards before or between others, finished or not.
        unfinished: Names of the progress files of missing parts. A progress file beside its
            finished file doesn't count: it keeps responses while lost ones are tried again.
        model: The identity of the model that responded; '' if it was not noted.
    """

    responses: list[Response]
    missing: list[str]
    unfinished: list[str]
    model: str = ''

    @property
    def unfinished_parts(self) -> str:
        """The missing and the unfinished files, as the end of a message."""
        parts = {'missing files': self.missing, 'unfinished': self.unfinished}
        return ''.join(f'; {told}: {", ".join(names)}' for told, names in parts.items() if names)


def read_predictions(
    folder: Path,
    name: str,
    others: Collection[str] = frozenset(),
    process: Process = lambda texts: zip(texts, repeat(False)),
) -> PredictionFiles:
    """Read the responses to the data set ``name`` below ``predictions/<model>``.

    Args:
        folder: ``predictions/<model>``; a model's name may contain slashes.
        name: The data set's abbreviation.
        others: Names of other data sets, which are not shards of this one.
        process: Postprocesses the texts of a slice of the responses.

    Raises:
        FileNotFoundError: If there is neither a whole file nor a shard.
        ValueError: If a file isn't one of OpenCompass's, or the files are of several models.
    """
    whole = folder / f'{name}.json'
    done, begun = prediction_parts(folder)
    expected = [] if whole.exists() else shard_numbers(name, done | begun.keys(), others)
    shards = [number for number in expected if f'{name}_{number}' in done]
    if not whole.exists() and not shards:
        raise FileNotFoundError(
            f'no predictions: neither {whole} nor {folder / f"{name}_0.json"} exists; '
            'run the inference first (opencompass CONFIG -r resumes it)'
        )
    responses: list[Response] = []
    models: dict[str, str] = {}
    for path in [folder / f'{name}_{number}.json' for number in shards] or [whole]:
        responses += _responses(path, process, models)
    if len(models) > 1:
        told = ' and '.join(f'{file} by {model}' for model, file in models.items())
        raise ValueError(
            f'{folder / name}: the responses are of several models: {told}. The config was changed '
            'between two starts; delete the files of the model that you do not mean, and resume '
            'with opencompass CONFIG -r'
        )
    missing = sorted(set(range(max(expected, default=-1) + 1)).difference(shards))
    return PredictionFiles(
        responses=responses,
        missing=[f'{name}_{number}.json' for number in missing],
        unfinished=[begun[f'{name}_{i}'] for i in missing if f'{name}_{i}' in begun],
        model=next(iter(models), ''),
    )


def prediction_parts(folder: Path) -> tuple[set[str], dict[str, str]]:
    """Return the finished and the begun data sets and shards in ``predictions/<model>``.

    The second is a mapping from each begun one to its progress file's name; a finished one may
    still have a progress file.
    """
    files = [*folder.glob('*.json'), *folder.glob('tmp_*.jsonl')]
    done = {path.stem for path in files if not path.name.startswith(('tmp_', 'unused_'))}
    tmp = (path for path in files if path.name.startswith('tmp_'))
    names = {path.stem.removeprefix('tmp_'): path.name for path in tmp}
    return done, names


def shard_numbers(
    name: str, stems: Iterable[str], others: Collection[str] = frozenset()
) -> list[int]:
    """Return the numbers of those files that are shards of a data set, ascending.

    A number at the end is not enough: ``aime_2024`` is a data set. Shards are counted from 0, with
    at most ``LONGEST_GAP`` consecutive ones missing, and there are fewer than 10,000.

    Args:
        name: The data set's abbreviation.
        stems: Names of files, without suffix.
        others: Names of known data sets.
    """
    pattern = re.compile(re.escape(name) + '_(0|[1-9][0-9]{0,3})')
    matches = (pattern.fullmatch(stem) for stem in set(stems).difference(others))
    numbers: list[int] = []
    for number in sorted(int(match.group(1)) for match in matches if match):
        if number - (numbers[-1] if numbers else -1) > LONGEST_GAP + 1:
            break
        numbers.append(number)
    return numbers


def model_name(folder: Path) -> str:
    """Return the model of ``…/predictions/<model>``; its name may contain slashes."""
    _, found, model = folder.as_posix().rpartition('/predictions/')
    return model if found else folder.name


def _responses(path: Path, process: Process, models: dict[str, str]) -> list[Response]:
    """Return the responses in a file; ``models`` is model → a file of it, and gets this one's."""
    found: dict[str, Response] = {}
    place = f'predictions/{model_name(path.parent)}/{path.name}'
    shared: dict[str, Any] = {}  # all samples of a problem have one prompt and gold
    members = read_members(path)
    while part := [(key, _checked(path, key, one)) for key, one in islice(members, SLICE)]:
        texts = [record.pop('prediction') for _, record in part]
        for (key, record), raw, (value, answer) in zip(part, texts, process(texts), strict=True):
            told = {name: record.pop(name, None) for name in FIELDS}
            named = told['problem_id'] is not None and told['replica'] is not None
            if named and told['model']:
                models.setdefault(told['model'], path.name)
            text = '' if value is None else str(value)
            found[key] = Response(
                text,
                f'{place}#{key}',
                identity=(str(told['problem_id']), told['replica']) if named else None,
                value=None if isinstance(value, str) else value,
                lost=told['lost'] or '',
                truncated=told['truncated'],
                num_tokens=told['num_tokens'],
                sampling=shared.setdefault(f'{told["sampling"]}', told['sampling']),
                record=shared.setdefault(repr(record), record),
                is_answer=answer,
                unprocessed=None if text == raw else raw,
                key=told['key'] or '',
            )
    try:
        return [found[str(i)] for i in range(len(found))]
    except KeyError as error:
        raise ValueError(
            f'{path}: not a prediction file of OpenCompass: it has no record {error}; '
            'delete it and run the inference again with -r'
        ) from error


def _checked(path: Path, key: str, record: Any) -> dict[str, Any]:
    """Return a record, if it is one text.

    Raises:
        ValueError: If it isn't, or a field of ours has another type.
    """
    text = record.get('prediction') if isinstance(record, dict) else None
    if not isinstance(text, str):
        raise ValueError(
            f'{path}, record {key!r}: field prediction is {type(text).__name__}, not one text; '
            'repeat problems with n in the data set, not with num_return_sequences'
        )
    for name, kinds in FIELDS.items():
        if name in record and type(record[name]) not in kinds:
            raise ValueError(
                f'{path}, record {key!r}: field {name} is {repr(record[name])[:60]}; '
                'delete the file and run the inference again with -r'
            )
    made: dict[str, Any] = record
    return made


INCOMPLETE = 'run the inference to its end'
RESUME = (
    f'{INCOMPLETE}, which keeps finished responses: a job of gpassk run with --resume, any other '
    'with opencompass CONFIG -r and as many workers as it began with{}, since with another number '
    'OpenCompass leaves rows out. If '
    'nothing is left to do, rename these prediction files to unused_<name>.json and resume with '
    '--max-num-workers 1, which takes their responses: with several workers OpenCompass leaves out '
    'rows of a test_range, or of a data set that has grown since .cache/dataset_size.json was '
    'written'
)
MOST_NAMED = 3  # problems in a message


@dataclass(frozen=True)
class Gaps:
    """The planned responses that prediction files lack, and those that they hold twice.

    Attributes:
        planned: Number of planned responses.
        missing: Those without a record.
        twice: Those with several records, of which the first counts.
        workers: By how many workers the largest file was one of the shards; 0 if there is one file.
    """

    planned: int
    missing: list[Identity]
    twice: list[Identity]
    workers: int = 0

    @property
    def coverage(self) -> float:
        """Share of the planned responses with a record."""
        return (self.planned - len(self.missing)) / self.planned if self.planned else 1.0

    @property
    def remedy(self) -> str:
        """How the missing responses are asked for."""
        return RESUME.format(f', {self.workers} by its files' if self.workers else '')

    def __str__(self) -> str:
        told = []
        if self.missing:
            told.append(
                f'{len(self.missing)} of {self.planned} responses are missing, '
                f'to {_named(self.missing)}'
            )
        if self.twice:
            told.append(
                f'{len(self.twice)} responses are there twice, to {_named(self.twice)}; the first '
                'of each counts'
            )
        return '; '.join(told)


def _named(identities: Sequence[Identity]) -> str:
    problems = list(dict.fromkeys(problem for problem, _ in identities))
    names = ', '.join(map(repr, problems[:MOST_NAMED]))
    if len(identities) == 1:
        return f'problem {names}, replica {identities[0][1]}'
    if len(problems) == 1:
        return f'problem {names}'
    return f'{len(problems)} problems, {"such as " * (len(problems) > MOST_NAMED)}{names}'


def find_gaps(held: Mapping[str, Sequence[Row]], planned: Collection[Identity]) -> Gaps:
    """Compare prediction files with what is planned. Rows with one key are one response.

    Args:
        held: File → its rows.
        planned: (problem_id, replica) of those that are planned.
    """
    rows = [row for of_file in held.values() for row in of_file]
    keyed = dict.fromkeys(row for row in rows if row[1])
    counts = Counter(identity for identity, _ in [*keyed, *(row for row in rows if not row[1])])
    largest = max(map(len, held.values()), default=0)
    return Gaps(
        len(planned),
        [one for one in planned if one not in counts],
        [one for one in planned if counts[one] > 1],
        math.ceil(len(planned) / largest) if len(held) > 1 else 0,
    )


def replicas(held: Mapping[str, Sequence[Row]], n: int) -> list[Identity]:
    """Return n samples of each problem that occurs in prediction files, as a config plans them."""
    problems = dict.fromkeys(problem for rows in held.values() for (problem, _), _ in rows)
    return [(problem, replica) for replica in range(n) for problem in problems]


def by_file(responses: Iterable[Response]) -> dict[str, list[Row]]:
    """Return prediction file → its rows, of the responses that say what they answer."""
    held: dict[str, list[Row]] = {}
    for response in responses:
        if response.identity is not None:
            file = response.location.rpartition('#')[0]
            held.setdefault(file, []).append((response.identity, response.key))
    return held


@lru_cache(maxsize=1000)
def rows_in(path: Path, _changed: int) -> list[Row]:
    """Return the rows of a prediction file, of the records that say what they answer.

    Args:
        path: The file.
        _changed: When it was last changed; a file that hasn't been is read once.

    Raises:
        ValueError: If it can't be read.
    """
    return [
        ((str(record['problem_id']), record['replica']), str(record.get('key') or ''))
        for _, record in read_members(path)
        if isinstance(record, dict)
        and 'problem_id' in record
        and isinstance(record.get('replica'), int)
    ]


class IncompletePredictionsError(ValueError):
    """Predictions are missing that resuming the inference would add."""


def prediction_folder(out_dir: Path) -> Path:
    """Return the folder of the predictions for the results ``WORK_DIR/results/MODEL/DATA SET``.

    Names of models may contain slashes.
    """
    model = out_dir.parent.as_posix().rpartition('/results/')[2]
    return run_folder(out_dir) / 'predictions' / model


def run_folder(out_dir: Path) -> Path:
    """Return the timestamp folder of the results ``WORK_DIR/results/MODEL/DATA SET``."""
    return Path(out_dir.parent.as_posix().rpartition('/results/')[0])


def retry_note(responses: Sequence[Response], model: str, name: str) -> str | None:
    """Return how to ask again for responses recorded as lost; None if there are none.

    Missing records don't count: there the inference has not ended.
    """
    lost = {r.location.rpartition('#')[0] for r in responses if r.lost and r.record}
    if not lost:
        return None
    files = sorted(lost)
    shown = ', '.join(files[:3]) + (f' and {len(files) - 3} more' if len(files) > 3 else '')
    return how_to_ask_again(shown, model, name)


def how_to_ask_again(predictions: str, model: str, dataset: str) -> str:
    """Return how a user can have lost requests sent again; ``predictions`` names their file."""
    return (
        f'to ask again for the lost responses alone, delete {predictions} and, if it is there, '
        f'results/{model}/{dataset}.json, then resume with opencompass CONFIG -r'
    )


def align(
    identities: Sequence[Identity],
    golds: Sequence[Any],
    files: PredictionFiles,
    *,
    name: str,
    min_coverage: float = 1.0,
    exact_golds: bool = True,
    report: Callable[[str], None] = lambda message: None,
) -> list[Response]:
    """Return the response to each of the T rows of a test set; a missing one counts as lost.

    Args:
        identities: (problem_id, replica) of each row.
        golds: The gold answer of each row.
        files: The responses. If they have no identities, there must be as many as rows.
        name: The data set's name, for messages.
        min_coverage: Least share of the rows, in [0, 1], with a record. The record of a lost
            response counts: the inference has ended, so a result is made.
        exact_golds: Whether the gold answers must equal those of the inference. If not, each may
            be the output of OpenCompass's ``dataset_postprocessor`` for it.
        report: Takes a message on a gap, or on different gold answers that are accepted.

    Raises:
        IncompletePredictionsError: If fewer rows have a record.
        ValueError: If a response was made with another gold answer than its row's.
    """
    # Of responses to one row the first counts.
    known = {r.identity: r for r in reversed(files.responses) if r.identity is not None}
    gaps = find_gaps(by_file(files.responses), identities)
    if not known:
        if len(files.responses) != len(identities):
            raise IncompletePredictionsError(
                f'{name}: there are {len(files.responses)} predictions for {len(identities)} '
                f'rows, and they do not say which rows they answer; {gaps.remedy}'
            )
        gaps = Gaps(len(identities), [], [])
        known = {
            identity: dataclasses.replace(response, identity=identity)
            for identity, response in zip(identities, files.responses, strict=True)
        }
    _check_golds(identities, golds, known, name, exact_golds, report)
    if gaps.missing or gaps.twice:
        message = f'{name}: {gaps}{files.unfinished_parts}'
        if gaps.coverage < min_coverage:
            raise IncompletePredictionsError(
                f'{message}; {gaps.remedy}. Or lower min_coverage of GPassKEvaluator to accept the '
                'gap'
            )
        report(message)
    lost = 'no prediction was found'
    return [known.get(identity) or Response('', '', identity, lost=lost) for identity in identities]


def _check_golds(
    identities: Sequence[Identity],
    golds: Sequence[Any],
    known: dict[Identity, Response],
    name: str,
    exact: bool,
    report: Callable[[str], None],
) -> None:
    rows = [
        (identity, known[identity].location, str(known[identity].record['gold']), str(gold))
        for identity, gold in zip(identities, golds, strict=True)
        if identity in known and known[identity].record.get('gold') is not None
    ]
    # A postprocessor maps equal inputs to equal outputs, and doesn't change its own output.
    made = {was: now for *_, was, now in rows}
    for (problem_id, _), location, was, now in rows:
        if (exact and was != now) or made[was] != now or made.get(now, now) != now:
            raise ValueError(
                f'{name}: problem {problem_id!r} has the gold answer {now!r}, but its response '
                f'({location}) was made for one with {was!r}; the data have changed since: infer '
                'again, in a new run'
            )
    changed = [was for was, now in made.items() if was != now]
    if changed:
        report(
            f'{name}: {len(changed)} of {len(made)} gold answers are not those of the inference, '
            f'such as {made[changed[0]]!r} for {changed[0]!r}; unless a dataset_postprocessor made '
            'them, the data have changed'
        )
