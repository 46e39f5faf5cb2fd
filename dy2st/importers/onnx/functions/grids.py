"""Grids of matrices, and images that are looked at where a grid points."""

from __future__ import annotations

from typing import Any

from dy2st.importers.onnx.functions.late import sizes
from dy2st.importers.sampling import grid_sample
from dy2st_runtime.nn.functions import grid as _grid


def affine_grid(theta: Any, size: Any, *, align_corners: int = 0) -> Any:
    """(n, 2, 3) -> (n, h, w, 2), or (n, 3, 4) -> (n, d, h, w, 3); `size` is that of the images."""
    return _grid.affine_grid(theta, sizes(size), bool(align_corners))


__all__ = ["affine_grid", "grid_sample"]
