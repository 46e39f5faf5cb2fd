"""Computes sums of files, and says where datasets lie that were downloaded by other means."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from dy2st_runtime.lazy import public_dir

DATA_HOME = os.path.expanduser("~/.cache/paddle/dataset")


def md5file(fname: str) -> str:
    """The MD5 sum of a file, in hexadecimal digits.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     print(md5file(file.name))
    d41d8cd98f00b204e9800998ecf8427e
    """
    return hashlib.md5(Path(fname).read_bytes(), usedforsecurity=False).hexdigest()


__all__ = ["DATA_HOME", "md5file"]
__dir__ = public_dir(__name__)
