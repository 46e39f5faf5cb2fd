"""Attributes and items, in Python's order: properties, descriptors, then what is held."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from functools import partial
from itertools import islice
from operator import delitem, setitem
from types import (
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from dy2st.convert.kinds import traced_keys
from dy2st.convert.kinds.dicts import TAKEN, factory_of, is_moved
from dy2st.convert.kinds.iterators import refuse_left
from dy2st.convert.kinds.lists import (
    as_dynamic,
    held,
    item_of,
    new_list,
    note_put,
    of_each,
    set_item_of,
    set_slice_of,
    to_move,
    whole_of,
)
from dy2st.convert.kinds.objects import class_of
from dy2st.convert.kinds.scalars import as_number, like_number, refuse_native_key, to_float
from dy2st.convert.kinds.side_effects import refuse_change, user_frames
from dy2st.convert.kinds.tensors import grad_of, held_in_order, set_grad, stored
from dy2st.convert.kinds.text import TEXT_METHODS, as_codes, part_of
from dy2st.convert.kinds.traced_keys import may_be_missing, presence, there
from dy2st.convert.objects import fields_in, is_namespace, layer_value, setter_of
from dy2st.convert.polyfills.math_ import bit_count, bit_length
from dy2st.convert.protocol.calls import call, call_method_row, is_of_containers
from dy2st.convert.protocol.natives import with_overlay_materialised
from dy2st.convert.protocol.operators import value_at
from dy2st.convert.stage.branch import known, stage_if
from dy2st.convert.stage.checks import caught, check_place, map_cases, must
from dy2st.convert.trace import Remaker, Sizes, Trace, of_class, own_method, special
from dy2st.convert.types import info
from dy2st.convert.types.values import is_of_codes
from dy2st.convert.values.layout import Number, Same, is_traced_number, number_kind
from dy2st.convert.values.special import CONTENT, MISSING, UNBOUND, SymbolicSequence, Union
from dy2st_runtime.errors import ConversionError, MissingAttribute, TensorAsPython
from dy2st_runtime.ir import ArrayType, Block, F, Operator, Tensor, Variable
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.tracing import numpy_values
from dy2st_runtime.ir.tracing.python_numbers import check_index
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.tables import STORES
from dy2st_runtime.storage import VarType
from dy2st_runtime.tensor import EagerTensor, Parameter

# What somebody may set in a parameter, which is guarded by which one it is.
_SET_IN_PARAMETERS = frozenset({"name", "need_clip", "optimize_attr", "regularizer"})
_PLAIN_GET: Any = object.__getattribute__


def attr(trace: Trace, owner: Any, name: str) -> Any:
    """`owner.name`."""
    kind = type(owner)
    row = info(kind)
    if row.is_atom or row.is_container or kind is tuple or kind is SymbolicSequence:
        return getattr(owner.kind() if kind is SymbolicSequence else owner, name)
    if row.family == "proxy":
        return attr(trace, _referent(trace, owner), name)
    if kind is Text and name in TEXT_METHODS:
        text = as_codes(trace, owner)
        return MethodType(TEXT_METHODS[name], text) if is_of_codes(text) else getattr(text, name)
    if kind is Union:
        return map_cases(trace, lambda one: attr(trace, one, name), owner)
    if kind is super:
        # Of the classes behind that one, in `super(kind, value)`.
        behind, value = owner.__self_class__, owner.__self__
        found = MISSING if behind is None else of_class(trace, behind, name, owner.__thisclass__)
        if found is MISSING or isinstance(value, type):
            return getattr(owner, name)
        return _from_descriptor(trace, found, value, name)
    if owner is UNBOUND:
        raise UnboundLocalError("a variable is used that may not be assigned")
    if row.family == "tensor":
        if isinstance(owner, Tensor) and number_kind(owner) is None:
            if name == "grad":
                return grad_of(trace, owner)
            if name == "type":  # the tracer's own is another thing
                return VarType.DENSE_TENSOR
        value = class_of(owner) if name == "__class__" else _member(trace, owner, name)
        if type(value) is list:
            return trace.sized(value) if name == "shape" else trace.made(value)
        is_set = name in _SET_IN_PARAMETERS and isinstance(owner, Parameter)
        return trace.read("attr", owner, name, value) if is_set else value
    if issubclass(kind, (ModuleType, type)):
        return _of_namespace(trace, owner, name)
    if kind is FrameType and name == "f_back":
        return next(islice(user_frames(owner), 1, None), None)
    try:
        is_plain = kind.__getattribute__ is _PLAIN_GET
        own = None if is_plain else own_method(trace, owner, "__getattribute__")
        if own is None:
            return plain_attr(trace, owner, name)
        return _or_getattr(trace, lambda: call(trace, own, owner, name), owner, name)
    except AttributeError as error:
        if row.word == "generator":
            refuse_left(f"is read on by its `{name}`")
        if error.name is None and error.obj is None:  # Python says it, and suggests other names
            error.name, error.obj = name, owner
        raise


def plain_attr(trace: Trace, owner: Any, name: str) -> Any:
    """`object.__getattribute__(owner, name)`, and `__getattr__` where that finds nothing."""
    found = of_class(trace, type(owner), name)
    has_location = trace.locations.of(owner) is not None
    is_in_c = info(type(found)).family == "slot" and name in ("__dict__", "__class__")
    is_data = found is not MISSING and hasattr(type(found), "__set__")
    is_slot = type(found) is MemberDescriptorType and has_location
    if is_data and not is_in_c and not is_slot and (id(owner), name) not in trace.over:
        return _of_its_class(trace, found, owner, name)
    value = _own(trace, owner, name)
    if value is MISSING:
        return _inherited_by(trace, owner, name, found)
    is_layer = isinstance(owner, Layer)
    if may_be_missing(trace, value) and (
        found is not MISSING or (not is_layer and own_method(trace, owner, "__getattr__"))
    ):
        other = lambda one: _inherited_by(trace, owner, name, found) if one is MISSING else one  # noqa: E731
        return map_cases(trace, other, value)
    return _there(trace, owner, name, value)


def _inherited_by(trace: Trace, owner: Any, name: str, found: Any) -> Any:
    """An attribute that the object itself has not; `found` is what its class has."""
    if found is not MISSING:
        return _of_its_class(trace, found, owner, name)
    method = own_method(trace, owner, "__getattr__")
    if method is not None and not isinstance(owner, Layer):
        return call(trace, method, owner, name)
    if (id(owner), name) in trace.over:  # a branch has deleted what the object itself still has
        raise _not_there(owner, name)
    return getattr(owner, name)  # raises, in Python's words


def _not_there(owner: Any, name: str) -> AttributeError:
    return AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")


def _of_namespace(trace: Trace, owner: Any, name: str) -> Any:
    """An attribute of a module or class."""
    there = lambda one: _inherited(owner, name) if one is MISSING else one  # noqa: E731
    if isinstance(owner, ModuleType):
        key = id(vars(owner)), name
        if name in vars(owner) or key in trace.over:
            # Its functions know the same place as a global.
            names = trace.mark_outside(vars(owner))
            place = trace.over.get((id(names), name))
            value = trace.read("item", names, name, names[name]) if place is None else place.value
            return map_cases(trace, there, value)
    if trace.over:
        for one in owner.__mro__ if isinstance(owner, type) else (owner,):
            place = trace.over.get((id(one), name))
            if place is not None and place.value is not MISSING:
                return place.value
    meta = type(owner)
    if isinstance(owner, type) and meta is not type:
        found = of_class(trace, meta, name)
        if isinstance(found, property) and type(found.fget) is FunctionType:
            return call(trace, found.fget, owner)
    if isinstance(owner, type) and not hasattr(owner, name):
        of_class(trace, owner, name)  # that it is not there
    value = getattr(owner, name)
    if may_be_missing(trace, value):
        return map_cases(trace, there, value)
    return value if id(owner) in trace.own else trace.read("attr", owner, name, value)


def _inherited(owner: Any, name: str) -> Any:
    """An attribute of a class that is not its own."""
    for one in owner.__mro__[1:] if isinstance(owner, type) else ():
        if name in vars(one):
            return vars(one)[name]
    what = "type object" if isinstance(owner, type) else "module"
    raise AttributeError(f"{what} {owner.__name__!r} has no attribute {name!r}")


def _of_its_class(trace: Trace, found: Any, owner: Any, name: str) -> Any:
    """What the class has."""
    getter = partial(_from_descriptor, trace, found, owner, name)
    raises = type(found) not in (FunctionType, classmethod, staticmethod)
    return _or_getattr(trace, getter, owner, name) if raises else getter()


def _or_getattr(trace: Trace, found: Callable[[], Any], owner: Any, name: str) -> Any:
    """What is found, or what `__getattr__` gives where that raises AttributeError."""
    other = own_method(trace, owner, "__getattr__")
    if other is None:
        return found()
    return caught(trace, found, AttributeError, lambda: call(trace, other, owner, name))


def _from_descriptor(trace: Trace, found: Any, owner: Any, name: str) -> Any:
    kind = type(found)
    if kind is FunctionType:
        return MethodType(found, owner)
    if kind is property and type(found.fget) is FunctionType:
        return call(trace, found.fget, owner)
    if kind is MemberDescriptorType:
        place = trace.over.get((id(owner), name)) if trace.over else None
        value = getattr(owner, name) if place is None else known(trace, place.value)
        if value is MISSING:
            raise _not_there(owner, name)
        value = trace.seen("attr", owner, name, value) if place is None else value
        return _there(trace, owner, name, value)
    if kind is classmethod:
        inner = found.__func__
        if type(inner) is FunctionType:
            return MethodType(inner, type(owner))
        if type(inner) is property and sys.version_info < (3, 13):  # a property of the class
            return call(trace, inner.fget, type(owner))
        return found.__get__(owner, type(owner))
    if kind is staticmethod:
        return found.__func__
    get = special(trace, found, "__get__")
    if type(get) is FunctionType:
        return call(trace, get, found, owner, type(owner))
    if get is None:
        return found
    value = get(found, owner, type(owner))
    is_place = kind is GetSetDescriptorType and not isinstance(owner, np.ndarray)
    return trace.seen("attr", owner, name, value) if is_place else value  # all of an array is noted


def _own(trace: Trace, owner: Any, name: str) -> Any:
    """What the object itself holds; MISSING if nothing."""
    trace.alias_tracker.check(owner)
    if trace.locations.of(owner) is not None and name != "__dict__":
        return known(trace, trace.locations.get(owner, name))
    if trace.over:
        place = trace.over.get((id(owner), name))
        if place is not None:
            return known(trace, place.value)
    if name == "__dict__":
        return trace.dict_of(owner)
    if name in STORES and isinstance(owner, Layer) and id(owner) in {key for key, _ in trace.over}:
        return trace.seen_now(stored(trace, owner, name))
    held = fields_in(owner)
    if trace.over and (id(held), CONTENT) in trace.over:  # the code has set it there
        content = trace.content(held)
        if type(content) is SymbolicSequence:
            return trace.method(held, "get", name, MISSING)
        return trace.read_item(held, name, content.get(name, MISSING))
    fields = held if isinstance(held, dict) else {}
    value = layer_value(owner, name) if isinstance(owner, Layer) else fields.get(name, MISSING)
    return trace.seen("attr", owner, name, value)


def _there(trace: Trace, owner: Any, name: str, value: Any) -> Any:
    """An attribute that a branch may have set or deleted: AttributeError where it is not there."""
    if may_be_missing(trace, value):
        must(trace, presence(trace, value), _not_there(owner, name), of_cases=True)
    return known(trace, value)


def set_attr(trace: Trace, owner: Any, name: str, value: Any) -> None:
    """`owner.name = value`; of MISSING `del owner.name`."""
    kind, is_deleted = type(owner), value is MISSING
    if kind is Union:
        map_cases(trace, lambda one: set_attr(trace, one, name, value), owner)
        return
    if info(kind).family == "proxy":
        set_attr(trace, _referent(trace, owner), name, value)
        return
    if info(kind).family == "tensor" and not is_deleted:
        if name == "grad" and isinstance(owner, Tensor):
            set_grad(trace, owner, value)
            return
        is_here = getattr(owner, "block", None) is trace.tracer.block
        if name == "name" and not is_here and trace.is_nested:
            raise ConversionError(
                "a tensor gets a name in a branch or loop that depends on a tensor",
                why="names are for people who read the Program: it would have the name on every "
                "path",
                hint="name it before the branch, or keep the name in a variable",
            )
        setattr(owner, name, value)
        return
    word = "__delattr__" if is_deleted else "__setattr__"
    own = special(trace, owner, word)
    # Whether it is that of Python's own classes, or of Layers.
    is_in_c = type(own) is WrapperDescriptorType and own.__name__ == word
    if is_in_c or own is getattr(Layer, word):
        set_plain(trace, owner, name, value)
    else:
        call(trace, own, owner, name, *(() if is_deleted else (value,)))


def del_attr(trace: Trace, owner: Any, name: str) -> None:
    """`del owner.name`."""
    set_attr(trace, owner, name, MISSING)


def _referent(trace: Trace, proxy: Any) -> Any:
    """The object that a proxy stands for; ReferenceError if it is gone."""
    found = proxy.__dir__.__self__  # all methods but those of operators are that object's
    return trace.mark_outside(found) if trace.is_outside(proxy) else found


def set_plain(
    trace: Trace, owner: Any, name: str, value: Any, put: Callable[..., None] | None = None
) -> None:
    """What the `__setattr__` and `__delattr__` of Python's own classes do, and those of Layers."""
    is_deleted, found = value is MISSING, of_class(trace, type(owner), name)
    word, given = ("__delete__", ()) if is_deleted else ("__set__", (value,))
    if isinstance(found, property):
        setter: Any = found.fdel if is_deleted else found.fset
        if setter is None:
            getattr(found, word)(owner, *given)  # raises, in Python's words
        call(trace, setter, owner, *given)
        return
    setter = special(trace, found, word) if found is not MISSING else None
    if type(setter) is FunctionType:
        call(trace, setter, found, owner, *given)
        return
    is_data = found is not MISSING and hasattr(type(found), "__set__")
    if is_deleted and (is_data or isinstance(owner, type)):
        attr(trace, owner, name)
    elif is_deleted:  # what its class has does not count
        held = _own(trace, owner, name)
        if held is MISSING:
            raise _not_there(owner, name)
        _there(trace, owner, name, held)
    elif type(owner) is FunctionType and name in _OF_CALLS and not trace.is_made_here(owner):
        raise ConversionError(
            f"`{name}` is set of the function {owner.__name__}(), which is made outside",
            why="what a call of it takes is part of the Program, and is known before it runs",
            hint="set it where the function is made, or give the values as arguments",
        )
    elif not (is_data or type(owner).__dictoffset__):
        object.__setattr__(owner, name, value)  # raises, in Python's words
    (put or _put)(trace, owner, name, value)


