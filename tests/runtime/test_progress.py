"""What takes long is shown on a terminal, in one line that goes; nothing is shown elsewhere."""

from __future__ import annotations

import io
import re
import time

import pytest

from dy2st_runtime import progress
from dy2st_runtime.progress import Progress, shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


def impatient(monkeypatch):
    """Standard error as a terminal on which nobody has patience.

    Not a fixture: pytest gives standard error back between that and the test.
    """
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.02)
    monkeypatch.setattr(progress, "_PERIOD", 0.005)
    return stream


def until(happened):
    end = time.monotonic() + 5
    while not happened() and time.monotonic() < end:
        time.sleep(0.002)
    assert happened()


def test_what_takes_long_is_shown_and_goes_at_the_end(monkeypatch):
    terminal = impatient(monkeypatch)
    with Progress("compiling f"):
        until(lambda: "dy2st: compiling f  0 s" in terminal.getvalue())
    assert re.fullmatch(r"(\rdy2st: compiling f  0 s)+\r +\r", terminal.getvalue())


def test_parts_fill_a_bar(monkeypatch):
    terminal = impatient(monkeypatch)
    with Progress("running passes", 4) as bar:
        bar.advance(3)
        until(lambda: "[##################------] 3/4" in terminal.getvalue())


def test_what_is_short_is_not_shown(monkeypatch):
    terminal = impatient(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    assert list(shown(range(3), "counting")) == [0, 1, 2]
    assert terminal.getvalue() == ""


def test_nothing_is_shown_where_nobody_looks_on(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PERIOD", 0.001)
    with Progress("compiling f"):
        time.sleep(0.01)
    assert stream.getvalue() == ""
    monkeypatch.setattr("sys.stderr", None)
    with Progress("compiling f"):
        pass


def test_the_innermost_is_shown_and_then_the_outer_one_again(monkeypatch):
    terminal = impatient(monkeypatch)
    with Progress("outer"):
        with Progress("inner"):
            until(lambda: "inner" in terminal.getvalue())
        before = terminal.getvalue().count("outer")
        until(lambda: terminal.getvalue().count("outer") > before)


def test_what_stands_still_is_not_drawn_again(monkeypatch):
    terminal = impatient(monkeypatch)
    counts = [1]
    with Progress("tracing f", 0, lambda: counts[0], "operators"):
        until(lambda: "tracing f  1 operators  0 s" in terminal.getvalue())
        drawn = terminal.getvalue()
        time.sleep(0.05)
        assert terminal.getvalue() == drawn
        counts[0] = 2
        until(lambda: "tracing f  2 operators  0 s" in terminal.getvalue())


def test_an_error_takes_the_line_away_too(monkeypatch):
    terminal = impatient(monkeypatch)
    with pytest.raises(KeyError), Progress("saving net"):
        until(lambda: "saving net" in terminal.getvalue())
        raise KeyError
    assert terminal.getvalue().endswith("\r")
    assert progress._screen._thread is None
