"""Real data to test against: the folder that GPASSK_TEST_DATA names."""

from __future__ import annotations

import os

import pytest

DATA = os.environ.get('GPASSK_TEST_DATA')
needs_data = pytest.mark.skipif(not DATA, reason='GPASSK_TEST_DATA is not set')
