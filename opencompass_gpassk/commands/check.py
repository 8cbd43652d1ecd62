"""``gpassk check``: compare predictions with gold answers by rule."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from typing import Any

from opencompass_gpassk.formats.jsonlines import at_line, input_name, numbered_lines, parse_row

__all__ = ['add_parser', 'run']

# A prediction without a marked answer: up to this length it is the answer, else its last sentence.
ANSWER_LENGTH = 200

DESCRIPTION = """\
Check predictions against gold answers by rule. FILE is JSON lines, gzipped or not, or - for
standard input. Each line is a pair with an optional label (true: they are the same):

  {"gold": "\\\\frac{1}{2}", "prediction": "The answer is 0.5", "label": true}

For each row a JSON line is printed with its "verdict": same, different or unknown. With labels, a
JSON line on standard error counts the verdicts: n, agree, false_positives (verdict same, label
false), false_negatives (verdict different, label true) and unknown.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        'check',
        help='compare predictions with gold answers by rule',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('file', metavar='FILE', help='JSON lines, or - for standard input')
    parser.add_argument('--workers', type=int, help='worker processes (default: one per CPU)')
    parser.add_argument(
        '--time-limit', type=float, default=5.0, help='seconds for a pair (default: 5)'
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print a verdict for each row."""
    from opencompass_gpassk.answers.extract import extract_answer, last_statement
    from opencompass_gpassk.answers.pool import check_pairs

    rows = _read(args.file)
    pairs = []
    for row in rows:
        answer = extract_answer(row['prediction'])
        if answer is None:
            whole = len(row['prediction']) <= ANSWER_LENGTH or row['prediction'] == row['gold']
            answer = row['prediction'] if whole else last_statement(row['prediction'])
        pairs.append((row['gold'], answer))
    results = check_pairs(
        pairs, workers=args.workers, time_limit=args.time_limit, progress=sys.stderr.isatty()
    )
    counts: Counter[str] = Counter()
    for number, (row, pair) in enumerate(zip(rows, pairs, strict=True), start=1):
        relation, reason = results[pair]
        line = {'row': number, 'verdict': relation.value, 'gold': pair[0], 'answer': pair[1]}
        if reason:
            line['reason'] = reason
        if 'label' in row:
            line['label'] = row['label']
            counts[_outcome(relation.value, row['label'])] += 1
        print(json.dumps(line))
    sys.stdout.flush()  # before the summary; a closed pipe must raise here
    if counts:
        names = ('agree', 'false_positives', 'false_negatives', 'unknown')
        summary = {'n': counts.total(), **{name: counts[name] for name in names}}
        print(json.dumps(summary), file=sys.stderr)
    return 0


def _outcome(verdict: str, label: bool) -> str:
    if verdict == 'unknown':
        return 'unknown'
    if (verdict == 'same') == label:
        return 'agree'
    return 'false_negatives' if label else 'false_positives'


def _read(path: str) -> list[dict[str, Any]]:
    rows = []
    for number, line in numbered_lines(path):
        with at_line(path, number):
            rows.append(_row(line.strip()))
    if not rows:
        raise ValueError(
            f'{input_name(path)}: it has no rows; see gpassk check --help for the format'
        )
    return rows


def _row(line: str) -> dict[str, Any]:
    row = parse_row(line)
    for field in ('gold', 'prediction'):
        if isinstance(row.get(field), bool) or not isinstance(row.get(field), (str, int, float)):
            raise ValueError(f'{_named(row, field)}; give {field} as a text in quotes')
    if 'label' in row and row['label'] not in (True, False):
        raise ValueError(f'{_named(row, "label")}; give true or false, or leave it out')
    kept = {field: str(row[field]) for field in ('gold', 'prediction')}
    return {**kept, 'label': bool(row['label'])} if 'label' in row else kept


def _named(row: dict[str, Any], field: str) -> str:
    if field not in row:
        return f'field {field} is missing'
    return f'field {field} is {json.dumps(row[field])[:60]}'
