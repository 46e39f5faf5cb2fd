"""Places outside that a trace has read: how one is found again, and compared with what it held.

What places that differ from call to call hold comes in with the state.
"""

from __future__ import annotations

import weakref
from collections import Counter, deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import blake2b
from operator import is_
from pathlib import PurePath
from types import CellType, FunctionType, MappingProxyType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from dy2st.convert.objects import cell_value, fields_in, is_namespace, layer_value
from dy2st.convert.record import Record
from dy2st.convert.trace import Trace
from dy2st.convert.types import info, same
from dy2st.convert.types.row import HEAP_TYPE
from dy2st.convert.values.special import CONTENT, MISSING, STATE
from dy2st_runtime.ir.tracing.traced_numbers import Trials
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layer_tree import hooks_of
from dy2st_runtime.nn.tables import Table
from dy2st_runtime.parameter_updates import Changing
from dy2st_runtime.tensor import EagerTensor, Parameter, form_of, wrapped

# Longer arrays are not kept.
_LARGE = 4096


def same_answer(value: Any, known: Any) -> bool:
    """As `same`, of lists, dicts, paths and dates that are made anew at each look."""
    if isinstance(known, (PurePath, date)):
        return repr(value) == repr(known)
    if type(known) not in (list, dict) or type(value) is not type(known):
        return same(value, known)
    if isinstance(known, dict):
        value, known = ([*one, *one.values()] for one in (value, known))
    return len(value) == len(known) and all(map(same_answer, value, known))


PLACES = ("attr", "item", "cell")  # the reads that give what a place holds


def is_plain_tensor(value: Any) -> bool:
    """Whether a value is a tensor, and no parameter."""
    return isinstance(value, EagerTensor) and not isinstance(value, Parameter)


