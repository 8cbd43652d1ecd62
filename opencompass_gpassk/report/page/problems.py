"""The problems of a benchmark, and how each model answered them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from opencompass_gpassk.answers.reader import read_answer
from opencompass_gpassk.formats.display import one_line, short_line, visible_text
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.formats.stored_files import read_members
from opencompass_gpassk.report.suspects import Suspect, competing, suspect_golds
from opencompass_gpassk.results.read import ModelResult, without_texts
from opencompass_gpassk.results.result import ProblemRow
from opencompass_gpassk.samples.sample_files import LogReader
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

LONGEST = 20_000  # characters of a response on the page
SHORTEST = 400
MOST_MISSING = 1 << 20  # samples of one problem; a file may claim any number
MOST_REASONS = 3
MOST_OPENED = 16  # answers of a model to a problem that open a response
TAIL = 0.3  # share of a shortened response taken from its end, where the answer is


@dataclass
class Response:
    """A response, or the beginning and end of a long one.

    Attributes:
        text: At most ``LONGEST`` characters, taken from both ends.
        length: Characters of the whole response.
        location: Where the whole response was read.
        shown: How many characters the page shows.
    """

    text: str
    length: int
    location: str
    shown: int = LONGEST

    @classmethod
    def of(cls, text: str, location: str) -> Response:
        """Make one from a whole response, cutting it if it is too long."""
        kept = text if len(text) <= LONGEST else ''.join(_ends(text, LONGEST))
        return cls(kept, len(text), location)

    @property
    def parts(self) -> list[str]:
        """The text that is shown: the whole, or beginning and end."""
        if self.length <= self.shown:
            return [visible_text(self.text)]
        return [visible_text(part) for part in _ends(self.text, self.shown)]

    @property
    def left_out(self) -> int:
        """Characters between beginning and end that are not shown."""
        return max(0, self.length - self.shown)


def read_responses(
    trials: Iterable[Trial],
    run: Path | None,
    beside: Path,
    faults: list[str],
    elsewhere: Path | None = None,
    columns: Mapping[str, str] | None = None,
    *,
    whole: bool = False,
) -> dict[str, Response]:
    """Return location → response for the trials whose responses can be found.

    A run's responses are read from its own files. Samples are read from the path that the trials
    name, relative to the result. The file may have changed since, so it is only used if all its
    responses still contain the scored answers.

    Args:
        trials: Their ``response`` is ``predictions/<model>/<file>.json#key`` as in runs of
            OpenCompass, or ``<file>.jsonl#line/index`` as ``gpassk score`` notes them.
        run: The run; files outside of it are not read. None for samples.
        beside: The folder of the result.
        faults: A message on each file that can't be read is appended.
        elsewhere: A folder that is searched for files that are not there.
        columns: Field → its name in files of samples.
        whole: Whether to keep long responses whole.
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
            for place, text in _read(name, answers, run, beside, read, elsewhere, columns or {}):
                kept = Response(text, len(text), place) if whole else Response.of(text, place)
                found[place] = kept
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
            failed.append(f'{name}: its responses are not shown: {error}')
    if failed:
        more = f'; nor are those of {len(failed) - 1} other files' if len(failed) > 1 else ''
        faults.append(f'{failed[0]}{more}')
    return found


