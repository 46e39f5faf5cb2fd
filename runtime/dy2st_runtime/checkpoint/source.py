"""Opens the source of a checkpoint: a file, mapped, or a buffer in memory."""

from __future__ import annotations

import io
import mmap
import os
from pathlib import Path
from typing import BinaryIO

from dy2st_runtime.errors import ArgumentError, FormatError
from dy2st_runtime.files import named, naming

AnyFile = str | os.PathLike[str] | io.BytesIO


class Source:
    """The bytes of a checkpoint, and what errors call it.

    A file is mapped, so that loading takes the memory of the arrays once; all that is made is
    copied out of it, and somebody may replace the file afterwards.
    """

    def __init__(self, file: AnyFile):
        """Raises MissingFile, FileAccessError, or FormatError for an empty file."""
        self._buffer = file if isinstance(file, io.BytesIO) else None
        if self._buffer is not None:
            self.path = None
            self.name = "the buffer"
            self.data = memoryview(self._buffer.getvalue())[self._buffer.tell() :]
        else:
            self.path = path_of(file)
            self.name = str(self.path)
            with naming(self.path), self.path.open("rb") as opened:
                if not os.fstat(opened.fileno()).st_size:
                    self.data = memoryview(b"")
                else:
                    self.data = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
        if not self.data:
            raise FormatError(f"{self.name} is empty: it is no checkpoint")

    def open(self) -> BinaryIO:
        """The bytes as a file."""
        if self.path is None:
            return io.BytesIO(self.data)
        with naming(self.path):
            return self.path.open("rb")

    def end_at(self, size: int) -> None:
        """Leave the buffer after what was read: another object may stand there.

        A file has one object alone; FormatError if something follows.
        """
        if self._buffer is not None:
            self._buffer.seek(size, io.SEEK_CUR)
        elif size != len(self.data):
            raise FormatError(
                f"{self.name}: {len(self.data) - size} bytes follow its {size} bytes of data; copy "
                "or save it again"
            )


def path_of(file: object) -> Path:
    """The path of a file; ArgumentError for what is none."""
    if not isinstance(file, (str, os.PathLike)):
        raise ArgumentError(
            f"a checkpoint is a path or an io.BytesIO, not {type(file).__name__}: "
            "write save(state, path) and load(path)"
        )
    text = os.fspath(file)
    if not text or text.endswith(("/", os.sep)):
        raise ArgumentError(f"a checkpoint is named like folder/name.pdparams, not {text!r}")
    return named(text)


__all__ = ["AnyFile", "Source", "path_of"]
