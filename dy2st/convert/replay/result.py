"""Trees over the outputs of a Program: what a call returns, and what it writes outside."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Container, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    CoroutineType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any
from weakref import ReferenceType

import numpy as np

from dy2st.convert.objects import slots_of
from dy2st.convert.replay.places import owners_of
from dy2st.convert.states import has_states
from dy2st.convert.trace import CONTAINERS, Trace
from dy2st.convert.values.flatten import build, flatten
from dy2st.convert.values.forms import BUNDLES
from dy2st.convert.values.layout import (
    Layout,
    Same,
    holds_itself,
    leaves_of,
    number_kind,
    opened,
)
from dy2st.convert.values.sequences import Generated, Indexed
from dy2st.convert.values.special import Special, SymbolicSequence, Unbound, Union, is_changed
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Variable
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor


@dataclass(frozen=True)
class Out:
    """The output of that index; a Python number of that kind where Python has one.

    np.generic stands for what NumPy has: a number, or an array.
    """

    index: int
    number: type | None = None


@dataclass(frozen=True)
class Known:
    """An object of the user's, as it is."""

    get: Callable[[], Any]


@dataclass(eq=False)
class Made:
    """A new list, dict or object at each call; one that is met twice is made once."""

    kind: type
    keys: Sequence[Any]
    items: list[Any]
    like: Any = None


@dataclass(eq=False)
class Several:
    """One of several values, by a tag.

    held: trees of the objects that are older than the branch, by the layouts that they stand in.
    """

    tag: Out
    cases: list[Any]
    held: dict[int, Any]


@dataclass(eq=False)
class Rows:
    """A list of a length: arrays, side by side, and the layout of one element.

    held: trees of the objects that are older than the list, by the layouts that they stand in.
    """

    kind: type
    arrays: list[Out]
    element: Any
    held: dict[int, Any]
    like: Any = None


@dataclass(eq=False)
class Written:
    """A text with trees in its holes."""

    text: Text


TREES = (Out, Known, Made, Several, Rows, Written)
_ATOMS = frozenset({str, int, float, bool, bytes, complex, type(None), type(...), range})


