"""Responses from other programs: rows of problems with their samples, and logs of other tools.

A row is ``{"question": …, "answer": …, "samples": [response, …]}``, with an optional ``id`` and
optional groups (``split``, ``language``, ``level``, ``subject``, or a ``groups`` object); or it has
one ``sample``, and the rows of a problem have equal ids, or equal questions and answers. A sample
is a text, or an object of ``text`` (or another program's name for it), ``tokens``,
``prompt_tokens``, ``truncated`` or the server's ``finish_reason``, ``verdict`` and ``key``. Rows of
``gpassk rv generate`` with added ``samples`` are versions of their ``group``.

The files of each tool are described in its module, which makes such rows of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from opencompass_gpassk.datasets.data_files import Row
from opencompass_gpassk.datasets.language import language_of
from opencompass_gpassk.datasets.rv_files import Asked, all_or_none, version_id, version_of
from opencompass_gpassk.formats.decode import decode
from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.jsonlines import at_place, columns_option, fields_of, input_name
from opencompass_gpassk.formats.progress_bar import with_progress
from opencompass_gpassk.inference.backend import HELD_BACK, REFUSED, truncated_by
from opencompass_gpassk.responses import Response
from opencompass_gpassk.samples.evalscope import EVALSCOPE
from opencompass_gpassk.samples.inspect_logs import INSPECT
from opencompass_gpassk.samples.lighteval import LIGHTEVAL
from opencompass_gpassk.samples.lm_eval import LM_EVAL
from opencompass_gpassk.samples.log_files import Fields, Tool, gold_answer, open_log, verdict
from opencompass_gpassk.samples.sampled_problems import SampledProblems, final_gold
from opencompass_gpassk.trials import Problem, Verdict

TOOLS = {tool.name: tool for tool in (LM_EVAL, INSPECT, EVALSCOPE, LIGHTEVAL)}
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
NO_PATH = re.compile(r'[^\w.@+=-]+')
# Files that somebody may take for samples: the fields that tell, what it is, what to do.
LOOKS_LIKE = (
    (('origin_prompt', 'prediction'), 'a prediction file of OpenCompass; name its run’s folder'),
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

    Raises:
        ValueError: If it can't be read, or is no log that is known.
    """

    def __init__(self, path: str, form: str = '', columns: Mapping[str, str] | None = None) -> None:
        self.path = path
        self.columns = dict(columns or {})
        self.log = open_log(path)
        self.tool = TOOLS.get(form) if form else self._recognised()
        with at_place(input_name(path)):
            named = self.tool.named(self.log) if self.tool else ('', '')
        self.model, self.name = map(_tame, named)

    def _recognised(self) -> Tool | None:
        head = self.log.head
        if {'samples', 'sample', *self.columns.values()} & head.keys() and 'eval' not in head:
            return None
        for tool in TOOLS.values():
            if tool.fields <= head.keys() or (tool.older and tool.older <= head.keys()):
                return tool
        for fields, told in LOOKS_LIKE:
            if set(fields) <= head.keys():
                raise ValueError(f'{self.path}: it looks like {told}')
        return None

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
        file = input_name(self.path)
        problems: dict[str, Problem] = {}
        responses: list[Response] = []
        counts = Counter[str]()
        places: dict[str, str] = {}
        by_text: dict[tuple[str, str], str] = {}
        asked: Asked = {}
        named = True
        shown = with_progress(self.log.rows, None, 'reading', 'row', shown=report is not None)
        for entry in shown:
            with at_place(entry.place, skip_bad=skip_bad, report=report):
                row = self._row(entry.number, entry.read())
                if row is None:
                    continue
                problem = _problem(row, entry.number, asked)
                text = problem.question, problem.gold
                one = 'sample' in row
                if one and row.get('id') is None and not problem.version:
                    known_id = by_text.setdefault(text, problem.problem_id)
                    problem = replace(problem, problem_id=known_id)
                own = problem.problem_id
                found = _samples(row, f'{file}#{entry.number}')
                known = problems.setdefault(own, problem)
                if known is not problem and (not one or (known.question, known.gold) != text):
                    raise ValueError(
                        f'field id: {own!r} is already used in {places[own]}; give every problem '
                        'its own'
                    )
                places.setdefault(own, entry.place.rpartition(', ')[2])
                named &= row.get('id') is not None or bool(problem.version)
                for response in found:
                    responses.append(replace(response, identity=(own, counts[own])))
                    counts[own] += 1
        all_or_none(list(problems.values()), file)
        if not problems:
            raise ValueError(
                f'{file}: there is no usable row; see gpassk score --help for the format'
            )
        own = 'samples' if self.path == '-' else Path(self.path).name.split('.')[0]
        stem = self.name or (self.tool.name if self.tool else own)
        return SampledProblems(stem, list(problems.values()), responses, self.model, named=named)

    def _row(self, number: int, fields: Fields) -> Fields | None:
        if self.tool:
            row = self.tool.row(self.log, number, fields)
            return row and row | {'theirs': f'{self.tool.name}: {row.get("theirs")}'}
        return fields | {
            field: fields[column] for field, column in self.columns.items() if column in fields
        }


def read_samples(
    path: str,
    *,
    skip_bad: bool = False,
    report: Callable[[str], None] | None = None,
    form: str = '',
    columns: Mapping[str, str] | None = None,
) -> SampledProblems:
    """Read problems with their samples from a file; see :class:`LogReader`."""
    return LogReader(path, form, columns).read(skip_bad=skip_bad, report=report)


def find_logs(folder: Path, form: str = '') -> list[str]:
    """Return the files of a folder that are named like a tool's logs.

    Raises:
        ValueError: If there are none.
    """
    tools = [TOOLS[form]] if form in TOOLS else list(TOOLS.values())
    patterns = [pattern for tool in tools for pattern in tool.files.split(', ')]
    found = {
        path
        for path in folder.rglob('*')
        if any(path.absolute().match(pattern) for pattern in patterns) and path.is_file()
    }
    if not found:
        names = ', '.join(f'{tool.files} ({tool.name})' for tool in tools)
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
    needed = ['answer', *(['samples'] if 'sample' not in row else [])]
    option = columns_option(row, needed, ['question'])
    return fields_of(row) + (f'; if some have other names, add {option}' if option else '')


def _problem(row: Fields, number: int, asked: Asked) -> Problem:
    if row.get('answer') is None:
        raise ValueError(f'field answer: the gold answer is missing; {_other_names(row)}')
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
        gold=final_gold(gold_answer(row, 'answer')),
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
    named = [name for name in TEXT if name in sample]
    if not named:
        raise ValueError(f'field {field}: it has no text; {fields_of(sample)}; rename one to text')
    text = next((sample[name] for name in named if sample[name] is not None), None)
    if not isinstance(text, str | None):
        raise ValueError(f'field {field}: {type(text).__name__} is not a text (null is lost)')
    told = {name: value for name, value in sample.items() if value != ''}  # as in a CSV file
    known = {name: decode(kind, told.get(name), f'{field}.{name}') for name, kind in FLAGS.items()}
    key, reason = sample.get('key'), sample.get('finish_reason')
    lost = '' if isinstance(text, str) else 'the sample is null'
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
    )
