"""Specialises operators whose sizes are values of tensors: what they are once these are read.

    dynamic_reshape(x, shape)   =>   the numbers a, b of shape
                                     if a >= 1, b >= 1 and x has a*b elements: reshape(x, [a, b])
                                     else: what NumPy's kernel says

The static function is traced with symbols for the numbers. What it requires of them meanwhile is
when it does the same as the kernel; all else is left to that: numbers with a meaning of their own,
and what is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from dy2st_runtime.dims import (
    Condition,
    Dim,
    Facts,
    Size,
    maximum,
    product,
    require,
    require_equal,
)
from dy2st_runtime.engine.native.machine.abi import is_native
from dy2st_runtime.errors import ArgumentError, Dy2stError
from dy2st_runtime.ir import F
from dy2st_runtime.ir.arguments import fresh_symbol
from dy2st_runtime.ir.data import data_of
from dy2st_runtime.ir.program import Block, Operator, Variable
from dy2st_runtime.ir.sizes import fresh_symbols_from
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.ops.dynamic import TABLE

_LARGEST = 2**31
"""Of a number, and of the elements of a result: products of two such are still integers of code."""

_NUMBER = 10**9
"""Where the symbols of numbers begin: no trace makes so many."""


class Form(NamedTuple):
    """How an operator is read.

    sources    (*operands, **attributes): the tensors whose elements are the numbers.
    static  (numbers of each such tensor, *operands, **attributes): the results.
    least   the smallest number that the static form is for.
    """

    sources: Callable[..., Sequence[Any]]
    static: Callable[..., Any]
    least: int = 0


class Part(NamedTuple):
    """A Block of the operator's operands, and when it may run."""

    block: Block
    required: Sequence[Condition]


@dataclass(frozen=True, eq=False)
class ShapeSpecialised:
    """What an operator is: `sources` yields where the numbers are, which `static` is made of.

    numbers  which element of what `sources` yields each symbol is.
    """

    sources: Part
    static: Part
    numbers: Mapping[Dim, tuple[Variable, int]]

    @property
    def blocks(self) -> Sequence[Block]:
        """Both Blocks, in the order in which they run."""
        return self.sources.block, self.static.block


def specialised(operator: Operator) -> ShapeSpecialised | None:
    """The static form of an operator, None if it has none or is of types that code does not know.

    It is traced with nothing known, as it may stand in any Block.
    """
    row = TABLE.get(operator.name)
    if row is None or operator.name in _OWN:
        form: Form | None = _OWN.get(operator.name)
    else:
        # A dynamic operator: some of its operands are the numbers.
        function = _STATIC.get(operator.name, row.static)

        def sources(*operands: Any, **attributes: Any) -> Sequence[Any]:
            return tuple([operands[place] for place in row.arguments])

        def static(lists: Sequence[Any], *operands: Any, **attributes: Any) -> Any:
            given = list(operands)
            for place, numbers in zip(row.arguments, lists, strict=True):
                given[place] = numbers
            return function(*given, **attributes)

        form = Form(sources, static, -_LARGEST if row.least is None else row.least)
    types = [variable.type for variable in (*operator.operands, *operator.results)]
    are_native = all(isinstance(type, TensorType) and is_native(type.dtype) for type in types)
    if form is None or not are_native:
        return None
    try:
        return _specialised(operator, form)
    except Dy2stError:  # what it is depends on the numbers
        return None


def _specialised(operator: Operator, form: Form) -> ShapeSpecialised | None:
    sources = _traced(operator, form.sources)
    numbers: dict[Dim, tuple[Variable, int]] = {}
    with fresh_symbols_from(_NUMBER):
        known = operator.attributes.get("known")
        lists = [_numbers(one, form.least, numbers, known) for one in sources.block.yields]
    if None in lists:
        return None
    static = _traced(operator, partial(form.static, lists))
    made = [(one.dtype, one.tensor_type.rank) for one in static.block.yields]
    if made != [(one.dtype, one.tensor_type.rank) for one in operator.results]:
        return None
    required = [
        *_ranges(lists, form.least),
        *static.required,
        *_sizes(static.block.yields, operator.results),
    ]
    return ShapeSpecialised(sources, Part(static.block, required), numbers)


def _traced(operator: Operator, function: Callable[..., Any]) -> Part:
    tracer = Tracer(is_scratch=True)
    parameters = []
    for operand in operator.operands:
        parameters.append(tracer.block.add_parameter(operand.type))
        parameters[-1].held = data_of(operand)
    with tracer.resuming(Facts(), _NUMBER):
        made = function(*parameters, **operator.attributes)
    for inner in tracer.block.operators:
        inner.location = operator.location
    tracer.block.yields = list(made) if isinstance(made, tuple) else [made]
    return Part(tracer.block, [entry.constraint.condition for entry in tracer.program.constraints])


def _numbers(
    variable: Variable, least: int, found: dict[Dim, tuple[Variable, int]], known: Any
) -> Any:
    """The numbers of a tensor, symbols for those that only the run knows; None if they are none."""
    type, data = variable.tensor_type, data_of(variable)
    if data is not None:
        return data.tolist()
    count = type.shape[0] if type.rank == 1 else 1
    if (
        type.rank > 1
        or not isinstance(count, int)
        or not (type.dtype.kind in "iu" and type.dtype != "uint64")
    ):
        return None
    numbers = list(known or [None] * count)
    if len(numbers) != count:
        return None
    for place, number in enumerate(numbers):
        if number is None:
            numbers[place] = fresh_symbol("number", least)
            found[numbers[place]] = variable, place
    return numbers if type.rank else numbers[0]


