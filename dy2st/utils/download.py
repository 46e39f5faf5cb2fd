"""Files of models from the network: dy2st takes those that are there, and downloads nothing."""

from __future__ import annotations

import hashlib
import os

from dy2st_runtime.errors import ArgumentError, MissingFile

WEIGHTS_HOME = os.path.expanduser("~/.cache/paddle/hapi/weights")


def is_url(path: str) -> bool:
    """Whether a text is an address.

    >>> is_url("https://example.org/a.pdparams"), is_url("a.pdparams")
    (True, False)
    """
    return path.startswith(("http://", "https://"))


def get_path_from_url(
    url: str,
    root_dir: str,
    md5sum: str | None = None,
    check_exist: bool = True,
    decompress: bool = True,
    method: str = "get",
) -> str:
    """The file of this address under `root_dir`; MissingFile if it is not there yet."""
    path = os.path.join(root_dir, url.rpartition("/")[2])
    if not os.path.exists(path):
        raise MissingFile(
            2, f"dy2st downloads nothing; download {url} yourself, and put it here", path
        )
    if md5sum is not None and _md5(path) != md5sum:
        raise ArgumentError(f"{path} is not the file of {url}: its MD5 sum is not {md5sum}")
    return path


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The file of this address in WEIGHTS_HOME; MissingFile if it is not there yet."""
    return get_path_from_url(url, WEIGHTS_HOME, md5sum)


def _md5(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.md5(file.read()).hexdigest()
