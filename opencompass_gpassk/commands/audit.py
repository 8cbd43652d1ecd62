"""``gpassk audit``: how far can verdicts be trusted?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opencompass_gpassk.judging.audit import AuditTrial, Sample
    from opencompass_gpassk.judging.sources import Source

__all__ = ['add_parser', 'run']

DESCRIPTION = """\
Draw a stratified sample of a run's trials and compare what two sources say of them: agreement
rate and Cohen's kappa with intervals, counts, and the disagreements to read. A source is

  recorded     what was said when the run was scored
  rule         what the rules say now
  judge        what the judge says that OC_JUDGE_MODEL and OC_JUDGE_API_BASE name; it is asked
  store:MODEL  what a judge said before, from the run's verdict store or GPASSK_VERDICT_STORE
  FILE         a person's labels: JSON lines with question, gold, answer, and human: correct or
               incorrect

To label by hand, blind: gpassk audit RUN --draw labels.jsonl, fill in "human" in each line, then
gpassk audit RUN recorded labels.jsonl.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        'audit',
        help='how far do two sources of verdicts agree?',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        'run_folder',
        metavar='RUN',
        type=Path,
        help='a timestamp folder, the work dir, of which the newest run is meant, or a file '
        '*.trials.jsonl.gz',
    )
    parser.add_argument(
        'sources', metavar='SOURCE', nargs='*', help='two of them (default: recorded rule)'
    )
    parser.add_argument(
        '-m', '--trials', type=int, default=300, help='trials of each model (default: 300)'
    )
    parser.add_argument('--seed', type=int, default=0, help='another one draws other trials')
    parser.add_argument('--level', type=float, default=0.95, help='of intervals (default: 0.95)')
    parser.add_argument('--model', action='append', default=[], help='this one alone; repeatable')
    parser.add_argument('--dataset', action='append', default=[], help='the same')
    parser.add_argument(
        '-o',
        '--output',
        type=Path,
        metavar='OUT',
        help='write OUT.json (figures), OUT.md, and OUT.jsonl: the disagreements, to fill in '
        '"human" for gpassk verdicts import',
    )
    parser.add_argument(
        '--draw', type=Path, metavar='FILE', help='write the sample, to label it, and end'
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw, then write the sample, or compare and show."""
    from opencompass_gpassk.judging.audit import draw_sample, read_run
    from opencompass_gpassk.metrics.intervals import normal_quantile

    normal_quantile(args.level)  # a bad level is an error before anybody is asked
    names = _names(args)
    for path in filter(None, [args.draw, _beside(args.output, '.jsonl')]):
        _spare_labels(path)
    trials = read_run(args.run_folder, args.model, args.dataset)
    samples = [draw_sample(model, rows, args.trials, args.seed) for model, rows in trials.items()]
    if args.draw:
        return _draw(args, samples)
    return _compare(args, names, trials, samples)


def _names(args: argparse.Namespace) -> tuple[str, str]:
    names = args.sources or ['recorded', 'rule']
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(
            f'sources are {" ".join(names)}; name two different ones, such as recorded judge'
        )
    return names[0], names[1]


def _draw(args: argparse.Namespace, samples: list[Sample]) -> int:
    from opencompass_gpassk.report.audit import blind_rows

    rows = blind_rows(samples, args.seed)
    _write_lines(args.draw, rows)
    drawn = sum(len(sample.trials) for sample in samples)
    _note(f'{args.draw} written: {len(rows)} different answers of {drawn} trials to label')
    return 0


def _compare(
    args: argparse.Namespace,
    names: tuple[str, str],
    trials: Mapping[str, list[AuditTrial]],
    samples: list[Sample],
) -> int:
    from opencompass_gpassk.judging.comparison import compare
    from opencompass_gpassk.judging.sources import Labels
    from opencompass_gpassk.report.audit import (
        audit_tables,
        disagreement_rows,
        figures_json,
        markdown_audit,
    )
    from opencompass_gpassk.report.tables import to_text

    sources = [_source(name, args.run_folder) for name in names]
    found = [compare(sample, sources[0], sources[1], args.level) for sample in samples]
    for table in audit_tables(found, names):
        print(to_text(table))
    for name, source in zip(names, sources, strict=True):
        if isinstance(source, Labels):
            _tell_unused(name, source, trials, samples)
    if args.output:
        paths = [_beside(args.output, ending) for ending in ('.json', '.md', '.jsonl')]
        paths[0].parent.mkdir(parents=True, exist_ok=True)
        paths[0].write_text(figures_json(found, names, args.seed), encoding='ascii')
        paths[1].write_text(markdown_audit(found, names), encoding='utf-8')
        _write_lines(paths[2], disagreement_rows(found))
        _note(f'{", ".join(map(str, paths))} written')
    return 0


def _source(name: str, run_folder: Path) -> Source:
    from opencompass_gpassk.judging import sources

    if name in ('recorded', 'rule'):
        source: Source = getattr(sources, name)
        return source
    if Path(name).is_file() or name == '-':
        return sources.read_labels(name)
    raise ValueError(
        f'{name}: no such file of labels; a source of verdicts is recorded, rule, judge, '
        'store:MODEL or a file'
    )


def _tell_unused(
    name: str, labels: Any, trials: Mapping[str, list[AuditTrial]], samples: list[Sample]
) -> None:
    unused = labels.unused(trial for sample in samples for trial in sample.trials)
    unknown = labels.unused(trial for rows in trials.values() for trial in rows)
    if unused:
        _note(
            f'{name}: {unused} labels are about no trial of the sample, {unknown} of them about '
            'none of the run; use --trials and --seed of the draw, or a large --trials for all'
        )


def _beside(path: Path | None, ending: str) -> Any:
    return path and path.with_name(f'{path.name}{ending}')


def _spare_labels(path: Path) -> None:
    """Refuse to overwrite what a person may have labelled."""
    from opencompass_gpassk.jsonlines import parse_row, read_lines

    if not path.exists():
        return
    try:
        rows = [parse_row(line) for line in read_lines(str(path)) if line.strip()]
        labelled = any(row.get('human', '?') not in ('', None) for row in rows)
    except ValueError:
        labelled = True
    if labelled:
        raise ValueError(f'{path} is there already and may hold labels; name another file')


def _write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ''.join(json.dumps(row) + '\n' for row in rows)
    path.write_text(text, encoding='ascii', newline='\n')


def _note(message: str) -> None:
    print(message, file=sys.stderr)
