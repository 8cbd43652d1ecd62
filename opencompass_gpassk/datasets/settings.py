"""The environment variables that set what the data set configs load and how often they sample.

GPASSK_VERSION      version of LiveMathBench: sample (default), 202412, 202412-hard, 202505, …
GPASSK_LANGUAGES    cn, en or cn,en: of LiveMathBench (all that the version has), RV-Bench (en)
GPASSK_N            samples of each problem: 16 on sample, RV-Bench and own files, else 48
GPASSK_K            the k of pass@k and G-Pass@k, such as 4,8,16: 4,8 on these three, else 4,8,16
GPASSK_LIMIT        only the first so many questions of each data set
GPASSK_DATA         a folder or file with the data
GPASSK_TEMPERATURE  of the samples (1.0); greedy data sets have none
GPASSK_MAX_OUT_LEN  greatest number of tokens of a response (8192)
GPASSK_RV_SEED, GPASSK_RV_PER_GROUP  of RV-Bench: the seed of the versions (42), and how many (5)
GPASSK_MATCH        exact, if answers must equal the gold answer's text; see judging/settings.py

Configs call this module through ``__import__``, since a config can't call names that it imports.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opencompass_gpassk.inference.sampling import PAPER as SAMPLING
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.runs.config import require_literal
from opencompass_gpassk.rv.question import DEFAULT_SEED, PER_GROUP

SPLITS = ('CNMO', 'CCEE', 'AMC', 'WLPMC')
COUNTS_202412 = {'CNMO': 18, 'CCEE': 44, 'AMC': 46, 'WLPMC': 11}
# Problems of each part, None if the authors publish no number.
PART_SIZES: dict[str, dict[tuple[str, str], int | None]] = {
    'sample': {(split, language): 6 for split in SPLITS for language in ('cn', 'en')},
    '202412': {
        (split, language): count
        for split, count in COUNTS_202412.items()
        for language in ('cn', 'en')
    },
    '202412-hard': {('hard', 'cn'): 24, ('hard', 'en'): 21},
    '202505': {('all', 'en'): None},
    '202505-hard': {('hard', 'en'): None},
}

# Versions of LiveMathBench, with their languages.
VERSIONS = {
    version: tuple(dict.fromkeys(language for _, language in parts))
    for version, parts in PART_SIZES.items()
}
MAX_OUT_LEN = 8192  # 32768 for models with long reasoning
PAPER = (48, (4, 8, 16))  # n and the k of arXiv 2412.13147
QUICK = (16, (4, 8))


def livemathbench(*, greedy: bool = False, default: str = 'sample') -> dict[str, Any]:
    """Return abbr, version, languages, path, n and k: keyword arguments of LiveMathBench.

    Args:
        greedy: One sample of each problem, for greedy decoding.
        default: The version if GPASSK_VERSION isn't set.

    Raises:
        ValueError: If an environment variable has an invalid value; it names the variable.
    """
    version = _given('GPASSK_VERSION') or default
    if version not in VERSIONS:
        raise ValueError(f'GPASSK_VERSION is {version!r}; choose one of {", ".join(VERSIONS)}')
    sample = version == 'sample'
    name = version if sample else f'LiveMathBench-{version}'
    # The problems of `sample` come with the package.
    path = None if sample else _data_path()
    languages = _languages(f'version {version}', VERSIONS[version])
    if len(languages) < len(VERSIONS[version]):
        name += f'-{"+".join(languages)}'
    return {
        **_protocol(name, QUICK if sample else PAPER, greedy),
        'version': version,
        'languages': languages,
        'path': path,
    }


def math500_l5(*, greedy: bool = False) -> dict[str, Any]:
    """Return abbr, path, n and k of MATH500-L5, as :func:`livemathbench` does."""
    return {**_protocol('MATH500-L5', PAPER, greedy), 'path': _data_path()}


def aime(edition: str, *, greedy: bool = False) -> dict[str, Any]:
    """Return abbr, edition, path, n and k of AIME, as :func:`livemathbench` does.

    Edition ``'2024-45'`` is called AIME2024-30 if GPASSK_DATA has no list of 45 problems, since
    the 30 problems of AIME 2024 are loaded then.
    """
    path = _data_path()
    name = f'AIME{edition}'
    if edition == '2024-45':
        own = forty_five_file(path)
        name, path = (name, own) if own else ('AIME2024-30', path)
    return {**_protocol(name, PAPER, greedy), 'edition': edition, 'path': path}


def custom(*, greedy: bool = False) -> dict[str, Any]:
    """Return abbr, path, n and k of CustomProblems, as :func:`livemathbench` does.

    The abbr holds a hash of the file: OpenCompass keeps sizes and responses under the abbr, and
    would go on with those of the file's earlier content.
    """
    path = _data_path()
    if path is None:
        return {**_protocol('custom', QUICK, greedy), 'path': None}
    file = Path(path)
    if not file.is_file():
        raise ValueError(f'GPASSK_DATA is {path!r}; the file of your own problems is needed')
    return {**_protocol(abbr_of(file), QUICK, greedy), 'path': path}


def abbr_of(file: Path) -> str:
    """Return a name of a file's content: the file's, with a hash."""
    content = hashlib.sha256(file.read_bytes()).hexdigest()[:6]
    name = re.sub(r'[^\w.+-]+', '-', file.stem)
    return f'{name}-{content}'


def inference(*, greedy: bool = False) -> dict[str, Any]:
    """Return sampling and max_out_len: keyword arguments of GPassKGenInferencer.

    They are those of arXiv 2412.13147, or as the environment sets them.

    Raises:
        ValueError: If an environment variable has an invalid value; it names the variable.
    """
    length = _positive('GPASSK_MAX_OUT_LEN', _given('GPASSK_MAX_OUT_LEN') or str(MAX_OUT_LEN))
    if greedy:
        return {'sampling': 'greedy', 'max_out_len': length}
    given = _given('GPASSK_TEMPERATURE') or '1'
    try:
        sampling = {**SAMPLING, 'temperature': float(given)}
        Sampling.of(sampling)
    except ValueError as error:
        raise ValueError(f'GPASSK_TEMPERATURE is {given!r}: {error}') from None
    return {'sampling': sampling, 'max_out_len': length}


def limit() -> int | None:
    """Return how many problems of each data set GPASSK_LIMIT asks for; None if it isn't set."""
    given = _given('GPASSK_LIMIT')
    return _positive('GPASSK_LIMIT', given) if given else None


