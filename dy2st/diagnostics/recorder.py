"""Records what runs in a call: eager operators, and the steps of executables, with their places."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import get_ident
from types import FrameType
from typing import Any

from dy2st_runtime.autograd import Node
from dy2st_runtime.engine import COMPILED
from dy2st_runtime.engine.runner import Clock, Measurable, Span
from dy2st_runtime.errors import Location
from dy2st_runtime.ir.definition import OperatorDefinition
from dy2st_runtime.ir.dispatch import Interpreter, Look, watched
from dy2st_runtime.ir.interpret import Run
from dy2st_runtime.ir.location import is_own_file
from dy2st_runtime.ir.program import Operator
from dy2st_runtime.nn.layer import Layer

EAGER = "eager"
_RUN, _GRADIENTS = Run.operators.__code__, Node.gradients.__code__
_LAYER = Layer.__call__.__code__


@dataclass(eq=False, slots=True)
class Event:
    """A step that ran, in seconds of the clock.

    what       what ran: `matmul`, `nest exp add`, `add of the gradient of tanh`.
    engine     what ran it: the name of an engine, or `eager`.
    operators  those of a Program that it is.
    place      the user's line; None where it is not known.
    layer      the path of the Layer; empty where it is not known.
    own        the seconds without those of events inside of it.
    held       the bytes that arrays took at its end, where that was measured.
    """

    what: str
    engine: str
    start: float
    end: float
    operators: Sequence[Operator] = ()
    place: Location | None = None
    layer: str = ""
    calls: int = 1
    held: int | None = None
    own: float = 0.0


@dataclass(frozen=True)
class Where:
    """What the frames around an eager operator say of it."""

    place: Location | None
    layer: str
    operator: Operator | None
    gradient_of: str


class Recorder:
    """What runs in this thread inside of `recording`, with the executables that ran."""

    def __init__(self, paths: Mapping[int, str], clock: Clock) -> None:
        """Take the paths of Layers, by identity, and what says the time."""
        self.events: list[Event] = []
        self.ran: dict[int, Any] = {}
        self._paths, self._clock, self._thread = paths, clock, get_ident()

    @contextmanager
    def recording(self, executables: Sequence[Any], measures: bool) -> Iterator[None]:
        """Record inside the `with`; `measures` lets executables measure their steps, too."""
        with ExitStack() as stack:
            for executable in executables:
                if measures and isinstance(executable, Measurable):
                    executable.measure(self._clock)
                    stack.callback(executable.measure, None)
                stack.enter_context(watching_calls(executable, self._noted))
            stack.enter_context(watched(lambda inner: _Watched(inner, self)))
            yield

    def now(self) -> Any:
        """What the clock says."""
        return self._clock()

    # -- eager operators ---------------------------------------------------------------------

    def step(self, name: str, start: Any) -> None:
        """Record what has just ended, and is no operator."""
        end = self._clock()
        if get_ident() == self._thread:
            where = where_now(sys._getframe(2), self._paths)
            self._add(Span(name, (), start, end), EAGER, where.place, where.layer)

    def operator(self, name: str, run: Callable[[], Any]) -> Any:
        """Run an operator, and record it."""
        if get_ident() != self._thread:
            return run()
        start = self._clock()
        try:
            return run()
        finally:
            end = self._clock()
            where = where_now(sys._getframe(2), self._paths)
            what = f"{name} of the gradient of {where.gradient_of}" if where.gradient_of else name
            operators = () if where.operator is None else (where.operator,)
            self._add(Span(what, operators, start, end), EAGER, where.place, where.layer)

    def _add(
        self, span: Span, engine: str, place: Location | None, layer: str, shift: float = 0.0
    ) -> None:
        start, end, held = span.start, span.end, None
        if isinstance(end, tuple):
            start, (end, held) = start[0], end
        times = (start + shift, end + shift)
        self.events.append(
            Event(span.what, engine, *times, span.operators, place, layer, span.calls, held)
        )

    # -- executables -------------------------------------------------------------------------

    def _noted(self, executable: Any, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **kwargs: Any) -> Any:
            if get_ident() != self._thread:
                return call(*args, **kwargs)
            start = self._clock()
            results = call(*args, **kwargs)
            if results is not None:  # an entry leaves what it does not take to `run`
                self._ran(executable, start, self._clock())
            return results

        return noted

    def _ran(self, executable: Any, start: Any, end: Any) -> None:
        self.ran[id(executable)] = executable
        engine = engine_of(executable)
        spans = executable.spans() if isinstance(executable, Measurable) else []
        if not spans:
            what = f"{executable.program.name}, of which {engine} says no more"
            spans = [Span(what, (), start, end)]
        counted = [span for span in spans if span.is_counted]
        at = start[0] if isinstance(start, tuple) else start
        whole = (end[0] if isinstance(end, tuple) else end) - at
        # What was counted is laid one after the other into the call.
        total = sum(span.end for span in counted)
        scale = min(1.0, whole / total) if total else 1.0
        for span in spans:
            last = span.operators[-1] if span.operators else None
            place, layer = (None, "") if last is None else (last.location, layer_of(last))
            shift = 0.0
            if span.is_counted:
                shift, seconds = at, span.end * scale
                span = Span(span.what, span.operators, 0.0, seconds, span.calls)
                at += seconds
            self._add(span, engine, place, layer, shift)


class _Watched:
    """An interpreter whose operators are recorded."""

    def __init__(self, inner: Interpreter, recorder: Recorder) -> None:
        self._inner, self._recorder = inner, recorder
        self.share, self.separate = inner.share, inner.separate

    def run(
        self, definition: OperatorDefinition, inputs: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        run = self._inner.run
        return self._recorder.operator(definition.name, lambda: run(definition, inputs, attributes))

    def announce(self, name: str) -> _Announced:
        """What records that it was in a `with`."""
        return _Announced(self._recorder, name)

    share: Callable[[Any, Any, Look | None], None]
    separate: Callable[[Any], None]


class _Announced:
    """A step that is no operator; no generator, whose frames would be Python's own."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder, self._name = recorder, name

    def __enter__(self) -> None:
        self._start = self._recorder.now()

    def __exit__(self, *_: object) -> None:
        self._recorder.step(self._name, self._start)


