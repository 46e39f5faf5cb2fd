"""Lists of tensors inside a Program: what a Python list becomes when a staged loop changes it.

The functions take and give such lists while a function is traced, and Python lists otherwise. They
never change a list: they give a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.errors import ArgumentError, BranchMismatch, ConversionError, ShapeError
from dy2st_runtime.ir import (
    ArrayType,
    TensorType,
    apply,
    current_tracer,
    define,
    public,
    user_location,
)
from dy2st_runtime.ir.arguments import fresh_symbol, normalize_axis
from dy2st_runtime.ir.attribute_kinds import AXIS, NEW_AXIS
from dy2st_runtime.ir.join import join_elements, one_element
from dy2st_runtime.ir.on_lists import run_on_lists

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site


def _element(array: ArrayType, what: str) -> TensorType:
    if array.element is None:
        raise ConversionError(
            f"{what} of a list into which nothing has been put",
            at=user_location(),
            why="the dtype and rank of its tensors are part of the Program",
            hint="put a tensor in before, or start with a list that has one",
        )
    return array.element


def _joined(element: TensorType | None, new: TensorType) -> TensorType | None:
    def mismatch(_: str) -> Exception:
        return BranchMismatch(
            f"a list holds {element} and gets {new}",
            at=user_location(),
            why="a list that a tensor-dependent loop changes holds tensors of one dtype and rank",
            hint="cast or reshape the tensor before it is appended",
        )

    return join_elements(element, new, mismatch)


def _array_infer(*types: TensorType) -> ArrayType:
    element: TensorType | None = None
    for type in types:
        element = _joined(element, type)
    return ArrayType(element)


def _place(array: list[Any], index: Any, what: str = "list index") -> int:
    place = int(index)
    if not -len(array) <= place < len(array):
        raise IndexError(f"{what} out of range")
    return place


def _write_kernel(array: list[Any], index: Any, value: Any) -> list[Any]:
    changed = list(array)
    changed[_place(array, index, "list assignment index")] = value
    return changed


def _pop_kernel(array: list[Any], index: Any) -> tuple[list[Any], Any]:
    if not array:
        raise IndexError("pop from empty list")
    changed = list(array)
    item = changed.pop(_place(array, index, "pop index"))
    return changed, item


def _stack_infer(array: ArrayType, axis: int) -> TensorType:
    element = one_element(_element(array, "the stack"))
    sizes = list(element.shape)
    sizes.insert(axis, fresh_symbol("length"))
    return element.with_shape(sizes)


def _concat_infer(array: ArrayType, axis: int) -> TensorType:
    element = one_element(_element(array, "the concatenation"))
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


def _element_padding(site: Site) -> set[int]:
    """The axes of a list are those of its tensors."""
    return {axis for axes in site.longer for axis in axes}


define(
    "array_create",
    takes_complex=True,
    doc="A list of the given tensors.",
    inputs="xs*",
    padding=_element_padding,
    infer=_array_infer,
    kernel=lambda *xs: list(xs),
)
define(
    "array_append",
    takes_complex=True,
    doc="The list with one more tensor at its end.",
    inputs="array, x",
    padding=_element_padding,
    infer=lambda array, x: ArrayType(_joined(array.element, x)),
    kernel=lambda array, x: [*array, x],
)
define(
    "array_write",
    takes_complex=True,
    doc="The list with another tensor at a place.",
    raises=IndexError,
    inputs="array, index, x",
    padding=_element_padding,
    infer=lambda array, index, x: ArrayType(_joined(array.element, x)),
    kernel=_write_kernel,
)
define(
    "array_read",
    takes_complex=True,
    doc="The tensor at a place of the list.",
    raises=IndexError,
    inputs="array, index",
    padding=lambda site: set(site.longer[0]),
    infer=lambda array, index: one_element(_element(array, "an element")),
    kernel=lambda array, index: array[_place(array, index)],
)
define(
    "array_pop",
    takes_complex=True,
    doc="The list without the tensor at a place, and that tensor.",
    raises=IndexError,
    inputs="array, index",
    padding=lambda site: set(site.longer[0]),
    infer=lambda array, index: (array, one_element(_element(array, "an element"))),
    kernel=_pop_kernel,
)
define(
    "array_length",
    takes_complex=True,
    doc="How many tensors the list has.",
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
    """A list with these tensors."""
    return apply("array_create", *tensors) if current_tracer() is not None else list(tensors)


@public
def array_append(array: Any, x: Any) -> Any:
    """The list with one more tensor at its end.

    >>> array_append([], 1)
    [1]
    """
    return _run("array_append", array, x)


@public
def array_write(array: Any, index: Any, x: Any) -> Any:
    """The list with another tensor at a place; IndexError if there is no such place."""
    return _run("array_write", array, index, x)


@public
def array_read(array: Any, index: Any) -> Any:
    """The tensor at a place of the list; IndexError if there is none."""
    return _run("array_read", array, index)


@public
def array_pop(array: Any, index: Any = -1) -> tuple[Any, Any]:
    """The list without the tensor at a place, and that tensor; IndexError if there is none.

    >>> array_pop([1, 2, 3], 0)
    ([2, 3], 1)
    """
    return _run("array_pop", array, index)  # type: ignore[no-any-return]


@public
def array_length(array: Any) -> Any:
    """How many tensors the list has: a 0-d int64 tensor."""
    return _run("array_length", array)


@public
def array_stack(array: Any, axis: int = 0) -> Any:
    """The tensors of the list, all of one shape, along a new axis."""
    return _run("array_stack", array, axis=axis)


@public
def array_concat(array: Any, axis: int = 0) -> Any:
    """The tensors of the list one after the other along an axis."""
    return _run("array_concat", array, axis=axis)


def _run(name: str, array: Any, *operands: Any, **attributes: Any) -> Any:
    if current_tracer() is None:
        return run_on_lists(name, array, *operands, **attributes)
    array = array_of(array) if isinstance(array, (list, tuple)) else array
    if "axis" in attributes:
        rank = _element(array.type, "the tensors").rank + (name == "array_stack")
        attributes["axis"] = normalize_axis(attributes["axis"], rank)
    return apply(name, array, *operands, **attributes)