def rvbench(source: str, *, greedy: bool = False, prompt: str = 'default') -> dict[str, Any]:
    """Return abbr, source, seed, languages and more of RV-Bench, as :func:`livemathbench` does.

    Args:
        source: ``math`` or ``leetcode``.
        greedy: One sample of each problem, for greedy decoding.
        prompt: The preset of the prompts.
    """
    numbers = {}
    name = f'RV-{source.upper()}' + (f'-{prompt.replace("-", "")}' if prompt != 'default' else '')
    for field, variable, usual in (
        ('seed', 'GPASSK_RV_SEED', DEFAULT_SEED),
        ('per_group', 'GPASSK_RV_PER_GROUP', PER_GROUP),
    ):
        given = _given(variable)
        numbers[field] = int(given) if given == '0' else _positive(variable, given or str(usual))
        if numbers[field] != usual:
            name += f'-{field.replace("_", "")}{numbers[field]}'
    languages = ['en']
    if _given('GPASSK_LANGUAGES') and prompt != '4-shot':  # the worked examples are in English
        languages = _languages('RV-Bench', ('cn', 'en'))
    if languages != ['en']:
        name += f'-{"+".join(languages)}'
    return {
        **_protocol(name, QUICK, greedy),
        'source': source,
        'prompt': prompt,
        'languages': languages,
        **numbers,
    }


