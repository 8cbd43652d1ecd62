"""``gpassk audit``: compare two sources of verdicts on a sample of trials."""

from __future__ import annotations

import argparse
import json
import math
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import (
    add_all_argument,
    add_command,
    check_outputs,
    note,
    write_lines,
)
from opencompass_gpassk.commands.verdicts import store_beside
from opencompass_gpassk.formats.decode import decode
from opencompass_gpassk.formats.display import counted, short_line
from opencompass_gpassk.formats.jsonlines import numbered_lines, parse_row, row_line
from opencompass_gpassk.formats.stored_files import written_whole
from opencompass_gpassk.judging.audit_sample import (
    AuditTrial,
    Comparison,
    Labelled,
    Sample,
    audit_trials,
    draw_sample,
    is_asked,
    judge_audit,
    labels_on_recorded,
    opinions,
)
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.brief import Command, next_lines
from opencompass_gpassk.report.tables.audit import (
    PlanRow,
    TheirsRow,
    audit_tables,
    blind_rows,
    disagreement_rows,
    plan_table,
    theirs_table,
)
from opencompass_gpassk.report.tables.benchmark import true_verdict_tables
from opencompass_gpassk.report.tables.table import to_text
from opencompass_gpassk.results.metric_values import MetricValues
from opencompass_gpassk.results.read import ModelResult, chosen, one_of_each, results_at
from opencompass_gpassk.results.result import JudgeError, Result
from opencompass_gpassk.results.true_verdicts import judge_error, most_sensitive, planned_ranges
from opencompass_gpassk.runs.config import require_inside
from opencompass_gpassk.trials import TrialTable, Verdict

