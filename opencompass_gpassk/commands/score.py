"""``gpassk score``: score responses from other programs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import (
    add_command,
    add_numbers,
    add_undecided_argument,
    check_output,
    note,
)
from opencompass_gpassk.commands.verdicts import find_store, require_beginnable
from opencompass_gpassk.formats.display import counted
from opencompass_gpassk.formats.jsonlines import row_line, without_nan
from opencompass_gpassk.formats.stored_files import written_whole
from opencompass_gpassk.judging.judge import Candidate
from opencompass_gpassk.judging.pipeline import judge_responses
from opencompass_gpassk.judging.settings import JudgeSettings, read_settings
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.tables.contents import report_tables
from opencompass_gpassk.report.tables.table import to_text
from opencompass_gpassk.results.make_result import make_result, make_table, store
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, Protocol
from opencompass_gpassk.samples.opencompass_runs import read_data_set, recorded_data_sets
from opencompass_gpassk.samples.sample_files import SampledProblems, read_samples
from opencompass_gpassk.trials import TrialTable

DESCRIPTION = """\
Score responses from other programs. SAMPLES is a file of JSON lines, gzipped or not, or - for
standard input. Each line is a problem:

  {"question": "1 + 1 = ?", "answer": "2", "samples": ["… \\\\boxed{2}", "…"]}

A line may also have an "id" and groups: "split", "language", "level", "subject", or "groups": {…}.
Rows of gpassk rv generate with added samples are scored as versions of a question.

SAMPLES may also be a work dir or timestamp folder of OpenCompass whose data sets were repeated n
times. Every model and data set in it is scored again; the judge is shown its prompts as questions.
For runs of this package's own evaluator use gpassk rescore, which keeps their questions, splits and
languages.

The environment variables OC_JUDGE_MODEL, OC_JUDGE_API_BASE and OC_JUDGE_API_KEY set a judge, or a
JSON file with the settings of judge= in configs. Its verdicts are stored, so that interrupted
judging continues where it stopped. With -o, the verdicts by rule are written to FILE.verdicts.jsonl
as they are reached, until the result is there.
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'score', told, DESCRIPTION, run)
    parser.add_argument('samples', metavar='SAMPLES', help='JSON lines, - or an OpenCompass run')
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
        default='rule',
        metavar='JUDGE',
        help='rule (default), llm (a model judges every answer), cascade (a model judges the '
        'answers that the rules do not decide by value), or a JSON file of settings',
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
        help='if fewer than this share of the responses that a run was to have are there, or were '
        'judged because the judge could not be reached, end with an error (default: 1)',
    )
    parser.add_argument(
        '--skip-bad', action='store_true', help='leave out malformed rows or data sets'
    )


def run(args: argparse.Namespace) -> int:
    """Score, print the tables, write the result."""
    check_output(args.output)
    if not 0 <= args.min_coverage <= 1:
        raise ValueError(f'--min-coverage is {args.min_coverage}; give a share from 0 to 1')
    settings = read_settings(args.judge, args.undecided)
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for sampled, path, folder in _sources(args):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)  # of a model, if there are several
        if (args.model or args.dataset) and sampled.model:
            raise ValueError('--model and --dataset are for files; a run has its own names')
        sampled = dataclasses.replace(sampled, name=args.dataset or sampled.name)
        model = sampled.model or args.model or 'samples'
        whose = f'{model}, ' if sampled.model else ''
        note(f'{whose}{sampled.name}: {counted(len(sampled.responses), "response")}')
        results.setdefault(model, {})[sampled.name] = _score(
            sampled, args, settings, path, _store(args, settings, folder)
        )
    if not results:
        raise ValueError(
            f'{args.samples}: all its data sets have one response per problem; G-Pass@k needs '
            'several: set n and k in the data set'
        )
    for table in report_tables(Board(results)):
        print(to_text(table))
    return 0


def _sources(args: argparse.Namespace) -> Iterator[tuple[SampledProblems, Path | None, Path]]:
    """Yield the samples to score, each with the path of its result and the store's folder."""
    if args.samples == '-' or not Path(args.samples).is_dir():
        sampled = read_samples(args.samples, skip_bad=args.skip_bad, report=note)
        yield sampled, args.output, args.output.parent if args.output else Path()
        return
    found = recorded_data_sets(Path(args.samples))
    note(f'run: {found[0].run}')
    for recorded in found:
        try:
            sampled = read_data_set(recorded, args.min_coverage)
        except ValueError as error:
            if not args.skip_bad:
                raise ValueError(f'{error} (--skip-bad leaves such data sets out)') from error
            note(f'left out: {error}')
            continue
        if sampled.n == 1:
            note(f'left out: {recorded.model}, {recorded.name}: one response per problem')
            continue
        output = args.output
        if output and len(found) > 1:
            output = output.with_suffix('') / recorded.model / f'{recorded.name}.json'
        yield sampled, output, recorded.run


def _protocol(sampled: SampledProblems, args: argparse.Namespace) -> Protocol:
    n = sampled.n
    given = tuple(args.k or (4, 8, 16))
    ks = tuple(k for k in given if k <= n) or (given if args.k else (n,))
    if args.k and (above := [k for k in given if k not in ks]):
        note(f'{sampled.name}: k = {", ".join(map(str, above))} is left out: n is only {n}')
    try:
        return Protocol(n=n, k=ks, taus=tuple(args.tau) if args.tau else DEFAULT_TAUS)
    except ValueError as error:
        raise ValueError(f'{sampled.name}: {error}') from error


def _store(args: argparse.Namespace, settings: JudgeSettings, folder: Path) -> Path:
    """Return the file of verdicts; people's verdicts in it also count without a judge."""
    default = VerdictStore.default_path(folder) or folder / VerdictStore.name
    path = find_store(args.store) if args.store else default
    if settings.mode != 'rule':
        require_beginnable(path)
    return path


def _score(
    sampled: SampledProblems,
    args: argparse.Namespace,
    settings: JudgeSettings,
    path: Path | None,
    store: Path,
) -> dict[str, Any]:
    protocol = _protocol(sampled, args)
    rows = path.with_name(f'{path.stem}.verdicts.jsonl') if path else Path(os.devnull)
    with rows.open('w', encoding='utf-8', buffering=1) as file:
        verdicts = judge_responses(
            sampled.problems,
            sampled.responses,
            settings,
            store,
            min_coverage=args.min_coverage,
            again='run the command again',
            report=note,
            decided=lambda case, judgement: file.write(_row(case, judgement)),
        )
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
    if sampled.uneven:
        result['warnings'].append(
            f'{sampled.uneven} of {len(sampled.problems)} problems have fewer than '
            f'{sampled.n} samples'
        )
    if sampled.gaps:
        result['warnings'].insert(0, sampled.gaps)
    if args.model:
        result['model'] = args.model
    if path:
        _write(path, table, result)
        rows.unlink()  # the trials hold its verdicts
    return result


def _row(case: Candidate, judgement: Judgement) -> str:
    """Return a verdict by rule as a line."""
    row = {'question': case.question, 'gold': case.gold, 'answer': case.answer}
    return row_line(row | {'verdict': judgement.verdict.value, 'reason': judgement.reason})


def _write(path: Path, table: TrialTable, result: dict[str, Any]) -> None:
    trials = path.with_name(f'{path.stem}.trials.jsonl.gz')
    store(trials, table, result)
    text = json.dumps(without_nan(result), indent=1, ensure_ascii=True, allow_nan=False)
    with written_whole(path) as part:
        part.write_text(text + '\n', encoding='ascii')
    note(f'{path} and {trials.name} written')
