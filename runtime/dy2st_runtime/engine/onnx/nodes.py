"""Nodes of ONNX in the making: values, constants, casts, and the graphs that lie in each other."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dy2st_runtime.dims import Dim, Size
from dy2st_runtime.engine.onnx.library import DType, element_number, numpy_helper, onnx
from dy2st_runtime.engine.onnx.table import computed_in
from dy2st_runtime.ir import is_floating
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.types import Shape

Array = np.ndarray[Any, Any]
BOOL, INT32, INT64 = np.dtype("bool"), np.dtype("int32"), np.dtype("int64")
FLOAT32, FLOAT64, UINT8 = np.dtype("float32"), np.dtype("float64"), np.dtype("uint8")
_TRUTHS = {"Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal", "IsNaN", "IsInf", "Not"}
_TRUTHS |= {"And", "Or", "Xor"}
_PLACES = {"Shape", "Size", "NonZero", "ArgMax", "ArgMin", "SequenceLength"}


@dataclass(frozen=True, slots=True)
class Value:
    """A value by its name: a tensor of a dtype, or a list of such tensors.

    A list of lists is two values: how many elements each has, and one list of all of them.

    shape     of a tensor, where it is known.
    lengths   of a list of lists: a vector.
    child     of a list of lists: a list, which may be one of lists again.
    is_empty  of a list into which nothing has been put: it has no dtype yet.
    number    of a constant.
    """

    name: str
    dtype: DType
    shape: Shape | None = None
    is_list: bool = False
    is_empty: bool = False
    lengths: Value | None = None
    child: Value | None = None
    number: Array | None = field(default=None, compare=False)

    @property
    def leaves(self) -> list[Value]:
        """The values of ONNX that it is: of a list of lists several."""
        if self.child is None or self.lengths is None:
            return [self]
        return [self.lengths, *self.child.leaves]

    def of_leaves(self, leaves: Iterator[Value]) -> Value:
        """Such a value made of others."""
        if self.child is None:
            return next(leaves)
        return replace(self, lengths=next(leaves), child=self.child.of_leaves(leaves))

    @property
    def rank(self) -> int:
        """The number of axes, where the shape is known."""
        assert self.shape is not None
        return len(self.shape)


@dataclass(eq=False)
class Scope:
    """A graph in the making: what stands in it, and what is known in it alone.

    flags   whether all is well: values of one bool, of what else would raise.
    """

    nodes: list[Any] = field(default_factory=list)
    values: dict[Variable, Value] = field(default_factory=dict)
    symbols: dict[Dim, tuple[Value, int]] = field(default_factory=dict)
    sizes: dict[Any, Value] = field(default_factory=dict)
    flags: list[Value] = field(default_factory=list)


class Nodes:
    """Writes nodes into the innermost graph."""

    def __init__(self, opset: int) -> None:
        """Take the version of the operator set."""
        self.opset = opset
        self.scopes: list[Scope] = []
        self.initializers: dict[str, Any] = {}
        self.place = ""  # the name of the operator of the Program that is written
        self.about = ""  # where it comes from
        self.operator: Operator | None = None
        self.made_by: dict[str, Operator] = {}  # what nodes stand for, by their names
        self._constants: dict[Any, Value] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    # -- names and graphs -----------------------------------------------------------------------

    def take(self, name: str) -> str:
        """A name for what the user knows by it, which no other value has."""
        return self.fresh(name) if name in self._taken or not name else self._took(name)

    def fresh(self, hint: str) -> str:
        """A new name."""
        while True:
            count = self._counts[hint] = self._counts.get(hint, -1) + 1
            name = f"{hint}_{count}" if count else hint
            if name not in self._taken:
                return self._took(name)

    def _took(self, name: str) -> str:
        self._taken.add(name)
        return name

    @property
    def scope(self) -> Scope:
        """The innermost graph."""
        return self.scopes[-1]

    @contextmanager
    def nested(self) -> Iterator[Scope]:
        """A graph in the innermost one, whose values it sees by name."""
        self.scopes.append(Scope())
        try:
            yield self.scopes[-1]
        finally:
            self.scopes.pop()

    @contextmanager
    def outside(self, depth: int) -> Iterator[None]:
        """Write into the graph of that depth: before the node that holds the inner ones."""
        inner = self.scopes[depth + 1 :]
        del self.scopes[depth + 1 :]
        try:
            yield
        finally:
            self.scopes.extend(inner)

    # -- nodes ----------------------------------------------------------------------------------

    def node(
        self, kind: str, inputs: Sequence[Value | None], outputs: Sequence[str], **attributes: Any
    ) -> None:
        """Write a node as it is."""
        made = onnx.NodeProto(op_type=kind, name=self.fresh(f"{self.place or 'graph'}/{kind}"))
        made.input.extend([one.name if one is not None else "" for one in inputs])
        while made.input and not made.input[-1]:
            del made.input[-1]
        made.output.extend(outputs)
        made.doc_string = self.about
        if self.operator is not None:
            self.made_by[made.name] = self.operator
        for name, value in attributes.items():
            if value is not None:
                made.attribute.append(_attribute(name.rstrip("_"), value))
        self.scope.nodes.append(made)

    def op(
        self,
        kind: str,
        *inputs: Value | None,
        main: int = 0,
        dtype: DType | None = None,
        shape: Shape | None = None,
        kernel: str = "",
        **attributes: Any,
    ) -> Value:
        """The first result of an operator of ONNX.

        Where it lacks the dtype of its main input, all inputs of that dtype are cast, and the
        result is cast back. `dtype` is that of the result where it is not that of the main input.
        """
        return self.ops(
            kind, *inputs, main=main, dtypes=[dtype], shape=shape, kernel=kernel, **attributes
        )[0]

    def ops(
        self,
        kind: str,
        *inputs: Value | None,
        main: int = 0,
        dtypes: Sequence[DType | None] = (None,),
        shape: Shape | None = None,
        kernel: str = "",
        **attributes: Any,
    ) -> list[Value]:
        """All results, of these dtypes."""
        given = inputs[main] if main < len(inputs) else None
        own = given.dtype if given is not None else (dtypes[0] or INT64)
        wide = computed_in(kernel or kind, own)
        if wide != own:
            inputs = tuple(
                self.cast(one, wide)
                if one is not None and one.dtype == own and not one.is_list
                else one
                for one in inputs
            )
        names = [self.fresh(self.place or kind.lower()) for _ in dtypes]
        self.node(kind, inputs, names, **attributes)
        results = []
        for place, (name, wanted) in enumerate(zip(names, dtypes, strict=True)):
            if wanted is not None:
                results.append(Value(name, wanted, shape))
            elif kind in _TRUTHS:
                results.append(Value(name, BOOL, shape))
            elif kind in _PLACES or (place and kind == "TopK"):
                results.append(Value(name, INT64, shape))
            else:
                results.append(self.cast(Value(name, wide, shape), own))
        return results

    def cast(self, x: Value, dtype: DType) -> Value:
        """x in another dtype, as NumPy casts: floats that do not fit lose their upper bits."""
        if x.dtype == dtype or x.is_list:
            return x
        if x.number is not None and x.number.size <= 16 and not is_floating(x.dtype):
            return self.const(x.number.astype(dtype))
        is_other = dtype not in (INT32, INT64) and dtype.name != "uint64"
        if is_floating(x.dtype) and dtype.kind in "iu" and is_other:
            x = self.cast(x, INT32 if dtype.itemsize < 4 else INT64)
        name = self.fresh(f"{self.place or 'graph'}_cast")
        # NumPy has no number for what is beyond a float of 8 bits.
        saturate = 0 if dtype.name.startswith("float8") and self.opset >= 19 else None
        self.node("Cast", [x], [name], to=element_number(dtype), saturate=saturate)
        return Value(name, dtype, x.shape)

    # -- constants ------------------------------------------------------------------------------

    def const(self, value: Any, dtype: DType | None = None) -> Value:
        """A constant; one of each."""
        array = np.asarray(value) if dtype is None else np.asarray(value).astype(dtype)
        key = (array.dtype, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.initializer(self.fresh("constant"), array)
        return self._constants[key]

    def initializer(self, name: str, array: Array) -> Value:
        """An array of the outermost graph, by its name."""
        self.initializers[name] = tensor_of(name, array)
        return Value(name, array.dtype, tuple(array.shape), number=array)

    def like(self, x: Value, number: Any) -> Value:
        """A 0-d constant of the dtype of x."""
        return self.const(number, x.dtype)

    def int64s(self, numbers: Sequence[int]) -> Value:
        """A vector of integers."""
        return self.const(np.asarray(numbers, np.int64).reshape(-1))


def tensor_of(name: str, array: Array) -> Any:
    """An array as ONNX stores it."""
    if array.dtype.name in PACKED:
        return numpy_helper.from_array(array, name)
    proto = onnx.TensorProto(name=name, data_type=element_number(array.dtype))
    proto.dims.extend(array.shape)
    if sys.byteorder == "big" and array.dtype.itemsize > 1:
        array = array.byteswap()
    proto.raw_data = np.ascontiguousarray(array).tobytes()
    return proto


PACKED = ("int4", "uint4", "float4_e2m1fn", "int2", "uint2")
"""Elements of which several share a byte."""


def _attribute(name: str, value: Any) -> Any:
    """An attribute of a node, by the kind of its value."""
    made = onnx.AttributeProto(name=name)
    kinds = onnx.AttributeProto
    if isinstance(value, (bool, int, np.integer)):
        made.i, made.type = int(value), kinds.INT
    elif isinstance(value, float):
        made.f, made.type = value, kinds.FLOAT
    elif isinstance(value, str):
        made.s, made.type = value.encode(), kinds.STRING
    elif isinstance(value, onnx.GraphProto):
        made.g.CopyFrom(value)
        made.type = kinds.GRAPH
    elif isinstance(value, onnx.TensorProto):
        made.t.CopyFrom(value)
        made.type = kinds.TENSOR
    else:
        made.ints.extend(value)
        made.type = kinds.INTS
    return made


def as_size(size: Size) -> int | None:
    """The number of a size, None if it is not known."""
    return size if isinstance(size, int) else None


__all__ = [
    "BOOL",
    "FLOAT32",
    "FLOAT64",
    "INT32",
    "INT64",
    "UINT8",
    "Array",
    "Nodes",
    "Scope",
    "Value",
    "as_size",
    "tensor_of",
]
