"""A branch that a tensor decides on, as the operator `cond`.

Both sides run, each into a Block of its own. What they give each variable, and each place that one
of them has written, is joined by the least layout above both; its leaves are the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dy2st.heart.stage.outcome import AlwaysRaises, note_raise
from dy2st.heart.stage.splice import splice
from dy2st.heart.trace import CONTENT, Key, Place, Region, Trace
from dy2st.heart.values.carry import build, flatten
from dy2st.heart.values.layout import Layout, Same, View, opened
from dy2st.heart.values.lub import Lub, Unlike
from dy2st.heart.values.special import Union
from dy2st_runtime.dims import Condition, symbols
from dy2st_runtime.errors import BranchMismatch
from dy2st_runtime.ir import Block, TensorType, Tracer, Variable, user_location
from dy2st_runtime.ir.facts import branch_condition
from dy2st_runtime.ir.join import facts_of_branches, join_types
from dy2st_runtime.ops.control_flow import close_blocks

Side = Callable[..., Sequence[Any]]


@dataclass(eq=False)
class Slot:
    """A variable or place, and what each side leaves in it."""

    name: str
    left: Any
    right: Any
    place: Place | None = None
    layout: Layout | None = None

    def seen(self, value: Any, view: View) -> Layout:
        """The layout of a value; what a container holds has no identity of its own."""
        same = Same(value, view)
        is_content = self.place is not None and self.place.name is CONTENT
        return opened(same) if is_content else same


def stage_if(
    trace: Trace,
    pred: Variable,
    true: Side,
    false: Side,
    state: Sequence[Any],
    names: Sequence[str],
    is_case: bool = False,
) -> tuple[Any, ...]:
    """What the variables hold after `true(*state)` or `false(*state)`, as a bool decides.

    `is_case`: the sides are cases of one operation, which may be none that a value has: what they
    raise is raised when the Program runs.
    """
    regions = [
        run_region(trace, side, state, branch_condition(pred, taken), pred, taken, is_case)
        for side, taken in ((true, True), (false, False))
    ]
    left, right = regions
    if is_case and isinstance(left.raised, Exception) and isinstance(right.raised, Exception):
        raise left.raised
    if left.raised is not None and right.raised is not None:
        _append(trace, pred, regions, [], [])
        raise AlwaysRaises
    if left.raised is not None or right.raised is not None:
        return _go_on(trace, pred, regions)
    if len(left.results) != len(names) or len(right.results) != len(names):
        raise AssertionError("a branch gives one value for each name")
    slots = [Slot(*row) for row in zip(names, left.results, right.results, strict=True)]
    slots += places_of(trace, regions)
    _join(slots, left, right)
    return _finish(trace, pred, regions, slots)


def run_region(
    trace: Trace,
    side: Side,
    state: Sequence[Any],
    condition: Condition | None,
    pred: Variable,
    taken: bool,
    is_case: bool = False,
) -> Region:
    """Record one side into a Block of its own."""
    with trace.region(condition) as region:
        _narrow(trace, region, pred, taken)
        try:
            region.results = tuple(side(*state))
        except AlwaysRaises as raised:
            region.raised = raised
        except Exception as error:
            note_raise(trace, error, is_case)
            region.raised = error
    return region


def _narrow(trace: Trace, region: Region, pred: Variable, taken: bool) -> None:
    """A side knows which cases a value can be whose case decided."""
    known = trace.narrowing.get(pred)
    if known is not None:
        value, cases = known
        others = frozenset(range(len(value.layouts))) - cases
        trace.know_cases(region.frame, value, cases if taken else others)


def places_of(trace: Trace, regions: Sequence[Region]) -> list[Slot]:
    """The places that a region has written, of objects that are older than the regions."""
    found: dict[Key, Place] = {}
    for region in regions:
        for key, place in region.changes.items():
            if id(place.owner) not in region.frame.born:
                found.setdefault(key, place)
    slots = []
    for key, place in found.items():
        values = [region.value_of(key, place.owner, place.name) for region in regions]
        slots.append(Slot(str(place.name), values[0], values[-1], place))
    return slots


def _join(slots: Sequence[Slot], left: Region, right: Region) -> None:
    join = Lub()
    for slot in slots:
        try:
            slot.layout = join(slot.seen(slot.left, left), slot.seen(slot.right, right))
        except Unlike as error:
            raise BranchMismatch(
                f"`{slot.name}` is {error} after an `if` that depends on a tensor",
                at=user_location(),
                why="which one it is, is known only when the Program runs",
                hint="let both branches give it values of one kind",
            ) from None


def _finish(
    trace: Trace, pred: Variable, regions: Sequence[Region], slots: Sequence[Slot]
) -> tuple[Any, ...]:
    left, right = regions
    tensors = {key: tensor for r in regions for key, (tensor, _) in r.tensors.items()}
    for region, side in ((left, "left"), (right, "right")):
        with trace.inside(region):
            yields: list[Variable] = []
            for slot in slots:
                assert slot.layout is not None
                yields += flatten(trace, getattr(slot, side), slot.layout, region)
            for key, tensor in tensors.items():
                now = region.tensors.get(key)
                yields.append(trace.tracer.variable(tensor if now is None else now[1]))
            region.block.yields = [trace.tracer.local(leaf) for leaf in yields]
    results = _append(trace, pred, regions, left.block.yields, right.block.yields)
    for tensor, result in zip(
        tensors.values(), results[len(results) - len(tensors) :], strict=True
    ):
        trace.tracer.assign(tensor, result)
    return put_back(trace, slots, iter(results), regions)


def put_back(
    trace: Trace, slots: Sequence[Slot], leaves: Iterator[Variable], regions: Sequence[Region]
) -> tuple[Any, ...]:
    """The values of the variables, and the places written, after a `cond` or `while`."""
    known: dict[int, Any] = {}
    values = []
    for slot in slots:
        assert slot.layout is not None
        value = build(trace, slot.layout, leaves, known)
        if isinstance(slot.layout, Same) or type(value) is Union:
            pass
        elif slot.place is None or slot.place.name is not CONTENT:
            trace.join_twins([value, slot.left, slot.right])
        if slot.place is None:
            values.append(value)
        else:
            trace.put_place(slot.place, value)
    return tuple(values)


def _append(
    trace: Trace,
    pred: Variable,
    regions: Sequence[Region],
    left: Sequence[Variable],
    right: Sequence[Variable],
) -> list[Variable]:
    tracer = trace.tracer
    blocks = [region.block for region in regions]
    types = [join_types(a.type, b.type, _mismatch) for a, b in zip(left, right, strict=True)]
    captured = close_blocks(tracer, blocks, own=0)
    operands = [tracer.local(pred), *captured]
    results = tracer.append("cond", operands, {}, types, blocks).results
    for joined, a, b in zip(types, left, right, strict=True):
        facts = facts_of_branches(joined, a.type, b.type)
        known = [fact for fact in facts if _is_visible(tracer.block, fact)]
        tracer.learn(known, "the size of one of the branches")
    for variable in (v for region in regions for v in region.overwritten):
        tracer.overwrite(variable)
    return list(results)


def _mismatch(words: str) -> Exception:
    return BranchMismatch(f"the branches of an `if` give {words}", at=user_location())


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


def _go_on(trace: Trace, pred: Variable, regions: Sequence[Region]) -> tuple[Any, ...]:
    """Only one side goes on: its operators run behind the check that the other one is not taken."""
    left, right = regions
    raising, other = (left, right) if left.raised is not None else (right, left)
    empty = _empty_block(trace.tracer)
    blocks = [raising.block, empty] if raising is left else [empty, raising.block]
    captured = close_blocks(trace.tracer, blocks, own=0)
    trace.tracer.append("cond", [trace.tracer.local(pred), *captured], {}, [], blocks)
    return splice(trace, other)


def _empty_block(tracer: Tracer) -> Block:
    with tracer.nested() as block:
        block.yields = []
    return block


__all__ = ["Slot", "places_of", "put_back", "run_region", "stage_if"]