_OF_CALLS = frozenset({"__defaults__", "__kwdefaults__", "__code__"})


def _put(trace: Trace, owner: Any, name: str, value: Any) -> None:
    if trace.locations.of(owner) is not None:
        trace.locations.set(owner, name, value)
        return
    trace.alias_tracker.check_change(owner)
    if isinstance(owner, ModuleType):
        trace.write(trace.mark_outside(vars(owner)), name, value)
        return
    # Whether C code takes what is assigned, and keeps it where nobody sees it
    held, own, plain = fields_in(owner), type(owner).__setattr__, (object, BaseException, type)
    is_in_c = type(own) is WrapperDescriptorType and own.__objclass__ not in plain
    if is_in_c and not isinstance(held, dict) and not trace.is_made_here(owner):
        kind = type(owner).__name__
        raise ConversionError(
            f"the attribute {name!r} of a {kind} is set that is made outside of the function",
            why="what code in C keeps is no part of a Program",
            hint="set it before the function is called, or make a copy in it",
        )
    trace.alias_tracker.change(owner)
    if (id(held), CONTENT) in trace.over:
        content = trace.writable(held)
        content.pop(name, None) if value is MISSING else content.__setitem__(name, value)
    elif not trace.is_made_here(owner) or (id(owner), name) in trace.over:
        trace.write(owner, name, value)
    elif value is MISSING:
        setter_of(owner, "__delattr__")(owner, name)
    else:
        setter_of(owner, "__setattr__")(owner, name, value)


