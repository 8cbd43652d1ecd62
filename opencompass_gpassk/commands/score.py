"""``gpassk score``: score responses that were made elsewhere."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opencompass_gpassk.results import Protocol
    from opencompass_gpassk.samples import SampledProblems
    from opencompass_gpassk.trials import TrialTable

__all__ = ['add_parser', 'run']

DESCRIPTION = """\
Score responses without OpenCompass's inference. SAMPLES is a file of JSON lines, gzipped or not,
or - for standard input, each line a problem:

  {"question": "1 + 1 = ?", "answer": "2", "samples": ["… \\\\boxed{2}", "…"]}

with an optional "id" and optional groups: "split", "language", "level", "subject", or "groups":
{…}. Or it is a work dir or timestamp folder of OpenCompass whose data sets were repeated by n:
every model and data set in it is scored again.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        'score',
        help='score responses that were made elsewhere',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('samples', metavar='SAMPLES', help='JSON lines, - or an OpenCompass run')
    parser.add_argument(
        '-k', type=int, nargs='+', help='k of G-Pass@k, behind SAMPLES (default: 4 8 16 up to n)'
    )
    parser.add_argument(
        '--tau', type=float, nargs='+', metavar='TAU', help='thresholds (default: 0 .25 .5 .75 1)'
    )
    parser.add_argument(
        '-o',
        '--output',
        type=Path,
        help='result JSON, the trials beside it; for a run of several data sets a folder of that '
        'name, in which each model has one',
    )
    parser.add_argument(
        '--skip-bad', action='store_true', help='leave malformed rows, or data sets, out'
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score, print the tables, write the result."""
    from opencompass_gpassk.report.tables import benchmark_tables, to_text

    if args.output and args.output.is_dir():
        raise ValueError(f'--output {args.output} is a folder; name the file to write')
    results: dict[str, dict[str, dict[str, Any]]] = {}
    for sampled, path in _sources(args):
        model = sampled.model or 'samples'
        _note(f'{model}, {sampled.name}: {len(sampled.responses)} responses')
        results.setdefault(model, {})[sampled.name] = _score(sampled, args, path)
    if not results:
        raise ValueError(
            f'{args.samples}: no data set in it was repeated; G-Pass@k needs several responses to '
            'each problem: set n and k in the data set'
        )
    for table in benchmark_tables(results):
        print(to_text(table))
    return 0


def _sources(args: argparse.Namespace) -> Iterator[tuple[SampledProblems, Path | None]]:
    """Yield what is to be scored, one after the other, each with where its result goes."""
    from opencompass_gpassk.recorded import read_data_set, recorded_data_sets
    from opencompass_gpassk.samples import read_samples

    if args.samples == '-' or not Path(args.samples).is_dir():
        sampled = read_samples(
            args.samples,
            skip_bad=args.skip_bad,
            report=lambda message: _note(f'left out: {message}'),
        )
        yield sampled, args.output
        return
    found = recorded_data_sets(Path(args.samples))
    _note(f'run: {found[0].run}')
    for recorded in found:
        try:
            sampled = read_data_set(recorded)
        except ValueError as error:
            if not args.skip_bad:
                raise ValueError(f'{error} (--skip-bad leaves such data sets out)') from error
            _note(f'left out: {error}')
            continue
        if sampled.n == 1:
            _note(f'left out: {recorded.model}, {recorded.name}: one response a problem')
            continue
        output = args.output
        if output and len(found) > 1:
            output = output.with_suffix('') / recorded.model / f'{recorded.name}.json'
        yield sampled, output


def _note(message: str) -> None:
    print(message, file=sys.stderr)


def _protocol(sampled: SampledProblems, args: argparse.Namespace) -> Protocol:
    from opencompass_gpassk.results import DEFAULT_TAUS, Protocol

    n = sampled.n
    ks = tuple(args.k) if args.k else tuple(k for k in (4, 8, 16) if k <= n) or (n,)
    try:
        return Protocol(n=n, k=ks, taus=tuple(args.tau) if args.tau else DEFAULT_TAUS)
    except ValueError as error:
        raise ValueError(f'{sampled.name}: {error}') from error


def _score(sampled: SampledProblems, args: argparse.Namespace, path: Path | None) -> dict[str, Any]:
    from opencompass_gpassk.judging.rules import judge_by_rule
    from opencompass_gpassk.scoring import make_result, make_table

    protocol = _protocol(sampled, args)
    golds = {problem.problem_id: problem.gold for problem in sampled.problems}
    present = [r for r in sampled.responses if not r.lost and r.identity]
    judgements = judge_by_rule(
        [golds[r.identity[0]] for r in present if r.identity],
        [r.text for r in present],
        progress=True,
    )
    table = make_table(
        sampled.problems, sampled.responses, judgements, source='rule', progress=True
    )
    data, prompt = sampled.versions
    result = make_result(
        table,
        protocol,
        sampled.responses,
        benchmark=sampled.name,
        data_version=data,
        judge='rule',
        prompt=prompt,
    )
    if sampled.uneven:
        result['warnings'].append(
            f'{sampled.uneven} of {len(sampled.problems)} problems have fewer than '
            f'{sampled.n} samples'
        )
    if path:
        _write(path, table, result)
    return result


def _write(path: Path, table: TrialTable, result: dict[str, Any]) -> None:
    from opencompass_gpassk.report.export import without_nan
    from opencompass_gpassk.scoring import store

    trials = path.with_name(f'{path.stem}.trials.jsonl.gz')
    store(trials, table, result)
    text = json.dumps(without_nan(result), indent=1, ensure_ascii=True, allow_nan=False)
    path.write_text(text + '\n', encoding='ascii')
    _note(f'{path} and {trials.name} written')
