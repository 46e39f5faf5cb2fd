"""What objects of Python hold: which of them may be changed, and their attributes."""

from __future__ import annotations

from types import CellType, MemberDescriptorType
from typing import Any

from dy2st.heart.states import CONTAINERS
from dy2st.heart.values.special import MISSING, UNBOUND
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer

# Values that nobody can change, and that hold nothing that could be.
ATOMS: frozenset[type] = frozenset(
    {bool, int, float, complex, str, bytes, type(None), type(...), range, slice, frozenset}
)


def parts_of(item: Any) -> list[Any]:
    """The lists, dicts and objects in a value, itself among them."""
    kind = type(item)
    if kind is tuple:
        return [part for one in item for part in parts_of(one)]
    if kind in CONTAINERS:
        inner = item.values() if isinstance(item, dict) else item
        return [item, *(part for one in inner for part in parts_of(one))]
    held = attributes_of(item) if kind not in ATOMS else None
    if held is None:
        return []
    return [item, *(part for one in held.values() for part in parts_of(one))]


def attributes_of(owner: Any) -> dict[str, Any] | None:
    """The attributes of a plain object of a user's class; None of all others."""
    kind = type(owner)
    if isinstance(owner, BaseException):
        return {"args": owner.args, "__cause__": owner.__cause__, **vars(owner)}
    if kind.__module__ in ("builtins", "collections") or isinstance(owner, (type, Tensor, Layer)):
        return None
    held = getattr(owner, "__dict__", None)
    if not isinstance(held, dict) or any("__slots__" in vars(k) for k in kind.__mro__[:-1]):
        return None
    return dict(held)


def native_attribute(owner: Any, name: str) -> Any:
    """What the object itself holds under a name, without descriptors; MISSING if nothing."""
    if type(owner) is dict:  # the globals of a module
        return owner.get(name, MISSING)
    if type(owner) is CellType:
        try:
            return owner.cell_contents
        except ValueError:
            return UNBOUND
    if isinstance(owner, Layer):
        return getattr(owner, name, MISSING)
    held = getattr(owner, "__dict__", {})
    if name in held:
        return held[name]
    slot = next((vars(one)[name] for one in type(owner).__mro__ if name in vars(one)), None)
    return getattr(owner, name, MISSING) if type(slot) is MemberDescriptorType else MISSING


__all__ = ["ATOMS", "attributes_of", "native_attribute", "parts_of"]
