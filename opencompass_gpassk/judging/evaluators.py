"""Verdicts by any evaluator of OpenCompass, so that G-Pass@k can be computed from them.

Each replica of a repeated data set is scored separately, with its own evaluator object and output
folder, since evaluators keep state in both. A trial's verdict is the one in the reply of the
evaluator's LLM if the reply can be found, else the one in the evaluator's ``details``. OpenCompass
counts a reply that it can't read as incorrect; here such a reply leaves its trial unjudged.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from opencompass.datasets.circular import CircularEvaluator
from opencompass.datasets.livemathbench import LiveMathBenchEvaluator
from opencompass.evaluator import CascadeEvaluator, GenericLLMEvaluator
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_evaluator import CircularEvaluator as RotationEvaluator
from opencompass.registry import ICL_EVALUATORS
from opencompass.utils import get_logger

from opencompass_gpassk.answers.speech import spoken
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.formats.progress_bar import with_progress
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.pipeline import Verdicts
from opencompass_gpassk.judging.rules import final_answer
from opencompass_gpassk.judging.settings import check_gpus, judge_name
from opencompass_gpassk.judging.verdict import (
    MENUS,
    RIGHT,
    WRONG,
    Judgement,
    Reading,
    read_letters,
    read_verdict,
)
from opencompass_gpassk.responses import Response
from opencompass_gpassk.runs.config import config_hash
from opencompass_gpassk.trials import Verdict

FAILED = 'the evaluator failed:'
PATIENCE = 3  # rows; an evaluator that fails on the first three is taken to fail on all
UNREAD = (
    'the replies of the LLM behind {} are read by its own postprocessor, which may count one that '
    'it cannot read as wrong'
)


def judge_by_replica(
    config: Mapping[str, Any],
    test_set: Dataset,
    golds: Sequence[Any],
    responses: Sequence[Response],
    folder: Path | None,
) -> Verdicts:
    """Judge the responses that are not lost by an evaluator of OpenCompass.

    Args:
        config: The evaluator's config.
        test_set: R rows, each problem repeated n times.
        golds: The gold answer of each row.
        responses: The response to each row.
        folder: The folder for the evaluators' files; None for no files. An evaluator takes replies
            that it finds in its folder as its own, so each replica, config and set of responses
            gets a folder of its own.

    Raises:
        JudgeError: If the evaluator fails, or judges nothing.
        ValueError: If it needs GPUs and the task has none, or gives no verdict on single rows.
    """
    check_gpus(config)
    logger = get_logger()
    name, config_name = judge_name(config), config_hash(config)
    by_replica: dict[int, list[int]] = {}
    for row, response in enumerate(responses):
        if not response.lost and response.identity:
            by_replica.setdefault(response.identity[1], []).append(row)
    notes: list[str] = []
    found: dict[int, Reading] = {}
    each = sorted(by_replica.items())
    for replica, rows in with_progress(each, len(each), 'judging', 'replica', shown=True):
        logger.info(f'{name}: replica {replica + 1} of {len(by_replica)}')
        columns = _columns(test_set, golds, responses, rows)
        content = text_hash([*map(str, columns['predictions']), *map(str, columns['references'])])
        place = folder and folder / f'replica_{replica}_{config_name}_{content}'
        make = partial(_built, config, replica, place)
        judged = judge_replica(make, columns, len(rows), report=logger.warning, note=notes.append)
        found.update(zip(rows, judged, strict=True))
    unjudged = [reason for verdict, reason in found.values() if verdict is Verdict.UNJUDGED]
    retry = ''
    if folder:
        retry = (
            f'; to ask it again, delete the folder {folder}, which holds its replies, and '
            f'{folder.name}.json beside it, if it exists, and resume with -r'
        )
    if found and len(unjudged) == len(found):
        raise JudgeError(
            f'judge: {name} judged none of {len(found)} responses, the first because '
            f'{unjudged[0]}{retry}'
        )
    if unjudged and folder:
        notes.append(f'{name} gave no verdict of some responses{retry}')
    judgements = []
    for row, (verdict, reason) in sorted(found.items()):
        one = responses[row]
        answer = final_answer(one.text, processed=one.is_answer, truncated=one.truncated)
        judgements.append(Judgement(verdict, answer, reason, name))
    notes = list(dict.fromkeys(notes))
    described = {'mode': 'evaluator', 'notes': notes}  # for later results from these verdicts
    return Verdicts(judgements, f'{name}:{config_name}', described, notes)


def _columns(
    test_set: Dataset, golds: Sequence[Any], responses: Sequence[Response], rows: Sequence[int]
) -> dict[str, Any]:
    """Return the columns that an evaluator's ``score`` may ask for, of these rows."""
    asked = [golds[row] for row in rows]
    part = test_set.select(rows)
    if 'obj_gold' not in part.column_names:  # the name of the gold in prompts of LLM judges
        part = part.add_column('obj_gold', asked)
    records = [responses[row].record for row in rows]
    return {
        **{name: [record.get(name) for record in records] for name in records[0]},
        'predictions': [
            responses[row].text if responses[row].value is None else responses[row].value
            for row in rows
        ],
        'references': asked,
        'test_set': part,
        'origin_prompt': [record.get('origin_prompt') for record in records],
    }


