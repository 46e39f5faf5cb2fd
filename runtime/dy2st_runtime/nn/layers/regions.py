"""Features of boxes in images, as layers."""

from __future__ import annotations

from typing import Any

from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.ops.roi import psroi_pool, roi_align, roi_pool


class _Regions(Layer):
    """What all keep: the size of the result, and pixels of x for one of the picture."""

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        """Take the settings of the function."""
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def extra_repr(self) -> str:
        """The settings."""
        return f"output_size={self._output_size}, spatial_scale={self._spatial_scale}"


class RoIAlign(_Regions):
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): means of bilinear points of each part."""

    def forward(self, x: Any, boxes: Any, boxes_num: Any, aligned: bool = True) -> Any:
        """`roi_align`."""
        return roi_align(
            x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned
        )


class RoIPool(_Regions):
    """(n, c, h, w), (r, 4), (n,) -> (r, c, p, q): the largest pixel of each part."""

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        """`roi_pool`."""
        return roi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)


class PSRoIPool(_Regions):
    """(n, c * p * q, h, w), (r, 4), (n,) -> (r, c, p, q): means, of other channels each."""

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        """`psroi_pool`."""
        return psroi_pool(x, boxes, boxes_num, self._output_size, self._spatial_scale)
