"""A region for certain sizes: primitives of oneDNN, and where what they read and write lies.

All threads share a plan. A layout that a primitive wants and a tensor has not is made by another
primitive, a reorder, once for all that want it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

from dy2st_runtime.dims import product
from dy2st_runtime.engine.native.convolution import weights
from dy2st_runtime.engine.native.convolution.blending import PLACES, SHARES, Blend
from dy2st_runtime.engine.native.convolution.images import Image, Sight, Sizes, counts
from dy2st_runtime.engine.native.convolution.library import (
    BIAS,
    OTHER,
    RESULT,
    RESULT_GRADIENT,
    SCRATCH,
    SOURCE,
    WEIGHTS,
    WEIGHTS_GRADIENT,
    Geometry,
    Layout,
    Library,
    Post,
    Primitive,
    Refused,
    following,
    joined,
)
from dy2st_runtime.engine.native.convolution.picking import COLUMNS, ROWS, Picks, picks
from dy2st_runtime.engine.native.convolution.recipe import Node
from dy2st_runtime.engine.native.convolution.taking import Follow, mean_axes
from dy2st_runtime.engine.native.convolution.turning import Turn, turn_between
from dy2st_runtime.ir.program import Variable

Own = Picks | Blend | Turn
"""What is computed by code of our own."""

_MANY_PLACES = 128
"""From so many places of an image on a plain product is faster than one of turned images."""


@dataclass(eq=False)
class Buffer:
    """A tensor in memory: the n-th array that is given or made, weights, or memory of the plan.

    first, last   the steps between which memory of the plan holds it.
    """

    layout: Layout
    given: int | None = None
    made: int | None = None
    kept: int | None = None
    first: int = 0
    last: int = 0
    offset: int = 0


@dataclass(eq=False)
class Kept:
    """Weights: how they are made, from what, and into which layout."""

    node: Node
    make: Callable[[Node, weights.Values], weights.Array | None]
    plain: Layout
    layout: Layout
    reorder: Primitive | None


@dataclass(eq=False)
class Step:
    """A primitive, or code of our own, and its arguments."""

    primitive: Primitive | Own
    arguments: dict[int, Buffer]


@dataclass(eq=False)
class Plan:
    """What is to be done, in order.

    given     the inputs that are read where they lie, numbered.
    shapes    of the results.
    """

    library: Library
    nodes: Sequence[Node]
    steps: list[Step] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    given: dict[Variable, int] = field(default_factory=dict)
    shapes: list[Sizes] = field(default_factory=list)
    bytes: int = 0


def plan(
    library: Library,
    nodes: Sequence[Node],
    results: Sequence[Variable],
    shapes: Mapping[Variable, Sizes],
) -> Plan:
    """The plan of nodes for inputs of these shapes; Refused if the library lacks a part."""
    builder = _Builder(library, nodes, results, shapes)
    for node in nodes:
        builder.enter(node)
    return builder.end()


class _Builder:
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

    def enter(self, node: Node) -> None:
        """Add the steps of a node: one for each thing that follows, if they are not one."""
        try:
            _BUILD[node.kind](self, node)
        except Refused:
            if len(node.follows) == _own(node):
                raise
            for part in _apart(node):
                self.enter(part)

    def end(self) -> Plan:
        """All nodes are there: lay out the memory."""
        self.plan.bytes = _lay_out(self.plan)
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
        found = next((one for one in known if one.layout.is_like(layout)), None)
        if found is None:
            found = self._add(Buffer(layout))
            known.append(found)
            self._reorder(known[0], found, self.sizes(variable))
        return found

    def _reorder(self, source: Buffer, result: Buffer, sizes: Sizes) -> None:
        turn = turn_between(self.library, source.layout, result.layout, sizes)
        primitive = turn or self.library.reorder(source.layout, result.layout)
        self._step(primitive, {SOURCE: source, RESULT: result})

    def _step(self, primitive: Primitive | Own, arguments: dict[int, Buffer]) -> None:
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
        arguments.update(self._seconds(node, primitive, len(image.sizes)))
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

        The library computes that without turning either, but what follows number by number.
        """
        source = self.source(node.sources[0])
        if source.given is None or node.result not in self._results or node.follows:
            return False
        is_product = set(geometry.kernel) == {1} and not any((*geometry.before, *geometry.after))
        places = product(self.sizes(node.sources[0])[2:])
        return is_product and set(geometry.strides) == {1} and places >= _MANY_PLACES

    def posts(self, node: Node, image: Image) -> list[Post]:
        """What follows, in the library's words."""
        return [self._post(follow, image) for follow in node.follows[_own(node) :]]

    def _post(self, follow: Follow, image: Image) -> Post:
        if follow.other is None:
            return Post(follow.name, follow.alpha, follow.beta)
        return Post(follow.name, layout=self.wish(follow.other, image))

    def wish(self, variable: Variable, image: Image) -> Layout:
        """A second operand as the library likes it."""
        return self.library.free(self._as_long(variable, len(image.sizes)))

    def _as_long(self, variable: Variable, rank: int) -> Sizes:
        """The sizes of a second operand, with axes of size 1 in front."""
        own = self.sizes(variable)
        return (1,) * (rank - len(own)) + own

    def _seconds(self, node: Node, primitive: Primitive, rank: int) -> dict[int, Buffer]:
        """The second operands of what follows."""
        found = {}
        for number, follow in enumerate(node.follows[_own(node) :]):
            if follow.other is not None:
                layout = primitive.layout(following(number))
                found[following(number)] = self.second(follow.other, layout, rank)
        return found

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


