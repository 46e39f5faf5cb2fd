"""The Python numbers among the arguments of a function that are inputs of its Programs.

A number that takes value after value is an input from the third on, in whatever list, tuple or dict
it stands: the first two have Programs of their own, in which they are constants. Where a trace with
an input is refused (a key of a dict, an operator's attribute), a number stays a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dy2st.jit.input_spec import InputSpec
from dy2st_runtime.ir.structure import is_container, map_entries
from dy2st_runtime.ir.tracing.trials import Trials
from dy2st_runtime.tensor import EagerTensor

_CONSTANTS = 2
"""So many values of an argument are constants of Programs."""

_MOST_PLACES = 64
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1

# The place or name of an argument, and the keys that lead on from there.
Path: TypeAlias = "tuple[Any, ...]"


class NumberInput(EagerTensor):
    """A Python number of a call that is an input of its Program."""

    __slots__ = ()


class NumberSpec(InputSpec):
    """What a converted function may expect of a number: the Program takes it as a tensor."""

    def __init__(self, number: type, name: str | None = None):
        """Take the kind of the number, int or float."""
        super().__init__([], np.dtype("int64" if number is int else "float64"), name)
        self.number = number

    def _key(self) -> tuple[Any, ...]:
        return *super()._key(), self.number


class Call(NamedTuple):
    """The arguments of a call in which numbers are inputs, and the places that are."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    places: list[Path]


@dataclass(eq=False)
class _Node:
    """What is known of an argument, or of an entry of one.

    constants  the values that have Programs in which they are constants; None if all have.
    entries    by index or key.
    """

    constants: set[Any] | None = None
    entries: dict[Any, _Node] = field(default_factory=dict)


class NumberInputs:
    """The numbers of one function that are inputs.

    Threads share it without a lock: what one of them forgets is learned again.
    """

    def __init__(self) -> None:
        """None is at first."""
        self._seen: dict[Path, set[Any]] = {}
        self._are: dict[Path, set[Any]] = {}  # each with the values that stay constants
        self._root = _Node()
        self.trials: Trials[Path] = Trials()

    def __bool__(self) -> bool:
        """Whether any is."""
        return bool(self._are)

    def see(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], is_given: Callable[[Any], bool]
    ) -> None:
        """Learn from a call that has no Program yet; an InputSpec `is_given` of some arguments."""
        given: list[tuple[Any, Any]] = [*enumerate(args), *kwargs.items()]
        new: list[Path] = []
        for place, argument in given:
            if is_given(place):
                continue
            for path, value in _numbers(argument, (place,)):
                if path in self._are or path in self.trials.refused:
                    continue
                # Names of `**kwargs` may be any: the table has an end.
                if path not in self._seen and len(self._seen) >= _MOST_PLACES:
                    continue
                seen = self._seen.setdefault(path, set())
                seen.add(value)
                if len(seen) > _CONSTANTS:
                    # Values before this one have Programs in which they are constants; this one
                    # has none yet.
                    seen.discard(value)
                    new.append(path)
        if new := self.trials.begin(new):
            self._set({**self._are, **{path: self._seen.get(path, set()) for path in new}})

    def refuse(self, places: Sequence[Path], why: str) -> None:
        """A trace with these as inputs is refused: some of them are none any more."""
        gone = self.trials.refuse(places, why)
        self._set({path: values for path, values in self._are.items() if path not in gone})

    def keep(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        """Let the numbers of a call be constants; whether one was an input."""
        given = self.of(args, kwargs)
        for path in given.places:
            self._are.get(path, set()).add(_value_at(given, path))
        return bool(given.places)

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Call:
        """A call with its numbers as inputs, where they are."""
        places: list[Path] = []
        new, named = list(args), kwargs
        for place, node in self._root.entries.items():
            if isinstance(place, int):
                if place < len(new):
                    new[place] = _given(new[place], node, (place,), places)
            elif place in named:
                named = {**named, place: _given(named[place], node, (place,), places)}
        return Call(new, named, places)

    def _set(self, are: dict[Path, set[Any]]) -> None:
        root = _Node()
        for path, constants in are.items():
            node = root
            for step in path:
                node = node.entries.setdefault(step, _Node())
            node.constants = constants
        self._are, self._root = are, root


def _value_at(given: Call, path: Path) -> Any:
    value: Any = given.args if isinstance(path[0], int) else given.kwargs
    for step in path:
        value = value[step]
    return value.array.item()


def _numbers(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The numbers in an argument, with their places."""
    if type(value) in (int, float):
        yield path, value
    elif is_container(value):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(entry, (*path, key))


def _given(value: Any, node: _Node, path: Path, places: list[Path]) -> Any:
    """An argument with inputs in the places of numbers; adds the places."""
    kind = type(value)
    if kind is float or kind is int:
        constants = node.constants
        # A Program has int64: what does not fit stays a constant.
        is_one = kind is float or _SMALLEST <= value <= _LARGEST
        if constants is None or not is_one or value in constants:
            return value
        places.append(path)
        return NumberInput(np.asarray(value, "int64" if kind is int else "float64"))
    if not node.entries or not is_container(value):
        return value
    keys = iter(value if isinstance(value, dict) else range(len(value)))

    def entry(one: Any) -> Any:
        key = next(keys)
        inner = node.entries.get(key)
        return one if inner is None else _given(one, inner, (*path, key), places)

    return map_entries(value, entry)


def kind_of(tensor: EagerTensor) -> Any:
    """What tells a tensor of a call from a number beside its shape."""
    return tensor.array.dtype if type(tensor) is not NumberInput else (tensor.array.dtype, "number")


def spec_of(tensor: NumberInput, name: str) -> NumberSpec:
    """The spec of a number."""
    return NumberSpec(float if tensor.array.dtype.kind == "f" else int, name)