@contextmanager
def watching_calls(
    executable: Any, wrap: Callable[[Any, str, Callable[..., Any]], Callable[..., Any]]
) -> Iterator[None]:
    """Let the ways to call an executable be what `wrap` makes of them inside the `with`.

    It is given the executable, the name of the way, and the function.
    """
    # As attributes of the object: calls that were compiled ask it for them each time.
    held = getattr(executable, "__dict__", None)
    if held is None:  # of another's engine
        yield
        return
    known, ours = dict(held), {}
    for name in ("run", "run_resident", "entry"):
        call = getattr(executable, name, None)
        if call is not None:
            held[name] = ours[name] = wrap(executable, name, call)
    try:
        yield
    finally:
        for name, wrapped in ours.items():
            # What it has become meanwhile, as when machine code is there, it stays.
            if held.get(name) is wrapped:
                del held[name]
                held.update({name: known[name]} if name in known else {})


def where_now(frame: FrameType | None, paths: Mapping[int, str]) -> Where:
    """What the frames say from this one outwards, up to the user's code."""
    layer, gradient_of, operator, place = None, "", None, None
    while frame is not None:
        code = frame.f_code
        if code is _RUN and operator is None:
            operator = frame.f_locals["operator"]
        elif code is _GRADIENTS and not gradient_of:
            gradient_of = frame.f_locals["self"].definition.name
        elif code is _LAYER and layer is None:
            layer = paths.get(id(frame.f_locals["self"]))
        elif place is None and not is_own_file(code.co_filename):
            place = Location(code.co_filename, frame.f_lineno)
        if place is not None and (layer is not None or not paths):
            break
        frame = frame.f_back
    if operator is not None:
        return Where(operator.location, layer_of(operator), operator, gradient_of)
    return Where(place, layer or "", None, gradient_of)


def layer_of(operator: Operator) -> str:
    """The path of the Layer that an operator of a Program belongs to, where it is known."""
    return "" if operator.location is None else operator.location.layer


def engine_of(executable: Any) -> str:
    """The name of the engine: that of its folder, or that of the class of others."""
    executable = getattr(executable, "_now", executable)  # what runs it until code is there
    module = type(executable).__module__
    start = "dy2st_runtime.engine."
    if not module.startswith(start):
        return type(executable).__name__
    name = module.removeprefix(start).partition(".")[0]
    return "onnxruntime" if name == "onnx" else name


def own_times(events: list[Event]) -> None:
    """Set the seconds of each event without those inside of it, in the order of their starts."""
    events.sort(key=lambda event: (event.start, -event.end))
    around: list[Event] = []
    for event in events:
        event.own = event.end - event.start
        while around and around[-1].end <= event.start:
            around.pop()
        if around:
            around[-1].own = max(0.0, around[-1].own - (event.end - event.start))
        around.append(event)


def compiled() -> list[Any]:
    """All executables of this process."""
    return COMPILED.now()


__all__ = [
    "EAGER",
    "Event",
    "Recorder",
    "Where",
    "compiled",
    "engine_of",
    "layer_of",
    "own_times",
    "watching_calls",
    "where_now",
]