class Taker:
    """Takes values apart; what the Program computes becomes an output."""

    def __init__(self, trace: Trace, opened: Container[int], what: str, at: Location | None = None):
        """Containers that are `opened`, by id, are outside and yet made anew at each call.

        what, at: what a refusal says of a value, and of which place.
        """
        self.trace = trace
        self.opened = opened
        self.leaves: list[Variable] = []
        self.known: dict[int, Any] = {}
        self.kept: list[Any] = []  # so that no other object gets the id of one that is known
        self.places: dict[Variable, int] = {}
        self.chosen: list[Union] = []  # those that are being taken, from the outside in
        self.owner = owners_of(trace)
        self.what, self.at = what, at

    def out(self, variable: Variable, number: type | None = None) -> Out:
        """The output that gives a Variable."""
        local = self.trace.tracer.local(variable)
        if local not in self.places:
            self.places[local] = len(self.leaves)
            self.leaves.append(local)
        return Out(self.places[local], number)

    def take(self, value: Any) -> Any:
        """The tree of a value; the value itself if it is a constant."""
        if isinstance(value, (Variable, Dim, Condition)):
            is_numpy = isinstance(value, Variable) and value.is_numpy
            kind = np.generic if is_numpy else number_kind(value)
            return self.out(self.trace.tracer.variable(value), kind)
        if isinstance(value, EagerTensor):
            return self.out(self.trace.tracer.captured(value))
        if type(value) is Union:
            return self._union(value)
        if type(value) is Text:
            return Written(value.mapped(self.take))
        if isinstance(value, tuple):
            items = [self.take(item) for item in value]
            # A tuple of constants is a constant, and stays the object that it is.
            is_made = any(isinstance(item, TREES) for item in items)
            return Made(type(value), (), items) if is_made else value
        if type(value) is SymbolicSequence:
            return self._rows(value)
        if id(value) in self.known:
            return self.known[id(value)]
        return self._object(value)

    def key(self, value: Any) -> Any:
        """The tree of a key or an element of a set: of the user's objects it is that object."""
        if self._is_known(value):
            return value
        if isinstance(value, (FunctionType, MethodType)):
            raise self._refusal(value)
        return self.take(value)

    def _is_known(self, value: Any) -> bool:
        if isinstance(value, (tuple, frozenset)):
            return all(map(self._is_known, value))
        is_atom = type(value) in _ATOMS or isinstance(value, (np.generic, type, Enum))
        return is_atom or self.trace.is_outside(value)

    def _object(self, value: Any) -> Any:
        trace, kind = self.trace, type(value)
        if kind in _ATOMS or isinstance(value, np.generic):
            return value
        trace.alias_tracker.check(value)
        if trace.is_outside(value) and id(value) not in self.opened:
            return Known(self.owner(value))
        if kind in CONTAINERS:
            return self._container(value, kind)
        held = trace.fields(value)
        if held is None:
            return self._other(value)
        # Noted before its parts are taken: they may hold it.
        made = self._note(value, Made(kind, list(held), [], object))
        made.items += [self.take(item) for item in held.values()]
        return made

    def _other(self, value: Any) -> Any:
        """An object that C code keeps: as it is if nobody can tell it from that of another call."""
        if has_states(value):
            return self._note(value, Made(type(value), (), [], copy(value)))
        base = next((base for base in DERIVED if isinstance(value, base)), None)
        if base is not None:
            derived: Made = self._note(value, Made(type(value), (), [], base))
            held = dict(getattr(value, "__dict__", ()))
            names = (name for name in slots_of(type(value)) if hasattr(value, name))
            held |= {name: getattr(value, name) for name in names}
            derived.items += [self._container(held, dict), self._container(base(value), base)]
            return derived
        parts = _parts(self.trace, value)
        if parts is None:
            raise self._refusal(value)
        known = self._note(value, Known(lambda: value))
        # It is kept as it is, so nothing in it may be other at the next call.
        for tree in map(self.take, parts):
            if isinstance(tree, TREES) and not isinstance(tree, Known):
                raise self._refusal(value)
        return known

    def _note(self, value: Any, tree: Any) -> Any:
        """The tree of an object, which is one however often it is met."""
        self.kept.append(value)
        self.known[id(value)] = tree
        return tree

    def _refusal(self, value: Any, what: str = "") -> ConversionError:
        kind = type(value)
        if kind is CoroutineType:
            value.close()  # nobody will await it
        return ConversionError(
            f"{self.what} a {what or _WORDS.get(kind, kind.__name__)}",
            at=self.at,
            why="a Program gives back tensors, Python constants, and lists, tuples, dicts and "
            "objects of them",
            hint="return the tensors and build the object outside",
        )

    def _container(self, value: Any, kind: type) -> Any:
        content = self.trace.content(value)
        if type(content) is SymbolicSequence:
            return self._note(value, self._rows(content))
        if type(content) is Union:
            return self._note(value, self._union(content))
        keys = list(content) if isinstance(content, dict) else ()
        if any(_is_computed(self.take(key)) for key in keys):
            raise self._refusal(value, "dict with a tensor as a key")
        made = self._note(value, Made(kind, keys, [], _empty(value)))
        items = content.values() if isinstance(content, dict) else content
        made.items += [self.take(item) for item in items]
        return made

    def _rows(self, content: SymbolicSequence) -> Rows:
        arrays = [self.out(array) for array in content.arrays]
        held: dict[int, Any] = {}
        self._hold(content.element, held)
        return Rows(content.kind, arrays, content.element, held, content.like)

    def _union(self, value: Union) -> Several:
        if any(value is one for one in self.chosen):
            raise holds_itself(value, self.at)
        self.chosen.append(value)
        now = self._as_changed(value)
        tag = self.out(now.tag, int)
        held: dict[int, Any] = {}
        for layout in now.layouts:
            self._hold(layout, held)
        pairs = zip(now.layouts, now.arrays, strict=True)
        cases = [(layout, [self.out(array) for array in arrays]) for layout, arrays in pairs]
        self.chosen.pop()
        return Several(tag, cases, held)

    def _as_changed(self, value: Union) -> Union:
        """A value with what the objects that it may be hold now."""
        for one in value.objects.values():
            self.trace.alias_tracker.check(one)
        if not any(is_changed(value, place, self.trace) for place in value.objects):
            return value
        # Once more by value: the arrays of the cases are those of before the change.
        node = opened(Same(value, self.trace))
        made: Union = build(self.trace, node, iter(flatten(self.trace, value, node, self.trace)))
        return made

    def _hold(self, node: Layout | None, held: dict[int, Any]) -> None:
        """Take the objects that a layout tells, which are older than it."""
        if isinstance(node, Same) and type(node.value) not in _ATOMS:
            held[id(node)] = self.take(node.value)
        for inner in () if node is None else leaves_of(node):
            self._hold(inner, held)


