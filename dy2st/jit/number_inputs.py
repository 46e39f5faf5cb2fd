"""Python numbers as arguments that take value after value: from the fifth on they are inputs.

The first values have Programs of their own, in which they are constants. Where a trace with an
input is refused (a key of a dict, an attribute of an operator), they stay constants.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dy2st.jit.input_spec import InputSpec
from dy2st_runtime.tensor import EagerTensor

_CONSTANTS = 4
"""So many values of an argument are constants of Programs."""

_MOST_PLACES = 64
_DTYPES = {int: np.dtype("int64"), float: np.dtype("float64")}
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1

Place = int | str


class NumberInput(EagerTensor):
    """A Python number of a call that is an input of its Program."""

    __slots__ = ()


class NumberSpec(InputSpec):
    """What a converted function may expect of a number: the Program takes it as a tensor."""

    def __init__(self, number: type, name: str | None = None):
        """Take the kind of the number, int or float."""
        super().__init__([], _DTYPES[number], name)
        self.number = number

    def _key(self) -> tuple[Any, ...]:
        return *super()._key(), self.number


class Call(NamedTuple):
    """The arguments of a call in which numbers are inputs, and the places that are."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    places: tuple[Place, ...]


class NumberInputs:
    """The arguments of one function that are inputs, by place or name."""

    def __init__(self) -> None:
        """None is at first."""
        self.are: dict[Any, set[Any]] = {}  # each with the values that stay constants
        self._refused: set[Place] = set()
        self._seen: dict[Place, set[Any]] = {}

    def see(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Learn from a call that has no Program yet."""
        given: list[tuple[Any, Any]] = [*enumerate(args), *kwargs.items()]
        for place, value in given:
            if type(value) not in _DTYPES or place in self.are or place in self._refused:
                continue
            # Names of `**kwargs` may be any: the table has an end.
            if place not in self._seen and len(self._seen) == _MOST_PLACES:
                continue
            seen = self._seen.setdefault(place, set())
            seen.add(value)
            if len(seen) > _CONSTANTS:
                # Values before this one have Programs in which they are constants; this one has
                # none yet.
                self.are[place] = self._seen.pop(place) - {value}

    def refuse(self, places: Sequence[Place]) -> None:
        """Let arguments be constants from now on."""
        self._refused.update(places)
        self.are = {at: first for at, first in self.are.items() if at not in self._refused}

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """A call with its numbers as inputs, where they are."""
        new, named = list(args), kwargs
        places: list[Place] = []
        for place, first in self.are.items():
            if isinstance(place, int):
                if place < len(new) and _is_number(new[place], first):
                    new[place] = _as_input(new[place])
                    places.append(place)
            elif place in named and _is_number(named[place], first):
                named = {**named, place: _as_input(named[place])}
                places.append(place)
        return Call(new, named, tuple(places))


def _is_number(value: Any, first: Container[Any]) -> bool:
    kind = type(value)
    # A Program has int64: what does not fit stays a constant.
    is_one = kind is float or (kind is int and _SMALLEST <= value <= _LARGEST)
    return is_one and value not in first


def _as_input(value: float) -> NumberInput:
    return NumberInput(np.asarray(value, _DTYPES[type(value)]))


def kind_of(tensor: EagerTensor) -> Any:
    """What tells a tensor of a call from a number beside its shape."""
    return tensor.array.dtype if type(tensor) is not NumberInput else (tensor.array.dtype, "number")


def spec_of(tensor: NumberInput, name: str) -> NumberSpec:
    """The spec of a number."""
    return NumberSpec(float if tensor.array.dtype.kind == "f" else int, name)
