"""What goes from turn to turn of a tensor-dependent loop, and what is assumed of it.

The body is traced with Variables in place of everything that the loop changes. What a turn gives
back tells the types of those Variables; where it differs from what was assumed (a size that grows,
a number that becomes a tensor, a list that gets longer) the assumption is widened and the body is
traced again, until it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dy2st.convert.branch_join import ABSENT, is_choosable, merged, number_of
from dy2st.convert.choices import spread
from dy2st.convert.guards import bound_flag, is_guarded, passed_on, without_guard
from dy2st.convert.joining import (
    describe,
    entries_of,
    fits_number,
    is_joinable,
    is_mixed,
    is_number,
    named,
    number_kind,
    same_constant,
    same_layout,
    stand_in,
    to_variable,
)
from dy2st.convert.objects import is_structure, made_in
from dy2st.convert.outer import Attribute, Change, Place
from dy2st.convert.regions import Copies, Region, trace_region
from dy2st.convert.undefined import Undefined
from dy2st_runtime.dims import Dim
from dy2st_runtime.errors import ConversionError, LoopMismatch, UnsupportedSyntax
from dy2st_runtime.ir import (
    ArrayType,
    Block,
    F,
    Tensor,
    Tracer,
    ValueType,
    Variable,
    user_location,
)
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.ir.join import join_types, renewed
from dy2st_runtime.ir.program import NumberKind
from dy2st_runtime.ir.structure import flatten, is_container, map_entries

Function = Callable[..., Any]
Yields = dict[int, Variable]


@dataclass
class Carried:
    """One value that goes from turn to turn: how it starts, and what is assumed of it."""

    name: str
    initial: Variable
    type: ValueType
    number: NumberKind | None = None
    mixed: bool = False
    # Whether the user's variable is bound, as another carried value; None if it surely is.
    bound: Carried | None = None
    parameter: Variable | None = None
    result: Variable | None = None


def _known(carried: Carried) -> Variable:
    assert carried.parameter is not None
    return carried.parameter


class Retrace(Exception):
    """An assumption was widened: trace again."""


class OtherObject(Exception):
    """A turn gives a variable a new object: it goes from turn to turn attribute by attribute."""

    def __init__(self, index: int, refusal: Callable[[], LoopMismatch]) -> None:
        """The place of the variable; what makes the error if it is none."""
        super().__init__()
        self.index, self.refusal = index, refusal


Path = tuple[int, ...]


class Loop:
    """The state of one staged loop while its types are found."""

    def __init__(
        self,
        tracer: Tracer,
        names: Sequence[str],
        guarded: frozenset[str],
        values: Sequence[Any],
    ) -> None:
        self.tracer, self.names, self.guarded = tracer, list(names), guarded
        self.place = user_location()
        self.initial, self.given = list(values), list(values)
        self.places: list[Change] = []  # their values follow those of the variables
        self.ended: list[Any] = []  # what they hold at the end of a turn
        self.new: set[int] = set()  # objects that the turn has made, and nothing else holds
        self.carried: list[Carried] = []
        self.free: set[Dim] = set()  # sizes that change from turn to turn
        self.states: dict[int, tuple[Tensor, Carried]] = {}
        self.values = [
            self._carry(name, value) for name, value in zip(self.names, values, strict=True)
        ]

    # -- what goes from turn to turn -----------------------------------------------------------

    def _carry(self, name: str, value: Any) -> Any:
        """The value with a `Carried` in place of everything that may change."""
        if is_container(value):
            return map_entries(value, lambda entry: self._carry(name, entry))
        if is_guarded(value) and name not in self.guarded:
            with passed_on(value):
                carried = self._new(name, value)
            carried.bound = self._new(f"whether {name} is bound", bound_flag(value))
            return carried
        return self._new(name, value) if is_joinable(value) else value

    def _new(self, name: str, value: Any, like: Any = None) -> Carried:
        initial = to_variable(self.tracer, value, like)
        carried = Carried(name, initial, initial.type)
        if is_number(value) and not isinstance(like, Tensor):
            carried.number = number_kind(value)
        carried.mixed = is_mixed(value)
        self.carried.append(carried)
        return carried

    def parameters(self, block: Block) -> None:
        """Give a Block a parameter for every carried value, and for the state."""
        for carried in self.carried:
            type = renewed(carried.type, self.free)
            parameter = block.add_parameter(type, carried.initial.name)
            parameter.number, parameter.mixed = carried.number, carried.mixed
            carried.parameter = parameter
        for carried in self.carried:
            if carried.bound is not None and carried.name not in self.guarded:
                assert carried.parameter is not None and carried.bound.parameter is not None
                carried.parameter.guard = (carried.bound.parameter, carried.name)
        for tensor, carried in self.states.values():
            assert carried.parameter is not None
            self.tracer.assign(tensor, carried.parameter)

    def seen_by_body(self, value: Any) -> Any:
        """What the user's code gets for a value: parameters in place of what is carried."""
        if isinstance(value, Carried):
            return value.parameter
        return map_entries(value, self.seen_by_body)

    def after(self, value: Any) -> Any:
        """What the variable is after the loop."""
        if isinstance(value, Carried):
            assert value.result is not None
            if value.bound is not None and value.name not in self.guarded:
                assert value.bound.result is not None
                value.result.guard = (value.bound.result, value.name)
            return value.result
        return map_entries(value, self.after)

    def is_changed(self, value: Any, block: Block) -> bool:
        """Whether a turn leaves something else than it was given."""
        ends = dict(zip(map(id, self.carried), block.yields, strict=False))
        return any(ends[id(carried)] is not carried.parameter for carried in _carried_in(value))

    # -- one turn ------------------------------------------------------------------------------

    def trace(self, function: Function) -> Region:
        """Record one call of the condition or the body."""
        places = [change.place for change in self.places]
        before = [place.get() for place in places]

        def arguments(block: Block, copies: Copies) -> list[Any]:
            self.parameters(block)
            self.given = [self.seen_by_body(value) for value in self.values]
            count = len(self.given) - len(places)
            for place, value in zip(places, self.given[count:], strict=True):
                place.put(copies.copied(value))
            return self.given[:count]

        try:
            region = trace_region(self.tracer, function, self.initial, arguments)
            self.ended = [region.value_of(place) for place in places]
        finally:
            for place, value in zip(places, before, strict=True):
                place.put(value)
        return region

    def carry_places(self, changes: Iterable[Change]) -> None:
        """Carry the variables of other functions and attributes that the body changes."""
        known = {change.place.key for change in self.places}
        new = [change for change in changes if change.place.key not in known]
        for change in new:
            name = change.place.name
            while name in self.names:
                name += " (outside)"
            self.names.append(name)
            self.places.append(change)
            self.initial.append(change.before)
            self.values.append(self._carry(name, change.before))
        if new:
            raise Retrace

    def pure(self, region: Region) -> None:
        """The condition must not change a variable: the body would not see it."""
        given = self.given[len(self.given) - len(self.places) :]
        same = {
            change.place.key
            for change, value, end in zip(self.places, given, self.ended, strict=True)
            if end is region.copies.copy_of(value) and not region.copies.has_changed_inside(end)
        }
        changes: dict[Any, Place] = {k: c.place for k, c in region.outer.items() if k not in same}
        for place in changes.values():
            raise UnsupportedSyntax(
                f"the condition of a loop changes `{place.name}`",
                at=self.place,
                why="the loop depends on a tensor, so its condition can only be looked at",
                hint="use `while True:`, and begin the loop with `if not condition: break`",
            )

    def take_turn(self, region: Region) -> None:
        """Compare what a turn gives back with what is assumed; set what the Block yields."""
        if region.raised:
            raise ConversionError(
                "every turn of a loop that depends on a tensor raises",
                at=self.place,
                hint="raise under an `if` in the loop, or use `if` instead of the loop",
            )
        self.carry_places(region.outer.values())
        self.new = made_in(region.results, self.given)
        yields: dict[int, Variable] = {}
        with self.tracer.inside(region.block), passed_on(*self._checked(region)):
            for index, new in enumerate([*region.results, *self.ended]):
                old, name = self.values[index], self.names[index]
                self.values[index] = self._match((index,), name, old, new, yields)
            self._match_state(region, yields)
        region.block.yields = [yields[id(carried)] for carried in self.carried]

    def _checked(self, region: Region) -> list[Variable]:
        """Values that were perhaps unbound before the turn, which has looked."""
        values, _ = flatten([*region.results, *self.ended], is_guarded)
        return [value for value in values if self.tracer.is_checked(value, region.block)]

    def _match(self, path: Path, name: str, old: Any, new: Any, yields: Yields) -> Any:
        if isinstance(new, Choice) and self._is_list(old) and all(map(self._is_list, new.cases)):
            new = self._grown(name, old, new)
        is_leaf = isinstance(old, Carried) and is_joinable(new)
        if is_leaf or (isinstance(old, Carried) and self._is_list(old) and self._is_list(new)):
            flag = bound_flag(new)
            with passed_on(new):
                self._match_leaf(old, new, yields)
            self._match_bound(old, flag, yields)
            return old
        if isinstance(old, list) and isinstance(new, (list, Variable)) and self._grows(old, new):
            return self._as_array(path, name, old, new)
        if is_container(old) and same_layout(old, new):
            return self._match_entries(path, name, old, new, yields)
        if isinstance(old, Undefined) and old.failure is None and is_joinable(new):
            return self._first_bound(path, name, new)
        if isinstance(old, Undefined) and _stays_unbound(new):
            return old
        if isinstance(old, Undefined) and is_container(new) and name in self.guarded:
            with self._outer():
                self._replace(path, self._started(name, new))
            raise Retrace
        if same_constant(old, new):
            return old
        if is_structure(old) and type(old) is type(new) and id(new) in self.new:
            raise OtherObject(path[0], lambda: self._mismatch(name, old, new))
        return self._match_choice(path, name, old, new, yields)

    def _match_entries(self, path: Path, name: str, old: Any, new: Any, yields: Yields) -> Any:
        keys = list(old) if isinstance(old, dict) else list(range(len(entries_of(old))))
        pairs = zip(keys, entries_of(old), entries_of(new), strict=True)
        matched = [
            self._match((*path, place), f"{name}[{key!r}]", a, b, yields)
            for place, (key, a, b) in enumerate(pairs)
        ]
        entries = iter(matched)
        return map_entries(old, lambda _: next(entries))

    # -- one of several values -------------------------------------------------------------------

    def _match_choice(self, path: Path, name: str, old: Any, new: Any, yields: Yields) -> Any:
        """A turn may leave another kind of value: which it is, is carried with all of them."""
        if is_guarded(new):
            flag, label = new.guard
            own = without_guard(self.tracer, new)
            new = Choice(F.cast(flag, "int64"), (Undefined(label), own))
        cases = new.cases if isinstance(new, Choice) else (new,)
        known = self.seen_by_body(old)
        knowns = known.cases if isinstance(known, Choice) else (known,)
        if not all(map(is_choosable, (*cases, *knowns))):
            raise self._mismatch(name, old, new)
        pairs, numbers = merged(knowns, cases)
        if not isinstance(old, Choice) or len(pairs) > len(knowns):
            found = [b for a, b in pairs if a is ABSENT]
            self._replace(path, self._widened(name, old, found))
            raise Retrace
        tag = number_of(self.tracer, new, numbers)
        yields[id(old.tag)] = self.tracer.variable(tag)
        entries = zip(old.cases, pairs, strict=True)
        matched = [
            self._kept(case, yields)
            if b is ABSENT
            else self._match((*path, place + 1), name, case, b, yields)
            for place, (case, (_, b)) in enumerate(entries)
        ]
        return Choice(old.tag, tuple(matched))

    def _widened(self, name: str, old: Any, found: list[Any]) -> Choice:
        """A Choice of what was known, which it starts with, and of what was found."""
        with self._outer():
            tag = old.tag if isinstance(old, Choice) else self._new(f"which {name} is", 0)
            cases = old.cases if isinstance(old, Choice) else (old,)
            return Choice(tag, (*cases, *(self._started(name, case) for case in found)))

    def _started(self, name: str, value: Any) -> Any:
        """What stands in for a case before some turn gives it."""
        if is_joinable(value):
            return self._new(
                name, stand_in(self.tracer, value), None if is_number(value) else value
            )
        return map_entries(value, lambda entry: self._started(name, entry))

    def _kept(self, case: Any, yields: Yields) -> Any:
        for carried in _carried_in(case):
            yields[id(carried)] = _known(carried)
            if carried.bound is not None:
                yields[id(carried.bound)] = _known(carried.bound)
        return case

    def _is_list(self, value: Any) -> bool:
        if isinstance(value, Carried):
            return isinstance(value.type, ArrayType)
        is_array = isinstance(value, Variable) and isinstance(value.type, ArrayType)
        return isinstance(value, list) or is_array

    def _grown(self, name: str, old: Any, new: Choice) -> Any:
        """A list that some turns make longer, as a list of the Program."""
        for case in new.cases:
            if isinstance(case, list) and not all(map(_is_tensor, case)):
                raise self._no_list(name)
        return spread(lambda case: F.array_of(case) if isinstance(case, list) else case, new)

    def _match_leaf(self, carried: Carried, new: Any, yields: Yields) -> None:
        if isinstance(new, Undefined) or not is_joinable(new):
            is_list = isinstance(new, list) and isinstance(carried.type, ArrayType)
            if is_list and not any(map(self._is_list, new)):
                new = F.array_of(new)
            else:
                raise self._mismatch(carried.name, carried.parameter, new)
        if carried.number is not None and not is_number(new):
            self._number_to_tensor(carried, new)
        if carried.number is None and is_number(new) and not fits_number(new, _known(carried)):
            raise self._mismatch(carried.name, carried.parameter, new)
        if carried.number is not None:
            self._widen_number(carried, number_kind(new))
        variable = to_variable(self.tracer, new, carried.parameter)
        if carried.number is not None:
            variable = self._as(variable, carried)
        joined = join_types(
            carried.type,
            variable.type,
            lambda _: self._mismatch(carried.name, carried.parameter, new),
            self.free,
        )
        if joined != carried.type:
            carried.type = joined
            raise Retrace
        yields[id(carried)] = variable

    def _as(self, variable: Variable, carried: Carried) -> Variable:
        assert not isinstance(carried.type, ArrayType)
        dtype = carried.type.dtype
        return variable if variable.tensor_type.dtype == dtype else F.cast(variable, dtype)

    def _number_to_tensor(self, carried: Carried, new: Tensor) -> None:
        """`total = 0` and then `total = total + x.sum()`: the number starts as a tensor."""
        if not fits_number(carried.parameter, new):
            raise self._mismatch(carried.name, carried.parameter, new)
        with self._outer():
            carried.initial = F.cast(carried.initial, new.dtype)
        carried.type, carried.number, carried.mixed = carried.initial.type, None, True
        raise Retrace

    def _widen_number(self, carried: Carried, kind: type) -> None:
        order = (bool, int, float)
        assert carried.number is not None
        if order.index(kind) <= order.index(carried.number):
            return
        dtype = np.dtype({int: "int64", float: "float64"}[kind])
        with self._outer():
            carried.initial = F.cast(carried.initial, dtype)
        carried.type, carried.number, carried.mixed = carried.initial.type, kind, True
        raise Retrace

    def _match_bound(self, carried: Carried, flag: Any, yields: Yields) -> None:
        """Whether the variable is bound after the turn, if the Program must tell."""
        if carried.bound is not None:
            yields[id(carried.bound)] = to_variable(self.tracer, flag)
        elif flag is not True and carried.name not in self.guarded:
            with self._outer():
                carried.bound = self._new(f"whether {carried.name} is bound", True)
            raise Retrace

    def _first_bound(self, path: Path, name: str, new: Any) -> None:
        """A variable that the body binds first: any value stands in until then."""
        with self._outer():
            filler = stand_in(self.tracer, new)
            carried = self._new(name, filler, None if is_number(new) else new)
            if isinstance(new, Tensor) and not is_number(new):
                carried.number = None
            carried.bound = self._new(f"whether {name} is bound", False)
        self._replace(path, carried)
        raise Retrace

    def _replace(self, path: Path, new: Any) -> None:
        """Assume another form of a value."""

        def put(value: Any, rest: Path) -> Any:
            if not rest:
                return new
            entries = entries_of(value)
            entries[rest[0]] = put(entries[rest[0]], rest[1:])
            changed = iter(entries)
            return map_entries(value, lambda _: next(changed))

        self.values[path[0]] = put(self.values[path[0]], path[1:])

    def _grows(self, old: list[Any], new: Any) -> bool:
        return isinstance(new, Variable) or len(old) != len(new)

    def _as_array(self, path: Path, name: str, old: list[Any], new: Any) -> Any:
        """A list that changes its length becomes a list of the Program."""
        place = path[0] - len(self.values) + len(self.places)
        if place >= 0 and isinstance(self.places[place].place, Attribute):
            raise self._no_own_list(name)
        entries = [*old, *(new if isinstance(new, list) else [])]
        for entry in entries:
            if not _is_tensor(entry) and not (isinstance(entry, Carried) and entry.number is None):
                raise self._no_list(name)
        with self._outer():
            own = [entry.initial for entry in old]
            self.carried = [c for c in self.carried if not any(c is entry for entry in old)]
            array = F.array_of(own)
            carried = Carried(name, array, array.type)
            self.carried.append(carried)
        self._replace(path, carried)
        raise Retrace

    def _match_state(self, region: Region, yields: Yields) -> None:
        """Buffers that the body gives new values are carried too."""
        for key, (tensor, variable) in region.changed.items():
            if key not in self.states:
                with self._outer():
                    carried = self._new("a buffer", self.tracer.captured(tensor))
                self.states[key] = (tensor, carried)
                raise Retrace
            yields[id(self.states[key][1])] = self.tracer.local(variable)
        for _, carried in self.states.values():
            assert carried.parameter is not None
            yields.setdefault(id(carried), carried.parameter)

    def _outer(self) -> AbstractContextManager[None]:
        parent = self.tracer.block.parent
        assert parent is not None
        return self.tracer.inside(parent)

    def _no_own_list(self, name: str) -> LoopMismatch:
        return LoopMismatch(
            f"the list `{name}` changes its length in a loop that depends on a tensor",
            at=self.place,
            why="it is then a list of the Program, which only a local variable can hold",
            hint="use a local list in the loop, and assign it afterwards",
        )

    def _no_list(self, name: str) -> LoopMismatch:
        return LoopMismatch(
            f"the list `{name}` changes its length in a loop and holds more than tensors",
            at=self.place,
            why="the loop depends on a tensor, and a list of the Program holds tensors of one kind",
            hint=f"append tensors to `{name}`: to_tensor(...) of a number",
        )

    def _mismatch(self, name: str, old: Any, new: Any) -> LoopMismatch:
        called = named(name, "the loop variable")
        return LoopMismatch(
            f"{called} is {describe(self.seen_by_body(old))} at the start of a "
            f"turn and {describe(new)} at its end",
            at=self.place,
            why="the loop depends on a tensor, so one Program must serve every turn",
            hint=f"start with {called} as what it becomes (a tensor of the same dtype and rank, "
            "zeros_like(...), say), or use another variable inside",
        )


def _stays_unbound(value: Any) -> bool:
    """Whether a variable that was unbound before the loop counts as unbound after it, too.

    It is bound in every turn first, to what cannot go from turn to turn.
    """
    return isinstance(value, Undefined) or (is_container(value) and not is_choosable(value))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) and not is_number(value)


def _carried_in(value: Any) -> list[Carried]:
    return flatten(value, lambda entry: isinstance(entry, Carried))[0]
