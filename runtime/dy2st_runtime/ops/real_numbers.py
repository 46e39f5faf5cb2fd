"""Functions of complex numbers, for tensors of real ones: no tensor here is complex.

What would give complex numbers is refused in words.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from dy2st_runtime.errors import DTypeError
from dy2st_runtime.ir import F, method, public
from dy2st_runtime.ops.rules import with_floats


def refuse_complex(name: str) -> NoReturn:
    """Raise the DTypeError for what only complex numbers can hold."""
    raise DTypeError(
        f"{name}: dy2st has no tensors of complex numbers; keep the real and the imaginary part in "
        "two tensors: (a + ib)(c + id) has the parts a * c - b * d and a * d + b * c"
    )


@method
def real(x: Any, name: str | None = None) -> Any:
    """The real part, which is x."""
    return F.assign(x)


@method
def imag(x: Any, name: str | None = None) -> Any:
    """The imaginary part, which is 0."""
    return F.zeros_like(x)


@method
def conj(x: Any, name: str | None = None) -> Any:
    """The conjugate, which is x."""
    return F.assign(x)


@method
def angle(x: Any, name: str | None = None) -> Any:
    """The angle to the right half of the axis: 0, or pi below 0; NaN of NaN."""
    x = with_floats(x)
    found = F.multiply(F.cast(F.less_than(x, 0), x.dtype), math.pi)
    return F.where(F.isnan(x), x, found)


@public
def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Refused: there are no complex tensors."""
    refuse_complex("complex")


@method
def polar(abs: Any, angle: Any, name: str | None = None) -> Any:
    """Refused: there are no complex tensors."""
    refuse_complex("polar")


@method
def as_complex(x: Any, name: str | None = None) -> Any:
    """Refused: there are no complex tensors."""
    refuse_complex("as_complex")


@method
def as_real(x: Any, name: str | None = None) -> Any:
    """Refused: only a complex tensor has two parts."""
    refuse_complex("as_real")
