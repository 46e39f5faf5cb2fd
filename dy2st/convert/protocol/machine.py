"""The trace with all that the traced form calls bound to it.

What plain Python does most often is answered at once, by short ways: each asks only for exact types
of Python, and for objects that the trace has nothing to say of: what is not in `watched` holds just
what Python has of it. All else goes the long way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

from dy2st.convert import dy2static
from dy2st.convert import kinds as _rows  # noqa: F401  registers the rows
from dy2st.convert.aliases import Locations
from dy2st.convert.call_context import CallContext
from dy2st.convert.kinds.table import FUNCTIONS, say_method_misfit, say_misfit
from dy2st.convert.kinds.tensors import note_change
from dy2st.convert.protocol import (
    calls,
    generators,
    ifelse,
    iteration,
    names,
    natives,
    operators,
    places,
    try_with,
)
from dy2st.convert.record import Record
from dy2st.convert.stage import branch, checks
from dy2st.convert.stage.checks import has_union
from dy2st.convert.trace import MISSING, Trace, of_class
from dy2st.convert.types import info
from dy2st.convert.values.special import Union
from dy2st_runtime.ir import Tracer, Variable

P = ParamSpec("P")
R = TypeVar("R")


def bind(function: Callable[Concatenate[Trace, P], R], trace: Trace) -> Callable[P, R]:
    """The function of a trace."""
    return partial(function, trace)


class Machine(Trace):
    """A Trace whose attributes are the functions that a traced form calls."""

    def __init__(
        self,
        tracer: Tracer,
        record: Record | None = None,
        call_context: CallContext | None = None,
        locations: Locations | None = None,
    ):
        """Bind the protocol."""
        super().__init__(tracer, record, call_context, locations)
        tracer.host = self
        self.carry_check = bind(checks.carry_check, self)
        self.check_sizes = bind(checks.check_sizes, self)
        self.check_operator = bind(checks.check_operator, self)
        self.explain = bind(calls.explain, self)
        self.before_changed = bind(note_change, self)
        self.glob = bind(names.glob, self)
        self.set_glob = bind(names.set_glob, self)
        self.del_glob = bind(names.del_glob, self)
        self.imported = bind(names.imported, self)
        self.new_cell = bind(names.new_cell, self)
        self.cell = bind(names.cell, self)
        self.local_cell = bind(names.local_cell, self)
        self.set_cell = bind(names.set_cell, self)
        self.del_cell = bind(names.del_cell, self)
        self.attr = bind(places.attr, self)
        self.set_attr = bind(places.set_attr, self)
        self.del_attr = bind(places.del_attr, self)
        self.item = bind(places.item, self)
        self.set_item = bind(places.set_item, self)
        self.del_item = bind(places.del_item, self)
        self.not_ = bind(ifelse.not_, self)
        self.is_ = bind(operators.is_, self)
        self.is_not = bind(operators.is_not, self)
        self.in_ = bind(operators.in_, self)
        self.not_in = bind(operators.not_in, self)
        self.truth = bind(ifelse.truth, self)
        self.star = bind(iteration.star, self)
        self.double_star = bind(iteration.double_star, self)
        self.spread_star = bind(iteration.spread_star, self)
        self.spread_double_star = bind(iteration.spread_double_star, self)
        self.rest = bind(iteration.rest, self)
        self.gather = bind(names.gather, self)
        self.gather_dict = bind(names.gather_dict, self)
        self.text = bind(names.text, self)
        self.unpack = bind(iteration.unpack, self)
        self.unpack_star = bind(iteration.unpack_star, self)
        self.make_function = bind(names.make_function, self)
        self.make_class = bind(names.make_class, self)
        self.make_generic = bind(names.make_generic, self)
        self.push_all = bind(generators.push_all, self)
        self.iterate = bind(iteration.iterate, self)
        self.manager = bind(try_with.manager, self)
        self.handling = bind(try_with.handling, self)
        self.raised = bind(try_with.raised, self)
        self._bind_statements()
        self._bind_what_rows_call()
        vars(self).update({name: getattr(dy2static, name) for name in dy2static.STATEMENTS})
        for name in operators.UNARY:
            vars(self)[name] = partial(operators.unary, self, name)
        # At last: they stand in place of the long ways of the same names.
        vars(self).update(short_ways(self))

    def _bind_statements(self) -> None:
        self.call = bind(calls.call, self)
        self.method = bind(places.method, self)
        self.call_spread = bind(iteration.call_spread, self)
        self.bound = bind(ifelse.bound, self)
        self.and_ = bind(ifelse.and_, self)
        self.or_ = bind(ifelse.or_, self)
        self.if_exp = bind(ifelse.if_exp, self)
        self.if_ = bind(ifelse.if_, self)
        self.stage_if = bind(branch.stage_if, self)
        self.while_ = bind(iteration.while_, self)
        self.for_ = bind(iteration.for_, self)
        self.try_ = bind(try_with.try_, self)
        self.with_ = bind(try_with.with_, self)
        self.swallowed = bind(try_with.swallowed, self)
        self.assert_ = bind(ifelse.assert_, self)
        self.match = bind(ifelse.match, self)
        self.generate = bind(generators.generate, self)
        self.is_plain = bind(ifelse.is_plain, self)

    def _bind_what_rows_call(self) -> None:
        # Rows and stages stand below the modules that these are from, so they cannot import them.
        self.plain_attr = bind(places.plain_attr, self)
        self.set_plain = bind(places.set_plain, self)
        self.set_own = bind(places.set_own, self)
        self.del_own = bind(places.del_own, self)
        self.compare = bind(natives.compare, self)
        self.equals = bind(natives.equals, self)
        self.any_of = bind(natives.any_of, self)
        self.any_in = bind(natives.any_in, self)
        self.truth_value = bind(natives.truth_value, self)
        self.test_of = bind(ifelse.test_of, self)
        self.dict_of = bind(natives.dict_of, self)
        self.value_at = bind(natives.value_at, self)
        self.place_of_index = bind(natives.place_of_index, self)
        self.write_back = bind(natives.write_back, self)
        self.item_at = bind(natives.item_at, self)
        self.append_to = bind(natives.append_to, self)
        self.put_at = bind(natives.put_at, self)
        self.call_library = bind(calls.call_library, self)
        self.exported = bind(natives.exported, self)
        self.native = bind(natives.native, self)
        self.seen_now = bind(natives.seen_now, self)
        self.with_overlay_materialised = bind(natives.with_overlay_materialised, self)
        self.note_class = bind(natives.note_class, self)
        self.note_class_made = bind(names.note_class_made, self)
        self.note_fields = bind(natives.note_fields, self)
        self.note_reached = bind(natives.note_reached, self)
        self.known = bind(branch.known, self)
        self.map_cases = bind(checks.map_cases, self)
        self.listed = bind(iteration.listed, self)
        self.items_of = bind(iteration.items_of, self)
        self.gathered = bind(iteration.gathered, self)
        self.first_of = bind(generators.first_of, self)
        self.source_of = bind(generators.source_of, self)
        self.consumed = bind(generators.consumed, self)
        self.is_decided = bind(generators.is_decided, self)
        self.push_loop = bind(generators.push_loop, self)


Way = Callable[..., Any]


def short_ways(trace: Trace) -> dict[str, Way]:
    """The functions of the protocol that have one, bound to a trace."""
    found = {way.__name__: way for make in _MAKERS for way in make(trace)}
    for name, (plain, *_) in operators.BINARY.items():
        found[name] = _operator(plain, partial(operators.binary, trace, name))
    for name, plain_name in operators.IN_PLACE.items():
        plain = operators.BINARY[plain_name][0]
        found[name] = _operator(plain, partial(operators.in_place, trace, plain_name), True)
    return found


def _operator(plain: Way, other: Way, is_in_place: bool = False) -> Way:
    def operator(left: Any, right: Any) -> Any:
        kinds = type(left), type(right)
        if info(kinds[0]).is_plain and info(kinds[1]).is_plain:
            return plain(left, right)
        if (
            not is_in_place
            and Variable in kinds
            and kinds[kinds[0] is Variable] in (Variable, int, float)
        ):
            return operators.still_numpy(plain(left, right), left, right)
        return other(left, right)

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
            try:
                return row(trace, owner, *args, **kwargs)
            except TypeError as error:
                say_method_misfit(error, owner, name, args, kwargs)
                raise
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
