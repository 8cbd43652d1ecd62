"""Chromium for tests of the report page, driven by Playwright."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser'))), None)
ARGUMENTS = ('--no-sandbox', '--disable-gpu', '--disable-background-networking')


@contextmanager
def browser() -> Iterator[Any]:
    """Start Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def opened(chromium: Any, page: Path | str, **settings: Any) -> Iterator[Any]:
    """Open a page in a context of its own; ``tab.told`` holds what it said on the console.

    Args:
        chromium: The browser.
        page: A file, or an address.
        **settings: Of the context, such as ``color_scheme``.
    """
    context = chromium.new_context(**{'viewport': {'width': 1280, 'height': 900}, **settings})
    tab = context.new_page()
    tab.told = []
    tab.on('console', lambda message: tab.told.append(f'{message.type}: {message.text}'))
    tab.on('pageerror', lambda error: tab.told.append(f'error: {error}'))
    tab.on('dialog', lambda dialog: tab.told.append(f'dialog: {dialog.message}'))
    tab.goto(page.absolute().as_uri() if isinstance(page, Path) else page)
    try:
        yield tab
    finally:
        context.close()


def until(tab: Any, expression: str, arg: Any = None, seconds: float = 20) -> None:
    """Wait until a condition holds on a page whose policy lets nothing evaluate a text in it."""
    end = time.monotonic() + seconds
    while not tab.evaluate(expression, arg):
        if time.monotonic() > end:
            raise TimeoutError(f'{expression} still does not hold; the page said {tab.told}')
        time.sleep(0.02)
