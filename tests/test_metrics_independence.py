"""The independence audit finds copies, and leaves honest coincidences alone."""

from __future__ import annotations

import numpy as np
import pytest

from opencompass_gpassk.metrics.independence import Independence, audit_independence


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
