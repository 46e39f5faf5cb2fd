"""What a scenario of state outside is, how it is registered, and how it is run both ways.

A scenario is a function that makes one thing anew each time it is called: what is to be converted,
what changes, and perhaps the inputs. A generator yields them, and puts back behind the `yield` what
belongs to the whole process.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dy2st
from dy2st import nn
from dy2st.errors import Dy2stError
from dy2st.jit import to_static
from tests.dy2st.catalogue.comparing import comparable

X = dy2st.to_tensor([1.0, 2.0])
INPUTS = tuple(dy2st.to_tensor(v) for v in ([1.0, 2.0], [3.0, -1.0], [0.5, 0.25], [4.0, 8.0]))

Made = Any
"""`function, change` or `function, change, input`; for effects the second says what to compare."""


class Box:
    """A plain object: attributes by keyword."""

    def __init__(self, **attributes: Any):
        """Set them."""
        self.__dict__.update(attributes)


def layer_of(forward: Callable[..., Any], **attributes: Any) -> nn.Layer:
    """A Layer of one forward, with attributes."""

    class Local(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            for name, value in attributes.items():
                setattr(self, name, value)

    Local.forward = forward  # type: ignore[method-assign]
    return Local()


def seen(*values: Any) -> list[Any]:
    """What to compare: tensors as their numbers."""
    return [comparable(value) for value in values]


@dataclass(frozen=True)
class Scenario:
    """A way in which state outside is read or written.

    kind  change: what is read changes between two calls, and calls without a change trace nothing.
          beside: what changes is not read: nothing is traced anew.
          effect: the function writes, and the last of four calls traces nothing.
    anew  every call may trace: nobody can tell cheaply what would be read, or it always differs.
    """

    name: str
    make: Callable[[], Made]
    kind: str = "change"
    anew: bool = False


@dataclass(frozen=True)
class Found:
    """What became of a scenario; `traces` has a number for each call."""

    verdict: str
    traces: tuple[int, ...] = ()
    detail: str = ""


SCENARIOS: dict[str, Scenario] = {}


def _register(make: Callable[[], Made], **fields: Any) -> Callable[[], Made]:
    name = f"{make.__module__.rpartition('.')[2]}.{make.__name__}"
    assert name not in SCENARIOS, name
    SCENARIOS[name] = Scenario(name, make, **fields)
    return make


def change(make: Callable[[], Made]) -> Callable[[], Made]:
    """Register what gives `function, change` and perhaps an input."""
    return _register(make)


def beside(make: Callable[[], Made]) -> Callable[[], Made]:
    """Register what gives a function and a change of something that it does not read."""
    return _register(make, kind="beside")


def effect(make: Callable[[], Made]) -> Callable[[], Made]:
    """Register what gives `function, shown`: `shown()` is the state outside, after each call."""
    return _register(make, kind="effect")


def opaque(make: Callable[[], Made]) -> Callable[[], Made]:
    """As `change`, where only Python can tell what is read: every call may trace anew."""
    return _register(make, anew=True)


def each_call(make: Callable[[], Made]) -> Callable[[], Made]:
    """As `effect`, where each call reads what the last has changed, or code in C does it."""
    return _register(make, kind="effect", anew=True)


@contextlib.contextmanager
def _made(scenario: Scenario) -> Iterator[Made]:
    dy2st.seed(1)
    random.seed(1)
    np.random.seed(1)
    if inspect.isgeneratorfunction(scenario.make):
        steps = scenario.make()
        try:
            yield next(steps)
        finally:
            next(steps, None)
    else:
        yield scenario.make()


def _outcome(function: Callable[..., Any], x: Any) -> Any:
    """The result, or the exception, and the printed text of a call."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = comparable(function(x))
        except Dy2stError:
            raise
        except Exception as error:
            result = ("raised", type(error).__name__, str(error))
    return result, printed.getvalue()


def _shown(shown: Callable[[], Any]) -> str:
    """The state outside as a text; a placeholder that was left in it cannot be looked at."""
    try:
        return repr(shown())
    except Dy2stError as error:
        return f"a placeholder: {str(error).splitlines()[0]}"


def _steps(scenario: Scenario, made: Made, function: Callable[..., Any]) -> Iterator[Any]:
    """What each call gives, one after the other."""
    if scenario.kind == "effect":
        for x in INPUTS:
            yield _outcome(function, x), _shown(made[1])
        return
    x = made[2] if len(made) > 2 else X
    for number in range(4):
        if number == 2:
            made[1]()
        yield _outcome(function, x)


def expected(scenario: Scenario) -> list[Any]:
    """What Python gives; AssertionError if the scenario does not do what its kind says."""
    with _made(scenario) as made:
        given = list(_steps(scenario, made, made[0]))
    if scenario.kind != "effect":
        assert given[0] == given[1] and given[2] == given[3], f"changes by itself: {given}"
        assert (given[1] == given[2]) == (scenario.kind == "beside"), f"{given[0]}, {given[2]}"
    return given


class _Traces:
    """How many Programs of a converted function were not there before."""

    def __init__(self, static: Any):
        function = static.forward if isinstance(static, nn.Layer) else static
        self.cache, self.seen = function.program_cache, list[Any]()

    def new(self) -> int:
        """How many since this was asked last."""
        known = {id(program) for program in self.seen}
        new = [p for p in self.cache.concrete_programs() if id(p) not in known]
        self.seen += new
        return len(new)


def run(scenario: Scenario) -> Found:
    """Run a scenario by Python and converted, and say how the second did."""
    wanted, found, counts = expected(scenario), list[Any](), list[int]()
    with _made(scenario) as made:
        try:
            static = to_static(made[0])
            traces = _Traces(static)
            for step in _steps(scenario, made, static):
                found.append(step)
                counts.append(traces.new())
        except Dy2stError as error:
            return Found("refused", tuple(counts), str(error).splitlines()[0])
    verdict = _verdict(scenario, wanted, found, counts)
    return Found(verdict, tuple(counts), _difference(wanted, found))


def _verdict(
    scenario: Scenario, wanted: Sequence[Any], found: Sequence[Any], counts: Sequence[int]
) -> str:
    if found != wanted:
        raised = [
            w for w, f in zip(wanted, found) if "raised" in repr(f) and "raised" not in repr(w)
        ]
        return "error" if raised else "WRONG"
    without_change = {"change": counts[1::2], "beside": counts[1:], "effect": counts[-1:]}
    if any(without_change[scenario.kind]) and not scenario.anew:
        return "retraced"
    return "follows"


def _difference(wanted: Sequence[Any], found: Sequence[Any]) -> str:
    for number, (one, other) in enumerate(zip(wanted, found), start=1):
        if one != other:
            return f"call {number}: Python {one}, Program {other}"
    return ""
