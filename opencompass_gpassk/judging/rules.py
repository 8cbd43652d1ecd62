"""Verdicts by rule: the final answer of each response is compared with the gold answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from opencompass_gpassk.answers.check import NOT_COMPARED, is_settled
from opencompass_gpassk.answers.reader import read_answer
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.speech import ending, spoken
from opencompass_gpassk.answers.worker_pool import Pair, canonical_forms, check_in_order
from opencompass_gpassk.formats.progress_bar import with_progress
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.trials import OPEN, UNDECIDED, UNRECOGNISED, Verdict

LONGEST_PROCESSED = 200  # characters; a longer postprocessed text does not count as an answer
LONGEST_REFUSAL = 400
REFUSAL = re.compile(
    r"\bI(?:['’]m| am)? (?:sorry|unable|not able|cannot|can['’]t|can not|won['’]t)\b|\bas an AI\b"
    '|抱歉|对不起|我无法|我不能',
    re.IGNORECASE,
)
DIGIT = re.compile(r'\d')

VERDICTS = {
    Relation.SAME: Verdict.CORRECT,
    Relation.DIFFERENT: Verdict.INCORRECT,
    Relation.UNKNOWN: Verdict.UNJUDGED,
}
RELATIONS = {verdict: relation for relation, verdict in VERDICTS.items()}


def judge_answers(
    pairs: Sequence[Pair],
    *,
    match: str = 'value',
    undecided: str = 'unjudged',
    progress: bool = False,
) -> Iterator[Judgement]:
    """Yield the judgements of answers, in order, as they are reached.

    Args:
        pairs: Gold answer and answer, and the question if it is known. Equal ones are checked once.
        match: With ``'value'`` an answer is correct if its value equals the gold answer's. With
            ``'exact'`` it must be the same text, as in arXiv 2501.11790, and nothing stays
            unjudged.
        undecided: ``'incorrect'`` if answers that the rules can't decide count as wrong. Those that
            could not be compared stay unjudged.
        progress: Show the progress on standard error.
    """
    found = check_in_order(pairs, match=match)
    results = with_progress(found, len(pairs), 'checking', 'answer', shown=progress)
    for (_, answer, *_), result in zip(pairs, results, strict=True):
        verdict, source = VERDICTS[result.relation], 'rule'
        if (
            result.relation is Relation.UNKNOWN
            and undecided == 'incorrect'
            and result.reason not in NOT_COMPARED
        ):
            verdict, source = Verdict.INCORRECT, UNDECIDED
        yield Judgement(verdict, answer, result.reason, source)


def reason_counts(judgements: Iterable[Judgement]) -> dict[str, int]:
    """Count the relations and reasons of verdicts by rule, such as ``same: number``."""
    counts: Counter[str] = Counter()
    for one in judgements:
        if one.source == 'rule' or one.source in OPEN:
            relation = Relation.UNKNOWN if one.source in OPEN else RELATIONS[one.verdict]
            counts[f'{relation.value}: {one.reason}'] += 1
    return dict(counts.most_common())


def final_answer(
    text: str, *, processed: bool, question: str = '', truncated: bool | None = None
) -> str | None:
    """Return the final answer of a response; None if it gives none.

    Args:
        text: The response.
        processed: Whether OpenCompass postprocessed it: then the whole text may be the answer.
        question: The question, if it is known.
        truncated: Whether the response was cut off; None if unknown.
    """
    answer = read_answer(text, question, cut_off=truncated is True)
    if answer is None and processed and len(text) <= LONGEST_PROCESSED:
        return text.strip() or None
    return answer


EMPTY, THOUGHTS_ONLY, REFUSED = 'empty', 'thoughts only', 'refused'


def silence(response: str) -> str:
    """Return whether a response is empty, or says nothing beside its thoughts; '' if it speaks."""
    if spoken(response).strip():
        return ''
    return THOUGHTS_ONLY if ending(response) else EMPTY


def without_answer(gold: str, response: str, truncated: bool | None = None) -> Judgement:
    """Return the judgement of a response in which no final answer was recognised: it is wrong.

    It is settled if nobody could find the right answer at its end: it was cut off, is empty,
    refuses to answer, or lacks the number that is the gold answer; or it says nothing beside
    thoughts, which hold no answer either. Else it is open, with the source ``unrecognised``.

    Args:
        gold: The gold answer.
        response: The response.
        truncated: Whether it was cut off; None if unknown.
    """
    end = ending(response)
    reason = 'cut off' if truncated else silence(response)
    if not reason and len(end) <= LONGEST_REFUSAL and REFUSAL.search(end):
        reason = '' if DIGIT.search(end) else REFUSED
    shown = read_answer(end) if reason == THOUGHTS_ONLY else None if reason else response
    if shown is None or is_settled(gold, shown):
        return Judgement(Verdict.INCORRECT, reason=reason or 'value absent')
    return Judgement(Verdict.INCORRECT, reason=reason or 'no answer', source=UNRECOGNISED)


def answer_classes(
    problems: Sequence[Hashable], judgements: Sequence[Judgement], *, progress: bool = False
) -> list[int]:
    """Number the answers of each problem so that equivalent ones share a number; -1: no answer.

    Answers are equivalent if their canonical forms are equal, whatever their verdicts, since judges
    are not consistent. In addition, all forms with an answer judged correct are one class.
    """
    answers = {j.answer for j in judgements if j.answer is not None}
    forms = canonical_forms(answers, progress=progress)
    keys = [
        (problem, None if judgement.answer is None else forms[judgement.answer])
        for problem, judgement in zip(problems, judgements, strict=True)
    ]
    right = {
        key
        for key, judgement in zip(keys, judgements, strict=True)
        if judgement.verdict is Verdict.CORRECT
    }
    numbers: dict[Hashable, dict[str | None, int]] = {}
    classes = []
    for problem, form in keys:
        if form is None:
            classes.append(-1)
            continue
        known = numbers.setdefault(problem, {})
        classes.append(known.setdefault(None if (problem, form) in right else form, len(known)))
    return classes
