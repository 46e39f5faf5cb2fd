"""Native code with real objects: it sees what the trace has written, and the trace what it does.

The objects that it can reach get what the trace holds for them, and afterwards what they had. All
that it may read of them is noted, and so are the variables that its callbacks share with the trace.
"""

from __future__ import annotations

import dis
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from gc import get_referents
from itertools import chain
from operator import is_
from types import (
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, cast
from weakref import ref

import numpy as np

from dy2st.convert.effect_table import is_machinery, is_of_library, module_of_code
from dy2st.convert.kinds.dicts import shown_by
from dy2st.convert.kinds.lists import each, held
from dy2st.convert.kinds.side_effects import is_opaque, note_settings, variables
from dy2st.convert.kinds.tensors import read_layer, stored
from dy2st.convert.objects import (
    attributes_of,
    check_held,
    is_users,
    native_attribute,
    set_variable,
    slots_of,
)
from dy2st.convert.stage.branch import is_case
from dy2st.convert.stage.checks import must, throw
from dy2st.convert.stage.outcome import is_refusal
from dy2st.convert.trace import EACH_CALL, Trace
from dy2st.convert.types import info
from dy2st.convert.types.row import HEAP_TYPE
from dy2st.convert.types.values import read_state, same_state, write_state
from dy2st.convert.values.layout import Leaf, Number, Parts
from dy2st.convert.values.special import (
    ATTRIBUTES,
    CONTENT,
    MISSING,
    STATE,
    Asked,
    Generated,
    Indexed,
    SymbolicSequence,
    Union,
)
from dy2st_runtime.dims import Condition
from dy2st_runtime.errors import ConversionError, NoTensor
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.tracing.traced_list import TracedList
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layer_tree import store_of
from dy2st_runtime.nn.tables import STORES

CELL = "cell_contents"


@dataclass(eq=False)
class Held:
    """What native code may see or change: it holds what the trace does for as long as it runs.

    now, before  what the trace holds for it, and what it has itself.
    read, put    what gives what it has, and lets it have something.
    write        takes what native code has left there, where it is not the `same`.
    """

    now: Any
    before: Any
    read: Callable[[], Any]
    put: Callable[[Any], None]
    write: Callable[[Any], None]
    same: Callable[[Any, Any], bool] = is_

    @classmethod
    def of(cls, trace: Trace, owner: Any, name: Any, read: Any, put: Any, *others: Any) -> Held:
        """One of a place; `others` are those of it, as far as they are known."""
        before, place = read(), trace.over.get((id(owner), name))
        others = others or (partial(trace.write, owner, name),)
        return cls(before if place is None else place.value, before, read, put, *others)

    def begin(self) -> None:
        """Show native code what the trace holds."""
        if self.now is not self.before:
            self.put(self.now)

    def end(self) -> None:
        """Write what has changed, and give back what it had."""
        after = self.read()
        is_same = self.same(after, self.now)
        if not is_same or self.now is not self.before:
            self.give_back()
        if not is_same:
            self.write(after)

    def give_back(self) -> None:
        """Let it hold what it had."""
        self.put(self.before)


def held_variable(trace: Trace, owner: Any, name: str) -> Held:
    """A global or a cell."""
    read, put = (partial(one, owner, name) for one in (native_attribute, set_variable))
    return Held.of(trace, owner, name, read, put)


@contextmanager
def holding(trace: Trace, held: Sequence[Held]) -> Iterator[None]:
    """Let objects hold for native code what they hold in the trace."""
    known = len(trace.undo_stack)
    # Before: Ctrl-C may come between any two steps.
    trace.undo_stack += [one.give_back for one in held]
    try:
        for one in held:
            one.begin()
        yield
    finally:
        for one in reversed(held):  # a dict of globals sees none that was put there after it
            one.end()
        del trace.undo_stack[known:]


def _held_variables(trace: Trace, reached: Iterable[Any]) -> list[Held]:
    """The variables that functions may read or set which native code can reach."""
    found = {
        (id(place.owner), name): place.owner
        for (_, name), place in trace.over.items()
        if isinstance(name, str) and type(place.owner) in (dict, CellType)
    }
    named: set[tuple[int, str]] = set()
    for function in reached:
        if type(function) is FunctionType and not is_of_library(module_of_code(function)):
            # The globals that a function may set, and the variables of functions around it
            names = trace.mark_outside(function.__globals__)
            result: dict[tuple[int, str], Any] = {
                (id(names), n): names for n in names_of(function.__code__)
            }
            places = result | {(id(cell), CELL): cell for cell in function.__closure__ or ()}
            named |= places.keys()
            found |= places
    held = {key: held_variable(trace, owner, key[1]) for key, owner in found.items()}
    for key, one in held.items():
        if type(one.now) in (SymbolicSequence, Union) and key in named:
            trace.native(one.now)  # refused, in its words
    return [one for one in held.values() if type(one.now) not in (SymbolicSequence, Union)]


_COLLECTIONS = ("list", "dict", "set", "keys", "values", "mapping")
_MOST_PLACES = 5000  # to ask them all would take longer than to trace the call
# What a Layer keeps for itself; who calls its hooks notes them.
_UNSAVED = "_non_persistable_buffer_names_set"
_OWN = frozenset(
    ("_state_dict_hooks", _UNSAVED, "_hooks_with_kwargs")
    + ("_forward_pre_hooks", "_forward_post_hooks", *STORES)
)


def note_reached(trace: Trace, values: Any, through_users: bool = True) -> list[Any]:
    """Note all that can be reached from values as read; gives those objects.

    `through_users`: Layers of the user's inside of others too; they are traced if they are called.
    """
    todo, seen = list(values), dict[int, Any]()
    known = len(trace.reads)
    while todo:
        value = todo.pop()
        if id(value) not in seen and not _is_gone(value) and not issubclass(type(value), Tensor):
            seen[id(value)] = value
            todo += _parts(trace, value, through_users)
    if len(trace.reads) - known > _MOST_PLACES:
        text = f"code that is not traced may read more than {_MOST_PLACES} places"
        trace.read(EACH_CALL, note_reached, "reached", text)
    return list(seen.values())


def _is_gone(value: Any) -> bool:
    """Whether it is a proxy of an object that is there no more: whatever asks it raises."""
    if info(type(value)).family != "proxy":
        return False
    try:
        bool(value.__class__)
    except ReferenceError:
        return True
    return False


def _parts(trace: Trace, value: Any, through_users: bool) -> list[Any]:
    kind = type(value)
    note_settings(trace, value)
    row = info(kind)
    if row.base.family == "tuple" or kind is frozenset:
        return list(value)
    if trace.locations.of(value) is not None:
        raise ConversionError(
            f"a {kind.__name__} is given to code that is not converted",
            why="a branch, loop or list has chosen it, and what it holds is known only when the "
            "Program runs",
            hint="give that code the values that it needs",
        )
    if row.is_container:
        content = held(trace, value)
        if not info(type(content)).is_container or kind is bytearray:
            return []
        if isinstance(content, dict):
            return [*content.values(), *_marked(trace, value, _objects(content))]
        return list(content)
    if issubclass(kind, Layer):
        if trace.is_outside(value):
            read_layer(trace, value)
        fields = [one for name, one in vars(value).items() if name not in _OWN]
        children = [one for store in STORES for one in vars(value).get(store, {}).values()]
        _marked(trace, value, [*fields, *children])
        inner = [one for one in children if through_users or not is_users(one)]
        return [*(one for one in fields if not isinstance(one, Layer)), *inner]
    if kind is Asked:
        return [value.owner]
    if is_machinery(value):  # a converted function stands for what it was made of
        return [value.dygraph_function] if hasattr(kind, "dygraph_function") else []
    if kind is FunctionType:
        return _of_function(trace, value)
    if issubclass(kind, MethodType):
        return [value.__func__, value.__self__]
    if not trace.is_outside(value):
        # An iterator of Python's own holds what it asks; to ask classes of mocks makes more mocks.
        is_one = not kind.__flags__ & HEAP_TYPE and hasattr(kind, "__next__")
        asked = get_referents(value) if is_one and kind is not GeneratorType else ()
        return [*asked, *(trace.fields(value) or {}).values()]
    if row.base.family in _COLLECTIONS:
        trace.read("content", value, None, None)
        is_dict = isinstance(value, (dict, MappingProxyType))
        items = [*value.values(), *_objects(value)] if is_dict else [*value]
        return [*_marked(trace, value, items), *note_fields(trace, value)]
    if issubclass(kind, ref):
        target = value()
        found = [] if target is None else _marked(trace, value, [target])
        return [*found, *note_fields(trace, value)]
    if row.state == "hidden":
        trace.read("state", value, None, None)
    elif is_opaque(value):
        text = f"a {kind.__name__} from outside is given to code that is not traced"
        trace.read(EACH_CALL, value, "", text)
    note_class(trace, kind)
    return note_fields(trace, value)


def _objects(keys: Any) -> list[Any]:
    """The keys that may hold something themselves."""
    return [key for key in keys if not isinstance(key, (str, int))]


def note_class(trace: Trace, kind: type) -> None:
    """Note all that a class holds: native code may call any method."""
    for one in kind.__mro__:
        if one.__flags__ & HEAP_TYPE and id(one) not in trace.own:
            trace.read("names", one, None, None)


def _of_function(trace: Trace, function: FunctionType) -> list[Any]:
    """What the code of a function of the user's names, where it runs natively."""
    if is_of_library(module_of_code(function)):
        return []
    trace.read("code", function, "__code__", function.__code__)
    names, scope = names_of(function.__code__), function.__globals__
    found = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        held = native_attribute(cell, CELL)
        found.append(held if id(cell) in trace.own else trace.read("cell", cell, CELL, held))
    for name in names:
        held = trace.read("item", scope, name, scope.get(name, MISSING))
        found.append(held)
        if isinstance(held, ModuleType) and not is_of_library(held.__name__):
            found += [trace.attr(held, one) for one in names if one in vars(held)]
    if dynamic := runs_unknown_text(function.__code__):
        text = f"{function.__qualname__}() is not traced, and calls {dynamic}()"
        trace.read(EACH_CALL, function, "called", text)
    return [one for one in found if one is not MISSING]


def note_fields(trace: Trace, owner: Any) -> list[Any]:
    """Note all attributes that an object from outside itself holds; gives their values."""
    if not trace.is_outside(owner) or isinstance(owner, (type, ModuleType, FunctionType)):
        return []
    held = getattr(owner, "__dict__", None)
    if isinstance(held, dict):
        trace.read("fields", owner, None, None)
    held = dict(held) if isinstance(held, dict) else {}
    for kind in type(owner).__mro__:
        slots = [one for one in vars(kind).values() if isinstance(one, MemberDescriptorType)]
        held |= {one.__name__: getattr(owner, one.__name__, MISSING) for one in slots}
    for name, one in held.items():
        if (id(owner), name) not in trace.over:
            trace.read("attr", owner, name, one)
    return list(held.values())


def _marked(trace: Trace, owner: Any, values: Any) -> list[Any]:
    """What an owner outside holds is outside."""
    found = list(values)
    if trace.is_outside(owner):
        for value in found:
            trace.mark_outside(value)
    return found


_RUNS_TEXT = frozenset({"eval", "exec"})
_CALLS = frozenset({"CALL", "CALL_FUNCTION", "PRECALL"})


def names_of(code: CodeType) -> set[str]:
    """The globals and attributes that a code names, and those inside of it."""
    return set().union(*(one.co_names for one in _codes(code)))


def runs_unknown_text(code: CodeType) -> str:
    """The function by which a code runs a text that it does not hold itself; empty if none."""
    for one in _codes(code):
        if _RUNS_TEXT.isdisjoint(one.co_names):
            continue
        steps = [*dis.get_instructions(one)]
        for place, step in enumerate(steps):
            is_one = step.opname == "LOAD_GLOBAL" and step.argval in _RUNS_TEXT
            if is_one and not _holds_text(steps[place + 1 :]):
                return str(step.argval)
    return ""


def _holds_text(steps: list[dis.Instruction]) -> bool:
    """Whether the arguments are a text and variables: nothing is computed before the call."""
    if steps[0].opname != "LOAD_CONST" or not isinstance(steps[0].argval, str):
        return False
    called = next(step.opname for step in steps if not step.opname.startswith("LOAD_"))
    return called in _CALLS


def _codes(code: CodeType) -> list[CodeType]:
    found = [code]
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found += _codes(inner)
        elif isinstance(inner, str) and not _RUNS_TEXT.isdisjoint(code.co_names):
            try:
                found.append(compile(inner, "<text>", "exec"))
            except SyntaxError:
                continue
    return found


def with_overlay_materialised(
    trace: Trace, reached: Iterable[Any], run: Callable[[], Any], only_reads: bool = False
) -> Any:
    """Run native code that can reach some objects; what it does to them is written by the trace.

    only_reads: it changes none of them.
    """
    # Any code finds these by itself.
    by_itself = (sys.modules, sys.path, variables())
    reached = [*reached, *(one for one in by_itself if (id(one), CONTENT) in trace.over)]
    reached += [root for one in reached if (root := viewed(trace, one)) is not None]
    reached = list({id(one): one for one in reached}.values())
    for one in reached:
        if (id(one), STATE) in trace.over:
            check_held(one, trace.over[id(one), STATE].value)
    older = [one for one in reached if not trace.is_made_here(one)]
    if only_reads:
        written_to = {key for key, _ in trace.over}
        older = [one for one in older if id(one) in written_to]
    held = [_held_state(trace, one) for one in older if _may_change(trace, one)]
    written: dict[int, dict[str, Any]] = {}
    for (of, name), place in trace.over.items():
        if isinstance(name, str):
            written.setdefault(of, {})[name] = place.value
    for one in older:
        own = written.get(id(one), {})
        if isinstance(one, Layer) and own:
            held += [_held_store(trace, one, store) for store in STORES]
            own = _plain_fields(one, own)
        if own if isinstance(one, Layer) else _has_fields(one):
            held.append(_held_fields(trace, one, own))
    held += _held_variables(trace, reached)
    with holding(trace, held):
        return run()


def viewed(trace: Trace, value: Any) -> Any:
    """The array from outside into whose memory another one looks; None if it looks into none."""
    found = value
    while issubclass(type(found), (np.ndarray, np.flatiter)) and isinstance(found.base, np.ndarray):
        found = found.base
    if found is not value and trace.is_outside(value):  # which may be met before it
        trace.mark_outside(found)
    return found if found is not value and trace.is_outside(found) else None


def shown(trace: Trace, value: Any, is_kept: bool = False) -> Any:
    """An argument of native code: a container itself, where the bracket lets it hold all.

    is_kept: what is given an array keeps it, as constants of a Program do.
    """
    row = info(type(value))
    if row.state == "derived" or (row.state == "array" and not is_kept):
        return value
    is_whole = row.is_container and info(type(trace.content(value))).is_container
    return value if is_whole and _may_change(trace, value) else trace.native(value)


def _may_change(trace: Trace, value: Any) -> bool:
    """Whether native code could change an object that the code that runs now has not made."""
    if trace.is_made_here(value):
        return False
    if not info(type(value)).is_container:
        return info(type(value)).state != ""
    items = trace.content(value)
    if type(items) in (SymbolicSequence, Union):
        return False
    values = items.values() if isinstance(items, dict) else items
    return not any(type(one) in (SymbolicSequence, Union) for one in values)


def _held_state(trace: Trace, owner: Any) -> Held:
    """What an object holds that native code may change."""
    name = CONTENT if info(type(owner)).is_container else STATE

    def put(state: Any) -> None:
        if state is not made.before:
            check_held(owner, state)
        write_state(owner, state)

    def write(after: Any) -> None:
        trace.alias_tracker.part(owner)
        trace.write(owner, name, after)

    def same(after: Any, now: Any) -> bool:
        if type(after) is dict and "__builtins__" not in now:
            after.pop("__builtins__", None)  # eval() puts them there
        return same_state(after, now)

    if name is STATE:
        trace.seen("state", owner, None, None)
    made = Held.of(trace, owner, name, partial(read_state, owner), put, write, same)
    return made


def _has_fields(owner: Any) -> bool:
    """Whether an object has attributes that anybody may set, past the trace."""
    row = info(type(owner))
    if row.is_atom or row.is_container or str(type(owner).__module__).startswith("dy2st"):
        return False
    if row.family in ("class", "module", "function", "tensor", "layer"):
        return False
    return isinstance(getattr(owner, "__dict__", None), dict) or bool(slots_of(type(owner)))


def _held_fields(trace: Trace, owner: Any, written: dict[str, Any]) -> Held:
    """Attributes of an object of the user's, or a Layer, that native code may look at or change."""
    slots, kind = slots_of(type(owner)), cast(Any, object)

    def read() -> dict[str, Any]:
        # What it itself holds; what is missing is so only as it is asked.
        held = dict(getattr(owner, "__dict__", ()))
        return held | {name: native_attribute(owner, name) for name in slots}

    def put(fields: dict[str, Any]) -> None:
        old = read()
        for name in {**old, **fields}:
            value = fields.get(name, MISSING)
            if value is old.get(name, MISSING):
                continue
            if name in slots and value is MISSING:
                kind.__delattr__(owner, name)
            elif name in slots:
                kind.__setattr__(owner, name, value)
            else:
                set_variable(vars(owner), name, value)

    def write(after: dict[str, Any]) -> None:
        for name in {**now, **after}:
            value = after.get(name, MISSING)
            if value is not now.get(name, MISSING):
                trace.set_field(owner, name, value)

    before = read()
    now = before | written
    for value in now.values():
        if type(value) in (SymbolicSequence, Union):
            trace.native(value)  # refused, in its words
    return Held(now, before, read, put, write, lambda after, now: False)  # each is compared


def _plain_fields(layer: Layer, written: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a Layer that the code has set, but MISSING where they are registered."""
    stores = {name: store_of(value) for name, value in written.items()}
    new = {name for name, store in stores.items() if store == "_buffers"}
    new -= {*layer._parameters, *layer._buffers}
    unsaved = {_UNSAVED: vars(layer)[_UNSAVED] | new} if new else {}
    return {name: MISSING if stores[name] else value for name, value in written.items()} | unsaved


def _held_store(trace: Trace, layer: Layer, store: str) -> Held:
    """What such a Layer has registered; what the code itself has put there stays."""
    table = vars(layer)[store]
    before, now = dict(table), stored(trace, layer, store)
    put = lambda held: table.hold(held) if held is now else table.give_back(before, now)  # noqa: E731
    return Held(now, before, lambda: now, put, put)


def exported(trace: Trace, values: Any) -> Any:
    """Arguments for native code: containers as they are now, lists of a length as arrays."""
    if type(values) is tuple:
        return tuple(native(trace, value) for value in values)
    return {name: native(trace, value) for name, value in values.items()}


def native(trace: Trace, value: Any, around: tuple[Any, ...] = ()) -> Any:
    """A value for native code. `around`: the containers that it stands in."""
    kind = type(value)
    row = info(kind)
    if row.is_container:
        if any(value is one for one in around):
            return value  # it holds itself
        around = (*around, value)
    if kind is SymbolicSequence:
        return _array(trace, value)
    if kind is Condition:  # a bool, wherever Python has numbers
        return trace.tracer.number(value)
    if kind is tuple or kind is slice:
        parts = row.parts(value, ())
        new = [native(trace, one, around) for one in parts]
        # Native code may ask for identity: what holds nothing of the trace stays the same object.
        return value if all(map(is_, new, parts)) else row.make(kind, new, (), None)
    if row.is_container:
        content = trace.content(value)
        if type(content) is SymbolicSequence:
            return _array(trace, content)
        trace.read_content(value)
        if row.family not in ("list", "dict"):
            return content
        # A container of Python: itself, if native code may see all that it holds
        names = row.names(content)
        parts = row.parts(content, names)
        new = [native(trace, one, around) for one in parts]
        is_same = content is value and all(map(is_, new, parts))
        return value if is_same else row.make(kind, new, names, value)
    if kind is Indexed:
        return native(trace, trace.call(list, value))
    if trace.view_of(value):
        shown = shown_by(trace, value)
        return shown if info(type(shown)).is_view else native(trace, shown)
    if kind is Generated:
        return _gathered(trace, value)
    if kind is Union:
        found = trace.known(value)
        place = None if trace.handlers or not around else _place_of_tensor(value.layouts)
        found = found if place is None else _as_tensor(trace, found, place)
        if type(found) is not Union:  # on this path it is one of them
            return native(trace, found, around)
        trace.locations.wanted.add(True)
        raise ConversionError(
            "one of several values is given to code that is not converted",
            why="which of them it is, is known only when the Program runs",
            hint="decide with an `if` first, and call it in both branches",
        )
    if trace.is_outside(value):
        note_reached(trace, (value,))
    if not trace.over:
        return value
    if row.state == "derived":
        return _derived_now(trace, value)
    if row.is_view:  # of an object of a class derived from dict
        owner = get_referents(value)[0]
        now = native(trace, owner)
        return value if now is owner else getattr(now, kind.__name__.rpartition("_")[2])()
    if not issubclass(kind, np.ndarray):
        return value
    # As the code has changed it, or that into whose memory it looks.
    if (id(value), STATE) in trace.over:
        return trace.over[id(value), STATE].value
    if (id(viewed(trace, value)), STATE) not in trace.over:
        return value
    return with_overlay_materialised(trace, [value], value.copy, only_reads=True)


def _gathered(trace: Trace, generated: Generated) -> Any:
    """The items of a generator; what it raises behind them is raised where they are asked for."""
    found, raised = trace.made([]), list[Exception]()
    try:
        trace.call(found.extend, generated)
    except Exception as error:  # any that its iterator raises
        if is_refusal(error):
            raise
        raised.append(error)
    items = native(trace, found)
    return items if type(items) is TracedList and not raised else chain(items, map(throw, raised))


def _derived_now(trace: Trace, value: Any) -> Any:
    """An object of a class derived from a container, with what the code has put into it."""
    place = trace.over.get((id(value), STATE))
    if place is None:
        return value
    check_held(value, place.value)
    row, fields = info(type(value)), dict(getattr(value, "__dict__", ()))
    made = cast(Any, row.base.kind).__new__(type(value))
    row.restore(made, place.value)
    names = {name: one.value for (of, name), one in trace.over.items() if of == id(value)}
    for name, one in {**fields, **names}.items():
        if isinstance(name, str) and one is not MISSING:
            object.__setattr__(made, name, one)
    return made


def _place_of_tensor(cases: Sequence[Any]) -> int | None:
    """Which of several values is a tensor, of more axes than all others, or the widest number."""
    found = [(at, one) for at, one in enumerate(cases) if isinstance(one, (Leaf, Number))]
    width = (bool, int, float).index
    ranks = {at: width(one.kind) - 3 if isinstance(one, Number) else one.rank for at, one in found}
    places = [place for place, rank in ranks.items() if rank == max(ranks.values())]
    return places[0] if len(places) == 1 else None


def _as_tensor(trace: Trace, value: Any, place: int) -> Any:
    """An element of a list as the tensor that it may be: the run says whether it is one."""
    if type(value) is Union:
        is_number = type(value.layouts[place]) is Number
        words = "tensors holds a number, a tensor of fewer axes, or None; put zeros(...)"
        words = "numbers holds None, or one of another kind; put 0.0" if is_number else words
        error = NoTensor(f"a list of {words} in its place")
        must(trace, is_case(trace, value, place), error, of_cases=True)
    return trace.known(value)


def _array(trace: Trace, content: SymbolicSequence) -> TracedList:
    """A list of tensors, numbers or rows of numbers, of which the Program has arrays."""
    is_list, element = content.kind in (list, tuple, deque), cast(Any, content.element)
    is_row = type(element) is Parts and element.items and issubclass(element.kind, (list, tuple))
    items: Any = element.items if is_row else [] if element is None else [element]
    places = [_place_of_tensor(getattr(one, "cases", ())) for one in items]
    if is_list and not trace.handlers and {*places} - {None}:
        found: list[Any] = trace.made([])

        def take(item: Any) -> None:
            parts = zip(trace.listed(item) if is_row else [item], places, strict=True)
            new = [one if at is None else _as_tensor(trace, one, at) for one, at in parts]
            trace.call(found.append, tuple(new) if is_row else new[0])

        each(trace, content, take)
        return _array(trace, trace.content(found))
    if not is_list or not {*map(type, items)} <= {Number, *(() if is_row else (Leaf,))}:
        raise ConversionError(
            f"a {content.kind.__name__} whose length depends on a tensor is given to code that is "
            "not converted",
            why="it is no list of tensors",
            hint="gather the tensors in a list of their own",
        )
    numbers = [one.kind for one in items if type(one) is Number]
    return TracedList([*map(trace.tracer.local, content.arrays)], numbers, bool(is_row))


def dict_of(trace: Trace, owner: Any) -> Any:
    """`owner.__dict__`, as it is now."""
    held = owner.__dict__
    if not isinstance(held, dict) or trace.is_made_here(owner):
        return trace.made(held) if type(held) is dict else held
    if not any(key == id(owner) and isinstance(name, str) for key, name in trace.over):
        is_of_trace = not trace.is_outside(owner) and attributes_of(owner) is not None
        return held if is_of_trace else trace.mark_outside(held)
    note_fields(trace, owner)
    fields = trace.fields(owner)
    return seen_now(trace, held if fields is None else fields)


def seen_now(trace: Trace, fields: Any) -> Any:
    """Attributes as they are now, as a dict of its own: what is set there would be lost."""
    made = trace.made(dict(fields))
    trace.alias_tracker.keep((made,))
    trace.origins[id(made)] = made, ATTRIBUTES
    return made
