"""Records Python's arithmetic of numbers, where it is another than that of tensors.

The operands are numbers of Python, one or both of which are known only at run time.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from dy2st_runtime.dims import Dim
from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir.dispatch import F, active
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.types import DType

Operation = Callable[[Any, Any], Any]


def kind_of(value: Any) -> type | None:
    """int, float or bool; None for what is no number of Python."""
    if type(value) in (bool, int, float):
        return type(value)
    return getattr(value, "number", None)


def are_ints(*values: Any) -> bool:
    """Whether all are ints or bools.

    >>> are_ints(1, True), are_ints(1, 2.0)
    (True, False)
    """
    return all(kind_of(value) in (int, bool) for value in values)


# What Python computes, however large, by the operation of the Program.
EXACT: dict[str, Operation] = {
    "add": operator.add,
    "int": int,
    "multiply": operator.mul,
    "pow": lambda base, exponent: (
        2**64 if exponent > 64 and abs(base) > 1 else base ** max(exponent, 0)
    ),
    "subtract": operator.sub,
}


def may_outgrow(operation: str, values: Sequence[Any]) -> bool:
    """Whether an operation on ints may give more than the 64 bits of a Program's.

    Small steps do not, in any number of iterations that a loop can have.

    >>> may_outgrow("add", (1, 2)), may_outgrow("multiply", (2, 3))
    (False, True)
    """
    if any(kind_of(value) is bool for value in values):
        return False
    known = [abs(value) for value in values if type(value) is int]
    if operation == "multiply":
        return not any(value <= 1 for value in known)
    if operation in ("add", "subtract"):
        has_size = any(isinstance(value, Dim) for value in values)
        return not has_size and not any(value < 2**32 for value in known)
    return operation == "pow"


_TOO_WIDE = "an int of a Program has 64 bits"


def too_wide(operation: str) -> OverflowError:
    """What an operation raises that gives a larger int."""
    return OverflowError(f"{_TOO_WIDE}, and {operation} gives a larger one")


def is_too_wide(error: BaseException) -> bool:
    """Whether a Program has raised it, where Python would compute on.

    >>> is_too_wide(too_wide("add")), is_too_wide(OverflowError("math range error"))
    (True, False)
    """
    return type(error) is OverflowError and str(error).startswith(_TOO_WIDE)


def require_real(dtype: DType) -> None:
    """DTypeError if a number of Python is wanted of a complex one of a Program."""
    if dtype.kind == "c":
        raise DTypeError(
            "a complex number of a Program is no number of Python: compute with the tensor, or "
            "take real(x), imag(x) or abs(x)"
        )


def check_index(value: Any) -> None:
    """TypeError of a tensor that has no `__index__`."""
    is_tensor = isinstance(value, Tensor) and kind_of(value) is None
    if is_tensor and value.dtype.kind not in "iu":
        raise TypeError(f"only an integer tensor can be an index, not {value.dtype}")


def number_of_element(tensor: Any) -> Any:
    """The one element of a tensor as a number; ValueError if there are surely more, or none."""
    sizes = [size for size in tensor.shape if isinstance(size, int)]
    if any(size != 1 for size in sizes):
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    one = F.reshape(tensor, []) if tensor.ndim else tensor
    require_real(one.dtype)
    kind: Any = {"b": bool, "f": float}.get(one.dtype.kind, int)
    if kind is float:
        one = F.detach(one)  # a number of Python has no gradient
    dtype = {bool: "bool", int: "int64", float: "float64"}[kind]
    # A Variable of its own: the tensor itself is no number.
    number = F.assign(one) if one.dtype == dtype else F.cast(one, dtype)
    number.number = kind
    return number


def check_divisor(value: Any, divisor: Any, operation: Operation) -> None:
    """Record that Python raises ZeroDivisionError, where both are numbers in Python."""
    kinds = [kind_of(value), kind_of(divisor)]
    if None in kinds or (_is_known(divisor) and divisor):
        return
    try:
        operation(kinds[0](1), kinds[1](0))  # type: ignore[misc]
    except ZeroDivisionError as error:
        if _is_known(divisor):
            raise
        message = str(error)
    check(F.not_equal(divisor, 0), ZeroDivisionError(message))


_NEGATIVE_POWER = (
    "an int to a negative power is a float in Python, to others it is an int, and a Program has to "
    "know before it runs: write float(base) ** exponent"
)


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent` of numbers: a float where the exponent is known and negative."""
    if are_ints(base, exponent):
        if not _is_known(exponent):
            check(F.greater_equal(exponent, 0), ValueError(_NEGATIVE_POWER))
        if not _is_known(exponent) or exponent >= 0:
            return F.pow(base, exponent)
        base = base * 1.0
    # Record what Python raises, and refuse complex numbers.
    if not _is_known(exponent) or (exponent < 0 and exponent != -math.inf):
        try:
            0.0**-1
        except ZeroDivisionError as error:
            message = str(error)
        is_root = F.logical_and(F.less_than(exponent, 0), _is_finite(exponent * 1.0))
        check(F.logical_not(F.logical_and(F.equal(base, 0), is_root)), ZeroDivisionError(message))
    if not _is_known(exponent) or (math.isfinite(exponent) and exponent != int(exponent)):
        is_negative = F.logical_and(F.less_than(base, 0), _is_finite(base * 1.0))
        is_whole = F.equal(F.floor(exponent * 1.0), exponent)
        is_fine = F.logical_or(
            F.logical_not(is_negative), F.logical_or(is_whole, F.not_equal(exponent, exponent))
        )
        text = "a negative number to a fractional power is complex, which a Program has not"
        check(is_fine, ValueError(text))
    if _is_known(exponent) and exponent == 0.5:
        base = F.abs(base)  # NumPy takes the square root, which is another one of -0 and of -inf
    result = F.pow(base, exponent)
    is_fine = F.logical_or(_is_finite(result), F.logical_not(_is_finite(base * 1.0 + exponent)))
    check(is_fine, OverflowError("(34, 'Numerical result out of range')"))
    return result