_WORDS: dict[type, str] = {
    Generated: "generator",
    Indexed: "iterator",
    CellType: "function that uses a variable of the trace",
}


def _is_computed(tree: Any) -> bool:
    """Whether a value depends on the outputs of the Program."""
    if isinstance(tree, Made):
        return any(map(_is_computed, tree.items))
    return isinstance(tree, TREES) and not isinstance(tree, Known)


def _parts(trace: Trace, value: Any) -> Sequence[Any] | None:
    """What an object of Python's own holds that never changes; None if nobody knows."""
    kind = type(value)
    if kind is CellType:
        return (trace.held(value, "cell_contents"),)
    if kind is FunctionType:
        defaults = value.__defaults__ or (), (value.__kwdefaults__ or {}).values()
        own = vars(value).values()
        return [*(value.__closure__ or ()), *defaults[0], *defaults[1], *own]
    if kind in BUNDLES:
        return BUNDLES[kind].parts(value, ())
    if kind in (classmethod, staticmethod):
        return (value.__func__,)
    if kind is ReferenceType:  # as keys of a weak dict are
        return () if value() is None else (value(),)
    if kind is BuiltinFunctionType:
        return () if value.__self__ is None else (value.__self__,)
    if kind is frozenset:
        return list(value)
    if isinstance(value, type):
        return [one for one in vars(value).values() if isinstance(one, Variable)]
    if isinstance(value, (int, float, str, bytes)):
        return list(vars(value).values())
    is_constant = isinstance(value, _CONSTANTS) or kind.__module__.partition(".")[0] in _CONSTANT
    return () if is_constant else None


_CONSTANTS = (type, ModuleType, CodeType, Enum, Layer, Special, Unbound)
# Modules whose objects in C nobody can change.
_CONSTANT = frozenset(
    {"datetime", "decimal", "dy2st_runtime", "fractions", "numpy", "pathlib", "re", "types"}
    | {"typing", "uuid"}
)
# How objects of classes derived from containers get what they hold.
DERIVED: dict[type, Callable[..., Any]] = {
    OrderedDict: OrderedDict.__setitem__,
    dict: dict.__setitem__,
    list: list.append,
    set: set.add,
}


def _empty(value: Any) -> Any:
    """What a new container of the kind begins with: a deque has its maxlen, for one."""
    if type(value) in (list, dict, OrderedDict, Counter, set, bytearray):
        return None
    empty = value.copy()
    empty.clear()
    return empty


@dataclass(eq=False)
class Finished:
    """What a call gives back, and what it writes.

    outputs   how many outputs the result takes; those of the effects come after.
    is_plain  whether the structure of the Program says all of the result.
    unknown   the buffers that are replaced, by name, of which nobody knows what they hold then,
              and where they may have been changed.
    writes    whether a call writes anything outside, be it before it raises.
    may_run_again  whether Python may then make the call: nothing that was seen is done twice.
    has_gone_back  whether backward() was called: no gradient flows back from a call.
    freed     the outputs that were computed by what it has gone through, or might have.
    leaves    the arguments in which gradients end, by place, and the gradient of each.
    kept      the outputs that a file keeps for the next call, by the names of its state.
    kept_places  the places outside that it keeps whole, by owner and name.
    lost      what refuses a file, since it would forget what it reads again.
    """

    result: Any = None
    outputs: int = 0
    is_plain: bool = False
    effects: list[Any] = field(default_factory=list)
    unknown: list[tuple[str, Location]] = field(default_factory=list)
    writes: bool = False
    may_run_again: bool = True
    has_gone_back: bool = False
    freed: list[int] = field(default_factory=list)
    leaves: list[tuple[int, Any]] = field(default_factory=list)
    kept: dict[str, int] = field(default_factory=dict)
    kept_places: set[Any] = field(default_factory=set)
    lost: ConversionError | None = None
