"""Computes the sizes of what transposed convolutions make, where only calls know them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dy2st_runtime.dims import Dim, Size
from dy2st_runtime.engine.native.machine.kernels import kernel_call
from dy2st_runtime.ir.program import Operator


def has_sizes(operator: Operator) -> bool:
    """Whether the sizes of what is read decide those of the result."""
    return all(isinstance(size, int) for size in _beyond(operator))


def sizes_of(operator: Operator, own: Sequence[int]) -> tuple[int, ...]:
    """The sizes of the result along spatial axes, of those of what is read."""
    pairs = zip(_reaches(operator, own), _beyond(operator), strict=True)
    return tuple(int(reach) + int(more) for reach, more in pairs)


def enlarging_kernel(operator: Operator, program: str) -> Callable[..., Any] | None:
    """NumPy's kernel of a transposed convolution that is given formulas of sizes."""
    if operator.name != "conv_transpose":
        return None
    kernel = kernel_call(operator, program, False)
    formulas = operator.attributes["sizes"]
    axes = [axis for axis, size in enumerate(formulas) if isinstance(size, Dim)]

    def call(x: Any, *others: Any) -> Any:
        sizes = sizes_of(operator, x.shape[2:])
        return kernel(x, *others, *(sizes[axis] for axis in axes))

    return call


def _beyond(operator: Operator) -> list[Size]:
    """How much larger the result is than the filters reach: as much for all sizes, if a number."""
    reaches = _reaches(operator, operator.operands[0].tensor_type.shape[2:])
    pairs = zip(operator.attributes["sizes"], reaches, strict=True)
    return [size - reach for size, reach in pairs]


def _reaches(operator: Operator, own: Sequence[Size]) -> list[Size]:
    attributes, kernel = operator.attributes, operator.operands[1].tensor_type.shape[2:]
    parts = zip(
        own, kernel, attributes["strides"], attributes["dilations"], attributes["pads"], strict=True
    )
    return [
        (size - 1) * stride + dilation * (window - 1) + 1 - sum(pads)
        for size, window, stride, dilation, pads in parts
    ]


__all__ = ["enlarging_kernel", "has_sizes", "sizes_of"]
