"""Operators that do something besides computing: print and assert."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from dy2st_runtime.dims import equal
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import REQUIRED, Effect, Sample, TensorType, apply, define, public
from dy2st_runtime.ir.tensor import Tensor


def _one_element(condition: TensorType, **_: Any) -> tuple[()]:
    for size in condition.shape:
        if equal(size, 1) is False:
            raise ShapeError(f"assert: the condition has the shape {list(condition.shape)}")
    return ()


def _assert_kernel(condition: Any, message: str) -> tuple[()]:
    if not bool(np.all(condition)):
        raise AssertionError(message) if message else AssertionError
    return ()


def _bound_kernel(flag: Any, message: str) -> tuple[()]:
    if not flag:
        raise UnboundLocalError(message)
    return ()


def _require_kernel(condition: bool, message: str) -> tuple[()]:
    if not condition:
        raise ShapeError(message)
    return ()


def _print_kernel(*values: Any, pieces: tuple[str, ...], sep: str, end: str) -> tuple[()]:
    rest = iter(values)
    words = [str(np.asarray(next(rest))) if piece == "\0" else piece for piece in pieces]
    sys.stdout.write(sep.join(words) + end)
    return ()


define(
    "assert",
    doc="AssertionError unless the condition holds.",
    inputs="condition",
    attributes={"message": ""},
    infer=_one_element,
    kernel=_assert_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((),), dtypes=("bool",), low=1, high=2),),
)
define(
    "assert_bound",
    doc="UnboundLocalError unless the user's variable is bound.",
    inputs="flag",
    attributes={"message": REQUIRED},
    infer=_one_element,
    kernel=_bound_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((),), {"message": ""}, ("bool",), 1, 2),),
)
define(
    "require",
    doc="ShapeError unless the sizes satisfy a condition.",
    attributes={"condition": REQUIRED, "message": REQUIRED},
    infer=lambda condition, message: (),
    kernel=_require_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample((), {"condition": True, "message": "n is 3"}),),
)
define(
    "print",
    doc="Values and words to the standard output.",
    inputs="values*",
    attributes={"pieces": REQUIRED, "sep": " ", "end": "\n"},
    infer=lambda *types, **_: (),
    kernel=_print_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((2,),), {"pieces": ("x:", "\0"), "end": ""}, ("float32",)),),
)


@public
def assert_(condition: Any, message: str = "") -> None:
    """AssertionError unless the condition (one element) holds when the Program runs."""
    apply("assert", condition, message=str(message))


@public
def print_(*values: Any, sep: str | None = None, end: str | None = None, **options: Any) -> None:
    """`print` of tensors and other values, when the Program runs."""
    unknown = [name for name in options if name not in ("flush", "file")]
    if unknown or options.get("file") not in (None, sys.stdout):
        raise TypeError(f"print of a traced tensor takes sep and end, not {sorted(options)}")
    tensors = [value for value in values if isinstance(value, Tensor) or _is_symbolic(value)]
    pieces = tuple(
        "\0" if isinstance(value, Tensor) or _is_symbolic(value) else str(value) for value in values
    )
    apply(
        "print",
        *tensors,
        pieces=pieces,
        sep=" " if sep is None else sep,
        end="\n" if end is None else end,
    )


def _is_symbolic(value: Any) -> bool:
    return type(value).__module__.startswith("dy2st_runtime.dims")
