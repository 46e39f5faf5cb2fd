"""Converts what kernels of NumPy raise into errors of ours, of the same class of Python, too."""

from __future__ import annotations

from numpy.linalg import LinAlgError

from dy2st_runtime.errors import (
    ArgumentError,
    DivisionByZero,
    DTypeError,
    Dy2stError,
    PlaceError,
)


class MatrixError(Dy2stError, LinAlgError):
    """A matrix has no inverse, factors or solution, or none was found."""


_OURS: dict[type[Exception], type[Dy2stError]] = {
    IndexError: PlaceError,
    LinAlgError: MatrixError,
    TypeError: DTypeError,
    ValueError: ArgumentError,
    ZeroDivisionError: DivisionByZero,
}


def ours_of(kind: type[Exception]) -> type[Exception]:
    """The class of what users see where a kernel raises errors of a class."""
    if issubclass(kind, Dy2stError):
        return kind
    return next((_OURS[one] for one in kind.__mro__ if one in _OURS), kind)


def as_ours(name: str, error: Exception) -> Exception:
    """An error of an operator as a Dy2stError that names it; one that is ours already as it is."""
    ours = ours_of(type(error))
    if ours is type(error):
        return error
    text = str(error)
    return ours(text if text.startswith(f"{name}:") else f"{name}: {text}")


__all__ = ["MatrixError", "as_ours", "ours_of"]


def empty_words(kind: type) -> str:
    """What is said where an element is taken out of a list or deque that has none.

    >>> empty_words(list)
    'pop from empty list'
    """
    return f"pop from {'empty list' if kind is list else 'an empty deque'}"
