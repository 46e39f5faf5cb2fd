"""Lets operators round otherwise, to see how far apart results may be that are equally right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import get_ident
from typing import Any

import numpy as np

from dy2st_runtime.ir.definition import OperatorDefinition
from dy2st_runtime.ir.dispatch import Interpreter, watched
from dy2st_runtime.tensor import EagerTensor

Array = np.ndarray[Any, Any]

ROUNDINGS = 3
"""How often a call is made with other last bits."""


def otherwise_rounded(array: Array, given: Sequence[Array], rng: Any) -> Array:
    """A result with other last bits, of those of the result or of what it is made of."""
    if array.dtype.kind != "f":
        return array
    if any(one.dtype == array.dtype and np.isin(array, one).all() for one in given):
        return array  # moved, and not computed
    size = np.abs(array)
    for one in given:
        if one.shape == array.shape and one.dtype.kind == "f":
            size = np.where(array != 0, np.maximum(size, np.abs(one)), size)
    step = 8 * np.finfo(array.dtype).eps * rng.choice([-1, 1], array.shape)
    return np.asarray((array + step * size).astype(array.dtype))


@contextmanager
def rounding(seed: int) -> Iterator[None]:
    """Let all that this thread computes inside of the `with` have other last bits."""
    with watched(lambda inner: _Rounding(inner, np.random.default_rng(seed))):
        yield


class _Rounding:
    """An interpreter whose results have other last bits."""

    def __init__(self, inner: Interpreter, rng: Any) -> None:
        self._inner, self._rng, self._thread = inner, rng, get_ident()
        self.share, self.separate = inner.share, inner.separate

    def run(
        self, definition: OperatorDefinition, inputs: tuple[Any, ...], attributes: dict[str, Any]
    ) -> Any:
        made = self._inner.run(definition, inputs, attributes)
        if get_ident() == self._thread:
            given = [one.array for one in inputs if isinstance(one, EagerTensor)]
            for one in made if isinstance(made, tuple) else (made,):
                if isinstance(one, EagerTensor):
                    one.array = otherwise_rounded(one.array, given, self._rng)
        return made

    share: Callable[..., None]
    separate: Callable[[Any], None]


def spread(value: Any, others: Sequence[Any]) -> Any:
    """How far other roundings of a value are apart from it; None where they say nothing.

    Infinite where they have other sizes.
    """
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return None
    if any(not isinstance(one, np.ndarray) or one.shape != value.shape for one in others):
        return np.inf
    found: Any = np.zeros(value.shape)
    wide = np.complex128 if value.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        for one in others:
            apart = np.abs(one.astype(wide) - value.astype(wide))
            found = np.maximum(found, np.where(np.isnan(apart), 0.0, apart))
    return found


__all__ = ["ROUNDINGS", "otherwise_rounded", "rounding", "spread"]
