"""Writes the function that joins values with what is at places along an axis.

    i32 put(ptr target, ptr index, ptr values, i64 size...)      1: a place is outside

All places are looked at before anything is written, and where they are used; values are taken one
after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from dy2st_runtime.dims import Dim, Size
from dy2st_runtime.engine.native.nests.access import stored
from dy2st_runtime.engine.native.operators.scatter import SafePlaces, place_at
from dy2st_runtime.engine.native.rows.reductions import limit
from dy2st_runtime.engine.native.text.code import Code
from dy2st_runtime.engine.native.text.lanes import Lanes
from dy2st_runtime.ir.program import Operator

_JOINS = {"mul": Lanes.multiply, "amin": Lanes.minimum, "amax": Lanes.maximum}


class Joined:
    """The function of a `scatter_reduce`: its text, and the sizes that it is called with."""

    def __init__(self, operator: Operator) -> None:
        x, self._index, _ = operator.operands
        self._attributes, self._dtype = operator.attributes, x.dtype
        self._shape, self._counts = x.tensor_type.shape, self._index.tensor_type.shape
        known = (size for size in (*self._shape, *self._counts) if isinstance(size, Dim))
        self.sizes = {size: f"%size{place}" for place, size in enumerate(dict.fromkeys(known))}
        parameters = [("ptr", name) for name in ("%target", "%index", "%values")]
        parameters += [("i64", name) for name in self.sizes.values()]
        self._code = Code("NAME", parameters, stored(self._dtype), "i32")
        self._lanes = Lanes(self._code, 1)
        self._safe: SafePlaces | None = None

    def text(self, is_checked: bool) -> str:
        """The function, as `@NAME`."""
        if is_checked:
            self._each(self._check)
            self._safe = SafePlaces(self._code)
        if not self._attributes["include_self"]:
            self._each(self._clear)
        self._each(self._join)
        self._code.line(f"ret i32 {self._safe.failed() if self._safe else 0}")
        return self._code.text()

    def _size(self, size: Size) -> str:
        return self.sizes[size] if isinstance(size, Dim) else str(size)

    def _each(self, write: Callable[[str, str, str], None]) -> None:
        """`write(number of the value, its place along the axis, its place in x)` for all."""
        code, axis = self._code, self._attributes["axis"]
        own = self._size(self._shape[axis])
        with ExitStack() as loops:
            iterations = [loops.enter_context(code.loop("0", self._size(n))) for n in self._counts]
            at = to = "0"
            for iteration, count in zip(iterations, self._counts, strict=True):
                at = code.plus(code.times(at, self._size(count)), iteration)
            place = place_at(code, "%index", self._index.dtype, at, own)
            if self._safe:
                place = self._safe.inside(place, own)
            iterations[axis] = place
            for iteration, size in zip(iterations, self._shape, strict=True):
                to = code.plus(code.times(to, self._size(size)), iteration)
            write(at, place, to)

    def _check(self, at: str, place: str, to: str) -> None:
        code, own = self._code, self._size(self._shape[self._attributes["axis"]])
        code.require(code.let(f"icmp ult i64 {place}, {own}"))

    def _clear(self, at: str, place: str, to: str) -> None:
        reduce, dtype = self._attributes["reduce"], self._dtype
        start = self._lanes.constant(
            1 if reduce == "mul" else limit(dtype, reduce == "amin"), dtype
        )
        self._lanes.store(start, self._code.at("%target", to))

    def _join(self, at: str, place: str, to: str) -> None:
        target = self._code.at("%target", to)
        before = self._lanes.load(target, self._dtype)
        new = self._lanes.load(self._code.at("%values", at), self._dtype)
        self._lanes.store(_JOINS[self._attributes["reduce"]](self._lanes, before, new), target)


__all__ = ["Joined"]
