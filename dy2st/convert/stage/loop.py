"""A loop that a tensor decides on, as the operator `while`.

The body is traced with what is assumed of the loop variables, at first that nothing changes. What
an iteration leaves is joined with it; where that rises, the body is traced again: mostly twice. A
loop inside of it that begins with what it has found in the round before has settled at once; else
each level of loops in loops would take twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dy2st.convert.aliases import held_in
from dy2st.convert.stage.branch import (
    End,
    JoinedVariable,
    end_region,
    end_with,
    keep_items,
    places_of,
    proceed,
    put_back,
    running,
    settled,
    settled_set,
    stage_if,
    truth_of,
    without_location,
)
from dy2st.convert.trace import Place, Region, Trace, before_all, in_words, label
from dy2st.convert.types import info
from dy2st.convert.types.values import copy_of
from dy2st.convert.values.flatten import build, flatten
from dy2st.convert.values.layout import (
    Cases,
    Layout,
    Leaf,
    Lub,
    Number,
    Same,
    Unlike,
    count,
    depth,
    opened,
    types_of,
)
from dy2st.convert.values.special import CONTENT, GROWN, UNBOUND
from dy2st_runtime.dims import Dim, symbols
from dy2st_runtime.errors import ConversionError, Location, LoopMismatch
from dy2st_runtime.ir import ArrayType, Tensor, TensorType, ValueType, Variable, user_location
from dy2st_runtime.ir.join import join_types, renewed
from dy2st_runtime.ops.control_flow import append_while


@dataclass(eq=False)
class Rounds:
    """How a loop has settled.

    kinds   the kinds of layouts of its variables, and of the places outside that it writes.
    places  those places.
    inner   the loops inside, in the order in which a round meets them.
    met     how many of them this round has met.
    """

    kinds: list[type] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    inner: dict[tuple[int, Location | None], Rounds] = field(default_factory=dict)
    met: int = 0

    def next(self) -> Rounds:
        """Those of the loop that stands here."""
        key = self.met, user_location()
        self.met += 1
        return self.inner.setdefault(key, Rounds())

    def begin(self, slots: Sequence[JoinedVariable]) -> None:
        """Let variables and places begin as the tensors and numbers that they were found to be."""
        # In the first round of the loop around, nothing is known of this one.
        for slot, kind in zip(slots, self.kinds, strict=False):
            node = opened(slot.layout)
            if kind in (Leaf, Number) and type(node) is kind:
                slot.layout = node

    def note(self, trace: Trace, slots: Sequence[JoinedVariable]) -> None:
        """Note how a loop has settled."""
        known = [slot for slot in slots if slot.place is None or trace.is_outside(slot.place.owner)]
        self.kinds = [type(slot.layout) for slot in known]
        self.places = [slot.place for slot in known if slot.place is not None]


Test = Callable[..., Any]
Body = Callable[..., Sequence[Any]]
_ROUNDS, _DEEPENING, _WIDE = 24, 8, 64  # what holds its last one is deeper in each round


class _Otherwise(Exception):
    """The loop must be traced in another form; `args` are its name, and what belongs to it.

    "peeled"  after one iteration the loop variables have the form that they keep.
    "tested"  the test raises, if a handler catches that on some path alone, or changes what the
              body would have to see.
    "caught"  the body may raise what a handler catches.
    "moves"   objects from before the loop, which follow, get locations in it.
    "raises"  every iteration raises, so there is one at most.
    """


@dataclass(eq=False)
class Loop:
    """What is assumed of the loop variables, and of the places and tensors that the body writes."""

    trace: Trace
    slots: list[JoinedVariable]
    may_peel: bool = False
    ends: list[JoinedVariable] = field(default_factory=list)  # what else comes back
    tensors: dict[int, Tensor] = field(default_factory=dict)
    carried: set[int] = field(default_factory=set)  # tensors that variables hold at first
    starts: list[Variable] = field(default_factory=list)
    stops: list[bool | None] = field(default_factory=list)  # whether gradients stop at the leaves
    types: list[ValueType] = field(default_factory=list)
    free: set[Dim] = field(default_factory=set)
    join: Lub = field(default_factory=lambda: Lub(widens=True))
    links: set[frozenset[int]] = field(default_factory=set)  # layouts whose objects may be one
    # Layouts whose objects nobody may change or read, and older objects that nobody may change.
    spoiled: set[int] = field(default_factory=set)
    kept: dict[int, Any] = field(default_factory=dict)  # these, and what the last round has made
    views: dict[int, Variable] = field(default_factory=dict)  # leaves that an iteration leaves so

    @property
    def variables(self) -> list[JoinedVariable]:
        """The slots of the user's variables."""
        return [slot for slot in self.slots if slot.place is None]

    def rounds(self) -> Iterator[None]:
        """The rounds until it settles; each forgets what the one before has recorded."""
        trace, depths = self.trace, set[int]()
        growth, called = trace.tracer.growth, len(trace.repeats.called)
        for _ in range(_ROUNDS):
            layouts = [slot.layout for slot in (*self.slots, *self.ends)]
            depths.add(max(map(depth, layouts), default=0))
            is_wide = sum(map(count, layouts)) > _WIDE  # a tree has twice as many leaves each time
            if len(depths) > _DEEPENING // (1 + is_wide):
                return
            made = growth.made.copy()
            yield
            trace.repeats.forget_calls(called)
            growth.made = made

    def writes_what_is_assumed(self, region: Region) -> bool:
        """Whether a body writes the places and tensors that are assumed; others are from now on."""
        known = {slot.place.key for slot in self.slots if slot.place is not None}
        holds = True
        for new in places_of(self.trace, [region]):
            assert new.place is not None
            if new.place.key not in known:
                self.carry(new.place, new.right)
                holds = False
        for slot in self.slots:
            if slot.place is not None:
                slot.right = settled_set(slot.place, region.value_of(slot.place), slot.left)
        holds = holds and region.tensors.keys() <= self.tensors.keys()
        self.tensors |= {key: tensor for key, (tensor, _) in region.tensors.items()}
        return holds

    def rises(self, slot: JoinedVariable, node: Layout) -> bool:
        """Let a variable or place have a layout, too; whether that which it has rises."""
        before = slot.layout
        try:
            slot.layout = self.join(before, node)
        except Unlike as error:
            raise self.unlike(slot, error) from None
        return slot.layout is not before

    def leaves(self, values: Iterable[Any]) -> list[Variable]:
        """The leaves of what the slots hold, and of the tensors, in the current Block."""
        trace, found = self.trace, list[Variable]()
        for slot, value in zip(self.slots, values, strict=True):
            found += flatten(trace, value, slot.layout, trace)
        found += map(trace.tracer.variable, self.tensors.values())
        return [*map(trace.tracer.local, found)]

    def begin_with(self, leaves: list[Variable]) -> None:
        """Assume of all leaves what is so of the first; a list that is empty gets its elements.

        Sizes of the Program's parameters are the same in each of them.
        """
        parameters = self.trace.tracer.program.block.parameters
        shapes = [v.type.shape for v in parameters if isinstance(v.type, TensorType)]
        fixed = {symbol for shape in shapes for size in shape for symbol in symbols(size)}
        expected = [one for slot in self.slots for one in types_of(slot.layout, fixed)]
        found: list[ValueType] = [leaf.type for leaf in leaves]
        known = [_with_elements(*pair) for pair in zip(found, expected, strict=False)]
        self.starts, self.stops = leaves, self.stops_of(leaves)
        self.types = [*known, *found[len(known) :]]

    def join_leaves(self, leaves: Sequence[Variable]) -> tuple[bool, set[bool | None]]:
        """Let leaves be these, too: whether a type rises, and which `stops` are known no more."""
        pairs = zip(self.types, leaves, strict=True)
        types = [join_types(old, new.type, self.mismatch, self.free) for old, new in pairs]
        stops = both(self.stops, self.stops_of(leaves))
        lost = {a for a, b in zip(self.stops, stops, strict=True) if a is not b}
        rises = any(a is not b for a, b in zip(self.types, types, strict=True))
        self.types, self.stops = types, stops
        return rises, lost

    def stops_of(self, leaves: Sequence[Variable]) -> list[bool | None]:
        """Whether gradients stop at leaves; None if nobody knows."""
        stop = self.trace.tracer.flags.stop
        return [stop(*pair) for pair in zip(self._owners(leaves), leaves, strict=True)]

    def join_stops(self, leaves: Sequence[Variable], stops: Sequence[bool | None]) -> None:
        """Note of leaves that gradients stop at them, or begin."""
        for owner, leaf, stop in zip(self._owners(leaves), leaves, stops, strict=True):
            self.trace.tracer.flags.join(owner, leaf, stop)

    def _owners(self, leaves: Sequence[Variable]) -> list[Tensor]:
        """The tensors that hold leaves: those that are changed in place stand last."""
        return [*leaves[: len(leaves) - len(self.tensors)], *self.tensors.values()]

    def carry(self, place: Place, after: Any) -> None:
        """Carry a place as a variable; `after` is what an iteration leaves in it."""
        left = self.trace.kept(place.owner, place.name)
        if place.name is CONTENT:
            is_found = left is place.owner
            left, _ = keep_items(
                self.trace, place.owner, copy_of(left) if is_found else left, after
            )
            if is_found and self.trace.has_grown(place.owner):
                self.trace.origins[id(left)] = left, GROWN
        slot = JoinedVariable(label(self.trace, place), left, after, place)
        slot.layout = slot.seen(left, before_all(self.trace))
        self.slots.append(slot)

    def given(self, parameters: list[Variable]) -> list[Any]:
        """What the user's code gets; places and tensors are set to their parameters."""
        trace = self.trace
        leaves, known = iter(parameters), dict[Any, Any]()
        values = []
        for slot in self.slots:
            value = build(trace, slot.layout, leaves, known)
            if slot.place is None:
                values.append(value)
            else:
                # An iteration before may have changed it under this name.
                trace.alias_tracker.change(slot.place.owner)
                trace.alias_tracker.note_returned(slot.place.owner)
                is_same = isinstance(slot.layout, Same) and info(type(value)).is_container
                # A copy of what holds before the loop, since the body changes it natively.
                trace.put_place(slot.place, copy_of(value) if is_same else value)
        for tensor, parameter in zip(self.tensors.values(), leaves, strict=True):
            trace.tracer.views.lose_aliases(tensor)  # by an earlier iteration, for all other names
            trace.tracer.hold(tensor, parameter)
        self.join_stops(parameters, self.stops)
        # What the user's variables hold may be views, of before the loop or of an iteration.
        if trace.tracer.views.links:
            own = parameters[: len(parameters) - len(self.tensors)]
            for place, parameter in enumerate(own):
                for one in (self.starts[place], self.views.get(place)):
                    if one is not None and trace.tracer.views.root_of_view(one) is not None:
                        trace.tracer.aliases.note(parameter, one)
        trace.alias_tracker.join_parts((part for slot in self.slots for part in slot.parts), known)
        owners = [slot.place.owner for slot in self.slots if slot.place is not None]
        known.update((id(one), one) for one in owners)
        for nodes in self.links:
            made = (known.get(node, known.get(("case", node))) for node in nodes)
            trace.alias_tracker.join([one for one in made if one is not None])
        # What an iteration before has put into a list by value must not change in this one.
        kept = [one for key, one in self.kept.items() if key in self.spoiled]
        trace.alias_tracker.keep(kept, alone=True)
        return values

    def mismatch(self, words: str) -> ConversionError:
        """The refusal of leaves that cannot be of one type."""
        return LoopMismatch(
            f"an iteration of a loop leaves {words}",
            why="the loop depends on a tensor, so one Program must serve every iteration",
            hint="let each iteration leave values of the kinds, dtypes and shapes from before it",
        )

    def unlike(self, slot: JoinedVariable, error: Unlike) -> ConversionError:
        """The refusal of a variable that cannot be both."""
        return self.mismatch(f"{in_words(slot.name)} as {error}")


