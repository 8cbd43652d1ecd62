"""The fields of a result, and the check of stored results, which may come from anyone.

``docs/results.md`` is generated from :data:`FIELDS`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from opencompass_gpassk.formats.stored_files import MOST_PROBLEMS
from opencompass_gpassk.metrics.judge_error import is_labelled
from opencompass_gpassk.results.figures import parse_figure
from opencompass_gpassk.results.stored_result import Result, stored_protocol
from opencompass_gpassk.results.true_verdicts import ERRORS
from opencompass_gpassk.trials import SCHEMA, check_schema

MOST = 1_000_000  # samples of a result; a file with more was made to do harm
MOST_VERSIONS = 1000
MOST_K = 1024  # tables for a larger k fill the memory
# A result has a figure for each k, τ and group; the page tests the ungrouped ones pair by pair.
MOST_METRICS, MOST_FIGURES, MOST_BREAKDOWNS = 1500, 100_000, 50
MOST_WARNINGS = 1000
MOST_TOKENS = 1e300
MOST_RATES = 10  # of errors
OTHER_METRICS = 20  # metrics without k: accuracy, those of versions and of reasoning
LONGEST_NAME, LONGEST_TEXT = 1000, 20_000
BRIEF = 'of {} characters at most'
NAMES = ('benchmark', 'model', 'signature', 'groups')  # fields that tables print in full
Test = Callable[[Any], bool]


class Kind(NamedTuple):
    """The values that a field may hold.

    Attributes:
        test: Tells whether a value is allowed.
        holds: The allowed values in words.
    """

    test: Test
    holds: str


class Field(NamedTuple):
    """A field of a result.

    Attributes:
        kind: The allowed values.
        about: The meaning.
    """

    kind: Kind
    about: str


def _is_whole(least: int, most: int = MOST) -> Test:
    return lambda value: type(value) is int and least <= value <= most


def _is_number(value: Any) -> bool:
    # NaN stands for undefined. Infinity, and an int too great for a float, are not allowed.
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (value != value or abs(value) <= MOST)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_percent(value: Any) -> bool:
    return value is None or (_is_number(value) and not (value < 0 or value > 100))


def _is_tokens(value: Any) -> bool:
    # Per problem solved every time it may be more than MOST.
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value is None or (number and not (value < 0 or value > MOST_TOKENS))


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))


def _listed(of: Test) -> Test:
    return lambda value: isinstance(value, list) and all(map(of, value))


def _is_pair(value: Any) -> bool:
    ends = isinstance(value, (list, tuple)) and len(value) == 2
    return ends and all(one is None or _is_number(one) for one in value)


def _is_box(value: Any) -> bool:
    if value is None:
        return True
    whole = isinstance(value, Mapping) and {*BOX_NUMBERS, 'n'} <= value.keys()
    numbers = whole and all(_is_number(one) and one == one for one in value.values())
    return numbers and _is_whole(1)(value['n'])


def _is_versions(value: Any) -> bool:
    names = ('per_group', 'groups', 'incomplete', 'originals', 'excluded')
    known = isinstance(value, Mapping) and all(value.get(name) is not None for name in names)
    return known or value == {}


def _is_sensitivity(value: Any) -> bool:
    rates = value['rates']
    parse_figure(value['figure'])  # or a ValueError
    each = [rates[error] for error in ERRORS]
    return all(isinstance(one, Mapping) and len(one) <= MOST_RATES for one in each)


BOX_NUMBERS = ('q1', 'med', 'q3', 'whislo', 'whishi', 'mean')
TEXT = Kind(lambda value: isinstance(value, str), 'a text')
VERSIONS = Kind(_is_versions, 'an object of per_group, groups, incomplete, originals, excluded')
OBJECT = Kind(lambda value: isinstance(value, Mapping), 'an object')
SCALAR = Kind(_is_scalar, 'a text or a number')
COUNT = Kind(_is_whole(0), 'a whole number')
MANY = Kind(lambda value: type(value) is int and value >= 0, 'a whole number')
POSITIVE = Kind(_is_whole(1), 'a whole number from 1')
VERSIONS_NUMBER = Kind(_is_whole(1, MOST_VERSIONS), f'a whole number from 1 to {MOST_VERSIONS}')
NUMBER = Kind(_is_number, 'a number')
SHARE = Kind(_is_share, 'a number from 0 to 1')
PERCENT = Kind(_is_percent, 'a number from 0 to 100, or null')
SCHEMAS = Kind(lambda value: value == SCHEMA, f'{SCHEMA!r}')
LENGTH = Kind(lambda value: value is None or _is_number(value), 'a number or null')
BOX = Kind(_is_box, f'an object of {", ".join(BOX_NUMBERS)} and n, or null')
TOKEN_COUNT = Kind(_is_tokens, 'a number from 0, or null')
TOKEN_ENDS = Kind(lambda value: _listed(_is_tokens)(value) and len(value) == 2, 'a list of two')
PAIR = Kind(_is_pair, 'a list of two numbers')
TEXTS = Kind(_listed(TEXT.test), 'a list of texts')
NUMBERS = Kind(_listed(_is_whole(1)), 'a list of whole numbers from 1')
KS = Kind(_listed(_is_whole(1, MOST_K)), f'a list of whole numbers from 1 to {MOST_K}')
TAUS = Kind(_listed(_is_share), 'a list of numbers from 0 to 1')
ESTIMATE = Kind(
    lambda value: isinstance(value, Mapping) and 'estimate' in value and bool(value.get('range')),
    'an object of estimate and range',
)
SENSITIVITY = Kind(_is_sensitivity, 'an object of figure and rates of both errors')
OF_LABELS = Kind(_listed(_is_number), 'a list of numbers')
LABELLED = Kind(is_labelled, 'an object of lists of three numbers')
ROWS = Kind(_listed(OBJECT.test), 'a list of objects')

# Path → field. In a path * stands for any name, and [] for every element of a list. Only benchmark
# and signature.n must be there. figures.py defines the keys of figures.
FIELDS: dict[str, Field] = {
    'schema': Field(SCHEMAS, 'version of this description'),
    'rescored': Field(TEXTS, 'the settings that gpassk rescore chose'),
    'benchmark': Field(TEXT, 'name of the benchmark; results are joined by it'),
    'model': Field(TEXT, 'the model, if given to `gpassk score`'),
    'k': Field(KS, 'the k of pass@k and G-Pass@k; empty if each problem has one sample'),
    'taus': Field(TAUS, 'the thresholds τ of G-Pass@k'),
    'figures': Field(OBJECT, 'every figure, in percent, those of groups under `<label>/<key>`'),
    'figures.*': Field(LENGTH, 'the figure; the range depends on it'),
    'shares': Field(OBJECT, 'shares of the data set as a whole'),
    'shares.*': Field(PERCENT, 'the share, in percent'),
    'counts': Field(OBJECT, 'counts over all problems, originals of versions included'),
    'counts.problems': Field(COUNT, 'problems of the headline figures'),
    'counts.trials': Field(MANY, 'responses, lost ones included'),
    'counts.correct': Field(MANY, 'right responses'),
    'counts.incorrect': Field(MANY, 'wrong responses'),
    'counts.unjudged': Field(MANY, 'responses without a verdict, lost ones included'),
    'counts.undecided': Field(MANY, 'wrong responses that no rule decided, counted so by request'),
    'counts.lost': Field(MANY, 'missing responses, since the inference failed'),
    'counts.no_answer': Field(MANY, 'responses in which no final answer was found'),
    'counts.unrecognised': Field(
        MANY, 'those of them that count as wrong, but are finished and may be right'
    ),
    'counts.truncated': Field(MANY, 'responses that were cut off'),
    'counts.empty': Field(MANY, 'wrong responses without a text that were not cut off'),
    'counts.thoughts_only': Field(MANY, 'those that say nothing beside their thoughts'),
    'counts.refused': Field(MANY, 'wrong responses that refuse to answer'),
    'counts.filtered': Field(MANY, 'lost responses that the server or its filter refused'),
    'counts.excluded': Field(OBJECT, 'problems that the figures at each k leave out'),
    'counts.excluded.*': Field(COUNT, 'k → problems with fewer than k responses, or no verdict'),
    'groups': Field(OBJECT, 'label → a group of problems that has figures of its own'),
    'groups.*': Field(OBJECT, 'the fields that its problems share, such as split or language'),
    'groups.*.*': Field(SCALAR, 'the value of a shared field'),
    'groups.*.problems': Field(COUNT, 'problems of the group'),
    'signature': Field(OBJECT, 'what must be equal for two results to be comparable'),
    'signature.package': Field(TEXT, 'version of this package'),
    'signature.data': Field(TEXT, 'benchmark and version of the problems'),
    'signature.n': Field(POSITIVE, 'samples of each problem'),
    'signature.k': Field(KS, 'as `k`'),
    'signature.sampling': Field(OBJECT, 'sampling parameters; `mixed` counts differing sets'),
    'signature.sampling.*': Field(SCALAR, 'the value of a parameter'),
    'signature.judge': Field(TEXT, 'the judge; `none` if only the reasoning was scored'),
    'signature.prompt': Field(TEXT, 'hash of the prompts'),
    'signature.complete': Field(NUMBER, 'as `versions.complete`'),
    'signature.collapsed': Field(NUMBER, 'as `versions.collapsed`'),
    'signature.reasoning': Field(TEXT, 'the scorer of the reasoning and its settings'),
    'looks': Field(
        NUMBERS, 'the n with which it was looked at before it was extended, ascending, below n'
    ),
    'judging': Field(
        OBJECT, 'how verdicts were reached: mode, rules’ reasons, judge, decoding, cost'
    ),
    'bounds': Field(OBJECT, 'figure → its value if all open responses are wrong, or right'),
    'bounds.*': Field(PAIR, 'lowest and highest, in percent'),
    'questions': Field(
        OBJECT, 'figure → independent questions that it rests on; versions of one count once'
    ),
    'questions.*': Field(COUNT, 'with fewer than 5, the figure has no interval'),
    'intervals': Field(OBJECT, 'figure → confidence interval, for a population of such problems'),
    'intervals.*': Field(PAIR, 'low and high, in percent'),
    'intervals_fixed': Field(OBJECT, 'figure → confidence interval, for these very problems'),
    'intervals_fixed.*': Field(PAIR, 'low and high, in percent'),
    'uncertainty': Field(OBJECT, 'how the intervals were made'),
    'uncertainty.method': Field(TEXT, '`bca` or `percentile`'),
    'uncertainty.resamples': Field(COUNT, 'resamples of the bootstrap'),
    'uncertainty.seed': Field(SCALAR, 'random seed of the bootstrap'),
    'uncertainty.level': Field(SHARE, 'confidence level'),
    'uncertainty.of': Field(TEXT, 'what `intervals` estimate'),
    'uncertainty.of_fixed': Field(TEXT, 'what `intervals_fixed` estimate'),
    'uncertainty.other_methods': Field(OBJECT, 'figures whose intervals use another method'),
    'uncertainty.other_methods.*': Field(TEXTS, 'method → keys of its figures, groups included'),
    'sampling_share': Field(
        OBJECT,
        'figure → share of its variance that more samples would remove; the rest is due to '
        'the choice of problems',
    ),
    'sampling_share.*': Field(PERCENT, 'in percent, expected from the problems’ rates'),
    'judge_error': Field(OBJECT, 'what wrong verdicts do to figures'),
    'judge_error.sensitivity': Field(
        SENSITIVITY, 'what errors, independent between samples, would make of the recorded verdicts'
    ),
    'judge_error.sensitivity.figure': Field(TEXT, 'the figure that wrong verdicts change most'),
    'judge_error.sensitivity.rates': Field(OBJECT, 'expected figures'),
    'judge_error.sensitivity.rates.*': Field(OBJECT, 'kind of error → its rates in percent'),
    'judge_error.sensitivity.rates.*.*': Field(LENGTH, 'that figure, in percent'),
    'judge_error.labelled': Field(LABELLED, 'people’s labels on some verdicts'),
    'judge_error.labelled.*': Field(
        OF_LABELS, 'source and verdict → trials, independent labels, share of these that are right'
    ),
    'judge_error.figures': Field(OBJECT, 'figures under true verdicts, if an audit has labels'),
    'judge_error.figures.*': Field(ESTIMATE, 'one figure'),
    'judge_error.figures.*.estimate': Field(NUMBER, 'in percent'),
    'judge_error.figures.*.range': Field(PAIR, '95 % range due to unknown true verdicts'),
    'judge_error.figures.*.with_sampling': Field(PAIR, 'the same for a population of problems'),
    'reliable': Field(OBJECT, 'rate → problems that are surely solved so often, each by itself'),
    'reliable.*': Field(OBJECT, 'three counts, by exact one-sided 95 % bounds of each problem'),
    'reliable.*.*': Field(COUNT, '`at_least` the rate, `below` it, `unclear`'),
    'tokens': Field(OBJECT, 'tokens of the responses, over the problems of the headline'),
    'tokens.known': Field(PERCENT, 'responses whose tokens are known, in percent of all'),
    'tokens.figures': Field(OBJECT, 'the figures below, in tokens'),
    'tokens.figures.*': Field(TOKEN_COUNT, 'the figure; NaN if undefined'),
    'tokens.intervals': Field(OBJECT, 'figure → confidence interval, as in `intervals`'),
    'tokens.intervals.*': Field(
        TOKEN_ENDS, 'low and high; null for an open end, as where no problem is solved every time'
    ),
    'tokens.cut_off': Field(TOKEN_ENDS, 'fewest and most tokens of a response that was cut off'),
    'versions': Field(VERSIONS, 'the versions of questions, as in RV-Bench'),
    'versions.per_group': Field(VERSIONS_NUMBER, 'versions of a question, m'),
    'versions.groups': Field(COUNT, 'questions with all m versions'),
    'versions.incomplete': Field(COUNT, 'questions that lack versions'),
    'versions.originals': Field(COUNT, 'questions with all m versions and their original'),
    'versions.excluded': Field(OBJECT, 'questions that figures leave out'),
    'versions.excluded.*': Field(COUNT, 'figure → questions for which it is undefined'),
    'versions.unsolved': Field(OBJECT, 'questions without a right response to any version'),
    'versions.unsolved.*': Field(COUNT, 'group (all: empty) → number of these questions'),
    'versions.complete': Field(NUMBER, 'least share of right versions for complete understanding'),
    'versions.collapsed': Field(NUMBER, 'greatest share of right versions if it has collapsed'),
    'reasoning': Field(OBJECT, 'the scores of the responses’ reasoning'),
    'reasoning.scorer': Field(TEXT, 'the scorer'),
    'reasoning.settings': Field(OBJECT, 'settings of the scorer'),
    'reasoning.threshold': Field(SHARE, 'least validity of sound reasoning'),
    'reasoning.validity_by': Field(TEXT, 'how the steps’ validity is combined'),
    'reasoning.redundancy_by': Field(TEXT, 'how the steps’ redundancy is combined'),
    'reasoning.delimiter': Field(TEXT, 'the text between two steps in the scorer’s input'),
    'reasoning.refusals': Field(OBJECT, 'responses without scores'),
    'reasoning.refusals.*': Field(COUNT, 'reason → number of responses'),
    'reasoning.lengths': Field(OBJECT, 'mean length of a scored solution'),
    'reasoning.lengths.*': Field(OBJECT, 'in steps, and in tokens'),
    'reasoning.lengths.*.*': Field(LENGTH, 'for all, right and wrong responses'),
    'reasoning.boxes': Field(OBJECT, 'statistics of box plots for matplotlib’s `Axes.bxp`'),
    'reasoning.boxes.*': Field(OBJECT, 'for validity and for redundancy'),
    'reasoning.boxes.*.*': Field(BOX, 'for all, right and wrong responses; n solutions'),
    'reasoning.sound': Field(OBJECT, 'the reasoning behind right responses'),
    'reasoning.sound.*': Field(COUNT, 'right responses; sound, unsound and unknown among them'),
    'reasoning.excluded': Field(OBJECT, 'problems that the sound figures at each k leave out'),
    'reasoning.excluded.*': Field(
        COUNT, 'k → problems with fewer than k responses, or none known to be sound or not'
    ),
    'warnings': Field(TEXTS, 'warnings that a reader of the figures must know'),
    'trials_file': Field(TEXT, 'the file of trials beside the result'),
    'evaluation': Field(
        OBJECT, 'how the responses were read; `gpassk rescore` reads them so again'
    ),
    'evaluation.min_coverage': Field(SHARE, 'least share of the responses that had to be there'),
    'evaluation.postprocessors': Field(
        OBJECT, "OpenCompass's postprocessors that were applied to the responses"
    ),
    'evaluation.postprocessors.*': Field(
        OBJECT, "whose it is (model, data set, evaluator) → its type, and a known one's arguments"
    ),
    'columns': Field(OBJECT, 'names of columns in the file of responses, if `--columns` told them'),
    'columns.*': Field(TEXT, 'field → its name in the file'),
    'steps_file': Field(TEXT, 'the file of scored steps beside the result'),
    'details': Field(ROWS, 'a row for each problem; OpenCompass may leave them out'),
    'details[].problem_id': Field(SCALAR, 'id of the problem'),
    'details[].n': Field(COUNT, 'judged responses'),
    'details[].c': Field(COUNT, 'right responses'),
    'details[].sound': Field(COUNT, 'right responses with sound reasoning, if it was scored'),
    'details[].gold': Field(SCALAR, 'the reference answer'),
    'details[].cluster': Field(SCALAR, 'shared by versions and translations of one question'),
    'details[].version': Field(SCALAR, 'the version of its question'),
    'details[].*': Field(SCALAR, 'the value of a group field, such as split or language'),
    'details[].answers': Field(ROWS, 'the distinct answers, the most frequent first'),
    'details[].answers[].answer': Field(SCALAR, 'the final answer; null if there is none'),
    'details[].answers[].count': Field(COUNT, 'responses with this answer'),
    'details[].answers[].verdict': Field(TEXT, '`correct`, `incorrect` or `unjudged`'),
    'details[].answers[].source': Field(TEXT, 'who judged it: as `source` of a trial'),
}


TOP_LEVEL = {path.partition('.')[0] for path in FIELDS}
ROUNDING = 1e-6  # percent
ROW, ANSWER = 'details[].', 'details[].answers[].'
OF_ROW = {
    path.removeprefix(ROW): one.kind
    for path, one in FIELDS.items()
    if path.startswith(ROW) and not path.startswith(ANSWER)
}
OF_ANSWER = {
    path.removeprefix(ANSWER): one.kind for path, one in FIELDS.items() if path.startswith(ANSWER)
}


def check_result(result: Result) -> None:
    """Raise an error if a result of ours can't be shown in tables, figures and page.

    Args:
        result: The stored result, with or without details.

    Raises:
        ValueError: With the field, its value, and the allowed values.
    """
    check_schema(result)
    _demand('names', list(result), _brief(LONGEST_NAME), BRIEF.format(LONGEST_NAME))
    for name, value in result.items():
        longest = LONGEST_NAME if name in NAMES else LONGEST_TEXT
        if name != 'details':
            _demand(name, value, _brief(longest), BRIEF.format(longest))
    _demand('signature, n', result['signature']['n'], *POSITIVE)
    for path, field in FIELDS.items():
        if not path.startswith(ROW):  # of rows there may be very many
            for name, value in _values(result, path.split('.'), ''):
                _demand(name, value, *field.kind)
    looks, n = result.get('looks') or [], result['signature']['n']
    if [*looks, n] != sorted({*looks, n}):
        told = reprlib.repr(looks)
        raise ValueError(f'field looks is {told}, not ascending below n = {n}; leave it out')
    _demand('figures', result.get('figures'), *OBJECT)
    for key, value in result['figures'].items():
        _check_figure(f'figures, {key}', key, value)
    for key in result.keys() - TOP_LEVEL:
        _check_figure(key, key, result[key])
        if repr(result[key]) != repr(result['figures'].get(key)):  # NaN is NaN
            raise ValueError(
                f'field {key[:60]} is {reprlib.repr(result[key])}, but in figures it is '
                f'{reprlib.repr(result["figures"].get(key))}; score its responses again'
            )
    for row in result.get('details') or []:
        _check_row(row)
    _check_sizes(result)
    stored_protocol(result)


def _check_figure(name: str, key: str, value: Any) -> None:
    """Raise a ValueError if a figure is no number or out of its range; a later one may be unknown.

    Args:
        name: The field.
        key: The figure's key, with its group.
        value: The figure in percent; None is undefined.
    """
    try:
        figure = parse_figure(key.rpartition('/')[2])
    except ValueError:
        _demand(name, value, *LENGTH)
        return
    least, most = 100 * figure.least, 100 * figure.most
    _demand(
        name,
        value,
        lambda one: (
            one is None
            or (_is_number(one) and not (one < least - ROUNDING or one > most + ROUNDING))
        ),
        f'a number from {least:g} to {most:g}',
    )


def _values(value: Any, path: list[str], name: str) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each field at a path; missing fields and null are skipped.

    Below a ``*`` nothing can be missing, so there null is yielded as a value.
    """
    if not path:
        yield name, value
        return
    first, rest = path[0], path[1:]
    if first == '*':
        found = [(f'{name}, {key}', one) for key, one in value.items()]
    else:
        found = [(f'{name}, {first}' if name else first, value.get(first))]
    for called, one in found:
        if one is not None or (first == '*' and not rest):
            yield from _values(one, rest, called)


