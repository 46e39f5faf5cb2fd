"""Fourier transforms, which torch takes apart to three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dy2st.importers.torch.table import Call, axis_of, row
from dy2st_runtime.ir.dispatch import F

# torch says what the sum is divided by; NumPy's names say it of both directions.
_FORWARD = {0: "backward", 1: "ortho", 2: "forward"}
_INVERSE = {0: "forward", 1: "ortho", 2: "backward"}


@row("aten._fft_c2c.default")
def _complex(at: Call, x: Any, dim: Sequence[int], normalization: int, forward: bool) -> Any:
    x = at.cast(x)
    norm = (_FORWARD if forward else _INVERSE)[normalization]
    for axis in dim:
        x = F.fourier(x, axis_of(axis, x.ndim), not forward, norm)
    return x


@row("aten._fft_r2c.default")
def _of_real(at: Call, x: Any, dim: Sequence[int], normalization: int, onesided: bool) -> Any:
    if not onesided:
        return _complex(at, x, dim, normalization, True)
    made = F.fourier_of_real(x, axis_of(dim[-1], x.ndim), _FORWARD[normalization])
    return _complex(at, made, dim[:-1], normalization, True)


@row("aten._fft_c2r.default")
def _to_real(at: Call, x: Any, dim: Sequence[int], normalization: int, last_dim_size: Any) -> Any:
    for axis in dim[:-1]:
        x = F.fourier(x, axis_of(axis, x.ndim), True, _INVERSE[normalization])
    last = axis_of(dim[-1], x.ndim)
    return F.fourier_to_real(x, last, last_dim_size, _INVERSE[normalization])
