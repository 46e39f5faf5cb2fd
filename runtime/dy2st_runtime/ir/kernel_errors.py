"""What kernels of NumPy raise, as errors of ours that are of the same class of Python, too."""

from __future__ import annotations

from numpy.linalg import LinAlgError

from dy2st_runtime.errors import ArgumentError, DTypeError, Dy2stError, PlaceError


class MatrixError(Dy2stError, LinAlgError):
    """A matrix has no inverse, factors or solution, or none was found."""


_OURS: dict[type[Exception], type[Dy2stError]] = {
    IndexError: PlaceError,
    LinAlgError: MatrixError,
    TypeError: DTypeError,
    ValueError: ArgumentError,
}


def as_ours(name: str, error: Exception) -> Exception:
    """An error of an operator as a Dy2stError that names it; one that is ours already as it is."""
    ours = next((_OURS[kind] for kind in type(error).__mro__ if kind in _OURS), None)
    if ours is None or isinstance(error, Dy2stError):
        return error
    text = str(error)
    return ours(text if text.startswith(f"{name}:") else f"{name}: {text}")


__all__ = ["MatrixError", "as_ours"]