def stage_while(
    trace: Trace,
    test: Test,
    body: Body,
    state: Sequence[Any],
    names: Sequence[str],
    may_peel: bool = True,
    tested: Callable[[], Any] | None = None,
    moves: int = 0,
) -> tuple[Any, ...]:
    """What the variables hold after `body` has run as long as `test` holds.

    tested: gives the first truth where the test has been run, with all that it changes.
    """
    slots = [
        JoinedVariable(name, value, value, layout=Same(value, before_all(trace)))
        for name, value in zip(names, state, strict=True)
    ]
    loop = Loop(trace, slots, may_peel)
    noted, outer = len(trace.repeats.called), trace.rounds
    rounds = trace.rounds = Rounds() if outer is None else outer.next()
    form = ""
    try:
        for place in rounds.places:
            loop.carry(place, trace.kept(place.owner, place.name))
        rounds.begin(slots)
        regions = _settle(loop, rounds, test, body)
    except _Otherwise as other:
        form, *moved = other.args
    finally:
        trace.rounds = outer
    if not form:
        return _finish(loop, *regions)
    trace.repeats.forget_calls(noted)
    if form == "caught":
        return _until_raised(trace, test, body, state, names)
    if form == "moves":
        if moves == _ROUNDS:  # each iteration makes what the next one finds older than the loop
            raise LoopMismatch(
                "each iteration of a loop that depends on a tensor makes new objects",
                why="what one holds is known only when the Program runs",
                hint="keep numbers and tensors in variables of the loop",
            )
        trace.locations.enter(moved)
        return stage_while(trace, test, body, state, names, may_peel, tested, moves + 1)
    if form == "tested":
        # `goes_on = test` and `while goes_on: body; goes_on = test`
        def iteration(_: Any, *values: Any) -> Sequence[Any]:
            left = body(*values)
            return truth_of(trace, test(*left)), *left

        goes_on = truth_of(trace, test(*state)) if tested is None else tested()
        inner = ("whether to go on", *names)
        more = lambda goes_on, *_: goes_on  # noqa: E731
        return stage_while(trace, more, iteration, (goes_on, *state), inner, may_peel)[1:]

    # `if test: body; while test: body`; behind a body that raises for all sizes there is no loop.
    def first(*values: Any) -> Sequence[Any]:
        left = tuple(body(*values))
        return stage_while(trace, test, body, left, names, may_peel=False)

    pred = truth_of(trace, test(*state))
    return stage_if(trace, pred, first, lambda *values: values, state, names)


