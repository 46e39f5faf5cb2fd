"""Helps models with nested structures, imports that may fail, names, and what is deprecated."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

from dy2st.paddle import version
from dy2st.paddle.private_modules import private_modules
from dy2st.paddle.utils import cpp_extension, dlpack, download, unique_name
from dy2st.paddle.utils.nested import (
    assert_same_structure,
    flatten,
    is_sequence,
    map_structure,
    pack_sequence_as,
    to_sequence,
)
from dy2st_runtime.checkpoint.weights import load_weights
from dy2st_runtime.errors import ArgumentError, Dy2stError
from dy2st_runtime.ir.dispatch import F
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.lazy import public_dir

Function = TypeVar("Function", bound=Callable[..., Any])


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """The module, or ImportError with the message.

    >>> try_import("math").__name__
    'math'
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        words = f"{module_name} cannot be imported; `pip install {module_name}` may help"
        raise ImportError(err_msg or words) from error


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Raise Dy2stError unless the names here, PaddlePaddle's of `dy2st.version`, are of a release.

    >>> require_version("2.0")
    """
    lowest, own = _release(min_version), _release(version.full_version)
    if own < lowest or (max_version is not None and own > _release(max_version)):
        wanted = f"{min_version} or later" if max_version is None else f"up to {max_version}"
        raise Dy2stError(f"PaddlePaddle {wanted} is required; dy2st is like {version.full_version}")


def _release(text: str) -> tuple[int, ...]:
    if not isinstance(text, str) or not text.replace(".", "").isdecimal():
        raise ArgumentError(f"a release is written like '2.6.0', not {text!r}")
    numbers = [int(part) for part in text.split(".")]
    return (*numbers, *[0] * (4 - len(numbers)))


def deprecated(
    update_to: str = "", since: str = "", reason: str = "", level: int = 0
) -> Callable[[Function], Function]:
    """Mark a function: level 1 warns when the mark is put on, 2 refuses, 0 says nothing.

    >>> @deprecated(update_to="other")
    ... def f(): return 1
    >>> f()
    1
    """

    def mark(function: Function) -> Function:
        words = f"{function.__name__} is deprecated since {since}. {reason}"
        words += f" Use {update_to} instead." if update_to else ""
        if level == 2:
            raise ArgumentError(words)
        if level == 1:
            warn_user(words)
        return function

    return mark


def run_check() -> None:
    """Compute something, and say so.

    >>> run_check()
    dy2st works well on the CPU.
    """
    assert F.matmul(F.ones([2, 3]), F.ones([3, 2])).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    print("dy2st works well on the CPU.")


def convert_to_list(value: Any, n: int, name: str, dtype: type = int) -> list[Any]:
    """One value n times, or a list of n values.

    >>> convert_to_list(3, 2, "stride")
    [3, 3]
    """
    if isinstance(value, dtype):
        return [value] * n
    values = list(value)
    if len(values) != n:
        raise ArgumentError(f"{name} has {n} values, not {values}")
    return values


def strtobool(val: str) -> bool:
    """Whether a text means yes.

    >>> strtobool("yes"), strtobool("off")
    (True, False)
    """
    text = val.lower()
    if text not in ("y", "yes", "t", "true", "on", "1", "n", "no", "f", "false", "off", "0"):
        raise ArgumentError(f"{val!r} means neither yes nor no")
    return text in ("y", "yes", "t", "true", "on", "1")


__all__ = [
    "assert_same_structure",
    "convert_to_list",
    "cpp_extension",
    "deprecated",
    "dlpack",
    "download",
    "flatten",
    "is_sequence",
    "load_weights",
    "map_structure",
    "pack_sequence_as",
    "require_version",
    "run_check",
    "strtobool",
    "to_sequence",
    "try_import",
    "unique_name",
]
__dir__ = public_dir(__name__)

private_modules(__name__)
