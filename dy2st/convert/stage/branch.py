"""A branch that a tensor decides on, as the operator `cond`.

Both sides run, each into a Block of its own. What they give each variable, and each place that one
of them has written, is joined by the least layout above both; its leaves are the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import is_
from typing import Any, NoReturn

import numpy as np

from dy2st.convert.aliases import Part
from dy2st.convert.stage.outcome import (
    AlwaysRaises,
    Carried,
    Handler,
    endless,
    is_caught,
    is_endless,
    is_refusal,
    is_thrown,
    note_raise,
    record,
    staging,
)
from dy2st.convert.trace import (
    Key,
    PendingHandlerPath,
    Place,
    Region,
    Remaker,
    Test,
    Trace,
    in_words,
    label,
)
from dy2st.convert.types import info
from dy2st.convert.types.values import same_state
from dy2st.convert.values.flatten import build, case_value, copied_parts, flatten
from dy2st.convert.values.layout import (
    MOST_CASES,
    Layout,
    Lub,
    Reference,
    Same,
    Unlike,
    View,
    opened,
)
from dy2st.convert.values.special import ABSENT, CONTENT, MISSING, NOWHERE, STATE, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import BranchMismatch, ShapeError
from dy2st_runtime.ir import F, Tensor, ValueType, Variable
from dy2st_runtime.ir.join import join_types
from dy2st_runtime.ir.sizes import branch_condition
from dy2st_runtime.ir.tracing.path_state import Path
from dy2st_runtime.ops.control_flow import append_cond, close_blocks
from dy2st_runtime.tensor import EagerTensor


def known(trace: Trace, value: Any) -> Any:
    """The one case that a value can be here; itself where it can be several."""
    while type(value) is Union:
        cases = trace.cases_of(value)
        if len(cases) != 1:
            return value
        value = case_value(trace, value, cases[0])
    return value


def is_case(trace: Trace, value: Union, *places: int) -> Variable:
    """Whether a value is one of some cases; on both sides of a branch on it that is known."""
    tag = trace.tracer.local(value.tag)
    if len(places) > 2 and places == tuple(range(places[0], places[-1] + 1)):
        found: Variable = F.logical_and(tag >= places[0], tag <= places[-1])
    else:
        found = reduce(F.logical_or, [F.equal(tag, place) for place in places])
    found.number = bool
    note_cases(trace, found, value, frozenset(places))
    return found


def note_cases(trace: Trace, found: Variable, value: Union, cases: frozenset[int]) -> None:
    """Note of a bool whether a value is one of some cases."""
    others = frozenset(range(len(value.layouts))) - cases
    facts = {True: [(value, cases)], False: [(value, others)]}
    trace.origins[id(found)] = found, Test(facts=facts)


def facts_of(trace: Trace, pred: Any, taken: bool) -> list[tuple[Union, frozenset[int]]]:
    """Which cases values can be where a condition is met, or where it is not."""
    test = trace.origin(pred, Test)
    return [] if test is None else test.facts.get(taken, [])


def truth_of(trace: Trace, value: Any) -> Variable:
    """The truth of a tensor or number as a 0-d bool of the current Block."""
    if isinstance(value, (bool, Dim, Condition)):
        variable = trace.tracer.number(value)
    else:
        assert isinstance(value, (Variable, EagerTensor)), f"no truth of {value!r} is traced"
        variable = trace.tracer.variable(value)
    size = variable.size
    if isinstance(size, int) and size != 1:
        raise ShapeError(
            f"the truth of a tensor of shape {variable.shape} is ambiguous: use any() or all()"
        )
    if variable.tensor_type.rank:
        variable = F.reshape(variable, [])
    if variable.tensor_type.dtype != np.dtype("bool"):
        variable = F.not_equal(variable, 0)
    return variable


def splice(trace: Trace, region: Region) -> None:
    """Let a region count as run in the frame around it: the only side of a branch that goes on."""
    tracer, outer = trace.tracer, trace.tracer.block
    own = {inner: outside for outside, inner in tracer.captured_by(region.block).items()}
    for operator in region.block.operators:
        operator.operands[:] = [own.get(operand, operand) for operand in operator.operands]
        operator.block = outer
        for block in operator.blocks:
            block.parent = outer
    outer.operators += region.block.operators
    for inner, outside in own.items():
        tracer.forward(inner, tracer.aliases.origin(outside))  # the user's values may hold it
    # What holds at the end of the region holds here; what was changed is changed natively here.
    places = region.changed.pop("heap", {})
    trace.state.take(region)
    for place in places.values():
        trace.put_place(place, place.value)
    for tensor, variable in region.changed["tensors"].values():
        tracer.assign(tensor, own.get(variable, variable))
    for variable in region.overwritten:
        tracer.overwrite(variable)


Side = Callable[..., Any]
_NAME, _SIDES = "a value", ("left", "right")


@dataclass(eq=False)
class JoinedVariable:
    """A variable or place, and what each side leaves in it."""

    name: str
    left: Any
    right: Any
    place: Place | None = None
    layout: Layout = field(default_factory=lambda: Same(None, NOWHERE))  # until they are joined
    parts: list[Part] = field(default_factory=list)

    def seen(self, value: Any, view: View) -> Layout:
        """The layout of a value; what a container holds has no identity of its own."""
        same = Same(value, view)
        return opened(same, is_content=True) if self.is_content else same

    @property
    def is_content(self) -> bool:
        """Whether it is what a container holds."""
        return self.place is not None and self.place.name is CONTENT

    def note_parts(self, trace: Trace, value: Any, view: View, path: Path | None = None) -> None:
        """Note the objects of a side that are carried by value."""
        found = trace.alias_tracker.parts_of(value, self.layout, view, path)
        self.parts += [one for one in found if not self.is_content or one.value is not value]


@dataclass(eq=False)
class End:
    """How code ends: with results, with an exception that is carried, or with either.

    results: None if it surely raises.
    outcome: None if it surely does not.
    dead: set if nothing comes after it, since the Program has raised.
    """

    results: tuple[Any, ...] | None = None
    outcome: Any = None
    dead: BaseException | None = None


def stage_if(
    trace: Trace,
    pred: Variable,
    true: Side,
    false: Side,
    state: Sequence[Any],
    names: Sequence[str] | str,
    of_cases: bool = False,
    word: str = "",
) -> tuple[Any, ...]:
    """What the variables hold after `true(*state)` or `false(*state)`, as a bool decides.

    names: of the variables; that of a single one, whose value the sides give instead of a tuple.
    of_cases: the sides are cases of one operation, which may be none that a value has: what they
    raise is raised when the Program runs.
    word: that of the statement or expression in Python.
    """
    is_single, regions = isinstance(names, str), list[Region]()
    names = (names,) if isinstance(names, str) else names
    with staging(trace, word):
        for side, taken in ((true, True), (false, False)):
            with trace.region(branch_condition(pred, taken)) as region:
                known = len(trace.state.paths)
                # A side knows which cases a value can be whose case decided.
                for value, cases in facts_of(trace, pred, taken):
                    trace.know_cases(value, cases)
                with running(trace, of_cases=of_cases) as end:
                    found = side(*state)
                    end.results = (found,) if is_single else tuple(found or ())
                _note_end(region, settled(trace, known, end))
            regions.append(region)
        left, right = regions
        # Whichever case it is, Python raises this: the trace does, and no Program is needed for it.
        if of_cases and isinstance(left.raised, Exception) and _is_same(left.raised, right.raised):
            raise left.raised
        for raised, rest in ((left, right), (right, left)):
            is_carried = raised.raised is None and raised.results is None
            if is_carried and rest.raised is None and rest.outcome is None:
                # A handler may catch what one side raises: all that follows goes into the other
                # side, until the handler closes the path.
                rest.pending = PendingHandlerPath(pred, raised is left, raised, rest, ExitStack())
                rest.pending.running.enter_context(trace.resumed(rest))
                assert rest.results is not None
                return rest.results
        return proceed(trace, _combined(trace, pred, regions, names), names)


def _is_same(error: Exception, other: BaseException | None) -> bool:
    """Whether both cases of an operation raise the same, in the same words."""
    if type(error) is not type(other):
        return False
    args = [*error.args, *getattr(other, "args", ())]
    return all(isinstance(one, str) for one in args) and args == [*error.args] * 2


def end_region(
    trace: Trace, region: Region, function: Callable[[], Sequence[Any]], of_cases: bool = False
) -> None:
    """Run what a region consists of, and note how it ends."""
    known = len(trace.state.paths)
    with running(trace, of_cases=of_cases) as end:
        end.results = tuple(function())
    _note_end(region, settled(trace, known, end))


def _note_end(region: Region, end: End) -> None:
    region.results, region.outcome, region.raised = end.results, end.outcome, end.dead


@contextmanager
def running(
    trace: Trace, known: int = -1, handler: Handler | None = None, of_cases: bool = False
) -> Iterator[End]:
    """Code of which is noted how it ends: it gives the End its results, or raises.

    known: how many paths were open when the code began that may let exceptions pass: while they
    are as many, an exception that `handler` does not catch goes on as Python has it.
    """
    end = End()
    try:
        yield end
    except AlwaysRaises as error:
        end.dead = error
    except Carried as error:
        (end.outcome,) = error.args
    except BaseException as error:  # any: the record knows which of them `raise` has raised
        if is_refusal(error) or not is_thrown(trace, error):
            raise
        if is_endless(error) and trace.is_nested:
            raise endless() from None
        if known == len(trace.state.paths):
            if handler is None or not handler.catches(type(error)):
                raise
            end.outcome = error
        elif is_caught(trace, type(error)):
            end.outcome = trace.made(error)
        else:
            note_raise(trace, error, of_cases)
            end.dead = error


def settled(
    trace: Trace,
    known: int,
    end: End,
    caught: Callable[[Any], Sequence[Any]] | None = None,
    names: Sequence[str] = (),
) -> End:
    """How code ends after all paths were closed that it has opened.

    caught: what goes on where an exception was raised; without it the exception is carried on.
    """
    while len(trace.state.paths) > known:
        # The path that was opened last lies in those before it.
        opened = trace.state.paths[-1].pending
        _note_end(opened.rest, end)
        opened.running.close()
        if caught is not None:
            with trace.resumed(opened.raised):
                outcome = opened.raised.outcome
                # It may be no exception that the code has a handler for: what that raises, as for
                # an attribute which it does not have, is raised on this path alone.
                is_of_operator = any(outcome is one for one in trace.record.of_operators)
                end_region(trace, opened.raised, lambda: caught(outcome), is_of_operator)  # noqa: B023
        sides = (opened.raised, opened.rest) if opened.raised_if else (opened.rest, opened.raised)
        end = _combined(trace, opened.pred, sides, names)
    return end


def proceed(trace: Trace, end: End, names: Sequence[str] = ()) -> tuple[Any, ...]:
    """Go on after code has ended; where it has raised, the exception is carried on."""
    if end.dead is not None:
        raise AlwaysRaises
    if end.results is None:
        raise_outcome(trace, end.outcome)
    results = end.results
    if end.outcome is None:
        return results
    # The case None of the outcome is the path on which nothing was raised.
    (place,) = end.outcome.places_that_are(None)
    return stage_if(
        trace,
        is_case(trace, end.outcome, place),
        lambda: [_present(trace, value) for value in results],
        lambda: raise_outcome(trace, end.outcome),
        (),
        names or [_NAME] * len(results),
    )


def raise_outcome(trace: Trace, outcome: Any) -> NoReturn:
    """Raise an exception, or one of several, where it is surely raised."""
    outcome = known(trace, outcome)
    if type(outcome) is not Union:
        if is_caught(trace, type(outcome)):
            raise Carried(outcome)
        record(trace, outcome)
        raise AlwaysRaises
    cases = trace.cases_of(outcome)
    # It is carried as one value only where each case finds a handler; else the cases part.
    nodes: list[Any] = [outcome.layouts[place] for place in cases]
    kinds = [type(one.value) if isinstance(one, Same) else one.kind for one in nodes]
    if all(is_caught(trace, kind) for kind in kinds):
        raise Carried(outcome)
    again = lambda: raise_outcome(trace, outcome)  # noqa: E731
    stage_if(trace, is_case(trace, outcome, cases[0]), again, again, (), ())
    raise AssertionError("both sides raise")


def _present(trace: Trace, value: Any) -> Any:
    """A value where it is known that nothing was raised."""
    if type(value) is not Union:
        return value
    there = value.places_without(ABSENT)
    if len(there) == len(value.layouts):
        return value
    trace.know_cases(value, there)
    return for_cases(trace, lambda one: one, [value], _NAME)


def for_cases(
    trace: Trace,
    function: Callable[..., Any],
    values: Sequence[Any],
    names: Sequence[str] | str,
    of_cases: bool = True,
    read: Callable[[Trace, Any], Any] = known,
) -> Any:
    """`function(*values)` for each case of those that are one of several.

    names, of_cases: as those of `stage_if`, of what the function gives. read: looks at a value.
    """
    values = tuple(read(trace, value) for value in values)
    place = next((i for i, value in enumerate(values) if type(value) is Union), None)
    if place is None:
        return function(*values)
    union: Union = values[place]
    remaker = trace.origin(union, Remaker)
    if remaker is not None:
        del trace.origins[id(union)]
        make, parts = remaker
        end = place + len(parts)
        made = lambda *v: function(*v[:place], make(*v[place:end]), *v[end:])  # noqa: E731
        given = *values[:place], *parts, *values[place + 1 :]
        return for_cases(trace, made, given, names, of_cases, read)
    # By halves where they are many, or the branches would be in each other as often.
    places = trace.cases_of(union)
    half = len(places) // 2 if len(places) > MOST_CASES else 1
    pred = is_case(trace, union, *places[:half])
    again = lambda: for_cases(trace, function, values, names, of_cases, read)  # noqa: E731
    found = stage_if(trace, pred, again, again, (), names, of_cases)
    return found[0] if isinstance(names, str) else found


def places_of(trace: Trace, regions: Sequence[Region]) -> list[JoinedVariable]:
    """The places that a region has written, of objects that are older than the regions."""
    found: dict[Key, Place] = {}
    for region in regions:
        for key, place in region.changes.items():
            # What the region has made has no place before it: it leaves in results and places
            # alone.
            if not region.is_new(place.owner):
                found.setdefault(key, place)
    slots = []
    for place in found.values():
        # What an object with a location holds stands in its table.
        in_table = isinstance(place.name, str) or place.name is CONTENT
        if in_table and trace.locations.of(place.owner, regions[0]) is not None:
            continue
        values = [region.value_of(place) for region in regions]
        left, right = (settled_set(place, one, values[0]) for one in (values[0], values[-1]))
        if place.name is CONTENT:
            left, right = keep_items(trace, place.owner, left, right)
        slots.append(JoinedVariable(label(trace, place), left, right, place))
    return slots


def _combined(trace: Trace, pred: Variable, regions: Sequence[Region], names: Sequence[str]) -> End:
    """How a branch ends whose sides were run."""
    left, right = regions
    changed = (tensor for region in regions for tensor, _ in region.tensors.values())
    # A tensor that is no Variable lies outside: to change it in place is to write there.
    trace.record.has_written |= any(not isinstance(one, Variable) for one in changed)
    if left.raised is not None and right.raised is not None:
        _append(trace, pred, regions)
        return End(dead=AlwaysRaises())
    if left.raised is not None or right.raised is not None:
        # Only one side goes on: its operators run behind the check that the other one is not taken
        raising, other = (left, right) if left.raised is not None else (right, left)
        with trace.tracer.nested() as empty:
            empty.yields = []
        blocks = [raising.block, empty] if raising is left else [empty, raising.block]
        captured = close_blocks(trace.tracer, blocks, own=0)
        trace.tracer.append("cond", [trace.tracer.local(pred), *captured], {}, [], blocks)
        condition = branch_condition(pred, other is left)
        if condition is not None:
            trace.tracer.hold_from_here(condition)
        splice(trace, other)
        return End(other.results, other.outcome)
    share_locations(trace, regions)
    known = left.results or right.results or ()
    absent = (ABSENT,) * len(known)
    sides = left.results or absent, right.results or absent
    rows = zip(names or [_NAME] * len(known), *sides, strict=False)  # no value where both raise
    slots = [JoinedVariable(*row) for row in rows]
    has_outcome = left.outcome is not None or right.outcome is not None
    if has_outcome:
        slots.append(JoinedVariable("an exception", left.outcome, right.outcome))
    slots += places_of(trace, regions)
    join = Lub()
    for slot in slots:
        try:
            slot.layout = join(slot.seen(slot.left, left), slot.seen(slot.right, right))
        except Unlike as error:
            raise BranchMismatch(
                f"{in_words(slot.name)} is {error} after an `if` that depends on a tensor",
                why="which one it is, is known only when the Program runs",
                hint="let both branches give it values of one kind",
            ) from None
    for region, side in zip(regions, _SIDES, strict=True) if trace.locations.is_on else ():
        new = [
            p for slot in slots for p in without_location(trace, slot, getattr(slot, side), region)
        ]
        if new:
            with trace.resumed(region):
                trace.locations.enter(new)
            return _combined(trace, pred, regions, names)
    values = _finish(trace, pred, regions, slots)
    if not has_outcome:
        return End(values)
    is_raised = left.results is None and right.results is None
    return End(None if is_raised else values[:-1], values[-1])


def share_locations(trace: Trace, regions: Sequence[Region]) -> None:
    """Let an older object that has got a location on one side have one on the other side, too."""
    moved = [one for region in regions for one in region.moved]
    for region in regions:
        new = [one for one in moved if trace.locations.of(one, region) is None]
        if new:
            with trace.resumed(region):
                trace.locations.enter(new)
            share_locations(trace, regions)  # with what those hold


def without_location(trace: Trace, slot: JoinedVariable, value: Any, view: View) -> list[Any]:
    """The objects of a side that are carried by their location, and have none yet."""
    found = copied_parts(trace, value, slot.layout, view)
    references = [part for node, part in found if isinstance(node, Reference)]
    return [part for part in references if trace.locations.of(part, view) is None]


def settled_set(place: Place, value: Any, other: Any) -> Any:
    """What a place holds after a region; tensors in sets are there as the objects that they are."""
    if place.name is STATE:
        # What C code keeps must be the same on all paths.
        are_there = value is not MISSING and other is not MISSING
        if value is other or (are_there and same_state(value, other)):
            return other
        if info(type(place.owner)).is_joined and are_there:
            return value
        kind = type(place.owner).__name__
        raise BranchMismatch(
            f"the {kind} in a variable is changed in a branch or loop that depends on a tensor",
            at=place.at,
            why=f"what a {kind} holds is no part of a Program",
            hint="keep the values in a tensor or list",
        )
    if place.name is not CONTENT or type(place.owner) is not set:
        return value
    known = [side for side in (value, other) if isinstance(side, set)]
    has_tensors = any(isinstance(one, Tensor) for side in known for one in side)
    if len(known) == 2 and value == other and (has_tensors or all(map(is_, value, other))):
        return other
    if not has_tensors:
        return value
    raise BranchMismatch(
        "a set has other tensors on some paths of an `if` or loop that depends on a tensor",
        at=place.at,
        why="which tensors a set has is part of the Program",
        hint="keep a list, or make numbers of them: int(...)",
    )


def _finish(
    trace: Trace, pred: Variable, regions: Sequence[Region], slots: Sequence[JoinedVariable]
) -> tuple[Any, ...]:
    # Both sides yield all tensors that either has changed, in one order.
    tensors = {key: tensor for r in regions for key, (tensor, _) in r.tensors.items()}
    for region, side in zip(regions, _SIDES, strict=True):
        end_with(trace, region, slots, side, tensors, notes_parts=True)
    results = _append(trace, pred, regions)
    flags, place = trace.tracer.flags, len(results) - len(tensors)
    for tensor, result in zip(tensors.values(), results[place:], strict=True):
        trace.tracer.assign(tensor, result)
        ends = (region.block.yields[place] for region in regions)
        flags.join(tensor, result, *(flags.stop(tensor, end) for end in ends))
        place += 1
    return put_back(trace, slots, iter(results), regions)


def end_with(
    trace: Trace,
    region: Region,
    slots: Sequence[JoinedVariable],
    side: str,
    tensors: dict[int, Tensor],
    notes_parts: bool = False,
) -> None:
    """Let a Block yield what a side has left in variables and places, and the tensors changed."""
    with trace.resumed(region):
        yields: list[Variable] = []
        for slot in slots:
            value = getattr(slot, side)
            yields += flatten(trace, value, slot.layout, region)
        for key, tensor in tensors.items():
            now = region.tensors.get(key)
            # A side that leaves the tensor alone yields it as it was.
            yields.append(trace.tracer.variable(tensor if now is None else now[1]))
        for slot in slots if notes_parts else ():  # once all that lists keep is known
            slot.note_parts(trace, getattr(slot, side), region)
        region.block.yields = [trace.tracer.local(leaf) for leaf in yields]


def put_back(
    trace: Trace,
    slots: Sequence[JoinedVariable],
    leaves: Iterator[Variable],
    regions: Sequence[Region],
) -> tuple[Any, ...]:
    """The values of the variables, and the places written, after a `cond` or `while`."""
    known: dict[Any, Any] = {}
    built = []
    for slot in slots:
        value = build(trace, slot.layout, leaves, known)
        built.append(value)
        if slot.place is not None:
            trace.put_place(slot.place, value)
        elif type(value) is Union and slot.name.isidentifier():
            value.name = slot.name
    # Behind all places: what they put back is no change of one of several merged objects alone.
    trace.alias_tracker.join_parts((part for slot in slots for part in slot.parts), known, regions)
    trace.state.join(regions)
    return tuple(value for slot, value in zip(slots, built, strict=True) if slot.place is None)


def _append(trace: Trace, pred: Variable, regions: Sequence[Region]) -> list[Variable]:
    def joined() -> list[ValueType]:
        leaves = zip(*(region.block.yields for region in regions), strict=True)
        return [join_types(left.type, right.type, unlike) for left, right in leaves]

    why = "which branch is taken is known only when the Program runs"
    hint = "let both give values of one type: cast or reshape them"
    unlike = lambda one: BranchMismatch(f"the branches of an `if` give {one}", why=why, hint=hint)  # noqa: E731
    return append_cond(trace.tracer, pred, regions, joined)


def keep_items(trace: Trace, owner: Any, left: Any, right: Any) -> list[Any]:
    """What two paths leave in a container; what one of them leaves alone was read.

    Numbers of the owner that are inputs are inputs in what both leave.
    """
    if not trace.is_outside(owner) or left is right:
        return [left, right]
    is_alike, is_dict = {type(left), type(right)} == {type(owner)}, isinstance(owner, dict)
    is_list = is_alike and type(owner) is list and len(left) == len(right) == len(owner)
    if not is_list and not (is_alike and is_dict):
        trace.read_content(owner)
        return [left, right]
    sides = [left, right]
    for name in {**left, **right} if is_dict else range(len(owner)):
        held = [side.get(name, MISSING) if is_dict else side[name] for side in (left, right)]
        for index, one in enumerate(held if held[0] is not held[1] else ()):
            value = trace.read_item(owner, name, one)
            if value is not one:
                sides[index] = sides[index].copy() if sides[index] is owner else sides[index]
                sides[index][name] = value
    return sides