def set_own(trace: Trace, owner: Any, name: str, value: Any) -> None:
    """`object.__setattr__(owner, name, value)`."""
    set_plain(trace, owner, name, value, _put_own)


def _put_own(trace: Trace, owner: Any, name: str, value: Any) -> None:
    if trace.is_made_here(owner) and (id(owner), name) not in trace.over:
        trace.set_field(owner, name, value)
    else:
        _put(trace, owner, name, value)


def method(trace: Trace, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """`owner.name(*args, **kwargs)`."""
    kind = type(owner)
    if kind is Union:
        of_case = lambda one: method(trace, one, name, *args, **kwargs)  # noqa: E731
        found = map_cases(trace, of_case, owner)
        if type(found) is Union and name in TAKEN and is_of_containers(owner):
            trace.origins[id(found)] = found, Remaker(of_case, (owner,))
        return found
    row = info(kind).methods.get(name)
    if row is not None:
        return call_method_row(trace, row, owner, name, args, kwargs)
    return call(trace, attr(trace, owner, name), *args, **kwargs)


def _of_parts(trace: Trace, function: Callable[..., Any], index: Any, *values: Any) -> Any:
    """A function of an index and values; each part of the index may be one of several values."""
    if type(index) is not tuple:
        return map_cases(trace, function, index, *values)
    count = len(index)
    return map_cases(trace, lambda *v: function(v[:count], *v[count:]), *index, *values)


def item(trace: Trace, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    kind = type(owner)
    if kind is Union or (type(index) is Union and info(kind).family != "dict"):
        return map_cases(trace, partial(item, trace), owner, index)
    if kind in (list, tuple, deque, SymbolicSequence):
        return _of_sequence(trace, owner, index)
    if info(kind).family == "dict":
        return _of_dict(trace, owner, index)
    if isinstance(owner, Tensor):
        part_at = lambda i: like_number(owner)[trace.exported((i,))[0]]  # noqa: E731
        return _of_parts(trace, part_at, index)
    owner = as_codes(trace, owner)
    if is_of_codes(owner) or (kind is str and _is_traced(index)):
        return part_of(trace, owner, index)
    own = special(trace, owner, "__getitem__")
    if type(own) is FunctionType:
        inner = held_in_order(trace, owner, "__getitem__") if _is_traced(index) else None
        if inner is not None:
            return _of_sequence(trace, trace.made([*inner]), index)
        return call(trace, own, owner, index)
    if is_traced_number(index) and isinstance(owner, range):
        return _of_sequence(trace, tuple(owner), index)
    refuse_native_key(trace, owner, (index,))
    index = trace.exported((index,))[0]
    if isinstance(owner, dict):
        has_entry = lambda: dict.__contains__(trace.native(owner), index)  # noqa: E731
        if not with_overlay_materialised(trace, [owner], has_entry, only_reads=True):
            # What `__missing__` gives, which Python's own dict would call untraced
            own = special(trace, owner, "__missing__")
            if type(own) is FunctionType:
                return call(trace, own, owner, index)
            factory = factory_of(trace, owner) if isinstance(owner, defaultdict) else None
            if factory is None:
                raise KeyError(index)
            made = call(trace, factory)
            set_item(trace, owner, index, made)
            return made

    def part() -> Any:
        held = trace.native(owner)
        return owner[index] if isinstance(owner, np.ndarray) else held[index]  # a view of it itself

    found = with_overlay_materialised(trace, [owner], part, only_reads=True)
    is_part = trace.is_outside(owner) and not isinstance(found, np.ndarray)
    return trace.mark_outside(found) if is_part else found


def _of_sequence(trace: Trace, owner: Any, index: Any) -> Any:
    index = _as_place(trace, owner, index)
    is_slice = isinstance(index, slice)
    is_traced = _is_traced(index)
    content = owner if type(owner) in (tuple, SymbolicSequence) else trace.content(owner)
    kind = type(owner)
    if type(content) is SymbolicSequence:
        found = item_of(trace, content, index) if is_slice else _read(trace, content, index)
        is_part = is_slice or kind is SymbolicSequence  # of a tuple, or a new list
        borrow = trace.alias_tracker.borrow_element
        return found if is_part else borrow(owner, index, found, not _is_counted(index))
    if is_traced and not is_slice:
        content = held(trace, owner)
        if not content:
            raise IndexError(f"{kind.__name__} index out of range")
        number = trace.tracer.variable(index)
        number = F.where(F.less_than(number, 0), number + len(content), number)

        # A case split by halves: an element is found in as many branches as the length has binary
        # digits.
        def pick(start: int, stop: int) -> Any:
            if stop - start == 1:
                return content[start]
            middle = (start + stop) // 2
            pred = F.less_than(trace.tracer.local(number), middle)
            sides = (lambda: pick(start, middle)), (lambda: pick(middle, stop))
            return stage_if(trace, pred, *sides, (), "an element")[0]

        outside = F.logical_or(F.less_than(number, 0), F.greater_equal(number, len(content)))
        trace.tracer.check(
            F.logical_not(outside), IndexError(f"{kind.__name__} index out of range")
        )
        return pick(0, len(content))
    if is_traced and type(content) in (list, tuple, deque) and not content:
        trace.read_length(owner)
        return new_list(trace, [], kind)  # whatever its ends are
    if is_traced:
        # A slice whose ends the data decides has a length that the data decides.
        return item_of(trace, as_dynamic(trace, held(trace, owner), kind), index)
    if is_slice:
        found = new_list(trace, held(trace, owner)[index], kind)
        return trace.sized(found) if trace.origin(owner, Sizes) else found
    if kind is tuple:
        return content[index]
    if not -len(content) <= index < len(content):
        # The error depends on the length: a longer list outside needs another Program.
        trace.read_length(owner)
    return trace.read_item(owner, index, content[index])


def _is_counted(index: Any) -> bool:
    """Whether an index is a loop variable, or a sum with one: it comes once, as a rule."""
    maker = getattr(index, "maker", None)
    if isinstance(maker, Operator) and maker.name in ("add", "subtract", "multiply"):
        return any(map(_is_counted, maker.operands))
    return isinstance(maker, Block) and maker.parent is not None


def _read(trace: Trace, content: SymbolicSequence, index: Any) -> Any:
    """An element; one of several numbers and constants is the one that was read there before."""
    key = id(content.arrays[0]), index if type(index) is int else id(index)
    reads = trace.state.reads
    if key in reads:
        return known(trace, reads[key][-1])
    found = item_of(trace, content, index)
    if type(found) is Union and all(isinstance(one, (Same, Number)) for one in found.layouts):
        # What a test has told of it is known where it is read again.
        reads[key] = content.arrays[0], index, found
    return found


def _is_traced(index: Any) -> bool:
    """Whether the Program computes an index, or an end of a slice."""
    return any(is_traced_number(part) or isinstance(part, Tensor) for part in _parts(index))


def _parts(index: Any) -> tuple[Any, ...]:
    return (index.start, index.stop, index.step) if isinstance(index, slice) else (index,)


def _as_place(trace: Trace, owner: Any, index: Any) -> Any:
    """What a sequence takes as an index: a slice or number; of objects, what `__index__` gives."""
    kind = owner.kind if type(owner) is SymbolicSequence else type(owner)
    parts = _parts(index)
    if any(number_kind(part) is float for part in parts if isinstance(part, Tensor)):
        kind()[slice(0.0) if type(index) is slice else 0.0]  # raises what Python raises
    for part in parts:
        check_index(part)
    if type(index) in (int, slice) or _is_traced(index):
        return index
    if not hasattr(type(index), "__index__"):
        kind()["" if type(index) is Text else index]
    own = own_method(trace, index, "__index__")
    return index if own is None else call(trace, own, index)


def _of_dict(trace: Trace, owner: Any, key: Any) -> Any:
    if type(owner) is Counter:
        return method(trace, owner, "get", key, 0)
    key, content = known(trace, key), trace.content(owner)
    has_factory = type(owner) is defaultdict and owner.default_factory is not None
    if type(content) is SymbolicSequence or (has_factory and traced_keys.is_decided(trace, key)):
        return traced_keys.item(trace, owner, key)
    if type(key) is Union:
        return map_cases(trace, lambda one: _of_dict(trace, owner, one), key)
    if traced_keys.is_decided(trace, key):
        trace.read_content(owner)
        return value_at(trace, content, key)
    found = trace.read_item(owner, key, content.get(key, MISSING))
    if has_factory and (found is MISSING or may_be_missing(trace, found)):
        return method(trace, owner, "setdefault", key, call(trace, factory_of(trace, owner)))
    return there(trace, key, found)


def set_item(trace: Trace, owner: Any, index: Any, value: Any) -> None:
    """`owner[index] = value`; of MISSING `del owner[index]`."""
    kind, is_deleted = type(owner), value is MISSING
    if kind is Union or (type(index) is Union and info(kind).family != "dict"):
        map_cases(trace, lambda o, i: set_item(trace, o, i, value), owner, index)
    elif kind in (list, deque):
        if is_deleted:
            _del_in_list(trace, owner, index)
        else:
            _set_in_list(trace, owner, index, value)
    elif info(kind).family == "dict":
        if is_deleted:
            _del_in_dict(trace, owner, index)
        else:
            _set_in_dict(trace, owner, known(trace, index), value)
    else:
        owner, given = like_number(owner), (index,) if is_deleted else (index, value)
        own = own_method(trace, owner, "__delitem__" if is_deleted else "__setitem__")
        if own is not None:
            call(trace, own, owner, *given)
            return
        refuse_native_key(trace, owner, (index,))
        if isinstance(owner, np.ndarray) and isinstance(value, Variable):
            what = "an array of NumPy gets an element that only the run knows"
            raise _refusal(what, "let it be a tensor from its beginning: zeros(...)")
        change: Any = partial(delitem if is_deleted else setitem, owner)
        if isinstance(owner, Tensor):
            _of_parts(trace, lambda *given: change(*trace.exported(given)), *given)
        else:
            refuse_change(trace, owner)
            with_overlay_materialised(trace, [owner], partial(change, *trace.exported(given)))


def del_item(trace: Trace, owner: Any, index: Any) -> None:
    """`del owner[index]`."""
    set_item(trace, owner, index, MISSING)


def _set_in_dict(trace: Trace, owner: Any, key: Any, value: Any) -> None:
    is_assigned = type(key) is str and (id(owner), key) in trace.over
    if is_assigned or is_namespace(owner):
        trace.write(owner, key, value)
    elif type(key) is Union and _has_all(trace, owner, key):
        # Every case has its entry, so the keys of the dict stay as they are.
        map_cases(trace, lambda one: _set_in_dict(trace, owner, one, value), key)
    elif traced_keys.is_decided(trace, key) or is_moved(trace, owner, key):
        traced_keys.put(trace, owner, key, value)
    else:
        note_put(trace, owner, key, value)
        trace.writable(owner)[key] = value


def _has_all(trace: Trace, owner: Any, key: Union) -> bool:
    """Whether a dict surely has an entry for each text or number that a key can be."""
    content = trace.content(owner)
    if type(content) is SymbolicSequence:
        return False
    nodes = [key.layouts[place] for place in trace.cases_of(key)]
    names = [node.value for node in nodes if isinstance(node, Same)]
    found = [content.get(name, MISSING) for name in names]
    sure = [one is not MISSING and not may_be_missing(trace, one) for one in found]
    return len(names) == len(nodes) and all(sure)


def _set_in_list(trace: Trace, owner: Any, index: Any, value: Any) -> None:
    index = _as_place(trace, owner, index)
    content = trace.writable(owner)
    if type(content) is not SymbolicSequence and not _is_traced(index):
        if not isinstance(index, slice):
            note_put(trace, owner, index, value)
            content[index] = value
            return
        value = trace.listed(value)
        if type(value) is not SymbolicSequence:
            taken = range(len(content))[index]
            if len(taken) != len(value):  # what is behind moves
                trace.read_content(owner)
            trace.read_length(owner)
            for place, one in zip(taken, value, strict=False):
                note_put(trace, owner, place, one)
            content[index] = value
            return
    # Which elements move, and where to, depends on the whole list: all of it is read.
    to_move(trace, owner)
    if isinstance(index, slice):
        set_slice_of(trace, owner, index, trace.listed(value))
    else:
        set_item_of(trace, owner, whole_of(trace, owner, content), index, value)


def _del_in_list(trace: Trace, owner: Any, index: Any) -> None:
    index = _as_place(trace, owner, index)
    content = to_move(trace, owner)
    if type(content) is not SymbolicSequence and not _is_traced(index):
        del content[index]
    elif isinstance(index, slice):
        set_slice_of(trace, owner, index, None)
    else:
        whole = whole_of(trace, owner, content)
        check_place(trace, whole, index, "assignment index")
        trace.hold(owner, of_each(trace, whole, lambda array: F.array_delete(array, index)))


def _del_in_dict(trace: Trace, owner: Any, key: Any) -> None:
    if traced_keys.is_keyed(trace, owner) or traced_keys.is_decided(trace, key):
        traced_keys.taken(trace, owner, traced_keys.sure_place(trace, owner, key))
        return
    item(trace, owner, key)  # raises KeyError as Python does, and is a read of the entry
    if is_namespace(owner):
        trace.write(owner, key, MISSING)
    else:
        del trace.writable(owner)[key]


# -- attributes of tensors and numbers -----------------------------------------------------------


def _as_int(trace: Trace, value: Any, kind: type) -> Any:
    """The number itself; of a bool the int."""
    return trace.call(int, value) if kind is bool else value


def _is_integer(trace: Trace, value: Any, kind: type) -> Callable[[], Any]:
    def is_integer() -> Any:
        if kind is not float:
            return True
        number = to_float(trace, value)
        is_whole = F.equal(F.floor(number), number)
        return as_number(trace, F.logical_and(is_whole, F.isfinite(number)), bool)

    return is_integer


_OF_NUMBERS: dict[str, Callable[[Trace, Any, type], Any]] = {
    "real": _as_int,
    "numerator": _as_int,
    "imag": lambda trace, value, kind: 0.0 if kind is float else 0,
    "denominator": lambda trace, value, kind: 1,
    "conjugate": lambda trace, value, kind: lambda: _as_int(trace, value, kind),
    "is_integer": _is_integer,
    "bit_length": lambda trace, value, kind: partial(trace.call, bit_length, value),
    "bit_count": lambda trace, value, kind: partial(trace.call, bit_count, value),
}
# What only a Variable has, and what only a tensor with data.
_OURS = frozenset(dir(Variable)) - frozenset(dir(EagerTensor))
_OF_DATA = frozenset(dir(EagerTensor)) - frozenset(dir(Variable))


def _member(trace: Trace, owner: Any, name: str) -> Any:
    """`owner.name` of a tensor, or of a number that only the run knows."""
    kind = number_kind(owner)
    if kind is not None and not hasattr(kind, name):
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    if name.startswith("__"):
        return getattr(owner, name)
    if kind is not None:
        if name in _OF_NUMBERS:
            return _OF_NUMBERS[name](trace, owner, kind)
        what = f"{name} of a number that only the run knows"
        raise _refusal(what, "compute it with operators, or take it of a number that is known")
    if not isinstance(owner, Variable) or isinstance(owner.type, ArrayType):
        return getattr(owner, name)
    if owner.is_numpy and numpy_values.has_member(name):
        return numpy_values.member(owner, name)
    if name in _OF_DATA:
        raise _refusal(f"{name} of a traced tensor", "ask the tensor that the function returns")
    if name in _OURS or not hasattr(type(owner), name):
        reason = f"{EagerTensor.__name__!r} object has no attribute {name!r}"
        raise MissingAttribute(reason, name=name, known=partial(dir, EagerTensor))
    return getattr(owner, name)


def _refusal(what: str, hint: str) -> TensorAsPython:
    why = "while a function is traced its tensors have no values yet"
    return TensorAsPython(what, why=why, hint=hint)
