"""Unary and binary operators, comparisons and membership, in Python's order of methods.

Containers are compared element by element, as C code does it with values of Python.
"""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from functools import partial, reduce
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from dy2st.convert.kinds import traced_keys
from dy2st.convert.kinds.lists import compare_lists, concatenate, contains, held, repeat
from dy2st.convert.kinds.scalars import as_number, like_number, refuse_native_key
from dy2st.convert.kinds.side_effects import note_settings
from dy2st.convert.kinds.traced_keys import is_entry, is_sure
from dy2st.convert.protocol.calls import call
from dy2st.convert.protocol.ifelse import not_
from dy2st.convert.protocol.natives import with_overlay_materialised
from dy2st.convert.stage.branch import is_case, known, stage_if, truth_of
from dy2st.convert.stage.checks import map_cases
from dy2st.convert.stage.loop import stage_while
from dy2st.convert.trace import Sizes, Trace, of_class, own_method
from dy2st.convert.types import info
from dy2st.convert.values.layout import number_kind
from dy2st.convert.values.special import MISSING, Generated, Indexed, SymbolicSequence, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir import Block, F, Tensor, Variable, user_location
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.tracing.numpy_values import change, still_numpy


def is_users(method: Any) -> bool:
    """Whether a method of a class is other than those of Python's own classes in C."""
    return method is not MISSING and info(type(method)).family != "of a C class"


def bound_to(trace: Trace, method: Any, owner: Any) -> Any:
    """What a special method is when it is looked up for an object."""
    if type(method) is FunctionType:
        return MethodType(method, owner)
    get = of_class(trace, type(method), "__get__")
    return method if get is MISSING else call(trace, get, method, owner, type(owner))


def ask(
    trace: Trace, name: str, methods: tuple[Any, Any], left: Any, right: Any, reflected: str
) -> Any:
    """`left <operator> right`, where one of the two methods is the user's; NotImplemented if none.

    methods: what the classes of `left` and `right` hold for it, MISSING if nothing.
    """
    for method, one, other in _order(trace, name, methods, left, right, reflected):
        if method is MISSING:
            continue
        if is_users(method):
            found = call(trace, bound_to(trace, method, one), other)
        elif name == "ne" and is_opposite(trace, type(one)):
            # What object.__ne__ does, which in C would compare lists as they were before the trace.
            found = call(trace, bound_to(trace, of_class(trace, type(one), "__eq__"), one), other)
            found = found if found is NotImplemented else trace.not_(found)
        else:
            found = method(trace.native(one), trace.native(other))
        if found is not NotImplemented:
            return found
    return NotImplemented


def is_opposite(trace: Trace, kind: type) -> bool:
    """Whether `!=` of objects of a class is what the user's `==` is not."""
    is_plain = of_class(trace, kind, "__ne__") is object.__ne__
    return is_plain and is_users(of_class(trace, kind, "__eq__"))


def _order(
    trace: Trace, name: str, methods: tuple[Any, Any], left: Any, right: Any, reflected: str
) -> tuple[tuple[Any, Any, Any], ...]:
    """The methods that are asked, each with its own operand and the other one."""
    first, second = (methods[0], left, right), (methods[1], right, left)
    is_derived = type(left) in type(right).__mro__[1:]
    if name in COMPARISONS:
        return (second, first) if is_derived else (first, second)
    if type(left) is type(right):
        return (first,)
    overrides = is_derived and methods[1] is not of_class(trace, type(left), reflected)
    # To put two sequences together is asked last, after all methods of the right operand.
    is_sequence = info(type(left)).base.family in ("list", "tuple", "text", "bytes")
    joins = name in ("add", "mul") and is_sequence and not is_users(methods[0])
    return (second, first) if overrides or joins else (first, second)


_OF_BITS = ("and_bits", "or_bits", "xor", "lshift", "rshift")

