"""The versions of LiveMathBench, and the problems in each of their parts."""

from __future__ import annotations

__all__ = ['VERSIONS']

SPLITS = ('CNMO', 'CCEE', 'AMC', 'WLPMC')
COUNTS_202412 = {'CNMO': 18, 'CCEE': 44, 'AMC': 46, 'WLPMC': 11}
# Problems of each part, None where the authors publish no figure.
VERSIONS: dict[str, dict[tuple[str, str], int | None]] = {
    'sample': {(split, language): 6 for split in SPLITS for language in ('cn', 'en')},
    '202412': {
        (split, language): count
        for split, count in COUNTS_202412.items()
        for language in ('cn', 'en')
    },
    '202412-hard': {('hard', 'cn'): 24, ('hard', 'en'): 21},
    '202505': {('all', 'en'): None},
    '202505-hard': {('hard', 'en'): None},
}
