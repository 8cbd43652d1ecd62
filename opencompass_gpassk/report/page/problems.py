"""The problems of a benchmark, and how each model answered them."""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.answers.extract import extract_answer
from opencompass_gpassk.formats.display import one_line, visible_text
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.formats.jsonlines import parse_row
from opencompass_gpassk.formats.stored_files import SAMPLES, read_members, stored_lines
from opencompass_gpassk.report.page.formulas import segments
from opencompass_gpassk.results.make_result import problem_rows
from opencompass_gpassk.results.read import ModelResult, without_texts
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

LONGEST = 20_000  # characters of a response on the page
SHORTEST = 400
MOST_MISSING = 1 << 20  # samples of one problem; a file may claim any number
TAIL = 0.3  # share of a shortened response taken from its end, where the answer is


@dataclass(frozen=True)
class Response:
    """A response, or the beginning and end of a long one.

    Attributes:
        text: At most ``LONGEST`` characters, taken from both ends.
        length: Characters of the whole response.
        location: Where the whole response was read.
    """

    text: str
    length: int
    location: str

    @classmethod
    def of(cls, text: str, location: str) -> Response:
        """Make one from a whole response, cutting it if it is too long."""
        kept = text if len(text) <= LONGEST else ''.join(_ends(text, LONGEST))
        return cls(kept, len(text), location)

    def shortened(self, length: int) -> dict[str, Any]:
        """Return beginning and end for the page, and the number of characters left out."""
        shown: dict[str, Any] = {'where': one_line(self.location)}
        if self.length <= length:
            return shown | {'head': visible_text(self.text)}
        head, tail = _ends(self.text, length)
        ends = {'head': visible_text(head), 'tail': visible_text(tail)}
        return shown | ends | {'out': self.length - length}


def examples(trials: Sequence[Trial]) -> dict[str, Trial]:
    """Return a right and a wrong trial of a problem, as far as they exist.

    The wrong one has the most frequent wrong answer.
    """
    chosen: dict[str, Trial] = {}
    wrong: dict[int, list[Trial]] = defaultdict(list)
    for trial in trials:
        if trial.verdict is Verdict.CORRECT:
            chosen.setdefault('right', trial)
        elif trial.verdict is Verdict.INCORRECT and not trial.lost:
            wrong[trial.answer_class].append(trial)
    if wrong:
        chosen['wrong'] = max(wrong.values(), key=len)[0]
    return chosen


def read_responses(
    trials: Iterable[Trial], run: Path | None, beside: Path, faults: list[str]
) -> dict[str, Response]:
    """Return location → response for the trials whose responses can be found.

    A run's responses are read from its own files. Samples are read from the path given to ``gpassk
    score``, relative to the current folder or to the result. The file may have changed since, so it
    is only used if all its responses still contain the scored answers.

    Args:
        trials: Their ``response`` is ``predictions/<model>/<file>.json#key`` as in runs of
            OpenCompass, or ``<file>.jsonl#line/index`` as ``gpassk score`` notes them.
        run: The run; files outside of it are not read. None for samples.
        beside: The folder of the result.
        faults: A message on each file that can't be read is appended.
    """
    wanted: dict[str, dict[str, str | None]] = defaultdict(dict)
    for trial in trials:
        name, mark, key = trial.response.rpartition('#')
        if mark and key:
            wanted[name][key] = trial.answer
    found: dict[str, Response] = {}
    failed: list[str] = []
    read: set[Path] = set()
    for name, answers in wanted.items():
        try:
            found |= _read(name, answers, run, beside, read)
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
            failed.append(f'{name}: its responses are not shown: {error}')
    if failed:
        more = f'; nor are those of {len(failed) - 1} other files' if len(failed) > 1 else ''
        faults.append(f'{failed[0]}{more}')
    return found


