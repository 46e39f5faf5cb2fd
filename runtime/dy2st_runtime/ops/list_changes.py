"""Operators on whole lists, as Python has them: slices, joined, repeated, reordered, empty.

The functions take and give lists of the Program while a function is traced, and Python lists
otherwise. They never change a list: they give a new one.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime.dims import Dim, Size, is_symbol, symbols
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir import (
    ArrayType,
    TensorType,
    Tracer,
    apply,
    current_tracer,
    define,
    public,
)
from dy2st_runtime.ir.attribute_kinds import DTYPE, INTEGER, NONE, SIZE, either, several
from dy2st_runtime.ir.join import differs_by_element, size_of_elements
from dy2st_runtime.ir.types import MAX_LIST_DEPTH, DType
from dy2st_runtime.ops.tensor_array import (
    check_number,
    element_padding,
    joined,
    on_copy,
    on_list,
    place_in,
)

if TYPE_CHECKING:
    from dy2st_runtime.ir.padding import Site

_SHAPE = several(either(SIZE, NONE), "a list of sizes of which some are not known")


# -- parts of lists, and other orders ---------------------------------------------------------


def _slice_infer(
    array: ArrayType,
    start: TensorType,
    stop: TensorType,
    step: TensorType,
    has_start: bool,
    has_stop: bool,
) -> ArrayType:
    for number in (start, stop, step):
        check_number(number, "slice indices")
    return array


def _gather_infer(array: ArrayType, indices: TensorType) -> ArrayType:
    if indices.rank != 1 or indices.dtype.kind not in "iu":
        raise ArgumentError(f"the places are integers along one axis, not {indices}")
    return array


def _gather_padding(site: Site) -> set[int]:
    if site.longer[1]:
        site.refuse("takes an element for each of its places")
    return set(site.longer[0])


define(
    "array_slice",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The elements that Python's slice takes; an end that is not there is any number.",
    raises=ValueError,
    fails=lambda array, start, stop, step, **_: (
        not isinstance(step, (np.ndarray, np.generic)) or not step.all()
    ),
    inputs="array, start, stop, step",
    padding=element_padding,
    attributes={"has_start": True, "has_stop": True},
    infer=_slice_infer,
    kernel=lambda array, start, stop, step, has_start, has_stop: array[
        builtins.slice(
            int(start) if has_start else None, int(stop) if has_stop else None, int(step)
        )
    ],
)
define(
    "array_gather",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The elements at the given places, in that order.",
    raises=IndexError,
    inputs="array, indices",
    padding=_gather_padding,
    infer=_gather_infer,
    kernel=lambda array, indices: [array[place_in(array, i)] for i in indices.tolist()],
)


@public
def array_slice(array: Any, start: Any = None, stop: Any = None, step: Any = None) -> Any:
    """The elements that `array[start:stop:step]` takes; ValueError if the step is 0.

    >>> array_slice([1, 2, 3, 4], -3, None, 2)
    [2, 4]
    """
    ends = (0 if end is None else end for end in (start, stop))
    given = {"has_start": start is not None, "has_stop": stop is not None}
    return on_list("array_slice", array, *ends, 1 if step is None else step, **given)


@public
def array_reverse(array: Any) -> Any:
    """The list from its end to its beginning.

    >>> array_reverse([1, 2, 3])
    [3, 2, 1]
    """
    return array_slice(array, None, None, -1)


@public
def array_gather(array: Any, indices: Any) -> Any:
    """The elements at the places that a 1-d tensor has, in that order; IndexError as in reading.

    >>> array_gather([1, 2, 3], np.array([2, 0, -1]))
    [3, 1, 3]
    """
    places = np.array(indices, np.int64) if isinstance(indices, (list, tuple)) else indices
    return on_list("array_gather", array, places)


# -- longer and shorter lists -----------------------------------------------------------------


def _extend(array: list[Any], behind: list[Any]) -> list[Any]:
    array.extend(behind)
    return array


def _insert(array: list[Any], index: Any, item: Any) -> list[Any]:
    array.insert(int(index), item)
    return array


def _delete(array: list[Any], index: Any) -> list[Any]:
    del array[place_in(array, index, "list assignment index")]
    return array


def _insert_infer(array: ArrayType, index: TensorType, item: Any) -> ArrayType:
    check_number(index)
    return ArrayType(joined(array.element, item))


def _delete_infer(array: ArrayType, index: TensorType) -> ArrayType:
    check_number(index)
    return array


def _repeat_infer(array: ArrayType, times: TensorType) -> ArrayType:
    check_number(times, "the times that a list is repeated")
    return array


define(
    "array_extend",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The elements of a list, then those of another.",
    inputs="array, array_behind",
    padding=element_padding,
    infer=lambda array, behind: ArrayType(joined(array.element, behind.element)),
    kernel=on_copy(_extend),
    in_place=_extend,
)
define(
    "array_insert",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The list with one more element before a place; its ends where there is no such place.",
    inputs="array, index, item",
    padding=element_padding,
    infer=_insert_infer,
    kernel=on_copy(_insert),
    in_place=_insert,
)
define(
    "array_delete",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The list without the element at a place.",
    raises=IndexError,
    inputs="array, index",
    padding=element_padding,
    infer=_delete_infer,
    kernel=on_copy(_delete),
    in_place=_delete,
)
define(
    "array_repeat",
    takes_complex=True,
    borrows=True,
    makes_list=True,
    doc="The elements of the list several times, one time after the other; none for 0 and below.",
    inputs="array, times",
    padding=element_padding,
    infer=_repeat_infer,
    kernel=lambda array, times: array * int(times),
)


@public
def array_extend(array: Any, behind: Any) -> Any:
    """The elements of a list, then those of another.

    >>> array_extend([1], [2, 3])
    [1, 2, 3]
    """
    return on_list("array_extend", array, [*behind] if isinstance(behind, tuple) else behind)


@public
def array_insert(array: Any, index: Any, x: Any) -> Any:
    """The list with one more element before a place, or at the end where there is no such place.

    >>> array_insert([1, 2], -1, 3)
    [1, 3, 2]
    """
    return on_list("array_insert", array, index, x)


@public
def array_delete(array: Any, index: Any) -> Any:
    """The list without the element at a place; IndexError if there is none.

    >>> array_delete([1, 2, 3], -3)
    [2, 3]
    """
    return on_list("array_delete", array, index)


@public
def array_repeat(array: Any, times: Any) -> Any:
    """The elements of the list several times, one time after the other.

    >>> array_repeat([1, 2], 2)
    [1, 2, 1, 2]
    """
    return on_list("array_repeat", array, times)


# -- empty lists of which something is known --------------------------------------------------


def _empty_infer(dtype: DType | None, shape: tuple[Size | None, ...], depth: int) -> ArrayType:
    if not 1 <= depth <= MAX_LIST_DEPTH:
        raise ArgumentError(f"lists are nested 1 to {MAX_LIST_DEPTH} deep, not {depth}")
    sizes = [size_of_elements() if size is None else size for size in shape]
    array = ArrayType(None if dtype is None else TensorType(dtype, sizes))
    for _ in range(1, depth):
        array = ArrayType(array)
    return array


def _empty_padding(site: Site) -> set[int]:
    tensor = getattr(site.results[0], "tensor", None)
    sizes = () if tensor is None else tensor.shape
    return {axis for axis, size in enumerate(sizes) if size is site.size}


define(
    "array_empty",
    takes_complex=True,
    makes_list=True,
    doc="An empty list of tensors of a dtype and shape, or of lists of them.",
    sizes=("shape",),
    padding=_empty_padding,
    attributes={"dtype": either(DTYPE, NONE), "shape": _SHAPE, "depth": INTEGER.or_else(1)},
    infer=_empty_infer,
    kernel=lambda dtype, shape, depth: [],
)


@public
def array_empty(type: ArrayType) -> Any:
    """An empty list of a type: what is read from it, or joined with it, has the type already.

    Sizes that are not known where it is made are taken as sizes that differ by element.

    >>> from dy2st_runtime.ir.types import ArrayType, TensorType
    >>> dy2st.ops.array_empty(ArrayType(TensorType("float32", (2,))))
    []
    """
    tracer = current_tracer()
    if tracer is None:
        return []
    tensor, known = type.tensor, set(_bound(tracer))
    dtype, shape = (None, ()) if tensor is None else (tensor.dtype, tensor.shape)
    sizes = tuple(
        size if not differs_by_element(size) and known.issuperset(symbols(size)) else None
        for size in shape
    )
    return apply("array_empty", dtype=dtype, shape=sizes, depth=type.depth)


def _bound(tracer: Tracer) -> Iterator[Dim]:
    """The symbols that are known at the end of the Block that is recorded."""
    for block in tracer.block.outwards():
        made = [result for operator in block.operators for result in operator.results]
        for variable in (*block.parameters, *made):
            shape = variable.type.shape if isinstance(variable.type, TensorType) else ()
            yield from (size for size in shape if isinstance(size, Dim) and is_symbol(size))


__all__ = [
    "array_delete",
    "array_empty",
    "array_extend",
    "array_gather",
    "array_insert",
    "array_repeat",
    "array_reverse",
    "array_slice",
]