def _until_raised(
    trace: Trace, test: Test, body: Body, state: Sequence[Any], names: Sequence[str]
) -> tuple[Any, ...]:
    """A loop that ends when it raises: loop variables say whether to go on, and the exception."""

    def more(goes_on: Any, _: Any, *values: Any) -> Any:
        left = lambda: truth_of(trace, test(*values))  # noqa: E731
        return stage_if(trace, truth_of(trace, goes_on), left, lambda: False, (), inner[0])[0]

    def iteration(_: Any, __: Any, *values: Any) -> Sequence[Any]:
        def caught(outcome: Any) -> Sequence[Any]:
            return False, outcome, *values

        known = len(trace.state.paths)
        with running(trace) as end:
            end.results = True, None, *body(*values)
        if end.results is None and end.outcome is not None:
            end = End((False, end.outcome, *values))
        return proceed(trace, settled(trace, known, end, caught, inner), inner)

    inner = ("whether to go on", "an exception", *names)
    found = stage_while(trace, more, iteration, (True, None, *state), inner, may_peel=False)
    return proceed(trace, End(found[2:], found[1]), names)


def _settle(loop: Loop, rounds: Rounds, test: Test, body: Body) -> tuple[Region, Region]:
    """Trace test and body until an iteration leaves what is assumed."""
    trace = loop.trace
    for _ in loop.rounds():
        rounds.met = 0
        # At first, and once a layout has risen, the leaves are others: types start from those
        # before the loop.
        if not loop.types:
            # Forget changes of tensors that variables begin with: an iteration changes what they
            # hold.
            leaves = loop.leaves(slot.left for slot in loop.slots)
            count = len(leaves) - len(loop.tensors)
            starts, held = leaves[:count], set(leaves[:count])
            for key, leaf in zip([*loop.tensors], leaves[count:], strict=True):
                if leaf in held and key not in loop.carried:
                    loop.carried.add(key)
                    del loop.tensors[key]
                else:
                    starts.append(leaf)
            loop.begin_with(starts)
        uses = trace.tracer.flags.uses
        test_region = _run(loop, lambda *values: (truth_of(trace, test(*values)),), "test")
        body_region = _run(loop, body, "body")
        if _holds(loop, body_region, trace.tracer.flags.uses > uses):
            with trace.resumed(test_region):
                assert test_region.results is not None
                test_region.block.yields = [trace.tracer.local(test_region.results[0])]
            rounds.note(trace, loop.slots)
            return test_region, body_region
    names = ", ".join(in_words(slot.name) for slot in loop.variables)
    raise LoopMismatch(
        f"one of the variables {names} has another form after every iteration",
        why="the loop depends on a tensor, so one Program must serve every iteration",
        hint="let each iteration leave the variables in the form that they have before the loop",
    )