def _built(
    config: Mapping[str, Any], replica: int, folder: Path | None, row: int | None = None
) -> Any:
    """Return a fresh evaluator for a replica, or for one of its rows."""
    evaluator = ICL_EVALUATORS.build(copy.deepcopy(dict(config)))
    evaluator._dataset_replica_idx = replica
    if isinstance(evaluator, GenericLLMEvaluator):
        evaluator.dataset_cfg = None  # else it loads the whole data set, not the given rows
    if isinstance(evaluator, LiveMathBenchEvaluator):
        # Else all objects share one dictionary, and replies get into another replica's file.
        evaluator.judge_output_handler.output_dict = {}
        evaluator.extract_output_handler.output_dict = {}
    if folder:
        evaluator._out_dir = str(folder) if row is None else f'{folder}_row_{row}'
    return evaluator


def judge_replica(
    make_evaluator: Callable[[int | None], Any],
    columns: Mapping[str, Any],
    size: int,
    *,
    report: Callable[[str], None] = lambda message: None,
    note: Callable[[str], None] = lambda message: None,
) -> list[Reading]:
    """Judge the trials of one replica.

    Args:
        make_evaluator: Returns a fresh evaluator of OpenCompass for one row, or for all if None.
            Each needs its own output folder: an evaluator takes replies it finds there as its own.
        columns: The columns that its ``score`` may ask for, each with ``size`` rows.
        size: Number of rows of the replica.
        report: Takes a message on why the evaluator had to be asked one row at a time.
        note: Takes a note on the verdicts for readers of the result.

    Returns:
        A verdict per row, and the reason if it is unjudged. The evaluator is asked one row at a
        time if it fails, or if its details lack correctness, drop rows or reorder them. A row that
        it fails on is then unjudged.

    Raises:
        JudgeError: If the evaluator fails on every row.
        ValueError: If it gives no verdict on single rows.
    """
    evaluator = make_evaluator(None)
    name = type(evaluator).__name__
    if type(evaluator) in EQUALITY:
        golds = map(EQUALITY[type(evaluator)], columns['references'])
        pairs = zip(evaluator.pred_postprocess(columns['predictions']), golds, strict=True)
        return [RIGHT if str(answer) == gold else WRONG for answer, gold in pairs]
    asked_for = inspect.signature(evaluator.score).parameters
    wanted = {key: column for key, column in columns.items() if key in asked_for}
    details: list[Any] = []
    try:
        details = _details(_score(evaluator, wanted, range(size)))
        if read := _readings(evaluator, details, wanted, range(size), note):
            return read
        fault = 'its details do not hold a verdict of every response in the order of the responses'
    except Exception as error:  # the user's evaluator may raise anything
        fault = f'it failed: {error!r}'
    report(f'judge: {name} is asked one response at a time, since {fault}')
    drops_rows = 0 < len(details) < size
    found: list[Reading] = []
    for row in range(size):
        evaluator = make_evaluator(row)
        try:
            result = _score(evaluator, wanted, [row])
        except Exception as error:  # the user's evaluator may raise anything
            found.append((Verdict.UNJUDGED, f'{FAILED} {error!r}'))
        else:
            details = _details(result)
            if drops_rows and not details:
                found.append((Verdict.UNJUDGED, 'the evaluator left the response out'))
            else:
                said = _readings(evaluator, details, wanted, [row], note)
                found += said or [_reading_of_metric(result, name)]
        if row + 1 == min(PATIENCE, size) and all(why.startswith(FAILED) for _, why in found):
            raise JudgeError(f'judge: {name} fails on every response: {found[0][1]}')
    return found


