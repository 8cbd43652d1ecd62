"""Responses from other programs: rows of problems with their samples, and logs of other tools.

A row is ``{"question": …, "answer": …, "samples": [response, …]}``, with an optional ``id`` and
optional groups (``split``, ``language``, ``level``, ``subject``, or a ``groups`` object); or it has
one ``sample``, and the rows of a problem have equal ids, or equal questions and answers. Of a list
of answers any is right. A sample is a text, a chat completion, or an object of ``text`` (or another
program's name for it), ``tokens``, ``prompt_tokens``, ``truncated`` or the server's
``finish_reason``, ``verdict``, ``key`` and ``id``. Rows of ``gpassk rv generate`` with added
``samples`` are versions of their ``group``.

The files of each tool are described in its module, which makes such rows of them.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from opencompass_gpassk.datasets.data_files import Row
from opencompass_gpassk.datasets.language import language_of
from opencompass_gpassk.datasets.rv_files import Asked, all_or_none, version_id, version_of
from opencompass_gpassk.formats.decode import decode
from opencompass_gpassk.formats.display import counted, short_line
from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.jsonlines import at_place, columns_option, fields_of, input_name
from opencompass_gpassk.formats.progress_bar import with_progress
from opencompass_gpassk.formats.tables import UnreadRow
from opencompass_gpassk.inference.backend import HELD_BACK, REFUSED, truncated_by
from opencompass_gpassk.responses import Identity, Response
from opencompass_gpassk.samples.evalscope import EVALSCOPE
from opencompass_gpassk.samples.gold_file import GoldFile
from opencompass_gpassk.samples.inspect_logs import INSPECT
from opencompass_gpassk.samples.lighteval import LIGHTEVAL
from opencompass_gpassk.samples.lm_eval import LM_EVAL
from opencompass_gpassk.samples.log_files import (
    Fields,
    Stated,
    Tool,
    UnscorableError,
    gold_answers,
    number_in,
    open_log,
    renamed,
    verdict,
)
from opencompass_gpassk.samples.openai_replies import OPENAI, reply_samples
from opencompass_gpassk.samples.renamed_rows import NEMO_SKILLS, PREDICTIONS
from opencompass_gpassk.samples.sampled_problems import SampledProblems, final_gold
from opencompass_gpassk.samples.vllm_outputs import VLLM
from opencompass_gpassk.trials import Problem, Verdict

ALL_TOOLS = (LM_EVAL, INSPECT, EVALSCOPE, LIGHTEVAL, NEMO_SKILLS, VLLM, OPENAI, PREDICTIONS)
TOOLS = {tool.name: tool for tool in ALL_TOOLS}
ROWS = 'rows'  # the name of our own format
GROUP_FIELDS = ('split', 'language', 'level', 'subject')
Tokens = Annotated[int, Field(ge=0, lt=2**53)] | None
# Of a sample; in a CSV file all is text.
FLAGS: dict[str, Any] = {'tokens': Tokens, 'prompt_tokens': Tokens, 'truncated': bool | None}
# The names of a sample's text; all but the first are other programs'.
TEXT = ('text', 'content', 'response', 'generation', 'completion', 'output', 'prediction')
OF_SAMPLE = (*FLAGS, 'finish_reason', 'verdict', 'key')
COLUMNS = (
    *('question', 'answer', 'samples', 'sample', 'id', 'cluster'),
    *(*GROUP_FIELDS, *OF_SAMPLE),
)
MOST_ABSENT = 200_000  # samples that a log may say are missing
ABSENT = 'not in the log'
NO_PATH = re.compile(r'[^\w.@+=-]+')
# Files that somebody may take for samples: the fields that tell, what it is, what to do.
LOOKS_LIKE = (
    (('kind', 'schema'), 'the trials of a result; read them with gpassk report'),
    (('metrics', 'signature'), 'a result of gpassk; read it with gpassk report'),
    (('results', 'configs'), 'lm-eval’s summary; run it with --log_samples, name samples_*.jsonl'),
    (('model_output', 'index'), 'a prediction file of EvalScope; name its folder reviews/<model>'),
    (('report_version', 'score'), 'a report of EvalScope; name its folder reviews/<model>'),
)


class LogReader:
    """A log, recognised and not yet read.

    Args:
        path: A file, or ``-`` for standard input.
        form: The name of its tool, or ``rows``; '' to tell by its content.
        columns: Field → its name in the file, for rows.
        golds: A second file with the gold answers; None if the log holds them.

    Raises:
        ValueError: If it can't be read, or is no log that is known.
    """

    def __init__(
        self,
        path: str,
        form: str = '',
        columns: Mapping[str, str] | None = None,
        golds: GoldFile | None = None,
    ) -> None:
        self.path = path
        self.columns = dict(columns or {})
        self.golds = golds
        self.log = open_log(path)
        self.tool = TOOLS.get(form) if form else self._recognised()
        with at_place(input_name(path)):
            self.stated = self.tool.stated(self.log) if self.tool else Stated()
        self.model, self.name = map(_tame, (self.stated.model, self.stated.name))

    def _recognised(self) -> Tool | None:
        head = self.log.head
        if {'samples', 'sample', *self.columns.values()} & head.keys() and 'eval' not in head:
            return None
        for fields, told in LOOKS_LIKE:
            if set(fields) <= head.keys():
                raise ValueError(f'{self.path}: it looks like {told}')
        layouts = ((tool, layout) for tool in ALL_TOOLS for layout in tool.layouts)
        return next((tool for tool, layout in layouts if layout <= head.keys()), None)

    def read(
        self, *, skip_bad: bool = False, report: Callable[[str], None] | None = None
    ) -> SampledProblems:
        """Return its problems with their samples.

        Args:
            skip_bad: Leave malformed rows out and go on.
            report: Takes a message on each row left out.

        Raises:
            ValueError: If a row is malformed, with file, line, field and remedy; or there is none.
        """
        found = _Collected(input_name(self.path), self.tool)

        def left_out(message: str) -> None:
            found.told['malformed, left out by --skip-bad'] += 1
            if report:
                report(message)

        shown = with_progress(self.log.rows, None, 'reading', 'row', shown=report is not None)
        for entry in shown:
            with at_place(entry.place, skip_bad=skip_bad, report=left_out):
                row = self._row(entry.read())
                if isinstance(row, str):
                    found.told[row] += 1
                else:
                    found.add(entry, row)
        own = self.tool.name if self.tool else Path(self.path).name.split('.')[0].strip('-')
        return found.sampled(self.name or own or 'samples', self.model, self.stated)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield place and text of each response in the rows that can be read, without a gold."""
        for entry in self.log.rows:
            with at_place(entry.place, skip_bad=True):
                row = self._row(entry.read())
                if isinstance(row, dict):
                    found = _samples(row, f'{input_name(self.path)}#{entry.number}')
                    yield from ((one.location, one.text) for one in found if not one.lost)

    def _row(self, fields: Fields) -> Fields | str:
        row: Fields | str = fields | renamed(fields, self.columns)
        if self.tool:
            row = self.tool.row(self.log, fields)
        if self.tool and isinstance(row, dict):
            row['theirs'] = f'{self.tool.name}: {row.get("theirs")}'
        return self.golds.of(fields, row) if self.golds and isinstance(row, dict) else row


