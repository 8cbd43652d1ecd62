"""Which response answers which row of a test set: neither gaps nor shards may shift any."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

from opencompass_gpassk.predictions import PredictionFiles, Response, read_predictions

__all__ = ['IncompletePredictionsError', 'align', 'read_handed_over']

Identity = tuple[str, int]
RESUME = 'run the inference to its end with opencompass CONFIG -r, which keeps what is there'


class IncompletePredictionsError(ValueError):
    """Predictions are missing that another run of the inference would bring."""


def read_handed_over(folder: Path, name: str, texts: Sequence[str]) -> PredictionFiles:
    """Read the prediction files behind the texts that OpenCompass hands to an evaluator.

    Args:
        folder: ``predictions/<model>``.
        name: The data set's abbreviation.
        texts: The texts handed over, which OpenCompass may have postprocessed: it reads the files
            up to the first missing shard.

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
        response if response.text == text else dataclasses.replace(response, text=text)
        for response, text in zip(read, texts, strict=True)
    ]
    if responses == read:
        responses += unread
    return dataclasses.replace(files, responses=responses)


def align(
    identities: Sequence[Identity],
    golds: Sequence[str],
    files: PredictionFiles,
    *,
    name: str,
    min_coverage: float = 1.0,
    report: Callable[[str], None] = lambda message: None,
) -> list[Response]:
    """Return the response to each of the T rows of a test set; one that isn't there is lost.

    Args:
        identities: (problem_id, replica) of each row.
        golds: The gold answer of each row.
        files: The responses. If none says what it answers, they must be as many as the rows.
        name: The data set's name, for messages.
        min_coverage: Share of the rows, in [0, 1], that must have a response. A trial whose
            loss was recorded counts as there: another run would not bring it.
        report: Is told of a gap that is accepted.

    Raises:
        IncompletePredictionsError: If fewer responses are there.
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
    _check_golds(identities, golds, known, name)
    missing = [identity for identity in identities if identity not in known]
    if missing:
        message = _gap(name, identities, missing, files)
        if 1 - len(missing) / len(identities) < min_coverage:
            raise IncompletePredictionsError(
                f'{message}. {RESUME[0].upper()}{RESUME[1:]}, or lower min_coverage of '
                'GPassKEvaluator to accept the gap'
            )
        report(message)
    lost = 'no prediction was found'
    return [known.get(identity) or Response('', '', identity, lost=lost) for identity in identities]


def _check_golds(
    identities: Sequence[Identity],
    golds: Sequence[str],
    known: dict[Identity, Response],
    name: str,
) -> None:
    for identity, gold in zip(identities, golds, strict=True):
        response = known.get(identity)
        recorded = response.record.get('gold') if response else None
        if isinstance(recorded, str) and recorded != gold:
            raise ValueError(
                f'{name}: problem {identity[0]!r} has the gold answer {gold!r}, but its response '
                f'({response.location if response else ""}) was made for one with '
                f'{recorded!r}; the data have changed since: infer again, in a new run'
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
