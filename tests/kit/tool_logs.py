"""Logs of other tools, scored by the command, and a count of right answers that shares no code."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.trials import Trial, read_trials

LOGS = Path(__file__).parents[1] / 'data/logs'


def scored(folder: Path, *argv: str | Path) -> tuple[dict[str, Any], list[Trial]]:
    """Run ``gpassk score``; return the result and the trials."""
    output = folder / 'result.json'
    assert main(['score', *map(str, argv), '-o', str(output)]) == 0
    table, _ = read_trials(folder / 'result.trials.jsonl.gz')
    return json.loads(output.read_text('utf-8')), list(table.trials)


def is_right(response: str, gold: str) -> bool:
    """Whether a response's boxed fraction is the gold one."""
    found = re.search(r'\\boxed\{(.+)\}', response)
    if not found:
        return False
    return Fraction(re.sub(r'\\frac\{(\d+)\}\{(\d+)\}', r'\1/\2', found[1])) == Fraction(gold)


def check_counts(
    result: dict[str, Any], trials: list[Trial], counted: Iterable[tuple[str, str, str]]
) -> None:
    """Compare result and trials with what is counted of (problem, response, gold answer)."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for problem, response, gold in counted:
        right[problem] += is_right(response, gold)
        total[problem] += 1
    assert sorted(total.values()) == [4] * 5
    assert Counter(trial.problem_id for trial in trials) == total
    assert Counter(t.problem_id for t in trials if t.verdict.value == 'correct') == +right
    # With all four of four samples drawn, G-Pass@4 is the share of problems solved every time.
    assert result['accuracy'] == pytest.approx(100 * sum(right.values()) / 20)
    assert result['G-Pass@4_1.0'] == pytest.approx(
        100 * sum(count == 4 for count in right.values()) / 5
    )
