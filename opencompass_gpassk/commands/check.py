"""``gpassk check``: compare predictions with gold answers by rule."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import NoneType
from typing import Any

from opencompass_gpassk.answers.reader import read_answer
from opencompass_gpassk.answers.worker_pool import Pair, check_in_order
from opencompass_gpassk.commands import add_command
from opencompass_gpassk.datasets.data_files import text_of
from opencompass_gpassk.formats.jsonlines import at_line, input_name, numbered_lines, parse_row
from opencompass_gpassk.formats.progress_bar import with_progress
from opencompass_gpassk.judging.rules import without_answer
from opencompass_gpassk.judging.settings import MATCHES, environment_match
from opencompass_gpassk.trials import OPEN

DESCRIPTION = """\
Check predictions against gold answers by rule. FILE is JSON lines, gzipped or not, or - for
standard input. Each line is a pair with an optional question, which some rules need, and an
optional label (true: they are the same):

  {"gold": "\\\\frac{1}{2}", "prediction": "The answer is 0.5", "label": true}

For each row a JSON line is printed with its "verdict": same, different or unknown. With labels, a
JSON line on standard error counts the verdicts: n, agree, false_positives (verdict same, label
false), false_negatives (verdict different, label true) and unknown.
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'check', told, DESCRIPTION, run)
    parser.add_argument('file', metavar='FILE', help='JSON lines, or - for standard input')
    parser.add_argument(
        '--match',
        choices=MATCHES,
        help='value: the values must be equal; exact: the texts, except for spaces that LaTeX '
        'ignores (default: GPASSK_MATCH, else value)',
    )
    parser.add_argument(
        '--explain',
        action='store_true',
        help='show the reason of each verdict, not only of unknown, and count them',
    )
    parser.add_argument('--workers', type=int, help='worker processes (default: one per CPU)')


def run(args: argparse.Namespace) -> int:
    """Print a verdict for each row as soon as it is known."""
    # A file is read first as a whole: a bad row is an error before the work.
    total = sum(1 for _ in _rows(args.file)) if Path(args.file).is_file() else None
    begun: deque[dict[str, Any]] = deque()

    def pairs() -> Iterator[Pair]:
        for row in _rows(args.file):
            prediction, question = row.pop('prediction'), row.get('question')
            answer = read_answer(prediction, question or '')
            if prediction == row['gold']:
                answer = prediction
            begun.append(row | {'answer': answer or '', 'response': prediction})
            yield row['gold'], answer or '', question

    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    match = args.match or environment_match()
    results = check_in_order(pairs(), match=match, workers=args.workers)
    # In one terminal the rows themselves are the progress.
    shown = not (sys.stdout.isatty() and sys.stderr.isatty())
    with closing(results):
        checked = with_progress(results, total, 'checking', 'row', shown=shown)
        for number, result in enumerate(checked, start=1):
            row, verdict, reason = begun.popleft(), result.relation.value, result.reason
            if not row['answer']:
                found = without_answer(row['gold'], row['response'])
                verdict, reason = 'unknown' if found.source in OPEN else 'different', found.reason
            line = {'row': number, 'verdict': verdict, 'gold': row['gold'], 'answer': row['answer']}
            if args.explain or verdict == 'unknown':
                line['reason'] = reason
            if 'label' in row:
                line['label'] = row['label']
                outcomes[_outcome(verdict, row['label'])] += 1
            reasons[f'{verdict}: {reason}'] += 1
            print(json.dumps(line), flush=True)
    if not reasons:
        raise ValueError(
            f'{input_name(args.file)}: it has no rows; see gpassk check --help for the format'
        )
    if args.explain:
        print(json.dumps({'reasons': dict(reasons.most_common())}), file=sys.stderr)
    if outcomes:
        names = ('agree', 'false_positives', 'false_negatives', 'unknown')
        summary = {'n': outcomes.total(), **{name: outcomes[name] for name in names}}
        print(json.dumps(summary), file=sys.stderr)
    return 0


def _outcome(verdict: str, label: bool) -> str:
    if verdict == 'unknown':
        return 'unknown'
    if (verdict == 'same') == label:
        return 'agree'
    return 'false_negatives' if label else 'false_positives'


def _rows(path: str) -> Iterator[dict[str, Any]]:
    for number, line in numbered_lines(path):
        with at_line(path, number):
            row = _row(line.strip())
        yield row


def _row(line: str) -> dict[str, Any]:
    row = parse_row(line)
    for field in ('gold', 'prediction'):
        if not isinstance(row.get(field), str) and not text_of(row.get(field)):
            raise ValueError(f'{_named(row, field)}; give {field} as a text in quotes')
    if 'label' in row and row['label'] not in (True, False):
        raise ValueError(f'{_named(row, "label")}; give true or false, or leave it out')
    if not isinstance(row.get('question'), (str, NoneType)):
        raise ValueError(f'{_named(row, "question")}; give a text in quotes, or leave it out')
    kept = {field: text_of(row[field]) or row[field] for field in ('gold', 'prediction')}
    if row.get('question'):
        kept['question'] = row['question']
    return {**kept, 'label': bool(row['label'])} if 'label' in row else kept


def _named(row: dict[str, Any], field: str) -> str:
    if field not in row:
        return f'field {field} is missing'
    return f'field {field} is {json.dumps(row[field])[:60]}'
