"""Is a result file what the report can read? One bad file must not cost the others theirs."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from opencompass_gpassk.report.benchmarks import Result, is_ours
from opencompass_gpassk.report.files import to_json
from opencompass_gpassk.report.metric_keys import metric_keys
from opencompass_gpassk.report.tables.contents import report_tables
from opencompass_gpassk.stored_files import MOST_PROBLEMS, read_object

__all__ = ['check_result', 'read_result']

MOST = 1_000_000  # samples of a result; whatever holds more was made to do harm
MOST_K = 1024  # tables of larger ones fill the memory
# A result has a figure for each k, τ and group; the page tests the ungrouped ones pair by pair.
MOST_METRICS, MOST_FIGURES, MOST_BREAKDOWNS = 500, 50_000, 50
MOST_WARNINGS = 1000
OTHER_METRICS = 20  # that go without k: accuracy, those of versions and of reasoning
LONGEST_NAME, LONGEST_TEXT = 1000, 20_000
BRIEF = 'of {} characters at most'
NAMES = ('benchmark', 'model', 'signature', 'groups')  # fields of which tables print all
Test = Callable[[Any], bool]


def read_result(path: Path) -> dict[str, Any]:
    """Return a stored result, of whichever evaluator.

    Raises:
        FileNotFoundError: If there is none.
        ValueError: If it can't be read, or is ours and :func:`check_result` refuses it.
    """
    result = read_object(path)
    try:
        if is_ours(result):
            check_result(result)
    except ValueError as error:
        raise ValueError(f'{path}: not readable: {error}') from error
    return result


def check_result(result: Result) -> None:
    """Raise an error if a result of ours has not the form that tables, figures and page read.

    Args:
        result: As stored, with its details or without.

    Raises:
        ValueError: Naming the field, what it holds, and what it should hold.
    """
    _check_fields(result)
    _demand('names', list(result), _brief(LONGEST_NAME), BRIEF.format(LONGEST_NAME))
    for name, value in result.items():
        longest = LONGEST_NAME if name in NAMES else LONGEST_TEXT
        if name != 'details':
            _demand(name, value, _brief(longest), BRIEF.format(longest))
    for row in result.get('details') or []:
        _check_row(row)
    _check_numbers(result)
    _check_figures(result)
    try:
        of_one = {'model': {'data set': {k: v for k, v in result.items() if k != 'details'}}}
        report_tables(of_one)
        to_json(of_one)
    except Exception as error:  # of what a result may hold, nobody can list everything
        raise ValueError(
            f'it can not be tabulated ({type(error).__name__}: {error}); score its responses again'
        ) from error


def _whole(least: int, most: int = MOST) -> Test:
    return lambda value: type(value) is int and least <= value <= most


def _number(value: Any) -> bool:
    # NaN is undefined; an infinite figure, or an int too great for a float, is none.
    return isinstance(value, (int, float)) and (value != value or abs(value) <= MOST)


def _share(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= 1


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _brief(longest: int) -> Test:
    """Tell whether no text in a value is longer, and no key longer than a name."""

    def test(value: Any) -> bool:
        if isinstance(value, str):
            return len(value) <= longest
        if isinstance(value, Mapping):
            names = all(len(str(key)) <= LONGEST_NAME for key in value)
            return names and all(map(test, value.values()))
        return not isinstance(value, list) or all(map(test, value))

    return test


def _mapping(of: Test = lambda value: True) -> Test:
    return lambda value: isinstance(value, Mapping) and all(map(of, value.values()))


def _listed(of: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(of, value))


def _range(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(one is None or _number(one) for one in value)


FIELDS: dict[str, tuple[Test, str]] = {
    'k': (_listed(_whole(1, MOST_K)), f'a list of whole numbers from 1 to {MOST_K}'),
    'taus': (_listed(_share), 'a list of numbers from 0 to 1'),
    'groups': (_mapping(_mapping(_scalar)), 'an object of objects of texts and numbers'),
    'counts': (_mapping(), 'an object'),
    'versions': (_mapping(), 'an object'),
    'reasoning': (_mapping(), 'an object'),
    'judging': (_mapping(), 'an object'),
    'bounds': (_mapping(_range), 'an object of pairs of numbers'),
    'intervals': (_mapping(), 'an object'),
    'uncertainty': (_mapping(), 'an object'),
    'warnings': (_listed(_text), 'a list of texts'),
    'details': (_listed(_mapping()), 'a list of objects'),
    'trials_file': (_text, 'a text'),
    'signature, sampling': (_mapping(), 'an object'),
    'counts, problems': (_whole(0), 'a whole number'),
    'counts, trials': (lambda value: type(value) is int and value >= 0, 'a whole number'),
    'counts, lost': (lambda value: type(value) is int and value >= 0, 'a whole number'),
    'versions, per_group': (_whole(1), 'a whole number from 1'),
    'reasoning, threshold': (_number, 'a number'),
    'reasoning, lengths': (_mapping(_mapping()), 'an object of objects'),
    'reasoning, boxes': (_mapping(_mapping()), 'an object of objects'),
}


def _check_fields(result: Result) -> None:
    _demand('signature, n', result['signature']['n'], _whole(1), 'a whole number from 1')
    for name, (test, wanted) in FIELDS.items():
        value: Any = result
        for key in name.split(', '):
            value = value.get(key)
            if value is None:  # as if it were missing
                break
        else:
            _demand(name, value, test, wanted)
    for label, group in (result.get('groups') or {}).items():
        if 'problems' in group:
            _demand(f'groups, {label}, problems', group['problems'], _whole(0), 'a whole number')


def _check_row(row: Mapping[str, Any]) -> None:
    if not {'problem_id', 'n', 'c'} <= row.keys():
        raise ValueError('field details: a row holds no problem_id, n and c')
    place = f'details, {str(row["problem_id"])[:80]}'
    _demand(f'{place}, n', row['n'], _whole(0), 'a whole number')
    _demand(f'{place}, c', row['c'], lambda c: _whole(0)(c) and c <= row['n'], 'no more than n')
    for name, value in row.items():
        if name != 'answers':
            _demand(f'{place}, {name}', value, _scalar, 'a text or a number')
    answers = row.get('answers') or []
    _demand(f'{place}, answers', answers, _listed(_mapping(_scalar)), 'a list of objects')
    for answer in answers:
        _demand(f'{place}, count', answer.get('count', 0), _whole(0), 'a whole number')


def _check_numbers(result: Result) -> None:
    """Raise a ValueError if there is more of something than anything can be made of in time."""
    groups, rows = result.get('groups') or {}, result.get('details') or []
    metrics = len(result.get('k') or []) * (len(result.get('taus') or []) + 2) + OTHER_METRICS
    for what, number, most in (
        ('metrics, by k and taus', metrics, MOST_METRICS),
        ('figures, by metric and group', metrics * (len(groups) + 1), MOST_FIGURES),
        ('breakdowns', len({tuple(group) for group in groups.values()}), MOST_BREAKDOWNS),
        ('warnings', len(result.get('warnings') or []), MOST_WARNINGS),
        ('problems', len(rows), MOST_PROBLEMS),
        ('samples', sum(row['n'] for row in rows), MOST),
    ):
        if number > most:
            raise ValueError(f'it has {number} {what}, above {most}; score its responses again')


def _check_figures(result: Result) -> None:
    for label, group in {'': {}, **(result.get('groups') or {})}.items():
        for key in _keys(result, not label, 'version' in group):
            name = f'{label}/{key}' if label else key
            if (value := result.get(name)) is not None:
                _demand(name, value, _number, 'a finite number')


def _keys(result: Result, whole: bool, originals: bool) -> Iterable[str]:
    return (key for *_, key in metric_keys(result, whole=whole, originals=originals))


def _demand(name: str, value: Any, test: Test, wanted: str) -> None:
    try:
        good = test(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        good = False
    if not good:
        told = reprlib.repr(value)[:60]
        raise ValueError(f'field {name[:60]} is {told}, not {wanted}; score its responses again')
