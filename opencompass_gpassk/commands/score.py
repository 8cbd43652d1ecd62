"""``gpassk score``: score responses from other programs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import (
    add_all_argument,
    add_command,
    add_numbers,
    add_undecided_argument,
    check_outputs,
    note,
)
from opencompass_gpassk.commands.verdicts import store_beside
from opencompass_gpassk.formats.display import counted
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.formats.stored_files import TRIALS_ENDING, written_whole
from opencompass_gpassk.judging.pipeline import Verdicts, judge_responses
from opencompass_gpassk.judging.settings import JudgeSettings, read_settings
from opencompass_gpassk.judging.verdict_store import VerdictStore, stored_audit
from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.brief import brief, next_commands
from opencompass_gpassk.report.tables.contents import report_tables
from opencompass_gpassk.report.tables.table import to_text
from opencompass_gpassk.results.make_result import make_result, make_table, remake_result, store
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, Protocol
from opencompass_gpassk.results.read import results_at
from opencompass_gpassk.results.result import Result, Results
from opencompass_gpassk.samples.gold_file import GoldFile
from opencompass_gpassk.samples.log_files import UnscorableError
from opencompass_gpassk.samples.opencompass_runs import read_data_set, recorded_data_sets
from opencompass_gpassk.samples.sample_files import (
    COLUMNS,
    ROWS,
    TOOLS,
    LogReader,
    find_logs,
    read_samples,
)
from opencompass_gpassk.samples.sampled_problems import SampledProblems, joined
from opencompass_gpassk.trials import PEOPLE, TrialTable, Verdict

DESCRIPTION = """\
Score responses from other programs. SAMPLES are files of rows, logs of other tools, or runs of
OpenCompass; what they are is told by their content. Several of one model and data set are joined:
equal keys are one sample, and problems are the same if their ids are, or else their texts. Logs
that say that they were drawn in different ways are not joined.

A row is a problem, or a sample with "sample" in place of "samples". Rows are JSON lines (gzipped or
not, - for standard input), JSON, CSV or Parquet; --columns tells other names of their fields:

  {"question": "1 + 1 = ?", "answer": "2", "samples": ["… \\\\boxed{2}", "…"]}

A row may also have an "id" and groups: "split", "language", "level", "subject", or "groups": {…}. A
sample may be an object: "text", "tokens", "prompt_tokens", "truncated" or the server's
"finish_reason", "verdict", "key", "id"; or a chat completion. Of a list of answers any is right.
Rows of gpassk rv generate with added samples are scored as versions of a question.

Outputs of vLLM and replies of servers hold no gold answers: --gold exam.jsonl --on prompt=prompt
takes them from a second file.

A log is a file of another tool, or a folder of them. The verdicts in it are kept beside ours:
gpassk audit RESULT theirs rule compares them, and --judge theirs uses them.

The trials of a result (RESULT.trials.jsonl.gz) give its metrics for another -k or --tau. Its other
settings stay, and no answer is read or judged again, since trials hold no responses.

A run is a work dir or timestamp folder of OpenCompass whose data sets were repeated n times. Every
model and data set in it is scored again; the judge is shown its prompts as questions. For runs of
this package's own evaluator use gpassk rescore, which keeps their questions, splits and languages.

