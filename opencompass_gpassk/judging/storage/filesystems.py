"""Is a file on a file system that several machines share?"""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ['is_network']

MOUNTS = Path('/proc/self/mounts')
NETWORK = {
    '9p', 'afs', 'beegfs', 'ceph', 'cifs', 'gfs2', 'glusterfs', 'gpfs', 'lustre', 'ncpfs', 'nfs',
    'nfs4', 'ocfs2', 'orangefs', 'panfs', 'pvfs2', 'quobyte', 'smb3', 'smbfs', 'virtiofs', 'wekafs',
}  # fmt: skip


def is_network(path: Path, mounts: str | None = None) -> bool:
    """Tell whether other machines may have the same file open.

    Args:
        path: A file, which need not be there yet.
        mounts: The table of mounts; by default the kernel's. Without one, as on macOS, the answer
            is no.
    """
    if mounts is None:
        try:
            mounts = MOUNTS.read_text('utf-8', errors='surrogateescape')
        except OSError:
            return False
    folders = path.resolve().parents
    best, kind = -1, ''
    for line in mounts.splitlines():
        _, point, found, *_ = [*line.split(' '), '', '', '']
        mounted = Path(re.sub(r'\\([0-7]{3})', lambda code: chr(int(code[1], 8)), point))
        # Of two mounts at one place the later hides the earlier.
        if mounted in folders and len(mounted.parts) >= best:
            best, kind = len(mounted.parts), found
    # What FUSE serves is most often on another machine, and may lack what memory maps need.
    return kind in NETWORK or kind.startswith('fuse.')
