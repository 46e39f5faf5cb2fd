"""Says which objects of Python may be changed, and what their attributes are."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from types import CellType, MemberDescriptorType, SimpleNamespace, WrapperDescriptorType
from typing import Any

from dy2st.convert.effect_table import is_like_the_users
from dy2st.convert.types import info
from dy2st.convert.types.row import HEAP_TYPE
from dy2st.convert.values.special import MISSING, UNBOUND, Union
from dy2st_runtime.errors import ConversionError
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.tables import STORES, Table


def objects_in(value: Any, opened: Container[str] = ("tuple", "bundle")) -> Iterator[Any]:
    """The lists, dicts, objects and tensors in a value, as often as they stand there.

    opened: the families of types of which the parts count, and not the object itself.
    """
    waiting, seen = [value], set[int]()
    while waiting:
        one = waiting.pop()
        row = info(type(one))
        if type(one) is Union:
            yield from one.objects.values()
        elif row.family in opened:
            waiting += reversed(row.parts(one, ()))
        elif not row.is_atom:
            held = one if row.is_container else attributes_of(one)
            if held is not None or isinstance(one, Tensor):
                yield one
            if held is not None and id(one) not in seen:
                seen.add(id(one))
                waiting += reversed([*(held.values() if isinstance(held, dict) else held)])


def parts_of(value: Any) -> list[Any]:
    """The lists, dicts and objects in a value, itself among them; each of them once."""
    return [*{id(one): one for one in objects_in(value) if not isinstance(one, Tensor)}.values()]


def holds_tensor(state: tuple[Any, ...]) -> bool:
    """Whether a state is that of a Program."""
    return any(isinstance(one, Tensor) for one in state)


def check_held(owner: Any, state: Any) -> None:
    """Refuse to give native code an object of which the Program knows how many items it has."""
    if info(type(owner)).state == "derived" and type(state) is not tuple:
        kind = type(owner).__name__
        raise ConversionError(
            f"a {kind} is used whose items a branch or loop that depends on a tensor has changed",
            why="how many there are, or of what kind, is known only when the Program runs",
            hint=f"give the {kind} all its items before, or keep them in a list or dict of Python",
        )
    if info(type(owner)).state == "hidden" and isinstance(state, tuple) and holds_tensor(state):
        kind = type(owner).__name__
        raise ConversionError(
            f"a {kind} is copied, or given to code that is not converted, after a branch or loop "
            "that depends on a tensor has drawn numbers of it",
            why="how far it has come is known only when the Program runs",
            hint=f"draw them all in the function, or give that code a {kind} of its own",
        )


def held_by(value: Any) -> Sequence[Any]:
    """What belongs to a value that nobody can change: items of a tuple, the object of a method."""
    row = info(type(value))
    if row.base.family in ("tuple", "bundle", "set", "bound in C") and row.is_unchanging:
        return row.parts(value, ())
    if hasattr(type(value), "dygraph_function"):  # a converted function is ours, its object is not
        try:
            return (value.__wrapped__, value.class_instance)
        except ReferenceError:  # the object is gone, which a call will say
            return (value.__wrapped__,)
    return ()


def is_ours(value: Any) -> bool:
    """Whether what an object holds is nobody's but ours."""
    module = str(type(value).__module__)
    is_own = module.startswith(("dy2st.", "dy2st_runtime.")) and not is_like_the_users(module)
    return is_own and not isinstance(value, (Layer, Table))


def fields_in(owner: Any) -> Any:
    """The `__dict__` of an object, which no code of the user's gives; None if it has none."""
    get: Any = type(owner).__getattribute__
    try:
        return (object.__getattribute__ if hasattr(get, "__code__") else get)(owner, "__dict__")
    except AttributeError:
        return None


def attributes_of(owner: Any) -> dict[str, Any] | None:
    """The attributes of a plain object of a user's class; None of all others."""
    kind = type(owner)
    if issubclass(kind, BaseException):
        # Nobody can set the exceptions of a group.
        if any(one.__name__ == "BaseExceptionGroup" for one in kind.__mro__):
            return None
        of_all = "args", "__cause__", "__context__", "__suppress_context__"
        return {**{one: getattr(owner, one) for one in of_all}, **vars(owner), **members_of(owner)}
    is_known = info(kind).is_constant or issubclass(kind, Tensor)
    if is_known or str(kind.__module__).startswith(_OWN) or _holds_more(kind):
        return None
    held = dict(fields_in(owner) or ())
    names = slots_of(kind)
    if names and str(kind.__module__).startswith("dy2st_runtime"):
        return None
    held |= {name: getattr(owner, name) for name in names if hasattr(owner, name)}
    return held