def _ranges(lists: Sequence[Any], least: int) -> Iterator[Condition]:
    for numbers in lists:
        for number in numbers if isinstance(numbers, list) else [numbers]:
            if isinstance(number, Dim):
                yield Condition(">=", number, least)
                yield Condition("<=", number, _LARGEST)


def _sizes(made: Sequence[Variable], results: Sequence[Variable]) -> Iterator[Condition]:
    """That sizes are those of the types, and no elements more than integers can count."""
    for one, result in zip(made, results, strict=True):
        shape = one.tensor_type.shape
        for end, (size, said) in enumerate(zip(shape, result.tensor_type.shape, strict=True), 1):
            whole = product(shape[:end])
            if isinstance(whole, Dim):
                yield Condition("<=", whole, _LARGEST)
            if isinstance(said, int):
                yield Condition("==", size, said)


# -- the forms ------------------------------------------------------------------------------------


def _of_steps(x: Any, starts: Any, ends: Any, strides: Any, axes: Any) -> Any:
    # How many elements there are follows from the step's sign, which no symbol has.
    for stride in strides:
        if isinstance(stride, Dim):
            require_equal(stride, 1, "the step of most slices")
    steps = [1 if isinstance(stride, Dim) else stride for stride in strides]
    return F.strided_slice(x, axes, starts, ends, steps)


def _upwards(start: Any, end: Any, step: Any, dtype: Any) -> Any:
    if isinstance(step, Dim):
        require(step >= 1, "most ranges go up")
    return F.arange(start, end, step, dtype)


def _place(axis: Any, rank: int) -> Any:
    """The one axis that a tensor names, counted from the first."""
    if axis.dtype.kind not in "iu":
        raise ArgumentError("an axis is an integer")
    if axis.shape not in ([], [1]):
        raise ArgumentError("several axes would be put in order")
    place = F.reshape(F.cast(axis, "int64"), [])
    return F.where(place < 0, place + rank, place)


def _squeezed_sources(x: Any, axis: Any) -> Sequence[Any]:
    """The size of the axis that goes, and those that stay."""
    place, own = _place(axis, x.ndim), F.shape(x)
    gone = F.sum(F.where(F.equal(F.arange(x.ndim), place), own, F.zeros_like(own)))
    return gone, F.where(F.arange(x.ndim - 1) < place, own[:-1], own[1:])


def _squeezed(lists: Sequence[Any], x: Any, axis: Any) -> Any:
    gone, sizes = lists
    require_equal(gone, 1, "an axis that goes has the size 1")
    return F.reshape(x, sizes)


def _unsqueezed_sources(x: Any, axis: Any) -> Sequence[Any]:
    """The place of the new axis, and all sizes."""
    place, own = _place(axis, x.ndim + 1), F.shape(x)
    one, places = F.ones([1], "int64"), F.arange(x.ndim + 1)
    behind = F.where(F.equal(places, place), F.ones_like(places), F.concat([one, own]))
    return place, F.where(places < place, F.concat([own, one]), behind)


def _unsqueezed(lists: Sequence[Any], x: Any, axis: Any) -> Any:
    place, sizes = lists
    require(place <= x.ndim, "a new axis is one of the result")
    return F.reshape(x, sizes)


def _scaled_sources(x: Any, scale: Any, **how: Any) -> Sequence[Any]:
    """The sizes, and whether a resize to them steps as far from pixel to pixel as the factors say.

    Factors are above 0. For those that are powers of two it does.
    """
    own = F.cast(F.shape(x)[2:], "float64")
    if scale.shape not in ([], own.shape):
        raise ArgumentError("there are as many factors as axes")
    sizes = F.cast(own * F.cast(scale, "float64"), "int64")
    ratio = F.ones([], "float32") / F.cast(scale, "float32")
    alike = [
        F.equal(F.cast(own, dtype) / F.cast(sizes, dtype), F.cast(ratio, dtype))
        for dtype in ("float32", "float64")
    ]
    is_known = F.logical_and(F.logical_and(*alike), F.greater_than(scale, 0))
    return sizes, F.cast(F.all(is_known), "int64")


def _scaled(lists: Sequence[Any], x: Any, scale: Any, **how: Any) -> Any:
    sizes, is_alike = lists
    require_equal(is_alike, 1, "sizes say what factors do")
    return F.interpolate(x, sizes, **how)


def _binned(lists: Sequence[Any], x: Any, *weights: Any, minlength: Size) -> Any:
    if isinstance(minlength, Dim):
        require(minlength >= 0, "there is a number of bins")
    counts = maximum(lists[1] + 1, minlength)
    if not weights:
        return F.index_add(F.zeros([counts], "int64"), x, 0, F.ones(x.shape, "int64"))
    sums = F.zeros([counts], "float64")
    return F.cast(F.index_add(sums, x, 0, F.cast(weights[0], "float64")), weights[0].dtype)


_STATIC: Mapping[str, Callable[..., Any]] = {
    "dynamic_strided_slice": _of_steps,
    "dynamic_arange": _upwards,
}
"""What takes symbols where the function itself takes numbers alone."""

_OWN: Mapping[str, Form] = {
    "dynamic_squeeze": Form(_squeezed_sources, _squeezed),
    "dynamic_unsqueeze": Form(_unsqueezed_sources, _unsqueezed),
    "dynamic_upsampling": Form(_scaled_sources, _scaled),
    "bincount": Form(lambda x, *weights, minlength: (F.min(x), F.max(x)), _binned),
}
"""Those whose numbers follow from what the operands hold."""

__all__ = ["ShapeSpecialised", "specialised"]
