"""Which response answers which row of a test set: neither gaps nor shards may shift any."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from opencompass_gpassk.predictions import PredictionFiles, Response, read_predictions

__all__ = [
    'IncompletePredictionsError',
    'align',
    'prediction_folder',
    'read_handed_over',
    'retry_note',
    'run_folder',
]

Identity = tuple[str, int]
RESUME = (
    'run the inference to its end with opencompass CONFIG -r, which keeps what is there. If that '
    'has nothing left to do, delete these prediction files and infer with --max-num-workers 1: '
    'among workers OpenCompass leaves out rows of a test_range, or of a data set that has grown '
    'since .cache/dataset_size.json was written'
)


class IncompletePredictionsError(ValueError):
    """Predictions are missing that another run of the inference would bring."""


def prediction_folder(out_dir: Path) -> Path:
    """Return where the predictions are to the results ``WORK_DIR/results/MODEL/DATA SET``.

    Names of models may hold slashes.
    """
    model = out_dir.parent.as_posix().rpartition('/results/')[2]
    return run_folder(out_dir) / 'predictions' / model


def run_folder(out_dir: Path) -> Path:
    """Return the timestamp folder that the results ``WORK_DIR/results/MODEL/DATA SET`` are in."""
    return Path(out_dir.parent.as_posix().rpartition('/results/')[0])


def read_handed_over(
    folder: Path,
    name: str,
    texts: Sequence[Any],
    is_answer: Callable[[str, str], bool] = lambda raw, text: False,
) -> PredictionFiles:
    """Read the prediction files behind the texts that OpenCompass hands to an evaluator.

    Args:
        folder: ``predictions/<model>``.
        name: The data set's abbreviation.
        texts: The texts handed over, which OpenCompass may have postprocessed: it reads the files
            up to the first missing shard. What is no text by now, such as a number, becomes one.
        is_answer: Tells of a raw response and of its text whether that is the answer alone.

    Returns:
        The files' responses with those texts. Behind a missing shard nothing was postprocessed:
        where postprocessing changed texts, these are left out as not comparable.

    Raises:
        ValueError: If files and texts differ in number.
    """
    files = read_predictions(folder, name)
    if len(texts) != files.contiguous:
        raise ValueError(
            f'{folder / name}: OpenCompass handed over {len(texts)} predictions, the files hold '
            f'{files.contiguous}; is another process writing them?'
        )
    read, unread = files.responses[: files.contiguous], files.responses[files.contiguous :]
    responses = [
        dataclasses.replace(response, text=text, is_answer=is_answer(response.raw, text))
        for response, text in zip(read, map(_as_text, texts), strict=True)
    ]
    if all(one.text == other.text for one, other in zip(read, responses, strict=True)):
        responses += unread
    return dataclasses.replace(files, responses=responses)


def _as_text(value: Any) -> str:
    return '' if value is None else str(value)


def retry_note(responses: Sequence[Response], model: str, name: str) -> str | None:
    """Return how to ask again for the responses that are recorded as lost, None if there is none.

    A gap where no record is found is another matter: the inference has not ended there.
    """
    lost = {r.location.rpartition('#')[0] for r in responses if r.lost and r.record}
    if not lost:
        return None
    files = sorted(lost)
    shown = ', '.join(files[:3]) + (f' and {len(files) - 3} more' if len(files) > 3 else '')
    return (
        f'to try the lost responses again, delete {shown} and results/{model}/{name}.json, and '
        'resume with opencompass CONFIG -r: only the lost ones are asked again'
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
    """Return the response to each of the T rows of a test set; one that isn't there is lost.

    Args:
        identities: (problem_id, replica) of each row.
        golds: The gold answer of each row.
        files: The responses. If none says what it answers, they must be as many as the rows.
        name: The data set's name, for messages.
        min_coverage: Share of the rows, in [0, 1], that must have a record. One that says that
            its response was lost counts as there: the inference has ended, and a result is made.
        exact_golds: The gold answers are those of the inference. If not, each may be what a
            ``dataset_postprocessor`` of OpenCompass makes of that.
        report: Is told of a gap or of gold answers that are accepted.

    Raises:
        IncompletePredictionsError: If fewer records are there.
        ValueError: If a response was made with another gold answer than its row's.
    """
    known = {r.identity: r for r in files.responses if r.identity is not None}
    if not known:
        if len(files.responses) != len(identities):
            raise IncompletePredictionsError(
                f'{name}: there are {len(files.responses)} predictions for {len(identities)} '
                f'rows, and they do not say which rows they answer; {RESUME}'
            )
        known = {
            identity: dataclasses.replace(response, identity=identity)
            for identity, response in zip(identities, files.responses, strict=True)
        }
    _check_golds(identities, golds, known, name, exact_golds, report)
    missing = [identity for identity in identities if identity not in known]
    if missing:
        message = _gap(name, identities, missing, files)
        if 1 - len(missing) / len(identities) < min_coverage:
            raise IncompletePredictionsError(
                f'{message}; {RESUME}. Or lower min_coverage of GPassKEvaluator to accept the gap'
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
    # A postprocessor is a function, and leaves alone what it made itself.
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


def _gap(
    name: str,
    identities: Sequence[Identity],
    missing: Sequence[Identity],
    files: PredictionFiles,
) -> str:
    problem_id, replica = missing[0]
    text = (
        f'{name}: {len(missing)} of {len(identities)} responses are missing, the first to '
        f'problem {problem_id!r}, replica {replica}'
    )
    if files.missing:
        text += f'; missing files: {", ".join(files.missing)}'
    if files.unfinished:
        text += f'; unfinished: {", ".join(files.unfinished)}'
    return text
