"""Objects with attributes, classes and modules, and what stands for values of the Program."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from dy2st.convert.types.row import row
from dy2st.convert.values.special import (
    MISSING,
    Generated,
    Indexed,
    Special,
    SymbolicSequence,
    Unbound,
    Union,
)
from dy2st_runtime.dims import Condition, Dim, equal
from dy2st_runtime.ir import Tensor
from dy2st_runtime.nn.layer import Layer


def bare(kind: Any) -> Any:
    """An object without attributes, past what its class makes of new ones."""
    plain = BaseException if issubclass(kind, BaseException) else object
    return plain.__new__(kind) if kind.__new__.__class__ is FunctionType else kind.__new__(kind)


def _object(kind: Any, parts: Sequence[Any], names: Any, like: Any) -> Any:
    made = bare(kind)
    for name, part in zip(names, parts, strict=True):
        if part is not MISSING:
            object.__setattr__(made, name, part)
    return made


def by_name(held: Any, names: Any) -> list[Any]:
    """What a dict holds under some names."""
    return [held.get(name, MISSING) for name in names]


_OBJECT: dict[str, Any] = {"is_open": True, "parts": by_name, "names": list, "make": _object}
row(object, SimpleNamespace, **_OBJECT)
row(BaseException, family="exception", is_fixed=True, **_OBJECT)
_CONSTANT: dict[str, Any] = {"is_open": True, "is_constant": True, "is_fixed": True}
row(type, family="class", **_CONSTANT)
row(ModuleType, family="module", **_CONSTANT)
row(Layer, family="layer", **_CONSTANT)
row(Enum, **_CONSTANT)
row(Special, is_constant=True)
row(Unbound, is_constant=True, is_single=True)


_TENSOR: dict[str, Any] = {"family": "tensor", "is_open": True, "is_traced": True}
_TRACED: dict[str, Any] = {"is_value": True, "is_fixed": True}
row(Tensor, Condition, **_TENSOR, **_TRACED)
row(Dim, **_TENSOR, **_TRACED, same=lambda left, right: equal(left, right) is True)
row(Generated, word="generator", is_fixed=True)
row(Indexed, word="iterator", is_fixed=True)
row(Union, SymbolicSequence, **_TRACED)