DESCRIPTION = """\
Draw a stratified sample of a run's trials and compare the verdicts of two sources on them. It shows
agreement rate and Cohen's kappa with intervals, counts, and the disagreements. A source is

  recorded     the verdicts of the run's results
  theirs       the verdicts in another tool's log, which gpassk score kept beside ours
  rule         the rules' verdicts now
  judge        the judge in OC_JUDGE_MODEL and OC_JUDGE_API_BASE: it is shown the final answers
               (the end of a response without a recognised one), and only asked if the verdict
               store lacks its verdict
  judge:FILE   a judge with settings from a JSON file, as for judge= in configs
  store:MODEL  a judge's earlier verdicts, from the verdict store
  human        people's verdicts, from the verdict store
  FILE         people's labels: JSON lines with question, gold, answer, and human: correct or
               incorrect

To label by hand without seeing verdicts: run gpassk audit RUN --draw labels.jsonl, fill in "human"
in each line, then run gpassk audit RUN recorded labels.jsonl, with the same --trials and --seed.
That also shows how often right answers are called wrong, and wrong ones right. Each result of the
run then gets estimates of its metrics under true verdicts, with ranges. So do later results of the
same judge that use the same verdict store.
"""
LABELS = (50, 100, 200, 400, 800, 1600)  # of --plan


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'audit', told, DESCRIPTION, run)
    parser.add_argument(
        'run_folder',
        metavar='RUN',
        type=Path,
        help='a timestamp folder, a work dir (its newest run is used), or a file of gpassk score',
    )
    parser.add_argument(
        'sources', metavar='SOURCE', nargs='*', help='two sources (default: recorded rule)'
    )
    parser.add_argument(
        '-m', '--trials', type=int, default=300, help='trials of each model (default: 300)'
    )
    parser.add_argument('--seed', type=int, default=0, help='random seed of the sample')
    parser.add_argument('--model', nargs='+', default=[], help='abbrs of the models to audit')
    parser.add_argument('--dataset', nargs='+', default=[], help='abbrs of the data sets')
    parser.add_argument(
        '--store',
        type=Path,
        help='the verdict store, its file or a run (default: GPASSK_VERDICT_STORE, else '
        'verdicts.sqlite in the run, or beside the trials file)',
    )
    parser.add_argument(
        '-o',
        '--output',
        type=Path,
        metavar='OUT',
        help='write OUT.jsonl: the disagreements, to fill in "human" for gpassk verdicts import',
    )
    parser.add_argument(
        '--draw', type=Path, metavar='FILE', help='only write the sample, for labelling'
    )
    parser.add_argument(
        '--plan',
        action='store_true',
        help='only show how many labels make the uncertainty from wrong verdicts smaller than that '
        'from sampling',
    )
    add_all_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Draw a sample, then write it, or compare the sources and print the tables."""
    if args.plan:
        return _plan(args)
    inputs = [args.run_folder, args.store, *(one.removeprefix('judge:') for one in args.sources)]
    check_outputs([*_outputs(args), args.draw], inputs)
    names = _names(args)
    for path in filter(None, [args.draw, *_outputs(args)]):
        _spare_labels(path)
    results = _results(args)
    folder = results[0].run or (
        args.run_folder if args.run_folder.is_dir() else args.run_folder.parent
    )
    note(f'run: {folder}')
    by_model = _trials(results)
    samples = [
        draw_sample(model, trials, args.trials, args.seed) for model, trials in by_model.items()
    ]
    if args.draw:
        return _draw(args, samples)
    every = [one for trials in by_model.values() for one in trials]
    store = store_beside(args.store, folder, asked=any(map(is_asked, names)))
    return _compare(args, results, names, store, every, samples)


def _names(args: argparse.Namespace) -> tuple[str, str]:
    names = args.sources or ['recorded', 'rule']
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(
            f'sources are {" ".join(names)}; name two different ones, such as recorded judge'
        )
    return names[0], names[1]


def _draw(args: argparse.Namespace, samples: list[Sample]) -> int:
    rows = blind_rows(samples, args.seed)
    write_lines(map(row_line, rows), args.draw)
    drawn = sum(len(sample.trials) for sample in samples)
    note(f'{args.draw} written: {len(rows)} different answers of {drawn} trials to label')
    return 0


def _compare(
    args: argparse.Namespace,
    results: list[ModelResult],
    names: tuple[str, str],
    store: Path,
    every: list[AuditTrial],
    samples: list[Sample],
) -> int:
    drawn = [one for sample in samples for one in sample.trials]
    # A judge comes last, so that errors of the other source appear before anything is paid.
    said = {name: opinions(name, drawn, every, store, note) for name in sorted(names, key=is_asked)}
    found = [
        Comparison(
            sample,
            [said[names[0]][one.identity] for one in sample.trials],
            [said[names[1]][one.identity] for one in sample.trials],
        )
        for sample in samples
    ]
    labels = labels_on_recorded(found, names)
    tables = audit_tables(found, names, labels)
    if 'theirs' in names:
        under = [row for one in _values(results) for row in _under_theirs(*one)]
        tables += [theirs_table(under)] if under else []
    for table in tables:
        if args.all or table.main:
            print(to_text(table if args.all else table.in_brief()))
    rows = disagreement_rows(found)
    print(f'{counted(len(rows), "disagreement")} of {names[0]} and {names[1]}')
    for path in _outputs(args):
        write_lines(map(row_line, rows), path)
        note(f'{path} written')
    if labels:
        _keep(results, labels, store)
    if not args.all:
        print('\n'.join(next_lines(_next(args, len(rows), labelled=bool(labels)))))
    return 0


def _next(args: argparse.Namespace, disagreements: int, *, labelled: bool) -> Iterator[Command]:
    """Yield what may be done next."""
    if disagreements and not args.output:
        yield f'{args.line} -o disagreements', 'write the disagreements, to read and label'
    if not labelled:
        run = shlex.quote(str(args.run_folder))
        yield f'gpassk audit {run} --draw labels.jsonl', 'label a sample: how often is it wrong?'
    yield f'{args.line} --all', 'counts of each verdict, and why some are unjudged'


def _keep(results: list[ModelResult], labels: list[Labelled], store: Path) -> None:
    """Store what labels say of each judge, add it to the results of the run, and print that."""
    audits = {
        judge: judge_audit([row for row in labels if row[0].judge == judge])
        for judge in {trial.judge for trial, _, label in labels if label is not Verdict.UNJUDGED}
    }
    audits = {judge: audit for judge, audit in audits.items() if _has_labels(audit)}
    if not audits:
        note(
            'no labels: nothing was estimated. The labels tell nothing of a rule or a judge, since '
            "the verdicts that they are on are people's own, which count as true"
        )
        return
    with VerdictStore(store) as kept:
        for judge, audit in audits.items():
            kept.keep_audit(judge, audit)
    note(f'the audit is kept in {store}')
    estimated: dict[str, dict[str, Result]] = {}
    for found, values in _values(results):
        if given := audits.get(found.result.signature.judge):
            if found.run:
                require_inside(found.run, found.path)
            error = judge_error(values, given, _intervals(found.result))
            result = found.result.but(judge_error=decode(JudgeError, error))
            with written_whole(found.path) as part:
                part.write_text(json.dumps(result.as_json(), indent=1) + '\n', encoding='ascii')
            note(f'{found.path}: estimates under true verdicts added')
            estimated.setdefault(found.model, {})[found.dataset] = result
    for table in true_verdict_tables(Board(estimated)):
        print(f'\n{to_text(table)}')


def _under_theirs(found: ModelResult, values: MetricValues) -> list[TheirsRow]:
    """Return the metrics under the recorded verdicts and under those of another tool.

    Only problems count of which the tool judged each response; [] if there is none.
    """
    table = values.table
    left_out = {
        trial.problem_id for trial in table.trials if trial.other_verdict is None and not trial.lost
    }
    problems = [one for one in table.problems if one.problem_id not in left_out]
    trials = [one for one in table.trials if one.problem_id not in left_out]
    theirs = [replace(one, verdict=one.other_verdict or Verdict.UNJUDGED) for one in trials]
    if not problems:
        return []
    rows: list[TheirsRow] = []
    k = max(values.protocol.ks, default=1)
    for name, judged in (('recorded', trials), ('theirs', theirs)):
        under = MetricValues(TrialTable(problems, judged), values.protocol)
        metrics = under.means(under.parts[''])
        rows.append((found.model, found.dataset, len(problems), name, k, metrics))
    return rows


def _has_labels(audit: Mapping[str, Any]) -> bool:
    """Tell whether labels say anything of a judge's errors; print what they leave open."""
    rows = audit['outcomes'].values()
    right = sum(labels * share for _, labels, share in rows)
    wrong = sum(labels * (1 - share) for _, labels, share in rows)
    if not right and not wrong:
        return False
    for kind, labels, error in (('right', right, 'wrong'), ('wrong', wrong, 'right')):
        if not labels:
            note(
                f'no labelled answer is {kind}: how often {kind} answers are called {error} is '
                'unknown, and the estimates rest on a vague assumption about it; label more'
            )
    return True


