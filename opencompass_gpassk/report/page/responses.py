"""A right and a wrong response to a problem, read from where the trials say they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opencompass_gpassk.answers.extract import extract_answer
from opencompass_gpassk.jsonlines import parse_row
from opencompass_gpassk.stored_files import SAMPLES, read_members, stored_lines
from opencompass_gpassk.text import one_line, visible_text
from opencompass_gpassk.trials import Trial, Verdict

__all__ = ['LONGEST', 'SHORTEST', 'Response', 'examples', 'fitting_length', 'read_responses']

LONGEST = 20_000  # characters of a response that the page holds
SHORTEST = 400
TAIL = 0.3  # of a shortened response, its end: that is where the answer is


@dataclass(frozen=True)
class Response:
    """A response, or as much of it as the page may hold: its beginning and its end.

    Attributes:
        text: No more than ``LONGEST`` characters, taken from both ends.
        length: Characters of the whole.
        location: Where the whole was read.
    """

    text: str
    length: int
    location: str

    @classmethod
    def of(cls, text: str, location: str) -> Response:
        """Return what is kept of a whole response."""
        kept = text if len(text) <= LONGEST else ''.join(_ends(text, LONGEST))
        return cls(kept, len(text), location)

    def shortened(self, length: int) -> dict[str, Any]:
        """Return beginning and end for the page, and how much is left out between them."""
        shown: dict[str, Any] = {'where': one_line(self.location)}
        if self.length <= length:
            return shown | {'head': visible_text(self.text)}
        head, tail = _ends(self.text, length)
        ends = {'head': visible_text(head), 'tail': visible_text(tail)}
        return shown | ends | {'out': self.length - length}


def examples(trials: Sequence[Trial]) -> dict[str, Trial]:
    """Return a right and a wrong trial of a problem, as far as there are any.

    The wrong one gives the most frequent wrong answer: the mistake that the model makes.
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
    """Return the responses of trials, by where these say they stand; those that can be found.

    A run's are read from its own files. Samples lie where ``gpassk score`` was told they do, seen
    from here or from the result; since other samples may have come to lie there, none of a file
    are taken unless all of them hold the answers that were scored.

    Args:
        trials: Their ``response`` is ``predictions/<model>/<file>.json#key`` as in runs of
            OpenCompass, or ``<file>.jsonl#line/index`` as ``gpassk score`` notes them.
        run: The run; what lies outside of it is not read. None for samples.
        beside: The folder of the result.
        faults: Is told of files that can't be read.
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
        except (OSError, ValueError, RuntimeError) as error:  # a loop of links is the last
            failed.append(f'{name}: its responses are not shown: {error}')
    if failed:
        more = f'; nor are those of {len(failed) - 1} other files' if len(failed) > 1 else ''
        faults.append(f'{failed[0]}{more}')
    return found


def _read(
    name: str, answers: Mapping[str, str | None], run: Path | None, beside: Path, read: set[Path]
) -> dict[str, Response]:
    """Return the responses in a file, and add that to those that were read."""
    path = _in_run(name, run) if run else _samples(name, beside)
    if path is None:
        raise ValueError('not found in the run' if run else 'not found')
    if path.resolve() in read:  # under thousands of names it would be read for hours
        raise ValueError('it has two names; name a file as it is called')
    read.add(path.resolve())
    samples = any('/' in key for key in answers)
    found = {}
    for key, text in (_of_samples if samples else _of_predictions)(path, answers):
        if run is None and not _gives(text, answers[key]):
            raise ValueError('they hold other answers than those scored')
        found[f'{name}#{key}'] = Response.of(text, f'{name if run else path}#{key}')
    return found


def fitting_length(lengths: Sequence[int], total: int) -> int:
    """Return the length to which texts are shortened so that together they hold no more than total.

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
    """Return beginning and end of a text, which hold together length characters of it."""
    tail = int(length * TAIL)
    return text[: length - tail], text[len(text) - tail :]


def _in_run(name: str, run: Path) -> Path | None:
    path = run / name
    inside = path.exists() and path.resolve().is_relative_to(run.resolve())
    return path if inside else None


def _samples(name: str, beside: Path) -> Path | None:
    """Return the file of that very name; another one of its last part may be another model's."""
    if Path(name).exists():
        return Path(name)
    return None if Path(name).is_absolute() else _in_run(name, beside)


def _gives(text: str, answer: str | None) -> bool:
    """Tell whether a response may have been judged to give this answer."""
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
