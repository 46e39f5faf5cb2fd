"""Checks arguments by functions that models borrow from PaddlePaddle's own files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir.tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


def convert_dtype(dtype: Any) -> str:
    """The name of a dtype.

    >>> convert_dtype(np.dtype("float32"))
    'float32'
    """
    return dtype if isinstance(dtype, str) else np.dtype(dtype).name


def convert_np_dtype_to_dtype_(np_dtype: Any) -> np.dtype[Any]:
    """The dtype of a NumPy dtype: itself.

    >>> convert_np_dtype_to_dtype_(np.dtype("float32"))
    dtype('float32')
    """
    dtype: np.dtype[Any] = np.dtype(np_dtype)
    return dtype


def dygraph_only(func: Function) -> Function:
    """The function: operators compute at once."""
    return func


def check_type(
    input: Any, input_name: str, expected_type: Any, op_name: str, extra_message: str = ""
) -> None:
    """Raise DTypeError unless `input` is of a type, which may stand for tensors.

    >>> check_type(3, "axis", int, "concat")
    """
    if not isinstance(input, expected_type):
        raise DTypeError(
            f"{op_name}: {input_name!r} is a {type(input).__name__}, not {expected_type}. "
            f"{extra_message}"
        )


def check_dtype(
    input_dtype: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """Raise DTypeError unless a dtype is among the names of `expected_dtype`.

    >>> check_dtype("float32", "x", ["float32", "float64"], "exp")
    """
    names = (expected_dtype,) if isinstance(expected_dtype, str) else tuple(expected_dtype)
    if convert_dtype(input_dtype) not in names:
        raise DTypeError(
            f"{op_name}: the dtype of {input_name!r} is {convert_dtype(input_dtype)}, "
            f"not {' or '.join(names)}. {extra_message}"
        )


def check_variable_and_dtype(
    input: Any, input_name: str, expected_dtype: Any, op_name: str, extra_message: str = ""
) -> None:
    """Raise DTypeError unless `input` is a tensor of one of the dtypes.

    >>> check_variable_and_dtype(dy2st.ones([2]), "x", ["float32"], "exp")
    """
    check_type(input, input_name, Tensor, op_name, extra_message)
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)
