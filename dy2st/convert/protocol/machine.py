"""The trace with all that the traced form calls bound to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from dy2st.convert import kinds as _rows  # noqa: F401  registers the rows
from dy2st.convert.call_context import CallContext
from dy2st.convert.protocol import (
    attributes,
    calls,
    control,
    displays,
    generators,
    items,
    iteration,
    manage,
    matching,
    names,
    natives,
    operators,
    spreading,
    unconverted,
    unions,
)
from dy2st.convert.protocol.fast_paths import short_ways
from dy2st.convert.record import Record
from dy2st.convert.stage.checks import carry_check, check_operator, check_sizes
from dy2st.convert.trace import Trace
from dy2st_runtime.ir import Tracer

P = ParamSpec("P")
R = TypeVar("R")


def bound(function: Callable[Concatenate[Trace, P], R], trace: Trace) -> Callable[P, R]:
    """The function of a trace."""
    return partial(function, trace)


class Machine(Trace):
    """A Trace whose attributes are the functions that a traced form calls."""

    def __init__(
        self, tracer: Tracer, record: Record | None = None, call_context: CallContext | None = None
    ):
        """Bind the protocol."""
        super().__init__(tracer, record, call_context)
        tracer.on_check = partial(carry_check, self)
        tracer.guard.on_required = partial(check_sizes, self)
        tracer.guard.on_failing = partial(check_operator, self)
        tracer.call = partial(calls.call, self)
        tracer.outside = self.outside
        tracer.explain = partial(unconverted.explain, self)
        self._bind_what_forms_call()
        self._bind_what_rows_call()
        for name in operators.UNARY:
            vars(self)[name] = partial(operators.unary, self, name)
        vars(self).update(short_ways(self))

    def _bind_what_forms_call(self) -> None:
        self.glob = bound(names.glob, self)
        self.set_glob = bound(names.set_glob, self)
        self.del_glob = bound(names.del_glob, self)
        self.imported = bound(names.imported, self)
        self.new_cell = bound(names.new_cell, self)
        self.cell = bound(names.cell, self)
        self.local_cell = bound(names.local_cell, self)
        self.set_cell = bound(names.set_cell, self)
        self.del_cell = bound(names.del_cell, self)
        self.bound = bound(control.bound, self)
        self.attr = bound(attributes.attr, self)
        self.set_attr = bound(attributes.set_attr, self)
        self.del_attr = bound(attributes.del_attr, self)
        self.item = bound(items.item, self)
        self.set_item = bound(items.set_item, self)
        self.del_item = bound(items.del_item, self)
        self.not_ = bound(control.not_, self)
        self.is_ = bound(operators.is_, self)
        self.is_not = bound(operators.is_not, self)
        self.in_ = bound(operators.in_, self)
        self.not_in = bound(operators.not_in, self)
        self.and_ = bound(control.and_, self)
        self.or_ = bound(control.or_, self)
        self.if_exp = bound(control.if_exp, self)
        self.truth = bound(control.truth, self)
        self.call = bound(calls.call, self)
        self.method = bound(attributes.method, self)
        self.star = bound(iteration.star, self)
        self.double_star = bound(iteration.double_star, self)
        self.call_spread = bound(spreading.call_spread, self)
        self.spread_star = bound(spreading.spread_star, self)
        self.spread_double_star = bound(iteration.spread_double_star, self)
        self.rest = bound(spreading.rest, self)
        self.gather = bound(displays.gather, self)
        self.gather_dict = bound(displays.gather_dict, self)
        self.text = bound(displays.text, self)
        self.unpack = bound(iteration.unpack, self)
        self.unpack_star = bound(iteration.unpack_star, self)
        self.make_function = bound(displays.make_function, self)
        self.make_class = bound(displays.make_class, self)
        self.make_generic = bound(displays.make_generic, self)
        self.generate = bound(generators.generate, self)
        self.push_all = bound(generators.push_all, self)
        self.is_plain = bound(control.is_plain, self)
        self.iterate = bound(iteration.iterate, self)
        self.if_ = bound(control.if_, self)
        self.while_ = bound(control.while_, self)
        self.for_ = bound(iteration.for_, self)
        self.try_ = bound(manage.try_, self)
        self.with_ = bound(manage.with_, self)
        self.manager = bound(manage.manager, self)
        self.handling = bound(manage.handling, self)
        self.swallowed = bound(manage.swallowed, self)
        self.raised = bound(manage.raised, self)
        self.assert_ = bound(control.assert_, self)
        self.match = bound(matching.match, self)

    def _bind_what_rows_call(self) -> None:
        self.plain_attr = bound(attributes.plain_attr, self)
        self.set_plain = bound(attributes.set_plain, self)
        self.set_own = bound(attributes.set_own, self)
        self.del_own = bound(attributes.del_own, self)
        self.compare = bound(natives.compare, self)
        self.equals = bound(natives.equals, self)
        self.is_among = bound(natives.is_among, self)
        self.any_of = bound(natives.any_of, self)
        self.any_in = bound(natives.any_in, self)
        self.truth_value = bound(natives.truth_value, self)
        self.test_of = bound(control.test_of, self)
        self.dict_of = bound(natives.dict_of, self)
        self.value_at = bound(natives.value_at, self)
        self.place_of_index = bound(natives.place_of_index, self)
        self.write_back = bound(natives.write_back, self)
        self.call_library = bound(calls.call_library, self)
        self.exported = bound(natives.exported, self)
        self.native = bound(natives.native, self)
        self.seen_now = bound(natives.seen_now, self)
        self.with_overlay_materialised = bound(natives.with_overlay_materialised, self)
        self.note_class = bound(natives.note_class, self)
        self.note_class_made = bound(displays.note_class_made, self)
        self.note_fields = bound(natives.note_fields, self)
        self.note_reached = bound(natives.note_reached, self)
        self.known = bound(unions.known, self)
        self.map_cases = bound(unions.map_cases, self)
        self.listed = bound(iteration.listed, self)
        self.items_of = bound(iteration.items_of, self)
        self.gathered = bound(iteration.gathered, self)
        self.enumerated = bound(generators.enumerated, self)
        self.filtered = bound(generators.filtered, self)
        self.mapped = bound(generators.mapped, self)
        self.first_of = bound(generators.first_of, self)
        self.source_of = bound(generators.source_of, self)
        self.consumed = bound(generators.consumed, self)
        self.is_decided = bound(generators.is_decided, self)
        self.push_loop = bound(generators.push_loop, self)
