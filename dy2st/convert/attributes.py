"""The attributes of objects, read and set past the methods of their classes."""

from __future__ import annotations

import inspect
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from dy2st.convert.undefined import Undefined
from dy2st_runtime.nn.layer import Layer

# What every Layer has: its parameters, buffers and sublayers change by ways of their own.
STORES = ("_parameters", "_buffers", "_sub_layers", "_forward_pre_hooks", "_forward_post_hooks")
_OF_EVERY_LAYER = frozenset(vars(Layer())) - {"training"}
_ABSENT = object()


def attributes_of(owner: Any) -> dict[str, Any]:
    """A copy of an object's attributes; a cell has one, the value of its variable."""
    if isinstance(owner, CellType):
        value = contents_of(owner)
        return {} if isinstance(value, Undefined) else {"cell_contents": value}
    if isinstance(owner, type):
        return {k: v for k, v in vars(owner).items() if not _is_of_class(k, v)}
    if isinstance(owner, Layer):
        return {k: v for k, v in _dict_of(owner).items() if k not in _OF_EVERY_LAYER}
    found = dict(_dict_of(owner))
    for name in slots_of(type(owner)):
        value = _slot(owner, name)
        if value is not _ABSENT:
            found[name] = value
    return found


def attribute_of(owner: Any, name: str) -> Any:
    """An attribute; that of the class if the object has none of its own; Undefined if no one."""
    own = _dict_of(owner)
    if name in own:
        return own[name]
    if name in slots_of(type(owner)):
        value = _slot(owner, name)
        return Undefined(name) if value is _ABSENT else value
    if isinstance(owner, ModuleType):
        return Undefined(name)
    inherited = inspect.getattr_static(owner, name, _ABSENT)
    is_missing = inherited is _ABSENT or hasattr(type(inherited), "__get__")
    return Undefined(name) if is_missing else inherited


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """Set an attribute past the methods of its owner, or remove it if the value is Undefined."""
    if isinstance(owner, CellType):
        _set_cell(owner, value)
    elif isinstance(owner, type) or name in slots_of(type(owner)):
        kind = type if isinstance(owner, type) else object
        if not isinstance(value, Undefined):
            kind.__setattr__(owner, name, value)
        elif hasattr(owner, name):
            kind.__delattr__(owner, name)
    elif isinstance(value, Undefined):
        _dict_of(owner).pop(name, None)
    else:
        _dict_of(owner)[name] = value


def contents_of(cell: CellType, name: str = "a variable") -> Any:
    """The value of a cell's variable; Undefined if it is not assigned yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return Undefined(name)


def slots_of(kind: type) -> list[str]:
    """The attributes that objects of a class have outside of their `__dict__`.

    A class may hide the slot of another behind a property, as paths do from Python 3.13 on.
    """
    return [
        name
        for base in kind.__mro__
        if "__slots__" in vars(base)
        for name, value in vars(base).items()
        if isinstance(value, MemberDescriptorType) and inspect.getattr_static(kind, name) is value
    ]


def _dict_of(owner: Any) -> dict[str, Any]:
    found = getattr(owner, "__dict__", None)
    return found if isinstance(found, dict) else {}


def _slot(owner: Any, name: str) -> Any:
    try:
        return object.__getattribute__(owner, name)
    except AttributeError:
        return _ABSENT


def _set_cell(cell: CellType, value: Any) -> None:
    if not isinstance(value, Undefined):
        cell.cell_contents = value
    elif not isinstance(contents_of(cell), Undefined):
        del cell.cell_contents


def _is_of_class(name: str, value: Any) -> bool:
    """Whether an attribute of a class belongs to how it is made: nobody sets it in a branch."""
    return not isinstance(value, FunctionType) and (
        name.startswith("__") or hasattr(value, "__get__")
    )
