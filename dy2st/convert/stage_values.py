"""What converted code does with traced values outside of control flow: logic, casts, builtins."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dy2st.convert.joining import is_mixed, is_number, number_kind, to_variable
from dy2st.convert.stage_if import stage_branches, truth
from dy2st.convert.traced import is_a
from dy2st_runtime.dims import Condition, Dim, Size, ceil_divide, maximum, minimum
from dy2st_runtime.errors import ConversionError, TensorAsPython
from dy2st_runtime.ir import ArrayType, F, Tensor, Tracer, Variable, current_tracer, user_location
from dy2st_runtime.ir.arguments import known_dim
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.tensor import EagerTensor


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
            why="C code goes through it here, or a function that is not converted, item by item",
            hint="go through it in a `for` statement or list comprehension of a converted function",
        )


def staged_items(value: Any) -> StagedItems | None:
    """A traced iterable whose length is not known; None for all others."""
    if is_a(value, StagedItems):
        return value
    if is_a(value, Variable):
        if isinstance(value.type, ArrayType):
            length = as_number(F.array_length(value), int)
            return StagedItems(length, functools.partial(_at, value))
        if value.ndim and isinstance(value.shape[0], Dim):
            return StagedItems(value.shape[0], functools.partial(_at, value))
    return None


def _at(value: Any, index: Any) -> Any:
    """An item whose index is surely in its bounds: no IndexError is to be looked after."""
    with tracer().surely_valid():
        return value[index]


def as_number(variable: Variable, kind: type) -> Variable:
    """A 0-d Variable that behaves as a Python number of that kind."""
    dtype = np.dtype({bool: "bool", int: "int64", float: "float64"}[kind])
    if variable.number is not None and variable.dtype != dtype:
        variable = tracer().cast_number(variable, dtype)
    elif variable.number is None:
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
            why="only the run has its value, and a Program has no complex numbers of Python",
            hint="compute with a tensor of them: x + 0j",
        )
    variable = to_variable(tracer(), value)
    if variable.tensor_type.rank:
        variable = F.reshape(variable, [])
    if kind is int and variable.dtype.kind == "f":
        tracer().append("check_int", [tracer().local(variable)], {"operation": "int"}, [])
    if kind is float and variable.number is None:
        variable = F.detach(variable)  # a number of Python has no gradient
    return as_number(variable, kind)


def logical_not(value: Any) -> Any:
    """`not value`."""
    if isinstance(value, Condition):
        return value.negate()
    condition = truth(tracer(), value)
    answer = as_number(F.logical_not(condition), bool)
    known = tracer().narrowings.get(condition)
    if known is not None:
        choice, wanted = known
        tracer().narrowings[answer] = (choice, frozenset(range(len(choice.cases))) - wanted)
    return answer


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
    if isinstance(value, StagedItems):
        return value.length
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
    if not any(items):
        return zip(*iterables, strict=strict)
    if strict:
        raise _no_builtin(
            "zip() with strict=True over a length that is known only at run time",
            "compare the lengths first (assert a.shape[0] == b.shape[0]), and leave strict out",
        )
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
    _check_kind(value)
    if isinstance(value, Variable) and isinstance(value.type, ArrayType):
        return isinstance([], kinds)
    if isinstance(value, Text):
        return isinstance("", kinds)
    if isinstance(value, Variable) and value.number is not None:
        return isinstance(value.number(0), kinds)
    if isinstance(value, Condition):
        return isinstance(True, kinds)
    # A size is an int, to whoever asks.
    return isinstance(value, kinds) or (isinstance(value, Dim) and isinstance(0, kinds))


def _check_kind(value: Any) -> None:
    """Refuse to say of which class a value is that has one on each path."""
    if is_mixed(value):
        raise TensorAsPython(
            "the class of a value is asked that is a number of Python on one path and a tensor, or "
            "another kind of number, on another",
            at=user_location(),
            why="a Program has one kind of value for both",
            hint="let it be a tensor on both paths, to_tensor(0.0), or a number: x.item()",
        )


def _type(value: Any) -> type:
    _check_kind(value)
    if isinstance(value, Variable) and isinstance(value.type, ArrayType):
        return list
    if isinstance(value, Text):
        return str
    if isinstance(value, Variable) and value.number is not None:
        return value.number
    if isinstance(value, Condition):
        return bool
    if isinstance(value, Variable):
        return EagerTensor
    return int if isinstance(value, Dim) else type(value)


def _is_size(value: Any) -> bool:
    return isinstance(value, Dim) or type(value) is int


def _extreme(
    take_first: Callable[[Any, Any], Any], reduce: str, of_sizes: Callable[[Size, Size], Size]
) -> Callable[..., Any]:
    def extreme(*values: Any, key: Any = None, **default: Any) -> Any:
        if len(values) == 1:
            if isinstance(values[0], Tensor) and values[0].ndim == 1 and not default and not key:
                return getattr(F, reduce)(values[0])
            values = tuple(values[0])
            if not values and default:
                return default["default"]
        if not values:
            raise ValueError(f"{reduce}() arg is an empty sequence")
        if key is None and all(map(_is_size, values)):
            return functools.reduce(of_sizes, values)
        keys = values if key is None else [key(value) for value in values]
        best, best_key = values[0], keys[0]
        for value, its_key in zip(values[1:], keys[1:], strict=True):
            better = take_first(its_key, best_key)
            best, best_key = _chosen(better, (value, its_key), (best, best_key))
        return best

    return extreme


def _chosen(better: Any, new: tuple[Any, Any], old: tuple[Any, Any]) -> tuple[Any, Any]:
    if isinstance(better, bool):
        return new if better else old
    names = ("the value of max() or min()", "the key of max() or min()")
    taken: tuple[Any, Any] = stage_branches(better, lambda: new, lambda: old, (), (), names)
    return taken


def _sorted(values: Any, *, key: Any = None, reverse: bool = False) -> list[Any]:
    """A list in order: equal ones stay in the order that they had, as in Python."""
    given = list(values)
    if not given:
        return []
    if any(isinstance(value, (Dim, Condition)) for value in given):
        raise _no_builtin("sorted() of sizes that are not known", "sort tensors, or known sizes")
    keys = given if key is None else [key(value) for value in given]
    if not all(map(_is_scalar, [*keys, *given])):
        raise _no_builtin(
            "sorted() of values that are no numbers or 0-d tensors of one dtype",
            "sort one tensor: sort(stack([...])), or argsort() of the keys",
        )
    order = F.stack(_plain(keys[::-1] if reverse else keys))
    places = F.argsort(order)
    if reverse:
        places = len(given) - 1 - F.flip(places, [0])
    stacked = F.gather(F.stack(_plain(given)), places)
    kinds = {number_kind(value) if is_number(value) else None for value in given}
    if len(kinds) > 1:
        raise _no_builtin(
            "sorted() of numbers of several kinds, or of numbers and tensors",
            "make tensors, or floats, of all of them",
        )
    kind = next(iter(kinds))
    items = [stacked[index] for index in range(len(given))]
    return items if kind is None else [as_number(item, kind) for item in items]


def _plain(values: Sequence[Any]) -> Sequence[Any]:
    """Floats of Python as tensors with all their digits; all others unchanged."""
    if not all(is_number(value) and number_kind(value) is float for value in values):
        return values
    made = [to_variable(tracer(), value) for value in values]
    return [tracer().cast_number(value, np.dtype("float64")) for value in made]


def _is_scalar(value: Any) -> bool:
    return is_number(value) or (isinstance(value, Tensor) and value.ndim == 0)


def _sequence(kind: Callable[..., Any]) -> Callable[..., Any]:
    def make(value: Any = ()) -> Any:
        if isinstance(value, Variable) and isinstance(value.type, ArrayType):
            if kind is list:
                return value
            raise _no_builtin(
                f"{kind.__name__}() of a list that a tensor-dependent loop changes",
                "keep the list, or stack() it",
            )
        return kind(value)

    return make


def _mapped(kind: Callable[..., Any]) -> Callable[..., Any]:
    def make(function: Any, *iterables: Any) -> Any:
        if any(staged_items(value) is not None for value in iterables):
            raise _no_builtin(
                f"{kind.__name__}() over a length that is known only at run time",
                "write it as a `for` statement that appends to a list",
            )
        return kind(function, *iterables)

    return make


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
    if not is_number(value):
        return round(value, digits)
    if digits is not None:
        raise _no_builtin("round() to digits", "round a tensor, or write round(x * 100) / 100")
    number = to_variable(tracer(), value)
    return cast(int, F.round(*_plain([number])))


def _pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    return base**exponent if modulus is None else base**exponent % modulus


def _divmod(left: Any, right: Any) -> tuple[Any, Any]:
    return left // right, left % right


def _no_builtin(what: str, hint: str = "use a function of dy2st on the tensor") -> ConversionError:
    return ConversionError(
        f"{what} is called with a traced tensor",
        at=user_location(),
        why="it has no static form",
        hint=hint,
    )


BUILTINS: dict[Callable[..., Any], Callable[..., Any]] = {
    abs: lambda value: maximum(value, -value) if isinstance(value, Dim) else abs(value),
    all: _all,
    any: _any,
    divmod: _divmod,
    enumerate: _enumerate,
    filter: _mapped(filter),
    frozenset: _sequence(frozenset),
    iter: _sequence(iter),
    list: _sequence(list),
    map: _mapped(map),
    isinstance: _isinstance,
    max: _extreme(lambda value, best: value > best, "max", maximum),
    min: _extreme(lambda value, best: value < best, "min", minimum),
    pow: _pow,
    reversed: _reversed,
    round: _round,
    set: _sequence(set),
    sorted: _sorted,
    sum: _sum,
    tuple: _sequence(tuple),
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
