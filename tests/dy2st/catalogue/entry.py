"""The catalogue of functions of which a Program must give what Python gives: what an entry is.

An entry is a function, or a Layer, with the inputs that take all of its paths. It stands under `@on`
(its inputs are tensors), `@on_values` (they are values of Python) or `@construct` (it is a row of
docs/constructs.md, too), in a module a theme. `drivers.py` has the ways in which all are run.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

import dy2st
from dy2st import nn
from dy2st.errors import ConversionError
from dy2st.static import InputSpec

T = TypeVar("T")
Call = tuple[Any, ...]


@dataclass(frozen=True)
class Entry:
    """A function, the arguments of its calls, and what is to be known of it.

    unknown: the shapes of the tensors of a Program for all inputs; others get the first input's.
    makes: it is called without arguments, and what it gives is what is run; or a pair of that and
    of its state. A Layer is always made so.
    is_of_values: the arguments are values of Python, and no tensor takes part.
    construct, meaning: how Python writes it and what dy2st makes of it, in docs/constructs.md.
    refused: the class of the error, if there is no exact static form; `says` is part of its message.
    """

    function: Callable[..., Any]
    inputs: tuple[Call, ...]
    unknown: Sequence[Sequence[Any]] | None = None
    makes: bool = False
    slow: bool = False
    is_of_values: bool = False
    construct: str = ""
    meaning: str = ""
    refused: type[ConversionError] | None = None
    says: str = ""

    @property
    def theme(self) -> str:
        """The module in which it stands."""
        return self.function.__module__.removeprefix("tests.dy2st.")

    @property
    def name(self) -> str:
        """Theme and name."""
        return f"{self.theme}.{self.function.__name__}"

    def made(self) -> tuple[Callable[..., Any], Any]:
        """What is called, new for each run, and the state that its calls may change."""
        dy2st.seed(7)
        if not self.makes:
            return self.function, None
        made = self.function()
        return made if isinstance(made, tuple) else (made, made)

    def has_state(self) -> bool:
        """Whether calls in a row may differ, by what an earlier one has left."""
        return self.makes and not isinstance(self.made()[1], FunctionType)

    def calls(self) -> list[Call]:
        """New arguments of all calls."""
        if self.is_of_values:
            return [copy.deepcopy(call) for call in self.inputs]
        return [tuple(map(given, call)) for call in self.inputs]


@dataclass(frozen=True)
class Case:
    """An entry, a way to run it, and whether sizes are known to its Program.

    has_all: all calls are made where the sizes are known; else those whose sizes are the first's, if
    a Program of unknown sizes has the others.
    """

    entry: Entry
    way: str
    is_unknown: bool
    has_all: bool = False

    @property
    def of_program(self) -> str:
        """The name of the entry, and `of unknown sizes`."""
        return self.entry.name + (" of unknown sizes" if self.is_unknown else "")

    @property
    def name(self) -> str:
        """The same, and the way unless it is the plain one."""
        return self.of_program + ("" if self.way == "program" else f" {self.way}")

    def groups(self) -> list[list[Call]]:
        """New arguments of the calls, together those that one Program serves."""
        groups: list[list[Call]] = []
        for call in self.entry.calls():
            group = next((g for g in groups if self._is_one_program(g[0], call)), None)
            if group is None:
                groups.append([call])
            else:
                group.append(call)
        has_all = self.has_all or self.is_unknown or self.entry.unknown is None
        return groups if has_all else groups[:1]

    def _is_one_program(self, one: Call, other: Call) -> bool:
        if self.is_unknown or self.entry.is_of_values:
            return True
        return all(
            a.shape == b.shape if isinstance(a, dy2st.Tensor) else a == b
            for a, b in zip(one, other)
        )

    def spec(self, first: Call) -> list[Any] | None:
        """What the Program is told of the arguments; nothing, if they are values of Python."""
        if self.entry.is_of_values:
            return None
        shapes = list(self.entry.unknown or ()) if self.is_unknown else [None] * len(first)
        pairs = zip(first, [*shapes, *[None] * (len(first) - len(shapes))])
        return [
            InputSpec(a.shape if shape is None else shape, str(a.dtype))
            if isinstance(a, dy2st.Tensor)
            else a
            for a, shape in pairs
        ]


def given(value: Any) -> Any:
    """An argument: a tensor of a list (floats have 32 bits) or of an array, else itself."""
    if isinstance(value, list):
        array = np.array(value)
        return dy2st.to_tensor(array.astype("float32") if array.dtype == np.float64 else array)
    return dy2st.to_tensor(value) if isinstance(value, np.ndarray) else value


ENTRIES: list[Entry] = []


def _added(*inputs: Any, makes: bool = False, **facts: Any) -> Callable[[T], T]:
    calls = tuple(call if isinstance(call, tuple) else (call,) for call in inputs)

    def add(function: T) -> T:
        is_layer = isinstance(function, type) and issubclass(function, nn.Layer)
        assert callable(function)
        ENTRIES.append(Entry(function, calls, makes=makes or is_layer, **facts))
        return function

    return add


def on(
    *inputs: Any,
    unknown: Sequence[Sequence[Any]] | None = None,
    makes: bool = False,
    slow: bool = False,
    refused: type[ConversionError] | None = None,
    says: str = "",
) -> Callable[[T], T]:
    """Add the decorated function or Layer; each input is one argument, or a tuple of several."""
    facts = {"unknown": unknown, "makes": makes, "slow": slow, "refused": refused, "says": says}
    return _added(*inputs, **facts)


def on_values(*inputs: Any, makes: bool = False) -> Callable[[T], T]:
    """Add the decorated function of values of Python; without inputs it is called so, once."""
    return _added(*inputs or ((),), makes=makes, is_of_values=True)


# Sums of 6, -6, 60 and 0: conditions on them take every path.
INPUTS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [10.0, 20.0, 30.0], [0.0, 0.0, 0.0])


def construct(
    text: str,
    meaning: str,
    *,
    inputs: Sequence[Any] = INPUTS,
    unknown: Sequence[Sequence[Any]] | None = None,
    refused: type[ConversionError] | None = None,
    says: str = "",
) -> Callable[[T], T]:
    """Add the decorated function of one tensor, and a row to docs/constructs.md."""
    facts = {"unknown": unknown, "refused": refused, "says": says}
    return _added(*inputs, construct=text, meaning=meaning, **facts)


def ramp(*shape: int, step: float = 0.5, start: float = -2.0, period: int = 11) -> np.ndarray:
    """Floats that rise and fall over and over, the same at every run."""
    count = int(np.prod(shape))
    values = (np.arange(count) * 7 % period) * step + start
    return values.reshape(shape).astype("float32")
