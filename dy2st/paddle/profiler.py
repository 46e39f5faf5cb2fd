"""Times steps under PaddlePaddle's names; what needs records of kernels is refused.

`dy2st.profile` shows lines, Layers and operators, `dy2st opt --timing` the passes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import Enum
from typing import Any, NoReturn

from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import public_dir


class ProfilerTarget(Enum):
    """What is watched: CPU, GPU, XPU, CUSTOM_DEVICE.

    >>> [one.name for one in dy2st.profiler.ProfilerTarget]
    ['CPU', 'GPU', 'XPU', 'CUSTOM_DEVICE']
    """

    CPU, GPU, XPU, CUSTOM_DEVICE = range(4)


class ProfilerState(Enum):
    """Whether a step is watched.

    >>> [one.name for one in dy2st.profiler.ProfilerState]
    ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN']
    """

    CLOSED, READY, RECORD, RECORD_AND_RETURN = range(4)


class SortedKeys(Enum):
    """What a table is sorted by.

    >>> dy2st.profiler.SortedKeys.CPUTotal.name
    'CPUTotal'
    """

    CPUTotal, CPUAvg, CPUMax, CPUMin, GPUTotal, GPUAvg, GPUMax, GPUMin = range(8)


def make_scheduler(
    *, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerState]:
    """Whether step i is watched: not for `closed` steps, soon for `ready`, then for `record`.

    >>> [make_scheduler(closed=1, ready=1, record=2)(i).name for i in range(4)]
    ['CLOSED', 'READY', 'RECORD', 'RECORD_AND_RETURN']
    """
    period = closed + ready + record

    def state(step: int) -> ProfilerState:
        step -= skip_first
        if step < 0 or (repeat and step // period >= repeat):
            return ProfilerState.CLOSED
        place = step % period
        if place < closed:
            return ProfilerState.CLOSED
        if place < closed + ready:
            return ProfilerState.READY
        last = place == period - 1
        return ProfilerState.RECORD_AND_RETURN if last else ProfilerState.RECORD

    return state


class RecordEvent:
    """A name for what runs in a `with`; nobody records it.

    >>> with dy2st.profiler.RecordEvent("forward"):
    ...     y = dy2st.ones([2]) + 1.0
    >>> event = dy2st.profiler.RecordEvent("backward")
    >>> event.begin()
    >>> event.end()
    """

    def __init__(self, name: str, event_type: Any = None) -> None:
        """Take the name."""
        self.name = name

    def begin(self) -> None:
        """It begins."""

    def end(self) -> None:
        """It ends."""

    def __enter__(self) -> RecordEvent:
        """It begins."""
        return self

    def __exit__(self, *_: object) -> None:
        """It ends."""


class Profiler:
    """Measures how long steps take, between `start`, `step` and `stop`.

    >>> with Profiler(timer_only=True) as profiler:
    ...     profiler.step(num_samples=8)
    >>> profiler.step_info().split(":")[0]
    'avg batch_cost'
    """

    def __init__(
        self, *, on_trace_ready: Callable[[Any], None] | None = None, **wishes: Any
    ) -> None:
        """Take what is called at the end; other wishes are about kernels."""
        self._ready, self._at = on_trace_ready, 0.0
        self._seconds: list[float] = []
        self._samples = 0

    def start(self) -> None:
        """Begin.

        >>> profiler = dy2st.profiler.Profiler(timer_only=True)
        >>> profiler.start()
        >>> profiler.step()
        >>> profiler.stop()
        """
        self._at = time.perf_counter()

    def step(self, num_samples: int | None = None) -> None:
        """A step has ended."""
        now = time.perf_counter()
        self._seconds.append(now - self._at)
        self._samples += num_samples or 0
        self._at = now

    def stop(self) -> None:
        """End.

        >>> profiler = dy2st.profiler.Profiler(timer_only=True)
        >>> profiler.start()
        >>> profiler.stop()
        """
        if self._ready is not None:
            self._ready(self)

    def __enter__(self) -> Profiler:
        """Begin."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.stop()

    def step_info(self, unit: str | None = None) -> str:
        """How long a step took on average since the last call, and samples a second."""
        seconds, count = sum(self._seconds), len(self._seconds)
        text = f"avg batch_cost: {seconds / count if count else 0.0:.5f} sec"
        if self._samples and seconds:
            text += f", avg ips: {self._samples / seconds:.5f} {unit or 'samples'}/s"
        self._seconds, self._samples = [], 0
        return text

    def summary(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: no kernels are recorded.

        >>> dy2st.profiler.Profiler().summary()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        dy2st_runtime.errors.ArgumentError: profiler.Profiler.summary: kernels are not...
        """
        _refuse("Profiler.summary")

    def export(self, path: str = "", format: str = "json") -> NoReturn:
        """Refuse: no kernels are recorded.

        >>> dy2st.profiler.Profiler().export("trace.json")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        dy2st_runtime.errors.ArgumentError: profiler.Profiler.export: kernels are not...
        """
        _refuse("Profiler.export")


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> NoReturn:
    """Refuse: no kernels are recorded.

    >>> dy2st.profiler.export_chrome_tracing("traces")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: profiler.export_chrome_tracing: kernels are not...
    """
    _refuse("export_chrome_tracing")


def export_protobuf(dir_name: str, worker_name: str | None = None) -> NoReturn:
    """Refuse: no kernels are recorded.

    >>> dy2st.profiler.export_protobuf("traces")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: profiler.export_protobuf: kernels are not...
    """
    _refuse("export_protobuf")


def _refuse(name: str) -> NoReturn:
    raise ArgumentError(
        f"profiler.{name}: kernels are not recorded; Profiler.step_info() has times of steps, "
        "dy2st.profile(function, *arguments) those of lines, Layers and operators"
    )


__all__ = [
    "Profiler",
    "ProfilerState",
    "ProfilerTarget",
    "RecordEvent",
    "SortedKeys",
    "export_chrome_tracing",
    "export_protobuf",
    "make_scheduler",
]
__dir__ = public_dir(__name__)

private_modules(__name__)
