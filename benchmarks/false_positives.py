"""Count false positives: pairs of unequal gold answers that the checker calls the same.

    GPASSK_TEST_DATA=FOLDER python benchmarks/false_positives.py

FOLDER holds the gold answers of MATH-500, AIME and LiveMathBench as ``math500/*.jsonl``,
``aime/*.jsonl`` and ``livemathbench/**/*.jsonl``. Each answer is paired with the ones that look
most like it, where a mistake is likeliest, and with some drawn at random. Two answers are unequal
if their texts are, spelling aside, and no human judged them equal (``EQUAL``, below); the checker
has no say in it. Every pair called the same is printed.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.worker_pool import check_pairs

FOLDERS = ('math500', 'aime', 'livemathbench')
NEIGHBOURS = 20
RANDOM_PAIRS = 3000
# Text that does not change an answer's meaning: spaces, dollars, sizes of fractions and brackets.
SPELLING = re.compile(r'\s|\$|\\left|\\right|\\[,;!]|\\(?=\()|\\(?=\))|(?<=\\)[dt](?=frac)|\.$')
BRACED_DIGIT = re.compile(r'\{(\w)\}')
# Gold answers of different problems that say the same, as a human reads them: leading zeros,
# which AIME's answer sheet asks for, a degree or dollar sign, a variable's name, thousands.
EQUAL = frozenset(
    frozenset(pair.split())
    for pair in (
        '023 23', '025 25', '033 33', '045 45', '080 80',
        '055 55^\\circ', '106 106^\\circ', '120 120^\\circ', '30 30^\\circ', '36 36^\\circ',
        '90 90^\\circ', '36 \\36', '18 n=18', '5 x=5', '10,080 10080',
    )
)  # fmt: skip


def gold_answers(folder: Path) -> list[str]:
    """Return the distinct gold answers below a folder, one of each spelling, in a fixed order."""
    answers: dict[str, str] = {}
    for name in FOLDERS:
        for path in sorted((folder / name).rglob('*.jsonl')):
            for line in path.read_text(encoding='utf-8').split('\n'):
                if line.strip():
                    answer = str(json.loads(line)['answer'])
                    answers.setdefault(spelling(answer), answer)
    return [answers[key] for key in sorted(answers)]


def spelling(answer: str) -> str:
    """Return the text without parts that do not change its meaning."""
    return BRACED_DIGIT.sub(r'\1', SPELLING.sub('', answer))


def likeness(first: Counter[str], second: Counter[str]) -> float:
    """Return the share of single and neighbouring characters that two answers have in common."""
    return 2 * (first & second).total() / (first.total() + second.total())


def features(answer: str) -> Counter[str]:
    """Return the characters, and the pairs of neighbours, of an answer."""
    text = spelling(answer)
    return Counter(text) + Counter(text[i : i + 2] for i in range(len(text) - 1))


def draw_pairs(answers: list[str]) -> list[tuple[str, str]]:
    """Return pairs of unequal answers, each in both orders, the same ones at every call."""
    drawn: set[frozenset[int]] = set()
    known = [features(answer) for answer in answers]
    for i, one in enumerate(known):
        order = sorted(range(len(known)), key=lambda j: (-likeness(one, known[j]), j))
        drawn |= {frozenset((i, j)) for j in order[: NEIGHBOURS + 1] if j != i}
    every = list(combinations(range(len(answers)), 2))
    rng = random.Random('false positives')
    drawn |= {frozenset(pair) for pair in rng.sample(every, RANDOM_PAIRS)}
    pairs = [(answers[i], answers[j]) for i, j in sorted(sorted(pair) for pair in drawn)]
    unequal = [
        pair for pair in pairs if frozenset(spelling(answer) for answer in pair) not in EQUAL
    ]
    return [ordered for a, b in unequal for ordered in ((a, b), (b, a))]


def main() -> None:
    """Check the pairs and print the share of false positives."""
    folder = os.environ.get('GPASSK_TEST_DATA')
    if not folder:
        sys.exit('set GPASSK_TEST_DATA to the folder with the gold answers')
    answers = gold_answers(Path(folder))
    pairs = draw_pairs(answers)
    results = check_pairs(pairs, progress=sys.stderr.isatty())
    counts = Counter(result.relation for result in results.values())
    for (gold, answer), result in results.items():
        if result.relation is Relation.SAME:
            print(f'same: {gold!r} and {answer!r}')
    reasons = Counter(r.reason for r in results.values() if r.relation is Relation.UNKNOWN)
    print(f'{len(answers)} gold answers, {len(pairs)} pairs of unequal ones (each in both orders)')
    print(f'  false positives {counts[Relation.SAME]:6}   {counts[Relation.SAME] / len(pairs):.3%}')
    print(f'  different       {counts[Relation.DIFFERENT]:6}')
    print(f'  unknown         {counts[Relation.UNKNOWN]:6}   {dict(reasons.most_common())}')


if __name__ == '__main__':
    main()
