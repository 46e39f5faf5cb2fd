"""Numbers of Python that a Program computes: how they are made, checked, and their attributes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dy2st.convert.trace import Trace
from dy2st.convert.types import info
from dy2st.convert.values.layout import number_kind
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import MissingAttribute, TensorAsPython
from dy2st_runtime.ir import ArrayType, F, Tensor, Variable
from dy2st_runtime.ir.tracing.python_numbers import require_real
from dy2st_runtime.tensor import EagerTensor


def as_number(trace: Trace, variable: Variable, kind: type) -> Variable:
    """A 0-d Variable as a number of Python; a Variable of its own where it is the user's tensor."""
    dtype = info(kind).dtype
    if variable.number is kind and variable.tensor_type.dtype == dtype:
        return variable
    if variable.number is not None:
        variable = trace.tracer.cast_number(variable, dtype)
    elif variable.tensor_type.dtype != dtype:
        if kind is not bool:
            require_real(variable.tensor_type.dtype)
        variable = F.cast(variable, dtype)
    else:
        variable = F.assign(variable)
    variable.number = kind
    return variable


def is_traced(value: Any) -> bool:
    """Whether a tensor, or a number that the Program computes; by its type: a proxy is none."""
    return issubclass(type(value), (Tensor, Dim, Condition))


def scalar(trace: Trace, value: Any) -> Variable:
    """A number, a size, or a tensor of one element as a 0-d Variable."""
    if isinstance(value, Tensor):
        variable = trace.tracer.variable(value)
        return F.reshape(variable, []) if variable.tensor_type.rank else variable
    return trace.tracer.number(value)


def to_float(trace: Trace, value: Any) -> Variable:
    """A number as a float of the Program, with all its digits, to compute with; no number."""
    variable = scalar(trace, value)
    if number_kind(variable) is None and variable.tensor_type.dtype.kind == "f":
        variable = F.detach(variable)  # a number of Python has no gradient
    return trace.tracer.cast_number(variable, info(float).dtype)


def check(trace: Trace, flag: Any, error: Exception) -> None:
    """Let the Program raise what Python raises unless a bool holds."""
    if isinstance(flag, Variable):
        trace.tracer.check(flag, error)
    elif not flag:
        raise error


def as_numpy(trace: Trace, value: Any) -> Variable:
    """A number as one of NumPy's: to tensors it is what a 0-d tensor is."""
    number = trace.tracer.variable(value)
    if number.number is not None:  # with all its digits
        number = trace.tracer.cast_number(number, info(number.number).dtype)
    made: Variable = F.assign(number)
    made.number, made.is_numpy = None, True
    return made


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
    if name in _OF_DATA:
        raise _refusal(f"{name} of a traced tensor", "ask the tensor that the function returns")
    if name in _OURS or not hasattr(type(owner), name):
        reason = f"{EagerTensor.__name__!r} object has no attribute {name!r}"
        raise MissingAttribute(reason, name=name, known=partial(dir, EagerTensor))
    return getattr(owner, name)


def _refusal(what: str, hint: str) -> TensorAsPython:
    why = "while a function is traced its tensors have no values yet"
    return TensorAsPython(what, why=why, hint=hint)