def members_of(error: BaseException) -> dict[str, Any]:
    """What an exception holds beside its `__dict__`: the errno of an OSError, slots."""
    kinds = [one for one in type(error).__mro__ if one not in BaseException.__mro__]
    fields = [(name, one) for kind in kinds for name, one in vars(kind).items()]
    names = [n for n, one in fields if info(type(one)).family == "slot" and n not in _NO_MEMBERS]
    held = {name: getattr(error, name, None) for name in names}
    return {name: value for name, value in held.items() if value is not None}


_NO_MEMBERS = frozenset({"__dict__", "__weakref__", "characters_written", "obj"})


def slots_of(kind: type) -> list[str]:
    """The names of the slots that a class and its bases have, but those that a property hides."""
    return [name for name in _members(kind) if type(getattr(kind, name)) is MemberDescriptorType]


def _members(kind: type) -> list[str]:
    own = [one for one in kind.__mro__ if vars(one).get("__slots__")]
    return [k for one in own for k, slot in vars(one).items() if type(slot) is MemberDescriptorType]


def layer_value(owner: Layer, name: str) -> Any:
    """What a Layer itself holds under a name; MISSING if nothing."""
    fields = owner.__dict__
    for held in (fields, *map(fields.get, STORES)):
        if held and name in held:
            return held[name]
    return MISSING


def is_users(value: Any) -> bool:
    """Whether an object is a Layer of a class of the user's."""
    return isinstance(value, Layer) and not str(type(value).__module__).startswith("dy2st_runtime.")


def _holds_more(kind: type) -> bool:
    """Whether objects of a class hold more, in C, than attributes."""
    in_c = {one for one in kind.__mro__ if not one.__flags__ & HEAP_TYPE}
    if kind.__itemsize__ or in_c - {object, SimpleNamespace}:
        return True
    own = len(_members(kind)) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    # Whatever else takes room in the object is a field of a class in C, which no attribute shows.
    return kind.__basicsize__ != object.__basicsize__ + own * _WORD


_OWN = __name__.rpartition(".")[0]  # what values of the trace consist of
_WORD = tuple.__itemsize__


def is_namespace(owner: Any) -> bool:
    """Whether a dict holds the globals of a module, which are places by their names."""
    return type(owner) is dict and ("__builtins__" in owner or "__spec__" in owner)


def names_now(names: Any, over: Mapping[Any, Any], owner: Any = None) -> Any:
    """What a module, or a class that is the `owner`, holds where places are written over."""
    its = id(names if owner is None else owner)
    written = {name: place.value for (key, name), place in over.items() if key == its}
    if not written:
        return names
    return {name: one for name, one in {**names, **written}.items() if one is not MISSING}


def setter_of(owner: Any, name: str) -> Callable[..., None]:
    """What sets an attribute of an object, or deletes it, past the methods of the user's class.

    name  `__setattr__` or `__delattr__`.
    """
    setter: Callable[..., None] = getattr(type(owner), name)
    if type(setter) is not WrapperDescriptorType or setter.__name__ != name:
        plain: Any = next((kind for kind in (Layer, type) if isinstance(owner, kind)), object)
        setter = getattr(plain, name)
    return setter


def cell_value(cell: CellType) -> Any:
    """What a variable of a closure holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return UNBOUND


def set_variable(owner: Any, name: Any, value: Any) -> None:
    """Let a variable of a closure, a global or an entry of a dict hold a value, or none."""
    if type(owner) is CellType:
        owner.cell_contents = value
        if value is UNBOUND:
            del owner.cell_contents
    elif value is MISSING:
        owner.pop(name, None)
    else:
        owner[name] = value


def native_attribute(owner: Any, name: str) -> Any:
    """What the object itself holds under a name, without descriptors; MISSING if nothing."""
    if type(owner) is dict:  # the globals of a module
        return owner.get(name, MISSING)
    if type(owner) is CellType:
        return cell_value(owner)
    fields = fields_in(owner) or {}
    found = layer_value(owner, name) if isinstance(owner, Layer) else fields.get(name, MISSING)
    if found is not MISSING:
        return found
    slot = next((vars(one)[name] for one in type(owner).__mro__ if name in vars(one)), None)
    return getattr(owner, name, MISSING) if type(slot) is MemberDescriptorType else MISSING
