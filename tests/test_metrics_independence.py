"""The independence audit finds copies, and leaves honest coincidences alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from real_data import DATA, needs_data

from opencompass_gpassk.metrics.independence import (
    Independence,
    audit_independence,
    long_texts_shared,
    stem,
    unlinked_translations,
)


def audit(texts: list[list[str]], cut_off: bool = False) -> Independence:
    """Audit ``texts[problem][replica]``."""
    rows = [(p, r, text) for p, row in enumerate(texts) for r, text in enumerate(row)]
    ids = {text: i for i, text in enumerate(dict.fromkeys(text for _, _, text in rows))}
    return audit_independence(
        np.array([p for p, _, _ in rows]),
        np.array([r for _, r, _ in rows]),
        np.array([ids[text] for _, _, text in rows]),
        np.array([len(text) for _, _, text in rows]),
        np.full(len(rows), cut_off),
        np.unique([stem(text) for _, _, text in rows], return_inverse=True)[1],
    )


def test_greedy_copies_are_found() -> None:
    """n copies of one response a problem look like greedy decoding."""
    found = audit([[f'answer {p}'] * 4 for p in range(20)])
    assert found.identical == 1.0
    assert found.repeated_replicas == 3
    assert 'greedy' in str(found.warning())


def test_repeated_seed_is_found_in_short_responses() -> None:
    """Two shards drawn with one seed repeat each other replica by replica."""
    found = audit([[f'{p} {r % 2}' for r in range(4)] for p in range(20)])
    assert found.identical == 0.0
    assert found.repeated_replicas == 2
    assert 'seed' in str(found.warning())


def test_long_copies_are_found() -> None:
    """A few exact copies of long responses are no coincidence."""
    texts = [[f'{p} {r} ' + 'x' * 300 for r in range(4)] for p in range(20)]
    for row in texts[:10]:
        row[3] = row[2]
    found = audit(texts)
    assert found.duplicates == pytest.approx(10 / 80)
    assert found.repeated_replicas == 0
    assert 'copy' in str(found.warning())


@pytest.mark.parametrize('seeds', ['AAAAAAAAAAAAAAAB', 'AAAAAAAABBBBBBBB'])
def test_many_copies_of_few_replicas_are_found(seeds: str) -> None:
    """How often copies agree says nothing of how often independent replicas would."""
    found = audit([[f'{p} {seed}' for seed in seeds] for p in range(12)])
    assert 'seed' in str(found.warning())


def test_responses_that_are_cut_off_are_no_copies() -> None:
    """Their beginnings are alike; but if they differ, a repeated seed is found."""
    same = [[f'{p} ' + 'x' * 300] * 4 for p in range(20)]
    assert audit(same).warning()
    assert audit(same, cut_off=True).warning() is None
    seeds = [[f'{p} {r % 2}' + 'x' * 300 for r in range(4)] for p in range(20)]
    assert 'seed' in str(audit(seeds, cut_off=True).warning())


def test_nothing_to_audit() -> None:
    """Without responses the shares are undefined."""
    empty = np.array([], dtype=np.int64)
    found = audit_independence(empty, empty, empty, empty, empty.astype(bool))
    assert np.isnan(found.identical)
    assert found.warning() is None


def long(text: str) -> str:
    """Return a response of more than 200 characters about a text."""
    return f'{text}: ' + 'abcdefghij' * 25


def test_copies_withhold_what_equal_texts_do_not() -> None:
    """A repeated seed, the same long text everywhere; not long texts that are equal at times."""
    rng = np.random.default_rng(3)
    seeds = audit([[f'{p} {r % 2} {rng.random()}'[:9] for r in (0, 1)] * 2 for p in range(20)])
    assert 'replicas repeat' in seeds.copies
    greedy = audit([[long(f'p{p}')] * 4 for p in range(20)])
    assert 'identical' in greedy.copies
    cold = [[long(f'{"xy"[int(v)]}{p}') for v in rng.random(16) < 0.6] for p in range(20)]
    assert audit(cold).copies == ''
    letters = [[f'{"ABCD"[v]}' for v in rng.integers(0, 4, 8)] for _ in range(40)]
    assert audit(letters).copies == ''
    certain = [['A'] * 8 for _ in range(40)]
    assert audit(certain).copies == ''


def test_a_long_text_under_two_problems_is_a_copy() -> None:
    """Short ones and ones that were cut off are not; nor is one that a problem has twice."""
    own = [[long(f'{p}-{r}') for r in range(3)] for p in 'abcdefghijkl']
    assert audit(own).copies == ''
    own[3][0] = own[4][0] = own[5][1]
    found = audit(own)
    assert found.elsewhere == 1
    assert 'several problems: 1' in found.copies
    assert found.warning() == found.copies
    assert audit(own, cut_off=True).elsewhere == 0
    assert audit([['short'], ['short']] * 6).elsewhere == 0


@pytest.mark.parametrize('change', ['blank', 'counter', 'end'])
def test_near_copies_are_warned_of(change: str) -> None:
    """A trailing blank, a counter, or another ending makes a copy differ, and nothing else."""
    changed = {
        'blank': lambda text: text + ' ',
        'counter': lambda text: '7 ' + text,
        'end': lambda text: text[:-12] + 'ZYXWVUTSRQPO',
    }[change]
    rows = [[long(f'{p}{r}') for r in 'stuv'] for p in 'abcdefghijkl']
    assert audit(rows).near == 0
    for row in rows:
        row[3] = changed(row[2])
    found = audit(rows)
    assert found.near == pytest.approx(1 / 4)
    assert 'nearly repeat' in str(found.warning())
    assert found.copies == ''


@needs_data
def test_real_samples_of_one_model_are_no_copies() -> None:
    """100 problems of MATH with 8 samples each, some of them equal."""
    path = Path(DATA or '') / 'samples' / 'qwen25math_math_100x8.jsonl'
    rows = [json.loads(line) for line in path.read_text('utf-8').splitlines()]
    found = audit([row['samples'] for row in rows])
    assert found.duplicates > 0.05
    assert found.copies == ''
    assert found.near < 0.05


def test_two_models_share_no_long_texts() -> None:
    """Equal ones are counted once."""
    assert long_texts_shared(['a', 'b', 'b', 'c'], ['b', 'c', 'd', 'c']) == 2
    assert long_texts_shared(['a'], []) == 0


def test_translations_without_a_question_are_named() -> None:
    """Equal golds in two languages whose rates correlate; equal golds alone are no translation."""
    rng = np.random.default_rng(5)
    rates = rng.beta(0.5, 0.5, 40)
    language = ['en'] * 40 + ['zh'] * 40
    gold = [str(i) for i in range(40)] * 2
    alone = [str(i) for i in range(80)]
    both = np.concatenate([rates, np.clip(rates + rng.normal(0, 0.1, 40), 0, 1)])
    assert unlinked_translations(language, gold, alone, both) == 40
    both[3] = np.nan
    assert unlinked_translations(language, gold, alone, both) == 39
    linked = [str(i) for i in range(40)] * 2
    assert unlinked_translations(language, gold, linked, both) == 0
    assert unlinked_translations(language, gold, alone, rng.random(80)) == 0
    assert unlinked_translations(language, ['1'] * 80, alone, both) == 0
    assert unlinked_translations(['en'] * 80, gold, alone, both) == 0
