"""Packaging of opencompass-gpassk."""

import re
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
VERSION = re.findall(
    r"^__version__ = '(.+)'$", (ROOT / 'opencompass_gpassk/__init__.py').read_text('utf-8'), re.M
)[0]

# The only place for the repository's address, such as https://github.com/OWNER/NAME; none yet.
ADDRESS = ''


def on_an_index(page: str) -> str:
    """Return the README with links that lead into the repository from any other site."""
    if not ADDRESS:
        return page
    page = re.sub(r'(!\[[^]]*\]\()(?!https?:|#)', rf'\1{ADDRESS}/raw/v{VERSION}/', page)
    return re.sub(r'(?<=\]\()(?!https?:|#)', f'{ADDRESS}/blob/v{VERSION}/', page)


# Folders without __init__.py; in the repository the package has a link to the top level's.
CONFIGS = ROOT / 'opencompass_gpassk/configs'
CONFIG_PACKAGES = [
    '.'.join(folder.relative_to(ROOT).parts)
    for folder in [CONFIGS, *sorted(CONFIGS.rglob('*'))]
    if folder.is_dir() and folder.name != '__pycache__'
]

# OpenCompass leaves most of its requirements open, and today's newest releases break it.
# These bounds name the releases between which it works; constraints.txt names one tested set.
REQUIREMENTS = [
    'opencompass>=0.5.4,<0.6',
    'mmengine-lite>=0.10',
    'numpy>=1.23.4,<2',  # OpenCompass's own bound
    'transformers>=4.51,<5',  # 5 removed `batch_encode_plus`, which OpenCompass calls
    'pyarrow>=14,<21',  # later wheels are built for numpy 2
    'datasets>=2.19,<4',  # OpenCompass's own bound
    'sentence-transformers>=3,<6',  # imported with OpenCompass
    'math-verify[antlr4_13_2]>=0.9,<0.10',
    'aiohttp>=3.10,<4',
    'backports.zstd>=1,<2',  # zip files of inspect_ai; Python has it from 3.14 on
    'safetensors>=0.4',
    'jinja2>=3.1',
    'latex2mathml>=3.77',
    'markupsafe>=2',
    'pydantic>=2.7,<3',
    'psutil>=5.9',
    'scipy>=1.9',
    'tabulate>=0.9',
    'tqdm>=4.64',
]
EXTRAS = {
    'docs': [  # for Python 3.11 and later
        'mkdocs>=1.6,<2',
        'mkdocs-material>=9.6,<10',  # its end is announced for May 2027; Zensical is to follow it
        'mkdocstrings[python]>=1,<2',
    ],
    'report': ['matplotlib>=3.8'],
    'reasoneval': ['accelerate>=1.0'],
    'test': [
        'accelerate>=1.0',
        'axe-playwright-python>=0.1.7',
        'matplotlib>=3.8',
        'hypothesis>=6.100',
        'import-linter>=2',
        'mypy>=1.11',
        'playwright>=1.50',
        'pytest>=8',
        'pytest-xdist>=3.7',
        'ruff>=0.8',
        'types-tabulate',
        'types-tqdm',
    ],
}

setup(
    name='opencompass-gpassk',
    version=VERSION,
    description='Stability of language models on reasoning benchmarks: G-Pass@k for OpenCompass',
    long_description=on_an_index((ROOT / 'README.md').read_text('utf-8')),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    project_urls={
        **(
            {'Source': ADDRESS, 'Changelog': f'{ADDRESS}/blob/main/CHANGELOG.md'} if ADDRESS else {}
        ),
        'OpenCompass': 'https://github.com/open-compass/opencompass',
        'G-Pass@k': 'https://arxiv.org/abs/2412.13147',
        'RV-Bench': 'https://arxiv.org/abs/2501.11790',
        'ReasonEval': 'https://arxiv.org/abs/2404.05692',
    },
    classifiers=[
        'Development Status :: 4 - Beta',
        'Environment :: Console',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        'Programming Language :: Python :: 3.10',
        'Programming Language :: Python :: 3.11',
        'Programming Language :: Python :: 3.12',
        'Topic :: Scientific/Engineering :: Artificial Intelligence',
        'Typing :: Typed',
    ],
    packages=[*find_packages(include=['opencompass_gpassk*']), *CONFIG_PACKAGES],
    package_data={
        'opencompass_gpassk': [
            f'**/*.{ending}'
            for ending in (
                'css',
                'jinja',
                'js',
                'json',
                'jsonl',
                'md',
                'safetensors',
                'txt',
                'typed',
            )
        ],
        **{package: ['*.py'] for package in CONFIG_PACKAGES},
    },
    python_requires='>=3.10,<3.13',
    install_requires=REQUIREMENTS,
    extras_require=EXTRAS,
    entry_points={'console_scripts': ['gpassk=opencompass_gpassk.commands.main:main']},
)