def _score(evaluator: Any, wanted: Mapping[str, Any], rows: Sequence[int]) -> Any:
    asked = {
        name: column.select(rows) if isinstance(column, Dataset) else [column[row] for row in rows]
        for name, column in wanted.items()
    }
    # OpenCompass lets this evaluator postprocess twice; the second time a tag is no longer found.
    if 'predictions' in asked and not isinstance(evaluator, GenericLLMEvaluator):
        asked['predictions'] = evaluator.pred_postprocess(asked['predictions'])
    return evaluator.score(**asked)


# Evaluators that compare texts, but tell shares of all rows alone, and how they read a gold answer.
EQUALITY: dict[type, Callable[[Any], str]] = {
    AccEvaluator: str,
    CircularEvaluator: str,  # rows of rotated options, each with its own letter
    RotationEvaluator: lambda gold: str(gold).split('--')[1],  # 'problem--letter--rotation'
}
FLAGS = {'true': RIGHT, '1': RIGHT, '1.0': RIGHT, 'false': WRONG, '0': WRONG, '0.0': WRONG}
CORRECTNESS_FIELDS = ('correct', 'is_correct', 'cascade_correct', 'correctness', 'acc', 'passed')
# Names of shares of right responses; `score` 1 may also be a mark out of 10.
SHARES = re.compile(r'(?:.*[ _-])?(?:accuracy|acc|exact_match|em|pass@1)', re.IGNORECASE)
REPEATED_FIELDS = {  # fields of details that repeat the evaluator's input
    'predictions': ('pred',),
    'references': ('answer', 'gold', 'ref', 'reference'),
}
LETTERS = {'A', 'B', 'CORRECT', 'INCORRECT'}


def _details(result: Any) -> list[Any]:
    """Return the entries of a result's details; those keyed '0', '1', …, '10' by number."""
    details = result.get('details') if isinstance(result, Mapping) else None
    if isinstance(details, Mapping):
        entries = {key: value for key, value in details.items() if isinstance(value, Mapping)}
        numbered = all(str(key).isdecimal() for key in entries)
        return [entries[key] for key in (sorted(entries, key=int) if numbered else entries)]
    return list(details) if isinstance(details, Sequence) else []


def _readings(
    evaluator: Any,
    details: Sequence[Any],
    wanted: Mapping[str, Any],
    rows: Sequence[int],
    note: Callable[[str], None],
) -> list[Reading] | None:
    """Return the verdict in each entry of an evaluator's details; None if one is not there.

    ``rows`` are those of the columns ``wanted`` that the evaluator was given.
    """
    llm, asked = evaluator, dict(enumerate(details))
    if isinstance(evaluator, CascadeEvaluator):
        llm = evaluator.llm_evaluator
        asked = {i: one['llm_evaluation'] for i, one in asked.items() if 'llm_evaluation' in one}
        # It is unset if the replies were there before.
        llm.output_path = (
            f'{evaluator._out_dir}_llm_judge_replica{evaluator.dataset_replica_idx}.json'
        )
    lettered = bool(asked) and all(map(_is_letter_detail, asked.values()))
    if isinstance(llm, GenericLLMEvaluator) and not lettered and (asked or llm is evaluator):
        note(UNREAD.format(type(evaluator).__name__))
    if len(details) != len(rows) or _reordered(details, wanted, rows):
        return None
    replies = dict(zip(asked, _replies(llm, len(asked), lettered=lettered), strict=False))
    found = [_reading(detail, replies.get(i)) for i, detail in enumerate(details)]
    read = [one for one in found if one is not None]
    return read if len(read) == len(rows) else None


