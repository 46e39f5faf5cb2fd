"""Keeps object code on disk, so that a Program that was compiled once is ready in milliseconds.

    ~/.cache/dy2st/native/<digest of text, processor and versions>      (or under XDG_CACHE_HOME)

Code is run as it is found, so it is read only where nobody but its owner can have written it, and
only if it is whole. Whatever is wrong with folder or file, the code is made again: nothing here
raises. `DY2ST_CACHE=off` keeps nothing.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

_START = b"dy2st native code 2\n"
MOST_BYTES = 256 << 20
"""How much is kept; what was not used for the longest time goes first."""


def key(*parts: str) -> str:
    """The name of what is made of these parts.

    >>> key("text", "processor")[:16], key("textp", "rocessor")[:16]
    ('523a14f6af30e2cd', '126ae382b3874253')
    """
    return sha256("\0".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


def read(name: str) -> bytes | None:
    """The code of that name, None if there is none that can be trusted."""
    folder = cache_folder()
    if folder is None:
        return None
    with suppress(OSError):
        path = folder / name
        if _is_ours(path):
            # What a file holds; a pipe in its place never blocks, and holds nothing.
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
                data = file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
            head, code = data[: len(_START) + 32], data[len(_START) + 32 :]
            if head == _head(name, code):
                with suppress(OSError):  # a folder that is only read
                    os.utime(path)
                return code
    return None


def write(name: str, code: bytes) -> None:
    """Keep code under a name, if that can be done."""
    folder = cache_folder()
    if folder is None:
        return
    # A whole file takes its name at once: others never read a part of one.
    written = folder / f".{name}-{os.getpid()}-{os.urandom(4).hex()}"
    try:
        with open(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_head(name, code) + code)
        os.replace(written, folder / name)
        # What was not used for the longest time is removed, if there is too much. The folder is
        # closed too where another process removes a file meanwhile.
        with os.scandir(folder) as entries:
            files = [(entry.stat(), Path(entry.path)) for entry in entries]
        total = sum(found.st_size for found, _ in files)
        for found, path in sorted(files, key=lambda pair: pair[0].st_mtime):
            if total <= MOST_BYTES:
                break
            with suppress(OSError):
                path.unlink()
            total -= found.st_size
    except OSError:
        with suppress(OSError):
            written.unlink()


def _head(name: str, code: bytes) -> bytes:
    """What stands before the code: a file that took the name of another one is recognised by it."""
    # The name is in the sum, so that code cannot stand for another text.
    return _START + sha256(name.encode() + code).digest()


def cache_folder() -> Path | None:
    """The folder of this user, None if nothing is to be kept, or others can write into it."""
    if os.environ.get("DY2ST_CACHE", "") == "off":
        return None
    with suppress(OSError, RuntimeError):  # no home
        start = os.environ.get("XDG_CACHE_HOME", "")
        folder = (Path(start) if start else Path.home() / ".cache") / "dy2st" / "native"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_ours(folder) else None
    return None


def _is_ours(path: Path) -> bool:
    """Whether it belongs to this user, and nobody else can write it."""
    found = path.lstat()
    own = getattr(os, "getuid", lambda: found.st_uid)()
    return found.st_uid == own and not found.st_mode & 0o022


__all__ = ["MOST_BYTES", "cache_folder", "key", "read", "write"]