def _apart(node: Node) -> Iterator[Node]:
    """A node, and all that follows as nodes of their own."""
    count = _own(node)
    made = Variable(node.result.type, node.operator)
    yield replace(node, follows=node.follows[:count], result=made)
    for follow in node.follows[count:]:
        is_last = follow is node.follows[-1]
        following = node.result if is_last else Variable(node.result.type, node.operator)
        sources = [made] if follow.other is None else [made, follow.other]
        kind = "each" if follow.other is None else "pair"
        yield Node(kind, node.operator, sources, following, follows=[follow])
        made = following


def _own(node: Node) -> int:
    """How many of the things that follow are what the node itself computes."""
    return int(node.kind in ("each", "pair"))


# -- nodes -----------------------------------------------------------------------------------------


def _conv(builder: _Builder, node: Node) -> None:
    told, sizes = node.operator.attributes, builder.sizes(node.sources[0])
    filters, groups = builder.sizes(node.weights[0]), told["groups"]
    geometry = builder.sight.geometry(told, filters[2:])
    result = builder.sight.result((sizes[0], filters[0]), counts(sizes[2:], geometry))
    shape = _by_group(filters, groups)
    plain = builder.library.plain(shape)
    _convolve(builder, node, builder.library.convolution, geometry, result, shape, plain)


