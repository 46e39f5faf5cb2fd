"""The values that two branches, or two turns of a loop, give one variable: joined into one.

Values that are the same object, or equal Python constants, stay as they are. Tensors and numbers
become one result of the static operator; lists, tuples and dicts are joined entry by entry.
"""

from __future__ import annotations

import re
import struct
from typing import Any

from dy2st.convert.undefined import Undefined
from dy2st_runtime.dims import Condition, Dim, is_total, maximum, symbols
from dy2st_runtime.ir import ArrayType, F, Tensor, Tracer, Variable
from dy2st_runtime.ir.choice import Choice, Text
from dy2st_runtime.ir.inputs import NUMBER_DTYPES
from dy2st_runtime.ir.structure import is_container, map_entries


def is_number(value: Any) -> bool:
    """Whether Python has a number here: a constant, a Dim, or a traced number."""
    if isinstance(value, Variable):
        return value.number is not None
    return type(value) in NUMBER_DTYPES or isinstance(value, (Dim, Condition))


def is_mixed(value: Any) -> bool:
    """Whether Python has a number here on some paths, and a tensor or another one on others."""
    return isinstance(value, Variable) and value.mixed


def is_joinable(value: Any) -> bool:
    """Whether a value can become the result of a static operator."""
    return is_number(value) or isinstance(value, Tensor)


def number_kind(value: Any) -> type:
    """int, float or bool for what `is_number` accepts."""
    if isinstance(value, Variable):
        assert value.number is not None
        return value.number
    if isinstance(value, Dim):
        return int
    return bool if isinstance(value, Condition) else type(value)


def same_constant(left: Any, right: Any) -> bool:
    """Whether two Python values cannot be told apart: type, value, and the bits of a float."""
    if left is right:
        return True
    kind = type(left)
    if kind is not type(right):
        return False
    if kind is float:
        return struct.pack("<d", left) == struct.pack("<d", right)
    if kind in (int, bool, str, bytes, complex, range, frozenset, set):
        return bool(left == right)
    return False


def same_layout(left: Any, right: Any) -> bool:
    """Whether two containers are of one kind, with the same length or keys."""
    if not is_container(left) or type(left) is not type(right) or isinstance(left, Choice):
        return False
    if isinstance(left, Text):
        return _literals(left) == _literals(right)
    if isinstance(left, dict):
        return list(left) == list(right)
    return len(left) == len(right)


def entries_of(container: Any) -> list[Any]:
    """What a container holds, in order."""
    found: list[Any] = []
    map_entries(container, found.append)
    return found


def _literals(text: Text) -> list[Any]:
    """What is known of a Text: all but the values in it."""
    return [p if isinstance(p, str) else (p.conversion, p.spec) for p in text.parts]


def to_variable(tracer: Tracer, value: Any, like: Any = None) -> Variable:
    """A Variable of the current Block; a number next to a tensor takes the tensor's dtype."""
    if isinstance(value, Tensor):
        return tracer.variable(value)
    if isinstance(like, Tensor) and not is_number(like):
        return tracer.variable(value, like.dtype)
    return tracer.number(value)


def stand_in(tracer: Tracer, value: Any) -> Any:
    """Any value of that kind, made in the current Block; sizes are 0 that only the value has, or
    that not every place can compute."""
    if is_number(value):
        return number_kind(value)(0)
    if isinstance(value, Variable) and isinstance(value.type, ArrayType):
        return F.array_of([])
    known = {s for v in tracer.program.inputs for d in v.tensor_type.shape for s in symbols(d)}
    # A size that is never negative where the value is may be so where it is not.
    sizes = [maximum(size, 0) for size in value.tensor_type.shape]
    shape = [s if known.issuperset(symbols(s)) and is_total(s) else 0 for s in sizes]
    return F.zeros(shape, value.dtype)


def fits_number(number: Any, tensor: Tensor) -> bool:
    """Whether a Python number may stand next to a tensor without losing anything."""
    order = "biuf"
    kind = {bool: "b", int: "i", float: "f"}[number_kind(number)]
    fits = order.index(kind) <= order.find(tensor.dtype.kind)  # complex numbers are not of these
    return tensor.ndim == 0 and fits


def named(name: str, kind: str = "the variable") -> str:
    """A variable, for messages; some are not the user's own."""
    returned = re.match(r"return_value_\d+", name)
    if returned is not None:
        return "the returned value" + (
            f", `{name[returned.end() :]}`," if name[returned.end() :] else ""
        )
    return name if name.startswith("the ") else f"{kind} `{name}`"


def describe(value: Any) -> str:
    """A few words on a value, for messages."""
    if isinstance(value, Undefined):
        return "unbound"
    if isinstance(value, Variable) and value.number is not None:
        return f"a number ({value.number.__name__})"
    if isinstance(value, Tensor):
        return f"a tensor of dtype {value.dtype} and shape {value.shape}"
    if isinstance(value, Choice):
        return "one of " + ", ".join(map(describe, value.cases))
    if isinstance(value, Text):
        return "a text"
    if is_container(value):
        return f"a {type(value).__name__} of {len(value)}"
    return f"{value!r:.60}" if value is None or is_number(value) else f"a {type(value).__name__}"
