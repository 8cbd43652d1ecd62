"""Packaging of opencompass-gpassk."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
VERSION = re.search(
    r"__version__ = '(.+)'", (ROOT / 'opencompass_gpassk/__init__.py').read_text('utf-8')
).group(1)

setup(
    name='opencompass-gpassk',
    version=VERSION,
    packages=find_packages(include=['opencompass_gpassk*']),
    include_package_data=True,
    python_requires='>=3.10,<3.12',
    install_requires=['opencompass>=0.5.4,<0.6', 'math-verify[antlr4_13_2]'],
    entry_points={'console_scripts': ['gpassk=opencompass_gpassk.cli:main']},
)
