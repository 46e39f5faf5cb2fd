"""Shows on a terminal what takes longer than two seconds: the one progress bar of both packages.

    with Progress("compiling forward"):              # a clock
        ...
    with Progress("running passes", len(passes)) as bar:
        for entry in passes:
            bar.advance()                             # a bar, and how long it will take

A line on standard error, which goes when the work is done; nothing where that is no terminal. A
thread draws it, because most of this work never comes by: LLVM, hashes, the files of a model.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from dy2st_runtime.lazy import Lazy

if TYPE_CHECKING:
    import threading
else:
    threading = Lazy("threading")

PATIENCE, _PERIOD, _CELLS = 2.0, 0.2, 24
T = TypeVar("T")


class Progress:
    """What is being done, from the beginning of a `with` to its end.

    total      of how many parts, 0 or None where nobody knows.
    unit       what the parts are called there.
    counted    says how many are done, instead of `advance`. Where it has not changed nothing is
               drawn: what stands still may be the user's, at a prompt of the debugger.

    >>> with Progress("writing", 3) as bar:
    ...     bar.advance(2)
    ...     bar.line(10.0)
    'dy2st: writing  [################--------] 2/3  10 s, 5 s to go'
    """

    def __init__(
        self,
        what: str,
        total: int | None = None,
        counted: Callable[[], int] | None = None,
        unit: str = "",
    ) -> None:
        """Nothing is shown yet."""
        self.what, self.total, self._counted, self.unit = what, total, counted, unit
        self._done, self.start = 0, 0.0

    def __enter__(self) -> Progress:
        """Begin."""
        self.start = time.monotonic()
        if sys.stderr is not None and sys.stderr.isatty():
            _screen.push(self)
        return self

    def __exit__(self, *error: object) -> None:
        """The line goes."""
        _screen.pop(self)

    def advance(self, count: int = 1) -> None:
        """So many parts more are done."""
        self._done += count

    @property
    def done(self) -> int:
        """How many parts are done."""
        return self._done if self._counted is None else self._counted()

    @property
    def stands_still(self) -> bool:
        """Whether somebody counts, and nothing was done since this was last asked."""
        before, self._done = self._done, self.done
        return self._counted is not None and before == self._done

    def line(self, seconds: float) -> str:
        """What is shown after so many seconds."""
        clock = f"{seconds:.0f} s"
        if not self.total:
            made = f"{self.done} {self.unit}  " if self.done else ""
            return f"dy2st: {self.what}  {made}{clock}"
        done = min(self.done, self.total)
        filled = _CELLS * done // self.total
        bar = "#" * filled + "-" * (_CELLS - filled)
        left = f", {seconds / done * (self.total - done):.0f} s to go" if done else ""
        return f"dy2st: {self.what}  [{bar}] {done}/{self.total}  {clock}{left}"


def shown(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """The items, with a bar of how many were taken; `total` is known of what has a length.

    >>> list(shown([1, 2], "counting"))
    [1, 2]
    """
    with Progress(what, len(items) if isinstance(items, Sized) else total) as bar:
        for item in items:
            yield item
            bar.advance()


class _Screen:
    """The last line of the terminal, and the thread that draws it while something is done."""

    def __init__(self) -> None:
        self._bars: list[Progress] = []
        self._ended: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def push(self, bar: Progress) -> None:
        """Show this one, which is a part of what is shown now."""
        self._bars.append(bar)
        if self._thread is None:  # a forked child has none that lives, and shows nothing
            self._ended = threading.Event()
            self._thread = threading.Thread(target=self._draw, args=(self._ended,), daemon=True)
            self._thread.start()

    def pop(self, bar: Progress) -> None:
        """Show it no longer."""
        if bar not in self._bars:
            return
        self._bars.remove(bar)
        thread, ended = self._thread, self._ended
        if not self._bars and thread is not None and ended is not None:
            self._thread = None
            ended.set()
            thread.join()

    def _draw(self, ended: threading.Event) -> None:
        width = 0
        while not ended.wait(_PERIOD):
            for bar in self._bars[-1:]:
                seconds = time.monotonic() - bar.start
                if seconds >= PATIENCE and not bar.stands_still:
                    line = bar.line(seconds)
                    _write(f"\r{line.ljust(width)}")
                    width = len(line)
        if width:
            _write(f"\r{' ' * width}\r")


def _write(text: str) -> None:
    with suppress(OSError, ValueError):  # the terminal is gone
        sys.stderr.write(text)
        sys.stderr.flush()


_screen = _Screen()

__all__ = ["PATIENCE", "Progress", "shown"]
