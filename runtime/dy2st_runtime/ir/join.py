"""Joins the types of values that stand for each other: of two branches, or of iterations.

Sizes that differ become symbols. A symbol has one value at a time, so sizes that may differ from
place to place get a symbol for every place: `renewed` makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import partial
from math import gcd
from typing import overload

from dy2st_runtime.dims import (
    Condition,
    Dim,
    Size,
    bounds,
    current,
    equal,
    is_symbol,
    is_total,
    less_equal,
    maximum,
    minimum,
    symbols,
)
from dy2st_runtime.dims.operations import modulo
from dy2st_runtime.dims.polynomial import subtract
from dy2st_runtime.ir.sizes import fresh_symbol
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType

Mismatch = Callable[[str], Exception]
"""Makes the error for two types that do not fit, from a few words about them."""

# In the element type of a list, a symbol of this name is another size for every element.
_ELEMENT = "element"


def join_types(
    left: ValueType, right: ValueType, mismatch: Mismatch, free: set[Dim] | None = None
) -> ValueType:
    """The type that values of both types have; sizes that differ become a new symbol.

    For the iterations of a loop `free` are symbols that stand for any size already; new ones are
    added. The result is `left` itself if it serves for both.
    """
    if isinstance(left, ArrayType) or isinstance(right, ArrayType):
        return _join_arrays(left, right, mismatch)
    pick = _of_branches if free is None else partial(_of_iterations, free)
    return _join_tensors(left, right, mismatch, pick)


def join_elements(
    left: ValueType | None, right: ValueType | None, mismatch: Mismatch
) -> ValueType | None:
    """The element type of a list that holds values of both types; None where there are none."""
    if left is None or right is None:
        return left or right
    if isinstance(left, ArrayType) or isinstance(right, ArrayType):
        return _join_arrays(left, right, mismatch)
    return _join_tensors(
        left,
        right,
        mismatch,
        lambda a, b: a if differs_by_element(a) or equal(a, b) is True else size_of_elements(),
    )


def _join_tensors(
    left: TensorType, right: TensorType, mismatch: Mismatch, pick: Callable[[Size, Size], Size]
) -> TensorType:
    if left.dtype != right.dtype:
        raise mismatch(f"{left.dtype} and {right.dtype}")
    if left.rank != right.rank:
        shapes = f"{list(left.shape)} and {list(right.shape)}"
        raise mismatch(f"shapes {shapes} of different rank")
    sizes = [pick(a, b) for a, b in zip(left.shape, right.shape, strict=True)]
    same = all(a is b for a, b in zip(sizes, left.shape, strict=True))
    return left if same else left.with_shape(sizes)


def _join_arrays(left: ValueType, right: ValueType, mismatch: Mismatch) -> ValueType:
    if not (isinstance(left, ArrayType) and isinstance(right, ArrayType)):
        raise mismatch("a list and a tensor")
    element = join_elements(left.element, right.element, mismatch)
    return left if element is left.element else ArrayType(element)


def _of_branches(left: Size, right: Size) -> Size:
    """One of two sizes: a symbol between the least and the largest value of both."""
    if equal(left, right) is True:
        return left
    lows, highs = zip(bounds(left, current()), bounds(right, current()), strict=True)
    known = [high for high in highs if high is not None]
    largest = max(known) if len(known) == len(highs) else None
    return fresh_symbol("size", max(0, min(low or 0 for low in lows)), largest)


def _of_iterations(free: set[Dim], left: Size, right: Size) -> Size:
    """The size at the start of every iteration, `left` of the first and `right` of the next."""
    least = max(0, bounds(right, current())[0] or 0)
    if isinstance(left, Dim) and left in free:
        if least >= left.minimum:
            return left
        least = 0  # it shrinks: who knows how far
    elif equal(left, right) is True:
        return left
    else:
        least = min(least, bounds(left, current())[0] or 0)
    size = fresh_symbol("size", max(0, least))
    free.add(size)
    return size


def size_of_elements() -> Dim:
    """A size, in the element type of a list, that is another one for every element."""
    return fresh_symbol(_ELEMENT)


def differs_by_element(size: Size) -> bool:
    """Whether a size, in the element type of a list, is another one for every element."""
    return is_symbol(size) and str(size).startswith(f"{_ELEMENT}_")


def facts_of_branches(joined: ValueType, left: ValueType, right: ValueType) -> Iterator[Condition]:
    """What is known of the sizes of a joined type, beside the ranges of its symbols."""
    for size, one, other in _sizes(joined, left, right):
        if size is one or (isinstance(one, int) and isinstance(other, int)):
            continue
        if not (is_total(one) and is_total(other)):
            continue  # only the branch may be able to compute it
        yield Condition(">=", size, minimum(one, other))
        yield Condition("<=", size, maximum(one, other))
        step = _step(subtract(one, other))
        if step > 1:
            yield Condition("==", modulo(subtract(size, one), step), 0)


def facts_of_iterations(
    result: ValueType, initial: ValueType, start: ValueType, end: ValueType
) -> Iterator[Condition]:
    """What is known of sizes after a loop, from those before it and around an iteration."""
    for size, first, before, after in _sizes(result, initial, start, end):
        if before is after or size is first:
            continue
        if less_equal(before, after):
            yield Condition(">=", size, first)
        if less_equal(after, before):
            yield Condition("<=", size, first)
        step = _step(subtract(after, before))
        if step > 1:
            yield Condition("==", modulo(subtract(size, first), step), 0)


def _sizes(*types: ValueType) -> Iterator[tuple[Size, ...]]:
    shapes = [() if isinstance(type, ArrayType) else type.shape for type in types]
    return zip(*shapes, strict=True)


def _step(difference: Size) -> int:
    """The greatest number that divides a size whatever its symbols are."""
    if isinstance(difference, int):
        return abs(difference)
    return gcd(difference.constant, *(factor for _, factor in difference.terms))


def renewed(type: ValueType, free: Container[Dim]) -> ValueType:
    """The type with new symbols in place of free ones, for another place where sizes may differ."""
    if isinstance(type, ArrayType) or not any(s in free for s in type.shape if is_symbol(s)):
        return type
    return type.with_shape(
        fresh_symbol("size", size.minimum) if isinstance(size, Dim) and size in free else size
        for size in type.shape
    )


def any_size(element: TensorType, fixed: Container[Dim] = ()) -> TensorType:
    """The type of elements that may differ in all sizes but numbers and what is made of `fixed`."""
    return element.with_shape(
        size
        if differs_by_element(size) or all(symbol in fixed for symbol in symbols(size))
        else fresh_symbol(_ELEMENT)
        for size in element.shape
    )


def behind(type: ValueType, inner: Container[Dim]) -> ValueType:
    """The type of a list where `inner` are known no more: a size made of them is any size.

    One that is such a symbol itself gets its value where an element is read.
    """
    if isinstance(type, TensorType) or type.element is None:
        return type
    if isinstance(type.element, ArrayType):
        return ArrayType(behind(type.element, inner))
    sizes = [
        size
        if is_symbol(size) or not any(one in inner for one in symbols(size))
        else size_of_elements()
        for size in type.element.shape
    ]
    return ArrayType(type.element.with_shape(sizes))


@overload
def one_element(element: TensorType) -> TensorType: ...
@overload
def one_element(element: ValueType) -> ValueType: ...
def one_element(element: ValueType) -> ValueType:
    """The type of one element of a list: symbols in place of sizes that differ by element.

    In a list that is an element they still differ.
    """
    if isinstance(element, ArrayType) or not any(map(differs_by_element, element.shape)):
        return element
    return element.with_shape(
        fresh_symbol("size") if differs_by_element(size) else size for size in element.shape
    )
