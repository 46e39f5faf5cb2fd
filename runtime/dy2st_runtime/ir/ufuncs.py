"""Lets NumPy's and SciPy's ufuncs take tensors: each is the function of dy2st that computes it.

`np.exp(x)` is `dy2st.exp(x)`, with its gradient, eagerly and in a Program: NumPy asks the tensor
(NEP 13, https://numpy.org/neps/nep-0013-ufunc-overrides.html).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.tensor import Tensor

_SAME = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum"),
    *("fmax", "fmin", "equal", "not_equal", "less_equal", "greater_equal", "logical_and"),
    *("logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("matmul", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "square", "reciprocal"),
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "sign", "signbit"),
    *("isnan", "isinf", "isfinite", "deg2rad", "rad2deg", "hypot", "logaddexp", "heaviside"),
    *("copysign", "nextafter", "ldexp", "frexp", "gcd", "lcm", "positive", "vecdot"),
    *("erf", "erfinv", "logit", "gammaln", "gammainc", "gammaincc", "i0", "i0e", "i1", "i1e"),
)
# By the names of ufuncs, those of our functions.
NAMES = dict(zip(_SAME, _SAME, strict=True)) | {
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    **{
        "absolute": "abs",
        "negative": "neg",
        "power": "pow",
        "rint": "round",
        "invert": "bitwise_not",
    },
    **{"less": "less_than", "greater": "greater_than", "conjugate": "conj", "degrees": "rad2deg"},
    **{"radians": "deg2rad", "left_shift": "bitwise_left_shift", "expit": "sigmoid"},
    **{"right_shift": "bitwise_right_shift", "psi": "digamma"},
}
_REDUCTIONS = {
    **{"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all"},
    "logical_or": "any",
}
_ACCUMULATIONS = {"add": "cumsum", "multiply": "cumprod"}
# By the names of ufuncs, the method of the right operand for the operator.
_REFLECTED = {
    **{"add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__"},
    **{"floor_divide": "__rfloordiv__", "remainder": "__rmod__", "power": "__rpow__"},
    **{"divmod": "__rdivmod__", "less": "__gt__", "less_equal": "__ge__", "greater": "__lt__"},
    **{"greater_equal": "__le__", "equal": "__eq__", "not_equal": "__ne__"},
    **{f"bitwise_{name}": f"__r{name}__" for name in ("and", "or", "xor")},
}
# What says how NumPy computes, and nothing of what comes out.
_OF_LOOPS = ("casting", "order", "subok")


def function_of(ufunc: Any, method: str) -> Callable[..., Any] | None:
    """Our function for a ufunc, its `reduce` or its `accumulate`; None if there is none."""
    if method == "__call__":
        name = NAMES.get(ufunc.__name__)
        return _divmod if ufunc.__name__ == "divmod" else getattr(F, name) if name else None
    table = {"reduce": _REDUCTIONS, "accumulate": _ACCUMULATIONS}.get(method, {})
    return getattr(F, table[ufunc.__name__]) if ufunc.__name__ in table else None


def _divmod(x: Any, y: Any) -> tuple[Any, Any]:
    return F.floor_divide(x, y), F.remainder(x, y)


def apply_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """What a ufunc of tensors gives; NotImplemented if no function of dy2st computes it."""
    function = function_of(ufunc, method)
    left = {name: value for name, value in options.items() if name not in _OF_LOOPS}
    dtype, axis, keepdim = left.pop("dtype", None), left.pop("axis", 0), left.pop("keepdims", False)
    if left.pop("where", True) is not True or left or function is None:
        return NotImplemented
    if dtype is not None:  # NumPy computes in it, and does not cast what it has computed
        inputs = [F.cast(one, dtype) if isinstance(one, Tensor) else one for one in inputs]
    if method == "__call__":
        made = NotImplemented if options.keys() & {"axis", "keepdims"} else function(*inputs)
    elif method == "reduce":
        made = function(*inputs, axis, keepdim=keepdim)
    else:
        made = function(*inputs, axis)
    if dtype is None or made is NotImplemented:
        return made
    several = made if isinstance(made, tuple) else (made,)
    return made if all(one.dtype == np.dtype(dtype) for one in several) else NotImplemented


def apply_reflected(
    ufunc: Any, method: str, inputs: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """What the right operand makes of an operator whose left one is of NumPy."""
    name = _REFLECTED.get(ufunc.__name__)
    if name is None or method != "__call__" or options or not hasattr(inputs[-1], name):
        return NotImplemented
    return getattr(inputs[-1], name)(inputs[0])


def refused_with_gradient(ufunc: Any, method: str) -> ArgumentError:
    """What a tensor that wants gradients raises for a ufunc that we have not."""
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    return ArgumentError(
        f"np.{name} of a tensor that wants gradients: dy2st has no function of it, and NumPy's has "
        f"none; write np.{name}(x.detach()) if none are wanted"
    )


__all__ = ["NAMES", "apply_reflected", "apply_ufunc", "function_of", "refused_with_gradient"]
