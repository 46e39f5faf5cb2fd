"""Tensors of which a part is written: in place where nobody needs the tensor as it was.

What many tensors become has a part for each; those of one shape are copied by one function.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.machine import abi
from dy2st_runtime.engine.native.nests.builder import contiguous
from dy2st_runtime.engine.native.nests.concatenation import copy, moved
from dy2st_runtime.engine.native.nests.members import is_native
from dy2st_runtime.engine.native.operators.scatter import Scatter
from dy2st_runtime.engine.native.operators.scatter_reduce import Joined
from dy2st_runtime.engine.native.program.planner import Step
from dy2st_runtime.engine.native.program.steps import Body, Writer, writer
from dy2st_runtime.ir.failures import may_fail
from dy2st_runtime.ir.program import Operator


def _is_native(operator: Operator) -> bool:
    """Whether tensor and value have one type, which code knows."""
    x, value = (
        operator.operands[0],
        operator.operands[2 if operator.name == "scatter_reduce" else 1],
    )
    return abi.is_native(x.dtype) and x.dtype == value.dtype


@contextmanager
def _changing(body: Body, operator: Operator) -> Iterator[str]:
    """The tensor to change: the operand itself if nobody else reads it, else a copy."""
    x, result = operator.operands[0], operator.results[0]
    is_copy = body.places.found.root(result) is result
    target = body.place(result) if is_copy else body.places.address(x)
    with body.lock.without(body.lock.is_long([x.tensor_type.shape])):
        if is_copy:
            body.places.copy(target, body.places.address(x), x.tensor_type)
        yield target


@writer(lambda operator: operator.name == "slice_update" and _is_native(operator), changes=True)
def _write_slice(body: Body, step: Step, operator: Operator) -> None:
    value, attributes = operator.operands[1], operator.attributes
    strides = contiguous(operator.results[0].tensor_type.shape)
    offset = sum((product(pair) for pair in zip(strides, attributes["starts"], strict=True)), 0)
    steps = [product(pair) for pair in zip(strides, attributes["steps"], strict=True)]
    own = [steps[axis] for axis in range(len(steps)) if axis not in attributes["drop"]]
    nest = copy(operator, value, own, offset)
    with _changing(body, operator) as target:
        body.call_nest(nest, [target])


def _put(body: Body, step: Step, operator: Operator) -> None:
    scatter = Joined(operator) if operator.name == "scatter_reduce" else Scatter(operator)
    is_checked = may_fail(operator)
    name = body.module.shared(scatter.text(is_checked), "put")
    pointers = [body.places.address(operand) for operand in operator.operands[1:]]
    with _changing(body, operator) as target:
        arguments = [f"ptr {pointer}" for pointer in (target, *pointers)]
        arguments += [f"i64 {body.sizes.value(size)}" for size in scatter.sizes]
        failed = body.function.let(f"call i32 @{name}({', '.join(arguments)})")
    if is_checked:
        body.unless(body.function.let(f"icmp eq i32 {failed}, 0"), [operator])


@writer(
    lambda operator: (
        operator.name in ("concat", "stack")
        and all(map(is_native, (*operator.operands, *operator.results)))
    )
)
def _join(body: Body, step: Step, operator: Operator) -> None:
    (result,) = operator.results
    target, width = body.place(result), result.dtype.itemsize
    for operand, strides, offset in moved(operator):
        place = body.sizes.value(product([offset, width]))
        part = body.function.let(f"getelementptr i8, ptr {target}, i64 {place}")
        body.call_nest(copy(operator, operand, strides, 0), [part])


UPDATES = (
    _join,
    _write_slice,
    Writer(
        lambda operator: (
            operator.name == "index_put"
            and _is_native(operator)
            and all(i.dtype.kind in "iu" and i.dtype != "uint64" for i in operator.operands[2:])
            and operator.operands[0].dtype.kind
            in ("iuf" if operator.attributes["accumulate"] else "biuf")
        ),
        _put,
        changes=True,
    ),
    Writer(
        lambda operator: (
            operator.name == "scatter_reduce"
            and _is_native(operator)
            and operator.operands[0].dtype.kind in "iuf"
            and operator.operands[1].dtype.kind in "iu"
            and operator.operands[1].dtype != "uint64"
        ),
        _put,
        changes=True,
    ),
)

__all__ = ["UPDATES"]
