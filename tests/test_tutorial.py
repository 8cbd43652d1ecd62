"""docs/tutorial.md shows what its commands print."""

from __future__ import annotations

import pytest

from tools.make_tutorial import PAGE, regenerated


@pytest.mark.slow
def test_the_tutorial_is_what_its_commands_print() -> None:
    """``python -m tools.make_tutorial`` changes nothing: no output, and no number of the claim."""
    page = PAGE.read_text('utf-8')
    assert regenerated(page) == page
