"""The independence audit finds copies, and leaves honest coincidences alone."""

from __future__ import annotations

import numpy as np
import pytest

from opencompass_gpassk.metrics.independence import Independence, audit_independence


def audit(texts: list[list[str]]) -> Independence:
    """Audit ``texts[problem][replica]``."""
    rows = [(p, r, text) for p, row in enumerate(texts) for r, text in enumerate(row)]
    ids = {text: i for i, text in enumerate(dict.fromkeys(text for _, _, text in rows))}
    return audit_independence(
        np.array([p for p, _, _ in rows]),
        np.array([r for _, r, _ in rows]),
        np.array([ids[text] for _, _, text in rows]),
        np.array([len(text) for _, _, text in rows]),
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


def test_short_coincidences_are_no_finding() -> None:
    """Independent short responses that sometimes agree raise no alarm."""
    rng = np.random.default_rng(1)
    found = audit([[f'{p} {v}' for v in rng.integers(0, 3, 8)] for p in range(40)])
    assert found.warning() is None
    assert np.isnan(found.duplicates)


def test_nothing_to_audit() -> None:
    """Without responses the shares are undefined."""
    empty = np.array([], dtype=np.int64)
    found = audit_independence(empty, empty, empty, empty)
    assert np.isnan(found.identical)
    assert found.warning() is None