def check_name(abbr: str, n: int) -> None:
    """Refuse a data set whose name says another n than it has, anywhere in it; the last one counts.

    OpenCompass keeps responses under the name: those of the n in it would be taken.

    Raises:
        ValueError: If it does.
    """
    said = re.match(r'.*[-_]n(\d{1,6})(?![A-Za-z\d]|\.\d)', abbr)
    if said and int(said[1]) != n:
        raise ValueError(
            f'{abbr}: the name says n = {int(said[1])}, but n is {n}; OpenCompass keeps responses '
            f'under the name: set abbr and n of the data set to the same number, or append -n{n}'
        )


def checked_ks(k: int | Sequence[int], n: int, limit: int | None) -> list[int]:
    """Return the k of a data set, rising.

    Raises:
        ValueError: If n or the limit is no integer from 1, or a k none from 1 to n.
    """
    ks = [k] if isinstance(k, int) else list(k)
    if not isinstance(n, int) or n < 1:
        raise ValueError(f'n is {n!r}; give the number of samples of each problem, from 1')
    if not ks or not all(isinstance(number, int) and 1 <= number <= n for number in ks):
        raise ValueError(f'k is {k!r}, n is {n}; every k must be an integer from 1 to n')
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise ValueError(f'limit is {limit!r}; give the number of problems to keep, from 1')
    return sorted(ks)


def forty_five_file(path: str | None) -> str | None:
    """Return the user's own list: a file, or ``aime2024-45.*`` in a folder or its ``aime``."""
    if path is None or Path(path).is_file():
        return path
    for file in sorted([*Path(path).glob('*'), *Path(path).glob('aime/*')]):
        if file.stem.lower().replace('_', '-') == 'aime2024-45' and file.is_file():
            require_literal(str(file), 'the list of 45 problems')
            return str(file)
    return None


def _protocol(name: str, usual: tuple[int, tuple[int, ...]], greedy: bool) -> dict[str, Any]:
    """Return abbr, n, k and limit; if GPASSK_K isn't set, the usual k up to n."""
    problems = limit()
    name += f'-first{problems}' if problems else ''
    if greedy:
        return {'abbr': f'{name}-greedy-n1', 'n': 1, 'k': 1, 'limit': problems}
    usual_n, usual_ks = usual
    n = _positive('GPASSK_N', _given('GPASSK_N') or str(usual_n))
    found = {'abbr': f'{name}-n{n}', 'n': n, 'limit': problems}
    given = _given('GPASSK_K')
    if not given:
        return {**found, 'k': [k for k in usual_ks if k <= n] or [n]}
    ks = sorted({_positive('GPASSK_K', part.strip()) for part in given.split(',')})
    if ks[-1] > n:
        raise ValueError(
            f'GPASSK_K is {given!r}, but there are only {n} samples of each problem; '
            f'set GPASSK_N to {3 * ks[-1]}, three times the largest k'
        )
    return {**found, 'k': ks}


def _languages(data: str, known: Sequence[str]) -> list[str]:
    given = _given('GPASSK_LANGUAGES')
    chosen = {part.strip() for part in given.split(',')} if given else set(known)
    if not chosen <= set(known):
        raise ValueError(f'GPASSK_LANGUAGES is {given!r}; {data} has {", ".join(known)}')
    return [language for language in known if language in chosen]


def _data_path() -> str | None:
    """Return the path in GPASSK_DATA as an absolute one, since tasks may run in another folder."""
    given = _given('GPASSK_DATA')
    if not given:
        return None
    path = Path(given).expanduser().absolute()
    if not path.exists():
        raise ValueError(f'GPASSK_DATA is {given!r}, where there is no file or folder')
    require_literal(str(path), 'GPASSK_DATA')
    return str(path)


def _given(name: str) -> str:
    return os.environ.get(name, '').strip()


def _positive(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError(f'{name} is {os.environ.get(name)!r}; positive integers are needed')
    return int(text)