def like(value: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value is a tensor, no parameter, of that type."""
    return is_plain_tensor(value) and form_of(value) == (dtype, shape)


def text_of(array: np.ndarray[Any, Any]) -> Any:
    """What tells the content of an array from all others."""
    text = array.tobytes()
    short = text if len(text) <= _LARGE else blake2b(text).digest()
    objects = tuple(map(id, array.ravel().tolist())) if array.dtype.hasobject else ()
    return array.dtype, array.shape, array.flags.num, short, objects


def fields_of(kind: type | None) -> Mapping[str, Any]:
    """What a class holds itself; nothing if it is gone."""
    return {} if kind is None else kind.__dict__


def mro_of(kind: type | None) -> tuple[type, ...]:
    """A class and its bases, in the order of lookups; none if it is gone."""
    return () if kind is None else kind.__mro__


def item_value(owner: Any, index: Any) -> Any:
    """`owner[index]` of a list; MISSING behind its end."""
    try:
        return owner[index]
    except IndexError:
        return MISSING


def is_kept(value: Any) -> bool:
    """Whether a Program may keep a value alive: objects of classes, and closures, it must not."""
    if isinstance(value, FunctionType):
        return value.__closure__ is None
    if isinstance(value, type):
        return "<locals>" not in value.__qualname__
    is_object = type(value).__flags__ & HEAP_TYPE and not isinstance(value, tuple)
    return not is_object or isinstance(value, (ModuleType, EagerTensor))


def weak(value: Any) -> Callable[[], Any] | None:
    """A weak reference to what must not be kept alive; None to all else, and to what takes none."""
    if is_kept(value):
        return None
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def finder_of(value: Any) -> Callable[[], Any]:
    """What gives a value, as long as it is there; None afterwards."""
    return weak(value) or (lambda: value)


def same_as(values: Iterable[Any]) -> Callable[[Collection[Any]], bool]:
    """What tells whether values are as many and the same, one by one.

    Objects of the user's are not kept alive.
    """
    pairs = [(weak(value), value) for value in values]
    known = [(one, value if one is None else None) for one, value in pairs]
    constants = [value for one, value in pairs if one is None]

    def are(found: Collection[Any]) -> bool:
        if len(found) != len(known):
            return False
        if len(constants) == len(known) and all(map(is_, found, constants)):
            return True
        return all(
            same(value, constant) if reference is None else value is reference() is not None
            for value, (reference, constant) in zip(found, known, strict=False)
        )

    return are


def state_as(layer: Layer, unread: Container[str] = ()) -> Callable[[Layer], bool]:
    """What tells whether a Layer holds all that it holds now; a buffer counts by its type.

    But for attributes that are `unread`. Objects of the user's are not kept alive.
    """
    names, values = _state_of(layer, unread)
    are_same, hooks, buffers = same_as(values), same_as(hooks_of(layer)), _types_of(layer)

    def holds(one: Layer) -> bool:
        names_now, now = _state_of(one, unread)
        if names_now != names or not are_same(now):
            return False
        is_same = not one._buffers or _types_of(one) == buffers
        return is_same and hooks(hooks_of(one))

    return holds


def _state_of(layer: Layer, unread: Container[str]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    fields = {name: value for name, value in vars(layer).items() if name not in unread}
    parameters, inner, buffers = layer._parameters, layer._sub_layers, layer._buffers
    names = *fields, *parameters, *inner, *buffers
    return names, (*fields.values(), *parameters.values(), *inner.values())


def _types_of(layer: Layer) -> list[Any]:
    held = layer._buffers.items()
    return [(n, t if t is None else (t.array.dtype, t.array.shape)) for n, t in held]


ReadKey: TypeAlias = "tuple[int, str, Any]"
Path: TypeAlias = "tuple[int, tuple[tuple[str, Any], ...]]"

# Places that hold another tensor at each call by their nature: gradients.
_LIVE = frozenset({"_grad"})
_FIRST, _LAST = -(2**63), 2**63 - 1
_MOST_IN_TUPLE = 8
_MOST_DRAWN = 64

Finding: TypeAlias = "tuple[Callable[[], Any], str, Any]"  # an owner, and a place of it


@dataclass(frozen=True)
class AnyNumber:
    """A guard asks no more of a place than a number of that kind, or a tuple of such numbers."""

    kind: type | tuple[type, ...]

    @classmethod
    def like(cls, value: Any) -> AnyNumber | None:
        """What numbers like this one have, or tuples of numbers; None of what is neither."""
        if type(value) in (int, float):
            return cls(type(value))
        if type(value) is not tuple or not 0 < len(value) <= _MOST_IN_TUPLE:
            return None
        kinds = tuple(map(type, value))
        return cls(kinds) if all(kind in (int, float) for kind in kinds) else None

    def fits(self, value: Any) -> bool:
        """Whether a value is such a number, and the Program can hold it."""
        if not isinstance(self.kind, tuple):
            return is_number(value, self.kind)
        is_one = type(value) is tuple and len(value) == len(self.kind)
        return is_one and all(map(is_number, value, self.kind))


def is_number(value: Any, kind: type) -> bool:
    """Whether a value is a number of this kind that a Program can hold, as int64 or float64."""
    is_one: bool = type(value) is kind
    return is_one and (kind is float or _FIRST <= value <= _LAST)


# What every tensor has, past its `__dict__` if it has one.
_SLOTTED = frozenset(EagerTensor.__slots__)


def value_at(owner: Any, kind: str, name: Any) -> Any:
    """What a place holds; MISSING if nothing."""
    if isinstance(owner, CellType):
        return cell_value(owner)
    if kind == "state":
        row = info(type(owner))
        return row.as_value(row.snapshot(owner))
    if kind == "item":
        return owner.get(name, MISSING) if isinstance(owner, dict) else item_value(owner, name)
    if isinstance(owner, Layer):
        return layer_value(owner, name)
    held = fields_in(owner)
    if name == "__dict__":
        return MISSING if held is None else held
    # C holds more beside it: the `__globals__` of a function, for one.
    if not isinstance(held, dict) or info(type(getattr(type(owner), name, None))).family == "slot":
        return getattr(owner, name, MISSING)
    return held.get(name, MISSING)


def found_by(read: Any) -> Iterator[Any]:
    """What a read has found: where an owner is read as a whole, all that it holds; tuples opened.

    What a Layer holds in its tables is found by the reads of the Layer.
    """
    owner, kind, _, value = read
    if kind == "content":
        if isinstance(owner, (dict, MappingProxyType)) and not isinstance(owner, Table):
            return _flat(owner.values())
        return _flat(owner if isinstance(owner, (list, deque)) else ())
    if kind == "code":
        return _flat((*(owner.__defaults__ or ()), *(owner.__kwdefaults__ or {}).values()))
    return _flat((value,))


def _places_of(read: Any) -> Iterator[tuple[int, int, Any]]:
    """The values that a read has found, by id, with the owner and name of the place of each."""
    owner, kind, name, _ = read
    if kind == "content" and isinstance(owner, (dict, list, deque)):
        pairs = owner.items() if isinstance(owner, dict) else enumerate(owner)
        for key, value in pairs if not isinstance(owner, Table) else ():
            yield from ((id(one), id(owner), key) for one in _flat((value,)))
    else:
        # One place has one name: its index from the beginning.
        is_from_end = kind == "item" and isinstance(owner, (list, deque)) and name < 0
        name = name + len(owner) if is_from_end else name
        yield from ((id(one), id(owner), name) for one in found_by(read))


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if issubclass(type(value), tuple):
            yield from _flat(tuple.__iter__(value))
        else:
            yield value


def first_reads(reads: Iterable[Any]) -> dict[int, Any]:
    """The read that has found each container, by its id; none of what is there without one."""
    found: dict[int, Any] = {}
    owners = set()
    for read in reads:
        owner, kind, _, value = read
        owners.add(id(owner))
        if kind in PLACES and info(type(value)).is_container and id(value) not in owners:
            found.setdefault(id(value), read)
    return found


def path_of(read: Any, found: Mapping[int, Any]) -> Path:
    """How a place is reached from an object that stays, through containers that may not."""
    owner, kind, name, _ = read
    above = found.get(id(owner))
    root, steps = (id(owner), ()) if above is None else path_of(above, found)
    return root, (*steps, (kind, name))


def owners_of(reads: Iterable[Any]) -> Callable[[Any], Callable[[], Any]]:
    """What gives a function that finds an object outside at a call.

    A container is what the place holds where the trace has found it.
    """
    found = first_reads(reads)

    def finder(value: Any) -> Callable[[], Any]:
        if id(value) not in found:
            return finder_of(value)
        owner, kind, name, _ = found[id(value)]
        above = finder(owner)
        return lambda: value_at(above(), kind, name)

    return finder


@dataclass(frozen=True)
class Source:
    """Where a value of the state is found; `get` is that of the stores of a LiveState."""

    owner: Callable[[], Any]
    kind: str
    # Of the value in the tuple that is there; None if it is the value itself
    index: int | None = None

    def get(self, name: Any) -> EagerTensor | None:
        """The tensor that is there, or a number as a tensor."""
        owner = self.owner()
        if self.kind == "attr" and isinstance(owner, EagerTensor) and name in _SLOTTED:
            value = getattr(owner, name)
        else:
            value = value_at(owner, self.kind, name)
        if self.index is not None:
            value = value[self.index]
        if isinstance(value, EagerTensor):
            return value
        dtype = info(type(value)).dtype if type(value) in (int, float) else None
        return None if dtype is None else wrapped(np.asarray(value, dtype))


@dataclass(eq=False)
class Varied:
    """The places that were seen to differ, by the guards of the Programs of a function."""

    places: dict[ReadKey, Finding] = field(default_factory=dict)
    trials: Trials[ReadKey] = field(default_factory=Trials)
    # Those that the function reads and writes, and that hold another tensor than they held
    tensors: set[Path] = field(default_factory=set)
    _later: dict[ReadKey, Finding] = field(default_factory=dict)

    def note(self, owner: Any, kind: str, name: Any) -> None:
        """A place that the function reads and writes holds another number than it held."""
        key = id(owner), kind, name
        if key not in self.places:
            self._later[key] = finder_of(owner), kind, name
            self.begin_trials([key])

    def see(self, owner: Any, kind: str, name: Any, values: Iterable[Any]) -> None:
        """A place that the function reads holds another number; the third one is an input."""
        key = id(owner), kind, name
        if key not in self.places and self.trials.see(key, values):
            self.trials.seen.pop(key, None)
            self.note(owner, kind, name)

    def begin_trials(self, new: Iterable[ReadKey] = ()) -> None:
        """Let new places be inputs of the next trace, and those that had to wait for others."""
        for key in self.trials.begin(new):
            if (found := self._later.pop(key, None)) is not None:
                self.places[key] = found

    def note_declared(self, reads: Iterable[Any]) -> None:
        """The places of numbers that are there to change, as learning rates are."""
        for owner, kind, name, value in reads:
            if kind == "attr" and type(value) in (int, float):
                # The attributes that the class of an object of ours says to change between calls.
                changing = getattr(type(owner), "_changing", ())
                if isinstance(changing, Changing) and name in changing:
                    self.note(owner, kind, name)

    def note_drawn(self, record: Record) -> None:
        """The generators of which Python has drawn few numbers: the Program may draw them."""
        for owner, count in record.drawn.values():
            if count <= _MOST_DRAWN:
                self.note(owner, "state", STATE)

    def live(self, trace: Trace) -> dict[ReadKey, list[tuple[Any, Source]]]:
        """Those tensors, if no other place holds them, and where they are found at each call."""
        reads = trace.reads.values()
        found_at = {place for read in reads for place in _places_of(read)}
        count = Counter(one for one, *_ in found_at)
        found: dict[ReadKey, list[tuple[Any, Source]]] = {}
        finder, firsts = owners_of(reads), first_reads(reads)
        for key, read in trace.reads.items():
            owner, kind, name, value = read
            if name not in _LIVE and path_of(read, firsts) not in self.tensors:
                continue
            parts = list(enumerate(value)) if type(value) is tuple else [(None, value)]
            held = [(index, one) for index, one in parts if is_plain_tensor(one)]
            # With a second place the two must stay one tensor, which an input of its own would not.
            if held and all(count[id(one)] == 1 for _, one in held):
                found[key] = [(one, Source(finder(owner), kind, index)) for index, one in held]
        return found

    def refuse(self, tried: Iterable[ReadKey], why: str) -> list[ReadKey]:
        """A trace with these as inputs is refused: some of them are none any more."""
        gone = self.trials.refuse(tried, why)
        for key in gone:
            if (found := self.places.pop(key, None)) is not None:
                self._later[key] = found
        return gone

    def begin(self, trace: Trace) -> dict[str, tuple[Source, Any]]:
        """Let a trace find placeholders in the places; where the values are found, by name."""
        sources: dict[str, tuple[Source, Any]] = {}
        has_written = trace.record.has_written
        for key, (reference, kind, name) in list(self.places.items()):
            owner = reference()
            if kind == "state" and owner is not None:
                trace.begin_state(trace.mark_outside(owner))
                continue
            value = None if owner is None else value_at(owner, kind, name)
            form = AnyNumber.like(value)
            if form is None or not form.fits(value):
                self.places.pop(key, None)
                continue
            if key in trace.inputs:
                continue
            indices = [None] if type(value) is not tuple else [*range(len(value))]
            found = [Source(reference, kind, index) for index in indices]
            variables = [_input(trace, one, name, sources) for one in found]
            given = variables[0] if type(value) is not tuple else tuple(variables)
            trace.mark_outside(owner)
            trace.reads[key] = owner, kind, name, form
            trace.inputs[key] = given
            if kind != "item" or is_namespace(owner):
                trace.write(owner, name, given)
            else:  # where a branch takes a copy, it takes the number of the Program, too
                held = trace.raw(owner)
                held = held.copy() if held is owner else held
                held[name] = given
                trace.write(owner, CONTENT, held)
        trace.record.has_written = has_written  # each holds what it held
        return sources


def _input(trace: Trace, source: Source, name: Any, sources: dict[str, Any]) -> Any:
    """The placeholder of a number outside, and where it is found, by its name."""
    tensor = source.get(name)
    assert tensor is not None
    tensor.name = f"number_{len(sources)}"
    sources[tensor.name] = source, name
    variable = trace.tracer.captured(tensor)
    variable.number = float if tensor.array.dtype.kind == "f" else int
    return variable
