"""len, list and tuple of what holds items, and its special methods, called by their names."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from dy2st.convert.kinds import entries
from dy2st.convert.kinds.code_texts import as_codes, is_of_codes, length_of_text
from dy2st.convert.kinds.lists import length_of, tuple_of
from dy2st.convert.kinds.scalars import is_traced
from dy2st.convert.kinds.table import function_row, method_row
from dy2st.convert.kinds.views import length
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.types import info, kinds_of
from dy2st.convert.values.special import Indexed, SymbolicSequence, Union
from dy2st_runtime.ir import Tensor


@function_row(len)
def _len(trace: Trace, value: Any) -> Any:
    kind = type(value)
    if info(kind).is_container:
        content = trace.content(value)
        if type(content) is SymbolicSequence:
            return length_of(trace, content)
        trace.read_length(value)
        is_known = not isinstance(content, dict) or entries.is_sure(trace, content)
        return len(content) if is_known else entries.length(trace, content)
    if kind is SymbolicSequence:
        return length_of(trace, value)
    if isinstance(value, Tensor):
        return value.shape[0] if value.ndim else len(value)
    if info(kind).is_view:
        return length(trace, value)
    own = own_method(trace, value, "__len__")
    if own is not None:
        size = trace.call(own, value)
        if type(size) is int and size < 0:
            raise ValueError("__len__() should return >= 0")
        return size
    if kind is Indexed:
        return value.length
    value = as_codes(trace, value)
    if is_of_codes(value):
        return length_of_text(trace, value)
    return len(trace.native(value))


@function_row(list)
def _list(trace: Trace, iterable: Any = ()) -> Any:
    return _filled(trace, [], trace.listed(iterable))


def _filled(trace: Trace, owner: Any, content: Any) -> Any:
    made = trace.made(owner)
    if type(content) is SymbolicSequence:
        trace.call(made.extend, content)
    else:
        made.extend(content)
    return made


@function_row(tuple)
def _tuple(trace: Trace, iterable: Any = ()) -> Any:
    if type(iterable) is tuple:
        return iterable
    content = trace.listed(iterable)
    if type(content) is SymbolicSequence:
        return tuple_of(trace, content)
    return tuple(content)


@function_row(deque)
def _deque(trace: Trace, iterable: Any = (), maxlen: Any = None) -> Any:
    return _filled(trace, deque(maxlen=maxlen), trace.listed(iterable))


_SETS = ("set", "keys", "values")
_OF_ONE: dict[str, Callable[[Any], Any]] = {
    **{"__iter__": iter, "__reversed__": reversed, "__repr__": repr, "__str__": str},
}
_OF_TWO = {
    **{"__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt"},
    **{"__ge__": "ge", "__add__": "add", "__or__": "or_bits", "__and__": "and_bits"},
    **{"__sub__": "sub", "__xor__": "xor"},
}
_OF_ANY = {
    **{"__mul__": "mul", "__ior__": "ior_bits", "__iand__": "iand_bits"},
    **{"__isub__": "isub", "__ixor__": "ixor"},
}


def _are_alike(kind: type, other: type) -> bool:
    """Whether an operator of a class of Python's takes an object of another one."""
    families = info(kind).family, info(other).base.family
    is_any = (families[0] in _SETS and families[1] in _SETS) or families == ("dict", "dict")
    return is_any or issubclass(other, kind)


def _of_two(name: str, operator: str) -> Callable[..., Any]:
    def row(trace: Trace, owner: Any, other: Any) -> Any:
        is_one = is_traced(other) or type(other) in (Union, SymbolicSequence)
        if is_one or _are_alike(type(owner), type(other)):
            return getattr(trace, operator)(owner, other)
        return getattr(owner, name)(other)  # NotImplemented, or Python's own error

    return row


@method_row("list", "tuple", name="__contains__")
def _contains(trace: Trace, owner: Any, item: Any) -> Any:
    return trace.in_(item, owner)


@method_row("list", "tuple", "set", "dict", name="__len__")
def _len_of(trace: Trace, owner: Any) -> Any:
    return trace.call(len, owner)


_ROWS: dict[str, Callable[..., Any]] = {
    name: lambda trace, owner, *, function=function: trace.call(function, owner)
    for name, function in _OF_ONE.items()
}
_ROWS |= {name: _of_two(name, operator) for name, operator in _OF_TWO.items()}
_ROWS |= {
    name: lambda trace, owner, other, *, operator=operator: getattr(trace, operator)(owner, other)
    for name, operator in _OF_ANY.items()
}
for _kind in kinds_of("list", "tuple", "dict", *_SETS):
    # A row for each method of the tables that the class has.
    for _name, _row in _ROWS.items():
        if hasattr(_kind, _name):
            method_row(_kind, name=_name)(_row)
