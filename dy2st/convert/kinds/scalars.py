"""Numbers of Python that a Program computes: how they are made and checked, and keys of dicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from types import FunctionType
from typing import Any

from dy2st.convert.effect_table import is_of_library
from dy2st.convert.trace import Trace, own_method
from dy2st.convert.types import info
from dy2st.convert.values.layout import number_kind
from dy2st.convert.values.special import SymbolicSequence, Union
from dy2st_runtime.dims import Condition, Dim
from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir import F, Tensor, Variable
from dy2st_runtime.ir.choice import Text
from dy2st_runtime.ir.tracing.python_numbers import check_index, require_real


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


def like_number(value: Any) -> Any:
    """For a number of the Program one of Python, whose words say what no number can do."""
    kind = number_kind(value)
    return value if kind is None else kind(1)


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


def is_traced_key(trace: Trace, key: Any) -> bool:
    """Whether which key it is, is known only when the Program runs."""
    if isinstance(key, tuple):
        return any(is_traced_key(trace, one) for one in key)
    if isinstance(key, Tensor):  # Python finds tensors by which object they are
        return number_kind(key) is not None
    row = info(type(key))
    if row.is_atom:
        return False
    is_chosen = row.is_traced or type(key) in (Union, SymbolicSequence, Text)
    is_chosen = is_chosen or trace.locations.of(key) is not None
    return is_chosen or any(is_traced_key(trace, one) for one in _hashed(trace, key))


def _hashed(trace: Trace, key: Any) -> list[Any]:
    """What the `__hash__` of a class of the user's reads of an object, or of a list in it."""
    if info(type(key)).is_container:
        content = trace.content(key)
        return [content] if type(content) is SymbolicSequence else list(content)
    own = own_method(trace, key, "__hash__")
    if own is None or is_of_library(str(own.__module__)):
        return []
    held, todo = trace.fields(key) or {}, [*own.__code__.co_names]
    for name in todo:
        method = getattr(type(key), name, None)
        method = getattr(method, "fget", method)
        if isinstance(method, FunctionType):
            todo += [one for one in method.__code__.co_names if one not in todo]
        elif name not in held and method is None and name not in _HASHES:
            return [*held.values()]  # whatever that reads
    return [value for name, value in held.items() if name in todo]


_HASHES = frozenset({"hash", "tuple", "frozenset", "type", "len", "id"})


def refuse_native_key(trace: Trace, owner: Any, keys: Iterable[Any]) -> None:
    """Refuse a traced key of a mapping or set of another class: its C code would not find it."""
    # By its class: to ask an object that is half made what it is may run code of the user's.
    is_mapping = issubclass(type(owner), (Mapping, Set))
    if is_mapping and any(is_traced_key(trace, key) for key in keys):
        raise TensorAsPython(
            f"a traced number is a key of a {type(owner).__name__}",
            why="it is known only when the Program runs",
            hint="use a dict, OrderedDict, defaultdict, Counter or set of Python itself",
        )


def int_of(trace: Trace, value: Any) -> Variable:
    """A value as an int of 64 bits where Python takes an int alone; TypeError of others."""
    if number_kind(value) is float:
        raise TypeError("'float' object cannot be interpreted as an integer")
    check_index(value)
    found: Variable = F.cast(scalar(trace, value), "int64")
    return found
