"""What code can change without assigning a variable: what it reaches, and what it has changed.

A branch or loop body that depends on a tensor is traced on the user's own objects. What it has put
into their attributes is noted and taken back, so that the other branch sees them as they were. The
lists and dicts in them are handed out as copies. All else that it reaches must not change.
"""

from __future__ import annotations

import copy
import inspect
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import is_
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from dy2st.convert.attributes import STORES, attributes_of, contents_of, set_attribute
from dy2st.convert.classes import all_functions_of, is_installed, is_library
from dy2st.convert.hidden import has_state, set_state, state_of
from dy2st.convert.iterators import is_known, place_of
from dy2st.convert.undefined import Undefined
from dy2st_runtime.by_identity import ByIdentity
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import ConversionError, Location
from dy2st_runtime.ir import Block, Program, Tensor, Tracer, user_location
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.location import is_own_file
from dy2st_runtime.ir.structure import is_container, map_entries
from dy2st_runtime.nn.layer import Layer

_OPAQUE = (Tensor, Program, Block, Tracer, Choice, Text, ModuleType)
# Sizes keep what was asked of them, such as their text, and are no less the same for it.
_SIZES = (Dim, Condition)
_LEAVES = (type(None), bool, int, float, complex, str, bytes, range, slice, Undefined, *_SIZES)
_PLAIN = frozenset(_LEAVES)
_LOOKED_AT = 100_000  # as many numbers of an array of NumPy are compared
_CHANGING = (list, dict, set, bytearray, deque)


@dataclass(eq=False, repr=False)
class Owned:
    """A list or other container that the code reaches, what holds it, and a copy of it."""

    owner: str
    container: Any
    contents: Any


@dataclass(eq=False, repr=False)
class Heap:
    """What some code reaches: containers, objects with their attributes, and iterators.

    `states` are the objects whose state C code holds. `names` are those of the variables that
    cells stand for. `tensors` are those that something else holds than the Layer of a buffer.
    """

    containers: list[Owned]
    objects: list[tuple[Any, dict[str, Any]]]
    iterators: list[tuple[Any, Any]]
    names: dict[int, str]
    states: list[Owned]
    tensors: dict[int, Tensor]

    def outside(self) -> dict[int, tuple[Any, str]]:
        """The containers, which outlive a call of the function, each with what holds it."""
        return {id(entry.container): (entry.container, entry.owner) for entry in self.containers}

    @contextmanager
    def handed_out(self, copied: Callable[[Any], Any]) -> Iterator[None]:
        """Inside, code sees copies of the lists and dicts; if it fails all is put back."""
        try:
            for owner, before in self.objects:
                for name, value in before.items():
                    if is_container(value) or type(value) is set:
                        set_attribute(owner, name, copied(value))
            yield
        except BaseException:  # also of a key press: the user's objects must not keep copies
            self.put_back()
            raise

    def put_back(self) -> None:
        """Let everything hold again what it held."""
        for _ in self.changed_attributes():
            pass
        for _ in self.changed_containers():
            pass

    def changed_attributes(self) -> Iterator[tuple[Any, str, Any, Any]]:
        """The attributes that have changed: object, name, values before and now; they are set
        back."""
        for owner, before in self.objects:
            now = attributes_of(owner)
            if _holds_the_same(now, before):
                continue
            for name in {**before, **now}:
                old = before.get(name, _ABSENT)
                new = now.get(name, _ABSENT)
                if new is not old:
                    old, new = _or_undefined(old, name), _or_undefined(new, name)
                    set_attribute(owner, name, old)
                    yield owner, name, old, new

    def changed_containers(self) -> Iterator[Owned]:
        """The containers that hold something else than before; they are set back."""
        for entry in self.containers:
            if differs(entry.container, entry.contents):
                _set_back(entry.container, entry.contents)
                yield entry
        for entry in self.states:
            if state_of(entry.container) != entry.contents:
                set_state(entry.container, entry.contents)
                yield entry

    def refuse_changed(self) -> None:
        """Raise ConversionError if a container has changed of which no copy was handed out."""
        for entry in [*self.changed_containers()]:
            raise changed_outside(entry.owner, entry.container)


