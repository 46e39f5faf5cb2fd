"""Inputs made up for a Program: sizes that satisfy its constraints, and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, evaluate, symbols
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import DEFINITIONS, Effect, Program, TensorType

Array = np.ndarray[Any, Any]
_ATTEMPTS = 50


def random_inputs(
    program: Program, state: Mapping[str, Array], seed: int = 0, low: int = 2, high: int = 9
) -> tuple[list[Array], dict[str, Array]] | None:
    """Inputs, and arrays for parameters and buffers that `state` does not have.

    None for a Program that draws random numbers, and where no sizes are found.
    """
    if any(DEFINITIONS[o.name].effect is Effect.RANDOM for o in program.block.walk()):
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
    """A number for every symbol of the inputs such that all constraints hold."""
    shapes = [v.type.shape for v in program.inputs if isinstance(v.type, TensorType)]
    found = [s for s in symbols(tuple(shapes)) if isinstance(s, Dim)]
    conditions = [entry.constraint.condition for entry in program.constraints]
    conditions = [c for c in conditions if set(symbols(c)) <= set(found)]
    for attempt in range(_ATTEMPTS):
        top = high + attempt  # small sizes may not do
        sizes = {s: int(rng.integers(max(low, s.minimum), max(top, s.minimum + 1))) for s in found}
        try:
            if all(evaluate(condition, sizes) for condition in conditions):
                return sizes
        except (ShapeError, ZeroDivisionError):
            continue
    return None


def random_array(type: TensorType, sizes: Mapping[Dim, int], rng: np.random.Generator) -> Array:
    """Numbers of a type: floats around zero, small integers, bools."""
    shape = [int(evaluate(size, sizes)) if isinstance(size, Dim) else size for size in type.shape]
    if type.dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if type.dtype.kind in "iu":
        return rng.integers(0, 2, shape).astype(type.dtype)
    return rng.standard_normal(shape).astype(type.dtype)


__all__ = ["random_array", "random_inputs", "random_sizes"]
