"""Attributes of tensors and numbers of a Program: those that Python has, and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dy2st.convert.kinds.scalars import as_number, to_float
from dy2st.convert.trace import Trace
from dy2st.convert.values.layout import number_kind
from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir import ArrayType, F, Variable, user_location
from dy2st_runtime.tensor import EagerTensor


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
}
# What only a Variable has, and what only a tensor with data.
_OURS = frozenset(dir(Variable)) - frozenset(dir(EagerTensor))
_OF_DATA = frozenset(dir(EagerTensor)) - frozenset(dir(Variable))


def member(trace: Trace, owner: Any, name: str) -> Any:
    """`owner.name` of a tensor, or of a number that only the run knows."""
    if name.startswith("__"):
        return getattr(owner, name)
    kind = number_kind(owner)
    if kind is not None:
        if not hasattr(kind, name):
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
        if name in _OF_NUMBERS:
            return _OF_NUMBERS[name](trace, owner, kind)
        what = f"{name} of a number that only the run knows"
        raise _refusal(what, "compute it with operators, or take it of a number that is known")
    if not isinstance(owner, Variable) or isinstance(owner.type, ArrayType):
        return getattr(owner, name)
    if name in _OURS:
        raise AttributeError(f"{EagerTensor.__name__!r} object has no attribute {name!r}")
    if name in _OF_DATA:
        raise _refusal(f"{name} of a traced tensor", "ask the tensor that the function returns")
    return getattr(owner, name)


def _refusal(what: str, hint: str) -> TensorAsPython:
    why = "while a function is traced its tensors have no values yet"
    return TensorAsPython(what, at=user_location(), why=why, hint=hint)
