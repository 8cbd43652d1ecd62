"""One test of many cases, which lists those that fail."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any

MOST_TOLD = 20


def every(cases: Sequence[Any], name: Callable[[Any], str] = str) -> Callable[..., Any]:
    """Make a test of a check on one case: it runs the check on all, and lists those that fail.

    Thousands of tests of a few lines each cost more than what they test.

    With ``GPASSK_CASE=name`` in the environment only the cases of that name are checked.

    Args:
        cases: The cases. The check takes one as its first argument, and fixtures as the others.
        name: Returns the name of a case, for the list.
    """

    wanted = os.environ.get('GPASSK_CASE')
    chosen = [case for case in cases if wanted in (None, name(case))]

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        def test(**fixtures: Any) -> None:
            failed = []
            for case in chosen:
                try:
                    check(case, **fixtures)
                except AssertionError as error:
                    failed.append(f'{name(case)}: {error}')
            told = '\n'.join(failed[:MOST_TOLD])
            assert not failed, f'{len(failed)} of {len(chosen)} fail:\n{told}'

        _, *fixtures = inspect.signature(check).parameters.values()
        test.__name__, test.__doc__ = check.__name__, check.__doc__
        test.__signature__ = inspect.Signature(fixtures)  # type: ignore[attr-defined]  # for pytest
        return test

    return decorate


def named(case: dict[str, Any]) -> str:
    """Return the name of a case of a data file."""
    return str(case['id'])