def both(ones: Sequence[bool | None], others: Sequence[bool | None]) -> list[bool | None]:
    """What is so on two paths; None where they differ."""
    return [a if a is b else None for a, b in zip(ones, others, strict=True)]


def _with_elements(found: ValueType, expected: ValueType) -> ValueType:
    """The type of a list, with the expected elements where it is empty, or lists in it are."""
    if not isinstance(found, ArrayType) or not isinstance(expected, ArrayType):
        return found
    if found.element is None or expected.element is None:
        return expected if found.element is None else found
    element = _with_elements(found.element, expected.element)
    return found if element is found.element else ArrayType(element)


def _run(loop: Loop, function: Body, what: str) -> Region:
    """Record one call of the test or the body, on parameters for all that goes on."""
    trace = loop.trace
    with trace.region() as region:
        parameters = [region.block.add_parameter(renewed(type, loop.free)) for type in loop.types]
        values = loop.given(parameters)
        end_region(trace, region, lambda: function(*values))
    if what == "test":
        # The operator's condition yields a truth alone: what it changes, nobody would see.
        known = {slot.place.key for slot in loop.slots if slot.place is not None}
        changed = ((key, place.owner) for key, place in region.changes.items())
        writes = any(key not in known and not region.is_new(one) for key, one in changed)
        raises = region.raised is not None or region.outcome is not None
        if raises or writes or not region.tensors.keys() <= loop.tensors.keys():
            raise _Otherwise("tested")
    elif region.outcome is not None:
        raise _Otherwise("caught")
    elif region.raised is not None:
        raise _Otherwise("raises")
    return region


