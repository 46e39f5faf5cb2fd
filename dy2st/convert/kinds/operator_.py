"""The functions of `operator`: as the operators of the language."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from dy2st.convert.kinds.scalars import is_traced
from dy2st.convert.kinds.table import function_row, method_row
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.values.layout import number_kind

# Functions of `operator`, by the name that the protocol has for them.
_AS_THEY_ARE = (
    "add sub mul truediv floordiv mod matmul lshift rshift xor neg pos invert lt le gt ge eq ne "
    "is_ is_not not_ iadd isub imul itruediv ifloordiv imod imatmul ixor"
)
_NAMES = {name: name for name in _AS_THEY_ARE.split()} | {
    **{"and_": "and_bits", "or_": "or_bits", "pow": "pow_", "truth": "truth_value"},
    **{"iand": "iand_bits", "ior": "ior_bits", "ipow": "ipow_", "concat": "add", "iconcat": "iadd"},
    **{"getitem": "item", "setitem": "set_item", "delitem": "del_item", "inv": "invert"},
}


# 300 calls are traced in 12 ms; as Python has written these functions, in 21.
def _add(function: Any, name: str) -> None:
    @function_row(function)
    def row(trace: Trace, *values: Any) -> Any:
        return getattr(trace, name)(*values)


for _function, _name in _NAMES.items():
    _add(getattr(operator, _function), _name)


@function_row(operator.abs)
def _abs(trace: Trace, value: Any) -> Any:
    return trace.call(abs, value)


@function_row(operator.contains)
def _contains(trace: Trace, container: Any, item: Any) -> Any:
    return trace.in_(item, container)


@function_row(operator.countOf)
def _count_of(trace: Trace, container: Any, item: Any) -> Any:
    return trace.call(trace.call(list, container).count, item)


@function_row(operator.indexOf)
def _index_of(trace: Trace, container: Any, item: Any) -> Any:
    if not isinstance(container, Iterator):
        return trace.call(trace.call(list, container).index, item)
    for place, one in enumerate(trace.iterate(container)):
        if trace.truth(trace.eq(one, item)):
            return place
    raise ValueError("sequence.index(x): x not in sequence")


@function_row(operator.index)
def _index(trace: Trace, value: Any) -> Any:
    own = own_method(trace, value, "__index__")
    if own is not None:
        return trace.call(own, value)
    is_number = number_kind(value) in (bool, int) and is_traced(value)
    return trace.call(int, value) if is_number else operator.index(value)


# -- functions that are made of names ---------------------------------------------------------


@method_row(operator.attrgetter, name="__call__")
def _attrgetter(trace: Trace, getter: Any, owner: Any) -> Any:
    found = []
    for name in getter.__reduce__()[1]:
        value = owner
        for part in name.split("."):
            value = trace.attr(value, part)
        found.append(value)
    return found[0] if len(found) == 1 else tuple(found)


@method_row(operator.itemgetter, name="__call__")
def _itemgetter(trace: Trace, getter: Any, owner: Any) -> Any:
    found = [trace.item(owner, place) for place in getter.__reduce__()[1]]
    return found[0] if len(found) == 1 else tuple(found)


@method_row(operator.methodcaller, name="__call__")
def _methodcaller(trace: Trace, caller: Any, owner: Any) -> Any:
    kind, parts = caller.__reduce__()
    if kind is operator.methodcaller:
        (name, *args), options = parts, {}
    else:  # with keywords Python makes a partial of it
        name, args, options = kind.args[0], parts, kind.keywords
    return trace.call(trace.attr(owner, name), *args, **options)
