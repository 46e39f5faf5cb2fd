"""Lists the operators that compute in a short float, under PaddlePaddle's names and ours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dy2st_runtime.errors import ArgumentError, DTypeError
from dy2st_runtime.ir import DEFINITIONS
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.ir.operator_families import MODULE_OF_OPERATOR
from dy2st_runtime.ir.promotion import LONG, Autocast
from dy2st_runtime.ir.types import DType, named_dtype

LEVELS = ("O0", "OD", "O1", "O2")
SHORT = ("float16", "bfloat16")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WHITE = {
    "float16": _words("conv2d einsum matmul matmul_v2 max_pool2d_with_index mul"),
    "bfloat16": _words("conv2d einsum matmul_v2"),
}
# Of O1. In O2 there is none: what moves rows gives the same numbers in any dtype.
BLACK = {
    "float16": _words("""
        tan acos asin sinh cosh atanh erfinv exp expm1 log log10 log2 reciprocal rsqrt pow square
        reduce_sum mean reduce_mean reduce_prod cumprod cumsum layer_norm softmax softplus
        log_softmax softmax_with_cross_entropy cross_entropy
    """),
    "bfloat16": frozenset(),
}
# PaddlePaddle's operators that have other names here, or are made of others.
NAMES = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "depthwise_conv2d"), "conv"),
    **dict.fromkeys(("conv1d_transpose", "conv2d_transpose", "conv3d_transpose"), "conv_transpose"),
    **dict.fromkeys(("bmm", "einsum", "linear", "matmul_v2", "mm", "mul"), "matmul"),
    **dict.fromkeys(("max_pool2d", "max_pool2d_with_index"), "max_pool"),
    **dict.fromkeys(("cross_entropy", "softmax_with_cross_entropy"), "log_softmax"),
    **dict.fromkeys(("embedding", "gather", "lookup_table", "lookup_table_v2"), "index"),
    "scatter": "index_put",
    "elementwise_add": "add",
    "elementwise_sub": "subtract",
    "elementwise_mul": "multiply",
    "elementwise_div": "divide",
    "elementwise_max": "maximum",
    "elementwise_min": "minimum",
    "elementwise_pow": "pow",
    "reduce_max": "max",
    "reduce_mean": "mean",
    "reduce_min": "min",
    "reduce_prod": "prod",
    "reduce_sum": "sum",
}


def settings_of(
    level: str, dtype: Any, white: Any = None, black: Any = None, promotes: bool = True
) -> Autocast | None:
    """The settings of a level with lists of one's own; None where nothing is cast.

    Raises ArgumentError for an unknown level or dtype, ValueError where the lists overlap.
    """
    short = short_float(level, dtype)
    white, black = _as_set(white), _as_set(black)
    if white & black:
        raise ValueError(f"both lists have {', '.join(sorted(white & black))}")
    if level == "O0":
        return None
    listed = BLACK[short.name] if level == "O1" else frozenset()
    wanted, avoided = _ours(white), _ours(black)
    chosen = (_ours(WHITE[short.name]) | wanted) - avoided
    others = LONG if level == "OD" else short if level == "O2" and not promotes else None
    return Autocast(level, short, chosen, (_ours(listed) | avoided) - wanted, others)


def short_float(level: str, dtype: Any) -> DType:
    """The short float; ArgumentError for an unknown level or dtype, DTypeError if it is missing."""
    if level not in LEVELS:
        raise ArgumentError(f"the level of mixed precision is one of {LEVELS}, not {level!r}")
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype)
    if name not in SHORT:
        raise ArgumentError(f"mixed precision is in 'float16' or 'bfloat16', not {dtype!r}")
    short = named_dtype(name)
    if short is None:
        raise DTypeError("bfloat16 needs the package ml_dtypes: pip install 'dy2st[bf16]'")
    return short


def _as_set(names: Iterable[str] | None) -> frozenset[str]:
    """A list of one's own; warns of names that nothing has here."""
    found = frozenset(names or ())
    for name in sorted(found):
        ours = NAMES.get(name, name)
        if ours not in DEFINITIONS and ours not in MODULE_OF_OPERATOR:
            warn_user(f"no operator is called {name!r}: it makes no effect in this list")
    return found


def _ours(names: Iterable[str]) -> frozenset[str]:
    return frozenset(NAMES.get(name, name) for name in names)


__all__ = ["LEVELS", "SHORT", "settings_of", "short_float"]