def _read(
    name: str, answers: Mapping[str, str | None], run: Path | None, beside: Path, read: set[Path]
) -> dict[str, Response]:
    """Return the responses in a file, and add the file to ``read``."""
    path = _in_run(name, run) if run else _samples(name, beside)
    if path is None:
        raise ValueError('not found in the run' if run else 'not found')
    if path.resolve() in read:  # a file with thousands of names would be read for hours
        raise ValueError('it has two names in the trials; give it only one')
    read.add(path.resolve())
    samples = any('/' in key for key in answers)
    found = {}
    for key, text in (_of_samples if samples else _of_predictions)(path, answers):
        if run is None and not _gives(text, answers[key]):
            raise ValueError('their answers are not those that were scored')
        found[f'{name}#{key}'] = Response.of(text, f'{name if run else path}#{key}')
    return found


def fitting_length(lengths: Sequence[int], total: int) -> int:
    """Return the length to which texts must be shortened to have at most ``total`` characters.

    It is no more than ``LONGEST``, and no less than ``SHORTEST`` whatever the total.
    """
    low, high = SHORTEST, LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(length, middle) for length in lengths) <= total:
            low = middle
        else:
            high = middle - 1
    return low


def _ends(text: str, length: int) -> tuple[str, str]:
    """Return beginning and end of a text, together of this length."""
    tail = int(length * TAIL)
    return text[: length - tail], text[len(text) - tail :]


def _in_run(name: str, run: Path) -> Path | None:
    path = run / name
    inside = path.exists() and path.resolve().is_relative_to(run.resolve())
    return path if inside else None


def _samples(name: str, beside: Path) -> Path | None:
    """Return the file with exactly this name; in other folders it may be another model's."""
    if Path(name).exists():
        return Path(name)
    return None if Path(name).is_absolute() else _in_run(name, beside)


def _gives(text: str, answer: str | None) -> bool:
    """Tell whether a response may contain the answer that was scored."""
    if answer is None or ''.join(answer.split()) in ''.join(text.split()):
        return True
    return extract_answer(text) == answer


