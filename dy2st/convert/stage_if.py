"""A tensor-dependent `if` as the operator `cond`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from dy2st.convert.aliasing import note_handed_on
from dy2st.convert.asked import asked
from dy2st.convert.branch_join import Join, Slot
from dy2st.convert.iterated import refuse_iterated
from dy2st.convert.joining import entries_of, same_layout, to_variable
from dy2st.convert.objects import made_in
from dy2st.convert.outer import Change, Place, announcing, write
from dy2st.convert.regions import AlwaysRaises, Region, finish, trace_region
from dy2st.convert.stale import is_stale, make_stale
from dy2st.convert.undefined import Undefined
from dy2st_runtime.dims import Condition, Dim, symbols
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import (
    ArrayType,
    Block,
    F,
    Tensor,
    TensorType,
    Tracer,
    Variable,
    current_tracer,
    user_location,
)
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.facts import branch_condition
from dy2st_runtime.ir.join import facts_of_branches
from dy2st_runtime.ops.control_flow import close_blocks


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

    The branches return a tuple, one value a name; so does this. `places` are what they assign
    beside. Attributes of objects are joined like variables.
    """
    tracer = current_tracer()
    assert tracer is not None, "a traced condition outside of a trace"
    condition = truth(tracer, pred)
    holds, fails = branch_condition(condition, True), branch_condition(condition, False)
    true_args, false_args = _narrowed(tracer, condition, true_args, false_args)
    true = trace_region(tracer, announcing(true_fn, places), true_args, holds=holds)
    false = trace_region(tracer, announcing(false_fn, places), false_args, holds=fails)
    guarded = _without_raised(true, false, names, guarded)
    join = Join(tracer, true, false, user_location())
    for region in (true, false):
        refuse_iterated(region, names)
    join.new = made_in(true.results, true_args) | made_in(false.results, false_args)
    pending = [
        join.variable(name, left, right, name in guarded)
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
    for _, settings in join.exports.values():
        for setting in settings:
            setting()
    for write_back in pending_arguments:
        write_back()
    for change, joined in pending_places:
        put = write if change.is_announced else type(change.place).put
        put(change.place, joined())  # type: ignore[arg-type]
    return tuple(value() for value in pending)


def _narrowed(
    tracer: Tracer, condition: Variable, true_args: Sequence[Any], false_args: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """After `y is None` a branch knows which cases of a Choice `y` it can be."""
    known = tracer.narrowings.get(condition)
    if known is None:
        return true_args, false_args
    choice, wanted = known
    others = frozenset(range(len(choice.cases))) - wanted
    return [_one_of(v, choice, wanted) for v in true_args], [
        _one_of(v, choice, others) for v in false_args
    ]


def _one_of(value: Any, choice: Choice, wanted: frozenset[int]) -> Any:
    if value is not choice or len(wanted) != 1:
        return value
    return choice.cases[next(iter(wanted))]


def _without_raised(
    true: Region, false: Region, names: Sequence[str], guarded: frozenset[str]
) -> frozenset[str]:
    """A branch that raises gives no values: those of the other stand, and nobody reads its own."""
    for region in (true, false):
        if region.raised:
            region.results = tuple(Undefined(name) for name in names)
    return frozenset(names) if true.raised or false.raised else guarded


def _append_cond(join: Join, condition: Variable) -> None:
    true, false = join.true, join.false
    true.block.yields = [slot.true for slot in join.slots]
    false.block.yields = [slot.false for slot in join.slots]
    blocks = (true.block, false.block)
    captured = close_blocks(join.tracer, blocks, own=0)
    types = [slot.type for slot in join.slots]
    results = finish(join.tracer, "cond", [condition, *captured], types, blocks)
    for slot, result in zip(join.slots, results, strict=True):
        slot.result = result
        result.number, result.mixed = slot.number, slot.mixed
        facts = [*facts_of_branches(slot.type, slot.true.type, slot.false.type)]
        known = [fact for fact in facts if _is_visible(join.tracer.block, fact)]
        join.tracer.learn(known, "the size of one of the branches")
    outdated = [
        result
        for slot, result in zip(join.slots, results, strict=True)
        if _is_outdated(join.tracer, slot.true, true)
        or _is_outdated(join.tracer, slot.false, false)
    ]
    for variable in (*true.overwritten, *false.overwritten, *outdated):
        join.tracer.overwrite(variable)
    for block in blocks:
        note_handed_on(join.tracer, block, captured, results)


def _is_visible(block: Block | None, fact: Condition) -> bool:
    """Whether a fact is about sizes that are known in a Block: not about those of a branch."""
    missing = set(symbols(fact))
    while block is not None and missing:
        results = (result for operator in block.operators for result in operator.results)
        for variable in (*block.parameters, *results):
            if isinstance(variable.type, TensorType):
                missing.difference_update(variable.type.shape)
        block = block.parent
    return not missing


def _is_outdated(tracer: Tracer, variable: Variable, region: Region) -> bool:
    """Whether a branch hands on a tensor that it has changed in place by another name."""
    origin = tracer.aliases.origin(variable)
    return any(one is origin for one in region.overwritten)


def _join_places(join: Join) -> list[tuple[Change, Callable[[], Any]]]:
    """Variables of other functions, globals and attributes that a branch changed."""
    changes: dict[Hashable, Change] = {}
    for region in (join.true, join.false):
        for key, change in region.outer.items():
            if not region.raised and not (key in changes and changes[key].is_announced):
                changes[key] = change
    raised = join.true.raised or join.false.raised
    pending = []
    for change in changes.values():
        place = change.place
        left, right = join.true.value_of(place), join.false.value_of(place)
        if place.is_inner and not raised and not join.has_common_form(left, right):
            left = right = Undefined(place.name)
        pending.append((change, join.variable(place.name, left, right, raised)))
    return pending


def _join_arguments(join: Join) -> list[Callable[[], Any]]:
    """Lists and dicts that a branch was given and changed without assigning the variable."""
    regions = (join.true, join.false)
    seen = {id(value) for region in regions for value in region.results}
    seen |= {id(change.after) for region in regions for change in region.outer.values()}
    for region in regions:
        for copy, _ in region.copies.pairs.values():
            seen.update(map(id, entries_of(copy)))  # joined with what holds them
    pending: dict[int, Callable[[], Any]] = {}
    for region in regions:
        for copy, original in region.copies.pairs.values():
            if is_stale(copy):
                make_stale(original)
            if id(copy) in seen or id(original) in pending or is_stale(copy):
                continue
            if region.raised or not region.copies.has_changed_inside(copy):
                continue
            sides = [side.copies.copy_of(original) for side in regions]
            if not isinstance(original, Choice) and not same_layout(*sides):
                raise _changed_elsewhere(original)
            pending[id(original)] = join.join("a list or dict", sides[0], sides[1], False)
    return list(pending.values())


def _changed_elsewhere(container: Any) -> ConversionError:
    kind = type(container).__name__
    return ConversionError(
        f"a {kind} gets other entries in one branch of an `if` that depends on a tensor, under a "
        "name that the branch does not assign",
        at=user_location(),
        why="how many entries it has is then known only when the Program runs, and other names for "
        f"the {kind} could not tell",
        hint="change it by its own name in the branch, or return the changed one and assign it",
    )


def truth(tracer: Tracer, value: Any) -> Variable:
    """The truth of a traced value as a 0-d bool Variable."""
    if isinstance(value, Choice):
        value = Choice.spread(_case_truth, value)
    if isinstance(value, Text):
        value = bool(value)
    variable = to_variable(tracer, asked(value))
    if isinstance(variable.type, ArrayType):
        variable = F.array_length(variable)
    if variable.tensor_type.rank:
        variable = F.reshape(variable, [])
    if variable.tensor_type.dtype != np.dtype("bool"):
        variable = F.not_equal(variable, 0)
    return variable


def _case_truth(value: Any) -> Any:
    tracer = current_tracer()
    assert tracer is not None
    value = asked(value)
    if isinstance(value, (Tensor, Dim, Condition)):
        result = truth(tracer, value)
        result.number = bool
        return result
    return bool(value)


def _join_state(join: Join, key: int) -> tuple[Tensor, Slot]:
    tensor = (join.true.changed.get(key) or join.false.changed[key])[0]
    sides = []
    for region in (join.true, join.false):
        known = region.changed.get(key)
        if known is None:
            sides.append(join.tracer.captured(tensor))
        else:
            sides.append(known[1])
    return tensor, join.slot("a buffer", *sides)


__all__ = ["stage_branches", "truth"]
