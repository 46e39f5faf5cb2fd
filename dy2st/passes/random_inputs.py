"""Makes up inputs for a Program: sizes that satisfy its constraints, and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, evaluate, symbols
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import DEFINITIONS, Effect, Program, TensorType

Array = np.ndarray[Any, Any]
_WIDER = (1, 4, 16)
_MOST_STEPS = 2_000


def random_inputs(
    program: Program, state: Mapping[str, Array], seed: int = 0, low: int = 2, high: int = 9
) -> tuple[list[Array], dict[str, Array]] | None:
    """Inputs, and arrays for parameters and buffers that `state` does not have.

    None for a Program that draws random numbers, and where no sizes are found.
    """
    if any(DEFINITIONS[o.name].effect is Effect.RANDOM for o in program.walk()):
        return None
    rng = np.random.default_rng(seed)
    sizes = random_sizes(program, rng, low, high)
    if sizes is None or not all(isinstance(v.type, TensorType) for v in program.inputs):
        return None
    inputs = [random_array(v.tensor_type, sizes, rng) for v in program.inputs]
    arrays = {
        name: state[name] if name in state else random_array(v.tensor_type, sizes, rng)
        for name, v in program.state.items()
    }
    return inputs, arrays


def random_sizes(
    program: Program, rng: np.random.Generator, low: int = 2, high: int = 9
) -> dict[Dim, int] | None:
    """A number for every symbol of the inputs such that all constraints hold.

    They lie between `low` and `high`, or above where none there will do.
    """
    shapes = [v.type.shape for v in program.inputs if isinstance(v.type, TensorType)]
    found = [s for s in symbols(tuple(shapes)) if isinstance(s, Dim)]
    place_of: dict[Any, int] = {s: place for place, s in enumerate(found)}
    due: list[list[Condition]] = [[] for _ in found]
    for entry in program.constraints:
        places = [place_of.get(s, -1) for s in symbols(entry.constraint.condition)]
        if places and min(places) >= 0:  # other symbols are made when it runs
            due[max(places)].append(entry.constraint.condition)
    for factor in _WIDER:
        sizes = _Search(found, due, rng, low, high * factor).run()
        if sizes is not None:
            return sizes
    return None


class _Search:
    """Numbers for one symbol after the other; back to the one before where no number will do."""

    def __init__(
        self,
        found: Sequence[Dim],
        due: Sequence[Sequence[Condition]],
        rng: np.random.Generator,
        low: int,
        high: int,
    ):
        """`due` has for every symbol the conditions that can be asked once it has a number."""
        self.found, self.due, self.rng, self.low, self.high = found, due, rng, low, high
        self.sizes: dict[Dim, int] = {}
        self.steps = 0

    def run(self) -> dict[Dim, int] | None:
        """The numbers, None if there are none or they are not found soon."""
        return self.sizes if self._from(0) else None

    def _from(self, place: int) -> bool:
        if place == len(self.found):
            return True
        symbol = self.found[place]
        smallest = max(self.low, symbol.minimum)
        for number in self.rng.permutation(np.arange(smallest, max(self.high, smallest + 1))):
            self.steps += 1
            if self.steps > _MOST_STEPS:
                return False
            self.sizes[symbol] = int(number)
            if all(map(self._holds, self.due[place])) and self._from(place + 1):
                return True
        return False

    def _holds(self, condition: Condition) -> bool:
        try:
            return bool(evaluate(condition, self.sizes))
        except (ShapeError, ZeroDivisionError):
            return False


def random_array(type: TensorType, sizes: Mapping[Dim, int], rng: np.random.Generator) -> Array:
    """Numbers of a type: floats around zero, small integers, bools."""
    shape = [int(evaluate(size, sizes)) if isinstance(size, Dim) else size for size in type.shape]
    if type.dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if type.dtype.kind in "iu":
        return rng.integers(0, 2, shape).astype(type.dtype)
    return rng.standard_normal(shape).astype(type.dtype)


__all__ = ["random_array", "random_inputs", "random_sizes"]