_ARITHMETIC = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow_", "matmul", "lshift", "rshift"),
    *("and_bits", "or_bits", "xor"),
)
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
COMPARISONS = _MIRRORED.keys()
_STEMS = {name: name.removesuffix("_").removesuffix("_bits") for name in _ARITHMETIC}
_METHODS = {
    **{name: (f"__{stem}__", f"__r{stem}__") for name, stem in _STEMS.items()},
    **{name: (f"__{name}__", f"__{other}__") for name, other in _MIRRORED.items()},
}
# Name of the protocol -> Python's operator, special method, reflected one.
BINARY = {name: (getattr(operator, both[0]), *both) for name, both in _METHODS.items()}
UNARY = {name: (getattr(operator, name), f"__{name}__") for name in ("neg", "pos", "invert")}
_IN_PLACE = {name: (getattr(operator, f"__i{s}__"), f"__i{s}__") for name, s in _STEMS.items()}
IN_PLACE = {f"i{name}": name for name in _IN_PLACE}


def binary(trace: Trace, name: str, left: Any, right: Any, in_place: bool = False) -> Any:
    """`left <operator> right`. `in_place`: it stands for `left <operator>= right`."""
    plain, method, reflected = BINARY[name]
    kinds = type(left), type(right)
    if info(kinds[0]).is_plain and info(kinds[1]).is_plain:
        return plain(left, right)
    if Union in kinds:
        return map_cases(trace, lambda a, b: binary(trace, name, a, b, in_place), left, right)
    row = info(kinds[0]).operators.get(name)
    # The right one is asked first where its class is derived, with a method of its own.
    is_derived = kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0])
    is_asked = is_derived and own_method(trace, right, reflected) is not None
    if row is not None and not is_asked:
        found = row(trace, left, right)
        if found is not NotImplemented:
            return found
    is_asked = is_asked or own_method(trace, left, method) is not None
    if not is_asked and (_is_sequence(left) or _is_sequence(right)):
        has_sizes = trace.origin(left, Sizes) or trace.origin(right, Sizes)
        if has_sizes and name in ("eq", "ne", "add"):  # as of tuples: see `SizeList`
            left, right = (list(one) if isinstance(one, tuple) else one for one in (left, right))
        found = _of_sequences(trace, name, left, right)
        if has_sizes and type(found) is list:
            found = trace.sized(found)
        if found is not NotImplemented:
            return found
    if name == "mul" and kinds[1] in (str, Text) and number_kind(left) is not None:
        return binary(trace, name, right, left)
    if info(kinds[0]).is_traced or info(kinds[1]).is_traced:
        own = own_method(trace, right, reflected)
        if own is not None:
            return call(trace, own, right, left)
        own = own_method(trace, left, method)
        if own is not None:
            return call(trace, own, left, right)
        if number_kind(left) is not None or number_kind(right) is not None:
            if _is_no_operand(left) or _is_no_operand(right):
                refused = _IN_PLACE[name][0] if in_place else plain
                return refused(like_number(left), like_number(right))
            left, right = _of_python(left), _of_python(right)
        has_numpy = any(info(type(one)).family == "array" for one in (left, right))
        if name == "pow_" and Dim in kinds and not has_numpy:
            # A size again where the exponent is small and known, else a number.
            if type(right) is int and 0 < right < 5:
                return reduce(operator.mul, [left] * right)
            return operator.pow(_as_number(trace, left), _as_number(trace, right))
        # What is NumPy's is to tensors what tensors are, and they compute with sequences.
        if has_numpy or _is_sequence(left) or _is_sequence(right):
            left, right = trace.exported((left, right))
        if has_numpy or Condition in kinds or (Dim in kinds and name in _OF_BITS):
            left, right = _as_number(trace, left), _as_number(trace, right)
        return still_numpy(plain(left, right), left, right)
    return _dispatch(trace, name, left, right, in_place)


def _of_python(value: Any) -> Any:
    """A number of a class of its own, as that of an IntEnum, as one of Python's."""
    if isinstance(value, np.generic):
        return value
    kind = next((kind for kind in (bool, int, float) if isinstance(value, kind)), None)
    return value if kind is None else kind(value)