def _plan(args: argparse.Namespace) -> int:
    """Print how many labels are enough for each result."""
    rows: list[PlanRow] = []
    for found, values in _values(_results(args)):
        if all(trial.answer is None and not trial.end for trial in values.table.trials):
            continue  # nothing can be labelled
        metric = most_sensitive(values.protocol)
        labelled = found.result.judge_error.labelled
        low, high = _intervals(found.result).get(metric.key, (math.nan, math.nan))
        ranges = planned_ranges(values, LABELS, labelled)
        halves = {number: (most - least) / 2 for number, (least, most) in ranges.items()}
        rows.append((found.model, found.dataset, metric.heading, (high - low) / 2, halves))
    if not rows:
        raise ValueError(f'{args.run_folder}: no result that judges answers lies beside its trials')
    print(to_text(plan_table(rows)))
    return 0


def _results(args: argparse.Namespace) -> list[ModelResult]:
    """Return the results to audit: one of each model on each benchmark."""
    there = results_at(args.run_folder, note, alone=True)
    return one_of_each(chosen(there, args.model, args.dataset), note)


def _trials(results: list[ModelResult]) -> dict[str, list[AuditTrial]]:
    """Return model → its trials on all its data sets; a bad file costs itself alone."""
    found: dict[str, list[AuditTrial]] = {}
    faults = []
    for one in results:
        try:
            trials = audit_trials(one.model, one.dataset, one.table(), one.result.signature.judge)
        except ValueError as error:
            faults.append(short_line(str(error)))
        else:
            found.setdefault(one.model, []).extend(trials)
    if not found:
        raise ValueError('\n'.join(faults))
    for fault in faults:
        note(fault)
    return found


def _values(results: list[ModelResult]) -> Iterator[tuple[ModelResult, MetricValues]]:
    """Yield each judged result, with its recorded values."""
    for one in results:
        if one.result.metrics and one.result.judged:
            try:
                values = MetricValues(one.table(), one.result.protocol)
            except ValueError as error:
                note(str(error))
            else:
                yield one, values


def _intervals(result: Result) -> dict[str, list[float]]:
    """Return the intervals of a result's metrics that are known."""
    return {key: ends for key, ends in result.intervals.items() if not math.isnan(sum(ends))}


def _outputs(args: argparse.Namespace) -> list[Path]:
    path = args.output
    return [path.with_name(f'{path.name}.jsonl')] if path else []


def _spare_labels(path: Path) -> None:
    """Refuse to overwrite a file that may contain a person's labels."""
    if not path.exists():
        return
    try:
        rows = [parse_row(line) for _, line in numbered_lines(path)]
        labelled = any(row.get('human', '?') not in ('', None) for row in rows)
    except ValueError:
        labelled = True
    if labelled:
        raise ValueError(f'{path} already exists and may hold labels; name another file')
