"""Lists in the branches and loops that XLA runs: a buffer, and how many elements of it there are.

XLA wants to know how long a buffer is. So the loops are those whose iterations a size bounds, and
that only append; all others are the host's, which has lists of arrays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from dy2st_runtime.dims import Dim
from dy2st_runtime.engine.xla.host_operators import IDENTITIES
from dy2st_runtime.engine.xla.library import jnp, lax
from dy2st_runtime.engine.xla.lowerings.numbers import INT64
from dy2st_runtime.engine.xla.table import check, lower
from dy2st_runtime.errors import EngineError
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.types import ArrayType, TensorType

Room = int | Dim

MOST = 2**30
"""So many bytes at most a buffer has."""

LIST_OPERATORS = {"array_append", "array_read", "array_write", "array_length"}
"""What branches and loops of XLA may do with lists."""

EMPTY_LISTS = {"array_create", "array_empty"}


class Buffer(NamedTuple):
    """A list of tensors of one shape: the first `length` entries of an array."""

    array: Any
    length: Any

    @property
    def nbytes(self) -> int:
        """Those of the whole array."""
        return int(self.array.nbytes)


def buffer_of(value: Any) -> Any:
    """A list of arrays as a Buffer; an empty one, and what is no list, as it is."""
    if not isinstance(value, list) or not value:
        return value
    return Buffer(np.stack([np.asarray(one) for one in value]), np.asarray(len(value), INT64))


def list_of(value: Any) -> Any:
    """A Buffer as a list of new arrays of NumPy; anything else as it is."""
    if not isinstance(value, Buffer):
        return value
    array = np.asarray(value.array)
    return [np.array(array[place]) for place in range(int(value.length))]


def with_room(value: Any, element: TensorType, shape: tuple[int, ...], room: int) -> Any:
    """A list as a Buffer that takes so many elements more; EngineError if that is too large."""
    size = room * math.prod(shape) * element.dtype.itemsize
    if size > MOST:
        raise EngineError(f"a list of up to {room} tensors might take {size / 2**30:.1f} GB")
    if isinstance(value, list):
        return Buffer(jnp.zeros((max(room, 1), *shape), element.dtype), jnp.zeros((), INT64))
    if not room:
        return value
    more = jnp.zeros((room, *shape), value.array.dtype)
    return Buffer(jnp.concatenate([value.array, more]), value.length)


# -- how many elements a loop appends ------------------------------------------------------------


def rooms(operator: Operator) -> dict[int, Room] | None:
    """How many elements at most a branch or loop appends, by operand; None if that is not known."""
    found: dict[int, Room] = {}
    for place, result in enumerate(operator.results):
        if isinstance(result.type, ArrayType):
            grown = _grown(operator, place)
            if grown is None or grown[0] in found:
                return None
            found[grown[0]] = grown[1]
    return found


def _grown(operator: Operator, place: int) -> tuple[int, Room] | None:
    """The operand that a result continues, and by how many elements at most."""
    if operator.name == "cond":
        parts = [_appended(block, place) for block in operator.blocks]
        known = [part for part in parts if part is not None]
        if len(known) < 2 or known[0][0] != known[1][0]:
            return None
        counts = [count for _, count in known]
        if not all(isinstance(count, int) for count in counts):
            return None
        return known[0][0] + 1, max(counts)
    part, most = _appended(operator.blocks[1], place), _iterations(operator)
    if part is None or part[0] != place:
        return None
    if isinstance(part[1], int) and part[1] == 0:
        return place, 0
    return None if most is None else (place, most * part[1])


def _appended(block: Block, place: int) -> tuple[int, Room] | None:
    """The parameter that a yield continues, and how many elements are appended to it."""
    variable, count = block.yields[place], cast(Room, 0)
    while isinstance(maker := variable.maker, Operator):
        of = 0
        if maker.blocks:
            index = next(n for n, one in enumerate(maker.results) if one is variable)
            grown = _grown(maker, index)
            if grown is None:
                return None
            of, count = grown[0], count + grown[1]
        elif maker.name == "array_append":
            count = count + 1
        elif maker.name not in (*IDENTITIES, "array_write"):
            return None
        variable = maker.operands[of]
    return next(n for n, one in enumerate(block.parameters) if one is variable), count


def _iterations(loop: Operator) -> Room | None:
    """A number that bounds them: that of `while i < size`, where i begins at 0 or above."""
    condition, body = loop.blocks
    for test in _all_of(condition.yields[0]):
        if test.name != "less_than":
            continue
        counter, limit = test.operands
        place = next((n for n, one in enumerate(condition.parameters) if one is counter), None)
        if place is None or place >= len(loop.results):
            continue
        first, step = _number(loop.operands[place]), body.yields[place].maker
        most = _number(_outside(limit, condition, loop))
        is_counted = (
            isinstance(step, Operator)
            and step.name == "add"
            and any(one is body.parameters[place] for one in step.operands)
            and any(_is_one(_outside(one, body, loop)) for one in step.operands)
        )
        if is_counted and isinstance(first, int) and first >= 0 and most is not None:
            return max(most, 0) if isinstance(most, int) else most
    return None


def _is_one(variable: Variable) -> bool:
    number = _number(variable)
    return isinstance(number, int) and number == 1


def _all_of(variable: Variable) -> Iterator[Operator]:
    """The conditions that all hold where this one does."""
    maker = variable.maker
    if isinstance(maker, Operator):
        yield maker
        if maker.name == "logical_and":
            for operand in maker.operands:
                yield from _all_of(operand)
        if maker.name == "cond":
            place = next(n for n, one in enumerate(maker.results) if one is variable)
            if _is_false(maker.blocks[1].yields[place]):  # `a and b`, where b is a branch
                yield from _all_of(maker.operands[0])


def _is_false(variable: Variable) -> bool:
    maker = variable.maker
    if not isinstance(maker, Operator) or maker.name != "constant":
        return False
    return not np.any(maker.attributes["value"])


def _outside(variable: Variable, block: Block, loop: Operator) -> Variable:
    """What a loop has captured, where it was captured; another value as it is."""
    if variable.maker is not block:
        return variable
    place = next(n for n, one in enumerate(block.parameters) if one is variable)
    return loop.operands[place] if place >= len(loop.results) else variable


def _number(variable: Variable) -> Room | None:
    """The integer, or size, that a constant has."""
    maker = variable.maker
    if not isinstance(maker, Operator):
        return None
    if maker.name == "from_dim" and isinstance(maker.attributes["value"], (int, Dim)):
        return maker.attributes["value"]
    if maker.name not in ("constant", "full") or variable.tensor_type.rank:
        return None
    value = np.asarray(maker.attributes["value"])
    return int(value) if value.dtype.kind in "iu" else None


# -- the operators -------------------------------------------------------------------------------


@lower("array_create", "array_empty")
def _empty(**_: Any) -> Any:
    return [[]]


@lower("array_append")
def _append(array: Buffer, item: Any) -> list[Buffer]:
    item = item.astype(array.array.dtype)
    made = lax.dynamic_update_index_in_dim(array.array, item, array.length, 0)
    return [Buffer(made, array.length + 1)]


def _place(array: Buffer, index: Any) -> Any:
    index = index.astype(INT64).reshape(())
    return jnp.where(index < 0, index + array.length, index)


@lower("array_read")
def _read(array: Buffer, index: Any) -> Any:
    return lax.dynamic_index_in_dim(array.array, _place(array, index), 0, keepdims=False)


@lower("array_write")
def _write(array: Buffer, index: Any, item: Any) -> list[Buffer]:
    item, place = item.astype(array.array.dtype), _place(array, index)
    return [Buffer(lax.dynamic_update_index_in_dim(array.array, item, place, 0), array.length)]


@lower("array_length")
def _length(array: Any) -> Any:
    return jnp.asarray(len(array) if isinstance(array, list) else array.length)


@check("array_read", "array_write")
def _has_place(made: Any, array: Buffer, index: Any, *_: Any) -> Any:
    place = _place(array, index)
    return (place >= 0) & (place < array.length)


__all__ = ["EMPTY_LISTS", "LIST_OPERATORS", "Buffer", "buffer_of", "list_of", "rooms", "with_room"]