def _transposed(builder: _Builder, node: Node) -> None:
    told, sizes = node.operator.attributes, builder.sizes(node.sources[0])
    (channels, outside, *kernel), groups = builder.sizes(node.weights[0]), told["groups"]
    geometry = builder.sight.geometry(told, tuple(kernel))
    ends = (sizes[0], outside * groups)
    result = builder.sight.result(ends, builder.sight.spatial(told["sizes"]))
    shape = _by_group((outside * groups, channels // groups, *kernel), groups)
    # In memory the channels of x come first, the library has those of the result first.
    first = len(shape) - len(kernel) - 2
    axes = [*range(first), first + 1, first, *range(first + 2, len(shape))]
    plain = builder.library.in_order(shape, axes)
    create = partial(builder.library.convolution, is_turned=True)
    _convolve(builder, node, create, geometry, result, shape, plain)


def _by_group(filters: Sizes, groups: int) -> Sizes:
    """The sizes of filters, with an axis of groups if there are several."""
    return filters if groups == 1 else (groups, filters[0] // groups, *filters[1:])


def _convolve(
    builder: _Builder,
    node: Node,
    make: Callable[..., Primitive],
    geometry: Geometry,
    result: Image,
    shape: Sizes,
    plain: Layout,
) -> None:
    """Either convolution, with filters of this shape that lie as `plain` says."""
    library, source = builder.library, node.sources[0]
    bias = library.plain(result.sizes[1:2]) if weights.has_bias(node) else None
    lie = library.plain if builder.stays_plain(node, geometry) else library.free
    layouts = (lie(builder.sizes(source)), library.free(shape), bias, lie(result.sizes))
    primitive = make(*layouts, geometry, builder.posts(node, result))
    arguments = {
        SOURCE: builder.as_wanted(source, primitive.layout(SOURCE)),
        WEIGHTS: builder.kept(node, weights.filters, plain, primitive.layout(WEIGHTS)),
    }
    if bias is not None:
        arguments[BIAS] = builder.kept(node, weights.bias, bias)
    builder.finish(node, primitive, arguments, result)


def _filters(builder: _Builder, node: Node) -> None:
    told, library = node.operator.attributes, builder.library
    x, gradient = node.sources
    sizes, given = builder.sizes(x), builder.sizes(gradient)
    filters = builder.sight.image((given[1], sizes[1] // told["groups"], *told["kernel"]))
    shape = _by_group(filters.sizes, told["groups"])
    layouts = (library.free(sizes), library.free(shape), library.free(given))
    geometry = builder.sight.geometry(told, filters.sizes[2:])
    primitive = library.filters_gradient(*layouts, geometry)
    arguments = {
        SOURCE: builder.as_wanted(x, primitive.layout(SOURCE)),
        RESULT_GRADIENT: builder.as_wanted(gradient, primitive.layout(RESULT_GRADIENT)),
    }
    builder.finish(node, primitive, arguments, Image(shape, filters.shape), WEIGHTS_GRADIENT)


def _window(builder: _Builder, node: Node) -> None:
    told = node.operator.attributes
    geometry = builder.sight.geometry(told, builder.sight.spatial(told["kernel"]))
    sizes = builder.sizes(node.sources[0])
    result = builder.sight.result(sizes[:2], counts(sizes[2:], geometry))
    name = "mean" if node.operator.name == "window_sum" else "max"
    _pool(builder, node, name, geometry, result)


def _mean(builder: _Builder, node: Node) -> None:
    """The mean of windows that are as large as the axes."""
    (sizes, shape), axes = builder.image(node.sources[0]), builder.sight.mean_axes(node)
    kernel = [size if axis in axes else 1 for axis, size in enumerate(sizes)][2:]
    ones, zeros = (1,) * len(kernel), (0,) * len(kernel)
    geometry = Geometry(kernel, ones, ones, zeros, zeros)
    made = (*sizes[:2], *counts(sizes[2:], geometry))
    _pool(builder, node, "mean", geometry, Image(made, _without(shape, node)))


def _without(shape: Sizes, node: Node) -> Sizes:
    """The shape of a mean."""
    axes, told = mean_axes(node.operator), node.operator.attributes
    if told["keepdim"]:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _pool(builder: _Builder, node: Node, name: str, geometry: Geometry, result: Image) -> None:
    library, source = builder.library, builder.source(node.sources[0])
    posts, free = builder.posts(node, result), library.free(result.sizes)
    primitive = library.pooling(name, source.layout, free, geometry, posts)
    builder.finish(node, primitive, {SOURCE: source}, result)


def _scale(builder: _Builder, node: Node) -> None:
    """x * factor + shift, by channel."""
    library, source = builder.library, builder.source(node.sources[0])
    image = builder.image(node.sources[0])
    vector = (1, image.sizes[1], *[1] * (len(image.sizes) - 2))
    wish, plain = library.free(vector), library.plain(vector)
    posts = [Post("add", layout=wish), *builder.posts(node, image)]
    primitive = library.binary("multiply", source.layout, wish, posts)
    arguments = {
        SOURCE: source,
        OTHER: builder.kept(node, weights.factors, plain, primitive.layout(OTHER)),
        following(0): builder.kept(node, weights.shifts, plain, primitive.layout(following(0))),
    }
    builder.finish(node, primitive, arguments, image)


def _each(builder: _Builder, node: Node) -> None:
    source, image = builder.source(node.sources[0]), builder.image(node.sources[0])
    first, posts = node.follows[0], builder.posts(node, image)
    own = Post(first.name, first.alpha, first.beta)
    primitive = builder.library.eltwise(own, source.layout, posts)
    builder.finish(node, primitive, {SOURCE: source}, image)


def _pair(builder: _Builder, node: Node) -> None:
    variable, other = node.sources
    source, image = builder.source(variable), builder.image(variable)
    wish, posts = builder.wish(other, image), builder.posts(node, image)
    primitive = builder.library.binary(node.follows[0].name, source.layout, wish, posts)
    second = builder.second(other, primitive.layout(OTHER), len(image.sizes))
    builder.finish(node, primitive, {SOURCE: source, OTHER: second}, image)


def _concat(builder: _Builder, node: Node) -> None:
    library = builder.library
    sources = [builder.source(variable) for variable in node.sources]
    images = [builder.sizes(variable) for variable in node.sources]
    first, *_ = images
    result = builder.sight.result((first[0], sum(image[1] for image in images)), first[2:])
    free = library.free(result.sizes)
    try:
        primitive = library.concat(1, [one.layout for one in sources], free)
    except Refused:
        wanted = [library.channels_last(image) for image in images]
        primitive = library.concat(1, wanted, library.channels_last(result.sizes))
        sources = [builder.as_wanted(v, one) for v, one in zip(node.sources, wanted, strict=True)]
    arguments = {joined(number): source for number, source in enumerate(sources)}
    builder.finish(node, primitive, arguments, result)


def _pick(builder: _Builder, node: Node) -> None:
    """Rows and columns, as the image lies: what lies behind them moves with them."""
    numbers = [builder.sizes(places)[0] for _, places in node.picks]
    source, layout, found, result = _as_it_lies(builder, node, numbers)
    pairs = zip((ROWS, COLUMNS), node.picks, strict=False)
    arguments = {argument: builder.places(places) for argument, (_, places) in pairs}
    builder.make(node, found, {SOURCE: source, **arguments}, (RESULT, layout), result)


def _blend(builder: _Builder, node: Node) -> None:
    """Rows, or columns, that are sums of two."""
    number = builder.sizes(node.picks[0][1])[0]
    source, layout, found, result = _as_it_lies(builder, node, [number])
    blend = Blend(found.planes, found.rows, found.elements, number)
    arguments = {SOURCE: source}
    for place, share, (_, places), shares in zip(PLACES, SHARES, node.picks, node.shares):
        arguments |= {place: builder.places(places), share: builder.shares(shares)}
    builder.make(node, blend, arguments, (RESULT, layout), result)


def _as_it_lies(
    builder: _Builder, node: Node, numbers: Sequence[int]
) -> tuple[Buffer, Layout, Picks, Image]:
    """An image as it is read, how its result lies, what of it is picked, and the result."""
    library, variable = builder.library, node.sources[0]
    source, sizes = builder.source(variable), builder.sizes(variable)
    first = node.picks[0][0] + builder.sight.added
    made = (*sizes[:first], *numbers, *sizes[first + len(numbers) :])
    try:
        layout = library.alike(source.layout, sizes, made)
        found = picks(source.layout, sizes, first, numbers)
    except Refused:
        source = builder.as_wanted(variable, library.plain(sizes))
        layout, found = library.plain(made), picks(source.layout, sizes, first, numbers)
    return source, layout, found, builder.sight.result(made[:2], made[2:])


_BUILD: dict[str, Callable[[_Builder, Node], None]] = {
    "conv": _conv,
    "transposed": _transposed,
    "filters": _filters,
    "window": _window,
    "mean": _mean,
    "scale": _scale,
    "each": _each,
    "pair": _pair,
    "concat": _concat,
    "pick": _pick,
    "blend": _blend,
}


# -- memory ----------------------------------------------------------------------------------------


def _lay_out(plan: Plan) -> int:
    """Give each tensor its place in memory, the largest first; the bytes of all."""
    own = [b for b in plan.buffers if b.given is None and b.made is None and b.kept is None]
    laid: list[Buffer] = []
    for buffer in sorted(own, key=lambda one: -one.layout.bytes):
        beside = [b for b in laid if b.first <= buffer.last and buffer.first <= b.last]
        buffer.offset = 0
        for other in sorted(beside, key=lambda one: one.offset):
            if other.offset - buffer.offset >= _room(buffer):
                break
            buffer.offset = max(buffer.offset, other.offset + _room(other))
        laid.append(buffer)
    return max((b.offset + _room(b) for b in laid), default=0)


def _room(buffer: Buffer) -> int:
    """Whole lines of the cache."""
    return -(-buffer.layout.bytes // 64) * 64


__all__ = ["Buffer", "Kept", "Plan", "Step", "plan"]
