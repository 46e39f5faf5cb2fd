"""Lists inside a Program: what a Python list becomes when a staged loop changes it.

They hold tensors, or lists that hold tensors, to any depth. The functions take and give such lists
while a function is traced, and Python lists otherwise. They never change a list: they give a new
one. What a Program does in place, it does to lists that nobody needs any more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import equal
from dy2st_runtime.errors import ArgumentError, BranchMismatch, ConversionError, ShapeError
from dy2st_runtime.ir import (
    ArrayType,
    TensorType,
    ValueType,
    apply,
    current_tracer,
    define,
    public,
)
from dy2st_runtime.ir.arguments import fresh_symbol, normalize_axis
from dy2st_runtime.ir.attribute_kinds import AXIS, NEW_AXIS
from dy2st_runtime.ir.interpret import run_on_lists
from dy2st_runtime.ir.join import join_elements, one_element
from dy2st_runtime.ir.tracing.traced_list import TracedList
from dy2st_runtime.ir.types import MAX_LIST_DEPTH

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site


def _element(array: ArrayType, what: str) -> ValueType:
    if array.element is None:
        raise ConversionError(
            f"{what} of a list into which nothing has been put",
            why="the dtype and rank of its tensors are part of the Program",
            hint="put a tensor in before, or start with a list that has one",
        )
    return array.element


def _tensor(array: ArrayType, what: str) -> TensorType:
    """The type of the tensors that a list holds itself."""
    element = _element(array, what)
    if isinstance(element, ArrayType):
        raise ConversionError(
            f"{what} of a list of lists",
            why="only tensors are put together, and each list may have another length",
            hint="make a tensor of every list first, and put these in a list",
        )
    return element


def joined(element: ValueType | None, new: ValueType | None) -> ValueType | None:
    """The element type of a list that gets another element; BranchMismatch if they do not fit."""

    def mismatch(_: str) -> Exception:
        return BranchMismatch(
            f"a list holds {element} and gets {new}",
            why="a list that a tensor-dependent loop changes holds tensors of one dtype and rank, "
            "or lists of such tensors",
            hint="cast or reshape the tensor before it is appended",
        )

    if isinstance(new, ArrayType) and new.depth >= MAX_LIST_DEPTH:
        raise ConversionError(
            f"lists are nested deeper than {MAX_LIST_DEPTH}",
            why="how deep they are nested is part of the Program",
            hint="keep what a loop gathers in one list, one element an iteration",
        )
    return join_elements(element, new, mismatch)


def one_of(array: ArrayType) -> ValueType:
    """The type of an element that is read."""
    return one_element(_element(array, "an element"))


def check_number(number: TensorType, what: str = "list indices") -> None:
    """TypeError, as Python's, unless this is one integer."""
    is_one = all(equal(size, 1) is True for size in number.shape)
    if number.dtype.kind not in "iub" or not is_one:
        raise TypeError(f"{what} must be integers, not {number}")


def _write_infer(array: ArrayType, index: TensorType, item: ValueType) -> ArrayType:
    check_number(index)
    return ArrayType(joined(array.element, item))


def _read_infer(array: ArrayType, index: TensorType) -> ValueType:
    check_number(index)
    return one_of(array)


def place_in(array: list[Any], index: Any, what: str = "list index") -> int:
    """The place as an int; IndexError, as Python's, if the list has no such place."""
    place = int(index)
    if not -len(array) <= place < len(array):
        raise IndexError(f"{what} out of range")
    return place


