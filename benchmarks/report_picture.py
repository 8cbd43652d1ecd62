"""Take the picture of the report page in the README, in Chromium.

    python benchmarks/report_picture.py outputs/livemath -o docs/report.png

It shows the problems in English that are solved only sometimes, and opens the first of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / 'tests/kit'))

from report_browser import browser, opened, until

from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import write_page

WIDTH = 1000
# The picture is higher than the window, so nothing may stick to the window's top.
UNSTUCK = "document.getElementById('choices').style.position = 'static'"
END = """Math.ceil(document.querySelector('#problem .entry').getBoundingClientRect().bottom
    + scrollY + 12)"""


def main() -> None:
    """Make the page from a run of the demonstration model, and take its picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('paths', type=Path, nargs='+', help='as for gpassk report')
    parser.add_argument('-o', '--output', type=Path, default=Path('docs/report.png'))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        page = Path(folder, 'report.html')
        write_page(page, page_data(args.paths))
        size = {'width': WIDTH, 'height': 900}
        with opened(chromium, page, viewport=size, color_scheme='light') as tab:
            until(tab, "performance.getEntriesByName('curves').length > 0")
            tab.select_option('#group', 'en')
            tab.check('#sometimes')
            tab.locator('#cells tbody td').first.click()
            until(tab, "document.activeElement.id === 'problem-title'")
            tab.evaluate(UNSTUCK)
            tab.evaluate('document.activeElement.blur()')
            end = tab.evaluate(END)
            clip = {'x': 0, 'y': 0, 'width': WIDTH, 'height': end}
            tab.screenshot(path=args.output, full_page=True, clip=clip)
    print(f'{args.output}: {args.output.stat().st_size / 1000:.0f} kB')


if __name__ == '__main__':
    main()