def _as_number(trace: Trace, value: Any) -> Any:
    """A size, or a comparison of sizes, as a number of the Program; others as they are."""
    return trace.tracer.number(value) if isinstance(value, (Dim, Condition)) else value


def _is_sequence(value: Any) -> bool:
    kind: Any = type(value)
    row = info(kind)
    if (row.is_container and kind is not bytearray) or kind is SymbolicSequence:
        return True
    return row.base.family == "tuple" and kind.__eq__ is tuple.__eq__


def _is_no_operand(value: Any) -> bool:
    """Whether no number computes with it or is equal to it."""
    is_text = info(type(value)).base.family in ("text", "bytes")
    return value is None or is_text or _is_sequence(value)


def _of_sequences(trace: Trace, name: str, left: Any, right: Any) -> Any:
    if name == "add" and _is_sequence(left) and _is_sequence(right):
        return concatenate(trace, left, right)
    if name == "mul":
        return repeat(trace, *((left, right) if _is_sequence(left) else (right, left)))
    is_equality = name in ("eq", "ne")
    if is_equality and info(type(right if _is_sequence(left) else left)).is_plain:
        return name == "ne"
    are_dicts = {info(type(one)).family for one in (left, right)} == {"dict"}
    dicts = [held(trace, one) for one in (left, right)] if are_dicts and is_equality else ()
    if any(type(one) is SymbolicSequence or not is_sure(trace, one) for one in dicts):
        same = traced_keys.is_equal(trace, left, right)
        return same if name == "eq" else trace.not_(same)
    kind = _kind_of(left)
    are_ordered = kind is _kind_of(right) and info(kind).family in ("list", "tuple")
    if name in COMPARISONS and not is_equality and not are_ordered:
        return NotImplemented
    if name in COMPARISONS and _is_sequence(left) and _is_sequence(right):
        return compare_lists(trace, name, left, right)
    return NotImplemented


