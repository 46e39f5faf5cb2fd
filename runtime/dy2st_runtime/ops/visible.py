"""Operators that do something besides computing: print and assert."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, equal
from dy2st_runtime.errors import ShapeError
from dy2st_runtime.ir import REQUIRED, Effect, Sample, TensorType, apply, define, public
from dy2st_runtime.ir.structure import flatten
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


def _raise_kernel(kind: str, message: str | None) -> tuple[()]:
    known: Any = getattr(builtins, kind, None)
    if not (isinstance(known, type) and issubclass(known, Exception)):
        known = RuntimeError
    raise known(*([] if message is None else [message]))


def _print_kernel(*values: Any, pieces: tuple[str | int, ...]) -> tuple[()]:
    words = [p if isinstance(p, str) else str(np.asarray(values[p])) for p in pieces]
    sys.stdout.write("".join(words))
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
    "raise",
    doc="Raises one of Python's own exceptions.",
    attributes={"kind": REQUIRED, "message": None},
    infer=lambda kind, message: (),
    kernel=_raise_kernel,
    effect=Effect.VISIBLE,
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
    doc="Text to the standard output: pieces that are known, and values by their numbers.",
    inputs="values*",
    attributes={"pieces": REQUIRED},
    infer=lambda *types, **_: (),
    kernel=_print_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((2,),), {"pieces": ("x: ", 0, "\n")}, ("float32",)),),
)


@public
def assert_(condition: Any, message: str = "") -> None:
    """AssertionError unless the condition (one element) holds when the Program runs."""
    apply("assert", condition, message=str(message))


@public
def raise_(kind: str, message: str | None) -> None:
    """The exception of Python called `kind`, when the Program runs."""
    apply("raise", kind=kind, message=message)


@public
def print_(*values: Any, sep: str | None = None, end: str | None = None, **options: Any) -> None:
    """`print` of tensors, of lists and dicts of them, and of other values, when the Program runs.

    Raises TypeError for a `file` other than the standard output.
    """
    if options.get("file") not in (None, sys.stdout) or not options.keys() <= {"file", "flush"}:
        raise TypeError(f"print of a traced tensor takes sep, end and flush, not {sorted(options)}")
    tensors: list[Any] = []
    pieces: list[str | int] = []
    for index, value in enumerate(values):
        pieces += [" " if sep is None else sep] if index else []
        pieces += _pieces(value, tensors, str)
    pieces.append("\n" if end is None else end)
    apply("print", *tensors, pieces=tuple(pieces))


def _pieces(value: Any, tensors: list[Any], text: Callable[[Any], str]) -> list[str | int]:
    """What Python writes for a value: text, and places in `tensors`, to which it adds its own."""
    if _is_traced(value):
        tensors.append(value)
        return [len(tensors) - 1]
    if not flatten(value, _is_traced)[0]:
        return [text(value)]
    if isinstance(value, dict):
        entries = [[f"{key!r}: ", *_pieces(value[key], tensors, repr)] for key in value]
        return ["{", *_with_commas(entries), "}"]
    entries = [_pieces(entry, tensors, repr) for entry in value]
    if isinstance(value, list):
        return ["[", *_with_commas(entries), "]"]
    if hasattr(value, "_fields"):
        named = zip(value._fields, entries, strict=True)
        entries = [[f"{name}=", *entry] for name, entry in named]
        return [type(value).__name__, "(", *_with_commas(entries), ")"]
    return ["(", *_with_commas(entries), ",)" if len(entries) == 1 else ")"]


def _with_commas(entries: list[list[str | int]]) -> list[str | int]:
    return [
        piece for index, entry in enumerate(entries) for piece in ([", "] if index else []) + entry
    ]


def _is_traced(value: Any) -> bool:
    return isinstance(value, (Tensor, Dim, Condition))
