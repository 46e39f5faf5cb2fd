"""Differentiates operators on lists of a Program.

The gradient of a list is a list of as many entries: each is a list of the gradient of that element,
or empty where it has none. So elements that nobody uses cost nothing, whatever their sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st_runtime.autodiff.gradient import Gradient, flag_of, type_of_gradient
from dy2st_runtime.autodiff.walk import Found, Handler, Walk, same_sizes
from dy2st_runtime.autodiff.zero_gradients import empty_gradients, zero_gradient
from dy2st_runtime.ir.dispatch import F, apply
from dy2st_runtime.ir.program import Operator, Variable
from dy2st_runtime.ir.tracing.tracer import Tracer
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType
from dy2st_runtime.ops.control_flow import cond, while_loop

LISTS: dict[str, Handler] = {}
"""How the gradients of results pass on to operands."""


def _rule_of(*names: str) -> Callable[[Handler], Handler]:
    """Enter the rule of some operators."""

    def enter(rule: Handler) -> Handler:
        LISTS.update(dict.fromkeys(names, rule))
        return rule

    return enter


# -- entries ----------------------------------------------------------------------------------


def _is_there(entry: Variable) -> Variable:
    flag: Variable = F.greater_than(F.array_length(entry), 0)
    return flag


def _first(entry: Variable) -> Variable:
    value: Variable = F.array_read(entry, 0)
    return value


def _entry(gradient: Gradient) -> Variable:
    """The entry for the gradient of an element."""
    made: Variable = F.array_of([gradient.value])
    if gradient.there is None:
        return made
    empty = ArrayType(gradient.value.type)
    return cond(flag_of(gradient.there), lambda: [made], lambda: [F.array_empty(empty)])[0]


def _pass_on(walk: Walk, element: Variable, entry: Variable, is_full: bool) -> None:
    """The gradient of what was put into a list."""
    if not walk.is_varied(element):
        return

    def given() -> list[Variable]:
        value = _first(entry)
        same_sizes(walk.tracer, value, element)
        if isinstance(value.type, ArrayType):
            return [value]
        (made,) = walk.tracer.append("assign", [value], {}, [element.type]).results
        made.type = element.type  # as it is written around, not as it is known to be in here
        return [made]

    if is_full:
        walk.add(element, Gradient(given()[0]))
        return
    flag = _is_there(entry)
    value = cond(flag, given, lambda: [zero_gradient(walk, element)])[0]
    walk.add(element, Gradient(value, None if isinstance(element.type, ArrayType) else (flag,)))


def _added(tracer: Tracer, first: Variable, second: Variable) -> Variable:
    """The entry for an element that is used in two places."""

    def both() -> list[Variable]:
        left, right = _first(first), _first(second)
        if isinstance(left.type, ArrayType):
            return [F.array_of([add_lists(tracer, left, right)])]
        same_sizes(tracer, right, left)
        return [F.array_of([F.add(left, right)])]

    def one() -> list[Variable]:
        return cond(_is_there(second), both, lambda: [first])

    return cond(_is_there(first), one, lambda: [second])[0]


def add_lists(tracer: Tracer, first: Variable, second: Variable) -> Variable:
    """The sum of two gradients of one list."""

    def entry(place: Variable) -> Variable:
        return _added(tracer, F.array_read(first, place), F.array_read(second, place))

    return _listed(F.array_length(first), first.type, entry)


def _listed(length: Any, type: ValueType, entry: Callable[[Variable], Variable]) -> Variable:
    """A list of what a function gives for each place."""

    def iteration(place: Variable, made: Variable) -> list[Any]:
        return [F.add(place, 1), F.array_append(made, entry(place))]

    start = [F.full([], 0, "int64"), F.array_empty(type)]
    return while_loop(lambda place, made: [F.less_than(place, length)], iteration, start)[1]


# -- gradients of lists -----------------------------------------------------------------------


def _empty_entry(value: Variable) -> Variable:
    type = type_of_gradient(value.type)
    assert isinstance(type, ArrayType) and isinstance(type.element, ArrayType)
    made: Variable = F.array_empty(type.element)
    return made


def _length(walk: Walk, value: Variable) -> Any:
    return F.array_length(walk.forward.value(value))


def _from_start(index: Any, length: Any) -> Any:
    """A place as it is counted from the start."""
    return F.where(F.less_than(index, 0), F.add(index, length), index)


def _give(walk: Walk, value: Variable, gradient: Variable, is_full: bool) -> None:
    if walk.is_varied(value):
        walk.add(value, Gradient(gradient, None, True, is_full))


@_rule_of("array_create")
def _create(walk: Walk, operator: Operator, found: Found) -> None:
    (gradient,) = found
    assert gradient is not None
    for place, item in enumerate(operator.operands):
        if walk.is_varied(item):
            _pass_on(walk, item, F.array_read(gradient.value, place), gradient.is_full)


@_rule_of("array_append")
def _append(walk: Walk, operator: Operator, found: Found) -> None:
    array, item = operator.operands
    (gradient,) = found
    assert gradient is not None
    left, entry = F.array_pop(gradient.value, -1)
    _give(walk, array, left, gradient.is_full)
    _pass_on(walk, item, entry, gradient.is_full)


@_rule_of("array_read")
def _read(walk: Walk, operator: Operator, found: Found) -> None:
    array, index = operator.operands
    (gradient,) = found
    assert gradient is not None
    place, entry = walk.forward.value(index), _entry(gradient)
    # The list of gradients is changed where it is: to add a list with one entry would cost as much
    # as the list is long, for each element that is read.
    known = walk.gradient(array)
    if known is None:
        before, is_full = zero_gradient(walk, array), False
    else:
        before, is_full = known.value, known.is_full
        entry = _added(walk.tracer, F.array_read(before, place), entry)
    made = F.array_write(before, place, entry)
    walk.sums[walk.key(array)] = Gradient(made, None, True, is_full)


@_rule_of("array_write")
def _write(walk: Walk, operator: Operator, found: Found) -> None:
    array, index, item = operator.operands
    (gradient,) = found
    assert gradient is not None
    place = walk.forward.value(index)
    _pass_on(walk, item, F.array_read(gradient.value, place), gradient.is_full)
    if walk.is_varied(array):
        _give(walk, array, F.array_write(gradient.value, place, _empty_entry(array)), False)


@_rule_of("array_pop")
def _pop(walk: Walk, operator: Operator, found: Found) -> None:
    array, index = operator.operands
    # A list without a gradient has one of no entries.
    left = found[0] or Gradient(zero_gradient(walk, operator.results[0]))
    item = found[1]
    entry = _empty_entry(array) if item is None else _entry(item)
    length = F.add(F.array_length(left.value), 1)
    place = _from_start(walk.forward.value(index), length)
    is_full = left.is_full and item is not None and item.there is None
    _give(walk, array, F.array_insert(left.value, place, entry), is_full)


@_rule_of("array_insert")
def _insert(walk: Walk, operator: Operator, found: Found) -> None:
    array, index, item = operator.operands
    (gradient,) = found
    assert gradient is not None
    # insert() takes any index: beyond the ends it means the ends.
    length = F.subtract(F.array_length(gradient.value), 1)
    place = _from_start(walk.forward.value(index), length)
    place = F.minimum(F.maximum(place, 0), length)
    left, entry = F.array_pop(gradient.value, place)
    _give(walk, array, left, gradient.is_full)
    _pass_on(walk, item, entry, gradient.is_full)


@_rule_of("array_delete")
def _delete(walk: Walk, operator: Operator, found: Found) -> None:
    array, index = operator.operands
    (gradient,) = found
    assert gradient is not None
    length = F.add(F.array_length(gradient.value), 1)
    place = _from_start(walk.forward.value(index), length)
    _give(walk, array, F.array_insert(gradient.value, place, _empty_entry(array)), False)


@_rule_of("array_extend")
def _extend(walk: Walk, operator: Operator, found: Found) -> None:
    array, behind = operator.operands
    (gradient,) = found
    assert gradient is not None
    length = _length(walk, array)
    if walk.is_varied(array):
        _give(walk, array, F.array_slice(gradient.value, None, length), gradient.is_full)
    if walk.is_varied(behind):
        _give(walk, behind, F.array_slice(gradient.value, length, None), gradient.is_full)


@_rule_of("array_slice", "array_gather", "array_repeat")
def _chosen(walk: Walk, operator: Operator, found: Found) -> None:
    """Elements at other places, or several times: the operator says where, of a list of places."""
    array, *others = operator.operands
    (gradient,) = found
    assert gradient is not None
    length = _length(walk, array)
    # The same operator on the list 0, 1, 2, ... shows where each element came from.
    places = _listed(length, ArrayType(TensorType("int64", ())), lambda place: place)
    values = [walk.forward.value(other) for other in others]
    places = apply(operator.name, places, *values, **operator.attributes)

    def iteration(count: Variable, made: Variable) -> list[Any]:
        place = F.array_read(places, count)
        entry = _added(walk.tracer, F.array_read(made, place), F.array_read(gradient.value, count))
        return [F.add(count, 1), F.array_write(made, place, entry)]

    start = [F.full([], 0, "int64"), empty_gradients(array.type, length)]
    total = F.array_length(places)
    made = while_loop(lambda count, made: [F.less_than(count, total)], iteration, start)[1]
    _give(walk, array, made, False)


@_rule_of("array_stack")
def _stack(walk: Walk, operator: Operator, found: Found) -> None:
    (array,) = operator.operands
    (gradient,) = found
    assert gradient is not None
    g, before = gradient.value, (slice(None),) * operator.attributes["axis"]

    def entry(place: Variable) -> Variable:
        part = F.getitem(g, (*before, place))
        return _entry(Gradient(part, gradient.there, gradient.is_clean))

    length = g.shape[operator.attributes["axis"]]
    made = _listed(length, type_of_gradient(array.type), entry)
    _give(walk, array, made, gradient.there is None)


@_rule_of("array_concat")
def _concat(walk: Walk, operator: Operator, found: Found) -> None:
    (array,) = operator.operands
    (gradient,) = found
    assert gradient is not None
    axis, g, values = operator.attributes["axis"], gradient.value, walk.forward.value(array)
    length, before = F.array_length(values), (slice(None),) * axis

    def iteration(place: Variable, start: Variable, made: Variable) -> list[Any]:
        value = F.array_read(values, place)
        end = F.add(start, F.getitem(F.shape(value), axis))
        part = F.getitem(g, (*before, slice(start, end)))
        same_sizes(walk.tracer, part, value)
        entry = _entry(Gradient(part, gradient.there, gradient.is_clean))
        return [F.add(place, 1), end, F.array_append(made, entry)]

    zero = F.full([], 0, "int64")
    start = [zero, zero, F.array_empty(type_of_gradient(array.type))]
    ends = while_loop(lambda place, *_: [F.less_than(place, length)], iteration, start)
    _give(walk, array, ends[2], gradient.there is None)


__all__ = ["LISTS", "add_lists"]
