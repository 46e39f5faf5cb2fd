"""Chooses the primitives that compute the nodes of a region, for certain sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import prod

from dy2st_runtime.engine.native.convolution import weights
from dy2st_runtime.engine.native.convolution.builder import Builder
from dy2st_runtime.engine.native.convolution.channel_copies import Move
from dy2st_runtime.engine.native.convolution.channels import runs
from dy2st_runtime.engine.native.convolution.gather import COLUMNS, ROWS, Picks, picks
from dy2st_runtime.engine.native.convolution.images import Image, Sizes, counts
from dy2st_runtime.engine.native.convolution.interpolation import PLACES, SHARES, Blend
from dy2st_runtime.engine.native.convolution.library import (
    BIAS,
    OTHER,
    RESULT,
    RESULT_GRADIENT,
    SOURCE,
    WEIGHTS,
    WEIGHTS_GRADIENT,
    Geometry,
    Layout,
    Library,
    Post,
    Primitive,
    Refused,
    joined,
    second_of_post_op,
)
from dy2st_runtime.engine.native.convolution.line_code import LANES
from dy2st_runtime.engine.native.convolution.plan import Buffer, Plan
from dy2st_runtime.engine.native.convolution.post_ops import mean_axes
from dy2st_runtime.engine.native.convolution.recipe import Node
from dy2st_runtime.engine.native.convolution.transposed_sizes import sizes_of
from dy2st_runtime.engine.native.machine.llvm import Processor
from dy2st_runtime.engine.native.tables import entering
from dy2st_runtime.engine.native.text.squares import LINE
from dy2st_runtime.ir.program import Variable


def plan(
    library: Library,
    nodes: Sequence[Node],
    results: Sequence[Variable],
    shapes: Mapping[Variable, Sizes],
) -> Plan:
    """The plan of nodes for inputs of these shapes; Refused if the library lacks a part."""
    builder = Builder(library, nodes, results, shapes)
    for node in nodes:
        _enter(builder, node)
    return builder.end()


def _enter(builder: Builder, node: Node) -> None:
    """Add the steps of a node: one for each post-op, if they are not one."""
    try:
        _BUILD[node.kind](builder, node)
    except Refused:
        if not node.after:
            raise
        # The library refuses some post-ops behind some primitives, though it has each of them
        # alone.
        for part in _apart(node):
            _enter(builder, part)


def _apart(node: Node) -> Iterator[Node]:
    """A node, and all its post-ops as nodes of their own."""
    count = len(node.post_ops) - len(node.after)
    made = Variable(node.result.type, node.operator)
    yield replace(node, post_ops=node.post_ops[:count], result=made)
    for post_op in node.after:
        is_last = post_op is node.after[-1]
        made_next = node.result if is_last else Variable(node.result.type, node.operator)
        sources = [made] if post_op.other is None else [made, post_op.other]
        kind = "each" if post_op.other is None else "pair"
        yield Node(kind, node.operator, sources, made_next, post_ops=[post_op])
        made = made_next


_BUILD: dict[str, Callable[[Builder, Node], None]] = {}
_builds = entering(_BUILD)


@_builds("conv")
def _conv(builder: Builder, node: Node) -> None:
    attributes, sizes = node.operator.attributes, builder.sizes(node.sources[0])
    filters, groups = builder.sizes(node.weights[0]), attributes["groups"]
    geometry = builder.sight.geometry(attributes, filters[2:])
    result = builder.sight.result((sizes[0], filters[0]), counts(sizes[2:], geometry))
    shape = _by_group(filters, groups)
    plain = builder.library.plain(shape)
    _convolve(builder, node, builder.library.convolution, geometry, result, shape, plain)


@_builds("transposed")
def _transposed(builder: Builder, node: Node) -> None:
    attributes, sizes = node.operator.attributes, builder.sizes(node.sources[0])
    (channels, outside, *kernel), groups = builder.sizes(node.weights[0]), attributes["groups"]
    geometry = builder.sight.geometry(attributes, tuple(kernel))
    ends = (sizes[0], outside * groups)
    enlarged = sizes_of(node.operator, sizes[-len(attributes["sizes"]) :])
    result = builder.sight.result(ends, builder.sight.spatial(enlarged))
    shape = _by_group((outside * groups, channels // groups, *kernel), groups)
    # In memory the channels of x come first, the library has those of the result first.
    first = len(shape) - len(kernel) - 2
    axes = [*range(first), first + 1, first, *range(first + 2, len(shape))]
    plain = builder.library.in_order(shape, axes)
    create = partial(builder.library.convolution, is_transposed=True)
    _convolve(builder, node, create, geometry, result, shape, plain)


def _by_group(filters: Sizes, groups: int) -> Sizes:
    """The sizes of filters, with an axis of groups if there are several."""
    return filters if groups == 1 else (groups, filters[0] // groups, *filters[1:])


def _convolve(
    builder: Builder,
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
    # With a free layout the library chooses its fastest, and reorders may be needed around it.
    lie = library.plain if builder.stays_plain(node, geometry) else library.free
    before = (lie(builder.sizes(source)), library.free(shape), bias)
    posts = builder.posts(node, result)
    # The library's newest code for AVX2 reads what nobody has written of a result that has fewer
    # channels than a vector has lanes, and raises flags as if NaN were met. Where channels lie in
    # blocks it has room for all lanes.
    is_short = Processor.host().vector_bytes < LINE
    is_narrow = is_short and result.sizes[1] < LANES and set(geometry.kernel) == {1}
    blocked = [library.blocked(result.sizes)[1]] if is_narrow else []
    primitive = _made(
        lambda layout: make(*before, layout, geometry, posts), [*blocked, lie(result.sizes)]
    )
    arguments = {
        SOURCE: builder.as_wanted(source, primitive.layout(SOURCE)),
        WEIGHTS: builder.kept(node, weights.filters, plain, primitive.layout(WEIGHTS)),
    }
    if bias is not None:
        arguments[BIAS] = builder.kept(node, weights.bias, bias)
    builder.finish(node, primitive, arguments, result)


def _made(make: Callable[[Layout], Primitive], layouts: Sequence[Layout]) -> Primitive:
    """A primitive with the first layout of its result that the library has it for."""
    *others, last = layouts
    for layout in others:
        with suppress(Refused):
            return make(layout)
    return make(last)


@_builds("filters")
def _filters(builder: Builder, node: Node) -> None:
    attributes, library = node.operator.attributes, builder.library
    x, gradient = node.sources
    sizes, given = builder.sizes(x), builder.sizes(gradient)
    filters = builder.sight.image(
        (given[1], sizes[1] // attributes["groups"], *attributes["kernel"])
    )
    shape = _by_group(filters.sizes, attributes["groups"])
    layouts = (library.free(sizes), library.free(shape), library.free(given))
    geometry = builder.sight.geometry(attributes, filters.sizes[2:])
    primitive = library.filters_gradient(*layouts, geometry)
    arguments = {
        SOURCE: builder.as_wanted(x, primitive.layout(SOURCE)),
        RESULT_GRADIENT: builder.as_wanted(gradient, primitive.layout(RESULT_GRADIENT)),
    }
    builder.finish(node, primitive, arguments, Image(shape, filters.shape), WEIGHTS_GRADIENT)


@_builds("window")
def _window(builder: Builder, node: Node) -> None:
    attributes = node.operator.attributes
    geometry = builder.sight.geometry(attributes, builder.sight.spatial(attributes["kernel"]))
    sizes = builder.sizes(node.sources[0])
    result = builder.sight.result(sizes[:2], counts(sizes[2:], geometry))
    # The library has no sums of windows: a post-op multiplies the mean by their number of elements.
    name = "mean" if node.operator.name == "window_sum" else "max"
    _pool(builder, node, name, geometry, result)


@_builds("mean")
def _mean(builder: Builder, node: Node) -> None:
    """The mean of windows that are as large as the axes."""
    (sizes, shape), axes = builder.image(node.sources[0]), builder.sight.mean_axes(node)
    kernel = [size if axis in axes else 1 for axis, size in enumerate(sizes)][2:]
    ones, zeros = (1,) * len(kernel), (0,) * len(kernel)
    geometry = Geometry(kernel, ones, ones, zeros, zeros)
    made = (*sizes[:2], *counts(sizes[2:], geometry))
    # The shape of a mean.
    axes, attributes = mean_axes(node.operator), node.operator.attributes
    if attributes["keepdim"]:
        without = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    else:
        without = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    _pool(builder, node, "mean", geometry, Image(made, without))


def _pool(builder: Builder, node: Node, name: str, geometry: Geometry, result: Image) -> None:
    library, source = builder.library, builder.source(node.sources[0])
    posts, free = builder.posts(node, result), library.free(result.sizes)
    primitive = library.pooling(name, source.layout, free, geometry, posts)
    builder.finish(node, primitive, {SOURCE: source}, result)


@_builds("scale")
def _scale(builder: Builder, node: Node) -> None:
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
        second_of_post_op(0): builder.kept(
            node, weights.shifts, plain, primitive.layout(second_of_post_op(0))
        ),
    }
    builder.finish(node, primitive, arguments, image)


@_builds("each")
def _each(builder: Builder, node: Node) -> None:
    source, image = builder.source(node.sources[0]), builder.image(node.sources[0])
    first, posts = node.post_ops[0], builder.posts(node, image)
    own = Post(first.name, first.alpha, first.beta)
    primitive = builder.library.eltwise(own, source.layout, posts)
    builder.finish(node, primitive, {SOURCE: source}, image)


@_builds("pair")
def _pair(builder: Builder, node: Node) -> None:
    variable, other = node.sources
    source, image = builder.source(variable), builder.image(variable)
    wish, posts = builder.wish(other, image), builder.posts(node, image)
    primitive = builder.library.binary(node.post_ops[0].name, source.layout, wish, posts)
    second = builder.second(other, primitive.layout(OTHER), len(image.sizes))
    builder.finish(node, primitive, {SOURCE: source, OTHER: second}, image)


@_builds("concat")
def _concat(builder: Builder, node: Node) -> None:
    library = builder.library
    sources = [builder.source(variable) for variable in node.sources]
    images = [builder.sizes(variable) for variable in node.sources]
    first, *_ = images
    result = builder.sight.result((first[0], sum(image[1] for image in images)), first[2:])
    free = library.free(result.sizes)
    try:
        primitive = library.concat(1, [one.layout for one in sources], free)
    except Refused:
        # Parts whose channels fill no whole blocks cannot be put beside each other in blocks.
        wanted = [library.channels_last(image) for image in images]
        primitive = library.concat(1, wanted, library.channels_last(result.sizes))
        sources = [builder.as_wanted(v, one) for v, one in zip(node.sources, wanted, strict=True)]
    arguments = {joined(number): source for number, source in enumerate(sources)}
    builder.finish(node, primitive, arguments, result)


@_builds("channels")
def _channels(builder: Builder, node: Node) -> None:
    """Channels of some images, which lie beside each other in all of them."""
    assert node.channels is not None
    library, images = builder.library, [builder.sizes(variable) for variable in node.sources]
    (batch, _, *spatial), count = images[0], len(node.channels.places)
    result = builder.sight.result((batch, count), spatial)
    numbers = [image[1] for image in images]
    move = Move(batch * prod(spatial), count, runs(node.channels), numbers)
    pairs = enumerate(zip(node.sources, images, strict=True))
    arguments = {
        joined(number): builder.as_wanted(variable, library.channels_last(image))
        for number, (variable, image) in pairs
    }
    builder.make(node, move, arguments, (RESULT, library.channels_last(result.sizes)), result)


@_builds("pick")
def _pick(builder: Builder, node: Node) -> None:
    """Rows and columns, as the image lies: what lies behind them moves with them."""
    numbers = [builder.sizes(places)[0] for _, places in node.picks]
    source, layout, found, result = _as_it_lies(builder, node, numbers)
    pairs = zip((ROWS, COLUMNS), node.picks, strict=False)
    arguments = {argument: builder.places(places) for argument, (_, places) in pairs}
    builder.make(node, found, {SOURCE: source, **arguments}, (RESULT, layout), result)


@_builds("blend")
def _blend(builder: Builder, node: Node) -> None:
    """Rows, or columns, that are sums of two."""
    number = builder.sizes(node.picks[0][1])[0]
    source, layout, found, result = _as_it_lies(builder, node, [number])
    blend = Blend(found.planes, found.rows, found.elements, number)
    arguments = {SOURCE: source}
    for place, share, (_, places), shares in zip(PLACES, SHARES, node.picks, node.shares):
        arguments |= {place: builder.places(places), share: builder.shares(shares)}
    builder.make(node, blend, arguments, (RESULT, layout), result)


def _as_it_lies(
    builder: Builder, node: Node, numbers: Sequence[int]
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


__all__ = ["plan"]
