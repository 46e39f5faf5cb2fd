"""The operators `cond` and `while`, and a builder for loops in library code.

cond    operands: the condition, then what the branches read. Blocks: true, false. Both have what
        they read as parameters, and yield the results.
while   operands: the first values of the loop variables, then what the loop reads. Blocks:
        condition, body. Both have loop variables and what is read as parameters; the condition
        yields one bool, the body the next loop variables. Results: the last loop variables.

Engines and interpreters run them by name; they have no kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st_runtime.dims import equal
from dy2st_runtime.errors import LoopMismatch
from dy2st_runtime.ir import (
    ArrayType,
    Block,
    Effect,
    TensorType,
    Tracer,
    ValueType,
    Variable,
    current_tracer,
    define,
    user_location,
)
from dy2st_runtime.ir.arguments import fresh_symbol


def _no_rule(*_: Any, **__: Any) -> Any:
    raise AssertionError("the results of control flow are typed by whoever builds it")


define(
    "cond",
    doc="The results of one of two Blocks, chosen by a bool.",
    inputs="condition, captured*",
    infer=_no_rule,
    effect=Effect.VISIBLE,
)
define(
    "while",
    doc="The loop variables after a Block has run as often as another one says.",
    inputs="values*",
    infer=_no_rule,
    effect=Effect.VISIBLE,
)

Turn = Callable[..., Sequence[Any]]


def while_loop(
    condition: Turn, body: Turn, initial: Sequence[Variable], names: Sequence[str] = ()
) -> list[Variable]:
    """Append a `while`: both functions take the loop variables and return a list.

    Raises LoopMismatch if the body gives a loop variable another dtype or rank.
    """
    tracer = current_tracer()
    assert tracer is not None, "while_loop is for traced functions"
    types: list[ValueType] = [variable.type for variable in initial]
    while True:
        tested = _trace(tracer, condition, types)
        turned = _trace(tracer, body, types)
        joined = [
            _join(old, new.type, index, names)
            for index, (old, new) in enumerate(zip(types, turned.yields, strict=True))
        ]
        if all(old is new for old, new in zip(types, joined, strict=True)):
            break
        types = joined
    captured = close_blocks(tracer, (tested, turned), own=len(types))
    operands = [*(tracer.local(variable) for variable in initial), *captured]
    return tracer.append("while", operands, {}, types, (tested, turned)).results


def _trace(tracer: Tracer, function: Turn, types: Sequence[ValueType]) -> Block:
    with tracer.nested() as block:
        parameters = [block.add_parameter(type) for type in types]
        block.yields = [tracer.variable(value) for value in function(*parameters)]
    return block


def close_blocks(tracer: Tracer, blocks: Sequence[Block], own: int) -> list[Variable]:
    """Give closed Blocks the same parameters: `own` first ones, then all that any captures.

    Returns the captured Variables of the current Block, in that order.
    """
    outer: dict[Variable, None] = {}
    for block in blocks:
        outer.update(dict.fromkeys(tracer.captured_by(block)))
    for block in blocks:
        inner = [tracer.import_into(block, variable) for variable in outer]
        block.parameters = [*block.parameters[:own], *inner]
    return list(outer)


def _join(old: ValueType, new: ValueType, index: int, names: Sequence[str]) -> ValueType:
    if isinstance(old, ArrayType) or isinstance(new, ArrayType):
        return old
    if old.dtype != new.dtype or old.rank != new.rank:
        name = names[index] if index < len(names) else str(index)
        raise LoopMismatch(
            f"the loop variable `{name}` is {old} at the start of a turn and {new} at its end",
            at=user_location(),
            hint="start with a tensor of the same dtype and rank",
        )
    sizes = [
        a if equal(a, b) is True else fresh_symbol("size")
        for a, b in zip(old.shape, new.shape, strict=True)
    ]
    same = all(a is b for a, b in zip(sizes, old.shape, strict=True))
    return old if same else TensorType(old.dtype, sizes)