def _kind_of(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple
    return value.kind if type(value) is SymbolicSequence else type(value)


def _dispatch(trace: Trace, name: str, left: Any, right: Any, in_place: bool = False) -> Any:
    """By the methods of both classes; Python itself where none of them is the user's."""
    plain, method, reflected = BINARY[name]
    methods = of_class(trace, type(left), method), of_class(trace, type(right), reflected)
    are_users = any(map(is_users, methods)) or any(
        name == "ne" and is_opposite(trace, type(one)) for one in (left, right)
    )
    if not are_users:
        is_identity = methods[0] in (object.__eq__, object.__ne__)
        if is_identity and None not in (trace.locations.of(left), trace.locations.of(right)):
            same = is_(trace, left, right)
            return same if name == "eq" else trace.not_(same)
        if is_identity and left is not right and _may_be_one(trace, left, right):
            raise _undecided(name, "objects")
        if not info(type(left)).is_plain and type(left).__module__ == "decimal":
            note_settings(trace, left)
        arrays = [one for one in (left, right) if isinstance(one, np.ndarray)] if trace.over else []
        plain = _IN_PLACE[name][0] if in_place else plain  # no such method: it is for the words
        return with_overlay_materialised(
            trace, arrays, lambda: plain(trace.native(left), trace.native(right))
        )
    found = ask(trace, name, methods, left, right, reflected)
    if found is NotImplemented and name in ("eq", "ne"):
        return (left is right) is (name == "eq")
    if found is NotImplemented:
        bare = [type(type(one).__name__, (), {})() for one in (left, right)]
        return (_IN_PLACE[name][0] if in_place else plain)(*bare)  # raises, in Python's words
    return found


def in_place(trace: Trace, name: str, left: Any, right: Any) -> Any:
    """`left <operator>= right`: what the target gets."""
    plain, method = _IN_PLACE[name]
    kind = type(left)
    if info(kind).is_plain:
        return binary(trace, name, left, right)
    if kind is Union:
        return map_cases(trace, lambda one: in_place(trace, name, one, right), left)
    if info(kind).is_container:
        methods = {
            "add": "__iadd__",
            "mul": "__imul__",
            "or_bits": "update",
            "and_bits": "intersection_update",
            "sub": "difference_update",
            "xor": "symmetric_difference_update",
        }
        if isinstance(left, set) and not isinstance(right, (set, frozenset)):
            # None of the methods, which take any iterable.
            return binary(trace, name, left, right, in_place=True)
        changed_by = methods.get(name)
        if type(left) is Counter:
            trace.hold(left, trace.content(binary(trace, name, left, right)))
            return left
        if changed_by is not None and hasattr(left, changed_by):
            call(trace, getattr(left, changed_by), right)
            return left
        return binary(trace, name, left, right, in_place=True)
    if isinstance(left, np.ndarray):
        return with_overlay_materialised(trace, [left], lambda: plain(left, trace.native(right)))
    if isinstance(left, Variable) and left.is_numpy and left.ndim:
        changed = lambda one: change(left, lambda old: binary(trace, name, old, one))  # noqa: E731
        return map_cases(trace, changed, right)
    if isinstance(left, Tensor) and hasattr(kind, method) and number_kind(left) is None:
        one_of = lambda one: plain(left, trace.exported((one,))[0])  # noqa: E731
        return map_cases(trace, one_of, right)
    own = MISSING if info(kind).is_traced else of_class(trace, kind, method)
    if own is not MISSING:
        found = call(trace, bound_to(trace, own, left), right)
        if found is not NotImplemented:
            return found
    return binary(trace, name, left, right, in_place=True)


def unary(trace: Trace, name: str, value: Any) -> Any:
    """`-value` and its like."""
    plain, method = UNARY[name]
    if info(type(value)).is_plain:
        return plain(value)
    if type(value) is Union:
        return map_cases(trace, lambda one: unary(trace, name, one), value)
    own = own_method(trace, value, method)
    if own is not None:
        return call(trace, own, value)
    if type(value) is Condition or (type(value) is Dim and name == "invert"):
        value = _as_number(trace, value)
    return still_numpy(plain(value), value)


def is_(trace: Trace, left: Any, right: Any) -> Any:
    """`left is right`."""
    left, right = known(trace, left), known(trace, right)
    places = trace.locations.of(left), trace.locations.of(right)
    if Union in (type(left), type(right)) and places != (None, None):
        return map_cases(trace, lambda a, b: is_(trace, a, b), left, right)
    if None not in places:
        tables = map(trace.node, (left, right))
        return left is right or (operator.is_(*tables) and trace.eq(*places))
    if type(left) is not Union and type(right) is not Union:
        if left is not right and _may_be_one(trace, left, right):
            raise _undecided("is", "objects")
        if left is not right and type(left) is type(right) and info(type(left)).is_container:
            trace.record.apart += filter(trace.is_outside, (left, right))
        return left is right or _is_one(trace, left, right)
    union, other = (left, right) if type(left) is Union else (right, left)
    if type(other) is Union:
        return union is other or map_cases(trace, lambda a, b: is_(trace, a, b), union, other)
    cases = trace.cases_of(union)
    held = {i: getattr(union.layouts[i], "value", union.objects.get(i, is_)) for i in cases}
    same = [i for i in cases if held[i] is other]
    if any(_may_be_one(trace, held[i], other) for i in cases if i not in same):
        raise _undecided("is", "objects")
    if not same or len(same) == len(cases):
        return bool(same)
    return is_case(trace, union, *same)


def _may_be_one(trace: Trace, left: Any, right: Any) -> bool:
    """Whether two objects of Python may be one on some path."""
    return type(left) is type(right) and trace.alias_tracker.may_be_one(left, right)


def _undecided(name: str, what: str) -> TensorAsPython:
    symbol = {"eq": "==", "ne": "!="}.get(name, name)
    return TensorAsPython(
        f"`{symbol}` between two {what}, one of which a tensor decides on",
        why="whether they are one object is known only when the Program runs",
        hint="compare values that they hold, or keep a flag that says which it is",
    )


def _is_one(trace: Trace, left: Any, right: Any) -> Any:
    """Whether two values of the Program are one: there is one True and one False."""
    kinds = number_kind(left), number_kind(right)
    if kinds == (bool, bool) and not (type(left) is type(right) is bool):
        left, right = (truth_of(trace, value) for value in (left, right))
        result = F.equal(left, right)
        result.number = bool
        return result
    if kinds != (None, None) or not isinstance(left, Tensor) or not isinstance(right, Tensor):
        return False
    if _may_be_another(left) or _may_be_another(right):
        raise _undecided("is", "tensors")
    if not isinstance(left, Variable) and not isinstance(right, Variable):
        trace.record.apart += [left, right]
    pair = trace.tracer.captured(left), trace.tracer.captured(right)
    is_given = all(isinstance(one.maker, Block) for one in pair)
    trace.record.distinct += [(*pair, user_location())] if is_given else []
    return False


def _may_be_another(value: Tensor) -> bool:
    """Whether a branch, loop or list gives a tensor, which may have another name, too."""
    if not isinstance(value, Variable):
        return False
    if isinstance(value.maker, Block):
        return value.maker.parent is not None
    return bool(value.maker.blocks) or value.maker.name in ("array_read", "array_pop")


def is_not(trace: Trace, left: Any, right: Any) -> Any:
    """`left is not right`."""
    return not_(trace, is_(trace, left, right))


def in_(trace: Trace, item: Any, container: Any) -> Any:
    """`item in container`."""
    if type(container) is Union:
        return map_cases(trace, lambda one: in_(trace, item, one), container)
    own = own_method(trace, container, "__contains__")
    if own is not None:
        return trace.truth_value(call(trace, own, container, item))
    if number_kind(container) is not None:
        return item in like_number(container)  # raises, in Python's words
    if isinstance(container, Tensor):
        return trace.truth_value(binary(trace, "eq", container, item).any())
    own, kind = own_method(trace, container, "__iter__", "__getitem__"), type(container)
    is_asked = own is not None and of_class(trace, kind, "__contains__") is MISSING
    is_once = kind is Generated or (kind is Indexed and container.is_once)
    if is_asked or is_once or hasattr(kind, "__next__"):
        # Whether an item is met, where `in` asks for one after the other as far as Python goes
        def iteration(one: Any, _: Any) -> tuple[Any]:
            return (True if one is item else trace.truth_value(binary(trace, "eq", one, item)),)

        goes_on = lambda found: not_(trace, found)  # noqa: E731
        return trace.for_(container, goes_on, iteration, (False,), ("whether an item is met",))[0]
    if info(type(container)).family not in ("dict", "set", "keys", "values"):
        refuse_native_key(trace, container, (item,))
    return contains(trace, item, container)


def not_in(trace: Trace, item: Any, container: Any) -> Any:
    """`item not in container`."""
    return not_(trace, in_(trace, item, container))


def truth_value(trace: Trace, value: Any) -> Any:
    """The truth of a value, as a value."""
    found = trace.test_of(value)
    return as_number(trace, found, bool) if isinstance(found, Variable) else found


def equals(trace: Trace, left: Any, right: Any) -> Any:
    """Whether two values are equal, as a bool or a bool of the Program."""
    return trace.test_of(binary(trace, "eq", left, right))


def any_of(trace: Trace, holds: Callable[[Any], Any], items: Iterable[Any]) -> Any:
    """Whether something holds for one of some items of Python."""
    found: Any = False
    for item in items:
        found = trace.or_(found, lambda item=item: holds(item))  # type: ignore[misc]
        if found is True:
            return True
    return truth_value(trace, found)


def any_in(trace: Trace, holds: Callable[[Any], Any], length: Any) -> Any:
    """Whether something holds for one of the places of a list of a length."""

    def more(index: Any, found: Any) -> Any:
        return F.logical_and(truth_of(trace, index < length), F.logical_not(found))

    def iteration(index: Any, found: Any) -> Any:
        return index + 1, as_number(trace, truth_of(trace, holds(index)), bool)

    start = trace.tracer.number(False)
    names = "the place", "whether it is found"
    _, result = stage_while(trace, more, iteration, (0, start), names)
    if isinstance(result, Variable):
        result.number = bool
    return result


def value_at(trace: Trace, content: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """`content[key]` for a traced key; a default is called where there is none."""
    keys = list(content)

    def pick(place: int) -> Any:
        if place == len(keys):
            if default is None:
                raise KeyError(key)
            return default()
        value = content[keys[place]]
        here = is_entry(trace, keys[place], value, key)
        return trace.if_exp(here, lambda: known(trace, value), lambda: pick(place + 1))

    return pick(0)


def compare(trace: Trace, name: str, left: Any, right: Any) -> Any:
    """Two containers of Python, element by element."""
    if name in ("eq", "ne"):
        same = _is_same(trace, left, right)
        if isinstance(same, bool):
            return same is (name == "eq")
        result = same if name == "eq" else F.logical_not(same)
        result.number = bool
        return result
    lengths = len(left), len(right)
    return _in_order(trace, name, list(zip(left, right, strict=False)), lengths)


def _in_order(trace: Trace, name: str, pairs: list[Any], lengths: tuple[int, int]) -> Any:
    """The comparison of the first two that differ; if none do, of the lengths."""
    for place, (a, b) in enumerate(pairs):
        same = True if a is b else map_cases(trace, partial(_is_level, trace, name), a, b)
        if same is True:
            continue
        # As Python does, ask only the first pair that differs for its order: others may have none.
        if same is False:
            return binary(trace, name, a, b)
        rest = pairs[place + 1 :]
        equal = lambda: _in_order(trace, name, rest, lengths)  # noqa: B023, E731  called here
        differ = lambda: binary(trace, name, a, b)  # noqa: B023, E731
        return stage_if(trace, same, equal, differ, (), "a comparison", of_cases=True)[0]
    return binary(trace, name, *lengths)


def _is_level(trace: Trace, name: str, left: Any, right: Any) -> Any:
    """Whether two are equal that are put in order; TypeError of objects that have none."""
    methods = [of_class(trace, type(left), one) for one in ("__eq__", *BINARY[name][1:])]
    is_known = left is right or None not in (trace.locations.of(left), trace.locations.of(right))
    is_bare = methods[0] is object.__eq__ and not any(map(is_users, methods))
    if is_bare and not is_known and _may_be_one(trace, left, right):
        raise TypeError(str(_undecided("eq", "objects")))
    return equals(trace, left, right)


def _is_same(trace: Trace, left: Any, right: Any) -> Any:
    """Whether two containers are equal: dicts of any class, others of one."""
    if isinstance(left, set):
        return left == right
    are_dicts = isinstance(left, dict) and isinstance(right, dict)
    are_tuples = isinstance(left, tuple) and isinstance(right, tuple)
    if not (are_dicts or are_tuples or type(left) is type(right)) or len(left) != len(right):
        return False
    # The order of two dicts counts where both are ordered ones.
    are_ordered = isinstance(left, OrderedDict) and isinstance(right, OrderedDict)
    pairs: Iterable[tuple[Any, Any]]
    if not are_dicts:
        pairs = zip(left, right, strict=True)
    elif left.keys() != right.keys() or (are_ordered and list(left) != list(right)):
        return False
    else:
        pairs = [(left[key], right[key]) for key in left]
    same: Any = True
    for a, b in pairs:
        if a is not b and same is not False:
            same = _both(same, equals(trace, a, b))
    return same


def _both(left: Any, right: Any) -> Any:
    if left is True or right is False:
        return right
    return left if right is True else F.logical_and(left, right)