The environment variables OC_JUDGE_MODEL, OC_JUDGE_API_BASE and OC_JUDGE_API_KEY set a judge, or a
JSON file with the settings of judge= in configs. Its verdicts are stored, so that interrupted
judging continues where it stopped.
"""

RUN = 'opencompass'  # the format of a run
THEIRS = 'theirs'  # the verdicts in logs, as a judge
MUCH = 0.05  # of the verdicts in a log, by which ours differ from them
BEGIN = (b'{\n', b'\x1f\x8b')  # of a result and its trials


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'score', told, DESCRIPTION, run)
    parser.add_argument(
        'samples',
        metavar='SAMPLES',
        nargs='+',
        help='files, logs, folders of logs, runs of OpenCompass, or - for standard input; several '
        'of one model and data set are joined',
    )
    parser.add_argument(
        '--format',
        default='',
        choices=(ROWS, *TOOLS, RUN),
        help='what SAMPLES are (default: told by their content)',
    )
    parser.add_argument(
        '--columns',
        nargs='+',
        default=[],
        metavar='FIELD=COLUMN',
        help='names of columns in files of rows, such as answer=gold_answer samples=responses',
    )
    add_numbers(
        parser,
        '-k',
        int,
        'k of G-Pass@k, after SAMPLES; those above n are left out (default: 4 8 16)',
    )
    add_numbers(parser, '--tau', float, 'thresholds (default: 0 .25 .5 .75 1)')
    parser.add_argument(
        '-o',
        '--output',
        type=Path,
        help='write the result JSON here, with the trials beside it; for a run with several data '
        'sets, a folder of that name with a folder for each model',
    )
    parser.add_argument(
        '--model', metavar='NAME', help="the model's name, for tables and gpassk report"
    )
    parser.add_argument(
        '--dataset',
        metavar='NAME',
        help="the data set's name; use the same for all models (default: the file's name)",
    )
    parser.add_argument(
        '--judge',
        metavar='JUDGE',
        help='rule (default), llm (a model judges every answer), cascade (a model judges the '
        'answers that the rules do not decide by value), theirs (the verdicts in the logs), or a '
        'JSON file of settings',
    )
    add_undecided_argument(parser)
    parser.add_argument(
        '--store',
        type=Path,
        help="file for the judge's verdicts (default: GPASSK_VERDICT_STORE, else verdicts.sqlite "
        'in the run, beside the output, or in the current folder)',
    )
    parser.add_argument(
        '--min-coverage',
        type=float,
        default=1.0,
        metavar='SHARE',
        help='end with an error if responses of a run are missing, or the judge cannot be reached, '
        'and less than this share of all responses is there, or is judged (default: 1)',
    )
    parser.add_argument(
        '--skip-bad', action='store_true', help='leave out malformed rows or data sets'
    )
    parser.add_argument(
        '--gold',
        metavar='FILE',
        help='a second file with the gold answers, in the fields answer, question and id or those '
        'of --columns; for outputs of vLLM, replies of servers, or rows without them',
    )
    parser.add_argument(
        '--on',
        metavar='FIELD=FIELD',
        help='the field of SAMPLES and that of --gold by which their rows belong together, such as '
        'prompt=prompt or custom_id=id',
    )
    parser.add_argument(
        '--join-anyway',
        action='store_true',
        help='join logs although they say that they were drawn in different ways; the result names '
        'the differences',
    )
    add_all_argument(parser)


@dataclass(frozen=True)
class Source:
    """Samples of one model on one data set, recognised and not yet read.

    Attributes:
        path: The file or the run.
        model: The model, '' if unknown.
        name: The data set, '' if the file doesn't say: such files are joined.
        read: Reads them; of a run, if a share of the planned responses is there.
        run: The run of OpenCompass; None if it is a file.
        found: Whether it was found in a folder, and not named itself.
    """

    path: str
    model: str
    name: str
    read: Callable[..., SampledProblems]
    run: Path | None = None
    found: bool = False


def run(args: argparse.Namespace) -> int:
    """Score, print the tables, write the result."""
    if args.output and args.output.is_symlink():
        args.output = args.output.resolve()  # a link that the user named stays
    inputs = [*args.samples, args.judge, args.store, args.gold]
    check_outputs(_files(args.output), inputs, made=True, begin=BEGIN)
    if not 0 <= args.min_coverage <= 1:
        raise ValueError(f'--min-coverage is {args.min_coverage}; give a share from 0 to 1')
    if any(path.endswith(TRIALS_ENDING) for path in args.samples):
        return _show(_remade(args), args)
    for path in args.samples:
        if path.endswith('.json') and _files(Path(path))[1].is_file():
            trials = shlex.quote(str(_files(Path(path))[1]))
            raise ValueError(
                f'{path} is a result of gpassk score. For another k or τ of it: '
                f'gpassk score {trials} -k 16'
            )
    judge = 'rule' if args.judge in (None, THEIRS) else args.judge
    settings = read_settings(judge, args.undecided)
    if bool(args.gold) != bool(args.on) or '=' not in (args.on or '='):
        raise ValueError('--gold FILE and --on FIELD=FIELD go together, such as --on prompt=prompt')
    golds = GoldFile(args.gold, args.on, _columns(args.columns)) if args.gold else None
    groups = _groups(args, golds)
    inputs += [one.path for sources in groups.values() for one in sources]
    results: dict[str, dict[str, Result]] = {}
    for (known, named), sources in groups.items():
        if (sampled := _read(sources, args)) is None:
            continue
        sampled = dataclasses.replace(sampled, name=named or sampled.name)
        model = known or 'model'
        path = _place(args.output, model, sampled.name, alone=len(groups) == 1)
        check_outputs(_files(path), inputs, made=True, begin=BEGIN)
        whose = f'{model}, ' if known else ''
        note(f'{whose}{sampled.name}: {counted(len(sampled.responses), "response")}')
        folder = sources[0].run or (args.output.parent if args.output else Path())
        kept = store_beside(args.store, folder, asked=settings.mode != 'rule')
        results.setdefault(model, {})[sampled.name] = _score(
            sampled, args, settings, path, kept, known
        )
    if not results:
        raise ValueError(
            f'{", ".join(args.samples)}: all data sets have one response per problem or were left '
            'out; G-Pass@k needs several: set n and k in the data set'
        )
    return _show(results, args)


def _show(results: Results, args: argparse.Namespace) -> int:
    tables = report_tables(Board(results))
    if args.all:
        print('\n'.join(map(to_text, tables)))
        return 0
    path = args.output
    if path and not path.is_file():  # several results lie in a folder
        path = path.with_suffix('')
    kept = shlex.quote(str(path)) if path else ''
    trials = any(path.endswith(TRIALS_ENDING) for path in args.samples)  # without responses
    judge = '' if trials else f'{args.line} --judge cascade'
    commands = next_commands(results, judge=judge, models=kept, plan=kept)
    if not kept:
        commands.append((f'{args.line} -o result.json', 'keep it, for gpassk compare and report'))
    print(brief(tables, commands))
    print(f'All k, thresholds and groups: {args.line} --all')
    return 0


def _remade(args: argparse.Namespace) -> dict[str, dict[str, Result]]:
    """Return results for another k or τ, from their trials, and write them."""
    of_texts = ('judge', 'undecided', 'columns', 'format', 'store', 'skip_bad', 'gold')
    if given := [name for name in of_texts if getattr(args, name)]:
        raise ValueError(
            f'--{given[0].replace("_", "-")} needs responses, and trials hold none; name the '
            'samples, or use gpassk rescore RUN'
        )
    results: dict[str, dict[str, Result]] = {}
    found = [one for path in args.samples for one in results_at(Path(path), note)]
    for one in found:
        table, model, name = one.table(), args.model or one.model, args.dataset or one.dataset
        if why := one.contradiction(table):
            raise ValueError(f'{one.path}: {why}; score its responses again')
        if name in results.setdefault(model, {}):
            raise ValueError(f'{one.path}: a second result of {model} on {name}; name one of them')
        protocol = dataclasses.replace(
            one.result.protocol,
            k=tuple(args.k or one.result.k),
            taus=tuple(args.tau or one.result.taus),
        )
        store = VerdictStore.default_path(one.run or one.path.parent)
        audit = stored_audit(store, str(one.result.signature.judge))
        result = results[model][name] = remake_result(one.result, table, protocol, audit)
        note(
            f'{one.name}: made from its trials, so no answer is read or judged again; what is told '
            f'of texts (copies, empty responses) is that of {one.path}'
        )
        if path := _place(args.output, model, name, alone=len(found) == 1):
            for trial in table.trials:
                base = one.run or one.path.parent
                trial.response = _moved(trial.response, base, path.parent)
            check_outputs(_files(path), args.samples, made=True, begin=BEGIN)
            _write(path, table, result)
    return results


def _groups(
    args: argparse.Namespace, golds: GoldFile | None
) -> dict[tuple[str, str], list[Source]]:
    """Return what was named by model and data set; several sources of one are joined."""
    groups: dict[tuple[str, str], list[Source]] = {}
    for path in dict.fromkeys(args.samples):
        for source in _sources(path, args, golds):
            of_group = groups.setdefault(
                (args.model or source.model, args.dataset or source.name), []
            )
            if any(one.path == path and one.run for one in of_group):
                raise ValueError(
                    f'{path}: --model and --dataset would join several models or data sets of a '
                    'run; a run has its own names'
                )
            if any((one.run is None) != (source.run is None) for one in of_group):
                raise ValueError(
                    f'{of_group[0].path} and {path} are not joined: a run holds prompts where '
                    'files hold questions; score them one by one'
                )
            of_group.append(source)
    for (model, _), sources in groups.items():
        if len(sources) > 1 and not model:
            raise ValueError(
                f'{sources[0].path} and {sources[1].path} do not say which model they are of. Give '
                '--model NAME if they are of one and its samples belong together; else score them '
                'one by one, each with its --model'
            )
    return groups


def _sources(path: str, args: argparse.Namespace, golds: GoldFile | None) -> Iterator[Source]:
    """Yield the samples in a run of OpenCompass, a file, or a folder of logs."""
    folder = Path(path)
    held = [*folder.glob('predictions'), *folder.glob('*/predictions')]
    # EvalScope's folders have such a name too, beside reviews.
    is_run = any(not one.with_name('reviews').is_dir() for one in held)
    if args.format == RUN or (not args.format and is_run):
        found = recorded_data_sets(folder)
        note(f'run: {found[0].run}')
        for one in found:
            yield Source(path, one.model, one.name, partial(read_data_set, one), one.run)
        return
    columns = _columns(args.columns)
    for file in find_logs(folder, args.format) if folder.is_dir() else [path]:
        with _left_out(args, None):
            log = LogReader(file, args.format, columns, golds)
            model, name = log.model, log.name
            # Opened again later: a folder may have more logs than memory or open files hold.
            read = partial(read_samples, file, form=args.format, columns=columns, golds=golds)
            if not Path(file).is_file():  # a pipe is opened once
                read = partial(log.read)
            del log
            read = partial(read, skip_bad=args.skip_bad, report=note)
            yield Source(file, model, name, read, found=folder.is_dir())


def _columns(pairs: Sequence[str]) -> dict[str, str]:
    """Return field → column in the file."""
    columns = dict(pair.partition('=')[::2] for pair in pairs)
    for field, column in columns.items():
        if field not in COLUMNS or not column:
            raise ValueError(
                f'--columns {field}: give FIELD=COLUMN, such as answer=gold_answer; fields are '
                f'{", ".join(COLUMNS)}'
            )
    return columns


def _read(sources: list[Source], args: argparse.Namespace) -> SampledProblems | None:
    """Read and join the samples of one model on one data set; None if they are left out."""
    several = len(sources) > 1
    parts = []
    for source in sources:
        with _left_out(args, source.run, found=source.found):
            # What one of several runs lacks, another may have.
            least = 0.0 if several else args.min_coverage
            part = source.read(least) if source.run else source.read()
            if several and part.gaps:
                note(f'{source.path}, {part.name}: {part.gaps}')
            parts.append(_located(part, source.run) if source.run else part)
    if not parts:
        return None
    if several:
        more = f' and {len(sources) - 3} more' if len(sources) > 3 else ''
        note(f'joined: {", ".join(source.path for source in sources[:3])}{more}')
    with _left_out(args, sources[0].run):
        sampled = joined(parts, note, anyway=args.join_anyway)
        if (
            several
            and sampled.recorded
            and sampled.missing > (1 - args.min_coverage) * len(sampled.responses)
        ):
            raise ValueError(
                f'{sampled.name}: {sampled.gaps}; run the inference of one of the runs to its end '
                'with opencompass CONFIG -r, or lower --min-coverage to accept the gap'
            )
        if not sampled.recorded or sampled.n > 1:
            return sampled
        note(f'left out: {sampled.model}, {sampled.name}: one response per problem')
    return None


@contextmanager
def _left_out(args: argparse.Namespace, run: Path | None, *, found: bool = False) -> Iterator[None]:
    """With ``--skip-bad``, tell of a ValueError and go on.

    In a folder the logs that hold nothing to score, such as those without gold answers, are left
    out anyway.
    """
    try:
        yield
    except ValueError as error:
        unscorable = found and isinstance(error.__cause__, UnscorableError)
        if not args.skip_bad and not unscorable:
            hint = ' (--skip-bad leaves such data sets out)' if run else ''
            raise ValueError(f'{error}{hint}') from error
        note(f'left out: {error}')


def _located(sampled: SampledProblems, run: Path) -> SampledProblems:
    """Return them with the run in the places of their responses."""
    responses = [
        dataclasses.replace(one, location=f'{run}/{one.location}') if one.location else one
        for one in sampled.responses
    ]
    return dataclasses.replace(sampled, responses=responses)


def _moved(location: str, base: Path, folder: Path) -> str:
    """Return the place of a response, relative to a base, as one relative to a folder."""
    file, mark, key = location.rpartition('#')
    return f'{_near(file, base.absolute(), folder.absolute())}{mark}{key}'


@cache
def _near(file: str, base: Path, folder: Path) -> str:
    # What is no file, such as standard input, keeps its name.
    return os.path.relpath(base / file, folder) if file and (base / file).exists() else file


def _protocol(sampled: SampledProblems, args: argparse.Namespace) -> Protocol:
    n = sampled.n
    ks = tuple(k for k in args.k or (4, 8, 16) if k <= n) or (n,)
    if above := [k for k in args.k or () if k > n]:
        note(f'{sampled.name}: k = {", ".join(map(str, above))} is left out: n is only {n}')
    try:
        return Protocol(n=n, k=ks, taus=tuple(args.tau) if args.tau else DEFAULT_TAUS)
    except ValueError as error:
        raise ValueError(f'{sampled.name}: {error}') from error


def _score(
    sampled: SampledProblems,
    args: argparse.Namespace,
    settings: JudgeSettings,
    path: Path | None,
    store: Path,
    model: str,
) -> Result:
    protocol = _protocol(sampled, args)
    if path:
        responses = [
            dataclasses.replace(one, location=_moved(one.location, Path(), path.parent))
            for one in sampled.responses
        ]
        sampled = dataclasses.replace(sampled, responses=responses)
    verdicts = judge_responses(
        sampled.problems,
        sampled.responses,
        settings,
        store,
        min_coverage=args.min_coverage,
        again='run the command again',
        report=note,
    )
    if args.judge == THEIRS:
        verdicts = _theirs(verdicts, sampled)
    table = make_table(sampled.problems, sampled.responses, verdicts.judgements, progress=True)
    data, prompt = sampled.versions
    result = make_result(
        table,
        protocol,
        sampled.responses,
        benchmark=sampled.name,
        data_version=data,
        judge=verdicts.signature,
        judging=verdicts.description,
        audit=verdicts.audit,
        prompt=prompt,
        notes=verdicts.notes,
    )
    told = [trial for trial in table.trials if trial.other_verdict]
    differ = sum(one.verdict not in (one.other_verdict, Verdict.UNJUDGED) for one in told)
    others = (
        f'{differ} of {len(told)} verdicts differ from those in the log; to see them: '
        'gpassk audit RESULT theirs rule, to use theirs: --judge theirs'
    )
    uneven = (
        f'{sampled.uneven} of {len(sampled.problems)} problems have fewer than {sampled.n} samples'
    )
    result = result.but(
        warnings=[
            *([sampled.gaps] if sampled.gaps else []),
            *sampled.stated.warnings,
            *([others] if differ > MUCH * len(told) else []),
            *result.warnings,
            *([uneven] if sampled.uneven else []),
        ]
    )
    if args.model or (model and not sampled.recorded):
        result = result.but(model=model)
    if args.columns and not sampled.recorded:
        result = result.but(columns=_columns(args.columns))
    if path:
        _write(path, table, result)
    return result


def _theirs(ruled: Verdicts, sampled: SampledProblems) -> Verdicts:
    """Return the verdicts in the logs, with the answers that the rules read; people's stay."""
    present = [response for response in sampled.responses if not response.lost]
    judgements = [
        said
        if said.source == PEOPLE
        else dataclasses.replace(
            said,
            verdict=response.other_verdict or Verdict.UNJUDGED,
            reason=response.other_source or 'no verdict in the log',
            source=THEIRS,
        )
        for response, said in zip(present, ruled.judgements, strict=True)
    ]
    sources = Counter(response.other_source for response in present if response.other_source)
    if not sources:
        raise ValueError(f'{sampled.name}: --judge theirs: there is no verdict in the logs')
    unjudged = sum(one.verdict is Verdict.UNJUDGED for one in judgements)
    described = {
        'mode': THEIRS,
        'reasons': dict(sources),
        'unjudged': {'no verdict in the log': unjudged} if unjudged else {},
    }
    signature = f'{THEIRS}:{", ".join(sorted(sources))}'
    return Verdicts(judgements, signature, described, ruled.notes)


def _place(output: Path | None, model: str, name: str, *, alone: bool) -> Path | None:
    """Return where a result is written: several go into a folder for each model."""
    return output if alone or not output else output.with_suffix('') / model / f'{name}.json'


def _files(path: Path | None) -> list[Path]:
    """Return a result and its trials."""
    return [path, path.parent / f'{path.stem}{TRIALS_ENDING}'] if path else []


def _write(path: Path, table: TrialTable, result: Result) -> None:
    _, trials = _files(path)
    stored = store(trials, table, result).as_json()
    text = json.dumps(without_nan(stored), indent=1, ensure_ascii=True, allow_nan=False)
    with written_whole(path) as part:
        part.write_text(text + '\n', encoding='ascii')
    note(f'{path} and {trials.name} written')