def _holds(loop: Loop, body_region: Region, uses: bool) -> bool:
    """Whether an iteration leaves what is assumed; what it does not, is assumed from now on.

    uses: whether anything that the iteration has recorded rests on where gradients stop.
    """
    if loop.trace.locations.is_on:
        _enter_new(loop, body_region)
    rises = not loop.writes_what_is_assumed(body_region)
    assert body_region.results is not None
    for slot, value in zip(loop.variables, body_region.results, strict=True):
        slot.right = value
    for slot in loop.slots:
        before = slot.layout
        if loop.rises(slot, slot.seen(slot.right, body_region)):
            # Behind one iteration it has one form; in the loop it would be one of two values.
            if loop.may_peel and _is_peeled(before, slot.layout):
                raise _Otherwise("peeled")
            rises = True
    if loop.trace.locations.is_on:
        _check_starts(loop, body_region)
    is_new = _note_shared_parts(loop, body_region)
    # Types are compared leaf by leaf, so first all layouts must agree.
    if is_new or rises:
        loop.types = []
        return False
    # Whether the leaves keep their types; sizes that change become symbols
    end_with(loop.trace, body_region, loop.slots, "right", loop.tensors)
    rises, lost = loop.join_leaves(body_region.block.yields)
    # Leaves may be views of what the body changes: new ones count as a rise, too.
    views, count_before = loop.trace.tracer.views, len(loop.views)
    count = len(body_region.block.yields) - len(loop.tensors)
    for number, leaf in enumerate(body_region.block.yields[:count] if not rises else ()):
        root = views.root_of_view(leaf)
        if root is not None and id(root) in loop.tensors:
            loop.views[number] = leaf
    # Where gradients stop matters if anything rests on that; where they begin, in any case.
    holds = not lost if uses else False not in lost
    return holds and not rises and len(loop.views) == count_before


