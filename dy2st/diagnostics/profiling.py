"""`dy2st.profile`: calls a function, and measures what runs in it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from dy2st.diagnostics.profile_report import Profile
from dy2st.diagnostics.recorder import Event, Recorder, compiled, own_times
from dy2st.diagnostics.subjects import call_of, calls_made, layer_paths, name_of
from dy2st.jit.static_function import by_python, is_way
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.location import without_own_frames

_LEAST_FIRST, _MOST_FIRST = 3, 8
"""Calls that may trace and compile, before those that count."""
_CALLS, _SECONDS = 10, 2.0
"""How many calls count, and how long they may take."""


@without_own_frames
def profile(
    fn: Any, *args: Any, repeat: int | None = None, engine: str | None = None, **kwargs: Any
) -> Profile:
    """How long each line, Layer and operator of a call takes, and the memory over time.

    `fn` is a function or Layer, converted or not, a Program without parameters, a
    `passes.Module`, a loaded model or the path of a saved one. It is called with the arguments,
    2 * repeat + 6 to 10 times, and what it changes is changed each time: a step of training trains.
    `engine` names what runs it; a function that was not converted is converted for that. The
    fastest of `repeat` calls counts, which are 10, or fewer that take 2 seconds. What nobody knows
    by operator, as inside of XLA, is one row.

    Raises ArgumentError for what cannot be called, and whatever the calls raise.

    >>> import dy2st
    >>> f = dy2st.to_static(lambda x: (x @ x).exp())
    >>> found = dy2st.profile(f, dy2st.ones([64, 64]), engine="numpy")
    >>> sorted(part.name for part in found.by_operator)
    ['between operators', 'exp', 'matmul']
    """
    if repeat is not None and (not isinstance(repeat, int) or repeat < 1):
        raise ArgumentError(f"profile: repeat is a number of calls, at least 1, not {repeat!r}")
    call, paths = call_of(fn, engine), layer_paths(fn)
    way = by_python if is_way(by_python) else None  # no call is compared meanwhile

    def run() -> float:
        with calls_made(way):
            start = perf_counter()
            call(*args, **kwargs)
            return perf_counter() - start

    # Trace and compile all, and see what runs: gradients are compiled some calls later.
    for number in range(_MOST_FIRST):
        seen, held = Recorder(paths, perf_counter), compiled()
        with seen.recording(held, measures=False):
            first = run()
        known = set(map(id, held))  # which stay alive, so that ids stay their own
        if number >= _LEAST_FIRST and known.issuperset(map(id, compiled())):
            break
    ran = list(seen.ran.values())
    for executable in ran:
        getattr(executable, "wait", lambda: None)()  # until what runs is what was compiled
    if repeat is None:
        repeat = max(1, min(_CALLS, int(_SECONDS / max(first, 1e-9))))
    half = (repeat + 1) // 2
    plain = [run() for _ in range(half)]
    recorder, measured = Recorder(paths, perf_counter), list[tuple[float, list[Event]]]()
    with recorder.recording(ran, measures=True):
        run()  # the first one of code that measures is slower
        for _ in range(repeat):
            recorder.events = []
            seconds = run()
            measured.append((seconds, recorder.events))
    plain += [run() for _ in range(repeat - half)]
    events = shortest(measured)
    found = Profile(name_of(fn), min(plain), events, repeat)
    found.scale = without_slowdown(events, found.seconds)
    _add_memory(found, paths, ran, run)
    return found


def shortest(measured: list[tuple[float, list[Event]]]) -> list[Event]:
    """The events of the fastest call, each with its shortest time where all calls did the same."""
    for _, events in measured:
        own_times(events)
    _, fastest = min(measured, key=lambda pair: pair[0])
    names = [event.what for event in fastest]
    alike = [events for _, events in measured if [event.what for event in events] == names]
    for number, event in enumerate(fastest):
        event.own = min(events[number].own for events in alike)
    return fastest


def without_slowdown(events: list[Event], seconds: float) -> float:
    """Scale times that are longer because they are measured; by how much.

    All together take no longer than the call took while nothing was measured.
    """
    measured = sum(event.own for event in events)
    scale = min(1.0, seconds / measured) if measured else 1.0
    for event in events:
        event.own *= scale
    return scale


def _add_memory(
    found: Profile, paths: dict[int, str], ran: list[Any], run: Callable[[], Any]
) -> None:
    """Call once more, and note what arrays take beside what was there before."""
    with _tracing_memory():
        start, first = perf_counter(), tracemalloc.get_traced_memory()[0]

        def clock() -> tuple[float, int]:
            now = perf_counter() - start
            return now, tracemalloc.get_traced_memory()[0] - first

        recorder = Recorder(paths, clock)
        with recorder.recording(ran, measures=True):
            recorder.events = []
            tracemalloc.reset_peak()
            first = tracemalloc.get_traced_memory()[0]
            start = perf_counter()
            run()
            found.peak = max(0, tracemalloc.get_traced_memory()[1] - first)
    own_times(recorder.events)
    found.memory = [(one.end, max(0, one.held)) for one in recorder.events if one.held is not None]


@contextmanager
def _tracing_memory() -> Iterator[None]:
    """Let Python count what is allocated inside the `with`; NumPy's arrays are among it."""
    if tracemalloc.is_tracing():
        yield
        return
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


__all__ = ["profile"]
