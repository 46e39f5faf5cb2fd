"""Builds a plan: tensors in the layouts that are wanted, and steps.

A layout that a primitive wants and a tensor has not is made by another primitive, a reorder, once
for all that want it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.convolution import weights
from dy2st_runtime.engine.native.convolution.images import Image, Sight, Sizes
from dy2st_runtime.engine.native.convolution.library import (
    RESULT,
    SCRATCH,
    SOURCE,
    Geometry,
    Layout,
    Library,
    Post,
    Primitive,
    second_of_post_op,
)
from dy2st_runtime.engine.native.convolution.plan import Buffer, Kept, Own, Plan, Step, lay_out
from dy2st_runtime.engine.native.convolution.recipe import Node
from dy2st_runtime.engine.native.convolution.reorders import layout_copy_between
from dy2st_runtime.ir.program import Variable

_MANY_PLACES = 128
"""From so many places of an image on a plain product is faster than one of transposed images."""


class Builder:
    """A plan in the making: its tensors, as they lie, and its steps."""

    def __init__(
        self,
        library: Library,
        nodes: Sequence[Node],
        results: Sequence[Variable],
        shapes: Mapping[Variable, Sizes],
    ) -> None:
        self.library, self.plan = library, Plan(library, nodes)
        self._results = {result: number for number, result in enumerate(results)}
        self.sight = Sight.of(nodes)
        self._images = {variable: self.sight.image(shape) for variable, shape in shapes.items()}
        self._buffers: dict[Variable, list[Buffer]] = {}
        self.plan.shapes = [()] * len(results)

    def end(self) -> Plan:
        """All nodes are there: lay out the memory."""
        self.plan.bytes = lay_out(self.plan)
        return self.plan

    # -- tensors -------------------------------------------------------------------------------

    def image(self, variable: Variable) -> Image:
        """A tensor as the library sees it."""
        return self._images[variable]

    def sizes(self, variable: Variable) -> Sizes:
        """Its sizes there."""
        return self._images[variable].sizes

    def source(self, variable: Variable) -> Buffer:
        """A tensor, as it lies first."""
        if variable not in self._buffers:
            layout = self.library.plain(self.sizes(variable))
            self._buffers[variable] = [self._given(variable, layout)]
        return self._buffers[variable][0]

    def places(self, variable: Variable) -> Buffer:
        """Whole numbers, each as long as two elements."""
        # The library has no integers of 64 bits: their bytes pass through it as two floats each.
        return self._given(variable, self.library.plain((2 * self.sizes(variable)[0],)))

    def shares(self, variable: Variable) -> Buffer:
        """Numbers along one axis."""
        return self._given(variable, self.library.plain((prod(self.sizes(variable)),)))

    def _given(self, variable: Variable, layout: Layout) -> Buffer:
        place = self.plan.given.setdefault(variable, len(self.plan.given))
        return self._add(Buffer(layout, given=place))

    def _add(self, buffer: Buffer) -> Buffer:
        self.plan.buffers.append(buffer)
        buffer.first = len(self.plan.steps)
        return buffer

    def as_wanted(self, variable: Variable, layout: Layout) -> Buffer:
        """A tensor in a layout: one of those that it has, or a new one."""
        self.source(variable)
        known = self._buffers[variable]
        # Several readers that want the same layout share one reorder.
        found = next((one for one in known if one.layout.is_like(layout)), None)
        if found is None:
            found = self._add(Buffer(layout))
            known.append(found)
            self._reorder(known[0], found, self.sizes(variable))
        return found

    def _reorder(self, source: Buffer, result: Buffer, sizes: Sizes) -> None:
        copy = layout_copy_between(self.library, source.layout, result.layout, sizes)
        primitive = copy or self.library.reorder(source.layout, result.layout)
        self._step(primitive, {SOURCE: source, RESULT: result})

    def _step(self, primitive: Primitive | Own, arguments: dict[int, Buffer]) -> None:
        # Scratch lies among the buffers, since all threads share a plan, and each call has its own.
        if isinstance(primitive, Primitive) and primitive.layout(SCRATCH).bytes:
            arguments[SCRATCH] = self._add(Buffer(primitive.layout(SCRATCH)))
        for buffer in arguments.values():
            buffer.last = len(self.plan.steps)
        self.plan.steps.append(Step(primitive, arguments))

    def kept(
        self,
        node: Node,
        make: Callable[[Node, weights.Values], weights.Array | None],
        plain: Layout,
        layout: Layout | None = None,
    ) -> Buffer:
        """Weights of a node, as they are made, and in the layout that is wanted."""
        layout = layout or plain
        # Weights are made in the plain layout, by NumPy, and reordered once for all calls.
        reorder = None if layout.is_like(plain) else self.library.reorder(plain, layout)
        self.plan.kept.append(Kept(node, make, plain, layout, reorder))
        return self._add(Buffer(layout, kept=len(self.plan.kept) - 1))

    # -- what a node makes ---------------------------------------------------------------------

    def finish(
        self,
        node: Node,
        primitive: Primitive,
        arguments: dict[int, Buffer],
        image: Image,
        result: int = RESULT,
    ) -> None:
        """The step of a node, and its result as others want it."""
        # The second operands of post-ops.
        rank = len(image.sizes)
        found = {}
        for number, post_op in enumerate(node.after):
            if post_op.other is not None:
                layout = primitive.layout(second_of_post_op(number))
                found[second_of_post_op(number)] = self.second(post_op.other, layout, rank)
        arguments.update(found)
        self.make(node, primitive, arguments, (result, primitive.layout(result)), image)

    def make(
        self,
        node: Node,
        primitive: Primitive | Own,
        arguments: dict[int, Buffer],
        result: tuple[int, Layout],
        image: Image,
    ) -> None:
        """A step, and its result, an argument in a layout, in the one that others want too."""
        (argument, layout), number = result, self._results.get(node.result)
        plain = self.library.plain(image.sizes)
        is_plain = layout.is_like(plain)
        # Results leave as arrays, which are plain: one in that layout is written there at once.
        made = self._add(Buffer(layout, made=number if is_plain else None))
        arguments[argument] = made
        self._step(primitive, arguments)
        self._buffers[node.result], self._images[node.result] = [made], image
        if number is not None:
            self.plan.shapes[number] = image.shape
            if not is_plain:
                self._reorder(made, self._add(Buffer(plain, made=number)), image.sizes)

    def stays_plain(self, node: Node, geometry: Geometry) -> bool:
        """Whether a convolution is a product of what is given, which is what is asked for.

        The library computes that without transposing either, but what follows number by number.
        """
        source = self.source(node.sources[0])
        if source.given is None or node.result not in self._results or node.post_ops:
            return False
        is_product = set(geometry.kernel) == {1} and not any((*geometry.before, *geometry.after))
        places = product(self.sizes(node.sources[0])[2:])
        return is_product and set(geometry.strides) == {1} and places >= _MANY_PLACES

    def posts(self, node: Node, image: Image) -> list[Post]:
        """The post-ops, in the library's words."""
        return [
            Post(one.name, one.alpha, one.beta)
            if one.other is None
            else Post(one.name, layout=self.wish(one.other, image))
            for one in node.after
        ]

    def wish(self, variable: Variable, image: Image) -> Layout:
        """A second operand as the library likes it."""
        return self.library.free(self._as_long(variable, len(image.sizes)))

    def _as_long(self, variable: Variable, rank: int) -> Sizes:
        """The sizes of a second operand, with axes of size 1 in front."""
        own = self.sizes(variable)
        return (1,) * (rank - len(own)) + own

    def second(self, variable: Variable, layout: Layout, rank: int) -> Buffer:
        """A second operand in a layout."""
        shape = self._as_long(variable, rank)
        if shape == self.sizes(variable):
            return self.as_wanted(variable, layout)
        plain = self._given(variable, self.library.plain(shape))
        if plain.layout.is_like(layout):
            return plain
        found = self._add(Buffer(layout))
        self._reorder(plain, found, shape)
        return found


__all__ = ["Builder"]