def _enter_new(loop: Loop, body_region: Region) -> None:
    """Give what an iteration has made locations; older objects get theirs before the loop."""
    trace, places = loop.trace, places_of(loop.trace, [body_region])
    assert body_region.results is not None
    pairs = zip(loop.variables, body_region.results, strict=True)
    new = [value for slot, value in pairs if value is not slot.left]
    with trace.resumed(body_region):
        for slot in places:
            new += held_in(slot.right) if slot.is_content else [slot.right]
        trace.locations.enter(new)
    if body_region.moved:
        raise _Otherwise("moves", *body_region.moved)


def _check_starts(loop: Loop, body_region: Region) -> None:
    """What the loop begins with has locations where iterations have them."""
    trace, old = loop.trace, list[Any]()
    for slot in loop.slots:
        old += without_location(trace, slot, slot.left, trace)
        old += without_location(trace, slot, slot.right, body_region)
    if old:
        raise _Otherwise("moves", *old)


def _note_shared_parts(loop: Loop, body_region: Region) -> bool:
    """Note which variables hold one object, or one that may not change; whether some are new.

    An iteration could know more of what is carried by value than this one, where they do.
    """
    trace, holders, spoiled = loop.trace, dict[int, set[int]](), set[int]()
    fragile = body_region.left_in("fragile").items()
    kept = {key: one for key, one in fragile if not body_region.is_new(one)}
    spoiled |= kept.keys() & loop.kept.keys()  # what this round has made, none before has kept
    for slot in loop.slots:
        slot.parts = []
        slot.note_parts(trace, slot.left, trace)
        slot.note_parts(trace, slot.right, body_region, body_region)
        for part in slot.parts:
            # What is merged with others counts as one holder with them.
            group = trace.state.merged.get(id(part.value), part.value)
            holders.setdefault(id(group), set()).add(id(part.layout))
            if part.is_fragile or part.is_stale:
                spoiled.add(id(part.layout))
        if slot.place is not None:
            owner = slot.place.owner
            group = trace.state.merged.get(id(owner), owner)
            holders.setdefault(id(group), set()).add(id(owner))
    links = {frozenset(nodes) for nodes in holders.values() if len(nodes) > 1}
    is_new = not links <= loop.links or not spoiled <= loop.spoiled
    is_new |= any(not isinstance(one, BaseException) for one in kept.values()) and not loop.kept
    loop.links, loop.spoiled, loop.kept = links, spoiled, kept
    return is_new


def _is_peeled(before: Layout, joined: Layout) -> bool:
    """Whether the first iteration alone has another kind of tensor, or none yet."""
    if not isinstance(joined, Cases) or len(joined.cases) != 2:
        return False
    first, second = (opened(case) for case in joined.cases)
    is_first = isinstance(first, (Leaf, Number)) or (
        isinstance(before, Same) and before.value is UNBOUND
    )
    return is_first and isinstance(second, Leaf)


def _finish(loop: Loop, test_region: Region, body_region: Region) -> tuple[Any, ...]:
    trace, tracer = loop.trace, loop.trace.tracer
    types = [renewed(type, loop.free) for type in loop.types]
    count = len(types) - len(loop.tensors)
    results = append_while(tracer, (test_region, body_region), loop.starts, types, count)
    for tensor, result in zip(loop.tensors.values(), results[count:], strict=True):
        tracer.assign(tensor, result)
    loop.join_stops(results, loop.stops)
    return put_back(trace, loop.slots, iter(results[:count]), [body_region])
