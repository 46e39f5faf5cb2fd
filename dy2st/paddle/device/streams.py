"""Has streams and events: devices do one thing after the other, and a stream waits for all."""

from __future__ import annotations

import time
from typing import Any

from dy2st_runtime import devices


class Stream:
    """An order of work: there is one, in which things were asked for.

    >>> stream, event = dy2st.device.Stream(), dy2st.device.Event()
    >>> event = stream.record_event(event)
    >>> stream.wait_event(event)
    >>> stream.wait_stream(dy2st.device.current_stream())
    >>> stream.synchronize()
    >>> stream.query()
    True
    """

    def __init__(self, device: Any = None, priority: int = 2, stream_base: Any = None) -> None:
        """Nothing is to be made."""

    def synchronize(self) -> None:
        """Wait until all is computed."""
        devices.wait()

    def query(self) -> bool:
        """Whether all is done, for which this waits."""
        devices.wait()
        return True

    def wait_event(self, event: Event) -> None:
        """Wait for an event: it is over."""

    def wait_stream(self, stream: Stream) -> None:
        """Nothing: there is one."""

    def record_event(self, event: Event | None = None) -> Event:
        """The event, with the time of now."""
        event = Event() if event is None else event
        event.record(self)
        return event


class Event:
    """A moment, to measure from and to.

    >>> begin, end = dy2st.device.Event(), dy2st.device.Event()
    >>> begin.record()
    >>> end.record()
    >>> end.synchronize()
    >>> begin.elapsed_time(end) >= 0, end.query()
    (True, True)
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        """No moment yet."""
        self._seconds = 0.0

    def record(self, stream: Stream | None = None) -> None:
        """Remember the moment at which all is computed that was asked for before."""
        devices.wait()
        self._seconds = time.perf_counter()

    def query(self) -> bool:
        """Whether it is over."""
        return True

    def synchronize(self) -> None:
        """Wait: it is over."""

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to another."""
        return (end._seconds - self._seconds) * 1000.0


_STREAM = Stream()


def current_stream(device: Any = None) -> Stream:
    """The one stream.

    >>> dy2st.device.current_stream().query()
    True
    """
    return _STREAM


def set_stream(stream: Stream) -> Stream:
    """Take another stream; the one before. All streams are alike.

    >>> before = dy2st.device.set_stream(dy2st.device.Stream())
    >>> _ = dy2st.device.set_stream(before)
    """
    return _STREAM


class stream_guard:
    """Work in a stream; all streams are alike.

    >>> with dy2st.device.stream_guard(dy2st.device.Stream()):
    ...     y = dy2st.ones([2]) + 1.0
    """

    def __init__(self, stream: Stream | None = None) -> None:
        """Take the stream."""

    def __enter__(self) -> None:
        """Nothing is to be changed."""

    def __exit__(self, *_: object) -> None:
        """Nothing is to be changed back."""
