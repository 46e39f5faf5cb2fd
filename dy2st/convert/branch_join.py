"""The values that two branches give one variable, as results of a `cond`, or as a Choice."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from dy2st.convert.attributes import attributes_of, set_attribute
from dy2st.convert.caught import Relayed
from dy2st.convert.guards import bound_flag, is_guarded, passed_on, without_guard
from dy2st.convert.heap import containers_in, snapshot
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
from dy2st.convert.objects import is_structure, made_like, same_attributes
from dy2st.convert.regions import Region
from dy2st.convert.stale import is_stale, make_stale
from dy2st.convert.undefined import Undefined
from dy2st_runtime.errors import BranchMismatch, Location
from dy2st_runtime.ir import ArrayType, Block, F, Tensor, Tracer, ValueType, Variable
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.join import join_types
from dy2st_runtime.ir.program import NumberKind
from dy2st_runtime.ir.structure import flatten, is_container, map_entries
from dy2st_runtime.nn.layer import Layer


@dataclass
class Slot:
    """One result of the `cond`: what each branch yields, and its type."""

    true: Variable
    false: Variable
    type: ValueType
    number: NumberKind | None = None
    mixed: bool = False
    result: Variable | None = None


class Join:
    """Joins the results of two branches; the results of the `cond` come in later."""

    def __init__(self, tracer: Tracer, true: Region, false: Region, place: Location | None) -> None:
        self.tracer, self.true, self.false, self.place = tracer, true, false, place
        self.slots: list[Slot] = []
        # Whether the values to join are cases of a Choice, one of which stands in for the other.
        self.filling = False
        self.new: set[int] = set()  # objects that a branch has made, and nothing else holds
        # What gives objects that a branch has made the values that they have after the `if`.
        self.exports: dict[int, tuple[Any, list[Callable[[], None]]]] = {}
        self._stand_ins: dict[tuple[Block, ValueType], Any] = {}

    def variable(self, name: str, left: Any, right: Any, guarded: bool) -> Callable[[], Any]:
        """As `join`, for values that were perhaps unbound before: whether they are bound now is
        joined too."""
        if left is right or not (is_guarded(left) or is_guarded(right)):
            return self.join(name, left, right, guarded)
        bound = self._checked(left, self.true) + self._checked(right, self.false)
        if bound:
            with passed_on(*bound):
                joined = self.variable(name, left, right, guarded)
            return lambda: self._passed(joined(), bound)
        if not _has_one_form(left, right):
            sides = (self._perhaps(left, self.true), self._perhaps(right, self.false))
            return self.join(name, *sides, guarded)
        flags = bound_flag(left), bound_flag(right)
        with passed_on(left, right):
            value = self.join(name, left, right, True)
        flag = self.join(f"whether {name} is bound", *flags, True)

        def guard() -> Any:
            result = value()
            if isinstance(result, Variable):
                result.guard = (flag(), name)
            return result

        return guard

    def _passed(self, result: Any, bound: list[Any]) -> Any:
        """The result; a variable that the one branch that goes on has checked is bound after it."""
        if self.true.raised or self.false.raised:
            for value in bound:
                self.tracer.note_checked(value)
        return result

    def _checked(self, value: Any, region: Region) -> list[Any]:
        """The value, if it was perhaps unbound before the branch, which has looked."""
        is_bound = is_guarded(value) and self.tracer.is_checked(value, region.block)
        return [value] if is_bound else []

    def _perhaps(self, value: Any, region: Region) -> Any:
        """A value that is perhaps unbound, as one of two cases."""
        if not is_guarded(value):
            return value
        flag, name = value.guard
        with self.tracer.inside(region.block):
            own = without_guard(self.tracer, value)
            return Choice(F.cast(flag, "int64"), (Undefined(name), own))

    def has_common_form(self, left: Any, right: Any) -> bool:
        """Whether a variable of one statement can hold either value; what is inside is asked
        apart."""
        if left is right or (isinstance(left, Undefined) and isinstance(right, Undefined)):
            return True
        unbound = isinstance(left, Undefined) or isinstance(right, Undefined)
        sides = [value for value in (left, right) if not isinstance(value, Undefined)]
        forms = [is_joinable(value) or (is_container(value) and not unbound) for value in sides]
        return all(forms) or same_constant(left, right)

    def join(self, name: str, left: Any, right: Any, guarded: bool) -> Callable[[], Any]:
        """What the variable is after the `if`; call the result once the `cond` is there."""
        if same_constant(left, right):
            return lambda: left
        for value, region, other in ((left, self.true, self.false), (right, self.false, self.true)):
            if other.raised and _is_from_before(value, region):
                return lambda: region.copies.original_of(value)
        unbound = isinstance(left, Undefined) or isinstance(right, Undefined)
        if (isinstance(left, Choice) or isinstance(right, Choice)) and not (unbound and guarded):
            return self._choice(name, left, right)
        if unbound:
            return self._half_bound(name, left, right, guarded)
        if same_layout(left, right):
            return self._containers(name, left, right, guarded)
        if self.new.issuperset((id(left), id(right))) and same_attributes(left, right):
            return self._objects(name, left, right, guarded)
        left, right = (
            self._as_array(left, right, self.true),
            self._as_array(right, left, self.false),
        )
        if is_joinable(left) and is_joinable(right) and fits(left, right):
            slot = self.slot(name, left, right)
            return lambda: slot.result
        return self._choice(name, left, right)

    def _as_array(self, value: Any, other: Any, region: Region) -> Any:
        """A list that the other branch has made one of the Program becomes one too."""
        if not isinstance(value, list) or not is_array(other) or not all(map(_is_tensor, value)):
            return value
        make_stale(region.copies.original_of(value))
        with self.tracer.inside(region.block):
            return F.array_of(value)

    def _containers(self, name: str, left: Any, right: Any, guarded: bool) -> Callable[[], Any]:
        keys = list(left) if isinstance(left, dict) else list(range(len(entries_of(left))))
        pairs = zip(keys, entries_of(left), entries_of(right), strict=True)
        entries = [self.join(f"{name}[{key!r}]", a, b, guarded) for key, a, b in pairs]
        original = self.true.copies.original_of(left)
        if original is not self.false.copies.original_of(right):
            original = None
        filling = self.filling

        def build() -> Any:
            values = [entry() for entry in entries]
            joined = _rebuilt(left, original, keys, values)
            if original is None and not filling:
                self._let_go(joined, left, right)
            return joined

        return build

    def _let_go(self, joined: Any, left: Any, right: Any) -> None:
        """A new list or dict stands for two that the user may hold under other names.

        One that its branch has changed is out of date; for others a later change would be lost.
        """
        kept = []
        for value, region in ((left, self.true), (right, self.false)):
            original = region.copies.original_of(value)
            if original is not value and region.copies.has_changed_inside(value):
                make_stale(original)
            elif original is not value:
                kept.append(original)
        kept = [value for value in kept if not is_stale(value)]
        if kept and isinstance(joined, (list, dict, Choice)):
            pairs = [(value, snapshot(value)) for value in (joined, *kept)]
            self.tracer.shared.append((self.place, pairs))

    def _objects(self, name: str, left: Any, right: Any, guarded: bool) -> Callable[[], Any]:
        """Two new objects of one class."""
        others = attributes_of(right)
        entries = {
            attribute: self.join(f"{name}.{attribute}", value, others[attribute], guarded)
            for attribute, value in attributes_of(left).items()
        }
        return lambda: made_like(left, {attribute: entry() for attribute, entry in entries.items()})

    def slot(self, name: str, left: Any, right: Any) -> Slot:
        """One result of the `cond`, of two tensors or numbers."""
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
        mixed = is_number(left) != is_number(right) or is_mixed(left) or is_mixed(right)
        slot = Slot(true, false, type, kind, mixed)
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
        missing = left if bound is right else right
        if not guarded and (not is_joinable(bound) or missing.failure is not None):
            return self._choice(name, left, right)
        filler = self._filler(bound, other)
        pair = (filler, bound) if other is self.true else (bound, filler)
        if guarded:
            return self.join(name, *pair, guarded=True)
        value = self.slot(name, *pair)
        flag = self.slot(f"whether {name} is bound", other is self.false, other is self.true)

        def guard() -> Any:
            result = value.result
            assert result is not None and flag.result is not None
            result.guard = (flag.result, name)
            return result

        return guard

    def _filler(self, value: Any, region: Region) -> Any:
        """What stands in for a value where nobody reads it."""
        if is_joinable(value):
            return self._stand_in(value, region)
        other = self.false if region is self.true else self.true
        if is_structure(value):
            self._export(value, other)
            return value
        filler = map_entries(value, lambda entry: self._filler(entry, region))
        if region.raised and filler is not value:
            # Only the other branch goes on: what it has changed is changed for all names.
            region.copies.stand_in(filler, other.copies.original_of(value))
        return filler

    def _stand_in(self, value: Any, region: Region) -> Any:
        """One stand-in serves all values of a type: a list of many lengths needs very many."""
        if is_number(value):
            return stand_in(self.tracer, value)
        key = region.block, value.type if isinstance(value, Variable) else value.tensor_type
        if key not in self._stand_ins:
            with self.tracer.inside(region.block):
                self._stand_ins[key] = stand_in(self.tracer, value)
        return self._stand_ins[key]

    def _export(self, value: Any, region: Region) -> None:
        """Let an object that a branch has made hold, after the `if`, what it held in the branch."""
        if id(value) in self.exports:
            return
        settings: list[Callable[[], None]] = []
        self.exports[id(value)] = value, settings
        other = self.false if region is self.true else self.true
        for name, entry in attributes_of(value).items():
            if is_structure(entry):
                self._export(entry, region)
            elif _is_made_in(entry, region):
                filler = self._filler(entry, other)
                left, right = (entry, filler) if region is self.true else (filler, entry)
                joined = self.join(f"{type(value).__name__}.{name}", left, right, True)
                settings.append(_setting(value, name, joined))

    # -- one of several values -------------------------------------------------------------------

    def _choice(self, name: str, left: Any, right: Any) -> Callable[[], Any]:
        """What the branches give has no one form: a Choice, and which it is."""
        lefts, rights = _cases(left), _cases(right)
        for case in (*lefts, *rights):
            if not is_choosable(case):
                raise self._mismatch(name, left, right)
        pairs, numbers = merged(lefts, rights)
        tag = self.slot(
            f"which {name} is",
            self._tag(self.true, left, list(range(len(lefts)))),
            self._tag(self.false, right, numbers),
        )
        entries = []
        outer, self.filling = self.filling, True
        for ours, theirs in pairs:
            ours = self._filler(theirs, self.true) if ours is ABSENT else ours
            theirs = self._filler(ours, self.false) if theirs is ABSENT else theirs
            entries.append(self.variable(name, ours, theirs, guarded=True))
        self.filling = outer
        inner = [*self._inside(left, self.true), *self._inside(right, self.false)]

        def build() -> Any:
            if inner:
                pairs = [(value, snapshot(value)) for value in inner if not is_stale(value)]
                self.tracer.shared.append((self.place, pairs))
            choice = Choice(tag.result, tuple(entry() for entry in entries))
            original = self.true.copies.original_of(left)
            if isinstance(original, Choice) and original is self.false.copies.original_of(right):
                original.tag, original.cases = choice.tag, choice.cases
                return original
            if not outer:
                self._let_go(choice, left, right)
            return choice

        return build

    def _inside(self, value: Any, region: Region) -> list[Any]:
        """The lists and dicts in the cases: the user may hold them under other names."""
        cases = _cases(value)
        found = [one for case in cases for one in containers_in(case) if one is not case]
        kept = [one for one in found if isinstance(one, (list, dict))]
        return [region.copies.original_of(one) for one in kept]

    def _tag(self, region: Region, value: Any, numbers: list[int]) -> Any:
        """Which of the merged cases a value is, recorded in its branch."""
        with self.tracer.inside(region.block):
            return number_of(self.tracer, value, numbers)

    def _mismatch(self, name: str, left: Any, right: Any) -> BranchMismatch:
        ours, theirs = describe(left), describe(right)
        if ours == theirs:  # two objects of one class, which a Program has no form for
            theirs = f"another {theirs.partition(' ')[2]}"
        return BranchMismatch(
            f"{named(name)} is {ours} in one branch of the `if` and {theirs} in the other",
            at=self.place,
            why="the condition is a tensor, so both branches are part of the Program and must "
            "give every variable one kind of value",
            hint=f"give {named(name)} the same dtype, rank and structure in both branches, or "
            "decide on a Python value",
        )


ABSENT = object()
_CHOOSABLE = (
    str,
    bytes,
    complex,
    type,
    range,
    slice,
    frozenset,
    set,
    enum.Enum,
    np.generic,
    Undefined,
    Relayed,
    FunctionType,
    BuiltinFunctionType,
    MethodType,
)


def is_choosable(value: Any) -> bool:
    """Whether a value may be one of those that a Program chooses from."""
    if value is None or is_joinable(value) or isinstance(value, _CHOOSABLE):
        return True
    if is_structure(value) or isinstance(value, Layer):
        return True
    if isinstance(value, dict):
        return all(map(is_choosable, value.values()))
    if isinstance(value, (Choice, Text)):
        return True
    return is_container(value) and all(map(is_choosable, value))


def fits(left: Any, right: Any) -> bool:
    """Whether one result of an operator can be either of two tensors or numbers."""
    if is_number(left) and is_number(right):
        return number_kind(left) is number_kind(right)
    if is_number(left) or is_number(right):
        number, tensor = (left, right) if is_number(left) else (right, left)
        return fits_number(number, tensor)
    one, other = _form(left), _form(right)
    return bool(one == other or (one[0] == other[0] == "list" and None in (one[1], other[1])))


def _is_made_in(value: Any, region: Region) -> bool:
    """Whether a branch has computed a value, or one in its lists, tuples and dicts."""
    found, _ = flatten(value, lambda leaf: isinstance(leaf, Variable))
    return any(leaf.block is region.block for leaf in found)


def _is_from_before(value: Any, region: Region) -> bool:
    """Whether a branch gives what was there before it, so that it needs no result."""
    if is_container(value):
        is_copy = region.copies.original_of(value) is not value
        return is_copy and not region.copies.has_changed_inside(value)
    return is_joinable(value) and not _is_made_in(value, region)


def _setting(owner: Any, name: str, joined: Callable[[], Any]) -> Callable[[], None]:
    return lambda: set_attribute(owner, name, joined())


def _has_one_form(left: Any, right: Any) -> bool:
    sides = [value for value in (left, right) if not isinstance(value, Undefined)]
    return all(map(is_joinable, sides)) and fits(sides[0], sides[-1])


def is_array(value: Any) -> bool:
    """Whether a value is a list of the Program."""
    return isinstance(value, Variable) and isinstance(value.type, ArrayType)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) and not is_number(value) and not is_array(value)


def _form(tensor: Tensor) -> Any:
    if isinstance(tensor, Variable) and isinstance(tensor.type, ArrayType):
        inner = tensor.type.tensor
        return "list", None if inner is None else (tensor.type.depth, inner.dtype, inner.rank)
    return tensor.dtype, tensor.ndim


def _alike(left: Any, right: Any) -> bool:
    """Whether two cases are one."""
    if same_constant(left, right):
        return True
    if isinstance(left, Undefined) and isinstance(right, Undefined):
        return True
    if same_layout(left, right):
        return True
    return is_joinable(left) and is_joinable(right) and fits(left, right)


def _cases(value: Any) -> tuple[Any, ...]:
    return value.cases if isinstance(value, Choice) else (value,)


def number_of(tracer: Tracer, value: Any, numbers: Sequence[int]) -> Variable:
    """Which of the merged cases a value is; `numbers` are the places of its own among them."""
    if not isinstance(value, Choice):
        return tracer.number(numbers[0])
    tag = tracer.variable(value.tag)
    if list(numbers) != list(range(len(numbers))):
        table = tracer.constant(np.array(numbers, "int64"))
        with tracer.surely_valid():
            tag = F.getitem(table, tag)
    tag.number = int
    return tag


def merged(lefts: Sequence[Any], rights: Sequence[Any]) -> tuple[list[tuple[Any, Any]], list[int]]:
    """Pairs of cases that are one, and the places of the right ones among them."""
    pairs: list[tuple[Any, Any]] = [(case, ABSENT) for case in lefts]
    numbers = []
    for case in rights:
        free = [k for k, pair in enumerate(pairs) if pair[1] is ABSENT]
        place = next((k for k in free if _alike(pairs[k][0], case)), len(pairs))
        if place == len(pairs):
            pairs.append((ABSENT, case))
        else:
            pairs[place] = (pairs[place][0], case)
        numbers.append(place)
    return pairs, numbers


def _rebuilt(like: Any, original: Any, keys: list[Any], values: list[Any]) -> Any:
    """The joined container: the user's own list or dict, changed in place, or a new one."""
    if isinstance(like, Text):
        entries = iter(values)
        return like.mapped(lambda _: next(entries))
    if isinstance(like, dict):
        target = type(like)() if original is None else original
        target.clear()
        target.update(zip(keys, values, strict=True))
        return target
    if isinstance(like, list):
        if original is None:
            return values
        original[:] = values
        return original
    return type(like)(values) if type(like) is tuple else type(like)(*values)


__all__ = ["ABSENT", "Join", "Slot", "is_choosable", "merged", "number_of"]