def _reordered(details: Sequence[Any], wanted: Mapping[str, Any], rows: Sequence[int]) -> bool:
    """Tell whether details repeat the evaluator's input in another order than it was given."""
    for column in REPEATED_FIELDS.keys() & wanted.keys():
        asked = [str(wanted[column][row]) for row in rows]
        for name in REPEATED_FIELDS[column]:
            told = [str(one.get(name)) if isinstance(one, Mapping) else '' for one in details]
            if told != asked and sorted(told) == sorted(asked):
                return True
    return False


def _replies(evaluator: Any, size: int, *, lettered: bool) -> list[Reading]:
    """Return the verdicts in the replies of an evaluator's LLM, from its file; [] if unknown."""
    if isinstance(evaluator, LiveMathBenchEvaluator) and evaluator.judge_models:
        records = _records(Path(evaluator.output_dir) / 'tmp_judge.json', size)
        nothing = (Verdict.UNJUDGED, 'the judge boxed neither yes nor no')
        replies = [str(record.get('response')) for record in records]
        return [read_verdict(reply, MENUS['boxed']) or nothing for reply in replies]
    if isinstance(evaluator, GenericLLMEvaluator) and lettered:
        records = _records(Path(evaluator.output_path), size)
        evaluator.judge_pred_postprocessor = evaluator.judge_cfg.get('pred_postprocessor')
        evaluator._judge_postprocess(dict(enumerate(records)))
        return [_read_letter(str(record.get('prediction'))) for record in records]
    return []


def _records(path: Path, size: int) -> list[dict[str, Any]]:
    """Return the records of a judge's file, keyed '0', '1', …; [] if it holds others."""
    try:
        records = json.loads(path.read_text('utf-8', errors='surrogatepass'))
        found = [records[str(i)] for i in range(size)]
    except (OSError, ValueError, TypeError, KeyError):
        return []
    return found if all(isinstance(record, dict) for record in found) else []


def _reading(detail: Any, reply: Reading | None = None) -> Reading | None:
    """Return the verdict in an entry of an evaluator's ``details``; None if it holds none.

    The judge's reply, if it is known, has priority over the evaluator's flag: a reply outside the
    menu leaves the trial unjudged, although the evaluator calls it incorrect. In a cascade, a rule
    that found the response correct has priority over both.
    """
    if not isinstance(detail, Mapping):
        return None
    rule, llm = detail.get('rule_evaluation'), detail.get('llm_evaluation')
    by_rule, by_llm = _reading(rule), _reading(llm, reply)
    if by_rule and (by_rule == RIGHT or llm is None):
        return by_rule
    if by_llm or reply:
        return by_llm or reply
    for name in CORRECTNESS_FIELDS:
        if detail.get(name) is not None:
            return FLAGS.get(str(detail[name]).strip().lower())
    return _read_letter(detail['prediction']) if _is_letter_detail(detail) else None


def _is_letter_detail(detail: Any) -> bool:
    """Tell whether a detail comes from a judge that was asked for A or B."""
    if not isinstance(detail, Mapping):
        return False
    if 'is_correct' in detail:  # a postprocessor turned the reply into a letter
        return detail.get('llm_judge', detail.get('prediction')) in LETTERS
    return (
        'correct' not in detail and 'gold' in detail and isinstance(detail.get('prediction'), str)
    )


def _read_letter(reply: str) -> Reading:
    """Read a reply that is only A or B (or CORRECT, INCORRECT) after its thoughts."""
    nothing = (Verdict.UNJUDGED, 'the judge replied neither A nor B')
    return read_letters(spoken(reply)) or nothing


def _reading_of_metric(result: Any, name: str) -> Reading:
    """Return the verdict on a single response that a result without details holds.

    Raises:
        ValueError: If it holds none.
    """
    keys = result if isinstance(result, Mapping) else {}
    names = ['accuracy'] if 'accuracy' in keys else filter(SHARES.fullmatch, map(str, keys))
    shares = [keys[name] for name in names]
    if all(share == 0 for share in shares or [keys.get('score')]):
        return WRONG
    if all(share in (1, 100) for share in shares) if shares else keys.get('score') == 100:
        return RIGHT
    raise ValueError(
        f'judge: {name} does not say whether a single response is right: its result has the keys '
        f'{", ".join(map(str, keys)) or result}; use an evaluator whose details hold one of '
        f'{", ".join(CORRECTNESS_FIELDS)}'
    )