class _Collected:
    """Problems and responses as the rows of a file add them.

    Args:
        file: The file's name.
        tool: The tool that made it; None if it holds rows.
    """

    def __init__(self, file: str, tool: Tool | None) -> None:
        self.file = file
        self.tool = tool
        self.problems: dict[str, Problem] = {}
        self.responses: dict[Identity, Response] = {}
        self.told = Counter[str]()  # what was passed over, or is to be known of rows
        self._prompts: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._by_text: dict[tuple[str, str], Problem] = {}
        self._next = Counter[str]()  # problem → the next number of a sample
        self._asked: Asked = {}
        self._named = True

    def add(self, entry: UnreadRow, row: Fields) -> None:
        """Add a row; raise a ValueError that names its field if it is malformed."""
        problem = _problem(row, entry.number, self._asked)
        found = _samples(row, f'{self.file}#{entry.number}')
        text = problem.question, problem.gold
        several = 'sample' in row or (self.tool is not None and self.tool.several)
        if several and row.get('id') is None and not problem.version:
            problem = self._by_text.setdefault(text, problem)
        own = problem.problem_id
        known = self.problems.setdefault(own, problem)
        if known is not problem and (not several or (known.question, known.gold) != text):
            raise ValueError(
                f'field id: {own!r} is already used in {self._places[own]}; give every problem '
                'its own'
            )
        self._places.setdefault(own, entry.place.rpartition(', ')[2])
        self._named &= row.get('id') is not None or bool(problem.version)
        of_tool = row if self.tool else {}
        if of_tool.get('prompt'):
            self._prompts.setdefault(own, stable_hash(row['prompt'])[:8])
        if of_tool.get('note'):
            self.told[row['note']] += 1
        for response in found:
            at = number_in(of_tool, 'epoch') - 1
            if at < 0 or (own, at) in self.responses:
                at = self._next[own]
            self._next[own] = max(self._next[own], at + 1)
            # A lost sample that was planned may be made up by another log: it has no place.
            place = '' if 'epoch' in of_tool and response.lost else response.location
            self.responses[own, at] = replace(response, identity=(own, at), location=place)

    def sampled(self, name: str, model: str, stated: Stated) -> SampledProblems:
        """Return what was added; of planned samples, those that are not there are lost.

        Raises:
            ValueError: If nothing was added.
        """
        all_or_none(list(self.problems.values()), self.file)
        if not self.problems:
            raise ValueError(
                f'{self.file}: there is no usable row; see gpassk score --help for the format'
            )
        n, problems = max(stated.samples, *self._next.values()), len(self.problems)
        absent = stated.samples * problems + n * max(0, stated.problems - problems)
        if absent > MOST_ABSENT:
            raise ValueError(
                f'{self.file}: it says that {absent} more samples were planned than it holds; '
                f'more than {MOST_ABSENT} are not believed'
            )
        for identity in itertools.product(self.problems, range(stated.samples)):
            self.responses.setdefault(identity, Response('', '', identity, lost=ABSENT))
        told = [f'{counted(count, "row")} {what}' for what, count in self.told.items()]
        return SampledProblems(
            name,
            list(self.problems.values()),
            list(self.responses.values()),
            model,
            named=self._named,
            path=self.file,
            stated=replace(stated, warnings=[*stated.warnings, *told]),
            prompt_hashes=self._prompts,
        )


