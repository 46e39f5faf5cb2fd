"""Describes tensors and windows as the library sees them.

Images of one spatial axis have an axis of size 1 in front of it there: the library has fewer
kernels for them, and none of filters by channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from dy2st_runtime.engine.native.convolution.library import Geometry
from dy2st_runtime.engine.native.convolution.post_ops import mean_axes
from dy2st_runtime.engine.native.convolution.recipe import Node

Sizes = tuple[int, ...]


class Image(NamedTuple):
    """A tensor.

    sizes    as the library sees it: with axes that it has there alone, and those of means.
    shape    as others see it.
    """

    sizes: Sizes
    shape: Sizes


@dataclass(frozen=True)
class Sight:
    """How the tensors of a region are seen: with so many axes in front of the spatial ones."""

    added: int

    @staticmethod
    def of(nodes: Iterable[Node]) -> Sight:
        """That of nodes which all have as many spatial axes, or say nothing of them."""
        attributes = [node.operator.attributes for node in nodes]
        return Sight(int({len(one["pads"]) for one in attributes if "pads" in one} == {1}))

    def image(self, shape: Sizes) -> Image:
        """A tensor of this shape: a vector has no spatial axes."""
        is_vector = len(shape) < 2
        return Image(shape if is_vector else (*shape[:-1], *self._ones, shape[-1]), shape)

    def result(self, ends: Sizes, spatial: Sequence[int]) -> Image:
        """An image that a node makes: its first sizes, and those that the library sees behind."""
        return Image((*ends, *spatial), (*ends, *spatial[self.added :]))

    def spatial(self, sizes: Sequence[int]) -> Sizes:
        """Sizes along all spatial axes."""
        return (*self._ones, *sizes)

    def mean_axes(self, node: Node) -> list[int]:
        """The axes of an image along which there is one mean."""
        return [axis + self.added for axis in mean_axes(node.operator)]

    def geometry(self, attributes: Mapping[str, Any], kernel: Sizes) -> Geometry:
        """How windows lie that are as large as the library sees them."""
        before, after = zip(*(((0, 0),) * self.added), *attributes["pads"], strict=True)
        strides = self.spatial(attributes["strides"])
        dilations = (
            self.spatial(attributes["dilations"])
            if "dilations" in attributes
            else (1,) * len(kernel)
        )
        return Geometry(kernel, strides, dilations, before, after)

    @property
    def _ones(self) -> Sizes:
        return (1,) * self.added


def counts(sizes: Sequence[int], geometry: Geometry) -> list[int]:
    """How many windows there are along each axis."""
    return [
        (size + before + after - dilation * (kernel - 1) - 1) // stride + 1
        for size, kernel, stride, dilation, before, after in zip(sizes, *geometry, strict=True)
    ]


__all__ = ["Image", "Sight", "Sizes", "counts"]