def _check_row(row: Mapping[str, Any]) -> None:
    if not {'problem_id', 'n', 'c'} <= row.keys():
        raise ValueError('field details: a row lacks problem_id, n or c')
    for name, value in row.items():
        kind = OF_ROW.get(name, OF_ROW['*'])
        if not kind.test(value):
            _demand(f'details, {str(row["problem_id"])[:80]}, {name}', value, *kind)
    if row['c'] > row['n']:
        raise ValueError(f'field details: {str(row["problem_id"])[:80]} has c above n')
    for answer in row.get('answers') or []:
        for name, value in answer.items():
            kind = OF_ANSWER.get(name, SCALAR)
            if not kind.test(value):
                _demand(f'details, {str(row["problem_id"])[:80]}, answers, {name}', value, *kind)


def _check_sizes(result: Result) -> None:
    """Raise a ValueError if a result holds more than can be shown in reasonable time."""
    groups, rows = result.get('groups') or {}, result.get('details') or []
    taus = len(result.get('taus') or [])
    metrics = len(result.get('k') or []) * (taus + 4) + 2 * taus + OTHER_METRICS
    metrics *= 3 if result.get('reasoning') else 1  # plain, sound, drop
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


def _brief(longest: int) -> Test:
    """Return a test that all texts in a value have at most this length, and keys a name's."""

    def test(value: Any) -> bool:
        if isinstance(value, str):
            return len(value) <= longest
        if isinstance(value, Mapping):
            names = all(len(str(key)) <= LONGEST_NAME for key in value)
            return names and all(map(test, value.values()))
        return not isinstance(value, list) or all(map(test, value))

    return test


def _demand(name: str, value: Any, test: Test, wanted: str) -> None:
    try:
        good = test(value)
    except (TypeError, ValueError, KeyError, OverflowError, RecursionError):
        good = False
    if not good:
        told = reprlib.repr(value)[:60]
        raise ValueError(f'field {name[:60]} is {told}, not {wanted}; score its responses again')
