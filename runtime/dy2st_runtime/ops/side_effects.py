"""Operators that do something besides computing: print and assert."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dy2st_runtime.dims import Condition, Dim, equal
from dy2st_runtime.errors import (
    ArgumentError,
    ConversionError,
    EscapedVariable,
    ShapeError,
    TensorAsPython,
)
from dy2st_runtime.ir import (
    Effect,
    F,
    Output,
    Sample,
    TensorType,
    apply,
    define,
    eagerly,
    public,
)
from dy2st_runtime.ir.attribute_kinds import (
    CONDITION,
    NAME,
    NONE,
    PIECES,
    TEXT,
    either,
    one_of,
    structure,
)
from dy2st_runtime.ir.choice import Choice, Hole, Text
from dy2st_runtime.ir.exceptions import can_be_made, exception_of
from dy2st_runtime.ir.structure import flatten, rebuild, substitute
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.python_numbers import EXACT, too_wide


def _one_element(condition: TensorType, **_: Any) -> tuple[()]:
    for size in condition.shape:
        if equal(size, 1) is False:
            raise ShapeError(f"assert: the condition has the shape {list(condition.shape)}")
    return ()


def _assert_kernel(condition: Any, message: str) -> tuple[()]:
    if not bool(np.all(condition)):
        raise AssertionError(message) if message else AssertionError
    return ()


def _bound_kernel(flag: Any, message: str, kind: str) -> tuple[()]:
    if not flag:
        raise exception_of(kind, (message,), {})
    return ()


def _check_int_kernel(*values: Any, operation: str) -> tuple[()]:
    result = EXACT[operation](*(np.asarray(value).item() for value in values))
    if not -(2**63) <= result < 2**63:
        raise too_wide(operation)
    return ()


def _require_kernel(condition: bool, message: str) -> tuple[()]:
    if not condition:
        raise ShapeError(message)
    return ()


def _check_raise(*types: Any, kind: str, message: Any, state: Any) -> tuple[()]:
    """What a class of Python's refuses as arguments is refused now, not when it is raised."""
    if not can_be_made(kind, () if message is None else message):
        raise ArgumentError(f"raise: {kind} cannot be made of {message!r:.80}")
    return ()


def _check_bound(condition: TensorType, message: str, kind: str) -> tuple[()]:
    if not can_be_made(kind, message):
        raise ArgumentError(f"assert_bound: {kind} cannot be made of a text")
    return _one_element(condition)


def _raise_kernel(
    *values: Any, kind: str, message: str | tuple[Any, ...] | None, state: dict[str, Any] | None
) -> tuple[()]:
    values = tuple(np.array(value) for value in values)  # the memory of the run ends with it
    arguments = _filled(message, values) if isinstance(message, tuple) else (message,)
    raise exception_of(kind, () if message is None else arguments, _filled(state or {}, values))


def _print_kernel(*values: Any, pieces: tuple[Any, ...]) -> tuple[()]:
    words = [p if isinstance(p, str) else str(np.asarray(values[p])) for p in pieces]
    sys.stdout.write("".join(words))
    return ()


def _write_kernel(*values: Any, text: tuple[Any, ...], stream: str, flush: bool) -> tuple[()]:
    file = getattr(sys, stream)
    file.write(text_of(text, values))
    if flush:
        file.flush()
    return ()


def text_of(text: tuple[Any, ...], values: Sequence[Any]) -> str:
    """A text with values in its places."""
    return "".join(map(str, _filled(text, values)))


def _filled(structure: Any, values: Sequence[Any]) -> Any:
    """The structure with tensors, or numbers of Python, in place of its Outputs."""
    with eagerly(as_recorded=True):
        return rebuild(structure, [F.assign(value) for value in values])


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
    doc="What Python raises by itself, such as UnboundLocalError, unless the flag is true.",
    inputs="flag",
    attributes={"message": TEXT, "kind": NAME.or_else("UnboundLocalError")},
    infer=_check_bound,
    kernel=_bound_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((),), {"message": ""}, ("bool",), 1, 2),),
)
define(
    "check_int",
    doc="OverflowError if an operation on numbers of Python gives an int of more than 64 bits.",
    inputs="values*",
    attributes={"operation": one_of(*EXACT)},
    infer=lambda *types, **_: (),
    kernel=_check_int_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((), ()), {"operation": "add"}, ("int64", "int64"), 1, 9),),
)
define(
    "raise",
    doc="Raises an exception: a text, or arguments with places for the values.",
    inputs="items*",
    attributes={
        "kind": NAME,
        "message": either(NONE, structure(str, tuple)).or_else(None),
        "state": either(NONE, structure(dict)).or_else(None),
    },
    infer=_check_raise,
    kernel=_raise_kernel,
    effect=Effect.VISIBLE,
)
define(
    "require",
    doc="ShapeError unless the sizes satisfy a condition.",
    attributes={"condition": CONDITION, "message": TEXT},
    infer=lambda condition, message: (),
    kernel=_require_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample((), {"condition": True, "message": "n is 3"}),),
)
define(
    "print",
    takes_complex=True,
    doc="Text to the standard output: pieces that are known, and values by their numbers.",
    inputs="values*",
    attributes={"pieces": PIECES},
    infer=lambda *types, **_: (),
    kernel=_print_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((2,),), {"pieces": ("x: ", 0, "\n")}, ("float32",)),),
)
define(
    "write",
    takes_complex=True,
    doc="Text with places for values to the standard output or error.",
    inputs="items*",
    attributes={
        "text": structure(tuple),
        "stream": one_of("stdout", "stderr").or_else("stdout"),
        "flush": False,
    },
    infer=lambda *types, **_: (),
    kernel=_write_kernel,
    effect=Effect.VISIBLE,
    samples=(Sample(((2,),), {"text": ("x: ", Output(0), "\n")}, ("float32",)),),
)


