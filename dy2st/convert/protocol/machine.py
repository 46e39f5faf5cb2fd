"""The trace with all that the traced form calls bound to it.

What plain Python does most often is answered at once, by short ways: each asks only for exact types
of Python, and for objects that the trace has nothing to say of: what is not in `watched` holds just
what Python has of it. All else goes the long way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partialmethod
from types import FunctionType
from typing import Any

from dy2st.convert import dy2static
from dy2st.convert import kinds as _rows  # noqa: F401  registers the rows
from dy2st.convert.kinds import lists
from dy2st.convert.kinds.table import FUNCTIONS, say_misfit
from dy2st.convert.kinds.tensors import note_change, stored
from dy2st.convert.protocol import (
    calls,
    ifelse,
    iteration,
    names,
    natives,
    operators,
    places,
    try_with,
)
from dy2st.convert.stage import branch, checks
from dy2st.convert.stage.checks import has_union
from dy2st.convert.trace import Trace, of_class
from dy2st.convert.types import info
from dy2st.convert.values.special import MISSING, Union
from dy2st_runtime.ir import Tracer, Variable
from dy2st_runtime.ir.tracing.numpy_values import still_numpy

# Each name of the vocabulary is that of a function in one of them. Rows and stages stand below most
# of these, so they cannot import them.
_MODULES: tuple[Any, ...] = (
    *(branch, calls, checks, ifelse, iteration, lists, names),
    *(natives, operators, places, try_with),
)


class Machine(Trace):
    """A Trace whose attributes are the functions that a traced form calls."""

    def __init__(self, tracer: Tracer, *others: Any):
        """Bind the protocol; `others` are what a Trace takes."""
        super().__init__(tracer, *others)
        tracer.host = self
        # They stand in place of the long ways of the same names.
        vars(self).update({way.__name__: way for make in _MAKERS for way in make(self)})

    before_changed, stored = note_change, stored


Way = Callable[..., Any]


def _operator(plain: Way, name: str, other: Way, is_in_place: bool = False) -> Way:
    def operator(trace: Trace, left: Any, right: Any) -> Any:
        kinds = type(left), type(right)
        if info(kinds[0]).is_plain and info(kinds[1]).is_plain:
            return plain(left, right)
        if (
            not is_in_place
            and Variable in kinds
            and kinds[kinds[0] is Variable] in (Variable, int, float)
        ):
            if getattr(left, "is_numpy", False) or getattr(right, "is_numpy", False):
                return still_numpy(plain(left, right), left, right)
            return plain(left, right)
        return other(trace, name, left, right)

    return operator


def _items(trace: Trace) -> Sequence[Way]:
    watched, born = trace.watched, trace.state.born

    def item(owner: Any, index: Any) -> Any:
        # Nothing is known of what is not watched: what Python says of it is right.
        if id(owner) not in watched:
            if type(owner) is list and type(index) is int:
                return owner[index]
            if type(owner) is dict and info(type(index)).is_plain:
                value = owner.get(index, MISSING)
                if value is not MISSING and type(value) is not Union:
                    return value
        return places.item(trace, owner, index)

    def set_item(owner: Any, index: Any, value: Any) -> None:
        is_entry = (type(owner) is list and type(index) is int) or (
            type(owner) is dict
            and info(type(index)).is_plain
            and type(owner.get(index)) is not Union
        )
        if is_entry and id(owner) not in watched and born.is_set_here(id(owner)):
            owner[index] = value
        else:
            places.set_item(trace, owner, index, value)

    return item, set_item


def _names(trace: Trace) -> Sequence[Way]:
    fixed = trace.fixed

    def glob(function: FunctionType, name: str) -> Any:
        held = function.__globals__
        known = fixed.get((id(held), name))
        # Code that is not traced may have set the global meanwhile.
        if known is not None and held.get(name, MISSING) is known[0]:
            return known[1]
        value = names.glob(trace, function, name)
        if not trace.changes_names:
            fixed[id(held), name] = held.get(name, MISSING), value
        return value

    return (glob,)


def _attributes(trace: Trace) -> Sequence[Way]:
    watched, born, fixed, forms = trace.watched, trace.state.born, trace.fixed, trace.forms

    def attr(owner: Any, name: str) -> Any:
        # `fixed` itself stands for a name that was not looked up yet.
        found = fixed.get((type(owner), name), fixed)
        if found is not None and id(owner) not in watched:
            if found is fixed:
                found = _in_class(trace, type(owner), name)
            if found is not None and id(owner.__dict__) not in watched:
                value = owner.__dict__.get(name, MISSING)
                if value is not MISSING and type(value) is not Union:
                    return value
        return places.attr(trace, owner, name)

    def set_attr(owner: Any, name: str, value: Any) -> None:
        is_plain = fixed.get((type(owner), name)) is MISSING and id(owner.__dict__) not in watched
        if is_plain and id(owner) not in watched and born.is_set_here(id(owner)):
            setattr(owner, name, value)
        else:
            places.set_attr(trace, owner, name, value)

    def method(owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        row = info(type(owner)).methods.get(name)
        if row is not None:
            return calls.call_method_row(trace, row, owner, name, args, kwargs)
        function = fixed.get((type(owner), name), fixed)
        if function is fixed:
            function = _in_class(trace, type(owner), name)
        if type(function) is FunctionType and id(owner) not in watched:
            form = forms.get(id(function))
            if form is not None and name not in owner.__dict__:
                return form[1](owner, *args, **kwargs)
        return places.method(trace, owner, name, *args, **kwargs)

    return attr, set_attr, method


def _in_class(trace: Trace, kind: type, name: str) -> Any:
    """What the class of a plain object has under a name: MISSING, or a function; None of others."""
    # Once the code changes names of classes, none of their answers stays.
    if trace.changes_names:
        return None
    found = None
    # Whether objects of a class hold their attributes in a dict, as Python has it
    own: Any = kind
    if (
        bool(kind.__dictoffset__)
        and info(kind).family == "object"
        and not any(id(one) in trace.own for one in kind.__mro__)
        and own.__setattr__ is object.__setattr__
        and own.__getattribute__ is object.__getattribute__
    ):
        found = of_class(trace, kind, name)
        found = found if found is MISSING or type(found) is FunctionType else None
    trace.fixed[kind, name] = found
    return found


def _calls(trace: Trace) -> Sequence[Way]:
    forms = trace.forms
    rows: dict[int, Way] = {}  # of the functions that were called before

    def call(function: Any, /, *args: Any, **kwargs: Any) -> Any:
        form = forms.get(id(function))
        if form is not None:
            return form[1](*args, **kwargs)
        row = rows.get(id(function))
        if row is not None and not has_union(args):
            try:
                return row(trace, *args, **kwargs)
            except TypeError as error:
                say_misfit(error, function, args, kwargs)
                raise
        # From the second call on its row is found at once.
        if id(function) in FUNCTIONS:
            rows[id(function)] = FUNCTIONS[id(function)][1]
        if type(function) is FunctionType:
            return calls.callee(trace, function, args)(*args, **kwargs)
        return calls.call(trace, function, *args, **kwargs)

    return (call,)


_MAKERS = (_items, _names, _attributes, _calls)

for _module in _MODULES:
    for _name, _function in vars(_module).items():
        if _name in dy2static.VOCABULARY and _function.__module__ == _module.__name__:
            is_class = isinstance(_function, type)  # which would not be bound
            setattr(Machine, _name, partialmethod(_function) if is_class else _function)
for _name in dy2static.STATEMENTS:
    setattr(Machine, _name, staticmethod(getattr(dy2static, _name)))
for _name in operators.UNARY:
    setattr(Machine, _name, partialmethod(operators.unary, _name))
for _name, (_plain, *_) in operators.BINARY.items():
    setattr(Machine, _name, _operator(_plain, _name, operators.binary))
for _name, _of in operators.IN_PLACE.items():
    _plain = operators.BINARY[_of][0]
    setattr(Machine, _name, _operator(_plain, _of, operators.in_place, is_in_place=True))
