"""Files that are whole or as they were, whoever is killed meanwhile; and disks that refuse.

All that is written here is first written into a folder of ours beside its place, under numbers: a
name may have any bytes but "/" and 0. When it is whole a list says so, and everything on it is
renamed. If the process is killed before the list stands, the next one that comes by removes the
folder; if later, it renames the rest.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dy2st_runtime.errors import ArgumentError, FileAccessError, MissingFile, nearest

_MACHINE = hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()
_OURS = re.compile(r"\.dy2st-([0-9a-f]{8})-([0-9]{1,9})-[0-9a-f]{8}")
_LIST = ".renamed"
# Where nobody can say whether a process is alive: on other machines, and on Windows.
_OLD = 24 * 3600


@contextmanager
def replacing(*paths: Path) -> Iterator[list[Path]]:
    """Names to write to; when the `with` ends well these files replace `paths`, in this order.

    All paths are in one folder. Raises FileAccessError with the path if the disk refuses.
    """
    _check_places(paths)
    with temporary_folder(paths[0].parent) as folder:
        temporary = [folder / str(number) for number in range(len(paths))]
        yield temporary
        mode = folder.stat().st_mode & 0o666  # some libraries make files for their owner alone
        for written, path in zip(temporary, paths, strict=True):
            with naming(path), written.open("rb+") as file:
                os.fsync(file.fileno())  # the data must be on the disk before the name is
                written.chmod(mode)
        with naming(folder):
            _check_places(paths)
            (folder / _LIST).write_bytes(b"\0".join(os.fsencode(path.name) for path in paths))


def _check_places(paths: Sequence[Path]) -> None:
    """Refuse what would end the renaming in its midst: a folder in the place of a file."""
    for path in paths:
        with naming(path), suppress(FileNotFoundError):
            if stat.S_ISDIR(path.lstat().st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """A new folder in `parent`; at the end it is gone, with all that is still in it."""
    tidy(parent)
    folder = parent / f".dy2st-{_MACHINE}-{os.getpid()}-{os.urandom(4).hex()}"
    with naming(parent):
        folder.mkdir()
    try:
        yield folder
    finally:
        _finish(folder)


def tidy(parent: Path) -> None:
    """Finish what processes that are gone have begun in a folder, and remove what they have left.

    Nothing happens where we may not write.
    """
    with naming(parent):
        found = [entry for entry in parent.iterdir() if _is_left_over(entry)]
    for folder in found:
        with suppress(OSError):
            _finish(folder)


def _finish(folder: Path) -> None:
    """Rename what stands on the list of a folder of ours, and remove it."""
    names = folder / _LIST
    try:
        listed = names.read_bytes().split(b"\0") if names.exists() else ()
        for number, name in enumerate(listed):
            path = folder.parent / os.fsdecode(name)
            with naming(path), suppress(FileNotFoundError):  # that it is renamed already
                (folder / str(number)).replace(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_left_over(entry: Path) -> bool:
    """Whether it is a folder that a process of this user has left, which is gone."""
    match = _OURS.fullmatch(entry.name)
    if match is None:
        return False
    try:
        facts = entry.lstat()
    except FileNotFoundError:  # somebody else has just removed it
        return False
    if not stat.S_ISDIR(facts.st_mode):
        return False
    if os.name != "posix" or match[1] != _MACHINE:
        return time.time() - facts.st_mtime > _OLD
    return facts.st_uid == os.geteuid() and not _runs(int(match[2]))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        pass
    return True


def named(path: str) -> Path:
    """The path of a text; ArgumentError for one that no file can have as its name."""
    try:
        is_possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:  # half of a surrogate pair
        is_possible = False
    if not is_possible:
        raise ArgumentError(f"no file can be called {path!r}: choose another name")
    return Path(path)


def meant_file(path: Path, ending: str = "") -> str:
    """`; did you mean folder/name?` if a file beside a missing one is called nearly like it.

    `ending` is that of the files which may be meant; without it where `path` has none, as saved
    models are named.
    """
    ending = ending or path.suffix
    stems: list[str] = []
    with suppress(OSError):  # a folder that is missing, or may not be listed
        stems = [one.name.removesuffix(ending) for one in path.parent.glob(f"*{ending}")]
    near = nearest(path.name.removesuffix(ending), stems)
    shown = f"{near}{ending if path.name.endswith(ending) else ''}"
    return f"; did you mean {path.with_name(shown)}?" if near else ""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An error of the disk inside the `with` becomes a FileAccessError with this path."""
    try:
        yield
    except FileAccessError:
        raise
    except OSError as error:
        kind = MissingFile if isinstance(error, FileNotFoundError) else FileAccessError
        raise kind(error.errno, error.strerror or str(error), str(path)) from None


__all__ = ["meant_file", "named", "naming", "replacing", "temporary_folder", "tidy"]
