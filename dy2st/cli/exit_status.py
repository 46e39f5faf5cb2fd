"""Ends a command that was interrupted, or whose output nobody takes: by a line, never a traceback.

what                                exit status
Ctrl-C                              130, as shells have it
the reader went away (`| head`)     141, as shells have it, and nothing is said
something cannot be read or done    2
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from dy2st_runtime.errors import Dy2stError

BAD, _INTERRUPTED, _NO_READER = 2, 130, 141


def run_to_end(command: Callable[[], int]) -> int:
    """The exit status of a command, whatever happens to it."""
    # Python has None for what is closed, and prints to standard output what is for None
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  until the end
    try:
        try:
            return command()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        status = _NO_READER
    except KeyboardInterrupt:
        say("interrupted")
        status = _INTERRUPTED
    except OSError as error:
        what = error.strerror or str(error)
        say(f"{error.filename}: {what}" if error.filename else what)
        status = BAD
    except Dy2stError as error:
        say(str(error))
        status = BAD
    except MemoryError:
        say("there is not enough memory for this")
        status = BAD
    # let what cannot be written go: Python would try once more at its end, and complain
    try:
        sys.stdout.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


def say(text: str) -> None:
    """One message for the user, wherever results go."""
    with suppress(OSError):  # nobody reads it
        print(f"dy2st: {text}", file=sys.stderr)


class _Closed(io.TextIOBase):
    """Standard output that the caller has closed: it is no error until something is written."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


__all__ = ["BAD", "run_to_end", "say"]
