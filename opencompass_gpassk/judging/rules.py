"""Verdicts by rule: the final answer of each response is compared with the gold answer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from opencompass_gpassk.answers.extract import extract_answer
from opencompass_gpassk.answers.relation import Relation
from opencompass_gpassk.answers.pool import CheckResult, canonical_forms, check_pairs
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.trials import Verdict

__all__ = ['answer_classes', 'final_answer', 'judge_answers']

LONGEST_PROCESSED = 200  # characters; a longer postprocessed text does not count as an answer

VERDICTS = {
    Relation.SAME: Verdict.CORRECT,
    Relation.DIFFERENT: Verdict.INCORRECT,
    Relation.UNKNOWN: Verdict.UNJUDGED,
}


def judge_answers(
    golds: Sequence[str],
    answers: Sequence[str | None],
    *,
    match: str = 'value',
    progress: bool = False,
) -> list[Judgement]:
    """Judge T answers against their T gold answers; a missing answer is incorrect.

    With ``'value'`` an answer is correct if its value equals the gold answer's. With ``'exact'`` it
    must be the same text, as in arXiv 2501.11790, and nothing stays unjudged. By value, each
    distinct (gold, answer) pair is checked once, in worker processes that can be stopped: see
    :func:`opencompass_gpassk.answers.pool.check_pairs`.
    """
    if match == 'exact':
        return [_exact(gold, answer) for gold, answer in zip(golds, answers, strict=True)]
    pairs = [(g, a) for g, a in zip(golds, answers, strict=True) if a is not None]
    results = check_pairs(pairs, progress=progress)
    return [
        Judgement(Verdict.INCORRECT)
        if answer is None
        else _judgement(answer, results[gold, answer])
        for gold, answer in zip(golds, answers, strict=True)
    ]


def final_answer(text: str, *, processed: bool) -> str | None:
    """Return the final answer of a response; None if it gives none.

    Args:
        text: The response.
        processed: Whether OpenCompass postprocessed it: then the whole text may be the answer.
    """
    answer = extract_answer(text)
    if answer is None and processed and len(text) <= LONGEST_PROCESSED:
        return text.strip() or None
    return answer


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


def _exact(gold: str, answer: str | None) -> Judgement:
    same = answer is not None and answer.strip() == gold.strip()
    return Judgement(Verdict.CORRECT if same else Verdict.INCORRECT, answer)


def _judgement(answer: str, result: CheckResult) -> Judgement:
    return Judgement(VERDICTS[result.relation], answer, result.reason or '')