_ABSENT = object()


def _or_undefined(value: Any, name: str) -> Any:
    return Undefined(name) if value is _ABSENT else value


def changed_outside(owner: str, container: Any) -> ConversionError:
    """The refusal to change what Python holds beyond the trace."""
    return ConversionError(
        f"the {type(container).__name__} in {owner} is changed in a branch or loop that depends on "
        "a tensor",
        at=user_location(),
        why="a Program cannot change an object of Python when it runs",
        hint="use a local list and return it, or a registered buffer",
    )


def reached(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    hands_out: bool = True,
    owner: str = "a variable",
) -> Heap:
    """All that a call of the function can change by way of its arguments, closure and globals.

    `owner` says what the arguments are to the user. Unless it `hands_out` copies of them, lists
    and dicts that are found in arguments, attributes and closures are looked at as all others are.
    """
    called = inspect.unwrap(function)
    walk = _Walk(hands_out, called)
    walk.function(called)
    for value in arguments:
        walk.inside(owner, value)
    while walk.waiting:
        walk.visit(*walk.waiting.pop())
    return Heap(
        walk.containers, walk.objects, walk.iterators, walk.names, walk.states, walk.tensors
    )


def containers_in(value: Any) -> list[Any]:
    """A list, tuple or dict, and those in it."""
    found: list[Any] = []

    def take(entry: Any) -> Any:
        if is_container(entry):
            found.append(entry)
            map_entries(entry, take)
        return entry

    take(value)
    return found