def read_samples(
    path: str,
    *,
    skip_bad: bool = False,
    report: Callable[[str], None] | None = None,
    form: str = '',
    columns: Mapping[str, str] | None = None,
    golds: GoldFile | None = None,
) -> SampledProblems:
    """Read problems with their samples from a file; see :class:`LogReader`."""
    return LogReader(path, form, columns, golds).read(skip_bad=skip_bad, report=report)


def find_logs(folder: Path, form: str = '') -> list[str]:
    """Return the files of a folder that are named like a tool's logs.

    Raises:
        ValueError: If there are none.
    """
    tools = [TOOLS[form]] if form in TOOLS else list(TOOLS.values())
    patterns = [pattern for tool in tools for pattern in tool.files]
    found = {
        path
        for path in folder.rglob('*')
        if any(path.absolute().match(pattern) for pattern in patterns) and path.is_file()
    }
    if not found:
        names = ', '.join(f'{", ".join(tool.files)} ({tool.name})' for tool in tools)
        raise ValueError(
            f'{folder}: it is no run of OpenCompass, and has no files named like a log: {names}; '
            'name the files themselves'
        )
    return sorted(map(str, found))


def _tame(name: str) -> str:
    """Return a name from a log as one that can stand in a path."""
    parts = [NO_PATH.sub('-', part)[:80] for part in name.split('/')[:4]]
    return '/'.join(part for part in parts if part.strip('.'))


