"""One type for values that stand for each other: results of two branches, turns of a loop.

Sizes that differ become symbols. A symbol has one value at a time, so sizes that may differ from
place to place get a symbol for every place: `renewed` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from dy2st_runtime.dims import Dim, Size, equal, is_symbol
from dy2st_runtime.ir.fresh import fresh_symbol
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

Mismatch = Callable[[str], Exception]
"""Makes the error for two types that do not fit, from a few words about them."""

# In the element type of a list, a symbol of this name is another size for every element.
_ELEMENT = "element"


def join_types(
    left: ValueType, right: ValueType, mismatch: Mismatch, free: set[Dim] | None = None
) -> ValueType:
    """The type that values of both types have; sizes that differ become a new symbol.

    `free` are symbols that stand for any size already; new ones are added. The result is `left`
    itself if it serves for both.
    """
    if isinstance(left, ArrayType) or isinstance(right, ArrayType):
        return _join_arrays(left, right, mismatch)
    return _join_tensors(left, right, mismatch, set() if free is None else free)


def join_elements(
    left: TensorType | None, right: TensorType | None, mismatch: Mismatch
) -> TensorType | None:
    """The element type of a list that holds tensors of both types; None where there are none."""
    if left is None or right is None:
        return left or right
    return _join_tensors(left, right, mismatch, None)


def _join_tensors(
    left: TensorType, right: TensorType, mismatch: Mismatch, free: set[Dim] | None
) -> TensorType:
    if left.dtype != right.dtype:
        raise mismatch(f"{left.dtype} and {right.dtype}")
    if left.rank != right.rank:
        shapes = f"{list(left.shape)} and {list(right.shape)}"
        raise mismatch(f"shapes {shapes} of different rank")
    sizes = [_join_sizes(a, b, free) for a, b in zip(left.shape, right.shape, strict=True)]
    same = all(a is b for a, b in zip(sizes, left.shape, strict=True))
    return left if same else left.with_shape(sizes)


def _join_arrays(left: ValueType, right: ValueType, mismatch: Mismatch) -> ValueType:
    if not (isinstance(left, ArrayType) and isinstance(right, ArrayType)):
        raise mismatch("a list of tensors and a tensor")
    element = join_elements(left.element, right.element, mismatch)
    return left if element is left.element else ArrayType(element)


def _join_sizes(left: Size, right: Size, free: set[Dim] | None) -> Size:
    """One size for both; `free` is None for elements of a list."""
    if free is None:
        if _differs_by_element(left) or equal(left, right) is True:
            return left
        return fresh_symbol(_ELEMENT)
    if (isinstance(left, Dim) and left in free) or equal(left, right) is True:
        return left
    size = fresh_symbol("size")
    free.add(size)
    return size


def _differs_by_element(size: Size) -> bool:
    return is_symbol(size) and str(size).startswith(f"{_ELEMENT}_")


def renewed(type: ValueType, free: Container[Dim]) -> ValueType:
    """The type with new symbols in place of free ones, for another place where sizes may differ."""
    if isinstance(type, ArrayType) or not any(s in free for s in type.shape if is_symbol(s)):
        return type
    return type.with_shape(
        fresh_symbol("size") if isinstance(size, Dim) and size in free else size
        for size in type.shape
    )


def one_element(element: TensorType) -> TensorType:
    """The type of one element of a list: symbols in place of sizes that differ by element."""
    if not any(map(_differs_by_element, element.shape)):
        return element
    return element.with_shape(
        fresh_symbol("size") if _differs_by_element(size) else size for size in element.shape
    )