class _Walk:
    def __init__(self, hands_out: bool, called: Any) -> None:
        self.hands_out = hands_out
        code: CodeType | None = getattr(called, "__code__", None)
        self.mentioned: tuple[str, ...] = () if code is None else names_in(code)
        self.package = _package(str(getattr(called, "__module__", "")))
        self.seen: dict[int, Any] = {}
        self.waiting: list[tuple[str, Any]] = []
        self.containers: list[Owned] = []
        self.objects: list[tuple[Any, dict[str, Any]]] = []
        self.iterators: list[tuple[Any, Any]] = []
        self.names: dict[int, str] = {}
        self.tensors: dict[int, Tensor] = {}
        self.states: list[Owned] = []
        self.inner: dict[int, Any] = {}
        self.modules: set[tuple[int, Sequence[str]]] = set()
        self.labels: dict[str, list[tuple[str, str]]] = {}

    def inside(self, owner: str, value: Any) -> None:
        """A value of which copies are handed out: what its lists and dicts lead to."""
        if type(value) in _PLAIN:
            return
        if not self.hands_out or not (is_container(value) or type(value) is set):
            self.waiting.append((owner, value))
        elif id(value) not in self.inner:
            self.inner[id(value)] = value
            if type(value) is set:
                self.add(owner, value)
            else:
                map_entries(value, lambda entry: self.inside(owner, entry))

    def add(self, owner: str, values: Any) -> None:
        """Look at some values later."""
        self.waiting += [(owner, value) for value in values if type(value) not in _PLAIN]

    def function(self, function: Any) -> None:
        """The variables that a function has from outside."""
        code = getattr(function, "__code__", None)
        if code is None or id(function) in self.seen:
            return
        self.seen[id(function)] = function
        if isinstance(function, MethodType):
            self.add("an argument", [function.__self__])
        self.add("a default", function.__defaults__ or ())
        self.add("a default", (function.__kwdefaults__ or {}).values())
        scope = function.__globals__
        is_own = is_own_file(code.co_filename)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.cell(name, cell, is_own)
        if not (is_own or self.is_foreign(scope.get("__name__", ""))):
            self.objects.append((function, attributes_of(function)))
            names = names_in(code)
            for name in names:
                if name in scope:
                    self.variable(f"the variable `{name}`", scope[name], names)
                elif name in sys.modules:  # it may import that, or have done so
                    self.variable(f"the module `{name}`", sys.modules[name], names)

    def is_foreign(self, module: str) -> bool:
        """Whether a module is of a library, other than that of the code: what it keeps for itself,
        such as a cache, is not what the user's code changes."""
        package = _package(str(module))
        return is_library(package) or (package != self.package and is_installed(package))

    def variable(self, owner: str, value: Any, names: Sequence[str]) -> None:
        """A variable of a module; of another module those that code with these names can mean."""
        if not isinstance(value, ModuleType):
            self.add(owner, [value])
        elif (id(value), names) not in self.modules and not self.is_foreign(value.__name__):
            self.modules.add((id(value), names))
            held = vars(value)
            for name in names:
                if name in held:
                    place = f"the variable `{name}` of the module `{value.__name__}`"
                    self.variable(place, held[name], names)

    def cell(self, name: str, cell: CellType, is_own: bool) -> None:
        """A variable of a closure."""
        if not is_own and id(cell) not in self.seen:
            self.seen[id(cell)] = cell
            self.names[id(cell)] = name
            self.objects.append((cell, attributes_of(cell)))
        self.inside(f"the variable `{name}`", contents_of(cell))

    def visit(self, owner: str, value: Any) -> None:
        """Note a value, and what it leads to."""
        if isinstance(value, FunctionType):
            self.function(inspect.unwrap(value))
            self.function(value)
            return
        if isinstance(value, _LEAVES) or id(value) in self.seen:
            return
        if isinstance(value, ModuleType):
            self.variable(owner, value, self.mentioned)
            return
        self.seen[id(value)] = value
        if isinstance(value, Tensor):
            self.tensors[id(value)] = value
        elif is_known(value):
            self.iterators.append((value, place_of(value)))
        elif isinstance(value, (list, tuple, set, frozenset, dict, bytearray, deque)):
            self.container(owner, value)
        elif isinstance(value, np.ndarray):
            if value.flags.writeable and value.size <= _LOOKED_AT:
                self.containers.append(Owned(owner, value, value.copy()))
        elif has_state(value):
            self.states.append(Owned(owner, value, state_of(value)))
        elif isinstance(value, MethodType):
            self.add(owner, (value.__self__, value.__func__))
        elif isinstance(value, (BuiltinFunctionType, MethodWrapperType)):
            self.add(owner, (value.__self__,))
        elif isinstance(value, partial):
            self.add(owner, (value.func, value.args, value.keywords))
        elif not isinstance(value, _OPAQUE):
            self.object(owner, value)

    def container(self, owner: str, value: Any) -> None:
        """Note a container, and what it holds."""
        if isinstance(value, _CHANGING) and not _is_ours(value):
            self.containers.append(Owned(owner, value, _contents(value)))
        if not isinstance(value, bytearray):
            self.add(owner, _values(value) if isinstance(value, dict) else value)
        if type(value) not in (list, tuple, set, frozenset, dict, deque):
            self.object(owner, value)

    def object(self, owner: str, value: Any) -> None:
        """Note the attributes of an object, and its class."""
        if isinstance(value, Layer):
            self.layer(value)
        if _is_ours(value):
            return
        attributes = attributes_of(value)
        self.objects.append((value, attributes))
        is_class = isinstance(value, type)
        kind = value if is_class else type(value)
        if is_class or id(kind) not in self.seen:
            self.add(owner, kind.__mro__[1:-1] if is_class else (kind,))
        if is_class and not self.is_foreign(kind.__module__):
            self.add(owner, (type(value), *all_functions_of(value)))
        place = f"the class {kind.__name__}" if is_class else f"a {kind.__name__}"
        for name, entry in attributes.items():
            if type(entry) not in _PLAIN:
                self.inside(f"the attribute `{name}` of {place}", entry)

    def layer(self, layer: Layer) -> None:
        """Note what a Layer has registered; its buffers change by ways of their own."""
        kind = type(layer).__name__
        labels = self.labels.get(kind)
        if labels is None:
            labels = [(name, f"the {name.strip('_')} of a {kind}") for name in STORES]
            self.labels[kind] = labels
        held = vars(layer)
        for name, label in labels:
            if name in held and not (self.hands_out and name == "_buffers"):
                self.containers.append(Owned(label, held[name], {**held[name]}))
        self.add(f"a {kind}", held.get("_sub_layers", {}).values())


