"""Tensors made of lists of a length, and lists made of tensors."""

from __future__ import annotations

from collections import deque
from typing import Any

from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace
from dy2st.convert.values.layout import Leaf, Number, Same, opened
from dy2st.convert.values.sequences import Generated, Indexed
from dy2st.convert.values.special import Dynamic
from dy2st_runtime import ops
from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir import F, Tensor, Variable
from dy2st_runtime.ir.arguments import normalize_axis
from dy2st_runtime.tensor import EagerTensor, to_tensor


@function_row(EagerTensor.tolist, Variable.tolist)
def _tolist(trace: Trace, tensor: Any) -> Any:
    if not isinstance(tensor, Variable):
        tensor = trace.tracer.variable(tensor)
    try:
        return trace.made(tensor.tolist())
    except TensorAsPython:
        return _listed(trace, tensor)


def _listed(trace: Trace, tensor: Any) -> Any:
    if not tensor.ndim:
        return tensor.item()
    out: list[Any] = trace.made([])

    def turn(one: Any) -> tuple[()]:
        trace.call(out.append, _listed(trace, one))
        return ()

    trace.for_(tensor, None, turn, (), ())
    return out


_KINDS: tuple[Any, ...] = (EagerTensor, Variable)


@function_row(ops.unbind, *(kind.unbind for kind in _KINDS))
def _unbind(trace: Trace, input: Any, axis: Any = 0) -> Any:
    """`x.unbind(axis)`, of a size that only the run knows, too: a list of a length."""
    if not isinstance(input, Tensor) or type(axis) is not int or not input.ndim:
        return trace.made(F.unbind(*trace.exported((input, axis))))
    place = normalize_axis(axis, input.ndim)
    if isinstance(input.shape[place], int):
        return trace.made(F.unbind(input, axis))
    return trace.call(list, F.moveaxis(input, place, 0))


@function_row(ops.unstack, *(kind.unstack for kind in _KINDS))
def _unstack(trace: Trace, x: Any, axis: Any = 0, num: Any = None) -> Any:
    """`x.unstack(axis)`: the same of a copy."""
    if num is not None or not isinstance(x, Tensor):
        return trace.made(F.unstack(*trace.exported((x, axis, num))))
    return _unbind(trace, F.assign(x), axis)


@function_row(to_tensor)
def to_tensor_(trace: Trace, data: Any, *args: Any, **options: Any) -> Any:
    """`to_tensor(data)`, of a list of a length too."""
    kind = type(data)
    if kind in (Indexed, Generated, Dynamic) or kind in (list, deque):
        content = trace.content(data) if kind in (list, deque) else trace.listed(data)
        node = content.element if type(content) is Dynamic else None
        node = opened(node) if isinstance(node, Same) else node
        if isinstance(node, (Number, Leaf)):
            data = F.array_stack(trace.tracer.local(content.arrays[0]))
            if isinstance(node, Number) and node.kind is float and not args and not options:
                data = F.cast(data, "float32")
    return to_tensor(*trace.exported((data, *args)), **trace.exported(options))
