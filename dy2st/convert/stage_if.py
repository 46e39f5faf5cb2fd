"""A tensor-dependent `if` as the operator `cond`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st.convert.aliasing import note_handed_on
from dy2st.convert.asked import asked
from dy2st.convert.guards import bound_flag, is_guarded, passed_on
from dy2st.convert.joining import (
    describe,
    fits_number,
    is_joinable,
    is_number,
    number_kind,
    same_constant,
    same_layout,
    stand_in,
    to_variable,
)
from dy2st.convert.outer import Place, announcing, write
from dy2st.convert.regions import (
    AlwaysRaises,
    Region,
    copy_of,
    finish,
    has_changed,
    original_of,
    trace_region,
)
from dy2st.convert.undefined import Undefined
from dy2st_runtime.errors import BranchMismatch, Location
from dy2st_runtime.ir import (
    ArrayType,
    F,
    Tensor,
    Tracer,
    ValueType,
    Variable,
    current_tracer,
    user_location,
)
from dy2st_runtime.ir.facts import branch_condition
from dy2st_runtime.ir.join import facts_of_branches, join_types
from dy2st_runtime.ir.program import NumberKind
from dy2st_runtime.ir.structure import is_container
from dy2st_runtime.ops.control_flow import close_blocks


@dataclass
class _Slot:
    """One result of the `cond`: what each branch yields, and its type."""

    true: Variable
    false: Variable
    type: ValueType
    number: NumberKind | None = None
    result: Variable | None = None


class _Join:
    """Joins the results of two branches; the results of the `cond` come in later."""

    def __init__(self, tracer: Tracer, true: Region, false: Region, place: Location | None) -> None:
        self.tracer, self.true, self.false, self.place = tracer, true, false, place
        self.slots: list[_Slot] = []

    def join(self, name: str, left: Any, right: Any, guarded: bool) -> Callable[[], Any]:
        """What the variable is after the `if`; call the result once the `cond` is there."""
        if same_constant(left, right):
            return lambda: left
        if isinstance(left, Undefined) or isinstance(right, Undefined):
            return self._half_bound(name, left, right, guarded)
        if same_layout(left, right):
            return self._containers(name, left, right, guarded)
        if is_joinable(left) and is_joinable(right):
            slot = self._slot(name, left, right)
            return lambda: slot.result
        raise self._mismatch(name, left, right)

    def _containers(self, name: str, left: Any, right: Any, guarded: bool) -> Callable[[], Any]:
        keys = list(left) if isinstance(left, dict) else list(range(len(left)))
        entries = [self.join(f"{name}[{key!r}]", left[key], right[key], guarded) for key in keys]
        original = original_of(left, self.true)
        if original is not original_of(right, self.false):
            original = None

        def build() -> Any:
            values = [entry() for entry in entries]
            return _rebuilt(left, original, keys, values)

        return build

    def _slot(self, name: str, left: Any, right: Any) -> _Slot:
        for number, other in ((left, right), (right, left)):
            if is_number(number) and not is_number(other) and not fits_number(number, other):
                raise self._mismatch(name, left, right)
        with self.tracer.inside(self.true.block):
            true = to_variable(self.tracer, left, right)
        with self.tracer.inside(self.false.block):
            false = to_variable(self.tracer, right, left)
        kind: NumberKind | None = None
        if is_number(left) and is_number(right):
            kinds = [number_kind(left), number_kind(right)]
            kind = next(k for k in (float, int, bool) if k in kinds)
            true, false = self._as_number(true, false, kind)
        type = join_types(true.type, false.type, lambda _: self._mismatch(name, left, right))
        slot = _Slot(true, false, type, kind)
        self.slots.append(slot)
        return slot

    def _as_number(
        self, true: Variable, false: Variable, number: NumberKind
    ) -> tuple[Variable, Variable]:
        dtype = np.dtype({bool: "bool", int: "int64", float: "float64"}[number])
        converted = []
        for region, variable in ((self.true, true), (self.false, false)):
            with self.tracer.inside(region.block):
                same = variable.tensor_type.dtype == dtype
                converted.append(variable if same else F.cast(variable, dtype))
        return converted[0], converted[1]

    def _half_bound(self, name: str, left: Any, right: Any, guarded: bool) -> Callable[[], Any]:
        """Bound in one branch only: any value stands in, and reading it is checked."""
        bound, other = (right, self.true) if isinstance(left, Undefined) else (left, self.false)
        missing = left if isinstance(left, Undefined) else right
        if not is_joinable(bound):
            # Nothing can stand in for it: the variable counts as unbound, and says so when read.
            return lambda: bound if guarded else missing
        with self.tracer.inside(other.block):
            filler = stand_in(self.tracer, bound)
        pair = (filler, bound) if other is self.true else (bound, filler)
        slot = self._slot(name, *pair)
        if guarded:
            return lambda: slot.result
        flag = self._slot(f"whether {name} is bound", other is self.false, other is self.true)

        def guard() -> Any:
            assert slot.result is not None and flag.result is not None
            slot.result.guard = (flag.result, name)
            return slot.result

        return guard

    def _mismatch(self, name: str, left: Any, right: Any) -> BranchMismatch:
        return BranchMismatch(
            f"the variable `{name}` is {describe(left)} in one branch of the `if` and "
            f"{describe(right)} in the other",
            at=self.place,
            why="the condition is a tensor, so both branches are part of the Program and must "
            "give every variable one kind of value",
            hint=f"give `{name}` the same dtype, rank and structure in both branches, or decide "
            "on a Python value",
        )


def stage_branches(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    true_args: Sequence[Any],
    false_args: Sequence[Any],
    names: Sequence[str],
    guarded: frozenset[str] = frozenset(),
    places: Sequence[Place] = (),
) -> tuple[Any, ...]:
    """Trace both branches, join what they give each name, and append a `cond`.

    The branches return a tuple, one value a name; so does this. `places` are what
    they assign beside.
    """
    tracer = current_tracer()
    assert tracer is not None, "a traced condition outside of a trace"
    condition = truth(tracer, pred)
    holds, fails = branch_condition(condition, True), branch_condition(condition, False)
    true = trace_region(tracer, announcing(true_fn, places), true_args, holds=holds)
    false = trace_region(tracer, announcing(false_fn, places), false_args, holds=fails)
    guarded = _without_raised(true, false, names, guarded)
    join = _Join(tracer, true, false, user_location())
    pending = [
        _join_bound(join, name, left, right, name in guarded)
        for name, left, right in zip(names, true.results, false.results, strict=True)
    ]
    pending_places = _join_places(join)
    pending_arguments = _join_arguments(join)
    changed = [_join_state(join, key) for key in {**true.changed, **false.changed}]
    _append_cond(join, condition)
    if true.raised and false.raised:
        raise AlwaysRaises
    for tensor, slot in changed:
        assert slot.result is not None
        tracer.assign(tensor, slot.result)
    for write_back in pending_arguments:
        write_back()
    for place, joined in pending_places:
        write(place, joined())
    return tuple(value() for value in pending)


def _join_bound(join: _Join, name: str, left: Any, right: Any, guarded: bool) -> Callable[[], Any]:
    """Join a variable that was perhaps unbound before: whether it is bound now is joined too."""
    if guarded or left is right or not (is_guarded(left) or is_guarded(right)):
        return join.join(name, left, right, guarded)
    flags = bound_flag(left), bound_flag(right)
    with passed_on(left, right):
        value = join.join(name, left, right, True)
    flag = join.join(f"whether {name} is bound", *flags, True)

    def guard() -> Any:
        result = value()
        if isinstance(result, Variable):
            result.guard = (flag(), name)
        return result

    return guard


def _without_raised(
    true: Region, false: Region, names: Sequence[str], guarded: frozenset[str]
) -> frozenset[str]:
    """A branch that raises gives no values: those of the other stand, and nobody reads its own."""
    for region in (true, false):
        if region.raised:
            region.results = tuple(Undefined(name) for name in names)
    return frozenset(names) if true.raised or false.raised else guarded


def _append_cond(join: _Join, condition: Variable) -> None:
    true, false = join.true, join.false
    true.block.yields = [slot.true for slot in join.slots]
    false.block.yields = [slot.false for slot in join.slots]
    blocks = (true.block, false.block)
    captured = close_blocks(join.tracer, blocks, own=0)
    types = [slot.type for slot in join.slots]
    results = finish(join.tracer, "cond", [condition, *captured], types, blocks)
    for slot, result in zip(join.slots, results, strict=True):
        slot.result = result
        result.number = slot.number
        facts = facts_of_branches(slot.type, slot.true.type, slot.false.type)
        join.tracer.learn(facts, "the size of one of the branches")
    for variable in (*true.overwritten, *false.overwritten):
        join.tracer.overwrite(variable)
    for block in blocks:
        note_handed_on(join.tracer, block, captured, results)


def _join_places(join: _Join) -> list[tuple[Place, Callable[[], Any]]]:
    """Variables of other functions, globals and attributes that a branch changed."""
    places = {key: c.place for key, c in {**join.true.outer, **join.false.outer}.items()}
    raised = join.true.raised or join.false.raised
    pending = []
    for place in places.values():
        left, right = join.true.value_of(place), join.false.value_of(place)
        if not raised and not has_common_form(left, right):
            if not place.is_inner:
                raise join._mismatch(place.name, left, right)
            left = right = Undefined(place.name)
        pending.append((place, _join_bound(join, place.name, left, right, raised)))
    return pending


def has_common_form(left: Any, right: Any) -> bool:
    """Whether a place that may be unbound can hold either value; what is inside is asked apart."""
    if left is right or (isinstance(left, Undefined) and isinstance(right, Undefined)):
        return True
    unbound = isinstance(left, Undefined) or isinstance(right, Undefined)
    sides = [value for value in (left, right) if not isinstance(value, Undefined)]
    forms = [is_joinable(value) or (is_container(value) and not unbound) for value in sides]
    return all(forms) or same_constant(left, right)


def _join_arguments(join: _Join) -> list[Callable[[], Any]]:
    """Lists and dicts that a branch was given and changed without assigning the variable."""
    regions = (join.true, join.false)
    returned = {id(value) for region in regions for value in region.results}
    returned |= {id(c.after) for region in regions for c in region.outer.values()}
    pending: dict[int, Callable[[], Any]] = {}
    for region in (join.true, join.false):
        for copy, original in region.copies.values():
            if id(copy) in returned or id(original) in pending:
                continue
            if not has_changed(copy, original, region):
                continue
            sides = [copy_of(original, side) for side in (join.true, join.false)]
            pending[id(original)] = join.join("a list or dict", sides[0], sides[1], False)
    return list(pending.values())


def truth(tracer: Tracer, value: Any) -> Variable:
    """The truth of a traced value as a 0-d bool Variable."""
    variable = to_variable(tracer, asked(value))
    if isinstance(variable.type, ArrayType):
        variable = F.array_length(variable)
    if variable.tensor_type.rank:
        variable = F.reshape(variable, [])
    if variable.tensor_type.dtype != np.dtype("bool"):
        variable = F.not_equal(variable, 0)
    return variable


def _join_state(join: _Join, key: int) -> tuple[Tensor, _Slot]:
    tensor = (join.true.changed.get(key) or join.false.changed[key])[0]
    sides = []
    for region in (join.true, join.false):
        known = region.changed.get(key)
        if known is None:
            sides.append(join.tracer.captured(tensor))
        else:
            sides.append(known[1])
    return tensor, join._slot("a buffer", *sides)


def _rebuilt(like: Any, original: Any, keys: list[Any], values: list[Any]) -> Any:
    """The joined container: the user's own list or dict, changed in place, or a new one."""
    if isinstance(like, dict):
        target = {} if original is None else original
        target.clear()
        target.update(zip(keys, values, strict=True))
        return target
    if isinstance(like, list):
        if original is None:
            return values
        original[:] = values
        return original
    return type(like)(values) if type(like) is tuple else type(like)(*values)


__all__ = ["stage_branches", "truth"]
