"""Take the picture of the report page in the README, in Chromium.

    python benchmarks/report_picture.py outputs/scored -o docs/report.png

It shows the page as it opens: the sentence, the board and the problems.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / 'tests/kit'))

from report_browser import browser, opened

from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import write_page

WIDTH = 1100
END = "Math.ceil(document.querySelector('.where').getBoundingClientRect().top - 10)"


def main() -> None:
    """Make the page, and take its picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('paths', type=Path, nargs='+', help='as for gpassk report')
    parser.add_argument('-o', '--output', type=Path, default=Path('docs/report.png'))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        page = Path(folder, 'report.html')
        write_page(page, page_data(args.paths))
        size = {'width': WIDTH, 'height': 1400}
        with opened(chromium, page, viewport=size, color_scheme='light') as tab:
            area = {'x': 0, 'y': 0, 'width': WIDTH, 'height': tab.evaluate(END)}
            tab.screenshot(path=args.output, clip=area)
    print(f'{args.output}: {args.output.stat().st_size / 1e3:.0f} kB')


if __name__ == '__main__':
    main()
