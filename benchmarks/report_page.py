"""Measure the report page: time to make and to open it, and its size.

A sweep is made up: models that sample problems, each response some words long. Then the page is
written as by ``gpassk report`` and opened in Chromium several times, each in a new browser.
``first screen`` is the time from the navigation to the first paint, ``all`` to the end of the
page's script, when everything can be sorted, filtered and opened.

    python benchmarks/report_page.py --models 20 --problems 500 --samples 48
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / 'tests/kit'))

from made_sweep import Sweep, make_sweep
from report_browser import browser, opened, until

from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import write_page

WORDS = (
    *('therefore', 'the', 'number', 'is', 'a', 'square', 'of', 'both', 'sides', 'we', 'divide'),
    *('by', 'two', 'and', 'get', 'remainder', 'modulo', 'seven', 'which', 'equals', 'x', 'hence'),
    *('let', 'y', 'be', 'an', 'integer', 'then', 'so', 'prime', 'in', 'every', 'case', 'root'),
)


def words(rng: random.Random, count: int) -> str:
    """Return a made-up response."""
    return ' '.join(rng.choices(WORDS, k=count))


def main() -> None:
    """Make the sweep and the page, open it, and print the metrics."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (('models', 20), ('problems', 500), ('samples', 48), ('words', 250)):
        parser.add_argument(f'--{name}', type=int, default=default)
    parser.add_argument('--opened', type=int, default=5, help='how often the page is opened')
    parser.add_argument('--keep', type=Path, help='where the page is to stay')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run, page = Path(folder, '20260101_000000'), args.keep or Path(folder, 'report.html')
        sweep = Sweep(
            problems=args.problems,
            n=args.samples,
            k=(4, 8, 16),
            respond=lambda rng: words(rng, rng.randint(args.words // 2, 3 * args.words // 2)),
        )
        start = time.perf_counter()
        make_sweep(run, {f'model-{i:02}': i / 4 - 2 for i in range(args.models)}, sweep)
        print(f'sweep made up: {time.perf_counter() - start:.1f} s')
        start = time.process_time()
        data = page_data([run])
        print(f'data collected: {time.process_time() - start:.1f} CPU-s')
        start = time.process_time()
        write_page(page, data)
        print(f'page written: {time.process_time() - start:.1f} CPU-s')
        print(f'size: {page.stat().st_size / 1e6:.1f} MB')
        print(f'{data.data_sets[0].left_out} answers open no response')
        first, every = zip(*(_times(page) for _ in range(args.opened)), strict=True)
        for name, times in (('first screen', first), ('all', every)):
            print(f'{name}: median {statistics.median(times):.2f} s, worst {max(times):.2f} s')


def _times(page: Path) -> tuple[float, float]:
    with browser() as chromium, opened(chromium, page) as tab:
        until(tab, "performance.getEntriesByName('first-contentful-paint').length > 0")
        marks = [tab.evaluate(MARK, name) for name in ('first-contentful-paint', 'ready')]
    return marks[0] / 1000, marks[1] / 1000


MARK = 'name => performance.getEntriesByName(name)[0].startTime'

if __name__ == '__main__':
    main()