def shifted_left(value: Any, count: Any) -> Any:
    """`value << count` of ints."""
    _check_count(count)
    places = _at_most(count, 64)
    factor = 2.0**places if _is_known(places) else F.pow(2.0, places * 1.0)
    size = F.abs(F.multiply(value * 1.0, factor))
    check(F.less_than(size, 2.0**63), too_wide("value << count"))
    return F.multiply(value, _two_to(_at_most(count, 62)))


def shifted_right(value: Any, count: Any) -> Any:
    """`value >> count` of ints, in two steps: 2 ** 63 is no int of a Program."""
    _check_count(count)
    first = _at_most(count, 31)
    second = _at_most(count - first, 32)
    return F.floor_divide(F.floor_divide(value, _two_to(first)), _two_to(second))


def _at_most(count: Any, most: int) -> Any:
    return min(count, most) if _is_known(count) else F.minimum(count, most)


def _two_to(count: Any) -> Any:
    return 2**count if _is_known(count) else F.pow(2, count)


def _check_count(count: Any) -> None:
    if not _is_known(count):
        check(F.greater_equal(count, 0), ValueError("negative shift count"))
    elif count < 0:
        raise ValueError("negative shift count")


def widened(value: Any, other: Any = 0) -> Any:
    """A bool that the run decides as the int that Python computes with, next to another number."""
    is_bool = getattr(value, "number", None) is bool and kind_of(other) is not None
    return F.multiply(value, 1) if is_bool else value


def _is_finite(value: Any) -> Any:
    """Whether a float is neither infinite nor NaN; `isfinite` would round to float32."""
    return F.less_than(F.abs(value), float("inf"))


def _is_known(value: Any) -> bool:
    return type(value) in (bool, int, float)


def check(flag: Any, error: Exception) -> None:
    """Record that a Program raises an error unless a bool is true."""
    tracer: Any = active()
    tracer.check(flag, error)


__all__ = [
    "EXACT",
    "are_ints",
    "check",
    "check_divisor",
    "kind_of",
    "may_outgrow",
    "power",
    "shifted_left",
    "shifted_right",
    "widened",
]