def _read(
    name: str,
    answers: Mapping[str, str | None],
    run: Path | None,
    beside: Path,
    read: set[Path],
    elsewhere: Path | None,
    columns: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Yield the responses in a file by their places, and add the file to ``read``."""
    path = _in_run(name, run) if run else _samples(name, beside)
    moved = path is None and elsewhere is not None
    if path is None:
        path = _moved(name, elsewhere) if elsewhere else None
    if path is None:
        raise ValueError('there is no such file; name the folder that has it with --responses')
    if path.resolve() in read:  # a file with thousands of names would be read for hours
        raise ValueError('it has two names in the trials; give it only one')
    read.add(path.resolve())
    samples = any('/' in key for key in answers)
    texts = _of_samples(path, answers, columns) if samples else _of_predictions(path, answers)
    for key, text in texts:
        if (run is None or moved) and not _gives(text, answers[key]):
            raise ValueError('their answers are not those that were scored')
        yield f'{name}#{key}', text


def _moved(name: str, folder: Path) -> Path | None:
    """Return the file in another folder, by as much of its path as there is."""
    parts = Path(name).parts
    tails = ('/'.join(parts[i:]) for i in range(len(parts)) if parts[i] not in ('/', '..'))
    return next((path for tail in tails if (path := _in_run(tail, folder))), None)


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
    return beside / name if (beside / name).is_file() else None


def _gives(text: str, answer: str | None) -> bool:
    """Tell whether a response may contain the answer that was scored."""
    if answer is None or ''.join(answer.split()) in ''.join(text.split()):
        return True
    return read_answer(text) == answer


def _of_predictions(path: Path, keys: Collection[str]) -> Iterator[tuple[str, str]]:
    for key, record in read_members(path):
        text = record.get('prediction') if isinstance(record, dict) else None
        if key in keys and isinstance(text, str):
            yield key, text


def _of_samples(
    path: Path, keys: Collection[str], columns: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for location, text in LogReader(str(path), columns=columns).texts():
        key = location.rpartition('#')[2]
        if key in keys:
            yield key, text


LONGEST_QUESTION = 20_000
LONGEST_NAME = 80
SIDES = ('correct', 'incorrect')

Key = tuple[str, str]


def named(text: str) -> str:
    """Return a name as the page shows it."""
    return short_line(text, LONGEST_NAME)


class Trials(NamedTuple):
    """The trials of a result, without their texts, and how they contradict it."""

    table: TrialTable
    contradiction: str


@dataclass
class Answer:
    """Equal answers of a model to a problem, with the same verdict by the same source.

    Attributes:
        text: The answer, or the beginning of a long one; None if there is none.
        left_out: Characters of a long answer that are left out.
        digest: The hash of a long answer, which tells it apart from others; else ''.
        count: How often it was given.
        verdict: The verdict.
        source: Who gave it.
        reasons: Why, as far as it is known.
        greedy: Whether it is that of the greedy response.
        place: Where one of the responses is stored; '' if that is unknown.
        response: This response, as far as it was found.
        tight: Whether the response is left out for lack of room.
    """

    text: str | None
    left_out: int
    digest: str
    count: int
    verdict: str
    source: str
    reasons: list[str] = field(default_factory=list)
    greedy: bool = False
    place: str = ''
    response: Response | None = None
    tight: bool = False


@dataclass
class Solved:
    """The responses of one entry of the leaderboard to a problem.

    Attributes:
        n: Judged responses.
        c: Right responses.
        missing: Responses without a verdict.
        answers: The distinct answers, the most frequent first; then that of the greedy response.
    """

    n: int
    c: int
    missing: int
    answers: list[Answer]

    @property
    def sampled(self) -> list[Answer]:
        """The distinct answers of the samples."""
        return [one for one in self.answers if not one.greedy]

    @property
    def beside(self) -> list[Answer]:
        """A right and a wrong answer whose responses stand beside each other."""
        found = [[a for a in self.answers if a.verdict == v and a.response] for v in SIDES]
        return [of[0] for of in found if of]


@dataclass
class PageProblem:
    """A problem, and the responses of each entry of the leaderboard to it.

    Attributes:
        problem: The problem, with its question if the trials file has it.
        solved: Index of the entry → its responses; entries without the problem are missing.
        suspect: What the entries agree on against the gold answer, None if they don't.
    """

    problem: Problem
    solved: dict[int, Solved] = field(default_factory=dict)
    suspect: Suspect[int] | None = None

    @cached_property
    def split(self) -> bool:
        """Whether any entry gives two answers, each about as often."""
        return any(competing(_counts(one)) for one in self.solved.values())

    @property
    def name(self) -> str:
        """The problem's id."""
        return named(self.problem.problem_id)

    @property
    def version(self) -> str:
        """Its version, '' if questions have none."""
        return named(self.problem.version)

    @property
    def groups(self) -> list[tuple[str, str]]:
        """Fields and values of its groups."""
        return [(named(name), named(value)) for name, value in self.problem.groups.items()]

    @property
    def question(self) -> str:
        """The question as it is shown, its end left out if it is very long."""
        return visible_text(self.problem.question[:LONGEST_QUESTION])

    @property
    def gold(self) -> str:
        """The gold answer as it is shown, its end left out if it is very long."""
        return visible_text(self.problem.gold[:LONGEST_QUESTION])


def mark_suspects(problems: Sequence[PageProblem]) -> None:
    """Note at each problem why its gold answer is suspect."""
    answers = [{i: _counts(of) for i, of in one.solved.items()} for one in problems]
    for place, suspect in suspect_golds(answers).items():
        problems[place].suspect = suspect


def _counts(solved: Solved) -> list[tuple[str | None, int, bool]]:
    return [(one.text, one.count, one.verdict == 'correct') for one in solved.sampled]


def collect_problems(
    entries: Sequence[tuple[ModelResult, ModelResult | None]],
    faults: list[str],
    read: dict[Path, Trials],
    elsewhere: Path | None = None,
    *,
    texts: bool = True,
) -> list[PageProblem]:
    """Return the problems of all entries, in the order of their results.

    Problems of two results are the same if their ids, gold answers and (if known) questions are.

    Args:
        entries: Each entry's result, and its greedy result if that is shown beside samples.
        faults: A message on each file that can't be read is appended.
        read: The trials of each result that has any are added, by the result's path.
        elsewhere: A folder that is searched for responses that are not where the trials say.
        texts: Whether to read responses.
    """
    problems: dict[Key, list[PageProblem]] = defaultdict(list)  # the same but for the question
    for index, (found, greedy) in enumerate(entries):
        for one in filter(None, (found, greedy)):
            asked, chosen = _asked(one, faults, read)
            for problem, n, c, answers in asked:
                same = _same_problem(problems, problem)
                if one is found:
                    missing = sum(of.count for of in answers if of.verdict == 'unjudged')
                    same.solved[index] = Solved(n, c, min(missing, MOST_MISSING), answers)
                elif beside := same.solved.get(index):
                    for of in answers[:1]:
                        of.greedy = True
                        beside.answers.append(of)
            trials = (trial for _, trial in chosen if texts)
            found_texts = read_responses(
                trials, one.run, one.path.parent, faults, elsewhere, one.result.columns
            )
            for place, trial in chosen:
                place.response = found_texts.get(trial.response)
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


def fit_responses(problems: Sequence[PageProblem], total: int) -> int:
    """Choose how much of each response the page shows.

    The longest are shortened first. If that is not enough, some are left out: first those of other
    answers, then wrong ones, then right ones, in each kind the longest.

    Args:
        problems: The problems.
        total: Greatest total length of the responses, in characters.

    Returns:
        The number of answers whose responses are left out.
    """
    every = [solved for problem in problems for solved in problem.solved.values()]
    found: list[tuple[int, int, Answer, Response]] = []
    for solved in every:
        seen: set[str] = set()
        for one in solved.answers:
            if one.response:
                kind = {'correct': 0, 'incorrect': 1}.get(one.verdict, 2)
                kind = 2 if one.verdict in seen else kind
                found.append((kind, len(one.response.text), one, one.response))
                seen.add(one.verdict)
    most = fitting_length([length for _, length, *_ in found], total)
    for _, length, answer, response in sorted(found, key=lambda one: one[:2]):
        response.shown = min(length, most)
        total -= response.shown
        if total < 0:
            answer.response, answer.tight = None, True
    return sum(one.tight for of in every for one in of.answers)


def _asked(
    found: ModelResult, faults: list[str], read: dict[Path, Trials]
) -> tuple[list[tuple[Problem, int, int, list[Answer]]], list[tuple[Answer, Trial]]]:
    """Return a result's problems with n, c and answers, and a trial of each answer.

    Without trials the problems are those of the result's details.
    """
    rows = found.result.details
    try:
        table = found.table()
    except ValueError as error:
        faults.append(f'{error}; no question is shown')
        return [(_problem(row), row.n, row.c, _answers(row)) for row in rows], []
    contradiction = found.contradiction(table)
    asked, chosen = [], []
    details = {row.problem_id: (row.n, row.c) for row in rows}
    n, c = table.counts()
    for place, (problem, of_problem) in enumerate(
        zip(table.problems, table.by_problem(), strict=True)
    ):
        answers = _distinct(of_problem)
        counts = details.get(problem.problem_id, (int(n[place]), int(c[place])))
        asked.append((problem, *counts, [answer for answer, _ in answers]))
        told = [(one, trial) for one, trial in _first_of_each(answers) if one.place]
        chosen += [(one, replace(trial)) for one, trial in told[:MOST_OPENED]]
        for one, _ in told[MOST_OPENED:]:
            one.tight = True
    read[found.path] = Trials(without_texts(table), contradiction)
    return asked, chosen


def _distinct(trials: Sequence[Trial]) -> list[tuple[Answer, Trial]]:
    """Return the distinct answers to a problem, the most frequent first, with a trial of each."""
    alike: dict[tuple[int, Verdict, str], list[Trial]] = {}
    for trial in trials:
        alike.setdefault((trial.answer_class, trial.verdict, trial.source), []).append(trial)
    found = []
    for (_, verdict, source), same in sorted(alike.items(), key=lambda one: -len(one[1])):
        reasons = list(dict.fromkeys(one_line(one.reason) for one in same if one.reason))
        first = next((one for one in same if one.response and not one.lost), same[0])
        made = _answer(first.answer, len(same), verdict.value, source)
        made.reasons = reasons[:MOST_REASONS]
        made.place = '' if first.lost else first.response
        found.append((made, first))
    return found


def _first_of_each(answers: Sequence[tuple[Answer, Trial]]) -> list[tuple[Answer, Trial]]:
    """Return the answers, those that are the first with their verdict before all others."""
    verdicts = [answer.verdict for answer, _ in answers]
    others = [verdict in verdicts[:place] for place, verdict in enumerate(verdicts)]
    return [answers[place] for place in sorted(range(len(answers)), key=others.__getitem__)]


def _problem(row: ProblemRow) -> Problem:
    return Problem(row.problem_id, '', row.gold, row.groups, row.cluster, row.version)


def _answers(row: ProblemRow) -> list[Answer]:
    return [_answer(one.answer, one.count, one.verdict, one.source) for one in row.answers]


def _answer(text: str | None, count: int, verdict: str, source: str) -> Answer:
    whole = text or ''
    out = max(0, len(whole) - SHORTEST)
    kept = None if text is None else visible_text(whole[:SHORTEST])
    digest = text_hash([whole]) if out else ''
    return Answer(kept, out, digest, count, one_line(verdict), one_line(source))