def _is_ours(value: Any) -> bool:
    """Whether an object is a part of ours or of a library's: no code of the user changes it."""
    if isinstance(value, type):
        return is_library(value.__module__)
    module = str(type(value).__module__)
    if module.startswith("dy2st_runtime.nn"):
        return False
    return module.partition(".")[0] in ("dy2st", "logging", "numpy")


def _package(module: str) -> str:
    return module.partition(".")[0]


def names_in(code: CodeType) -> tuple[str, ...]:
    """The names and texts in code by which it may reach a variable or attribute, inner functions
    included."""
    known = _names.get(code)
    if known is None:
        inner = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
        texts = [t for t in code.co_consts if isinstance(t, str) and t.isidentifier()]
        parts = (code.co_names, code.co_freevars, texts, *inner)
        known = tuple(dict.fromkeys(name for part in parts for name in part))
        _names[code] = known
    return known


_names: ByIdentity[CodeType, tuple[str, ...]] = ByIdentity()


# -- what containers hold -----------------------------------------------------------------------


def _contents(container: Any) -> Any:
    """A copy to compare with; no code of the user's classes runs."""
    kinds: tuple[Any, ...] = (list, dict, set)
    for kind in kinds:
        if isinstance(container, kind) and not is_library(type(container).__module__):
            return kind.copy(container)
    return copy.copy(container)


def _kind_of(container: dict[Any, Any]) -> Any:
    """The class whose methods see a dict as it is: an OrderedDict has an order of its own."""
    return OrderedDict if isinstance(container, OrderedDict) else dict


def _keys(container: dict[Any, Any]) -> Any:
    return _kind_of(container).keys(container)


def _values(container: dict[Any, Any]) -> Any:
    return _kind_of(container).values(container)


def _set_back(container: Any, contents: Any) -> None:
    if isinstance(container, np.ndarray):
        container[...] = contents
    elif isinstance(container, (dict, set)):
        kind: Any = _kind_of(container) if isinstance(container, dict) else set
        kind.clear(container)
        kind.update(container, contents)
    else:
        container_kind: Any = next(k for k in (list, bytearray, deque) if isinstance(container, k))
        container_kind.clear(container)
        container_kind.extend(container, contents)


def snapshot(container: Any) -> Any:
    """A copy to compare with later."""
    if isinstance(container, Choice):
        return Choice(container.tag, container.cases)
    return _contents(container)


def differs(now: Any, before: Any) -> bool:
    """Whether a container holds something else than a copy of it from before."""
    if isinstance(now, Choice):
        return now.tag is not before.tag or now.cases is not before.cases
    if isinstance(now, np.ndarray):
        return bool(now.shape != before.shape or now.tobytes() != before.tobytes())
    if len(now) != len(before):
        return True
    if isinstance(now, dict):
        if _holds_the_same(now, before):
            return False
        if not all(map(_same, _keys(now), _keys(before))):
            return True
        return not all(map(_same, _values(now), _values(before)))
    if isinstance(now, (set, bytearray)):
        return bool(now != before)
    return not all(map(_same, now, before))


def _holds_the_same(now: dict[Any, Any], before: dict[Any, Any]) -> bool:
    """Whether a dict has the very keys and values of a copy of it: no code of theirs runs."""
    if len(now) != len(before):
        return False
    if not now:
        return True
    values = map(is_, _values(now), _values(before))
    return all(values) and all(map(is_, _keys(now), _keys(before)))


_COMPARED = frozenset({int, str, bytes})


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    return type(left) in _COMPARED and type(left) is type(right) and bool(left == right)


def check_shared(shared: Sequence[tuple[Location | None, list[tuple[Any, Any]]]]) -> None:
    """Refuse a name that is one of two lists or dicts if one of the three was changed later."""
    for place, pairs in shared:
        if any(differs(value, before) for value, before in pairs):
            raise ConversionError(
                f"a {type(pairs[0][0]).__name__} that is one of two by a tensor is changed later",
                at=place,
                why="which of the two would have to change is known only when the Program runs",
                hint="copy it where it is chosen: list(a) if condition else list(b); inside of a "
                "list or dict set the entry anew: d[k] = [*d[k], value]",
            )
