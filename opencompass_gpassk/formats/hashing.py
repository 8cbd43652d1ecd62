"""Hashes that are equal in every process and on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any


def stable_hash(value: Any) -> str:
    """Return the hexadecimal SHA-256 of a value as JSON; what JSON can't hold becomes a text."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def text_hash(texts: Sequence[str]) -> str:
    """Return eight hexadecimal digits that name a sequence of texts."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode('utf-8', 'surrogatepass') + b'\0')
    return digest.hexdigest()[:8]
