"""Functions as model code has them, each with the inputs that take all of its paths.

A module a theme. A function is run by Python and, through one Program, by dy2st; so is a Layer, and
so is what a function makes that is marked so, several calls in a row, with its state after each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

import dy2st
from dy2st import nn
from dy2st.static import InputSpec

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """A function, and the arguments of its calls."""

    function: Callable[..., Any]
    inputs: tuple[tuple[Any, ...], ...]
    unknown: Sequence[Sequence[Any]] | None
    makes: bool
    slow: bool

    @property
    def theme(self) -> str:
        """The module in which it stands."""
        return self.function.__module__.rpartition(".")[2]

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


@dataclass(frozen=True)
class Case:
    """An entry with sizes that are known to its Program, or unknown."""

    entry: Entry
    is_unknown: bool

    @property
    def name(self) -> str:
        """The name of the entry, and `of unknown sizes`."""
        return self.entry.name + (" of unknown sizes" if self.is_unknown else "")

    def arguments(self) -> list[tuple[Any, ...]]:
        """New tensors for all calls that one Program serves."""
        calls = [tuple(map(given, call)) for call in self.entry.inputs]
        return calls if self.is_unknown else [c for c in calls if _same_kind(c, calls[0])]

    def spec(self) -> list[Any]:
        """What the Program is told of the arguments."""
        first = self.arguments()[0]
        shapes = list(self.entry.unknown or ()) if self.is_unknown else [None] * len(first)
        pairs = zip(first, [*shapes, *[None] * (len(first) - len(shapes))])
        return [
            InputSpec(a.shape if shape is None else shape, str(a.dtype))
            if isinstance(a, dy2st.Tensor)
            else a
            for a, shape in pairs
        ]


def _same_kind(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(
        a.shape == b.shape if isinstance(a, dy2st.Tensor) else a == b for a, b in zip(one, other)
    )


def given(value: Any) -> Any:
    """An argument: a tensor of a list (floats have 32 bits) or of an array, else itself."""
    if isinstance(value, list):
        array = np.array(value)
        return dy2st.to_tensor(array.astype("float32") if array.dtype == np.float64 else array)
    return dy2st.to_tensor(value) if isinstance(value, np.ndarray) else value


ENTRIES: list[Entry] = []


def model_code(
    *inputs: Any,
    unknown: Sequence[Sequence[Any]] | None = None,
    makes: bool = False,
    slow: bool = False,
) -> Callable[[T], T]:
    """Add the decorated function or Layer; each input is one argument, or a tuple of several.

    unknown: the shapes of the tensors of a Program for all inputs; others get the first input's.
    makes: it is called without arguments, and what it gives is what is run; or a pair of that and
    of its state. A Layer is always made so.
    """
    calls = tuple(call if isinstance(call, tuple) else (call,) for call in inputs)

    def add(function: T) -> T:
        is_layer = isinstance(function, type) and issubclass(function, nn.Layer)
        assert callable(function)
        ENTRIES.append(Entry(function, calls, unknown, makes or is_layer, slow))
        return function

    return add


def ramp(*shape: int, step: float = 0.5, start: float = -2.0, period: int = 11) -> np.ndarray:
    """Floats that rise and fall over and over, the same at every run."""
    count = int(np.prod(shape))
    values = (np.arange(count) * 7 % period) * step + start
    return values.reshape(shape).astype("float32")
