"""Branches, loops and lists of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st.importers.paddle.calls import Call, Unsupported, scalar, table
from dy2st.importers.paddle.graph import Body, Key
from dy2st_runtime.dims import product
from dy2st_runtime.errors import FormatError
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.program import Variable
from dy2st_runtime.ir.types import ArrayType, TensorType
from dy2st_runtime.ops.control_flow import cond, while_loop

Row = Callable[[Call], Any]
ROWS: dict[str, Row] = {}
_row = table(ROWS)


def _inside(c: Call, body: Body, own: dict[Key, Any], wanted: Sequence[Key]) -> list[Any]:
    """What a body yields, and the values of some keys behind it."""
    inner = {**c.scope, **own}
    c.builder.run(body, inner)
    found = [c.builder.found(key, inner, c.node.name) for key in [*body.yields, *wanted]]
    if any(value is None or isinstance(value, list) for value in found):
        raise Unsupported(f"{c.node.name} whose bodies give lists, or nothing")
    return found


@_row("if")
def _if(c: Call) -> Any:
    if len(c.node.bodies) != 2:
        raise FormatError(f"an `if` has {len(c.node.bodies)} bodies")
    yes, no = c.node.bodies
    kept = [key for key in dict.fromkeys([*yes.writes(), *no.writes()]) if key in c.scope]
    known = data_of(c[0])
    if known is not None and known.size == 1 and isinstance(known.item(), (bool, int)):
        results = _inside(c, yes if known.item() else no, {}, kept)
    else:
        results = cond(c[0], lambda: _inside(c, yes, {}, kept), lambda: _inside(c, no, {}, kept))
    count = len(results) - len(kept)
    c.scope.update(zip(kept, results[count:], strict=True))
    return tuple(results[:count])


@_row("while")
def _while(c: Call) -> Any:
    if len(c.node.bodies) != 1:
        raise FormatError(f"a `while` has {len(c.node.bodies)} bodies")
    (body,) = c.node.bodies
    first = [scalar(c[0]), *c.operands[1:]]
    if len(body.parameters) != len(first) - 1 or len(body.yields) != len(first):
        raise FormatError("a `while` and its body have different numbers of values")
    # What neither an iteration nor anything behind the loop reads stands in files for form alone.
    needed, inner, all_reads = body.needs(), body.reads(), c.builder.reads

    results = [*c.node.results, *[None] * len(body.parameters)]
    used = [place for place, key in enumerate(body.parameters)
            if inner[key] or results[place] in all_reads]  # fmt: skip
    kept = [key for key in body.writes()
            if key in c.scope and (key in needed or all_reads[key] > inner[key])]  # fmt: skip
    body = Body(
        [body.parameters[place] for place in used],
        body.nodes,
        [body.yields[0], *(body.yields[1 + place] for place in used)],
    )
    first = [first[0], *(first[1 + place] for place in used), *(c.scope[key] for key in kept)]
    own = [*body.parameters, *kept]

    def step(_: Any, *values: Any) -> list[Any]:
        found = _inside(c, body, dict(zip(own, values, strict=True)), kept)
        return [_as_before(old, new) for old, new in zip([first[0], *values], found, strict=True)]

    last = while_loop(lambda condition, *_: condition, step, first)
    count = 1 + len(used)
    c.scope.update(zip(kept, last[count:], strict=True))
    values = dict(zip(used, last[1:count], strict=True))
    return tuple(values.get(place) for place in range(len(c.node.results)))


def _as_before(old: Any, new: Any) -> Any:
    """One element that has got other axes in a loop, with those that it had."""
    types = old.type, new.type
    if all(isinstance(type, TensorType) for type in types) and old.ndim != new.ndim:
        sizes = [product(type.shape) for type in types]
        if all(isinstance(size, int) and size == 1 for size in sizes):
            return F.reshape(new, old.shape)
    return new


# -- lists ------------------------------------------------------------------------------------


def _array(value: Any) -> Variable:
    if isinstance(value, Variable) and isinstance(value.type, ArrayType):
        return value
    raise FormatError("an operator on a list of tensors is given something else")


@_row("array_write")
def _write(c: Call) -> Any:
    """Another element at a place; the one behind the last is new."""
    array, x, place = _array(c[0]), c[1], scalar(c[2])
    type = array.type
    if isinstance(type, ArrayType) and type.element is None:
        return F.array_append(array, x)
    is_there = F.less_than(F.cast(place, "int64"), F.array_length(array))
    (made,) = cond(
        is_there,
        lambda: [F.array_write(array, place, x)],
        lambda: [F.array_append(array, x)],
    )
    return made


@_row("array_to_tensor")
def _to_tensor(c: Call) -> Any:
    array, axis = _array(c[0]), c.get("axis", 0)
    if c.get("use_stack", False):
        return F.array_stack(array, axis)
    return F.array_concat(array, axis)


@_row("slice_array")
def _slice(c: Call) -> Any:
    start, end = (c.ints(place) for place in (1, 2))
    start, end = (one[0] if isinstance(one, list) else scalar(one) for one in (start, end))
    return F.array_slice(_array(c[0]), start, None if isinstance(end, int) and end > 2**30 else end)


ROWS |= {
    "create_array": lambda c: F.array_of([]),
    "create_array_like": lambda c: F.array_of([]),
    "array_length": lambda c: F.array_length(_array(c[0])),
    "array_read": lambda c: F.array_read(_array(c[0]), scalar(c[1])),
    "array_pop": lambda c: F.array_pop(_array(c[0]), c.get("index", -1)),
    "assign_array": lambda c: (c[0],),
    "slice_array_dense": lambda c: F.array_read(_array(c[0]), scalar(c[1])),
    "print": lambda c: (c[0],),
    "assert": lambda c: (),
}

__all__ = ["ROWS"]
