"""Tensors made of lists of a length, and lists made of tensors."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from dy2st.convert.kinds.table import function_row
from dy2st.convert.trace import Trace
from dy2st.convert.types import info
from dy2st.convert.values.layout import Layout, Leaf, Number, Parts, Same, opened
from dy2st.convert.values.special import Generated, Indexed, SymbolicSequence
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
    except TensorAsPython:  # only the run knows the numbers: a loop makes the list
        return _listed(trace, tensor)


def _listed(trace: Trace, tensor: Any) -> Any:
    if not tensor.ndim:
        return tensor.item()
    out: list[Any] = trace.made([])

    def iteration(one: Any) -> tuple[()]:
        trace.call(out.append, _listed(trace, one))
        return ()

    trace.for_(tensor, None, iteration, (), ())
    return out


def _methods(name: str) -> list[Any]:
    return [getattr(kind, name) for kind in (EagerTensor, Variable)]


@function_row(ops.unbind, *_methods("unbind"))
def _unbind(trace: Trace, input: Any, axis: Any = 0) -> Any:
    """`x.unbind(axis)`, of a size that only the run knows, too: a list of a length."""
    if not isinstance(input, Tensor) or type(axis) is not int or not input.ndim:
        return trace.made(F.unbind(*trace.exported((input, axis))))
    place = normalize_axis(axis, input.ndim)
    if isinstance(input.shape[place], int):
        return trace.made(F.unbind(input, axis))
    return trace.call(list, F.moveaxis(input, place, 0))


@function_row(ops.unstack, *_methods("unstack"))
def _unstack(trace: Trace, x: Any, axis: Any = 0, num: Any = None) -> Any:
    """`x.unstack(axis)`: the same of a copy."""
    if num is not None or not isinstance(x, Tensor):
        return trace.made(F.unstack(*trace.exported((x, axis, num))))
    return _unbind(trace, F.assign(x), axis)


@function_row(to_tensor)
def to_tensor_(trace: Trace, data: Any, *args: Any, **options: Any) -> Any:
    """`to_tensor(data)`, of a list of a length too."""
    kind = type(data)
    if kind in (Indexed, Generated, SymbolicSequence) or kind in (list, deque):
        content = trace.content(data) if kind in (list, deque) else trace.listed(data)
        made = _table(trace, content) if type(content) is SymbolicSequence else None
        if made is not None:
            # Python's floats become float32 as everywhere; tensors in the list keep their dtype.
            is_float = made.dtype == np.float64 and (args or (options.get("dtype"),))[0] is None
            if is_float and not any(
                isinstance(leaf, Leaf) for leaf in _leaves(_opened(content.element))
            ):
                made = F.cast(made, "float32")
            data = made
    return to_tensor(*trace.exported((data, *args)), **trace.exported(options))


def _table(trace: Trace, content: SymbolicSequence) -> Any:
    """A tensor of the numbers, or alike tensors, in a list's elements; None if it holds others.

    An element may be a tuple or list of them: what is at one place of all elements is a column.
    """
    element = None if content.element is None else _opened(content.element)
    leaves = [] if element is None else [*_leaves(element)]
    if not any(isinstance(leaf, (Number, Leaf)) for leaf in leaves):
        return None
    kinds = {leaf.dtype if isinstance(leaf, Leaf) else _kind_of(leaf) for leaf in leaves}
    numbers = [kind for kind in (float, int, bool) if kind in kinds]
    if len(numbers) != len(kinds) and len(kinds) > 1:
        return None
    dtype = info(numbers[0]).dtype.name if numbers else None
    arrays = map(trace.tracer.local, content.arrays)
    found = [None if isinstance(leaf, Same) else F.array_stack(next(arrays)) for leaf in leaves]
    count = next(column.shape[0] for column in found if column is not None)
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, Same):
            found[place] = F.full([count], leaf.value, dtype)
        elif dtype is not None:
            found[place] = F.cast(found[place], dtype)
    return _beside(element, iter(found))


def _opened(node: Layout) -> Layout:
    """A node with all tuples and lists in it opened, and constants as they are."""
    inner = opened(node)
    if isinstance(inner, Parts) and issubclass(inner.kind, (tuple, list)):
        return inner.with_items([_opened(item) for item in inner.items])
    is_constant = isinstance(node, Same) and info(type(node.value)).dtype is not None
    return node if is_constant else inner


def _leaves(node: Layout) -> Iterator[Layout]:
    if isinstance(node, Parts) and issubclass(node.kind, (tuple, list)):
        for item in node.items:
            yield from _leaves(item)
    else:
        yield node


def _kind_of(node: Layout) -> Any:
    """The type of a number, or of what is none."""
    if isinstance(node, Same):
        return type(node.value)
    return node.kind if isinstance(node, Number) else type(node)


def _beside(node: Layout | None, columns: Iterator[Any]) -> Any:
    if not isinstance(node, Parts):
        return next(columns)
    return F.stack([_beside(item, columns) for item in node.items], axis=1)
