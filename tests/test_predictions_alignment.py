"""Responses find their rows whatever is missing, and old responses to other data are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.responses import Response
from opencompass_gpassk.runs.predictions import (
    IncompletePredictionsError,
    PredictionFiles,
    align,
    find_gaps,
    prediction_folder,
    retry_note,
)

ROWS = [(str(problem), replica) for replica in range(2) for problem in range(3)]
GOLDS = ['a', 'b', 'c'] * 2


def files(*responses: Response, **named: Any) -> PredictionFiles:
    """Prediction files with these responses."""
    return PredictionFiles(list(responses), **{'missing': [], 'unfinished': []} | named)


def response(row: int, gold: str | None = None) -> Response:
    """The response to a row, which says what it answers."""
    return Response(f'text {row}', f'f#{row}', ROWS[row], record={'gold': gold or GOLDS[row]})


def test_responses_find_their_rows_in_any_order() -> None:
    """Position means nothing where a response says which row it answers."""
    aligned = align(ROWS, GOLDS, files(*map(response, [5, 3, 1, 0, 2, 4])), name='d')
    assert [r.text for r in aligned] == [f'text {row}' for row in range(6)]


def test_a_gap_below_the_minimum_coverage_is_an_error_that_says_how_to_resume() -> None:
    """A result over a gap would be kept by -r for ever."""
    with pytest.raises(IncompletePredictionsError, match=r"problem '1', replica 0.*d_1\.json.*-r"):
        align(ROWS, GOLDS, files(*map(response, [0, 2, 3, 4, 5]), missing=['d_1.json']), name='d')


def test_an_accepted_gap_is_lost_and_told() -> None:
    """The trial is lost, not wrong, and the others stay where they are."""
    told: list[str] = []
    given = files(*map(response, [0, 2, 3, 4, 5]))
    aligned = align(ROWS, GOLDS, given, name='d', min_coverage=0.8, report=told.append)
    assert [bool(r.lost) for r in aligned] == [False, True, False, False, False, False]
    assert aligned[1].identity == ROWS[1]
    assert '1 of 6 responses are missing' in told[0]


def test_unnamed_responses_are_taken_by_position_if_complete() -> None:
    """OpenCompass's own inferencer does not say what its records answer."""
    unnamed = [Response(str(row), '') for row in range(6)]
    aligned = align(ROWS, GOLDS, files(*unnamed), name='d')
    assert [(r.text, r.identity) for r in aligned] == [(str(i), ROWS[i]) for i in range(6)]
    with pytest.raises(IncompletePredictionsError, match='5 predictions for 6 rows'):
        align(ROWS, GOLDS, files(*unnamed[:5]), name='d', min_coverage=0)


def test_responses_to_other_data_are_refused() -> None:
    """A gold answer that changed since the inference is an error."""
    with pytest.raises(ValueError, match=r"'b'.*made for one with 'x'"):
        align(ROWS, GOLDS, files(*map(response, [0, 2, 3, 4, 5]), response(1, 'x')), name='d')


@pytest.mark.parametrize(
    ('now', 'accepted'),
    [
        (['a', 'b', 'c'], True),
        (['A', 'B', 'C'], True),  # a postprocessor
        (['a', 'b', 'C'], True),
        (['b', 'c', 'a'], False),  # rows have moved
        (['a', 'b', 'a'], True),
        (['b', 'b', 'b'], True),
        (['b', 'a', 'c'], False),
        (['a', 'B', 'c', 'a', 'b', 'c'], False),  # no function
    ],
)
def test_gold_answers_may_be_made_of_those_recorded(now: list[str], accepted: bool) -> None:
    """A postprocessor is a function that leaves alone what it made; other changes are refused."""
    told: list[str] = []
    golds = now * (6 // len(now))
    given = files(*map(response, range(6)))
    if accepted:
        align(ROWS, golds, given, name='d', exact_golds=False, report=told.append)
        assert bool(told) == (now != ['a', 'b', 'c'])
    else:
        with pytest.raises(ValueError, match='the data have changed'):
            align(ROWS, golds, given, name='d', exact_golds=False)


def test_rows_that_are_held_twice_with_one_key_are_one() -> None:
    """Another number of workers makes other shards, which take what the former ones saved."""
    for keys, twice in ((('k', 'k'), 0), (('k', 'l'), 1), (('', ''), 1)):
        rows = {f'{i}.json': [(ROWS[0], key)] for i, key in enumerate(keys)}
        gaps = find_gaps(rows, ROWS[:1])
        assert (len(gaps.missing), len(gaps.twice)) == (0, twice)


def test_a_share_that_is_just_enough_is_enough() -> None:
    """9 of 20 are 0.45, though 1 - 11 / 20 is less in floating point."""
    planned = [('p', replica) for replica in range(20)]
    held = {'d.json': [(one, '') for one in planned[:9]]}
    assert find_gaps(held, planned).coverage >= 0.45


@pytest.mark.parametrize('model', ['demo', 'org/demo'])
def test_predictions_lie_beside_results(model: str) -> None:
    """Also those of a model whose name holds a slash, and in a work dir that is called results."""
    out_dir = Path('/x/results/20250101_000000/results') / model / 'd'
    assert prediction_folder(out_dir) == Path('/x/results/20250101_000000/predictions') / model


def test_lost_responses_can_be_tried_again() -> None:
    """The note names the files to delete, those of shards too; a gap needs none deleted."""
    responses = [
        Response('', f'predictions/org/m/d_{i}.json#0', lost='HTTP 500', record={'lost': 'x'})
        for i in (3, 3, 0, 5, 4)
    ]
    note = retry_note([Response('fine', 'predictions/org/m/d_1.json#1'), *responses], 'org/m', 'd')
    assert note is not None
    shards = ', '.join(f'predictions/org/m/d_{i}.json' for i in (0, 3, 4))
    assert f'delete {shards} and 1 more and, if it is there, results/org/m/d.json, then' in note
    assert retry_note([Response('', '', lost='no prediction was found')], 'org/m', 'd') is None
