"""What converted code does with traced values outside of control flow: logic, casts, builtins."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dy2st.convert.joining import is_number, to_variable
from dy2st.convert.stage_if import truth
from dy2st.convert.traced import is_a
from dy2st_runtime.dims import Condition, Dim, Size, ceil_divide, maximum, minimum
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import ArrayType, F, Tensor, Tracer, Variable, current_tracer, user_location
from dy2st_runtime.ir.arguments import known_dim


def tracer() -> Tracer:
    """The tracer of the function that is being converted."""
    active = current_tracer()
    assert active is not None, "a traced value outside of a trace"
    return active


class StagedItems:
    """An iterable of the Program: how many items it has, and the item at an index."""

    def __init__(self, length: Any, item: Callable[[Any], Any]) -> None:
        """Both may be traced."""
        self.length, self.item = length, item

    def __iter__(self) -> Iterator[Any]:
        """Only converted code can go through it."""
        raise TensorAsPython(
            "an iterable whose length is known only at run time is used as one of Python",
            at=user_location(),
            hint="go through it in a `for` statement or list comprehension of a converted function",
        )


def staged_items(value: Any) -> StagedItems | None:
    """A traced iterable whose length is not known; None for all others."""
    if is_a(value, StagedItems):
        return value
    if is_a(value, Variable):
        if isinstance(value.type, ArrayType):
            return StagedItems(
                as_number(F.array_length(value), int), lambda i: F.array_read(value, i)
            )
        if value.ndim and isinstance(value.shape[0], Dim):
            return StagedItems(value.shape[0], lambda i: value[i])
    return None


def as_number(variable: Variable, kind: type) -> Variable:
    """A 0-d Variable that behaves as a Python number of that kind."""
    dtype = np.dtype({bool: "bool", int: "int64", float: "float64"}[kind])
    if variable.dtype != dtype or variable.number is None:
        # A Variable of its own: the number-ness must not leak into the user's tensor.
        variable = F.cast(variable, dtype) if variable.dtype != dtype else F.assign(variable)
    variable.number = kind
    return variable


def cast(kind: type, value: Any) -> Any:
    """`bool(value)`, `int(value)`, `float(value)` of a traced value, as a traced number."""
    if kind is bool:
        return as_number(truth(tracer(), value), bool)
    if kind is complex:
        raise TensorAsPython(
            "complex() of a traced tensor",
            at=user_location(),
            why="there are no complex tensors",
            hint="keep real and imaginary part in two tensors",
        )
    variable = to_variable(tracer(), value)
    if variable.tensor_type.rank:
        variable = F.reshape(variable, [])
    return as_number(variable, kind)


def logical_not(value: Any) -> Any:
    """`not value`."""
    if isinstance(value, Condition):
        return value.negate()
    return as_number(F.logical_not(truth(tracer(), value)), bool)


def contains(value: Any, container: Any) -> Any:
    """`value in container`."""
    if isinstance(container, Tensor):
        return as_number(F.any(F.equal(container, value)), bool)
    answer: Any = False
    for item in container:
        if item is value:
            return True
        same = item == value
        if isinstance(same, bool):
            if same and answer is False:
                return True
            continue
        same = truth(tracer(), same)
        answer = same if answer is False else F.logical_or(answer, same)
    return answer if answer is False else as_number(answer, bool)


def length(value: Any) -> Any:
    """`len(value)`: an int, a Dim, or the traced length of a list of the Program."""
    if isinstance(value, Variable) and isinstance(value.type, ArrayType):
        return as_number(F.array_length(value), int)
    if not value.ndim:
        raise TypeError("len() of a 0-d tensor")
    return value.shape[0]


def range_of(arguments: Sequence[Any]) -> tuple[tuple[Any, Any], Any]:
    """(start, step) of a range with traced arguments, and the number of its turns."""
    values = [_integer(value) for value in arguments]
    start, stop, step = 0, values[0], 1
    if len(values) > 1:
        start, stop, step = values[0], values[1], values[2] if len(values) > 2 else 1
    if not any(isinstance(value, Variable) for value in (start, stop, step)):
        return (start, step), maximum(ceil_divide(stop - start, step), 0)
    if isinstance(step, Variable):
        F.assert_(F.not_equal(step, 0), "range() arg 3 must not be zero")
    elif step == 0:
        raise ValueError("range() arg 3 must not be zero")
    # ceil((stop - start) / step) for steps of both signs
    turns = F.maximum(-((start - stop) // step), 0)
    return (start, step), turns


def _integer(value: Any) -> Any:
    """An argument of range: an int, a Dim or a traced int."""
    if isinstance(value, Tensor):
        value = tracer().variable(value)
        if value.dtype.kind not in "iu":
            raise TypeError(f"range() takes integers, not a tensor of dtype {value.dtype}")
        size = known_dim(value)
        if size is not None:
            return size
        return value if value.number is not None else cast(int, value)
    return value


# -- builtins ---------------------------------------------------------------------------------


def _enumerate(iterable: Any, start: Any = 0) -> Any:
    items = staged_items(iterable)
    if items is None:
        return enumerate(iterable, start)
    return StagedItems(items.length, lambda i: (i + start, items.item(i)))


def _zip(*iterables: Any, strict: bool = False) -> Any:
    items = [staged_items(value) for value in iterables]
    if not any(items) or strict:
        return zip(*iterables, strict=strict)
    for index, value in enumerate(iterables):
        if items[index] is None and not (isinstance(value, Variable) and value.ndim):
            raise ConversionError(
                f"zip() of a tensor of unknown length and a {type(value).__name__}",
                at=user_location(),
                why="how many items are taken is known only when the Program runs",
                hint="make a tensor of the other one too",
            )
    known = [
        entry or StagedItems(value.shape[0], functools.partial(_at, value))
        for entry, value in zip(items, iterables, strict=True)
    ]
    lengths = [entry.length for entry in known]
    shortest = functools.reduce(_shorter, lengths)
    return StagedItems(shortest, lambda i: tuple(entry.item(i) for entry in known))


def _at(value: Any, index: Any) -> Any:
    return value[index]


def _shorter(left: Any, right: Any) -> Any:
    if isinstance(left, Variable) or isinstance(right, Variable):
        return F.minimum(left, right)
    return minimum(left, right)


def _reversed(value: Any) -> Any:
    items = staged_items(value)
    if items is None:
        return iter(list(value)[::-1])
    return StagedItems(items.length, lambda i: items.item(items.length - 1 - i))


def _isinstance(value: Any, kinds: Any) -> bool:
    if isinstance(value, Variable) and value.number is not None:
        return isinstance(value.number(0), kinds)
    if isinstance(value, Condition):
        return isinstance(True, kinds)
    # A size is an int, to whoever asks.
    return isinstance(value, kinds) or (isinstance(value, Dim) and isinstance(0, kinds))


def _type(value: Any) -> type:
    if isinstance(value, Variable) and value.number is not None:
        return value.number
    if isinstance(value, Condition):
        return bool
    return int if isinstance(value, Dim) else type(value)


def _is_size(value: Any) -> bool:
    return isinstance(value, Dim) or type(value) is int


def _extreme(
    take_first: Callable[[Any, Any], Any], reduce: str, of_sizes: Callable[[Size, Size], Size]
) -> Callable[..., Any]:
    def extreme(*values: Any, key: Any = None, **default: Any) -> Any:
        if key is not None:
            raise _no_builtin("max() or min() with a key")
        if len(values) == 1:
            if isinstance(values[0], Tensor) and values[0].ndim == 1 and not default:
                return getattr(F, reduce)(values[0])
            values = tuple(values[0])
        if values and all(map(_is_size, values)):
            return functools.reduce(of_sizes, values)
        best = values[0]
        for value in values[1:]:
            better = take_first(value, best)
            best = (
                F.where(truth(tracer(), better), value, best)
                if not isinstance(better, bool)
                else (value if better else best)
            )
        return best

    return extreme


def _sum(values: Any, start: Any = 0) -> Any:
    if isinstance(values, Variable) and staged_items(values) is not None:
        total = F.sum(values, axis=0)
        return total if isinstance(start, int) and start == 0 else total + start
    return sum(values, start)


def _all(values: Any) -> Any:
    return _truth_of_all(values, F.all, F.logical_and, True)


def _any(values: Any) -> Any:
    return _truth_of_all(values, F.any, F.logical_or, False)


def _truth_of_all(values: Any, reduce: Any, combine: Any, empty: bool) -> Any:
    if isinstance(values, Variable):
        return as_number(reduce(values), bool)
    answer: Any = empty
    for value in values:
        if not is_number(value) and not isinstance(value, Tensor):
            value = bool(value)
        if isinstance(value, (bool, int, float)):
            if bool(value) is not empty:
                return not empty
            continue
        answer = combine(truth(tracer(), value), answer)
    return answer if isinstance(answer, bool) else as_number(answer, bool)


def _round(value: Any, digits: Any = None) -> Any:
    if digits is not None:
        raise _no_builtin("round() to digits")
    rounded = F.round(value)
    return cast(int, rounded) if is_number(value) else rounded


def _pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    return base**exponent if modulus is None else base**exponent % modulus


def _divmod(left: Any, right: Any) -> tuple[Any, Any]:
    return left // right, left % right


def _no_builtin(what: str) -> ConversionError:
    return ConversionError(
        f"{what} is called with a traced tensor",
        at=user_location(),
        why="it has no static form",
        hint="use a function of dy2st on the tensor",
    )


BUILTINS: dict[Callable[..., Any], Callable[..., Any]] = {
    abs: lambda value: maximum(value, -value) if isinstance(value, Dim) else F.abs(value),
    all: _all,
    any: _any,
    divmod: _divmod,
    enumerate: _enumerate,
    isinstance: _isinstance,
    max: _extreme(lambda value, best: value > best, "max", maximum),
    min: _extreme(lambda value, best: value < best, "min", minimum),
    pow: _pow,
    reversed: _reversed,
    round: _round,
    sum: _sum,
    type: _type,
    zip: _zip,
}


def call_builtin(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: dict[str, Any]
) -> Any:
    """A builtin with a traced argument."""
    if function is range:
        (start, step), turns = range_of(arguments)
        return StagedItems(turns, lambda i: start + i * step)
    known = BUILTINS.get(function)
    if known is None:
        raise _no_builtin(f"{function.__name__}()")
    return known(*arguments, **keywords)
