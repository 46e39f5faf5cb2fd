"""Files of models from the network: dy2st takes those that are there, and downloads nothing."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterable

from dy2st.paddle.dataset.common import md5file
from dy2st_runtime.errors import ArgumentError, MissingFile
from dy2st_runtime.lazy import public_dir

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
    """The file of this address under `root_dir`; MissingFile if it is not there yet.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open(f"{folder}/net.pdparams", "w").close()
    ...     path = get_path_from_url("https://example.org/net.pdparams", folder)
    >>> path.endswith("net.pdparams")
    True
    """
    path = os.path.join(root_dir, url.rpartition("/")[2])
    if not os.path.exists(path):
        raise MissingFile(
            2, f"dy2st downloads nothing; download {url} yourself, and put it here", path
        )
    if md5sum is not None and md5file(path) != md5sum:
        raise ArgumentError(f"{path} is not the file of {url}: its MD5 sum is not {md5sum}")
    return path


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The file of this address in WEIGHTS_HOME; MissingFile if it is not there yet.

    >>> get_weights_path_from_url("https://example.org/a.pdparams")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.MissingFile: ...download https://example.org/a.pdparams yourself...
    """
    return get_path_from_url(url, WEIGHTS_HOME, md5sum)


def _get_unique_endpoints(trainer_endpoints: Iterable[str]) -> set[str]:
    """One endpoint of each machine, of texts like `127.0.0.1:80`: the first."""
    found: dict[str, str] = {}
    for endpoint in trainer_endpoints:
        found.setdefault(endpoint.partition(":")[0], endpoint)
    return set(found.values())


def _decompress(fname: str) -> str:
    """Unpack an archive beside itself; the folder or file that it has on top."""
    folder = os.path.dirname(os.path.abspath(fname))
    before = set(os.listdir(folder))
    safely = {"filter": "data"} if tarfile.is_tarfile(fname) else {}
    shutil.unpack_archive(fname, folder, **safely)  # type: ignore[arg-type]
    made = sorted(set(os.listdir(folder)) - before)
    return os.path.join(folder, made[0]) if len(made) == 1 else folder


__dir__ = public_dir(__name__)
