"""Tokens of a result: means, what a problem solved every time costs, and what is unknown."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from stored_table import table_of, write_result

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.metrics.token_cost import tokens_per_solved
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import render_page
from opencompass_gpassk.report.tables.contents import report_tables
from opencompass_gpassk.results.read import read_result
from opencompass_gpassk.results.result import Result

K2 = 'tokens per problem solved every time@2'
MARKS = ['++++', '+++-', '----', '++--']
COUNTS: list[list[int | None]] = [
    [100, 100, 100, 100],
    [200, 200, 200, 600],
    [500, 700, 600, 600],
    [100, 300, 500, 700],
]


def test_token_metrics_are_those_of_a_computation_by_hand(tmp_path: Path) -> None:
    """Means over problems and responses; the cost is the mean by the share solved every time."""
    result = write_result(tmp_path / 'r.json', table_of(MARKS * 2, COUNTS * 2), [2])
    found = result['tokens']['metrics']
    mean = (100 + 300 + 600 + 400) / 4
    assert found['tokens'] == pytest.approx(mean)
    assert found['tokens (right)'] == pytest.approx((400 + 600 + 100 + 300) / 9)
    assert found['tokens (wrong)'] == pytest.approx((600 + 2400 + 500 + 700) / 7)
    every = (1 + 3 / 6 + 0 + 1 / 6) / 4
    assert result['metrics']['G-Pass@2_1.0'] == pytest.approx(100 * every)
    assert found[K2] == pytest.approx(mean / every)
    low, high = result['tokens']['intervals'][K2]
    assert 0 < low < found[K2] < high
    assert result['tokens']['known'] == 100.0
    assert not any(name.startswith('tokens') for name in result['metrics'])
    read = read_result(tmp_path / 'r.json')
    assert isinstance(read, Result) and read.tokens.metrics[K2] == found[K2]


def test_nothing_solved_has_a_lower_end_alone(tmp_path: Path) -> None:
    """The metric is undefined; a problem costs at least the mean by the upper end of the share."""
    marks, counts = ['+---'] * 12, [[100, 200, 300, 400]] * 12
    result = write_result(tmp_path / 'r.json', table_of(marks, counts), [2])
    assert math.isnan(result['tokens']['metrics'][K2])
    upper = result['intervals']['G-Pass@2_1.0'][1] / 100
    assert result['tokens']['intervals'][K2] == [pytest.approx(250 / upper), None]


@pytest.mark.parametrize(('unknown', 'defined'), [(1, True), (2, False)])
def test_tokens_of_too_few_responses_are_unknown(
    tmp_path: Path, unknown: int, defined: bool
) -> None:
    """Below 95 % all are NaN, never 0; above, those without a count are left out."""
    counts: list[list[int | None]] = [[100] * 4 for _ in range(6)]
    for i, odd in enumerate([None, -5][:unknown]):
        counts[i][0] = odd
    result = write_result(tmp_path / 'r.json', table_of(['++++'] * 6, counts), [2])
    assert result['tokens']['known'] == pytest.approx(100 * (1 - unknown / 24))
    found = [value for key, value in result['tokens']['metrics'].items() if 'wrong' not in key]
    assert found == [pytest.approx(100)] * 3 if defined else all(map(math.isnan, found))
    assert math.isnan(result['tokens']['metrics']['tokens (wrong)'])
    read_result(tmp_path / 'r.json')


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Long responses to hard problems, 45 pairs of translations, few or many solved every time."""
    rng = np.random.default_rng(0)
    for strength in ((0.05, 0.4), (0.4, 0.4), (3.0, 0.4)):
        held, runs = 0, 300
        rates = rng.beta(*strength, 400_000)
        truth = np.exp(1.5 * (1 - rates)).mean() / (rates**2).mean()
        for _ in range(runs):
            rate = np.repeat(rng.beta(*strength, 45), 2)
            right = rng.binomial(8, rate)
            tokens = np.exp(1.5 * (1 - rate) + rng.normal(0, 0.2, 90) - 0.02)
            cost = tokens_per_solved(tokens, right * (right - 1) / 56, np.repeat(np.arange(45), 2))
            held += cost.low <= truth <= cost.high
        assert held / runs > 0.9, strength


def test_compare_tells_that_more_stable_is_longer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From twice the tokens on; a model that is as long is not mentioned."""
    short, long = [[100] * 8] * 20, [[450] * 8] * 20
    write_result(tmp_path / 'a.json', table_of(['++------'] * 20, short), [4])
    write_result(tmp_path / 'b.json', table_of(['++++++++'] * 20, long), [4])
    assert main(['compare', str(tmp_path / 'a.json'), str(tmp_path / 'b.json')]) == 0
    told = ' '.join(capsys.readouterr().out.split())
    assert 'B is more stable with 4.5 times as many tokens' in told
    write_result(tmp_path / 'b.json', table_of(['++++++++'] * 20, short), [4])
    assert main(['compare', str(tmp_path / 'a.json'), str(tmp_path / 'b.json')]) == 0
    assert 'as many tokens' not in ' '.join(capsys.readouterr().out.split())


def test_tables_and_page_show_tokens(tmp_path: Path) -> None:
    """A mean, the cost with its interval, and of a model that solves nothing its lower end."""
    write_result(tmp_path / 'some.json', table_of(MARKS * 5, COUNTS * 5), [2])
    write_result(tmp_path / 'none.json', table_of(['+---'] * 20, [[450] * 4] * 20), [2])
    page = page_data([tmp_path])
    table = next(one for one in report_tables(page.board) if one.title == 'Tokens')
    rows = {row[1]: row for row in table.rows}
    assert rows['some'][3] == pytest.approx(350)
    assert re.fullmatch(r'[\d,]+ \[[\d,]+, [\d,]+\]', str(rows['some'][-1]))
    assert re.fullmatch(r'none solved, above [\d,]+', str(rows['none'][-1]))
    assert f'<td>{rows["none"][-1]}' in render_page(page)
    write_result(tmp_path / 'none.json', table_of(['+---'] * 20), [2])
    write_result(tmp_path / 'some.json', table_of(MARKS * 5), [2])
    page = page_data([tmp_path])
    assert not any(one.title == 'Tokens' for one in report_tables(page.board))
