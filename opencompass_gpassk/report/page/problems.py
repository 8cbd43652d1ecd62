"""The problems of a benchmark, and how each model answered them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from opencompass_gpassk.hashing import text_hash
from opencompass_gpassk.problem_rows import problem_rows
from opencompass_gpassk.report.page.mathematics import segments
from opencompass_gpassk.report.page.responses import (
    LONGEST,
    SHORTEST,
    Response,
    examples,
    fitting_length,
    read_responses,
)
from opencompass_gpassk.report.page.sources import Found
from opencompass_gpassk.text import one_line, visible_text
from opencompass_gpassk.trials import Problem, Trial, read_trials

__all__ = ['PageProblem', 'Solved', 'collect_problems', 'packed_texts']

LONGEST_QUESTION = 20_000
MOST_ANSWERS = 1000
NO_GROUPS = frozenset({'problem_id', 'version', 'cluster', 'gold', 'n', 'c', 'sound', 'answers'})

Key = tuple[str, str]


@dataclass
class Solved:
    """How one entry of the leaderboard fared on a problem.

    Attributes:
        n: Judged responses.
        c: Right ones among them.
        answers: ``[answer, count, verdict, source]`` of each distinct answer; of a long one
            its beginning, and then its length and its hash besides.
        greedy: The same of the greedy response, empty where there is none.
        responses: A right and a wrong response, as far as there are any and they were found.
    """

    n: int
    c: int
    answers: list[list[Any]]
    greedy: list[list[Any]] = field(default_factory=list)
    responses: dict[str, Response] = field(default_factory=dict)


@dataclass
class PageProblem:
    """A problem, and how each entry of the leaderboard fared on it.

    Attributes:
        problem: With its question, where a file of trials tells it.
        solved: Index of the entry → what it reached; entries that were not asked are missing.
    """

    problem: Problem
    solved: dict[int, Solved] = field(default_factory=dict)


def collect_problems(
    entries: Sequence[tuple[Found, Found | None]], faults: list[str]
) -> list[PageProblem]:
    """Return the problems of all entries, in the order of their results.

    What two results call the same, with the same gold answer, is one problem.

    Args:
        entries: Each entry's result, and its greedy one where that stands beside samples.
        faults: Is told of files that can't be read.
    """
    problems: dict[Key, PageProblem] = {}
    for index, (found, greedy) in enumerate(entries):
        known, chosen, rows = _problems(found, faults)
        mine: dict[str, Solved] = {}
        for row in found.result.get('details') or rows:
            problem_id = str(row['problem_id'])
            problem = known.get(problem_id) or _problem(row)
            key = (problem_id, str(row.get('gold', '')))
            solved = Solved(row['n'], row['c'], _answers(row))
            problems.setdefault(key, PageProblem(problem)).solved[index] = solved
            mine[problem_id] = solved
        for row in _greedy_rows(greedy, faults) if greedy else []:
            if beside := mine.get(str(row['problem_id'])):
                beside.greedy = _answers(row)
        _read_examples(found, chosen, mine, faults)
    return list(problems.values())


def packed_texts(
    problems: Sequence[PageProblem], entries: int, total: int
) -> tuple[list[str], int]:
    """Return question, answers and responses of each problem, for a page that opens few of them.

    Args:
        problems: The problems.
        entries: How many entries the leaderboard has.
        total: Characters that responses and answers may have together; the longest are shortened
            first.

    Returns:
        For each problem a JSON document, deflated and in base 64; and the longest text that was
        not shortened, in characters.
    """
    solved = [one for problem in problems for one in problem.solved.values()]
    lengths = [len(response.text) for one in solved for response in one.responses.values()]
    lengths += [len(row[0] or '') for one in solved for row in (*one.answers, *one.greedy)]
    length = fitting_length(lengths, total)
    return [_packed(problem, entries, length) for problem in problems], length


def _packed(problem: PageProblem, entries: int, length: int) -> str:
    question = visible_text(problem.problem.question[:LONGEST_QUESTION])
    document = {
        'question': segments(question),
        'out': max(0, len(problem.problem.question) - LONGEST_QUESTION),
        'gold': segments(visible_text(problem.problem.gold[:LONGEST_QUESTION])),
        'goldOut': max(0, len(problem.problem.gold) - LONGEST_QUESTION),
        'entries': [
            _solved(problem.solved[i], length) if i in problem.solved else None
            for i in range(entries)
        ],
    }
    text = json.dumps(document, ensure_ascii=False, separators=(',', ':'))
    return base64.b64encode(zlib.compress(text.encode('utf-8', 'replace'), 9)).decode('ascii')


def _solved(solved: Solved, length: int) -> dict[str, Any]:
    return {
        'answers': [_answer(row, length) for row in solved.answers[:MOST_ANSWERS]],
        'more': max(0, len(solved.answers) - MOST_ANSWERS),
        'greedy': [_answer(row, length) for row in solved.greedy[:1]],
        **{name: one.shortened(length) for name, one in solved.responses.items()},
    }


def _problems(
    found: Found, faults: list[str]
) -> tuple[dict[str, Problem], dict[str, dict[str, Trial]], list[dict[str, Any]]]:
    """Return the problems of a result's trials, and where a right and a wrong response stand.

    Besides the details, for a result that was stored without them.
    """
    if found.trials is None:
        faults.append(f'{found.path}: it names no file of trials, so no question is shown')
        return {}, {}, []
    try:
        table, _ = read_trials(found.trials)
    except ValueError as error:
        faults.append(f'{error}; no question is shown')
        return {}, {}, []
    chosen = {
        problem.problem_id: {
            name: trial for name, trial in examples(trials).items() if trial.response
        }
        for problem, trials in zip(table.problems, table.by_problem(), strict=True)
    }
    rows = [] if found.result.get('details') else problem_rows(table)
    return {problem.problem_id: problem for problem in table.problems}, chosen, rows


def _greedy_rows(greedy: Found, faults: list[str]) -> list[Mapping[str, Any]]:
    """Return what a greedy result says of each problem, details or not."""
    return greedy.result.get('details') or [*_problems(greedy, faults)[2]]


def _read_examples(
    found: Found,
    chosen: Mapping[str, Mapping[str, Trial]],
    mine: Mapping[str, Solved],
    faults: list[str],
) -> None:
    trials = (trial for one in chosen.values() for trial in one.values())
    texts = read_responses(trials, found.run, found.path.parent, faults)
    for problem_id, solved in mine.items():
        for name, trial in chosen.get(problem_id, {}).items():
            if trial.response in texts:
                solved.responses[name] = texts[trial.response]


def _problem(row: Mapping[str, Any]) -> Problem:
    """Return a problem of which no more is known than the result says."""
    groups = {str(k): str(v) for k, v in row.items() if k not in NO_GROUPS}
    return Problem(
        str(row['problem_id']),
        '',
        str(row.get('gold', '')),
        groups,
        str(row.get('cluster') or ''),
        str(row.get('version', '')),
    )


def _answers(row: Mapping[str, Any]) -> list[list[Any]]:
    answers = row.get('answers')
    return [
        [
            None if text is None else text[:LONGEST],
            int(one.get('count') or 0),
            one_line(str(one.get('verdict', ''))),
            one_line(str(one.get('source', ''))),
            *([len(text), text_hash([text])] if text and len(text) > SHORTEST else []),
        ]
        for one in (answers if isinstance(answers, list) else [])
        if isinstance(one, Mapping)
        for text in [None if one.get('answer') is None else str(one['answer'])]
    ]


def _answer(row: Sequence[Any], length: int) -> list[Any]:
    """Return an answer for the page: of a longer one its beginning, what is left out, its hash."""
    text, *about = row[:4]
    shown = [None if text is None else visible_text(text[:length]), *about]
    whole, *digest = row[4:] or (0,)
    return [*shown, whole - length, *digest] if whole > length else shown