@public
def assert_(condition: Any, message: str = "") -> None:
    """AssertionError unless the condition (one element) holds when the Program runs.

    >>> dy2st.ops.assert_(dy2st.to_tensor([True]), "holds")
    """
    apply("assert", condition, message=str(message))


@public
def raise_(kind: str, message: Any, state: Any = None) -> None:
    """The exception called `kind`, when the Program runs.

    `message` is its text, None, or a tuple of arguments; `state` are attributes that it has.

    >>> try:
    ...     dy2st.ops.raise_("ValueError", "too large")
    ... except ValueError as error:
    ...     print(error)
    too large
    """
    values, structure = flatten((message, state or None), _is_traced)
    structure = substitute(structure, _outputs(values))
    try:
        apply("raise", *values, kind=kind, message=structure[0], state=structure[1])
    except EscapedVariable as escaped:
        raise ConversionError(
            f"{kind} is raised from an exception that another path has raised",
            why="what that one holds is known on that path alone",
            hint=f"raise it `from None`, or raise the {kind} where the other is raised",
        ) from escaped


def _outputs(values: Sequence[Any]) -> list[Output]:
    return [
        Output(index, not isinstance(value, Tensor) or getattr(value, "number", None) is not None)
        for index, value in enumerate(values)
    ]


@public
def print_(
    *values: Any, sep: Any = None, end: Any = None, file: Any = None, flush: bool = False
) -> None:
    """`print` of tensors, of lists and dicts of them, and of other values, when the Program runs.

    Raises TensorAsPython for a `file` other than the standard output or error.

    >>> dy2st.ops.print_("x is", dy2st.to_tensor([1, 2]))
    x is [1 2]
    """
    if file not in (None, sys.stdout, sys.stderr):
        raise TensorAsPython(
            "print of a traced tensor to a file other than the standard output or error",
            why="a Program knows no files of Python",
            hint="return the tensor, and print it outside",
        )
    tensors: list[Any] = []
    pieces: list[str | int] = []
    for index, value in enumerate(values):
        pieces += _pieces(" " if sep is None else sep, tensors, str) if index else []
        pieces += _pieces(value, tensors, str)
    pieces += _pieces("\n" if end is None else end, tensors, str)
    is_plain = all(isinstance(piece, str) or type(piece) is int for piece in pieces)
    if is_plain and file in (None, sys.stdout) and not flush:
        apply("print", *tensors, pieces=tuple(pieces))
        return
    stream = "stderr" if file is not None and file is sys.stderr else "stdout"
    text = _placed(pieces, tensors)
    apply("write", *tensors, text=text, stream=stream, flush=bool(flush))


def with_places(value: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """The tensors in what is shown, and its text with places for them."""
    tensors: list[Any] = []
    pieces = _pieces(value, tensors, str)
    return tensors, _placed(pieces, tensors)


def _placed(pieces: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
    outputs = _outputs(tensors)
    return tuple(outputs[piece] if isinstance(piece, int) else piece for piece in pieces)


def _pieces(value: Any, tensors: list[Any], text: Callable[[Any], str]) -> list[Any]:
    """What Python writes for a value: text, and places in `tensors`, to which it adds its own."""
    if _is_traced(value) and text is str:
        tensors.append(value)
        return [len(tensors) - 1]
    leaves, structure = flatten(value, _is_traced)
    if not leaves:
        return [text(value)]
    first = len(tensors)
    tensors += leaves
    places = [
        Output(first + index, entry.as_number) for index, entry in enumerate(_outputs(leaves))
    ]
    placed = substitute(structure, places)
    is_text = isinstance(placed, (Text, Choice)) and text is str
    return [placed if is_text else Text((Hole(placed, "s" if text is str else "r"),))]


def _is_traced(value: Any) -> bool:
    return isinstance(value, (Tensor, Dim, Condition))
