"""The trace with all that the traced form calls bound to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from dy2st.convert import dy2static
from dy2st.convert import kinds as _rows  # noqa: F401  registers the rows
from dy2st.convert.aliases import Locations
from dy2st.convert.call_context import CallContext
from dy2st.convert.kinds.layers import note_change
from dy2st.convert.protocol import (
    attributes,
    calls,
    displays,
    generators,
    ifelse,
    items,
    iteration,
    loops,
    match,
    names,
    natives,
    operators,
    star_arguments,
    try_with,
    untraced_functions,
)
from dy2st.convert.protocol.fast_paths import short_ways
from dy2st.convert.record import Record
from dy2st.convert.stage import cases, checks
from dy2st.convert.trace import Trace
from dy2st_runtime.ir import Tracer

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
        self.explain = bind(untraced_functions.explain, self)
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
        self.attr = bind(attributes.attr, self)
        self.set_attr = bind(attributes.set_attr, self)
        self.del_attr = bind(attributes.del_attr, self)
        self.item = bind(items.item, self)
        self.set_item = bind(items.set_item, self)
        self.del_item = bind(items.del_item, self)
        self.not_ = bind(ifelse.not_, self)
        self.is_ = bind(operators.is_, self)
        self.is_not = bind(operators.is_not, self)
        self.in_ = bind(operators.in_, self)
        self.not_in = bind(operators.not_in, self)
        self.truth = bind(ifelse.truth, self)
        self.star = bind(iteration.star, self)
        self.double_star = bind(iteration.double_star, self)
        self.spread_star = bind(star_arguments.spread_star, self)
        self.spread_double_star = bind(iteration.spread_double_star, self)
        self.rest = bind(star_arguments.rest, self)
        self.gather = bind(displays.gather, self)
        self.gather_dict = bind(displays.gather_dict, self)
        self.text = bind(displays.text, self)
        self.unpack = bind(iteration.unpack, self)
        self.unpack_star = bind(iteration.unpack_star, self)
        self.make_function = bind(displays.make_function, self)
        self.make_class = bind(displays.make_class, self)
        self.make_generic = bind(displays.make_generic, self)
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
        self.method = bind(attributes.method, self)
        self.call_spread = bind(star_arguments.call_spread, self)
        self.bound = bind(ifelse.bound, self)
        self.and_ = bind(ifelse.and_, self)
        self.or_ = bind(ifelse.or_, self)
        self.if_exp = bind(ifelse.if_exp, self)
        self.if_ = bind(ifelse.if_, self)
        self.while_ = bind(loops.while_, self)
        self.for_ = bind(loops.for_, self)
        self.try_ = bind(try_with.try_, self)
        self.with_ = bind(try_with.with_, self)
        self.swallowed = bind(try_with.swallowed, self)
        self.assert_ = bind(ifelse.assert_, self)
        self.match = bind(match.match, self)
        self.generate = bind(generators.generate, self)
        self.is_plain = bind(ifelse.is_plain, self)

    def _bind_what_rows_call(self) -> None:
        # Rows and stages stand below the modules that these are from, so they cannot import them.
        self.plain_attr = bind(attributes.plain_attr, self)
        self.set_plain = bind(attributes.set_plain, self)
        self.set_own = bind(attributes.set_own, self)
        self.del_own = bind(attributes.del_own, self)
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
        self.note_class_made = bind(displays.note_class_made, self)
        self.note_fields = bind(natives.note_fields, self)
        self.note_reached = bind(natives.note_reached, self)
        self.known = bind(cases.known, self)
        self.map_cases = bind(checks.map_cases, self)
        self.listed = bind(iteration.listed, self)
        self.items_of = bind(iteration.items_of, self)
        self.gathered = bind(iteration.gathered, self)
        self.first_of = bind(generators.first_of, self)
        self.source_of = bind(generators.source_of, self)
        self.consumed = bind(generators.consumed, self)
        self.is_decided = bind(generators.is_decided, self)
        self.push_loop = bind(generators.push_loop, self)
