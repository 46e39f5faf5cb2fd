"""The graph in the making as writers see it: sizes as values, and what many writers need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, Size, is_symbol, symbols
from dy2st_runtime.dims.expression import of_atom
from dy2st_runtime.engine.onnx.nodes import BOOL, FLOAT32, INT64, UINT8, Nodes, Value
from dy2st_runtime.ir import is_floating
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.sizes import Solved, origins
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

_RELATIONS = {
    **{"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual"},
    "==": "Equal",
}


class Graph(Nodes):
    """Writes nodes, with sizes that are known only when the model runs."""

    def __init__(self, opset: int) -> None:
        """Begin with nothing."""
        super().__init__(opset)
        self.solved: dict[Dim, Solved] = {}  # of symbols that are not an axis themselves

    # -- sizes ----------------------------------------------------------------------------------

    def bind(self, variable: Variable, value: Value) -> None:
        """Let a value stand for a Variable, and for the symbols that its shape defines."""
        self.scope.values[variable] = value
        if isinstance(variable.type, TensorType):
            for axis, size in enumerate(variable.type.shape):
                if isinstance(size, Dim) and is_symbol(size) and self.depth_of(size) is None:
                    self.scope.symbols[size] = (value, axis)

    def depth_of(self, symbol: Dim) -> int | None:
        """The graph in which a symbol is known, counted from the outermost."""
        for depth in reversed(range(len(self.scopes))):
            if symbol in self.scopes[depth].symbols:
                return depth
        return None

    def axis_size(self, x: Value, axis: int) -> Value:
        """The size of an axis, a vector of one number."""
        if self.opset >= 15:
            return self.op("Shape", x, start=axis, end=axis + 1, shape=(1,))
        return self.op("Gather", self.op("Shape", x), self.int64s([axis]), shape=(1,))

    def size(self, size: Size | Condition) -> Value:
        """A size as a vector of one number, or a condition as one of one bool."""
        if isinstance(size, (bool, np.bool_)):
            return self.const(np.asarray([size]))
        if not isinstance(size, (Dim, Condition)):
            return self.int64s([size])
        depths = [self.depth_of(symbol) for symbol in symbols(size)]
        assert None not in depths, f"no value is known for a symbol of {size}"
        depth = max((d for d in depths if d is not None), default=0)
        known = self.scopes[depth].sizes
        if size not in known:
            with self.outside(depth):
                known[size] = self._formula(size)
        return known[size]

    def _formula(self, size: Dim | Condition) -> Value:
        if isinstance(size, Condition):
            return self._condition(size)
        if is_symbol(size):
            value, axis = next(
                scope.symbols[size] for scope in reversed(self.scopes) if size in scope.symbols
            )
            found = self.axis_size(value, axis)
            solved = self.solved.get(size) if len(self.scopes) == 1 else None
            if solved is not None:
                found = self.op("Sub", found, self.int64s([solved.offset]))
                found = self.floor_div(found, self.int64s([solved.factor]))
            return found
        terms = []
        for atoms, factor in size.terms:
            parts = [self._atom(atom) for atom in atoms]
            if factor != 1:
                parts.append(self.int64s([factor]))
            terms.append(reduce(lambda x, y: self.op("Mul", x, y, shape=(1,)), parts))
        if size.constant:
            terms.append(self.int64s([size.constant]))
        return reduce(lambda x, y: self.op("Add", x, y, shape=(1,)), terms)

    def _atom(self, atom: Any) -> Value:
        if atom.kind == "symbol":
            return self.size(of_atom(atom))
        args = [self.size(argument) for argument in atom.args]
        if atom.kind == "floordiv":
            return self.floor_div(*args)
        if atom.kind == "broadcast":  # the one that is not 1
            return reduce(self._broadcast_size, args)
        return reduce(lambda x, y: self.op(atom.kind.capitalize(), x, y, shape=(1,)), args)

    def _broadcast_size(self, x: Value, y: Value) -> Value:
        is_one = self.op("Equal", x, self.int64s([1]))
        return self.op("Where", is_one, y, x, main=1, shape=(1,))

    def floor_div(self, x: Value, y: Value) -> Value:
        """The floor of the quotient of integers; ONNX cuts off."""
        rest = self.op("Mod", x, y)  # of the sign of y
        return self.op("Div", self.op("Sub", x, rest), y, shape=x.shape)

    def _condition(self, condition: Condition) -> Value:
        left, relation = self.size(condition.left), condition.relation
        if isinstance(condition.right, tuple):
            tests = [self.op("Equal", left, self.size(one)) for one in condition.right]
            found = reduce(lambda x, y: self.op("Or", x, y), tests)
            return self.op("Not", found) if relation.startswith("not") else found
        right = self.size(condition.right)
        if relation.endswith("broadcasts"):
            one = self.int64s([1])
            tests = [self.op("Equal", x, y) for x, y in ((left, right), (left, one), (right, one))]
            found = reduce(lambda x, y: self.op("Or", x, y), tests)
            return found if relation == "broadcasts" else self.op("Not", found)
        if relation == "!=":
            return self.op("Not", self.op("Equal", left, right))
        return self.op(_RELATIONS[relation], left, right)

    def number(self, size: Size) -> Value:
        """A size as a 0-d value."""
        if isinstance(size, Dim):
            return self.reshape(self.size(size), ())
        return self.const(np.int64(size))

    def ints(self, sizes: Sequence[Size]) -> Value:
        """Sizes as a vector: a constant where all are known."""
        if not any(isinstance(size, Dim) for size in sizes):
            return self.int64s([int(size) for size in sizes])
        parts: list[Value] = []
        run: list[int] = []
        for size in [*sizes, None]:
            if isinstance(size, int):
                run.append(size)
                continue
            if run:
                parts.append(self.int64s(run))
                run = []
            if size is not None:
                parts.append(self.size(size))
        if len(parts) == 1:
            return parts[0]
        return self.op("Concat", *parts, axis=0, shape=(len(sizes),))

    # -- shapes ---------------------------------------------------------------------------------

    def reshape(self, x: Value, shape: Sequence[Size]) -> Value:
        """x in another shape; one that the model has to compute only where it must."""
        wanted = tuple(shape)
        if x.shape is not None and is_same_shape(x.shape, wanted):
            return x
        unknown = [size for size in wanted if isinstance(size, Dim)]
        own = x.shape or ()
        kept = [
            size is own[axis] if isinstance(size, Dim) and axis < len(own) else False
            for axis, size in enumerate(wanted)
        ]
        left = [
            axis for axis, size in enumerate(wanted) if isinstance(size, Dim) and not kept[axis]
        ]
        if not any(isinstance(size, int) and size == 0 for size in wanted):
            if len(unknown) <= 1:
                return self._reshaped(x, [-1 if isinstance(s, Dim) else s for s in wanted], wanted)
            # An axis that stays is 0, which Reshape takes from x; the axes beside -1 may be empty.
            if not left:
                return self._reshaped(
                    x, [0 if kept[a] else s for a, s in enumerate(wanted)], wanted
                )
        allowed = 1 if self.opset >= 14 else None
        return self.op("Reshape", x, self.ints(wanted), shape=wanted, allowzero=allowed)

    def _reshaped(self, x: Value, numbers: Sequence[Any], wanted: tuple[Size, ...]) -> Value:
        return self.op("Reshape", x, self.int64s(numbers), shape=wanted)

    def transpose(self, x: Value, perm: Sequence[int]) -> Value:
        """x with its axes in another order."""
        if list(perm) == list(range(len(perm))):
            return x
        shape = None if x.shape is None else tuple(x.shape[axis] for axis in perm)
        return self.op("Transpose", x, perm=list(perm), shape=shape)

    def unsqueeze(self, x: Value, axes: Sequence[int]) -> Value:
        """x with new axes of size 1 at these places of the result."""
        shape: list[Size] | None = None if x.shape is None else list(x.shape)
        for axis in sorted(axes):
            if shape is not None:
                shape.insert(axis, 1)
        return self.op(
            "Unsqueeze", x, self.int64s(axes), shape=None if shape is None else tuple(shape)
        )

    def squeeze(self, x: Value, axes: Sequence[int]) -> Value:
        """x without these axes of size 1."""
        shape = None
        if x.shape is not None:
            gone = {axis % len(x.shape) for axis in axes}
            shape = tuple(size for axis, size in enumerate(x.shape) if axis not in gone)
        return self.op("Squeeze", x, self.int64s(axes), shape=shape)

    def expand(self, x: Value, shape: Sequence[Size]) -> Value:
        """x broadcast to a shape."""
        wanted = tuple(shape)
        if x.shape is not None and is_same_shape(x.shape, wanted):
            return x
        return self.op("Expand", x, self.ints(wanted), shape=wanted)

    def slice(
        self,
        x: Value,
        starts: Sequence[Size],
        stops: Sequence[Size],
        axes: Sequence[int],
        steps: Sequence[int] | None = None,
        shape: Any = None,
    ) -> Value:
        """Elements from start to stop along axes."""
        step = None if steps is None or all(s == 1 for s in steps) else self.int64s(steps)
        return self.op(
            "Slice", x, self.ints(starts), self.ints(stops), self.int64s(axes), step, shape=shape
        )

    def concat(self, values: Sequence[Value], axis: int, shape: Any = None) -> Value:
        """Values one after the other along an axis."""
        return self.op("Concat", *values, axis=axis, shape=shape)

    def reduce(
        self, kind: str, x: Value, axes: Sequence[int], keepdim: bool, shape: Any = None
    ) -> Value:
        """A reduction along axes: an attribute before opset 18, but of ReduceSum an input."""
        name = f"Reduce{kind}"
        if not axes:
            return x
        if self.opset >= 18 or kind == "Sum":
            made = self.op(name, x, self.int64s(axes), keepdims=int(keepdim), shape=shape)
        else:
            made = self.op(name, x, axes=list(axes), keepdims=int(keepdim), shape=shape)
        return made

    # -- arithmetic -----------------------------------------------------------------------------

    def where(self, condition: Value, x: Value, y: Value, shape: Any = None) -> Value:
        """x where the condition holds, else y."""
        if x.dtype == BOOL:
            x, y = self.cast(x, UINT8), self.cast(y, UINT8)
            return self.cast(self.op("Where", condition, x, y, main=1, shape=shape), BOOL)
        return self.op("Where", condition, x, y, main=1, shape=shape)

    def all_of(self, x: Value) -> Value:
        """Whether all elements of a tensor of bools hold, 0-d."""
        if x.shape == ():
            return x
        flat = self.op("Reshape", x, self.int64s([-1]))
        least = self.reduce("Min", self.cast(flat, INT64), [0], False, ())
        return self.cast(least, BOOL)

    def full(self, shape: Sequence[Size], number: Any, dtype: Any) -> Value:
        """A tensor of one number."""
        wanted = tuple(shape)
        value = np.asarray(number).astype(dtype)
        if not wanted or all(isinstance(size, int) for size in wanted):
            count = int(np.prod([size for size in wanted if isinstance(size, int)], dtype=np.int64))
            if count <= 4:
                return self.const(np.full([int(s) for s in wanted if isinstance(s, int)], value))
        return self.expand(self.const(value), wanted)

    def arange(self, size: Size, dtype: Any = INT64) -> Value:
        """0, 1, 2, ... so many."""
        if isinstance(size, int) and size <= 64:
            return self.const(np.arange(size, dtype=dtype))
        made = self.op(
            "Range",
            self.const(np.int64(0)),
            self.number(size),
            self.const(np.int64(1)),
            shape=(size,),
        )
        return self.cast(made, dtype)

    def floats(self, x: Value) -> Value:
        """x, as float64 if it holds integers or bools."""
        return x if is_floating(x.dtype) else self.cast(x, np.dtype("float64"))

    def longer(self, x: Value) -> Value:
        """x, as float32 if it is a float of 16 bits."""
        is_short = is_floating(x.dtype) and x.dtype.itemsize == 2
        return self.cast(x, FLOAT32) if is_short else x

    def require(self, flag: Value) -> None:
        """Fail, when the model runs, unless a bool of one element holds."""
        self.scope.flags.append(self.reshape(flag, ()))

    # -- the operator that is written -----------------------------------------------------------

    @property
    def result(self) -> TensorType:
        """The type of its first result."""
        assert self.operator is not None
        return self.operator.results[0].tensor_type


def is_same_size(one: Size, other: Size) -> bool:
    """Whether two sizes are surely the same: the same number, or the same formula."""
    return one is other or (isinstance(one, int) and isinstance(other, int) and one == other)


def is_same_shape(one: Sequence[Size], other: Sequence[Size]) -> bool:
    """The same of shapes."""
    return len(one) == len(other) and all(map(is_same_size, one, other))


def solved_sizes(parameters: Iterable[Variable]) -> dict[Dim, Solved]:
    """The symbols that parameters bind and that are no axis themselves."""
    found = {symbol: origin.solved for symbol, origin in origins(parameters).items()}
    return {symbol: one for symbol, one in found.items() if one.factor != 1 or one.offset}


def value_of(type: ValueType, name: str) -> Value:
    """A value of a type under a name; those of a list of lists have names that begin with it."""
    if isinstance(type, TensorType):
        return Value(name, type.dtype, type.shape)
    inner = type.tensor
    dtype, is_empty = FLOAT32 if inner is None else inner.dtype, inner is None
    if not isinstance(type.element, ArrayType):
        return Value(name, dtype, None, True, is_empty)
    lengths = Value(f"{name}.lengths", INT64)
    child = value_of(type.element, f"{name}.elements")
    return Value(name, dtype, None, True, is_empty, lengths, child)


__all__ = ["Graph", "is_same_shape", "is_same_size", "solved_sizes", "value_of"]