def _of_predictions(path: Path, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    for key, record in read_members(path):
        text = record.get('prediction') if isinstance(record, dict) else None
        if key in keys and isinstance(text, str):
            yield key, text


def _of_samples(path: Path, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    wanted: dict[int, list[int]] = defaultdict(list)
    for key in keys:
        row, _, sample = key.partition('/')
        if row.isdecimal() and sample.isdecimal():
            wanted[int(row)].append(int(sample))
    for number, line in enumerate(stored_lines(path, SAMPLES), start=1):
        if number not in wanted:
            continue
        text = line.decode('utf-8', 'surrogateescape').removeprefix('\ufeff')
        samples: Any = parse_row(text).get('samples')
        for index in wanted[number] if isinstance(samples, list) else []:
            if index < len(samples) and isinstance(samples[index], str):
                yield f'{number}/{index}', samples[index]


LONGEST_QUESTION = 20_000
MOST_ANSWERS = 1000
NO_GROUPS = frozenset({'problem_id', 'version', 'cluster', 'gold', 'n', 'c', 'sound', 'answers'})

Key = tuple[str, str]


@dataclass
class Solved:
    """The responses of one entry of the leaderboard to a problem.

    Attributes:
        n: Judged responses.
        c: Right responses.
        missing: Responses without a verdict.
        answers: ``[answer, count, verdict, source]`` of each distinct answer. A long answer is cut,
            and its length and hash are added.
        greedy: The same for the greedy response; empty without one.
        responses: A right and a wrong response, as far as they exist and were found.
    """

    n: int
    c: int
    missing: int
    answers: list[list[Any]]
    greedy: list[list[Any]] = field(default_factory=list)
    responses: dict[str, Response] = field(default_factory=dict)


@dataclass
class PageProblem:
    """A problem, and the responses of each entry of the leaderboard to it.

    Attributes:
        problem: The problem, with its question if the trials file has it.
        solved: Index of the entry → its responses; entries without the problem are missing.
    """

    problem: Problem
    solved: dict[int, Solved] = field(default_factory=dict)


def collect_problems(
    entries: Sequence[tuple[ModelResult, ModelResult | None]],
    faults: list[str],
    contradictions: dict[Path, str],
    trials: dict[Path, TrialTable],
) -> list[PageProblem]:
    """Return the problems of all entries, in the order of their results.

    Problems of two results are the same if their ids, gold answers and (if known) questions are.

    Args:
        entries: Each entry's result, and its greedy result if that is shown beside samples.
        faults: A message on each file that can't be read is appended.
        contradictions: Of each result whose trials are read, in what both contradict each other.
        trials: Of each such result the trials, without their texts.
    """
    problems: dict[Key, list[PageProblem]] = defaultdict(list)  # the same but for the question
    for index, (found, greedy) in enumerate(entries):
        asked, chosen = _asked(found, faults, contradictions, trials)
        mine: dict[str, Solved] = {}
        for problem, row in asked:
            answers = _answers(row)
            missing = sum(count for _, count, verdict, *_ in answers if verdict == 'unjudged')
            solved = Solved(row['n'], row['c'], min(missing, MOST_MISSING), answers)
            _same_problem(problems, problem).solved[index] = solved
            mine[problem.problem_id] = solved
        for problem, row in _asked(greedy, faults, contradictions, trials)[0] if greedy else []:
            if beside := _same_problem(problems, problem).solved.get(index):
                beside.greedy = _answers(row)
        _read_examples(found, chosen, mine, faults)
    return [one for alike in problems.values() for one in alike if one.solved]


def _same_problem(problems: dict[Key, list[PageProblem]], problem: Problem) -> PageProblem:
    """Return the entry of a problem, a new one if it has none; a question is added if known."""
    alike = problems[problem.problem_id, problem.gold]
    question = ' '.join(problem.question.split())
    for one in alike:
        known = ' '.join(one.problem.question.split())
        if not known:
            one.problem = problem
        if question in ('', known) or not known:
            return one
    alike.append(PageProblem(problem))
    return alike[-1]


def packed_texts(
    problems: Sequence[PageProblem], entries: int, total: int
) -> tuple[list[str], int]:
    """Return question, answers and responses of each problem, compressed one by one.

    Args:
        problems: The problems.
        entries: Number of entries of the leaderboard.
        total: Greatest total length of responses and answers, in characters; the longest are
            shortened first.

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


def _asked(
    found: ModelResult,
    faults: list[str],
    contradictions: dict[Path, str],
    trials: dict[Path, TrialTable],
) -> tuple[list[tuple[Problem, Mapping[str, Any]]], dict[str, dict[str, Trial]]]:
    """Return a result's problems with their details, and a right and a wrong trial of each."""
    rows = found.result.get('details') or []
    try:
        table = found.table()
    except ValueError as error:
        faults.append(f'{error}; no question is shown')
        return [(_problem(row), row) for row in rows], {}
    contradictions[found.path] = found.contradiction(table)
    chosen = {
        problem.problem_id: {
            name: replace(trial) for name, trial in examples(of_problem).items() if trial.response
        }
        for problem, of_problem in zip(table.problems, table.by_problem(), strict=True)
    }
    known = {problem.problem_id: problem for problem in table.problems}
    rows = rows or problem_rows(table)
    trials[found.path] = without_texts(table)
    return [(known.get(str(row['problem_id'])) or _problem(row), row) for row in rows], chosen


def _read_examples(
    found: ModelResult,
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
    """Return a problem with the fields in a result's details."""
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
    """Return an answer for the page; a long one is cut, with the length left out and a hash."""
    text, *about = row[:4]
    shown = [None if text is None else visible_text(text[:length]), *about]
    whole, *digest = row[4:] or (0,)
    return [*shown, whole - length, *digest] if whole > length else shown
