"""Runs LLVM in a process of its own, for what takes long and is compiled while others run.

LLVM cannot be left in the midst of its work: a process that ended meanwhile would crash, and until
it is done no other thread may use it. A process of its own can be ended at any time, and takes as
long to begin as a short text to be compiled: such a text is compiled here.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import AbstractContextManager
from typing import Any

from dy2st_runtime.engine.native.machine.llvm import Processor, compile_object

_HEADER = """\
import sys
sys.path[:] = {path!r}
from dy2st_runtime.engine.native.machine.subprocess_compiler import answer
answer({name!r}, {features!r}, {is_plain!r})
"""


_SHORT = 40_000
"""A text of so many letters takes LLVM less than a tenth of a second."""


class Elsewhere:
    """Compiles for one thread, until the process ends."""

    def __init__(self, using: AbstractContextManager[Any]) -> None:
        """Nothing runs yet; who ends the process takes the lock `using`, and calls `end`."""
        self._using = using
        self._child: subprocess.Popen[bytes] | None = None

    def compile(self, text: str, processor: Processor, is_plain: bool) -> bytes:
        """As `compile_object`, in a process that this one waits for."""
        if len(text) < _SHORT:
            return compile_object(text, processor, is_plain)
        settings = {"path": sys.path, "name": processor.name, "features": processor.features}
        command = [sys.executable, "-c", _HEADER.format(**settings, is_plain=is_plain)]
        pipe = subprocess.PIPE
        with self._using:
            self._child = child = subprocess.Popen(
                command,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,  # Ctrl-C is not for it
            )
        code, said = child.communicate(text.encode())
        self._child = None
        if child.returncode:
            raise RuntimeError(said.decode(errors="replace").strip()[-500:] or "it was ended")
        return code

    def end(self) -> None:
        """End what runs elsewhere."""
        if self._child is not None:
            self._child.kill()


def answer(name: str, features: str, is_plain: bool) -> None:
    """What the other process does: a text from standard input, code to standard output."""
    text = sys.stdin.buffer.read().decode()
    sys.stdout.buffer.write(compile_object(text, Processor(name, features), is_plain))


__all__ = ["Elsewhere", "answer"]