def on_copy(change: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel that does to a copy what a function does to a list."""

    def kernel(array: list[Any], *operands: Any) -> Any:
        return change([*array], *operands)

    return kernel


def _append(array: list[Any], item: Any) -> list[Any]:
    array.append(item)
    return array


def _write(array: list[Any], index: Any, item: Any) -> list[Any]:
    array[place_in(array, index, "list assignment index")] = item
    return array


def _pop(array: list[Any], index: Any) -> tuple[list[Any], Any]:
    if not array:
        raise IndexError("pop from empty list")
    item = array.pop(place_in(array, index, "pop index"))
    return array, item


def _stack_infer(array: ArrayType, axis: int) -> TensorType:
    element = one_element(_tensor(array, "the stack"))
    sizes = list(element.shape)
    sizes.insert(axis, fresh_symbol("length"))
    return element.with_shape(sizes)


def _concat_infer(array: ArrayType, axis: int) -> TensorType:
    element = one_element(_tensor(array, "the concatenation"))
    sizes = list(element.shape)
    sizes[axis] = fresh_symbol("length")
    return element.with_shape(sizes)


def _alike(name: str, array: list[Any], axis: int | None = None) -> list[Any]:
    """The tensors of a list whose sizes are the same, but along one axis."""
    if not array:
        raise ArgumentError(f"{name} of an empty list")
    shapes = {tuple(n for i, n in enumerate(x.shape) if i != axis) for x in array}
    if len(shapes) > 1:
        raise ShapeError(f"{name} of tensors of the shapes {[list(x.shape) for x in array]}")
    return array


def element_padding(site: Site) -> set[int]:
    """The axes of a list are those of its tensors."""
    return {axis for axes in site.longer for axis in axes}


define(
    "array_create",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="A list of the given tensors, or of the given lists.",
    inputs="items*",
    padding=element_padding,
    infer=lambda *types: ArrayType(reduce(joined, types, None)),
    kernel=lambda *items: list(items),
)
define(
    "array_append",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The list with one more element at its end.",
    inputs="array, item",
    padding=element_padding,
    infer=lambda array, item: ArrayType(joined(array.element, item)),
    kernel=on_copy(_append),
    in_place=_append,
)
define(
    "array_write",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The list with another element at a place.",
    raises=IndexError,
    inputs="array, index, item",
    padding=element_padding,
    infer=_write_infer,
    kernel=on_copy(_write),
    in_place=_write,
)
define(
    "array_read",
    takes_complex=True,
    borrows=True,
    doc="The element at a place of the list.",
    raises=IndexError,
    inputs="array, index",
    padding=lambda site: set(site.longer[0]),
    infer=_read_infer,
    kernel=lambda array, index: array[place_in(array, index)],
)
define(
    "array_pop",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The list without the element at a place, and that element.",
    raises=IndexError,
    inputs="array, index",
    padding=lambda site: set(site.longer[0]),
    infer=lambda array, index: (array, _read_infer(array, index)),
    kernel=on_copy(_pop),
    in_place=_pop,
)
define(
    "array_length",
    takes_complex=True,
    doc="How many elements the list has.",
    inputs="array",
    padding=lambda site: (),
    infer=lambda array: TensorType("int64", ()),
    kernel=lambda array: np.int64(len(array)),
)
define(
    "array_stack",
    takes_complex=True,
    doc="The tensors of the list along a new axis.",
    raises=ValueError,
    inputs="array",
    padding=lambda site: {a + (a >= site.attributes["axis"]) for a in site.longer[0]},
    attributes={"axis": NEW_AXIS.or_else(0)},
    infer=_stack_infer,
    kernel=lambda array, axis: np.stack(_alike("stack", array), axis),
)
define(
    "array_concat",
    takes_complex=True,
    doc="The tensors of the list one after the other along an axis.",
    raises=ValueError,
    inputs="array",
    along="axis",
    attributes={"axis": AXIS.or_else(0)},
    infer=_concat_infer,
    kernel=lambda array, axis: np.concatenate(_alike("concat", array, axis), axis),
)


@public
def array_of(tensors: Sequence[Any] = ()) -> Any:
    """A list with these tensors; lists among them are lists of the Program too.

    >>> [x.item() for x in dy2st.ops.array_of([dy2st.to_tensor(1), dy2st.to_tensor(2)])]
    [1, 2]
    """
    if current_tracer() is None:
        return list(tensors)
    return apply("array_create", *map(item_of, tensors))


def item_of(value: Any) -> Any:
    """What is put into a list: a tensor, or for a Python list a list of the Program."""
    if type(value) is TracedList:
        return value.array
    return array_of(value) if isinstance(value, list) else value


@public
def array_append(array: Any, x: Any) -> Any:
    """The list with one more element, a tensor or a list, at its end.

    >>> array_append([], 1)
    [1]
    """
    return on_list("array_append", array, x)


@public
def array_write(array: Any, index: Any, x: Any) -> Any:
    """The list with another element at a place; IndexError if there is no such place.

    >>> dy2st.ops.array_write([1, 2, 3], 0, 9)
    [9, 2, 3]
    """
    return on_list("array_write", array, index, x)


@public
def array_read(array: Any, index: Any) -> Any:
    """The element at a place of the list, from the end if below 0; IndexError if there is none.

    >>> dy2st.ops.array_read([1, 2, 3], -1)
    3
    """
    return on_list("array_read", array, index)


@public
def array_pop(array: Any, index: Any = -1) -> tuple[Any, Any]:
    """The list without the element at a place, and that element; IndexError if there is none.

    >>> array_pop([1, 2, 3], 0)
    ([2, 3], 1)
    """
    return on_list("array_pop", array, index)  # type: ignore[no-any-return]


@public
def array_length(array: Any) -> Any:
    """How many elements the list has: a 0-d int64 tensor.

    >>> dy2st.ops.array_length([1, 2, 3]).item()
    3
    """
    return on_list("array_length", array)


@public
def array_stack(array: Any, axis: int = 0) -> Any:
    """The tensors of the list, all of one shape, along a new axis: k of (n, ...) -> (k, n, ...).

    >>> dy2st.ops.array_stack([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3, 4])]).tolist()
    [[1, 2], [3, 4]]
    """
    return on_list("array_stack", array, axis=axis)


@public
def array_concat(array: Any, axis: int = 0) -> Any:
    """The tensors of the list one after the other along an axis.

    several (n, ...) -> (sum of n, ...).

    >>> dy2st.ops.array_concat([dy2st.to_tensor([1, 2]), dy2st.to_tensor([3])]).tolist()
    [1, 2, 3]
    """
    return on_list("array_concat", array, axis=axis)


def on_list(name: str, array: Any, *operands: Any, **attributes: Any) -> Any:
    """The result of an operator on a list of the Program, or while nothing is traced of Python."""
    if current_tracer() is None:
        return run_on_lists(name, array, *operands, **attributes)
    array = item_of(list(array) if type(array) is tuple else array)
    if "axis" in attributes:
        rank = _tensor(array.type, "the tensors").rank + (name == "array_stack")
        attributes["axis"] = normalize_axis(attributes["axis"], rank)
    return apply(name, array, *map(item_of, operands), **attributes)