def _other_names(row: Fields) -> str:
    needed = ['answer'] if 'sample' in row else ['answer', 'samples']
    option = columns_option(row, needed, ['question'])
    hint = option and f'; if some have other names, add {option}'
    return 'the log holds none' if 'theirs' in row else f'{fields_of(row)}{hint}'


def _problem(row: Fields, number: int, asked: Asked) -> Problem:
    if row.get('answer') is None:
        raise UnscorableError(
            f'field answer: the gold answer is missing; {_other_names(row)}. If a second file '
            'has it, add --gold FILE --on FIELD=FIELD'
        )
    groups = {name: str(row[name]) for name in GROUP_FIELDS if row.get(name) not in (None, '')}
    given = row.get('groups') or {}
    if not isinstance(given, dict):
        raise ValueError('field groups: an object such as {"split": "AMC"} is needed')
    given_id = row.get('id')
    if not isinstance(given_id, str | int | None):
        raise ValueError(f'field id: {given_id!r} is neither a text nor an integer')
    question, language = str(row.get('question') or ''), str(row.get('language') or '')
    known = language or language_of(question)
    cluster, version = version_of(Row('this row', row), known, asked)
    if version and row.get('source'):
        groups.setdefault('split', str(row['source']))
    own_id = version_id(cluster, version, known) if version else str(number)
    return Problem(
        problem_id=own_id if given_id is None else str(given_id),
        question=question,
        gold=final_gold(gold_answers(row, 'answer')),
        groups=groups | {str(key): str(value) for key, value in given.items()},
        cluster=cluster or str(row.get('cluster') or ''),
        version=version,
        language=known if version else language,
    )


def _samples(row: Fields, place: str) -> list[Response]:
    if 'sample' in row and 'samples' in row:
        raise ValueError('fields sample and samples: a row has one of them; leave the other out')
    if 'sample' in row:
        beside = {name: row[name] for name in OF_SAMPLE if name in row}
        given = row['sample']
        samples: Any = [given if isinstance(given, dict) else {**beside, 'text': given}]
    else:
        samples = row.get('samples')
    if not isinstance(samples, list) or not samples:
        raise ValueError(
            f'field samples: a list of at least one response is needed; {_other_names(row)}'
        )
    theirs = short_line(str(row.get('theirs') or f'{ROWS}: verdict'), 80)
    return [
        _sample(sample, f'samples[{index}]', f'{place}/{index}', theirs)
        for index, sample in enumerate(samples)
    ]


def _sample(given: Any, field: str, location: str, theirs: str) -> Response:
    sample = given if isinstance(given, dict) else {'text': given}
    if isinstance(sample.get('choices'), list) and len(sample['choices']) == 1:
        sample = sample | reply_samples(sample)[0]
    named = [name for name in TEXT if name in sample]
    if not named:
        raise ValueError(f'field {field}: it has no text; {fields_of(sample)}; rename one to text')
    text = next((sample[name] for name in named if sample[name] is not None), None)
    if not isinstance(text, str | None):
        raise ValueError(f'field {field}: {type(text).__name__} is not a text (null is lost)')
    told = {name: value for name, value in sample.items() if value != ''}  # as in a CSV file
    known = {name: decode(kind, told.get(name), f'{field}.{name}') for name, kind in FLAGS.items()}
    key, reason = sample.get('key'), sample.get('finish_reason')
    own = key if sample.get('id') is None else sample['id']
    why = short_line(str(sample.get('lost') or 'the sample is null'), 200)
    lost = '' if isinstance(text, str) else why
    if reason == REFUSED:
        text, lost = '', HELD_BACK
    said = verdict(sample.get('verdict'))
    return Response(
        text=text or '',
        location=location,
        lost=lost,
        truncated=truncated_by(reason) if known['truncated'] is None else known['truncated'],
        num_tokens=known['tokens'],
        prompt_tokens=known['prompt_tokens'],
        other_verdict=None if said is None else Verdict.CORRECT if said else Verdict.INCORRECT,
        other_source='' if said is None else theirs,
        key=str(key) if isinstance(key, str | int) else '',
        own_id=short_line(str(own), 200) if isinstance(own, str | int) else '',
    )
