"""Operators in C++, by name alone: sources may import it, what it builds is refused in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from dy2st.paddle.mirrors import names_of
from dy2st.paddle.private_modules import private_modules
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import public_dir

CUDA_HOME = None


def _refuse(name: str) -> NoReturn:
    raise ArgumentError(
        f"cpp_extension.{name}: operators in C++ or CUDA are not here; write the function with "
        "operators of dy2st, or as a PyLayer with a gradient of its own"
    )


def load(*_: Any, **__: Any) -> NoReturn:
    """Refuse: it would build and load operators in C++.

    >>> dy2st.utils.cpp_extension.load("mine", ["mine.cc"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: cpp_extension.load: operators in C++ or CUDA...
    """
    _refuse("load")


def setup(*_: Any, **__: Any) -> NoReturn:
    """Refuse: it would build a package with operators in C++.

    >>> dy2st.utils.cpp_extension.setup(name="mine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: cpp_extension.setup: operators in C++ or CUDA...
    """
    _refuse("setup")


def CppExtension(*_: Any, **__: Any) -> NoReturn:
    """Refuse: it would describe operators in C++.

    >>> dy2st.utils.cpp_extension.CppExtension(["mine.cc"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: cpp_extension.CppExtension: operators in C++ or...
    """
    _refuse("CppExtension")


def CUDAExtension(*_: Any, **__: Any) -> NoReturn:
    """Refuse: it would describe operators in CUDA.

    >>> dy2st.utils.cpp_extension.CUDAExtension(["mine.cu"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: cpp_extension.CUDAExtension: operators in C++...
    """
    _refuse("CUDAExtension")


def load_op_meta_info_and_register_op(*_: Any, **__: Any) -> NoReturn:
    """Refuse: it would load operators in C++."""
    _refuse("load_op_meta_info_and_register_op")


class BuildExtension:
    """The command that would build operators in C++: refused when it is made.

    >>> dy2st.utils.cpp_extension.BuildExtension()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: cpp_extension.BuildExtension: operators in C++...
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        """Refuse."""
        _refuse("BuildExtension")


__all__ = ["BuildExtension", "CUDAExtension", "CppExtension", "load", "setup"]
__dir__ = public_dir(__name__)

if not TYPE_CHECKING:
    __getattr__ = names_of(__name__, [])

private_modules(__name__)
