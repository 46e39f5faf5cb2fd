"""What Python asks the user's objects for: truth, length, number, membership.

C code insists on a bool or int there. While a function is traced the user's own method is called
instead, so that its answer may be one of the Program.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from dy2st.convert.stale import check_fresh, is_out_of_date
from dy2st.convert.traced import is_a, is_traced
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import ArrayType, Tensor, Variable, current_tracer


def method_of(value: object, name: str) -> Callable[..., Any] | None:
    """A special method that the class of an object has in Python, while a function is traced."""
    if current_tracer() is None or is_traced(value) or isinstance(value, Tensor):
        return None
    method = getattr(type(value), name, None)
    return method if type(method) is FunctionType else None


def has_own_truth(value: object) -> bool:
    """Whether the truth of a value is asked of a method of its class."""
    return _truth_method(value) is not None


def untraced(value: object) -> bool:
    """Whether Python itself can ask for the truth of a value.

    >>> untraced(3)
    True
    """
    return not is_traced(value) and _truth_method(value) is None and not is_out_of_date(value)


def _truth_method(value: object) -> str | None:
    if method_of(value, "__bool__") is not None:
        return "__bool__"
    is_sized = not hasattr(type(value), "__bool__") and method_of(value, "__len__") is not None
    return "__len__" if is_sized else None


def asked(value: Any) -> Any:
    """The truth of an object that has its own, traced or not; every other value itself."""
    name = _truth_method(value)
    if name is None:
        check_fresh(value)
        _check_one_element(value)
        return value
    if name == "__len__":
        return number_of(value, "__len__", int) != 0
    return number_of(value, "__bool__", bool)


def _check_one_element(value: Any) -> None:
    """Refuse the truth of a tensor of several elements, in the words of one that is not traced."""
    if not is_a(value, Variable) or is_a(value.type, ArrayType):
        return
    if is_a(value.size, int) and value.size != 1:
        raise ShapeError(
            f"the truth of a tensor of shape {value.shape} is ambiguous: use any() or all()"
        )


def number_of(value: Any, name: str, kind: type) -> Any:
    """What a special method answers, a number of that kind; TypeError as Python words it."""
    answer = getattr(type(value), name)(value)
    if name == "__len__" and isinstance(answer, int) and answer < 0:
        raise ValueError("__len__() should return >= 0")
    if isinstance(answer, kind) or (kind is not bool and isinstance(answer, int)):
        return answer
    is_number = is_traced(answer) and not isinstance(answer, Tensor)
    if is_number or (isinstance(answer, Variable) and answer.number in (kind, bool)):
        return answer
    found = "EagerTensor" if isinstance(answer, Tensor) else type(answer).__name__
    if kind is bool:
        raise TypeError(f"{name} should return bool, returned {found}")
    if name == "__len__":
        raise TypeError(f"'{found}' object cannot be interpreted as an integer")
    raise TypeError(f"{name} returned non-{kind.__name__} (type {found})")
