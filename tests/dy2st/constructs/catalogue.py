"""Rows of docs/constructs.md: each is a function that proves what it says, in a file a section.

A row is run by Python and, through ONE Program, by dy2st on inputs that take every path: the same
value of the same type, the same printed text, the same exception. A refused row raises the named
error, which says where, why, and what to write instead.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static

F = TypeVar("F", bound=Callable[..., Any])

# Sums of 6, -6, 60 and 0: conditions on them take every path.
INPUTS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [10.0, 20.0, 30.0], [0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Row:
    """One construct or situation: how Python writes it, what dy2st makes of it, the proof.

    refused: the error class, for what has no exact static form; `says` is part of its message.
    """

    construct: str
    meaning: str
    function: Callable[..., Any]
    inputs: Sequence[Any]
    refused: type[ConversionError] | None = None
    says: str = ""

    @property
    def name(self) -> str:
        """The name of the function that proves the row."""
        return self.function.__name__

    @property
    def section(self) -> str:
        """The file in which it stands."""
        return self.function.__module__.rpartition(".")[2]


ROWS: list[Row] = []


def construct(
    text: str,
    meaning: str,
    *,
    inputs: Sequence[Any] = INPUTS,
    refused: type[ConversionError] | None = None,
    says: str = "",
) -> Callable[[F], F]:
    """Add the decorated function to the rows; it takes one tensor."""

    def add(function: F) -> F:
        ROWS.append(Row(text, meaning, function, inputs, refused, says))
        return function

    return add


def outcome(function: Callable[..., Any], values: Any) -> tuple[Any, str]:
    """What a call gives, or the type and text of the exception that it raises; what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = comparable(function(dy2st.to_tensor(values)))
        except dy2st.errors.Dy2stError:
            raise
        except Exception as error:
            result = (type(error).__name__, str(error))
    return result, printed.getvalue()


def _rounded(array: Any) -> Any:
    return (np.round(array, 4) if array.dtype.kind == "f" else array).tolist()


def comparable(value: Any) -> Any:
    """A value as what == compares, with the types of all that is inside."""
    if isinstance(value, dy2st.Tensor):
        return ("tensor", str(value.dtype), value.shape, _rounded(value.numpy()))
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [comparable(entry) for entry in value])
    if isinstance(value, dict):
        return ("dict", list(value), [comparable(entry) for entry in value.values()])
    return (type(value).__name__, round(value, 4) if isinstance(value, float) else value)


def check_exact(row: Row) -> None:
    """Python and the one Program agree on every input."""
    expected = [outcome(row.function, values) for values in row.inputs]
    static = to_static(row.function)
    found = [outcome(static, values) for values in row.inputs]
    assert found == expected
    assert len(static.program_cache) == 1, "every input must take the same Program"


def check_refused(row: Row) -> None:
    """Conversion ends in an error that names the file, the line, the cause and a way out."""
    assert row.refused is not None
    for values in row.inputs:
        row.function(dy2st.to_tensor(values))  # Python itself can do it
    static = to_static(row.function)
    try:
        static(dy2st.to_tensor(row.inputs[0]))
    except row.refused as error:
        text = str(error)
        assert row.says in text, text
        assert row.function.__code__.co_filename in text, text
        assert error.hint, text
    else:
        raise AssertionError(f"{row.name} is not refused")
